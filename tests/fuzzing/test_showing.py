"""Whatever models and judges said, what is shown of it can be printed, and nothing in a page runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record, from_json, to_json
from pytest_fcbench.scorecard.render import github, terminal
from pytest_fcbench.scorecard.render.html.island import Told
from pytest_fcbench.scorecard.render.html.page import render_report
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from tests.factories import FACTS
from tests.fuzzing.targets import make_target
from tests.scorecard.test_record import RECORDS

records = st.lists(
    RECORDS.map(lambda record: replace(record, turns=())),
    min_size=1,
    max_size=4,
    unique_by=lambda r: r.item_id,
)
INJECTED = "</script><script>window.pwned=1</script>"


def count_entries(category: str) -> int:
    return 3


@make_target(40, found=records, width=st.integers(20, 200))
def test_a_run_is_shown_in_a_terminal(found: list[Record], width: int) -> None:
    for line in terminal.write_summary(FACTS, found, count_entries, width=width, most=3):
        assert line.text.isprintable()


@make_target(40, found=records)
def test_a_run_is_summed_up_for_github(found: list[Record]) -> None:
    for profile in Profile:
        evidence = Evidence(found, profile, count_entries, FACTS.suites)
        "\n".join(github.write_step_summary(FACTS, evidence, ())).encode()


@make_target(10, found=records, place=st.sampled_from(["entry", "category", "cluster", "model"]))
def test_a_page_holds_texts_as_texts(found: list[Record], place: str) -> None:
    told = {**to_json(found[0]), place: INJECTED}
    shown = [*found[1:], from_json(json.loads(json.dumps(told)))]
    card = Scorecard(Path("card.json"), FACTS, tuple(shown), {})
    made = render_report([card], Told(), Profile.OFFICIAL)
    made.encode()
    assert INJECTED not in made
