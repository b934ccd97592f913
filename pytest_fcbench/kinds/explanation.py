"""Explain a failed entry: what was asked, and the answer beside what was expected.

The parts of a call are marked by the same checks that gave the verdict, so what is marked is what was wrong.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence

from pytest_fcbench.codecs.decoders.outcome import Calls
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected, read_official
from pytest_fcbench.codecs.execution_text import list_calls_to_make
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import ArgumentPair, CallPair, Explanation, StateDifference
from pytest_fcbench.domain.prompting import Names, Prompting
from pytest_fcbench.domain.reasoning import drop_reasoning
from pytest_fcbench.domain.text import shorten_text
from pytest_fcbench.domain.transcript import Call, Completion, ToolCall
from pytest_fcbench.domain.verdict import Failed, Passed, PathScore, Profile
from pytest_fcbench.judging.text_normalization import mark_lookalikes
from pytest_fcbench.kinds.answers.truth import Answers
from pytest_fcbench.kinds.calls import corrected, official
from pytest_fcbench.kinds.calls.official import show_value
from pytest_fcbench.kinds.calls.shape import find_shape
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.kinds.execution.truth import ExpectedResponse, ExpectedResults
from pytest_fcbench.kinds.golden_path.call_format import find_form_fault
from pytest_fcbench.kinds.own_check.truth import AnyAnswer
from pytest_fcbench.kinds.own_check.verdict import FORBIDDEN
from pytest_fcbench.kinds.relevance.truth import AnyCall, NoCall
from pytest_fcbench.kinds.state.truth import Trajectory

_MOST_CALLS = 50
_LONGEST = 600
"""The most characters of a text that are shown."""


def explain_failure(
    entry: Entry,
    answers: Sequence[Sequence[Completion]],
    prompting: Prompting,
    verdict: Failed,
    profile: Profile,
    path: PathScore | None = None,
) -> Explanation:
    """Explain a verdict on answers, which are nested by turn; ``path`` is the progress on a golden path."""
    told = verdict.details.get("turn")
    number = told if isinstance(told, int) and 0 < told <= len(entry.turns) else len(entry.turns)
    right = verdict.details.get("right_turns")
    counted = "" if right is None else f", {right} turn{'s' * (right != 1)} right"
    last = answers[number - 1] if number <= len(answers) else ()
    found = [_describe_answer(completion, prompting.syntax) for completion in last]
    expected = list(_list_expected(entry, number, verdict))
    return Explanation(
        question=tuple((message.role, message.shown_text) for message in entry.turns[number - 1]),
        turn=f"turn {number} of {len(entry.turns)}{counted}" if len(entry.turns) > 1 else "",
        calls=tuple(
            _pair_path(entry, path, verdict, profile)
            if path
            else _pair_answer(entry, last, prompting, profile)
        ),
        found=tuple(mark_lookalikes(text, " ".join(expected))[0] for text in found),
        expected=tuple(mark_lookalikes(text, " ".join(found))[0] for text in expected),
        differences=tuple(_list_state_differences(verdict)),
    )


def _describe_answer(completion: Completion, syntax: str) -> str:
    """Describe an answer by its calls as they are carried out, or by its text."""
    if calls := list_calls_to_make(completion, syntax):
        return shorten_text("; ".join(calls), _LONGEST)
    raw = [
        f"{part.name} {part.arguments}" if isinstance(part, ToolCall) else part
        for part in completion.tool_calls or ()
    ]
    text = drop_reasoning(completion.text or "").strip() or "; ".join(raw)
    return shorten_text(text, _LONGEST) or f"({completion.fault or 'an empty answer'})"


def _list_expected(entry: Entry, turn: int, verdict: Failed) -> Iterable[str]:
    match entry.expectation:
        case Trajectory(turns=truth):
            yield from truth[turn - 1] or ("no call yet",)
        case ExpectedResults(calls=calls):
            yield from (f"a call that returns what {call} returns" for call in calls)
        case ExpectedResponse(call=call):
            yield f"a call that is answered as {call} is"
        case ExpectedCalls(calls=expected):
            for wanted in expected:
                arguments = (f"{name}={_describe_accepted(value)}" for name, value in wanted.accepted.items())
                yield f"{wanted.name}({', '.join(arguments)})"
        case Answers(texts=texts):
            yield f"an answer that says {' or '.join(texts)}"
        case NoCall():
            yield "no call"
        case AnyAnswer() if "place" in verdict.details:
            yield "an answer that the assertions of the test accept"
        case AnyAnswer() if entry.check and verdict.code != FORBIDDEN:
            yield "an answer that the check accepts"
        case AnyAnswer():
            yield f"no call of {' or '.join(entry.forbidden)}"
        case AnyCall():
            yield "a call of a function that is offered"


def _describe_accepted(accepted: object) -> str:
    options = official.list_accepted(accepted)
    if isinstance(options, str):
        return show_value(options)
    # In BFCL's ground truth an empty text among the values says that the parameter may be left out.
    shown = [show_value(option) for option in options if option != ""]
    if len(shown) < len(options):
        shown.append("left out" if shown else "'' or left out")
    return " or ".join(shown)


def _list_state_differences(verdict: Failed) -> Iterable[StateDifference]:
    listed = verdict.details.get("differences")
    for each in listed if isinstance(listed, Sequence) else ():
        if isinstance(each, Mapping) and "at" in each:
            found, expected = (each.get(key) for key in ("found", "expected"))
            yield StateDifference(
                str(each["at"]),
                None if found is None else str(found),
                None if expected is None else str(expected),
            )


# Calls beside expected calls


def _pair_answer(
    entry: Entry, answers: Sequence[Completion], prompting: Prompting, profile: Profile
) -> tuple[CallPair, ...]:
    """Pair the calls of the last answer with the expected ones; none where it has no readable calls."""
    if not answers or not isinstance(entry.expectation, ExpectedCalls):
        return ()
    # Corrected, statements of SQL are judged by their results: an argument alone is not wrong.
    if entry.kind == "sql" and profile is Profile.CORRECTED:
        return ()
    language, syntax = entry.category.language, prompting.syntax
    if profile is Profile.OFFICIAL:
        reading: object = read_official(answers[-1], syntax, language)
    else:
        offer = OfferedFunctions(entry.functions, prompting.names)
        reading = read_corrected(answers[-1], syntax, language, offer)
    # A model that repeats itself can write thousands of calls, which nobody compares one by one.
    if not isinstance(reading, Calls) or not 0 < len(reading.calls) <= _MOST_CALLS:
        return ()
    comparison = CallComparison(entry, prompting.names, profile)
    return tuple(comparison.pair_calls(entry.expectation.calls, reading.calls))


class CallComparison:
    """The comparison of single calls by the rules of a profile."""

    def __init__(self, entry: Entry, names: Names, profile: Profile) -> None:
        self._entry = entry
        self._official = profile is Profile.OFFICIAL
        # Corrected names are those of the docs.
        self._names = names if self._official else Names.DOTTED

    def pair_calls(self, expected: Sequence[ExpectedCall], calls: Sequence[Call]) -> Iterable[CallPair]:
        """Pair expected calls with those that were made, and mark what is wrong."""
        partner = self.find_partners(expected, calls)
        for place, wanted in enumerate(expected):
            made = calls[partner[place]] if place in partner else None
            name, shown = made.name if made else None, self._names.show_name(wanted.name)
            given = made.arguments if made else {}
            accepted = {each: _describe_accepted(value) for each, value in wanted.accepted.items()}
            # The arguments of another function are not compared.
            compared = accepted.keys() | given.keys() if name == shown else ()
            wrong = {each for each in compared if self._is_wrong(wanted, given, each)}
            yield CallPair(name, shown, name != shown, _pair_arguments(given, accepted, wrong))
        for at, call in enumerate(calls):
            if at not in partner.values():
                yield CallPair(call.name, None, True, _pair_arguments(call.arguments, {}, ()))

    def find_partners(self, expected: Sequence[ExpectedCall], calls: Sequence[Call]) -> dict[int, int]:
        """Pair those that fit, then the most alike of the same function, then what is left, in order."""
        ranked = sorted(
            (self._count_differences(wanted, call), place, at)
            for place, wanted in enumerate(expected)
            for at, call in enumerate(calls)
        )
        partner: dict[int, int] = {}
        for _, place, at in ranked:
            if place not in partner and at not in partner.values():
                partner[place] = at
        return partner

    def match_call(self, wanted: ExpectedCall, call: Call) -> Passed | Failed:
        """Compare a call with an expected one by the rules of the profile."""
        if self._official:
            return official.match_call(self._entry, wanted, call, self._names)
        return corrected.match_call(self._entry, wanted, call)

    def _count_differences(self, wanted: ExpectedCall, call: Call) -> float:
        """Count the wrong arguments of a call: -1 where it fits, infinity where it calls another function."""
        if isinstance(self.match_call(wanted, call), Passed):
            return -1
        if call.name != self._names.show_name(wanted.name):
            return math.inf
        names = dict.fromkeys((*wanted.accepted, *call.arguments))
        return sum(self._is_wrong(wanted, call.arguments, name) for name in names)

    def _is_wrong(self, wanted: ExpectedCall, given: Mapping[str, object], name: str) -> bool:
        entry = self._entry
        doc = entry.functions[0] if find_shape(entry).one_function else entry.find_function(wanted.name)
        if doc is None or name not in wanted.accepted or name not in doc.properties:
            return name in given
        accepted = official.list_accepted(wanted.accepted[name])
        if name not in given:
            return name in doc.required or "" not in accepted
        match_value = official.match_value if self._official else corrected.match_value
        return match_value(entry.category.language, doc, name, given[name], accepted) is not None


def _pair_path(entry: Entry, path: PathScore, failed: Failed, profile: Profile) -> Iterable[CallPair]:
    """Pair each call along a golden path that is wrong with the expected one."""
    docs = {doc.name: doc for doc in entry.functions}
    left = failed.details.get("left")
    missed = [call for call in left if isinstance(call, Mapping)] if isinstance(left, Sequence) else []
    for verdict in path.verdicts:
        if verdict.right:
            continue
        made, wanted = verdict.made, verdict.expected
        fault = find_form_fault(made, docs, profile)
        # A call whose form is wrong was compared with none, or with what was left by others.
        if wanted is None or (fault and wanted.get("name") != made.get("name")):
            wanted = next((call for call in missed if call.get("name") == made.get("name")), wanted)
        right = {name: show_value(value) for name, value in _read_arguments(wanted).items()}
        differing = {difference.parameter for difference in verdict.differences}
        if fault:
            differing.update(fault.parameters)
        yield CallPair(
            str(made.get("name")),
            None if wanted is None else str(wanted.get("name")),
            wanted is None or made.get("name") != wanted.get("name"),
            _pair_arguments(_read_arguments(made), right, differing),
        )


def _pair_arguments(
    given: Mapping[str, object], expected: Mapping[str, str], wrong: Container[str]
) -> tuple[ArgumentPair, ...]:
    """Pair the values of each argument; those that are expected are described already."""
    pairs: dict[str, tuple[str | None, str | None]] = {name: (None, text) for name, text in expected.items()}
    for name, value in given.items():
        shown, wanted = show_value(value), expected.get(name)
        pairs[name] = (shown, None) if wanted is None else mark_lookalikes(shown, wanted)
    return tuple(ArgumentPair(name, *pair, name in wrong) for name, pair in pairs.items())


def _read_arguments(call: Mapping[str, object] | None) -> Mapping[str, object]:
    arguments = call.get("arguments") if call else None
    return arguments if isinstance(arguments, Mapping) else {}
