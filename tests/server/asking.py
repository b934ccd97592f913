"""Requests for entries, as a client sends them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.codecs import presenting
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Party, PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.environments.world import World
from pytest_fcbench.kinds.answers import web_pages
from pytest_fcbench.kinds.kind import ConversationContext, Memories
from pytest_fcbench.kinds.table import converse
from pytest_fcbench.models.protocol import Model, RoutedModel, run_through
from pytest_fcbench.server.body import Body, read_body
from pytest_fcbench.suites import core
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.web.searcher import OwnWeb, WebSearcher
from tests.kinds.asked import collect_requests

Sent: TypeAlias = dict[str, object]
OFFICIAL = PathSettings(Profile.OFFICIAL)

CORE = core.open_suite(Path())
WEB = WebSearcher(OwnWeb(lambda: web_pages.read_pages([CORE.web])).open_sources, immediate=True)
"""The small web of ``core``, for as long as the tests run."""


def make_suite(*entries: Entry, name: str = "core") -> Suite:
    """Make a suite that has these entries."""
    categories = tuple(dict.fromkeys(entry.category for entry in entries))
    return Suite(
        name,
        "1",
        None,
        categories,
        CORE.wording,
        World(),
        lambda category: tuple(entry for entry in entries if entry.category is category),
    )


def list_entries(suite: Suite) -> Sequence[Entry]:
    """Return all entries of a suite in its order."""
    return [entry for category in suite.categories for entry in suite.load(category)]


def make_body(
    entry: Entry, mode: Mode = Mode.FC, names: Names = Names.UNDERSCORED, suite: Suite = CORE
) -> Sent:
    """Return what a client sends to put an entry so; in prompting mode it sends no tools at all."""
    prompting = Prompting.make_default(mode, names)
    if entry.variation:
        prompting = prompting.use_format(entry.variation.format)
    return _serialize_request(presenting.build_first_request(entry, suite.wording, prompting))


def hold_conversation(
    model: Model,
    entry: Entry,
    mode: Mode,
    names: Names = Names.UNDERSCORED,
    suite: Suite = CORE,
    driven: PathSettings = OFFICIAL,
) -> Iterator[tuple[AskModel, Sent]]:
    """Yield every request of the conversation with a model, and what a client sends for it."""
    manner = ModelPresentation("x", Prompting.make_default(mode, names))
    memories: Memories = {}
    asked = RoutedModel(model, {Party.OWN_WEB: WEB})
    for each in (*entry.earlier, entry):
        talk = converse(each, ConversationContext(manner, suite, driven, memories))
        for request in collect_requests(talk, lambda request: run_through(asked.complete(each, request))):  # noqa: B023
            if each is entry and request.party is Party.MODEL:
                yield request, _serialize_request(request)


def _serialize_request(request: AskModel) -> Sent:
    body: Sent = {"model": "x", "temperature": 0.001, "messages": request.messages}
    if request.tools:
        body["tools"] = request.tools
    sent: Sent = json.loads(json.dumps(body))
    return sent


def read_sent(sent: Sent) -> Body:
    """Return what the server sees in a body that is sent."""
    return read_body(json.dumps(sent))
