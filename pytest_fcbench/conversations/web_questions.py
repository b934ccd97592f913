"""Conversations whose calls ask the web. Who answers is a party like a judge, so its answers are limited,
stored, kept in the Record and given again like any other.

A call is carried out with the answers that are there. Where one is missing the call breaks off, the answer is
asked for, and the call is carried out anew: searching changes nothing that could be changed twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace

from pytest_fcbench import environments
from pytest_fcbench.domain.driving import relay
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import (
    Aside,
    Asking,
    AskModel,
    CallFunctions,
    Completion,
    Conversation,
    Party,
    Results,
)
from pytest_fcbench.environments.world import Unanswered, WebError, World


class _Wanted(Unanswered):
    """What has to be asked first."""

    def __init__(self, request: AskModel) -> None:
        super().__init__("nobody has answered yet")
        self.request = request


class Answered:
    """A web that knows what a party has answered in a conversation."""

    def __init__(self, party: Party) -> None:
        self._party = party
        self.asides: dict[str, Aside] = {}
        """By the digest of the question, in the order in which they were asked."""

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Mapping[str, object]]:
        """The results that were found."""
        asked = {"keywords": keywords, "max_results": max_results, "region": region}
        found = self._answer("search_engine_query", asked).get("results")
        return [result for result in found if isinstance(result, Mapping)] if isinstance(found, list) else []

    def fetch(self, url: str, mode: str) -> str:
        """The content that was fetched."""
        return str(self._answer("fetch_url_content", {"url": url, "mode": mode}).get("content", ""))

    def _answer(self, name: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
        question = json.dumps({"name": name, "arguments": arguments}, sort_keys=True)
        request = AskModel(({"role": "user", "content": question},), party=self._party)
        if request.digest not in self.asides:
            raise _Wanted(request)
        completion = self.asides[request.digest].completion
        if completion.fault:
            raise WebError(completion.text or completion.fault)
        answer: object = json.loads(completion.text or "null")
        if not isinstance(answer, Mapping) or "error" in answer:
            raise WebError(str(answer["error"]) if isinstance(answer, Mapping) else "there is no answer")
        return answer


def searched(talk: Conversation, entry: Entry, world: World, party: Party) -> Asking:
    """The same conversation with its calls carried out, and what they ask of the web asked of a party."""
    web = Answered(party)
    opened = environments.opened(entry, replace(world, web=web))

    def respond(demand: AskModel | CallFunctions) -> Generator[AskModel, Completion, Completion | Results]:
        if isinstance(demand, AskModel):
            return (yield demand)
        texts = []
        for call in demand.calls:
            texts.append((yield from _carried_out(call, opened.perform, web)))
        return Results(tuple(texts))

    transcript = yield from relay(talk, respond)
    return replace(transcript, asides=tuple(web.asides.values()))


def _carried_out(
    call: str, perform: Callable[[Sequence[str]], tuple[str, ...]], web: Answered
) -> Generator[AskModel, Completion, str]:
    while True:
        try:
            (text,) = perform((call,))
        except _Wanted as wanted:
            request = wanted.request
            web.asides[request.digest] = Aside(request.party, request.digest, (yield request))
        else:
            return text
