"""Calls of an answer beside the expected ones, paired and marked by the checks that gave the verdict."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence

from pytest_fcbench.codecs.decoders.outcome import Calls
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected, read_official
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.explanation import ArgumentPair, CallPair, ShownCall, ShownParameter, ShownTruth
from pytest_fcbench.domain.failure import FailedEntry
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.judging.text_normalization import mark_lookalikes
from pytest_fcbench.kinds.calls import corrected, free_texts, official
from pytest_fcbench.kinds.calls.official import show_value
from pytest_fcbench.kinds.calls.truth import ExpectedCall, list_expected_calls

_MOST_CALLS = 50


def describe_truth(entry: Entry) -> ShownTruth:
    """Describe the expected calls of an entry."""
    return ShownTruth(calls=tuple(map(_describe_call, list_expected_calls(entry))))


def _describe_call(call: ExpectedCall) -> ShownCall:
    return ShownCall(call.name, tuple(ShownParameter(*each) for each in call.accepted.items()))


def describe_accepted(parameter: ShownParameter) -> str:
    """Describe the accepted values of a parameter in one line."""
    texts = [show_value(value) for value in parameter.values]
    if parameter.may_be_left_out:
        texts.append("left out" if texts else "'' or left out")
    return " or ".join(texts)


def pair_last_calls(failure: FailedEntry) -> tuple[CallPair, ...]:
    """Pair the calls of the last answer with the expected ones; none where it has no readable calls."""
    entry, transcript, profile = failure.entry, failure.transcript, failure.profile
    if not transcript.completions:
        return ()
    answer, prompting, language = transcript.completions[-1], transcript.prompting, entry.category.language
    if profile is Profile.OFFICIAL:
        reading: object = read_official(answer, prompting.syntax, language)
    else:
        offer = OfferedFunctions(entry.functions, prompting.names)
        reading = read_corrected(answer, prompting.syntax, language, offer)
    # A model that repeats itself can write thousands of calls, which nobody compares one by one.
    if not isinstance(reading, Calls) or not 0 < len(reading.calls) <= _MOST_CALLS:
        return ()

    def recall_opinion(call: ExpectedCall, parameter: str, value: object, fault: Failed) -> Failed | None:
        try:
            return free_texts.recall_opinion(entry, transcript, call, parameter, value, fault)
        except NotScoredError:
            # Where a call is wrong in another way too, nobody was asked about its texts.
            return fault

    comparison = CallComparison(entry, prompting.names, profile, recall_opinion)
    return tuple(comparison.pair_calls(list_expected_calls(entry), reading.calls))


class CallComparison:
    """The comparison of single calls by the rules of a profile."""

    def __init__(
        self,
        entry: Entry,
        names: Names,
        profile: Profile,
        judge_text: corrected.JudgeText = corrected.leave_wrong,
    ) -> None:
        self._entry = entry
        self._official = profile is Profile.OFFICIAL
        # Corrected names are those of the docs.
        self._names = names if self._official else Names.DOTTED
        self._judge_text = judge_text

    def pair_calls(self, expected_calls: Sequence[ExpectedCall], calls: Sequence[Call]) -> Iterator[CallPair]:
        """Pair expected calls with those that were made, and mark what is wrong."""
        partners = self.find_partners(expected_calls, calls)
        for place, expected_call in enumerate(expected_calls):
            name = self._names.show_name(expected_call.name)
            texts = {each.name: describe_accepted(each) for each in _describe_call(expected_call).parameters}
            if place not in partners:
                yield CallPair(None, name, True, pair_arguments({}, texts, ()))
                continue
            call = calls[partners[place]]
            wrong_names = set(map(_find_parameter, self._find_faults(expected_call, call)))
            arguments = dict(call.arguments)
            if corrected.SURPLUS in wrong_names:
                arguments[corrected.SURPLUS] = call.positional[0]
            # The doc can require a parameter that the ground truth does not have.
            missing_names = {each for each in wrong_names if each} - arguments.keys() - texts.keys()
            texts |= dict.fromkeys(sorted(missing_names), "a value")
            pairs = pair_arguments(arguments, texts, wrong_names)
            yield CallPair(call.name, name, None in wrong_names, pairs)
        for at, call in enumerate(calls):
            if at not in partners.values():
                yield CallPair(call.name, None, True, pair_arguments(call.arguments, {}, ()))

    def find_partners(
        self, expected_calls: Sequence[ExpectedCall], calls: Sequence[Call]
    ) -> Mapping[int, int]:
        """Pair calls as the verdict does, then the most alike of the same function, then what is left."""
        if self._official:
            pairing = official.pair_calls(self._entry, expected_calls, calls, self._names)
        else:
            pairing = corrected.pair_calls(self._entry, expected_calls, calls, self._judge_text)
        partners = dict(pairing.partners)
        by_likeness = sorted(
            (self._count_faults(expected_calls[place], calls[at]), place, at)
            for place in range(len(expected_calls))
            for at in range(len(calls))
            if place not in partners and at not in partners.values()
        )
        for _, place, at in by_likeness:
            if place not in partners and at not in partners.values():
                partners[place] = at
        return partners

    def match_call(self, expected_call: ExpectedCall, call: Call) -> Passed | Failed:
        """Compare a call with an expected one by the rules of the profile."""
        return next(self._find_faults(expected_call, call), Passed())

    def _find_faults(self, expected_call: ExpectedCall, call: Call) -> Iterator[Failed]:
        if self._official:
            return official.find_faults(self._entry, expected_call, call, self._names)
        return corrected.find_faults(self._entry, expected_call, call, self._judge_text)

    def _count_faults(self, expected_call: ExpectedCall, call: Call) -> float:
        """Count the wrong arguments of a call: infinity where it calls another function."""
        parameters = set(map(_find_parameter, self._find_faults(expected_call, call)))
        return math.inf if None in parameters else len(parameters)


def _find_parameter(fault: Failed) -> str | None:
    """Return the parameter that is wrong; None where the call itself is."""
    parameter = fault.details.get("parameter")
    return None if parameter is None else str(parameter)


def pair_arguments(
    arguments: Mapping[str, object], expected_texts: Mapping[str, str], wrong_names: Container[str | None]
) -> tuple[ArgumentPair, ...]:
    """Pair the value of each argument with the description of its accepted values."""
    pairs: dict[str, tuple[str | None, str | None]] = {
        name: (None, text) for name, text in expected_texts.items()
    }
    for name, value in arguments.items():
        text, expected_text = show_value(value), expected_texts.get(name)
        pairs[name] = (text, None) if expected_text is None else mark_lookalikes(text, expected_text)
    return tuple(ArgumentPair(name, *pair, name in wrong_names) for name, pair in pairs.items())
