"""What the tables and charts of the page show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import PLAIN
from pytest_fcbench.domain.transcript import AuxiliaryCall, Completion, Party, PathSettings
from pytest_fcbench.domain.verdict import OTHER_RULES, SET_ASIDE, Failed, NotScored, Passed, Profile
from pytest_fcbench.present.html import sections
from pytest_fcbench.present.html.sections import ReportedModel
from pytest_fcbench.present.tables import Table
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.aggregate.scores import GROUPS, choose_main_score
from pytest_fcbench.scorecard.record import Record, Usage
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from tests.cases import each_case
from tests.factories import make_call_verdict, make_path_record, make_path_score, make_record, write_scorecard
from tests.scorecard.aggregate.test_secondary_scores import make_chat_records, make_executed_records

WRONG = Failed("wrong_count", "2 calls came, 1 expected")


def load_card(folder: Path, records: Sequence[Record], name: str = "card", **facts: object) -> Scorecard:
    loaded = scorecard_files.load_scorecard(write_scorecard(folder / f"{name}.json", records))
    return replace(loaded, facts=replace(loaded.facts, **facts))  # type: ignore[arg-type]


def prepare_runs(folder: Path, *runs: Sequence[Record]) -> tuple[ReportedModel, ...]:
    return sections.prepare_models([load_card(folder, records, f"card{n}") for n, records in enumerate(runs)])


# Names


@each_case(
    ("models", "modes", "labels"),
    [
        (("a", "b"), ("fc", "fc"), ("a", "b")),
        (("a", "a"), ("fc", "prompt"), ("a (fc)", "a (prompt)")),
        (("a", "a"), ("fc", "fc"), ("a (card0.json)", "a (card1.json)")),
        (("replay:/x/y/model", "b"), ("fc", "fc"), ("replay:model", "b")),
        (("a/b:c", "a\x1b\u202e"), ("fc", "fc"), ("a/b:c", "a\\x1b\\u202e")),
    ],
)
def test_labels_are_short_and_tell_models_apart(
    tmp_path: Path, models: tuple[str, ...], modes: tuple[str, ...], labels: tuple[str, ...]
) -> None:
    cards = [
        load_card(tmp_path, [make_record()], f"card{n}", model=model, mode=mode)
        for n, (model, mode) in enumerate(zip(models, modes, strict=True))
    ]
    assert sections.name_models(cards) == list(labels)


def test_facts_say_what_was_run(tmp_path: Path) -> None:
    records = [make_record(trial=1), make_record(trial=2)]
    run = load_card(tmp_path, records, price=Price(hour=2.5), concurrency=8, notes=("a note",))
    told = dict(sections.list_facts(sections.prepare_models([run])[0]))
    assert told["calls requested by"] == "tool calls (fc)"
    assert told["suite core"] == "version 1, the entries that come with pytest-fcbench"
    assert told["entries"] == "1"
    assert told["trials"] == "2 of each entry"
    assert told["price"] == "$2.5 an hour, 8 calls at once"
    assert told["ended"] == "2026-05-28 20:26 UTC"
    assert told["note"] == "a note"


@pytest.mark.parametrize(
    ("version", "says"),
    [("0123456789ab", "version 0123456789ab"), ("v4", "version v4 (sha256 0123456789ab)")],
    ids=["of a suite of one's own", "of an official suite"],
)
def test_the_hash_of_a_suite_is_told_once(version: str, says: str, tmp_path: Path) -> None:
    suites = {"shop": {"version": version, "pack_hash": "0123456789abcdef"}}
    run = load_card(tmp_path, [make_record()], suites=suites)
    assert dict(sections.list_facts(sections.prepare_models([run])[0]))["suite shop"] == says


def test_an_end_that_no_clock_has_is_written_in_seconds(tmp_path: Path) -> None:
    (model,) = sections.prepare_models([replace(load_card(tmp_path, [make_record()]), created_s=1e30)])
    assert dict(sections.list_facts(model))["ended"] == "1e+30 s"
    assert sections.summarise_run(model).endswith(" · 1e+30")


def test_a_price_of_tokens_is_told_per_million(tmp_path: Path) -> None:
    run = load_card(tmp_path, [make_record()], price=Price(input=1, output=4))
    told = dict(sections.list_facts(sections.prepare_models([run])[0]))
    assert told["price"] == "$1 in, $4 out, per million tokens"
    run = load_card(tmp_path, [make_record()], price=Price(input=1, output=4, cached=0.1, reasoning=8))
    told = dict(sections.list_facts(sections.prepare_models([run])[0]))
    assert told["price"] == "$1 in, $4 out, $0.1 cached, $8 reasoning, per million tokens"


def test_a_run_is_summed_up_by_suite_version_and_day(tmp_path: Path) -> None:
    run = load_card(tmp_path, [make_record()])
    summary = sections.summarise_run(sections.prepare_models([run])[0])
    assert summary == "core 1 · tool calls · 2026-05-28"


@pytest.mark.parametrize(
    ("asked_as", "says"), [("gpt-4o-FC", " · tool calls, asked as gpt-4o-FC · "), (None, " · tool calls · ")]
)
def test_a_run_is_summed_up_with_the_official_model_it_was_asked_as(
    asked_as: str | None, says: str, tmp_path: Path
) -> None:
    run = load_card(tmp_path, [make_record()], asked_as=asked_as)
    summary = sections.summarise_run(sections.prepare_models([run])[0])
    assert says in summary


# Scores


def test_rows_have_a_place_for_each_model(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, [make_record()], [make_record(category="parallel"), make_record(WRONG)])
    first, second = sections.make_category_rows(models)
    assert (first.name, second.name) == ("simple_python", "parallel")
    assert [both and both[Profile.OFFICIAL].passed for both in first.scores] == [1, 0]
    assert second.scores[0] is None
    groups = [row.name for row in sections.make_group_rows(models)]
    assert groups == ["all"]
    whole = prepare_runs(tmp_path, [make_record(category=name) for name in GROUPS["simple"].parts])
    assert [row.name for row in sections.make_group_rows(whole)] == ["simple", "all"]


def test_reading_and_execution_are_compared_where_there_are_both(tmp_path: Path) -> None:
    read = make_record(category="parallel")
    run = replace(read, category="exec_parallel", entry="core:exec_parallel_0", group="executable")
    (both,), (alone,) = (prepare_runs(tmp_path, records) for records in ([read, run], [read]))
    found, none = (
        sections.tabulate_executed([model], sections.make_category_rows([model]), Profile.OFFICIAL)
        for model in (both, alone)
    )
    assert found
    assert found.rows == (("parallel", "100.00% (20.7-100.0%)"), ("exec_parallel", "100.00% (20.7-100.0%)"))
    assert none is None


# Cost


def test_scatters_need_two_models_with_known_values(tmp_path: Path) -> None:
    cheap, dear = (make_record(steps=[Usage(latency_s=1.0, usd=usd)]) for usd in (0.001, 0.1))
    slow = make_record(steps=[Usage(latency_s=9.0)])

    def draw(*runs: list[Record]) -> list[str]:
        shown = [
            (model.series, model.scores[Profile.OFFICIAL].all, model.bill)
            for model in prepare_runs(tmp_path, *runs)
        ]
        return list(sections.draw_costs(shown, "all", Profile.OFFICIAL))

    assert len(draw([cheap], [dear])) == 2
    (latency,) = draw([cheap], [slow])
    assert "seconds per call" in latency
    assert draw([cheap]) == []


def test_usage_is_told_where_anything_is_known(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, [make_record()], [make_record(steps=[Usage(latency_s=2.0)])])
    totals = sections.tabulate_totals(models)
    assert totals
    assert [row[0] for row in totals.rows] == [models[1].label]
    (told,) = sections.tabulate_models(models, Profile.OFFICIAL)["usage"]
    assert told.model is models[1]
    assert [row[0] for row in told.tables[0].rows] == ["simple_python", "run"]
    assert told.tables[0].notes == ()
    assert sections.tabulate_totals(models[:1]) is None


def test_the_bill_of_a_run_stands_with_its_usage(tmp_path: Path) -> None:
    judged = AuxiliaryCall(Party.JUDGE, "0f", Completion(input_tokens=5, output_tokens=1), 0.25)
    record = replace(make_record(steps=[Usage(1.0, 10, 5, 0.5, reasoning_tokens=3)]), asides=(judged,))
    models = prepare_runs(tmp_path, [record], [record])
    totals = sections.tabulate_totals(models)
    assert totals
    assert [row[4] for row in totals.rows] == ["0.7500", "0.7500"]
    (told, _) = sections.tabulate_models(models, Profile.OFFICIAL)["usage"]
    (table,) = told.tables
    assert [(row[0], row[4]) for row in table.rows] == [
        ("simple_python", "0.5000"),
        ("run", "0.5000"),
        ("judge", "0.2500"),
    ]
    assert table.notes == (
        "bill with judge: $0.7500, $750.00 per 1,000 calls of the model",
        "tokens: 3 of the output were reasoning",
    )


# Errors


def test_codes_are_counted_by_model_and_category(tmp_path: Path) -> None:
    other = Failed("no_match", "")
    models = prepare_runs(
        tmp_path,
        [make_record(WRONG), make_record(WRONG, number=1), make_record(other, category="parallel")],
        [make_record(Passed(), other)],
    )
    found = sections.count_codes(models, Profile.OFFICIAL)
    assert [(code, counts) for code, _, counts in found] == [
        ("wrong_count", [2, 0]),
        ("no_match", [1, 0]),
    ]
    assert all(meaning.endswith(".") for _, meaning, _ in found)
    assert list(sections.count_codes_by_category(models, Profile.OFFICIAL)) == [
        (models[0], {"simple_python": [("wrong_count", 2)], "parallel": [("no_match", 1)]})
    ]
    assert [code for code, _, _ in sections.count_codes(models, Profile.CORRECTED)] == [
        "no_match",
        "wrong_count",
    ]


def test_causes_of_what_was_not_scored(tmp_path: Path) -> None:
    record = make_record(NotScored("timeout", ""), NotScored(SET_ASIDE, ""))
    models = prepare_runs(tmp_path, [record], [make_record()])
    assert sections.count_causes(models, Profile.OFFICIAL) == [("timeout", [1, 0])]
    assert sections.count_causes(models, Profile.CORRECTED) == [(SET_ASIDE, [1, 0])]


def test_trials_by_category_and_of_all(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, [make_record(trial=1), make_record(WRONG, trial=2)], [make_record()])
    (told,) = sections.tabulate_models(models, Profile.OFFICIAL)["trials"]
    (table,) = told.tables
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    assert rows["simple_python"]["pass@2"] == "100.00%"
    assert rows["all"]["flip"] == "100.00%"


# Complex calls

ELSEWHERE = NotScored(OTHER_RULES, "r")


def _make_complex_records(right: bool = True) -> list[Record]:
    wrong = make_call_verdict(code="value_error", expected={"city": "Oslo"})
    calls = [make_call_verdict()] if right else [make_call_verdict(), wrong, wrong]
    failed = Failed("value_error", "r")
    return [
        make_path_record(Passed() if right else failed, ELSEWHERE, path=make_path_score(*calls)),
        make_path_record(number=1, category="cross", path=make_path_score(make_call_verdict())),
    ]


def test_complex_calls_have_tables_and_notes(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, _make_complex_records(right=False), [make_record()])
    (told,) = sections.tabulate_models(models, Profile.OFFICIAL)["complex"]
    assert told.model is models[0]
    assert [table.title.split(" (")[0] for table in told.tables] == [
        "complex calls",
        "Errors",
        "Arguments of paired calls by purpose",
        "Steps beyond the golden path, successful entries",
    ]
    assert told.tables[0].notes[0] == "failed entries: value_error 1; wrong calls: value_error 2"
    assert told.notes[-1].startswith("no complex score in the corrected profile: 1 of 2")


def test_a_profile_that_can_tell_nothing_says_so(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, _make_complex_records()[:1])
    (told,) = sections.tabulate_models(models, Profile.CORRECTED)["complex"]
    assert told.tables == []
    assert told.notes[0].startswith("no complex score in the corrected profile: 1 of 1")


def test_several_models_stand_side_by_side(tmp_path: Path) -> None:
    models = prepare_runs(
        tmp_path, _make_complex_records(), _make_complex_records(right=False), [make_record()]
    )
    table = sections.tabulate_complex_totals(models, Profile.OFFICIAL)
    assert table is not None
    assert [row[:4] for row in table.rows] == [
        (models[0].label, "2", "100.00%", "2 of 2"),
        (models[1].label, "2", "50.00%", "2 of 4"),
    ]
    assert sections.tabulate_complex_totals(models[1:], Profile.OFFICIAL) is None


def test_other_rules_are_no_cause_to_worry(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, _make_complex_records())
    assert sections.count_causes(models, Profile.CORRECTED) == []


def test_the_profile_that_drove_has_the_counts(tmp_path: Path) -> None:
    run = load_card(tmp_path, _make_complex_records(), driven=PathSettings(Profile.CORRECTED))
    (model,) = sections.prepare_models([run])
    assert model.counts is Profile.CORRECTED
    assert prepare_runs(tmp_path, _make_complex_records())[0].counts is Profile.OFFICIAL
    assert dict(sections.list_facts(model))["complex conversations"].startswith("by the corrected rules")


def test_the_score_that_speaks_for_the_runs(tmp_path: Path) -> None:
    hotels, both = prepare_runs(tmp_path, [make_path_record()], [make_path_record(), make_record()])
    one, other = (model.scores[Profile.CORRECTED] for model in (hotels, both))
    assert [choose_main_score(scores) for scores in ([one], [other], [one, other])] == [
        "hotels",
        "all",
        "all",
    ]


# Format sensitivity


def _compare_manners(folder: Path, *runs: tuple[str, str, Sequence[Record]]) -> list[Table]:
    """Compare the formats of runs of models in modes."""
    cards = [
        load_card(folder, records, f"card{n}", model=model, mode=mode)
        for n, (model, mode, records) in enumerate(runs)
    ]
    models = sections.prepare_models(cards)
    return list(sections.compare_formats(models, sections.make_group_rows(models), Profile.OFFICIAL))


def _make_irrelevance_records(*passed: bool) -> list[Record]:
    """Make entries of both categories of ``irrelevance_all``; those of the live one pass."""
    return [
        make_record(Passed() if ok or name == "live_irrelevance" else WRONG, category=name, number=n)
        for name in GROUPS["irrelevance_all"].parts
        for n, ok in enumerate(passed)
    ]


def test_one_model_in_two_manners_has_a_format_sensitivity(tmp_path: Path) -> None:
    (found,) = _compare_manners(
        tmp_path,
        ("a", "fc", _make_irrelevance_records(True, True)),
        ("a", "prompt", _make_irrelevance_records(True, False)),
    )
    assert found.title == "format sensitivity of a: asked in 2 manners, official profile"
    assert found.columns == ("asked by", "irrelevance_all", "all")
    assert found.rows == (
        ("fc, underscored names, tool_calls", "100.00%", "100.00%"),
        ("prompt, underscored names, tool_calls", "75.00%", "75.00%"),
        ("largest difference", "25.00", "25.00"),
        ("standard deviation", "17.68", "17.68"),
    )


def test_other_models_and_the_same_manner_have_none(tmp_path: Path) -> None:
    run = _make_irrelevance_records(True, False)
    assert _compare_manners(tmp_path, ("a", "fc", run), ("b", "prompt", run)) == []
    assert _compare_manners(tmp_path, ("a", "fc", run), ("a", "fc", run)) == []


def test_only_what_all_manners_have_scored_in_full_is_compared(tmp_path: Path) -> None:
    timeout = [make_record(NotScored("timeout", "600 s"), category="irrelevance")]
    assert (
        _compare_manners(tmp_path, ("a", "fc", _make_irrelevance_records(True)), ("a", "prompt", timeout))
        == []
    )
    both = [*_make_irrelevance_records(True), make_record(category="parallel")]
    (found,) = _compare_manners(tmp_path, ("a", "fc", both), ("a", "prompt", _make_irrelevance_records(True)))
    assert found.columns == ("asked by", "irrelevance_all"), "all has other entries in each"


def test_verdicts_as_written_and_ratings_stand_beside_the_scores(tmp_path: Path) -> None:
    told = [*make_executed_records((Passed(), Passed())), *make_chat_records(2)]
    one, other = prepare_runs(tmp_path, told, [make_record()])
    (found,) = sections.tabulate_models([one, other], Profile.OFFICIAL)["beside"]
    assert found.model is one
    assert [table.title for table in found.tables] == [
        "calls as written (AST) and carried out (official profile)",
        "replies rated by a judge (0 to 2)",
    ]


def test_prompt_formats_have_their_tables(tmp_path: Path) -> None:
    asked = replace(
        make_record(category="format_sensitivity"),
        entry=f"core:format_sensitivity_5:{PLAIN.name}:parallel_1",
    )
    models = prepare_runs(tmp_path, [asked], [make_record()])
    (told,) = sections.tabulate_models(models, Profile.OFFICIAL)["formats"]
    assert told.model is models[0]
    assert [table.columns[0] for table in told.tables] == ["calls as", "measure"]
    assert told.tables[0].rows[0][:3] == ("python, JSON docs", "1", "1")
    assert models[0].scores[Profile.OFFICIAL].main == "format_sensitivity"
