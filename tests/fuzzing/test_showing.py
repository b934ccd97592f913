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
from tests.fuzzing.targets import fuzzed
from tests.scorecard.test_record import RECORDS

records = st.lists(
    RECORDS.map(lambda record: replace(record, turns=())),
    min_size=1,
    max_size=4,
    unique_by=lambda r: r.item_id,
)
INJECTED = "</script><script>window.pwned=1</script>"


def size_of(category: str) -> int:
    return 3


@fuzzed(40, found=records, width=st.integers(20, 200))
def test_a_run_is_shown_in_a_terminal(found: list[Record], width: int) -> None:
    for line in terminal.write_summary(FACTS, found, size_of, width=width, most=3):
        assert line.isprintable()


@fuzzed(40, found=records)
def test_a_run_is_summed_up_for_github(found: list[Record]) -> None:
    for profile in Profile:
        evidence = Evidence(found, profile, size_of, FACTS.suites)
        "\n".join(github.write_step_summary(FACTS, evidence, ())).encode()


@fuzzed(10, found=records, place=st.sampled_from(["entry", "category", "cluster", "model"]))
def test_a_page_holds_texts_as_texts(found: list[Record], place: str) -> None:
    told = {**to_json(found[0]), place: INJECTED}
    shown = [*found[1:], from_json(json.loads(json.dumps(told)))]
    card = Scorecard(Path("card.json"), FACTS, tuple(shown), {})
    made = render_report([card], Told(), Profile.OFFICIAL)
    made.encode()
    assert INJECTED not in made
