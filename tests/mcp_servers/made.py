"""Entries whose calls act on the shelf, and servers that are only played."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from pytest_fcbench.codecs.function_docs import openapi
from pytest_fcbench.domain.entry import CATEGORIES, Entry, Message, Scene, ServerProgram, ServerState
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    Party,
    PathSettings,
    Transcript,
    drive_conversation,
)
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.kind import ConversationContext
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.kinds.table import converse
from pytest_fcbench.mcp_servers.server_requests import ServerRequest, read_request, write_results
from pytest_fcbench.suites import core
from tests.factories import tool_calls
from tests.kinds.golden_path.talking import FC
from tests.mcp_servers import shelf

SHELF = (sys.executable, "-I", shelf.__file__)
SERVERS = ("time", "git", "fetch", "sqlite", "arxiv")
"""Servers of the package index that start without network and key."""
SUITES = Path(__file__).parent / "suites"
TEA = ("put-goods", {"name": "tea", "count": 2})
COUNT = ("count_goods", {"name": "tea"})
TURNS = (
    ("Put two packs of tea on the shelf.", ["put-goods(name='tea', count=2)"]),
    ("How many are there?", ["count_goods(name='tea')"]),
)


def make_server_entry(
    *turns: tuple[str, Sequence[str]],
    probes: Sequence[str] = ("describe_shelf()",),
    volatile: Sequence[str] = ("process", "asked_at"),
    masks: Sequence[str] = (),
) -> Entry:
    state = ServerState(ServerProgram(SHELF), tuple(probes), frozenset(volatile), tuple(masks))
    given = turns or TURNS
    return Entry(
        suite="own",
        id="mcp_0",
        category=CATEGORIES["mcp"],
        turns=tuple((Message("user", said),) for said, _ in given),
        functions=tuple(openapi.read_tools(list(shelf.TOOLS), "shelf")),
        expectation=Trajectory(tuple(tuple(calls) for _, calls in given)),
        scene=Scene((), {}, server=state),
    )


def play_shelf(request: ServerRequest) -> Completion:
    """Answer as a fresh shelf does that gets all calls of a request."""
    goods: dict[str, int] = {}
    for call in request.made:
        shelf.answer_call(call.name, call.arguments, goods, "")
    return write_results([shelf.answer_call(call.name, call.arguments, goods, "") for call in request.calls])


def converse_with_shelf(
    entry: Entry,
    *answers: Sequence[tuple[str, Mapping[str, object]]] | Completion | str,
    play: Callable[[ServerRequest], Completion] = play_shelf,
) -> Transcript:
    """Hold the conversation about an entry in which a model gives these answers, then words."""
    left = list(answers)

    def answer(request: AskModel) -> Completion:
        if request.party is Party.SERVER:
            return play(read_request(request))
        given = left.pop(0) if left else "Done."
        if isinstance(given, Completion):
            return given
        return Completion(text=given) if isinstance(given, str) else tool_calls(*given)

    suite = core.open_suite(Path())
    return drive_conversation(
        converse(entry, ConversationContext(FC, suite, PathSettings(Profile.OFFICIAL))), answer
    )


def compose_suite(name: str, commands: Mapping[str, str], docs: str) -> str:
    """Return a file of entries with the commands of its server and the docs of its tools filled in."""
    text = (SUITES / f"{name}.yaml").read_text()
    for word, command in commands.items():
        text = text.replace(f"{{{word}}}", command)
    return text + docs


def find_commands() -> Mapping[str, str]:
    """Return the commands of the servers of the package index that are installed.

    Those that need version 1 of the SDK have an environment of their own, which FCBENCH_MCP_SQLITE and so on
    name.
    """
    named = {name: os.environ.get(f"FCBENCH_MCP_{name.upper()}", "") for name in SERVERS}
    here = {
        name: f"{sys.executable} -m mcp_server_{name}" for name in SERVERS if find_spec(f"mcp_server_{name}")
    }
    return here | {name: command for name, command in named.items() if command}


def write_shelf_command(*habits: str) -> str:
    return shlex.join([*SHELF, *habits])
