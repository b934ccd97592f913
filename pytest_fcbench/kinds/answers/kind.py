"""The kinds of entries that are answered in words, which calls find in a memory or on the web."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pytest_fcbench.codecs.python_syntax import read_literal
from pytest_fcbench.domain.entry import SELECTIONS, Entry
from pytest_fcbench.domain.explanation import ShownTruth
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import AskModel, Call, Conversation, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow, parse_calls
from pytest_fcbench.kinds.answers import conversations, verdict
from pytest_fcbench.kinds.answers.verdict import Answers, Facts
from pytest_fcbench.kinds.kind import DONE, ConversationContext, Kind, Resources, RightAnswer, RightCalls


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
            error["error_message"] = official.reason
            error["details"] = verdict.describe_missing_answer(last, right)
            # Only in this case the official record has just the question of the entry.
            prompt = answer.prompt["question"]
            results = {"model_result_raw": answer.result, "last_non_fc_message": last}
        return answer.describe_conversation(error, prompt, results)

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
            return RightAnswer(() if request.step else store_facts(entry, truth, request.turn), DONE)
        assert isinstance(truth, Answers)
        calls = super().answer_rightly(entry, request).calls or search_memory(entry, request)
        return RightAnswer(calls, write_answer(entry, truth, request))


class MemoryKind(AnswersKind):
    """Calls find in a memory what earlier conversations left there; words are compared with right answers."""

    file_format = "answers.entries:ScenarioFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model that is shown its memory."""
        return conversations.converse_with_memory(entry, context)


class WebSearchKind(AnswersKind):
    """Calls search the web; words are compared with right answers."""

    file_format = "answers.entries:QuestionFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model whose calls search the web."""
        return conversations.converse_about_web(entry, context)


MEMORY = MemoryKind()
WEB_SEARCH = WebSearchKind()


UNKNOWN = "I do not know"
"""The answer that entries ask for where nothing is known."""


def store_facts(entry: Entry, facts: Facts, turn: int) -> Sequence[Call]:
    """Return the calls that store the facts of a turn."""
    texts = facts.turns[turn]
    match entry.category.name:
        case "memory_kv":
            key = f"fact_{len(entry.earlier)}_{turn}"
            pairs = [{"key": f"{key}_{number}", "value": fact} for number, fact in enumerate(texts)]
            return [Call("archival_memory_add", pair) for pair in pairs]
        case "memory_vector":
            return [Call("archival_memory_add", {"text": fact}) for fact in texts]
    return [Call("memory_append", {"text": f"{fact}\n"}) for fact in texts]


def search_memory(entry: Entry, request: AskModel) -> Sequence[Call]:
    """Return the calls that find stored facts, and no call once all were read."""
    match entry.category.name, request.step:
        case "memory_kv", 0:
            return [Call("archival_memory_list_keys", {})]
        case "memory_kv", 1:
            keys = dict.fromkeys(re.findall(r"\bfact_[0-9_]+", " ".join(collect_results(request.messages))))
            return [Call("archival_memory_retrieve", {"key": key}) for key in keys]
        case "memory_vector", 0:
            query = entry.turns[0][-1].content
            return [Call("archival_memory_retrieve", {"query": query, "top_k": 50})]
        case "memory_rec_sum", 0:
            return [Call("memory_retrieve", {})]
    return []


def write_answer(entry: Entry, right: Answers, request: AskModel) -> str:
    """Write the final answer in the form that entries ask for: a right answer that was found, or ``UNKNOWN``.

    Where the entry does not say where on the web the answer stands, it counts as found.
    """
    is_known = entry.category.name in SELECTIONS["web_search"] and not right.trail
    known_texts = right.texts if is_known else collect_results(request.messages)
    answer = next((text for text in right.texts if any(text in part for part in known_texts)), UNKNOWN)
    context = UNKNOWN if answer == UNKNOWN else "This is what my functions returned."
    return str({"answer": answer, "context": context})


def collect_results(messages: Sequence[Mapping[str, object]]) -> list[str]:
    """Return all texts in the results of calls, in either mode."""
    contents: list[object] = []
    for message in messages:
        if message["role"] == "tool":
            contents.append(message["content"])
        # In prompting mode results come as a Python list in the text of a user message, as officially.
        elif message["role"] == "user" and str(message["content"]).startswith("[{'role': 'tool'"):
            results = read_literal(str(message["content"]))
            contents += [result["content"] for result in results] if isinstance(results, list) else []
    texts: list[str] = []
    for content in contents:
        try:
            texts += _find_texts(read_json_text(str(content)))
        except ValueError:
            texts.append(str(content))
    return texts


def _find_texts(value: object) -> Iterator[str]:
    """Yield the texts of a JSON value, at any depth."""
    if isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _find_texts(member)
    else:
        yield str(value)
