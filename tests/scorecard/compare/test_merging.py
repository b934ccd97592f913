"""Joining the scorecards of parts: what must be alike, what is missing, what counts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import Shard
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.scorecard.compare.merging import Merged, merge_scorecards
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import EARLY_END, RunFacts
from pytest_fcbench.scorecard.scorecard_files import Scorecard, load_scorecard, write_baseline
from tests.cases import each_case
from tests.factories import FACTS, make_record, make_scorecard

WRONG = Failed("wrong_count", "2 calls came, 1 expected")


def write_part(
    path: Path,
    records: Sequence[Record],
    facts: RunFacts = FACTS,
    size: int = 0,
    **report: object,
) -> Scorecard:
    told = make_scorecard(records, facts, size)
    tests = told["tests"]
    assert isinstance(tests, list)
    for test in tests:
        test.setdefault("outcome", "passed")
    counts = {"total": len(tests), "collected": len(tests)}
    path.write_text(json.dumps({**told, "duration": 2.0, "summary": counts, **report}))
    return load_scorecard(path)


def _merge_parts(parts: Sequence[Scorecard], *, replacing: bool = False) -> Merged:
    return merge_scorecards([part.path for part in parts], replacing=replacing)


def make_live_record(number: int, *, passed: bool = True, category: str = "live_simple") -> Record:
    return make_record(Passed() if passed else WRONG, category=category, number=number)


@pytest.fixture
def two_shards(tmp_path: Path) -> tuple[Scorecard, Scorecard]:
    first = write_part(tmp_path / "1.json", [make_live_record(0)], replace(FACTS, shard="1/2"), created=100.0)
    second = write_part(
        tmp_path / "2.json", [make_live_record(1)], replace(FACTS, shard="2/2"), created=107.0
    )
    return first, second


def test_the_whole_spans_the_time_of_its_parts(two_shards: tuple[Scorecard, Scorecard]) -> None:
    merged = _merge_parts(two_shards)
    assert (merged.report["created"], merged.report["duration"]) == (107.0, 9.0)
    assert merged.report["summary"] == {"passed": 3, "total": 3, "collected": 3}
    assert (merged.facts.shard, merged.missing, merged.unfinished) == (None, (), None)


@given(places=st.lists(st.integers(0, 3), min_size=1, max_size=40), order=st.permutations(range(4)))
def test_it_matters_neither_how_entries_fall_nor_who_comes_first(
    places: list[int], order: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    records = [make_live_record(n, passed=n % 3 > 0) for n in range(len(places))]
    parts = [
        write_part(
            folder / f"{k}.json", [record for record, at in zip(records, places, strict=True) if at == k]
        )
        for k in range(4)
    ]
    whole = write_part(folder / "whole.json", records)
    merged = _merge_parts([parts[k] for k in order])
    assert merged.records == whole.records
    again = Scorecard(Path("x"), merged.facts, merged.records, merged.sizes)
    for profile in Profile:
        assert again.scores(profile) == whole.scores(profile)


def test_a_missing_shard_is_named_and_leaves_the_run_unfinished(tmp_path: Path) -> None:
    merged = _merge_parts(
        [write_part(tmp_path / "2.json", [make_live_record(0)], replace(FACTS, shard="2/3"))]
    )
    assert merged.missing == (Shard(1, 3), Shard(3, 3))
    assert merged.unfinished == "without shard 1/3, 3/3"
    assert merged.facts.notes[-1] == merged.unfinished


def test_a_run_that_ended_early_is_told(tmp_path: Path) -> None:
    counts = {"total": 2, "collected": 9, "deselected": 3}
    merged = _merge_parts([write_part(tmp_path / "1.json", [make_live_record(0)], summary=counts)])
    assert merged.unfinished == f"only 2 of 6 tests of {tmp_path / '1.json'} were run"
    assert merged.facts.narrowed_by == EARLY_END


def test_a_run_that_ended_early_is_whole_with_its_rest(tmp_path: Path) -> None:
    early = write_part(tmp_path / "1.json", [make_live_record(0)], replace(FACTS, narrowed_by=EARLY_END))
    merged = _merge_parts([early, write_part(tmp_path / "2.json", [make_live_record(1)])])
    assert (merged.unfinished, merged.facts.narrowed_by) == (None, None)


def test_parts_need_not_be_shards(tmp_path: Path) -> None:
    """Categories that were run apart, say; what only one part has is of the whole."""
    asked = write_part(
        tmp_path / "a.json", [make_live_record(0, category="web_search_base")], replace(FACTS, search="core")
    )
    merged = _merge_parts([write_part(tmp_path / "b.json", [make_live_record(0)], size=3), asked])
    assert merged.facts.search == "core"
    assert merged.size_of("live_simple") == 3
    assert len(merged.records) == 2


def test_an_entry_in_two_parts_is_refused_or_the_last_one_counts(tmp_path: Path) -> None:
    first = write_part(tmp_path / "1.json", [make_live_record(0, passed=False), make_live_record(1)])
    again = write_part(tmp_path / "2.json", [make_live_record(0)])
    with pytest.raises(UsageError, match=r"1\.json and .*2\.json both have core:live_simple_0; .*--replace"):
        _merge_parts([first, again])
    merged = _merge_parts([first, again], replacing=True)
    assert [record.verdict(Profile.OFFICIAL).status for record in merged.records] == ["passed", "passed"]
    merged = _merge_parts([again, first], replacing=True)
    assert [record.verdict(Profile.OFFICIAL).status for record in merged.records] == ["failed", "passed"]


def test_an_entry_that_was_run_again_from_another_folder_has_one_test(tmp_path: Path) -> None:
    first = write_part(tmp_path / "1.json", [make_live_record(0, passed=False)])
    first.path.write_text(first.path.read_text().replace("benchmarks/test_x.py", "z/test_x.py"))
    again = write_part(tmp_path / "2.json", [make_live_record(0)])
    merged = _merge_parts([first, again], replacing=True)
    written = json.loads("".join(merged.write_report({})))
    assert [test["nodeid"] for test in written["tests"]] == [
        "benchmarks/test_x.py::test_x[core:live_simple_0]",
        "tests/test_other.py::test_other",
    ]


def test_a_test_without_a_record_gives_way_to_one_that_has_it(tmp_path: Path) -> None:
    """The first one was skipped, say, and failed when it was torn down."""
    first = write_part(tmp_path / "1.json", [make_live_record(0)])
    report = json.loads(first.path.read_text())
    nodeid = report["tests"][0]["nodeid"]
    report["tests"][0] = {"nodeid": nodeid, "outcome": "error"}
    first.path.write_text(json.dumps(report))
    merged = _merge_parts([first, write_part(tmp_path / "2.json", [make_live_record(0)])])
    assert merged.tests[nodeid].item_id == merged.records[0].item_id
    assert not merged.foreign_failures


def test_examples_in_prompts_are_those_of_all_parts(tmp_path: Path) -> None:
    parts = [
        write_part(
            tmp_path / f"{category}.json",
            [make_live_record(0, category=category)],
            replace(FACTS, shots={f"core:{category}": (f"core:{category}_9",)}),
        )
        for category in ("multiple", "parallel")
    ]
    assert _merge_parts(parts).facts.shots == {
        "core:multiple": ("core:multiple_9",),
        "core:parallel": ("core:parallel_9",),
    }


DIFFERENT: Mapping[str, Mapping[str, object]] = {
    "fcbench": {"fcbench": "0.0.1"},
    "model": {"model": "another"},
    "mode": {"mode": "prompt"},
    "profile": {"profile": Profile.CORRECTED},
    "suites": {"suites": {"core": {"version": "2", "pack_hash": None}}},
    "search": {"search": "duckduckgo"},
    "asked_as": {"asked_as": "gpt-4o-2024-11-20-FC"},
}


@each_case("what", DIFFERENT)
def test_parts_of_different_runs_are_not_joined(tmp_path: Path, what: str) -> None:
    facts = replace(FACTS, search="core")
    first = write_part(tmp_path / "1.json", [make_live_record(0)], facts)
    other = write_part(tmp_path / "2.json", [make_live_record(1)], replace(facts, **DIFFERENT[what]))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=rf"1\.json and .*2\.json are not parts of the same run: {what} is "):
        _merge_parts([first, other])


def test_trials_and_sizes_must_agree_too(tmp_path: Path) -> None:
    first = write_part(tmp_path / "1.json", [make_live_record(0)], size=4)
    tried = [replace(make_live_record(1), trial=trial) for trial in (1, 2)]
    with pytest.raises(UsageError, match="trials is 1 in one and 2 in the other"):
        _merge_parts([first, write_part(tmp_path / "2.json", tried, size=4)])
    with pytest.raises(UsageError, match="number of tests of live_simple is 4 in one and 5 in the other"):
        _merge_parts([first, write_part(tmp_path / "3.json", [make_live_record(1)], size=5)])


def test_shards_of_different_runs_and_baselines_are_refused(
    tmp_path: Path, two_shards: tuple[Scorecard, Scorecard]
) -> None:
    third = write_part(tmp_path / "3.json", [make_live_record(2)], replace(FACTS, shard="3/4"))
    with pytest.raises(UsageError, match=r"is shard 2/2, .*3\.json is shard 3/4: the shards of a run"):
        _merge_parts([*two_shards, third])
    kept = tmp_path / "kept.json"
    kept.write_text(write_baseline(two_shards[0]))
    with pytest.raises(UsageError, match=r"kept\.json: a baseline contains only verdicts"):
        _merge_parts([two_shards[1], load_scorecard(kept)])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_test_of_another_kind_counts_as_it_failed(
    two_shards: tuple[Scorecard, Scorecard], order: tuple[int, int]
) -> None:
    report = json.loads(two_shards[0].path.read_text())
    report["tests"][-1]["outcome"] = "failed"
    two_shards[0].path.write_text(json.dumps(report))
    merged = _merge_parts([two_shards[at] for at in order])
    assert merged.foreign_failures
    assert merged.report["summary"]["failed"] == 1


def test_a_warning_of_many_parts_is_told_once(tmp_path: Path) -> None:
    parts = [
        write_part(tmp_path / f"{n}.json", [make_live_record(n)], warnings=[{"message": "old"}])
        for n in range(3)
    ]
    assert _merge_parts(parts).report["warnings"] == [{"message": "old"}]


def test_the_whole_has_the_texts_of_the_tests_in_order(two_shards: tuple[Scorecard, Scorecard]) -> None:
    merged = _merge_parts([two_shards[1], two_shards[0]])
    written = json.loads("".join(merged.write_report({"fcbench": {"own": 1}, "created": 5})))
    parts = [json.loads(part.path.read_text())["tests"] for part in two_shards]
    # The last test of each part is the same one of another kind.
    assert written["tests"] == sorted(
        (parts[0][0], parts[1][0], parts[0][1]), key=lambda test: str(test["nodeid"])
    )
    assert (written["fcbench"], written["created"]) == ({"own": 1}, 5)
    assert written["summary"]["total"] == 3


def test_what_can_be_read_once_only_is_no_part(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="not a file; its tests are read twice"):
        merge_scorecards([tmp_path / "pipe"])
