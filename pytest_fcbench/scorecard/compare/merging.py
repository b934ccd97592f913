"""Merging of the scorecards of a run's parts, such as the shards of several machines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from pytest_fcbench.domain.entry import Shard
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.scorecard.aggregate.secondary_scores import count_trials
from pytest_fcbench.scorecard.record import Record, sort_records
from pytest_fcbench.scorecard.run_facts import EARLY_END, RunFacts
from pytest_fcbench.scorecard.scorecard_files import Place, Scorecard, load_parted, open_places

_SAME = ("fcbench", "model", "mode", "names", "syntax", "asked_as", "profile", "suites")
"""Facts that must be equal in all parts of a run."""

_SAME_WHERE_TOLD = ("price", "concurrency", "driven", "rated_by", "search")
"""Facts that parts without entries of that kind do not state; they must be equal where stated."""


class _Test(NamedTuple):
    """A test of a part: the text of it stays in the file."""

    path: Path
    place: Place
    outcome: str
    item_id: str | None
    """The id of its Record; None for a test that is not the benchmark's."""

    @property
    def is_passing(self) -> bool:
        return self.outcome not in ("failed", "error")


@dataclass(frozen=True, slots=True)
class _Part:
    """A scorecard to be merged, with outlines of its Records, and the rest of its report."""

    card: Scorecard
    tests: tuple[tuple[str, _Test], ...]
    """The tests with their node ids."""
    report: Mapping[str, Any]
    """The report without its tests."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A run joined from several parts."""

    facts: RunFacts
    records: tuple[Record, ...]
    """Outlines of the Records."""
    sizes: Mapping[str, int]
    missing: tuple[Shard, ...]
    """Shards without a scorecard."""
    unfinished: str | None
    """The missing parts of the run, in words; None where it is complete."""
    report: Mapping[str, Any]
    """The JSON report, without its section ``fcbench`` and its tests."""
    tests: Mapping[str, _Test]
    """The tests by node id."""

    def size_of(self, category: str) -> int:
        """Return the number of tests of a category in the suites of the run, where that counts."""
        return self.sizes.get(category, 0)

    @property
    def foreign_failures(self) -> bool:
        """True where a test other than those of the benchmark did not pass."""
        return any(test.item_id is None and not test.is_passing for test in self.tests.values())

    def write_report(self, own: Mapping[str, object]) -> Iterator[str]:
        """Write the whole report in pieces, with other values for some of its members.

        The texts of the tests are copied from the files of the parts.
        """
        yield "{"
        for key, value in {**own, **self.report, **own}.items():
            yield f"{json.dumps(key)}: {json.dumps(value)}, "
        yield '"tests": ['
        with ExitStack() as stack:
            paths = dict.fromkeys(test.path for test in self.tests.values())
            readers = {path: stack.enter_context(open_places(path)) for path in paths}
            for number, nodeid in enumerate(sorted(self.tests)):
                test = self.tests[nodeid]
                yield f"{',' if number else ''}\n{readers[test.path](test.place)}"
        yield "\n]}"


def merge_scorecards(paths: Sequence[Path], *, replacing: bool = False) -> Merged:
    """Join the scorecards of one run; with ``replacing``, the last one that has an entry counts.

    Raises ``UsageError`` where parts are of different runs, hold no answers, or have an entry in common.
    """
    parts = list(map(_load_part, paths))
    cards = [part.card for part in parts]
    records = _join_records(cards, replacing=replacing)
    missing = tuple(_find_missing_shards(cards))
    absent = [f"without shard {', '.join(map(str, missing))}"] if missing else []
    for part in parts:
        # With -x or after Ctrl-C pytest-json-report has collected more than it has in total.
        counts = part.report.get("summary", {})
        to_run = counts.get("collected", 0) - counts.get("deselected", 0)
        if counts.get("total", 0) < to_run:
            absent.append(f"only {counts.get('total', 0):,} of {to_run:,} tests of {part.card.path} were run")
    shortfall = "; ".join(absent) or None
    facts = _join_facts(cards)
    # What one part lacks another may have.
    narrowed_by = None if facts.narrowed_by == EARLY_END else facts.narrowed_by
    notes = dict.fromkeys((*(note for card in cards for note in card.facts.notes), shortfall))
    sizes: dict[str, tuple[Scorecard, int]] = {}
    for card in cards:
        for category, size in card.sizes.items():
            first, first_size = sizes.setdefault(category, (card, size))
            _require_same(f"the number of tests of {category}", first, first_size, card, size)
    tests: dict[str, _Test] = {}
    for part in parts:
        # An entry that is replaced may have been run from another folder, under another node id.
        again = {record.item_id for record in part.card.records}
        tests = {nodeid: test for nodeid, test in tests.items() if test.item_id not in again}
        for nodeid, test in part.tests:
            # A test that is not the benchmark's runs in every part, and counts as failed if it failed in one.
            if test.item_id or nodeid not in tests or tests[nodeid].is_passing:
                tests[nodeid] = test
    return Merged(
        facts=replace(
            facts, notes=tuple(filter(None, notes)), narrowed_by=EARLY_END if shortfall else narrowed_by
        ),
        records=tuple(sort_records(records.values())),
        sizes={category: size for category, (_, size) in sizes.items()},
        missing=missing,
        unfinished=shortfall,
        report=_join_reports([part.report for part in parts], tests),
        tests=tests,
    )


def _load_part(path: Path) -> _Part:
    """Load a part. Raises ``UsageError``."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise UsageError(f"{path}: not a file; its tests are read twice, so give the scorecard as a file")
    tests: list[tuple[str, _Test]] = []

    def take_test(test: Mapping[str, Any], record: Record | None, place: Place) -> None:
        item_id = record.item_id if record else None
        tests.append((str(test["nodeid"]), _Test(path, place, str(test["outcome"]), item_id)))

    card, report = load_parted(path, take_test)
    if card.created_s is None:
        raise UsageError(f"{path}: a baseline contains only verdicts; merge the scorecards themselves")
    return _Part(card, tuple(tests), report)


# What must be alike


def _join_facts(parts: Sequence[Scorecard]) -> RunFacts:
    first = parts[0]
    for part in parts[1:]:
        for name in _SAME:
            _require_same(name, first, getattr(first.facts, name), part, getattr(part.facts, name))
    # A shard can be empty, and count_trials() says 1 of no Records.
    _find_common_fact("trials", parts, lambda part: count_trials(part.records) if part.records else None)
    common_facts: dict[str, Any] = {
        name: _find_common_fact(name, parts, attrgetter(f"facts.{name}")) for name in _SAME_WHERE_TOLD
    }
    # Parts that share a store hold the same earlier conversations.
    earlier = {each.entry: each for part in parts for each in part.facts.earlier}
    shots = {place: entries for part in parts for place, entries in part.facts.shots.items()}
    # What a part says of two models is not so of the whole.
    one_model = replace(first.facts, against=None, noise=None, shard=None, ungated=None)
    return replace(one_model, earlier=tuple(earlier.values()), shots=shots, **common_facts)


def _find_common_fact(what: str, parts: Sequence[Scorecard], find: Callable[[Scorecard], Any]) -> Any:
    """Return what all parts say that say something; None if none does. Raises ``UsageError``."""
    telling = [(part, fact) for part in parts if (fact := find(part)) is not None]
    for part, fact in telling[1:]:
        _require_same(what, *telling[0], part, fact)
    return telling[0][1] if telling else None


def _require_same(what: str, first: Scorecard, one: object, second: Scorecard, other: object) -> None:
    if one != other:
        raise UsageError(
            f"{first.path} and {second.path} are not parts of the same run: {what} is {one} in "
            f"one and {other} in the other; run all parts with the same version and options"
        )


# What is joined


def _join_records(parts: Sequence[Scorecard], *, replacing: bool) -> Mapping[str, Record]:
    records_by_id: dict[str, Record] = {}
    where: dict[str, Scorecard] = {}
    for part in parts:
        for record in part.records:
            if record.item_id in records_by_id and not replacing:
                raise UsageError(
                    f"{where[record.item_id].path} and {part.path} both have {record.item_id}; "
                    "give each part once, or use --replace so that the last one counts"
                )
            records_by_id[record.item_id], where[record.item_id] = record, part
    return records_by_id


def _find_missing_shards(parts: Sequence[Scorecard]) -> Iterator[Shard]:
    shards = {Shard.parse(part.facts.shard): part for part in parts if part.facts.shard}
    ways = {shard.of: part for shard, part in shards.items()}
    if len(ways) > 1:
        first, second, *_ = ways.values()
        raise UsageError(
            f"{first.path} is shard {first.facts.shard}, {second.path} is shard "
            f"{second.facts.shard}: the shards of a run must have the same number of parts"
        )
    for of in ways:
        yield from (shard for n in range(1, of + 1) if (shard := Shard(n, of)) not in shards)


def _join_reports(reports: Sequence[Mapping[str, Any]], tests: Mapping[str, _Test]) -> Mapping[str, Any]:
    """Join reports into that of the last run to end, with these tests."""
    # Machines start and end at different times; the whole takes from the first start to the last end.
    last = max(reports, key=lambda report: float(report["created"]))
    # A dict for its order: each warning once, where it came first.
    warnings: dict[str, object] = {}
    for warning in (warning for report in reports for warning in report.get("warnings", [])):
        warnings.setdefault(json.dumps(warning, sort_keys=True), warning)
    began = min(float(report["created"]) - float(report["duration"]) for report in reports)
    outcomes = Counter(test.outcome for test in tests.values())
    return {key: value for key, value in last.items() if key not in ("fcbench", "tests")} | {
        "duration": float(last["created"]) - began,
        "summary": {**outcomes, "total": len(tests), "collected": len(tests)},
        "warnings": list(warnings.values()),
    }
