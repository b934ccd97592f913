"""Requests for entries, as a client sends them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.answers import Mode, Names
from pytest_fcbench.entries import Entry
from pytest_fcbench.server.lookup import Asked, Body, read_body
from pytest_fcbench.suites import core
from pytest_fcbench.suites.suite import Suite

Sent: TypeAlias = dict[str, object]

CORE = core.open_suite(Path())


def suite_of(*entries: Entry, name: str = "core") -> Suite:
    """A suite that has these entries."""
    categories = tuple(dict.fromkeys(entry.category for entry in entries))
    return Suite(
        name,
        "1",
        None,
        categories,
        CORE.wording,
        lambda category: tuple(entry for entry in entries if entry.category is category),
    )


def entries_of(suite: Suite) -> Sequence[Entry]:
    """All entries of a suite in its order."""
    return [entry for category in suite.categories for entry in suite.load(category)]


def body_of(
    entry: Entry, mode: Mode = Mode.FC, names: Names = Names.UNDERSCORED, suite: Suite = CORE
) -> Sent:
    """What a client sends to put an entry so. In prompting mode it sends no tools at all."""
    request = Asked(entry, suite.wording, mode, names).request
    body: Sent = {"model": "x", "temperature": 0.001, "messages": request.messages}
    if request.tools:
        body["tools"] = request.tools
    sent: Sent = json.loads(json.dumps(body))
    return sent


def read(sent: Sent) -> Body:
    """What the server sees in it."""
    return read_body(json.dumps(sent))
