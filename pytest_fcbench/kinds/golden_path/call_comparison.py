"""Comparison of a call with an expected one in four stages: rule, values, replies, judge.

Official: ``CompareFC.compare_single_call``. The first stage that can say something decides:

- *rule*: the same function with equal arguments (lists of codes in one text are sets);
- *value*: where a value must be equal and is not, or is not there, the call is wrong;
- *response*: the call is right if the API gives it the same reply. Replies are those that the entry recorded
  or, where the run is live, the API's own;
- *judge*: rules of ours or a model say whether both calls mean the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import (
    BUILTIN,
    AskModel,
    Call,
    Inquiry,
    Party,
    PathSettings,
    RecordedCall,
)
from pytest_fcbench.domain.verdict import CallVerdict, Difference, NotScored, PathScore, Profile
from pytest_fcbench.judging import builtin
from pytest_fcbench.judging.questions import interpret_transcript, put_question
from pytest_fcbench.judging.text_normalization import unify_texts
from pytest_fcbench.kinds.golden_path import questions, walk
from pytest_fcbench.kinds.golden_path.script import OWN, find_script
from pytest_fcbench.kinds.golden_path.walk import Crash, Dialogue, call_to_json, get_golden_path, is_same_call

_SETS = frozenset(("categories_filter",))
"""Parameters that are lists of codes with commas between them, in any order (official)."""


class Comparer:
    """The comparison of calls, and of the final answer, with a golden path in one conversation."""

    def __init__(self, entry: Entry, driven: PathSettings, profile: Profile) -> None:
        self.entry, self.driven, self.profile = entry, driven, profile
        self.path = get_golden_path(entry)
        self.script = find_script(self.path, driven)
        self.docs = {doc.name: doc for doc in entry.functions}

    def compare(
        self, step: int, made_call: Call, expected_call: RecordedCall, history: Sequence[Mapping[str, object]]
    ) -> Inquiry[CallVerdict]:
        """Return the verdict on a call; ``history`` is the dialogue before it. Raises ``NotScoredError``."""

        def make_verdict(stage: str, code: str | None = None, reason: str = "") -> CallVerdict:
            verdict = walk.make_verdict(step, made_call, expected_call, stage, code, reason)
            differences = () if verdict.right else self._list_differences(made_call, expected_call)
            return replace(verdict, differences=differences)

        # The order of the stages is that of compare_single_call; the first that can say something decides.
        if agrees_by_rule(made_call, expected_call):
            return make_verdict("rule")
        if mistake := self._find_wrong_value(made_call, expected_call):
            return make_verdict("value", *mistake)
        if (yield from self._have_same_reply(made_call, expected_call)):
            return make_verdict("response")
        stage, same, reason = yield from self._ask_judge(made_call, expected_call, history)
        if same:
            return make_verdict(stage)
        # Official: get_error_message names the first difference of a call that no stage took.
        name, code = next(_find_differing_arguments(made_call, expected_call))
        words = {"param_missing": "is missing", "value_error": "has another value"}
        first = f"{name} {words.get(code, 'is not asked for')}"
        return make_verdict(stage, code, reason if stage == BUILTIN else f"{first}; the judge: {reason}")

    def _find_wrong_value(self, made_call: Call, expected_call: RecordedCall) -> tuple[str, str] | None:
        """Find the first value that must be equal and is not; return code and reason."""
        if made_call.name != expected_call.name:
            return "func_error", f"{expected_call.name} was to be called"
        # Official: exact_match_values.json, which overlooks some parameters.
        free_parameters = self.path.judged
        if self.profile is Profile.OFFICIAL:
            free_parameters |= self.path.overlooked
        for name in sorted(expected_call.arguments.keys() - free_parameters):
            if name not in made_call.arguments:
                return "param_missing", f"{name} is missing"
            values = made_call.arguments[name], expected_call.arguments[name]
            if self.profile is Profile.CORRECTED:
                values = unify_texts(values[0]), unify_texts(values[1])
            if not _are_equal(name, *values):
                return "value_error", f"{name} has another value"
        return None

    def _have_same_reply(self, made_call: Call, expected_call: RecordedCall) -> Inquiry[bool]:
        recorded_calls = (*self.path.recorded, *self.path.calls)
        recorded_call = next((call for call in recorded_calls if is_same_call(made_call, call)), None)
        if recorded_call is not None:
            value = recorded_call.reply_value
            return value == expected_call.reply_value and self._counts(value)
        # Officially both calls are sent to the API at the time of the run.
        if not self.driven.live:
            return False
        replies: list[object] = []
        for call in (made_call, Call(expected_call.name, expected_call.arguments)):
            # The provider is a party like any other, so its replies are kept and a run can be judged again.
            call_text = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
            completion = yield AskModel(({"role": "call", "content": call_text},), party=Party.PROVIDER)
            if completion.fault:
                return False
            try:
                replies.append(read_json_text(completion.text or ""))
            except (ValueError, RecursionError):
                return False
        # Official: an empty reply is no match.
        return replies[0] == replies[1] and replies[0] != {} and self._counts(replies[0])

    def _counts(self, reply: object) -> bool:
        """Tell whether equal replies count; officially equal errors do."""
        is_error = isinstance(reply, Mapping) and reply.get("status") is False
        return self.profile is Profile.OFFICIAL or not is_error

    def _ask_judge(
        self, made_call: Call, expected_call: RecordedCall, history: Sequence[Mapping[str, object]]
    ) -> Inquiry[tuple[str, bool, str]]:
        """Ask the judge; return the stage, whether both calls mean the same, and why.

        Raises ``NotScoredError``, and ``Crash`` where the official runner does not survive the answer.
        """
        if self.driven.judge == BUILTIN:
            doc = self.docs.get(expected_call.name, FunctionDoc(expected_call.name, "", {}))
            comparison = builtin.compare_arguments(doc, made_call.arguments, expected_call.arguments)
            return BUILTIN, comparison.same, comparison.reason
        if wording := self.script.wording:
            question = questions.compare_calls(self.entry, wording, made_call, expected_call, history)
            try:
                completion, same, reason = yield from question
            except questions.UnexpectedJudgementError as error:
                if self.profile is Profile.OFFICIAL:
                    raise Crash(str(error)) from None
                raise self._make_refusal(str(error)) from None
            if completion.fault:
                raise self._make_refusal(completion.text)
            return self._count_unreadable(reason) if same is None else ("judge", same, reason)
        pair = call_to_json(made_call), call_to_json(expected_call)
        own_question = questions.ask_equivalence(self.entry, *pair, history)
        transcript = yield from put_question(own_question, self.driven.judge, Party.JUDGE)
        answer = interpret_transcript(own_question, transcript)
        if isinstance(answer, NotScored):
            if answer.cause == "judge_reply" and self.script.runner is not OWN:
                return self._count_unreadable(answer.reason)
            raise self._make_refusal(answer.reason)
        return "judge", answer.same, answer.reason

    def _make_refusal(self, reason: str | None) -> NotScoredError:
        return NotScoredError("judge", f"{self.driven.judge} did not judge: {reason}")

    def _count_unreadable(self, reason: str) -> tuple[str, bool, str]:
        """Return the outcome of a judgement that cannot be read. Raises ``NotScoredError``.

        Officially it counts as a judgement that the calls differ.
        """
        if self.profile is Profile.OFFICIAL:
            return "judge", False, f"its judgement cannot be read: {reason}"
        raise self._make_refusal(reason)

    def _list_differences(self, made_call: Call, expected_call: RecordedCall) -> tuple[Difference, ...]:
        if made_call.name != expected_call.name:
            return ()
        made, expected = made_call.arguments, expected_call.arguments
        doc = self.docs.get(expected_call.name, FunctionDoc("", "", {}))
        return tuple(
            Difference(name, kind, builtin.declared_type(doc, name), expected.get(name), made.get(name))
            for name, kind in _find_differing_arguments(made_call, expected_call)
            if kind != "value_error" or not _are_equal(name, made[name], expected[name])
        )

    def rate_response(self, response: str, dialogue: Dialogue, score: PathScore) -> Inquiry[PathScore]:
        """Add a judge's ratings of the final answer to the score, where a judge can be asked.

        With the official texts both ratings are those of the official code, whatever profile counts them.
        """
        # The builtin judge compares calls; it cannot rate words.
        if self.driven.judge == BUILTIN:
            return score
        if wording := self.script.wording:
            golden = walk.build_golden_dialogue(self.entry)
            ratings = yield from questions.rate_response(self.entry, wording, response, golden)
            return replace(score, completeness=ratings[0], correctness=ratings[1])
        if not response.strip():
            return score
        scores: list[int | None] = []
        completeness = questions.ask_completeness(self.entry, response)
        correctness = questions.ask_correctness(self.entry, dialogue, response)
        for question in (completeness, correctness):
            transcript = yield from put_question(question, self.driven.judge, Party.JUDGE)
            answer = interpret_transcript(question, transcript)
            scores.append(None if isinstance(answer, NotScored) else answer.score)
        return replace(score, completeness=scores[0], correctness=scores[1])


def agrees_by_rule(made_call: Call, expected_call: RecordedCall) -> bool:
    """Tell whether a call has exactly the expected arguments. Official: ``rule_based``."""
    made, expected = made_call.arguments, expected_call.arguments
    is_alike = made_call.name == expected_call.name and made.keys() == expected.keys()
    return is_alike and all(_are_equal(name, value, expected[name]) for name, value in made.items())


def _are_equal(name: str, one: object, other: object) -> bool:
    if name in _SETS and isinstance(one, str) and isinstance(other, str):
        return _split_codes(one) == _split_codes(other)
    return one == other


def _split_codes(text: str) -> set[str]:
    return {code.strip() for code in text.split(",")}


def _find_differing_arguments(made_call: Call, expected_call: RecordedCall) -> Iterator[tuple[str, str]]:
    for name in sorted(expected_call.arguments):
        if name not in made_call.arguments:
            yield name, "param_missing"
        elif made_call.arguments[name] != expected_call.arguments[name]:
            yield name, "value_error"
    for name in made_call.arguments:
        if name not in expected_call.arguments:
            yield name, "param_hallucination"
