"""Conversations that begin with what earlier ones left in a memory, and those whose calls search the web.

A conversation that only stores facts is held once and not judged; later questions start from its memory.

The web is a party like a judge, so its answers are limited, stored, kept in the Record and replayed like any
other. A call runs with the answers that are there. Where one is missing the call is interrupted, the answer
is asked for, and the call runs again: searching has no side effect that could happen twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_fcbench.codecs.presenting import Wording
from pytest_fcbench.domain.entry import SELECTIONS, Entry
from pytest_fcbench.domain.text import as_list, read_json_text
from pytest_fcbench.domain.transcript import (
    AskModel,
    AuxiliaryCall,
    CallFunctions,
    CallResults,
    Completion,
    Conversation,
    Inquiry,
    Party,
    relay_conversation,
)
from pytest_fcbench.environments import execution as environments
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.environments.world import MissingAnswer, WebError
from pytest_fcbench.kinds.answers.verdict import Answers, Facts
from pytest_fcbench.kinds.kind import (
    ConversationContext,
    EntrySource,
    Memories,
    ask_once,
    carry_out_calls,
    put_turns,
)

DOMAINS = SELECTIONS["memory"]
"""The domains that are memories; each is named as its category is."""

_UNKNOWN_RESULT = "(not known: it depends on an earlier conversation)"


def converse_with_memory(entry: Entry, context: ConversationContext) -> Conversation:
    """Put an entry to a model in environments that contain a memory.

    Where answers are replayed without the conversation before them, the results of calls are a fixed text.
    """
    entry_environments = open_environments(entry, context.suite, context.memories)
    answer_format = context.suite.wording.answer_format if isinstance(entry.expectation, Answers) else ""
    memory = describe_memory(entry, entry_environments, context.suite.wording)
    preamble = "\n\n".join(filter(None, (memory, answer_format)))
    conversation = put_turns(entry, context.manner, context.suite.wording, preamble)
    is_known = entry.after is None or entry.after.key in context.memories
    transcript = yield from carry_out_calls(
        conversation,
        entry_environments.perform_calls if is_known else lambda calls: (_UNKNOWN_RESULT,) * len(calls),
    )
    # Questions may change the memory too, but the next question starts from the same one.
    if isinstance(entry.expectation, Facts):
        context.memories[entry.key] = entry_environments.copy_state()
    return transcript


def open_environments(entry: Entry, suite: EntrySource, memories: Memories) -> Environments:
    """Return the environments of an entry, with the memory that the conversation before it left."""
    memory = memories.get(entry.after.key) if entry.after else None
    if memory and entry.scene:
        entry = replace(entry, scene=replace(entry.scene, config={**entry.scene.config, **memory}))
    return environments.open_environments(entry, suite.world)


def describe_memory(entry: Entry, entry_environments: Environments, wording: Wording) -> str:
    """Return the system text with the model's role and the content of its memory."""
    assert entry.scene, "an entry with a memory has a scene"
    domain = next(name for name in entry.scene.domains if name in DOMAINS)
    content = entry_environments.by_domain[domain].recall_memory() or wording.empty_memory[domain]
    # The memory last: a model wrote it, and it may contain the other placeholder.
    return wording.memory[domain].replace("{persona}", entry.scene.persona).replace("{memory}", content)


class _MissingAnswer(MissingAnswer):
    """Interrupts a call; carries the question that has to be asked first."""

    def __init__(self, request: AskModel) -> None:
        super().__init__("nobody has answered yet")
        self.request = request


class AnsweredWeb:
    """A web that serves the answers of a party in this conversation."""

    def __init__(self, party: Party) -> None:
        self._party = party
        self.asides: dict[str, AuxiliaryCall] = {}
        """By the digest of the question, in the order in which they were asked."""

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Mapping[str, object]]:
        """Return the results of a search."""
        arguments = {"keywords": keywords, "max_results": max_results, "region": region}
        results = as_list(self._find_answer("search_engine_query", arguments).get("results"))
        return [result for result in results if isinstance(result, Mapping)]

    def fetch(self, url: str, mode: str, *, official: bool = False) -> str:
        """Return the content of a page."""
        # Named only where it is true: recordings and stores of earlier versions know questions without it.
        arguments = {"url": url, "mode": mode, **({"official": True} if official else {})}
        return str(self._find_answer("fetch_url_content", arguments).get("content", ""))

    def _find_answer(self, name: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
        # Sorted, so that equal calls are one question in whatever order a model writes their arguments.
        question = json.dumps({"name": name, "arguments": arguments}, sort_keys=True)
        request = AskModel(({"role": "user", "content": question},), party=self._party)
        if request.digest not in self.asides:
            raise _MissingAnswer(request)
        completion = self.asides[request.digest].completion
        if completion.fault:
            raise WebError(completion.text or completion.fault)
        answer: object = read_json_text(completion.text or "null")
        if not isinstance(answer, Mapping) or "error" in answer:
            raise WebError(str(answer["error"]) if isinstance(answer, Mapping) else "there is no answer")
        return answer


def converse_about_web(entry: Entry, context: ConversationContext) -> Conversation:
    """Put an entry to a model; its calls search the suite's own web, or else the open one."""
    suite = context.suite
    web = AnsweredWeb(Party.OWN_WEB if suite.web else Party.WEB)
    entry_environments = environments.open_environments(entry, replace(suite.world, web=web))

    def respond(demand: AskModel | CallFunctions) -> Inquiry[Completion | CallResults]:
        if isinstance(demand, AskModel):
            return (yield demand)
        texts: list[str] = []
        while len(texts) < len(demand.calls):
            try:
                texts += entry_environments.perform_calls((demand.calls[len(texts)],))
            except _MissingAnswer as missing:
                yield from ask_once(missing.request, web.asides)
        return CallResults(tuple(texts))

    conversation = put_turns(entry, context.manner, suite.wording, suite.wording.answer_format)
    transcript = yield from relay_conversation(conversation, respond)
    return replace(transcript, asides=tuple(web.asides.values()))
