"""Whatever models and judges said, what is shown of it can be printed, and nothing in a page runs."""

from __future__ import annotations

import csv
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree.ElementTree import fromstring

import yaml
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present import run_end, terminal
from pytest_fcbench.present.html.island import SuiteInfo
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record, from_json, to_json
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.tools.export import charts, published_scores, rows
from pytest_fcbench.tools.export.formats import ExportRequest
from tests.factories import FACTS
from tests.fuzzing.targets import make_target
from tests.present.html.parsed import render_report
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
    evidence = Evidence(found, FACTS.profile, count_entries, FACTS.suites)
    for line in terminal.write_summary(FACTS, evidence, width=width, most=3):
        assert line.text.isprintable()


@make_target(40, found=records)
def test_a_run_is_summed_up_for_github(found: list[Record]) -> None:
    for profile in Profile:
        evidence = Evidence(found, profile, count_entries, FACTS.suites)
        "\n".join(run_end.write_step_summary(FACTS, evidence, ())).encode()


@make_target(10, found=records, place=st.sampled_from(["entry", "category", "cluster", "model"]))
def test_a_page_holds_texts_as_texts(found: list[Record], place: str) -> None:
    told = {**to_json(found[0]), place: INJECTED}
    shown = [*found[1:], from_json(json.loads(json.dumps(told)))]
    card = Scorecard(Path("card.json"), FACTS, tuple(shown), {})
    made = render_report([card], SuiteInfo(), Profile.OFFICIAL)
    made.encode()
    assert INJECTED not in made


@make_target(20, found=records, per=st.sampled_from(["entry", "score"]))
def test_rows_are_exported_whole(found: list[Record], per: str) -> None:
    order = ExportRequest([Scorecard(Path("card.json"), FACTS, tuple(found), {})], Profile.OFFICIAL, per=per)
    number = len(list(rows.describe_rows(order)))
    assert len(list(csv.reader(rows.render_csv(order)))) == number + 1
    assert [type(json.loads(line)) for line in rows.render_json_lines(order)] == [dict] * number
    with TemporaryDirectory() as folder:
        assert rows.write_parquet(order, Path(folder) / "rows.parquet") == [f"{number:,} rows"]


@make_target(20, found=records)
def test_scores_are_exported_in_forms_that_can_be_read(found: list[Record]) -> None:
    order = ExportRequest(
        [Scorecard(Path("card.json"), FACTS, tuple(found), {})], Profile.OFFICIAL, metric="overall"
    )
    with suppress(UsageError):  # where nothing was scored
        (_, text, _) = "".join(published_scores.render_model_index(order)).split("---\n")
        assert yaml.safe_load(text)["model-index"][0]["name"] == FACTS.model
    fromstring("".join(published_scores.render_badge(order)))
    for render in (rows.render_latex_table, rows.render_markdown_table):
        "".join(render(order)).encode()
    with suppress(UsageError):  # where nothing was scored
        fromstring("".join(charts.render_svg(order)))
