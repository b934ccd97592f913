"""The calls and replies of a run, right or not.

Counted are the calls that keep their schemas, the answers that call where those of a reference do, who served
the answers, and the replies whose stream says something else than the whole one.

Verifiers of vendors report the same of an endpoint: the share of valid calls, and precision and recall of
calling beside the endpoint of the model's maker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from pytest_fcbench.domain.json_values import Count
from pytest_fcbench.domain.stream_comparison import PARTS
from pytest_fcbench.domain.text import name_few
from pytest_fcbench.domain.transcript import CallCounts
from pytest_fcbench.scorecard.record import Record, group_with_all


def sum_calls(records: Iterable[Record]) -> CallCounts:
    """Sum up the counts of calls of these Records."""
    counts = [record.calls for record in records if record.calls is not None]
    return CallCounts(*(sum(getattr(each, one.name) for each in counts) for one in fields(CallCounts)))


def sum_calls_by_category(records: Sequence[Record]) -> Mapping[str, CallCounts]:
    """Sum up the calls of each category that has some, and of ``all``; nothing where nothing was called."""
    parts = group_with_all(records)
    return {name: counts for name, part in parts.items() if (counts := sum_calls(part)).calls}


@dataclass(frozen=True, slots=True)
class Triggering:
    """How often the first answers of a run call where those of a reference do."""

    both: int
    only_reference: int
    only_run: int
    neither: int

    @property
    def precision(self) -> float | None:
        """The share of calling answers whose reference calls too; None where the run calls nowhere."""
        called = self.both + self.only_run
        return self.both / called if called else None

    @property
    def recall(self) -> float | None:
        """The share of calling answers of the reference that call in the run too; None without any."""
        called = self.both + self.only_reference
        return self.both / called if called else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both; None where neither run calls."""
        called = 2 * self.both + self.only_run + self.only_reference
        return 2 * self.both / called if called else None


def compare_triggering(reference: Iterable[Record], run: Iterable[Record]) -> Triggering | None:
    """Compare where two runs call, by entry and trial; None without an entry of which both is known."""
    known = {each.item_id: calls for each in reference if (calls := _calls_first(each)) is not None}
    pairs = Counter(
        (known[record.item_id], calls)
        for record in run
        if record.item_id in known and (calls := _calls_first(record)) is not None
    )
    counts = [pairs[pair] for pair in ((True, True), (True, False), (False, True), (False, False))]
    return Triggering(*counts) if pairs else None


def _calls_first(record: Record) -> bool | None:
    """Tell whether the first answer calls; None where none came, or its fault says nothing of the model."""
    if record.calls is None or not record.turns or not record.turns[0] or record.turns[0][0].get("fault"):
        return None
    return record.calls.first > 0


_MEMBERS = {"provider": "providers", "model": "models", "system_fingerprint": "fingerprints"}


def describe_serving(records: Iterable[Record]) -> list[str]:
    """Describe the providers, models and fingerprints that answers came from, of each kind with several."""
    served = dict.fromkeys(each for record in records for each in record.served)
    notes = []
    for member, plural in _MEMBERS.items():
        mark = f"{member}="
        names = sorted(each.removeprefix(mark) for each in served if each.startswith(mark))
        if len(names) > 1:
            notes.append(f"answers came from {len(names):,} {plural}: {name_few(names)}")
    return notes


@dataclass(frozen=True, slots=True)
class StreamDifferences:
    """Counts of replies, each asked for whole and as a stream."""

    replies: Count
    different: Count
    """Replies whose stream differs in this part."""
    noise: Count
    """Of these, replies that differ in this part from a second one to an equal request, whole or streamed."""


def count_stream_differences(records: Iterable[Record]) -> Mapping[str, StreamDifferences]:
    """Count by part of a reply; nothing where no stream was compared."""
    compared = [each for record in records for each in record.streams]
    different = Counter(part for each in compared for part in each.differences)
    noise = Counter(part for each in compared for part in each.noise)
    if not compared:
        return {}
    return {part: StreamDifferences(len(compared), different[part], noise[part]) for part in PARTS}
