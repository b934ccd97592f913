"""Conversations whose calls search the web.

The web is a party like a judge, so its answers are limited, stored, kept in the Record and replayed like any
other. A call runs with the answers that are there. Where one is missing the call is interrupted, the answer
is asked for, and the call runs again: searching has no side effect that could happen twice.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace

from pytest_fcbench import environments
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import (
    AskModel,
    AuxiliaryCall,
    CallFunctions,
    CallResults,
    Completion,
    Conversation,
    Party,
    relay_conversation,
)
from pytest_fcbench.environments.world import MissingAnswer, WebError
from pytest_fcbench.kinds.kind import ConversationContext, put_turns


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
        results = self._find_answer("search_engine_query", arguments).get("results")
        return (
            [result for result in results if isinstance(result, Mapping)] if isinstance(results, list) else []
        )

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


def converse(entry: Entry, context: ConversationContext) -> Conversation:
    """Put an entry to a model; its calls search the suite's own web, or else the open one."""
    suite = context.suite
    web = AnsweredWeb(Party.OWN_WEB if suite.web else Party.WEB)
    entry_environments = environments.open_environments(entry, replace(suite.world, web=web))

    def respond(
        demand: AskModel | CallFunctions,
    ) -> Generator[AskModel, Completion, Completion | CallResults]:
        if isinstance(demand, AskModel):
            return (yield demand)
        texts: list[str] = []
        while len(texts) < len(demand.calls):
            try:
                texts += entry_environments.perform_calls((demand.calls[len(texts)],))
            except _MissingAnswer as missing:
                request = missing.request
                web.asides[request.digest] = AuxiliaryCall(request.party, request.digest, (yield request))
        return CallResults(tuple(texts))

    transcript = yield from relay_conversation(
        put_turns(entry, context.manner, suite.wording, suite.wording.answer_format), respond
    )
    return replace(transcript, asides=tuple(web.asides.values()))
