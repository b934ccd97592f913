"""The kind of entries whose calls are compared as they are written."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fcbench.codecs.decoders.registry import read_official
from pytest_fcbench.codecs.decoders.syntax import WRONG_FORMAT, Calls
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.explanation import (
    AnswerClass,
    ArgumentPair,
    CallPair,
    Divergence,
    FailedEntry,
    Flaw,
    ShownCall,
    ShownParameter,
    ShownTruth,
)
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import BUILTIN, AuxiliaryCall, Call, Conversation, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, PathScore, Profile
from pytest_fcbench.judging import questions
from pytest_fcbench.judging.text_normalization import mark_lookalikes
from pytest_fcbench.kinds import kind as turns
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow, classify_answer, classify_code
from pytest_fcbench.kinds.calls import official, truth, verdict
from pytest_fcbench.kinds.calls.official import show_value
from pytest_fcbench.kinds.calls.truth import ExpectedCall, list_expected_calls
from pytest_fcbench.kinds.calls.verdict import JudgeText
from pytest_fcbench.kinds.kind import ConversationContext, Kind, Resources, RightCalls, read_last_answer


@dataclass(frozen=True)
class CallsKind(Kind):
    """Calls are compared as they are written."""

    file_format: str = "calls.entries:ExpectingFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model; a judge, if one is named, compares free texts."""
        transcript = yield from turns.converse(entry, context)
        judge = context.driven.judge
        if judge == BUILTIN:
            return transcript
        asides: list[AuxiliaryCall] = []
        for question in verdict.find_open_questions(entry, transcript):
            asides += yield from questions.ask_aside(question, judge)
        return replace(transcript, asides=tuple(asides))

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the calls of the last answer."""
        return verdict.judge(entry, transcript)

    def describe_official_failure(self, answer: AnsweredEntry, resources: Resources) -> OfficialRow | None:
        """Describe calls that are wrong as they are written."""
        reading = answer.read_calls()
        verdict = official.match_calls(answer.entry, reading, answer.transcript.prompting.names)
        if not isinstance(verdict, Failed):
            return None
        raw: dict[str, object] = {"model_result_raw": answer.result}
        if isinstance(reading, Calls):
            raw["model_result_decoded"] = answer.format_calls(reading)
        elif reading.code == WRONG_FORMAT:
            misdecoded = str(answer.show_misdecoded())
            raw = {"model_result_raw": str(answer.result), "model_result_decoded": misdecoded}
        errors: list[object] = [verdict.reason]
        misses, calls = verdict.details.get("misses"), raw.get("model_result_decoded")
        right = answer.possible_answer
        # Where no call matches an expected one, official code also lists the error of each remaining call.
        if isinstance(misses, list) and isinstance(calls, list) and isinstance(right, list):
            right_call = right[int(str(verdict.details["expected"]))]
            errors += [
                {
                    f"Model Result Index {miss['found']}": {
                        "sub_error": [miss["reason"]],
                        "sub_error_type": miss["code"],
                        "model_output_item": calls[miss["found"]],
                        "possible_answer_item": right_call,
                    }
                }
                for miss in misses
            ]
        return {
            "error": errors,
            "error_type": verdict.code,
            "prompt": answer.prompt,
            **raw,
            "possible_answer": answer.possible_answer,
        }

    def classify_failure(self, failure: FailedEntry, resources: Resources) -> Divergence:
        """Find what is wrong with the first call that does not fit."""
        right_calls = truth.list_expected_calls(failure.entry)

        def blame_first_misfit(calls: Sequence[Call], names: Names) -> Divergence:
            comparison = CallComparison(failure.entry, names, failure.profile, _recall_opinions(failure))
            partners = comparison.find_partners(right_calls, calls)
            for place, right_call in enumerate(right_calls):
                call = calls[partners[place]]
                for fault in comparison.find_faults(right_call, call):
                    misfit = classify_code(fault)
                    name = misfit.parameter or ""
                    # A parameter whose only accepted value is "" has to be left out.
                    if name in call.arguments and right_call.accepted.get(name) == [""]:
                        return replace(misfit, failure=AnswerClass.INVENTED_ARGUMENT)
                    return misfit
            return Divergence(AnswerClass.UNEXPLAINED)

        return classify_answer(failure, len(right_calls), blame_first_misfit)

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the expected calls with their first values."""
        return truth.list_right_calls(entry)

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Describe the expected calls with their accepted values."""
        return ShownTruth(calls=tuple(map(_describe_call, list_expected_calls(entry))))

    def pair_calls(self, failure: FailedEntry, path: PathScore | None) -> tuple[CallPair, ...]:
        """Pair the calls of the last answer with the expected ones; none where it has no readable calls."""
        entry, transcript, profile = failure.entry, failure.transcript, failure.profile
        if not transcript.completions:
            return ()
        answer, prompting = transcript.completions[-1], transcript.prompting
        if profile is Profile.OFFICIAL:
            reading: object = read_official(answer, prompting.syntax, entry.category.language)
        else:
            reading = read_last_answer(entry, transcript)
        # A model that repeats itself can write thousands of calls, which nobody compares one by one.
        if not isinstance(reading, Calls) or not 0 < len(reading.calls) <= _MOST_CALLS:
            return ()
        comparison = CallComparison(entry, prompting.names, profile, _recall_opinions(failure))
        return tuple(comparison.pair_calls(list_expected_calls(entry), reading.calls))

    def find_flaws(self, entry: Entry) -> Iterator[Flaw]:
        """Find what differs from the shape of its category."""
        return truth.find_flaws(entry)


SIMPLE = CallsKind()
"""Exactly one call of the only function."""
MULTIPLE = CallsKind()
"""Exactly one call of the right function among several."""
PARALLEL = CallsKind()
"""Several calls in any order."""
NEXT_CALL = CallsKind("calls.entries:NextCallFile")
"""A conversation has begun, and these calls come next, in any order."""


_MOST_CALLS = 50


def _recall_opinions(failure: FailedEntry) -> JudgeText:
    """Return what judges free texts by the opinions that were kept with the answer."""

    def recall_opinion(call: ExpectedCall, parameter: str, value: object, fault: Failed) -> Failed | None:
        try:
            return verdict.recall_opinion(failure.entry, failure.transcript, call, parameter, value, fault)
        except NotScoredError:
            # Where a call is wrong in another way too, nobody was asked about its texts.
            return fault

    return recall_opinion


def _describe_call(call: ExpectedCall) -> ShownCall:
    return ShownCall(call.name, tuple(ShownParameter(*each) for each in call.accepted.items()))


def describe_accepted(parameter: ShownParameter) -> str:
    """Describe the accepted values of a parameter in one line."""
    texts = [show_value(value) for value in parameter.values]
    if parameter.may_be_left_out:
        texts.append("left out" if texts else "'' or left out")
    return " or ".join(texts)


class CallComparison:
    """The comparison of single calls by the rules of a profile."""

    def __init__(
        self, entry: Entry, names: Names, profile: Profile, judge_text: JudgeText = verdict.leave_wrong
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
            wrong_names = set(map(_find_parameter, self.find_faults(expected_call, call)))
            arguments = dict(call.arguments)
            if verdict.SURPLUS in wrong_names:
                arguments[verdict.SURPLUS] = call.positional[0]
            # The doc can require a parameter that the ground truth does not have.
            missing_names = {each for each in wrong_names if each} - arguments.keys() - texts.keys()
            texts |= dict.fromkeys(sorted(missing_names), "a value")
            pairs = pair_arguments(arguments, texts, wrong_names)
            yield CallPair(call.name, name, None in wrong_names, pairs)
        for at, call in enumerate(calls):
            if at not in partners.values():
                yield CallPair(call.name, None, True, pair_arguments(call.arguments, {}, ()))

    def find_partners(self, right_calls: Sequence[ExpectedCall], calls: Sequence[Call]) -> dict[int, int]:
        """Pair calls as the verdict does, then the most alike of the same function, then what is left."""
        if self._official:
            pairing = official.pair_calls(self._entry, right_calls, calls, self._names)
        else:
            pairing = verdict.pair_calls(self._entry, right_calls, calls, self._judge_text)
        partners = dict(pairing.partners)
        by_likeness = sorted(
            (self._count_faults(right_calls[place], calls[at]), place, at)
            for place in range(len(right_calls))
            for at in range(len(calls))
            if place not in partners and at not in partners.values()
        )
        for _, place, at in by_likeness:
            if place not in partners and at not in partners.values():
                partners[place] = at
        return partners

    def find_faults(self, expected_call: ExpectedCall, call: Call) -> Iterator[Failed]:
        """Find what keeps a call from being an expected one by the rules of the profile."""
        if self._official:
            return official.find_faults(self._entry, expected_call, call, self._names)
        return verdict.find_faults(self._entry, expected_call, call, self._judge_text)

    def _count_faults(self, expected_call: ExpectedCall, call: Call) -> float:
        """Count the wrong arguments of a call: infinity where it calls another function."""
        parameters = set(map(_find_parameter, self.find_faults(expected_call, call)))
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
