"""Right calls of entries, and what became of them where a parser read them from a text.

They stand with the tools that they call, as a request of OpenAI's chat interface has them.
"""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from itertools import chain, islice, zip_longest
from types import FrameType
from typing import NoReturn

from pytest_fcbench.codecs.call_schemas import has_schema
from pytest_fcbench.codecs.decoders.native_syntaxes import NativeSyntax, Unwritable
from pytest_fcbench.codecs.presenting import build_first_request, select_tool_calls
from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.domain.function_doc import Schema
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.text import as_mapping, read_json_text, shorten_text
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.tools.parsers.engine import ParsedAnswer, Tools


@dataclass(frozen=True, slots=True)
class Truth:
    """The calls of a right answer, and the tools of its request."""

    key: str
    calls: tuple[Call, ...]
    tools: Tools

    @property
    def _schemas(self) -> Mapping[str, Schema]:
        functions = (as_mapping(tool["function"]) for tool in self.tools)
        return {str(each["name"]): as_mapping(each["parameters"]) for each in functions}

    @property
    def is_valid(self) -> bool:
        """Whether the calls keep the schemas of the tools, by which some parsers convert values."""
        known = self._schemas
        return all(each.name in known and has_schema(each.arguments, known[each.name]) for each in self.calls)

    def write_text(self, syntax: NativeSyntax) -> str:
        """Write the calls as a model would. Raises ``Unwritable`` where the syntax cannot hold them."""
        return syntax.write_calls(self.calls, self._schemas)


def write_texts(truths: Iterable[Truth], syntax: NativeSyntax) -> Iterator[tuple[str, Truth]]:
    """Write the truths that a syntax can hold."""
    for truth in truths:
        with suppress(Unwritable):
            yield truth.write_text(syntax), truth


def draw_truths(suites: Iterable[Suite], limit: int) -> list[Truth]:
    """Draw at most ``limit`` truths, always the same, and equally many of each suite where it has them."""
    by_suite = [
        sorted(collect_truths(suite), key=lambda truth: sha256(truth.key.encode()).digest())
        for suite in suites
    ]
    mixed_truths = filter(None, chain.from_iterable(zip_longest(*by_suite)))
    return list(islice(mixed_truths, limit))


def collect_truths(suite: Suite) -> Iterator[Truth]:
    """Collect the first right calls of each entry; entries that make the same calls count once.

    Calls that break the schema of a tool, or whose tool is offered later, are left out: of these a parser
    may make something else.
    """
    prompting = Prompting.make_default(Mode.FC)
    known_calls = set()
    for category in suite.categories:
        for entry in () if category.varies_others else suite.load(category):
            tools = build_first_request(entry, suite.wording, prompting).tools
            steps = (step for turn in find_kind(entry).list_right_calls(entry) for step in turn if step)
            # With JSON values in the place of source text, and names as the tools have them.
            completion = render_completion(next(steps, ()), entry, prompting, tools)
            tool_calls = select_tool_calls(completion)
            calls = [Call(each.name, read_json_text(str(each.arguments))) for each in tool_calls]
            truth = Truth(entry.key, tuple(calls), tools)
            text = json.dumps([(each.name, each.arguments) for each in truth.calls])
            if truth.calls and text not in known_calls and truth.is_valid:
                known_calls.add(text)
                yield truth


class Outcome(StrEnum):
    """The result of putting the calls of a right answer through a parser."""

    EXACT = "exact"
    """All calls came back, in order, with equal values, and nothing beside them."""
    WRONG = "wrong"
    """There are more calls, others, or other values."""
    LOST = "lost"
    """There are fewer calls."""
    LEAKED = "leaked"
    """The calls are exact, but a part of their text is shown to the user too."""
    CRASHED = "crashed"
    """The parser raised an exception."""
    SLOW = "slow"
    """The parser took more processor time than the limit, and was stopped."""


@dataclass(frozen=True, slots=True)
class AnswerFinding:
    """An outcome, and what differs."""

    outcome: Outcome
    reason: str = ""


def judge_answer(truth: Sequence[Call], answer: ParsedAnswer) -> AnswerFinding:
    """Compare the calls of an answer with the right ones: 2 and 2.0 are equal, 1 and true are not."""
    count = len(answer.calls)
    if count < len(truth):
        rest = f", and the text {shorten_text(answer.text, 80)!r}" if answer.text.strip() else ""
        return AnswerFinding(Outcome.LOST, f"{count} of {len(truth)} calls{rest}")
    if count > len(truth):
        names = ", ".join(each.name for each in answer.calls)
        return AnswerFinding(Outcome.WRONG, f"{count} calls for {len(truth)}: {shorten_text(names, 80)}")
    for right, call in zip(truth, answer.calls, strict=True):
        if right.name != call.name:
            return AnswerFinding(Outcome.WRONG, f"name: {right.name!r} → {call.name!r}")
        try:
            # No arguments at all are sent as an empty text by some servers.
            arguments = read_json_text(str(call.arguments or "{}"))
        except ValueError:
            return AnswerFinding(Outcome.WRONG, f"not JSON: {shorten_text(str(call.arguments), 120)}")
        if difference := find_difference(right.arguments, arguments, right.name):
            return AnswerFinding(Outcome.WRONG, difference)
    if answer.indexes is not None and [*answer.indexes] != [*range(count)]:
        return AnswerFinding(Outcome.WRONG, f"indexes of the calls: {', '.join(map(str, answer.indexes))}")
    if text := answer.text.strip():
        return AnswerFinding(Outcome.LEAKED, f"text: {shorten_text(text, 80)!r}")
    return AnswerFinding(Outcome.EXACT)


def find_difference(right: object, value: object, place: str) -> str | None:
    """Describe the first place where a JSON value differs from the right one, or return None."""
    match right, value:
        case (Mapping(), Mapping()) if right.keys() == value.keys():
            pairs = [(each, value[key], f"{place}.{key}") for key, each in right.items()]
        case (list() | tuple(), list()) if len(right) == len(value):
            pairs = [
                (each, other, f"{place}[{number}]")
                for number, (each, other) in enumerate(zip(right, value, strict=True))
            ]
        case _:
            # In Python, True equals 1.
            has_flag = isinstance(right, bool) or isinstance(value, bool)
            is_equal = right is value if has_flag else right == value
            return None if is_equal else f"{place}: {_write_value(right)} → {_write_value(value)}"
    return next((text for pair in pairs if (text := find_difference(*pair))), None)


def _write_value(value: object) -> str:
    return shorten_text(json.dumps(value, ensure_ascii=False, default=list), 60)


class CpuLimitReached(BaseException):
    """The processor time of a call has run out; no parser may take it for an error of its own."""


@contextmanager
def limit_cpu(seconds: float) -> Iterator[None]:
    """Raise ``CpuLimitReached`` in the block after this much processor time of the process.

    Without effect outside the main thread and on systems without virtual timers.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise CpuLimitReached

    former_handler = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former_handler)
