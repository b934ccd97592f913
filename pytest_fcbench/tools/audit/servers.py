"""Checks of MCP servers: do they still offer the tools that the entries describe?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_fcbench.codecs.function_docs import openapi
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import FcbenchError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.server_program import ServerProgram
from pytest_fcbench.mcp_servers.listing import list_tools
from pytest_fcbench.tools.audit.facts import Facts
from pytest_fcbench.tools.audit.findings import CERTAIN, LIKELY, Flaw, check


@check(
    "changed_tool",
    "an MCP server offers another tool than the entry describes",
    "write the docs again with `fcbench functions mcp:...`",
    needs="mcp",
)
def find_changed_tools(facts: Facts) -> Iterator[tuple[str, Flaw]]:
    """Find tools that their server offers no longer, or with another description or schema."""
    offered: dict[str, Mapping[str, FunctionDoc] | str] = {}
    reported: set[tuple[str, str]] = set()
    for entry in facts.entries:
        if entry.scene is None or entry.scene.server is None:
            continue
        program = entry.scene.server.program.enter_suite(str(facts.suite.find_folder(entry)))
        # Entries share servers: one is started once, and a flaw is told at the first entry that has it.
        server = repr(program)
        if server not in offered:
            offered[server] = _ask_server(program)
        for doc, flaw in _compare_tools(entry, offered[server]):
            if (server, doc) not in reported:
                reported.add((server, doc))
                yield entry.id, flaw


def _ask_server(program: ServerProgram) -> Mapping[str, FunctionDoc] | str:
    """Return the tools of a server by name, or why it does not tell them."""
    try:
        return {doc.name: doc for doc in openapi.read_tools(list(list_tools(program).tools), "its list")}
    except FcbenchError as error:
        return str(error)


def _compare_tools(entry: Entry, offered: Mapping[str, FunctionDoc] | str) -> Iterator[tuple[str, Flaw]]:
    """Yield the differences of an entry's tools, each with the name of the tool."""
    if isinstance(offered, str):
        yield "", Flaw(CERTAIN, offered, "correct the server's program, or what it needs")
        return
    for doc in entry.functions:
        now = offered.get(doc.name)
        if now is None:
            yield doc.name, Flaw(CERTAIN, f"{doc.name} is not offered any more")
        elif now.given != doc.given:
            yield doc.name, Flaw(CERTAIN, f"{doc.name} has other parameters by now")
        elif now.description != doc.description:
            yield doc.name, Flaw(LIKELY, f"{doc.name} has another description by now")
