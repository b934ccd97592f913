"""List the tools of an MCP server, as ``fcbench functions`` and the audit need them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.server_program import ServerProgram
from pytest_fcbench.mcp_servers.open_server import ServerAddress, open_server

PREFIX = "mcp:"
"""The beginning of a source of function docs that is an MCP server."""


@dataclass(frozen=True, slots=True)
class ToolListing:
    """The tools that a server offers."""

    name: str
    version: str
    tools: tuple[Mapping[str, object], ...]
    """As the server sent them."""

    @property
    def digest(self) -> str:
        """A hash of names, descriptions and schemas, whatever their order."""
        rows = ([tool.get("name"), tool.get("description"), tool.get("inputSchema")] for tool in self.tools)
        lines = sorted(json.dumps(each, sort_keys=True) for each in rows)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def read_source(
    source: str,
    variables: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 60.0,
) -> ServerProgram | ServerAddress:
    """Read ``mcp:COMMAND`` or ``mcp:URL``. Raises ``UsageError``."""
    text = source.removeprefix(PREFIX).strip()
    if text.startswith(("http://", "https://")):
        return ServerAddress(text, headers or {}, timeout_s)
    return ServerProgram(split_command(text), tuple(variables), timeout_s=timeout_s)


def split_command(text: str) -> tuple[str, ...]:
    """Split a command line as a shell does. Raises ``UsageError`` where it names no program."""
    try:
        parts = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(
            f"{text!r} cannot be split into a program and its arguments: {error}; correct its quotes"
        ) from None
    if not parts:
        raise UsageError(
            "an MCP server is given as mcp:COMMAND or mcp:URL, for example mcp:'uvx mcp-server-time'"
        )
    return parts


def list_tools(server: ServerProgram | ServerAddress, cwd: Path | None = None) -> ToolListing:
    """Start a server, in ``cwd`` if it is given, or reach it, and return its tools.

    Raises ``UsageError`` and ``CallError``.
    """

    async def fetch_listing() -> ToolListing:
        async with open_server(server, cwd) as connection:
            return ToolListing(connection.name, connection.version, tuple(await connection.list_tools()))

    return asyncio.run(fetch_listing())
