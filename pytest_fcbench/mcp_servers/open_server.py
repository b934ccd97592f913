"""Open an MCP server that is started here or listens elsewhere, list its tools, and call them.

Each program runs in a temporary folder, which calls and results name ``/workspace``: its real path differs
from run to run. It gets the few environment variables that every program needs, and those that its entry
names.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from pytest_fcbench.domain.entry import ServerProgram
from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.domain.redaction import list_request_secrets, mask_secrets, redact_secrets
from pytest_fcbench.domain.text import escape_surrogates
from pytest_fcbench.domain.transcript import Call, write_reply

if TYPE_CHECKING:
    from mcp.client.client import Client

WORKSPACE = "/workspace"
"""The folder of a program, in calls and results."""

# Without a handler, Python writes what the SDK logs about a broken server to the terminal.
logging.getLogger("mcp").addHandler(logging.NullHandler())

_MOST_PAGES = 100
"""Pages of a list of tools that are read."""
_LONGEST_STDERR = 500
"""Characters of what a server wrote about its end that an error shows."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """An MCP server that listens on an address."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    """Environment variables by the header that has their value."""
    timeout_s: float = 60.0


@dataclass(frozen=True, slots=True)
class OpenServer:
    """A server that answers."""

    client: Client
    timeout_s: float
    folder: str = ""
    """The folder that is shown as ``/workspace``; empty for a server that listens elsewhere."""
    secrets: tuple[str, ...] = ()
    """Values that no result shows."""

    async def call_tool(self, call: Call) -> str:
        """Call a tool and return its result as text; an error of the tool is a result too.

        Raises ``CallError`` where the server does not answer within its time, or has ended.
        """
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        arguments = {name: self._enter_folder(value) for name, value in call.arguments.items()}
        try:
            async with asyncio.timeout(self.timeout_s):
                result = await self.client.call_tool(call.name, arguments)
        except TimeoutError:
            raise CallError(
                "mcp_timeout", f"the MCP server did not answer {call.name} within {self.timeout_s:g} s"
            ) from None
        except MCPError as error:
            if error.error.code in (CONNECTION_CLOSED, REQUEST_TIMEOUT):
                raise
            # A refusal by the protocol, for example of an argument, is an answer to the model's call.
            return self._leave_folder(f"Error: {error.error.message}")
        # A text, which may be empty, the text of a resource, or the name of what is neither.
        texts = [
            getattr(block, "text", getattr(getattr(block, "resource", None), "text", f"[{block.type}]"))
            for block in result.content
        ]
        if not texts and result.structured_content is not None:
            # The protocol wants the same as text too, but some servers leave that out.
            texts = [write_reply(result.structured_content)]
        return self._leave_folder("\n".join(texts))

    async def list_tools(self) -> list[dict[str, object]]:
        """Return the tools of all pages. Raises ``CallError`` for a list without end, or that hangs."""
        tools: list[dict[str, object]] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            try:
                async with asyncio.timeout(self.timeout_s):
                    page = await self.client.list_tools(cursor=cursor)
            except TimeoutError:
                told = f"the MCP server started, but did not list its tools within {self.timeout_s:g} s"
                raise CallError("mcp_timeout", told) from None
            tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                return tools
        raise CallError("mcp_server", f"the list of tools has more than {_MOST_PAGES} pages")

    def _enter_folder(self, value: object) -> object:
        """Replace the shown folder by the real one in all texts of an argument, which then UTF-8 can hold."""
        if isinstance(value, str):
            text = escape_surrogates(value)
            return text.replace(WORKSPACE, self.folder) if self.folder else text
        if isinstance(value, Mapping):
            return {self._enter_folder(key): self._enter_folder(member) for key, member in value.items()}
        return [self._enter_folder(member) for member in value] if isinstance(value, (list, tuple)) else value

    def _leave_folder(self, text: str) -> str:
        text = text.replace(self.folder, WORKSPACE) if self.folder else text
        return mask_secrets(text, self.secrets)


@asynccontextmanager
async def open_server(
    server: ServerProgram | ServerAddress, cwd: Path | None = None
) -> AsyncIterator[OpenServer]:
    """Open a server, and end it afterwards with all processes that it started.

    A program runs in ``cwd``, or in a temporary folder of its own.

    Raises ``UsageError`` where a named variable or the program is missing, ``CallError`` where the server
    does not start, does not answer, or ends while it is needed.
    """
    try:
        if isinstance(server, ServerAddress):
            import httpx2
            from mcp.client.client import Client
            from mcp.client.streamable_http import streamable_http_client

            headers = _read_variables(server.headers)
            async with httpx2.AsyncClient(headers=headers, timeout=server.timeout_s) as http:
                client = Client(streamable_http_client(server.url, http_client=http), cache=None)
                async with asyncio.timeout(server.timeout_s) as limit, client:
                    limit.reschedule(None)
                    yield OpenServer(client, server.timeout_s, secrets=_list_secrets(headers))
        else:
            async with _start_program(server, cwd) as running_server:
                yield running_server
    except TimeoutError:
        reason = f"the MCP server did not answer within {server.timeout_s:g} s"
        raise CallError("mcp_timeout", reason) from None
    # The SDK raises groups of errors of its tasks.
    except BaseExceptionGroup as group:
        raise _find_cause(group) from None


def _find_cause(group: BaseExceptionGroup) -> BaseException:
    """Return one error of a group: one that is meant for users, or else the last one."""
    ours = group.subgroup((CallError, UsageError))
    error: BaseException = ours or group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[-1]
    return error if ours else _make_failure(error)


def _make_failure(error: BaseException) -> CallError:
    reason = redact_secrets(f"{type(error).__name__}: {error}".rstrip(": "))
    return CallError("mcp_server", f"the MCP server does not answer: {reason}")


@asynccontextmanager
async def _start_program(program: ServerProgram, cwd: Path | None) -> AsyncIterator[OpenServer]:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client

    variable_values = _read_variables({name: name for name in program.variables})
    environment = {**get_default_environment(), **variable_values}
    secrets = _list_secrets(variable_values)
    with (
        tempfile.TemporaryDirectory(prefix="fcbench-mcp-", ignore_cleanup_errors=True) as temporary_folder,
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log,
    ):
        folder = os.path.realpath(cwd or temporary_folder)
        for name, text in program.files.items():
            file = Path(folder) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for command in program.setup:
            await _run_setup(command, folder, environment, program.timeout_s, secrets)
        first = program.command[0]
        # A relative path is one in the folder of the server.
        if not shutil.which(
            first if Path(first).name == first else Path(folder, first), path=environment.get("PATH")
        ):
            raise UsageError(f"the program {first!r} is not there; install it, or correct 'command'")
        starter, *arguments = program.command
        # The SDK has a job of Windows end all processes; elsewhere a process before the server does it, which
        # is started without site, the slowest part of its start.
        if sys.platform != "win32":
            script = str(Path(__file__).with_name("supervisor.py"))
            starter, arguments = sys.executable, ["-I", "-S", script, str(os.getpid()), *program.command]
        parameters = StdioServerParameters(command=starter, args=arguments, env=environment, cwd=folder)
        client = Client(stdio_client(parameters, errlog=log), cache=None)
        try:
            async with asyncio.timeout(program.timeout_s) as limit, client:
                limit.reschedule(None)
                yield OpenServer(client, program.timeout_s, folder, secrets)
        except (CallError, asyncio.CancelledError):
            raise
        except TimeoutError:
            reason = f"the MCP server did not start within {program.timeout_s:g} s"
            raise CallError("mcp_timeout", f"{reason}{_read_log(log, secrets)}") from None
        except Exception as error:  # noqa: BLE001 - whatever the SDK makes of a server that ends
            cause = _find_cause(error) if isinstance(error, BaseExceptionGroup) else _make_failure(error)
            if not isinstance(cause, CallError):
                raise cause from None
            reason = mask_secrets(cause.reason, secrets)
            raise cause.with_reason(f"{reason}{_read_log(log, secrets)}") from None


def _list_secrets(values: Mapping[str, str]) -> tuple[str, ...]:
    """List the values that no result may show; short words, such as ``1``, stand in honest results too."""
    return tuple(list_request_secrets(None, None, {"extra_headers": values}))


def _read_variables(names: Mapping[str, str]) -> dict[str, str]:
    """Return the values of environment variables. Raises ``UsageError`` for one that is not set."""
    for variable in names.values():
        if variable not in os.environ:
            raise UsageError(f"the environment variable {variable} is not set; set it for the MCP server")
    return {name: os.environ[variable] for name, variable in names.items()}


async def _run_setup(
    command: tuple[str, ...],
    folder: str,
    environment: Mapping[str, str],
    within_s: float,
    secrets: tuple[str, ...],
) -> None:
    """Run a program in the folder of a server. Raises ``CallError`` where it fails."""
    setup_text = " ".join(command)
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    except OSError as error:
        raise CallError("mcp_setup", f"the setup {setup_text!r} cannot be run: {error.strerror}") from None
    try:
        async with asyncio.timeout(within_s):
            output, _ = await process.communicate()
    except TimeoutError:
        raise CallError("mcp_setup", f"the setup {setup_text!r} did not end within {within_s:g} s") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        output_text = mask_secrets(redact_secrets(output.decode("utf-8", "replace").strip()), secrets)
        output_text = output_text[-_LONGEST_STDERR:]
        raise CallError("mcp_setup", f"the setup {setup_text!r} failed: {output_text}")


def _read_log(log: TextIO, secrets: tuple[str, ...]) -> str:
    """Return the end of what a server wrote to its standard error, as the end of a sentence."""
    log.seek(0)
    log_text = mask_secrets(redact_secrets(log.read().strip()), secrets)[-_LONGEST_STDERR:]
    return f"; it wrote: {log_text}" if log_text else ""


PREFIX = "mcp:"
"""The beginning of a source of function docs that is an MCP server."""


@dataclass(frozen=True, slots=True)
class ToolListing:
    """The tools that a server offers, and the name and version that it gives itself, empty for none."""

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
            info, tools = connection.client.server_info, tuple(await connection.list_tools())
            return ToolListing(info.name if info else "", info.version if info else "", tools)

    return asyncio.run(fetch_listing())
