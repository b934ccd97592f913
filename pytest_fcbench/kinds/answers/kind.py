"""The kinds of entries that are answered in words, which calls find in a memory or on the web."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import ShownTruth
from pytest_fcbench.domain.transcript import AskModel, Conversation, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow
from pytest_fcbench.kinds.answers import memory_conversation, oracle, verdict, web_conversation
from pytest_fcbench.kinds.answers.truth import Answers, Facts
from pytest_fcbench.kinds.call_texts import parse_calls
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.kind import DONE, Kind, Resources, RightAnswer, RightCalls


class AnswersKind(Kind):
    """Calls find the answer; the words that state it are compared with right answers."""

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the final answer."""
        return verdict.judge(entry, transcript)

    def describe_official_failure(self, answer: AnsweredEntry, resources: Resources) -> OfficialRow | None:
        """Describe a wrong final answer."""
        official = verdict.judge(answer.entry, answer.transcript).official
        if not isinstance(official, Failed):
            return None
        error: dict[str, object] = {"error_message": [official.reason], "error_type": official.code}
        prompt: object = answer.prompt
        results: dict[str, object] = {"model_result": answer.result}
        if official.code == verdict.NO_LAST_MESSAGE:
            calls = [list(step.calls) for step in answer.transcript.turns[0] if step.calls]
            results["model_result_decoded"] = calls
        elif official.code == verdict.NOT_FOUND:
            last, right = verdict.last_message(answer.transcript), official.details["expected"]
            assert isinstance(right, list)
            error |= {
                "error_message": official.reason,
                "details": verdict.describe_missing_answer(last, right),
            }
            # Only in this case the official record has just the question of the entry.
            prompt = answer.prompt["question"]
            results = {"model_result_raw": answer.result, "last_non_fc_message": last}
        return {
            "error": error,
            "prompt": prompt,
            **results,
            "possible_answer": answer.possible_answer,
            "inference_log": "",
        }

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the calls that lead to the answer, step by step; none where only the answer is known."""
        trail = entry.expectation.trail if isinstance(entry.expectation, Answers) else ()
        return [parse_calls(entry, trail)] if trail else ()

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Describe the right answers, and the calls that lead to them where they are known."""
        truth = entry.expectation
        if not isinstance(truth, Answers):
            return ShownTruth()
        return ShownTruth(steps=tuple(("; ".join(calls),) for calls in truth.trail), texts=truth.texts)

    def answer_rightly(self, entry: Entry, request: AskModel) -> RightAnswer:
        """Store the facts of a turn, or make the calls that find an answer and then say it."""
        truth = entry.expectation
        if isinstance(truth, Facts):
            return RightAnswer(() if request.step else oracle.store_facts(entry, truth, request.turn), DONE)
        assert isinstance(truth, Answers)
        calls = super().answer_rightly(entry, request).calls or oracle.search_memory(entry, request)
        return RightAnswer(calls, oracle.write_answer(entry, truth, request))


class MemoryKind(AnswersKind):
    """Calls find in a memory what earlier conversations left there; words are compared with right answers."""

    file_format = "answers.memory_entries:ScenarioFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model that is shown its memory."""
        return memory_conversation.converse(entry, context)


class WebSearchKind(AnswersKind):
    """Calls search the web; words are compared with right answers."""

    file_format = "answers.web_entries:QuestionFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model whose calls search the web."""
        return web_conversation.converse(entry, context)


MEMORY = MemoryKind()
WEB_SEARCH = WebSearchKind()
