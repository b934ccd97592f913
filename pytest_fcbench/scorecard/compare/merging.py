"""Merging of the scorecards of a run's parts, such as the shards of several machines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.shard import Shard
from pytest_fcbench.scorecard.aggregate.trials import count_trials
from pytest_fcbench.scorecard.record import Record, sort_records
from pytest_fcbench.scorecard.run_facts import RunFacts
from pytest_fcbench.scorecard.scorecard_files import Scorecard, parse_file, read_scorecard

_SAME = (
    *("fcbench", "model", "mode", "names", "syntax", "asked_as", "profile", "suites", "price"),
    "concurrency",
)
"""Facts that must be equal in all parts of a run."""

_SAME_WHERE_TOLD = ("driven", "rated_by", "search")
"""Facts that only parts with entries of that kind state; they must be equal where stated."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A run joined from several parts."""

    facts: RunFacts
    records: tuple[Record, ...]
    sizes: Mapping[str, int]
    missing: tuple[Shard, ...]
    """Shards without a scorecard."""
    unfinished: str | None
    """The missing parts of the run, in words; None where it is complete."""
    report: dict[str, Any]
    """The JSON report, without its section ``fcbench``."""

    def size_of(self, category: str) -> int:
        """Return the number of tests of a category in the suites of the run, where that counts."""
        return self.sizes.get(category, 0)

    @property
    def foreign_failures(self) -> bool:
        """True where a test other than those of the benchmark did not pass."""
        return any(_is_foreign(test) and not _is_passing(test) for test in self.report["tests"])


def merge_scorecards(paths: Sequence[Path], *, replacing: bool = False) -> Merged:
    """Join the scorecards of one run; with ``replacing``, the last one that has an entry counts.

    Raises ``UsageError`` where parts are of different runs, hold no answers, or have an entry in common.
    """
    found = list(map(parse_file, paths))
    parts = list(map(read_scorecard, paths, found))
    for part in parts:
        if part.created_s is None:
            raise UsageError(
                f"{part.path}: a baseline contains only verdicts; merge the scorecards themselves"
            )
    records = _join_records(parts, replacing=replacing)
    missing = tuple(_find_missing_shards(parts))
    reports = [report for report in found if isinstance(report, Mapping)]
    absent = [f"without shard {', '.join(map(str, missing))}"] if missing else []
    for part, report in zip(parts, reports, strict=True):
        # With -x or after Ctrl-C pytest-json-report has collected more than it has in total.
        counts = report.get("summary", {})
        to_run = counts.get("collected", 0) - counts.get("deselected", 0)
        if counts.get("total", 0) < to_run:
            absent.append(f"only {counts.get('total', 0):,} of {to_run:,} tests of {part.path} were run")
    unfinished = "; ".join(absent) or None
    facts = _join_facts(parts)
    notes = dict.fromkeys((*(note for part in parts for note in part.facts.notes), unfinished))
    sizes: dict[str, tuple[Scorecard, int]] = {}
    for part in parts:
        for category, size in part.sizes.items():
            first, told = sizes.setdefault(category, (part, size))
            _require_same(f"the number of tests of {category}", first, told, part, size)
    return Merged(
        facts=replace(facts, notes=tuple(filter(None, notes))),
        records=tuple(sort_records(records.values())),
        sizes={category: size for category, (_, size) in sizes.items()},
        missing=missing,
        unfinished=unfinished,
        report=_join_reports(reports),
    )


# What must be alike


def _join_facts(parts: Sequence[Scorecard]) -> RunFacts:
    first = parts[0]
    for part in parts[1:]:
        for name in _SAME:
            _require_same(name, first, getattr(first.facts, name), part, getattr(part.facts, name))
        _require_same("trials", first, _count_trials(first), part, _count_trials(part))
    told: dict[str, Any] = {}
    for name in _SAME_WHERE_TOLD:
        telling = [part for part in parts if getattr(part.facts, name) is not None]
        told[name] = getattr(telling[0].facts, name) if telling else None
        for part in telling[1:]:
            _require_same(name, telling[0], told[name], part, getattr(part.facts, name))
    # Parts that share a store hold the same earlier conversations.
    earlier = {each.entry: each for part in parts for each in part.facts.earlier}
    return replace(first.facts, shard=None, earlier=tuple(earlier.values()), **told)


def _count_trials(part: Scorecard) -> int | None:
    # A shard can be empty, and count_trials() says 1 of no Records.
    return count_trials(part.records) if part.records else None


def _require_same(what: str, first: Scorecard, one: object, second: Scorecard, other: object) -> None:
    if one != other and None not in (one, other):
        raise UsageError(
            f"{first.path} and {second.path} are not parts of the same run: {what} is {one} in "
            f"one and {other} in the other; run all parts with the same version and options"
        )


# What is joined


def _join_records(parts: Sequence[Scorecard], *, replacing: bool) -> Mapping[str, Record]:
    found: dict[str, Record] = {}
    where: dict[str, Scorecard] = {}
    for part in parts:
        for record in part.records:
            if record.item_id in found and not replacing:
                raise UsageError(
                    f"{where[record.item_id].path} and {part.path} both have {record.item_id}; "
                    "give each part once, or use --replace so that the last one counts"
                )
            found[record.item_id], where[record.item_id] = record, part
    return found


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


def _join_reports(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Join reports: that of the last run to end, with the tests of all.

    A test that is not the benchmark's runs in every part, and counts as failed if it failed in one.
    """
    # Machines start and end at different times; the whole takes from the first start to the last end.
    last = max(reports, key=lambda report: float(report["created"]))
    tests: dict[str, Mapping[str, Any]] = {}
    for test in (test for report in reports for test in report["tests"]):
        known = tests.get(test["nodeid"])
        if known is None or not _is_foreign(test) or _is_passing(known):
            tests[test["nodeid"]] = test
    # A dict for its order: each warning once, where it came first.
    warnings: dict[str, object] = {}
    for warning in (warning for report in reports for warning in report.get("warnings", [])):
        warnings.setdefault(json.dumps(warning, sort_keys=True), warning)
    began = min(float(report["created"]) - float(report["duration"]) for report in reports)
    outcomes = Counter(str(test["outcome"]) for test in tests.values())
    return {key: value for key, value in last.items() if key != "fcbench"} | {
        "duration": float(last["created"]) - began,
        "summary": {**outcomes, "total": len(tests), "collected": len(tests)},
        "tests": [tests[nodeid] for nodeid in sorted(tests)],
        "warnings": list(warnings.values()),
    }


def _is_foreign(test: Mapping[str, Any]) -> bool:
    return "fcbench" not in test.get("metadata", {})


def _is_passing(test: Mapping[str, Any]) -> bool:
    return test["outcome"] not in ("failed", "error")
