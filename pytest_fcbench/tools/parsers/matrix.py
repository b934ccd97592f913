"""Examine parsers: each way in which an answer can come, over many right answers, and the tables of it."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from time import process_time
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.native_syntaxes import NativeSyntax, Unwritable
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.present.tables import Table
from pytest_fcbench.tools.parsers.engine import Piece, ToolParser, join_pieces
from pytest_fcbench.tools.parsers.truths import (
    AnswerFinding,
    CpuLimitReached,
    Outcome,
    Truth,
    judge_answer,
    limit_cpu,
    write_texts,
)

Split: TypeAlias = Callable[[str], Sequence[Piece]]
"""Splits the text of an answer into a piece for each token."""
MOST_CPU_S = 3.0
"""A parser that takes more processor time for one answer is stopped: it is slow."""
_MOST_SLOW = 3
"""After so many slow answers longer ones are counted as slow, without a try."""


_PARAMETERS = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_FUNCTION = {"name": "save_note", "description": "Save a note.", "parameters": _PARAMETERS}
_TOOL = {"type": "function", "function": _FUNCTION}
_LONG_S = 0.1
_SENTENCE = "The train to the coast leaves at nine from platform four. "


class Way(StrEnum):
    """A way in which an answer comes to a parser."""

    WHOLE = "whole"
    TOKENS = "by token"
    BATCHES = "batches"
    """As several tokens at a time, 1 to 6, as speculative decoding and busy servers send them."""
    ONE_DELTA = "one delta"
    """As a stream of a single delta."""


def group_pieces(pieces: Sequence[Piece], way: Way, seed: str) -> Sequence[Piece]:
    """Join pieces into the deltas of a way; the same seed gives the same batches."""
    if way is Way.TOKENS:
        return pieces
    if way is not Way.BATCHES:
        return [join_pieces(pieces)]
    generator, deltas, start = random.Random(seed), [], 0  # noqa: S311 - no secret depends on it
    while start < len(pieces):
        end = start + generator.randint(1, 6)
        deltas.append(join_pieces(pieces[start:end]))
        start = end
    return deltas


@dataclass(frozen=True, slots=True)
class Examiner:
    """A parser with the syntax that it should read."""

    parser: ToolParser
    syntax: NativeSyntax
    split: Split
    most_cpu_s: float = MOST_CPU_S

    def examine(self, truth: Truth, way: Way) -> tuple[AnswerFinding, float]:
        """Hand the written calls to the parser, and compare; also return the processor time in seconds.

        Raises ``Unwritable`` where the syntax cannot hold the calls.
        """
        deltas = group_pieces(self.split(truth.write_text(self.syntax)), way, truth.key)
        start = process_time()
        try:
            with limit_cpu(self.most_cpu_s):
                if way is Way.WHOLE:
                    answer = self.parser.parse_whole(deltas[0], truth.tools)
                else:
                    answer = self.parser.parse_pieces(deltas, truth.tools)
            finding = judge_answer(truth.calls, answer)
        except CpuLimitReached:
            finding = AnswerFinding(Outcome.SLOW, f"more than {self.most_cpu_s:g} s")
        # Whatever a parser raises is what is looked for.
        except Exception as error:  # noqa: BLE001
            finding = AnswerFinding(Outcome.CRASHED, f"{type(error).__name__}: {error}")
        return finding, process_time() - start

    def measure_growth(self, way: Way) -> float | None:
        """Measure how processor time grows with the length of an answer: 1 in proportion, 2 with its square.

        An argument is doubled until it takes long enough to compare lengths. None where the syntax cannot
        hold a long text, or the parser fails.
        """
        times: list[float] = []
        while len(times) < 9 and (len(times) < 4 or times[-1] < _LONG_S):
            call = Call("save_note", {"text": (_SENTENCE * 2 ** (len(times) + 1)).strip()})
            times.append(math.inf)
            for _ in range(3):
                try:
                    finding, seconds = self.examine(Truth("", (call,), [_TOOL]), way)
                except Unwritable:
                    return None
                if finding.outcome is Outcome.CRASHED:
                    return None
                times[-1] = min(times[-1], max(seconds, 1e-6))
                if seconds > 10 * _LONG_S:
                    break
        return math.log2(times[-1] / times[-4]) / 3


@dataclass
class ParserFailure:
    """Calls that a parser does not bring back."""

    ways: list[Way]
    outcome: Outcome
    truth: Truth
    text: str
    reason: str


Shrink: TypeAlias = Callable[[Truth, Callable[[Truth], bool]], Truth]
"""Finds the smallest calls like the given ones for which a condition still holds."""


@dataclass
class Examination:
    """What became of right answers, for a parser and a syntax."""

    parser: str
    examiner: Examiner
    outcomes: Mapping[Way, Counter[Outcome]]
    count: int = 0
    """The answers that the syntax can hold."""
    failures: list[ParserFailure] = field(default_factory=list)
    """The smallest of each way, for the outcome that is most frequent there."""
    cpu_s: float = 0.0
    """Processor time by token, for ``size`` bytes."""
    size: int = 0
    growth: float | None = None
    _first: dict[tuple[Way, Outcome], ParserFailure] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, str]:
        """The names of the parser and of the syntax."""
        return self.parser, self.examiner.syntax.name

    @property
    def is_exact(self) -> bool:
        """Whether all calls came back, in every way."""
        return all(counts.keys() <= {Outcome.EXACT} for counts in self.outcomes.values())

    def add_truth(self, truth: Truth, text: str) -> None:
        """Hand an answer to the parser in each way."""
        self.count += 1
        for way, counts in self.outcomes.items():
            # Whoever was slow several times would be for every longer text, and takes minutes for it.
            if counts[Outcome.SLOW] >= _MOST_SLOW:
                counts[Outcome.SLOW] += 1
                continue
            finding, seconds = self.examiner.examine(truth, way)
            outcome = finding.outcome
            counts[outcome] += 1
            self._first.setdefault((way, outcome), ParserFailure([way], outcome, truth, text, finding.reason))
            if way is Way.TOKENS:
                self.cpu_s += seconds
                self.size += len(text.encode())

    def find_failures(self, shrink: Shrink) -> None:
        """Find the smallest failure of each way; ways that fail for the same text share it."""
        for way, counts in self.outcomes.items():
            outcomes = [each for each in counts if each is not Outcome.EXACT]
            if outcome := max(outcomes, key=counts.__getitem__, default=None):
                failure = self._shrink_failure(self._first[way, outcome], shrink)
                seen = (failure.outcome, failure.text)
                if known := next((each for each in self.failures if (each.outcome, each.text) == seen), None):
                    known.ways.append(way)
                else:
                    self.failures.append(failure)

    def _shrink_failure(self, failure: ParserFailure, shrink: Shrink) -> ParserFailure:
        # A text that takes seconds is not tried a hundred times.
        if failure.outcome is Outcome.SLOW:
            return failure
        (way,) = failure.ways
        truth = shrink(failure.truth, partial(self._fails, way, failure.outcome))
        text = truth.write_text(self.examiner.syntax)
        return ParserFailure([way], failure.outcome, truth, text, self.examiner.examine(truth, way)[0].reason)

    def _fails(self, way: Way, outcome: Outcome, truth: Truth) -> bool:
        """Tell whether a right answer has an outcome."""
        try:
            return truth.is_valid and self.examiner.examine(truth, way)[0].outcome is outcome
        except Unwritable:
            return False


def examine_parser(
    name: str, examiner: Examiner, truths: Sequence[Truth], ways: Sequence[Way], shrink: Shrink
) -> Examination:
    """Examine a parser over right answers, the shortest first, and look for the smallest failures."""
    examination = Examination(name, examiner, {way: Counter() for way in ways})
    for text, truth in sorted(write_texts(truths, examiner.syntax), key=lambda each: len(each[0])):
        examination.add_truth(truth, text)
    examination.find_failures(shrink)
    return examination


_LEGEND = {
    "answers": "right answers that the syntax can hold",
    "CPU": "milliseconds of processor time for a KB, by token",
    "growth": "exponent of the time of an answer by its length: 1 in proportion, 2 with its square",
}


def tabulate_examinations(
    engine: str, examinations: Sequence[Examination], untested: Mapping[str, str]
) -> Iterator[Table]:
    """Make the tables of an engine."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in untested.items():
        by_reason.setdefault(reason, []).append(name)
    yield Table(
        f"{engine}: right answers that come back exact",
        ("parser", "syntax", "answers", *Way, "CPU", "growth"),
        tuple(map(write_row, examinations)),
        tuple(f"not examined: {', '.join(names)} ({reason})" for reason, names in by_reason.items()),
        left=frozenset({"syntax"}),
        legend=_LEGEND,
    )
    differing_rows = tuple(
        (*each.names, way, *(str(counts.get(outcome, 0)) for outcome in Outcome))
        for each in examinations
        for way, counts in each.outcomes.items()
        if not counts.keys() <= {Outcome.EXACT}
    )
    # A row of a table has no room for line ends.
    failure_rows = tuple(
        (*each.names, ", ".join(one.ways), one.outcome, one.text.replace("\n", r"\n"), one.reason)
        for each in examinations
        for one in each.failures
    )
    if differing_rows:
        names = ("parser", "syntax", "way")
        yield Table("what became of the answers", (*names, *Outcome), differing_rows, left=frozenset(names))
        columns = ("parser", "syntax", "way", "outcome", "text", "what came")
        yield Table("the smallest failures", columns, failure_rows, left=frozenset(columns), whole=True)


def write_row(examination: Examination) -> tuple[str, ...]:
    counts = (examination.outcomes.get(way) for way in Way)
    return (
        *examination.names,
        str(examination.count),
        *("-" if each is None else str(each.get(Outcome.EXACT, 0)) for each in counts),
        f"{examination.cpu_s * 1000 / max(examination.size / 1024, 1e-9):.1f}",
        "-" if examination.growth is None else f"{examination.growth:.1f}",
    )
