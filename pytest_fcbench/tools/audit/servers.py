"""Checks of MCP servers: do they still offer the tools that the entries describe?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_fcbench.codecs.function_docs import openapi
from pytest_fcbench.domain.errors import FcbenchError
from pytest_fcbench.domain.flaw import CERTAIN, LIKELY, Flaw
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.mcp_servers.listing import list_tools
from pytest_fcbench.tools.audit.facts import SuiteFacts
from pytest_fcbench.tools.audit.findings import check


@check(
    "changed_tool",
    "an MCP server offers a changed tool",
    "write the docs again with `fcbench functions mcp:...`",
    needs="mcp",
)
def find_changed_tools(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find tools that their server offers no longer, or with another description or schema."""
    docs_by_server: dict[str, Mapping[str, FunctionDoc]] = {}
    reported_tools: set[tuple[str, str]] = set()
    for entry in facts.entries:
        if entry.scene is None or entry.scene.server is None:
            continue
        program = entry.scene.server.program.enter_suite(str(facts.suite.find_folder(entry)))
        # Many entries name one server: it is started once, and a flaw is reported at the first entry.
        server = repr(program)
        if server not in docs_by_server:
            docs_by_server[server] = {}
            try:
                tools: list[object] = [*list_tools(program).tools]
                docs_by_server[server] = {doc.name: doc for doc in openapi.read_tools(tools, "its list")}
            except FcbenchError as error:
                yield entry.id, Flaw(CERTAIN, str(error), "correct the server's program, or what it needs")
        for doc in entry.functions if docs_by_server[server] else ():
            now = docs_by_server[server].get(doc.name)
            if (server, doc.name) in reported_tools or now == doc:
                continue
            reported_tools.add((server, doc.name))
            if now is None:
                flaw = Flaw(CERTAIN, f"{doc.name} is not offered any more")
            elif now.given != doc.given:
                flaw = Flaw(CERTAIN, f"{doc.name} has other parameters by now")
            else:
                flaw = Flaw(LIKELY, f"{doc.name} has another description by now")
            yield entry.id, flaw
