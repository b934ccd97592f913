"""``fcbench functions``: write function docs from code, an OpenAPI file, a list of tools or an MCP server."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from pytest_fcbench.cli.command import OUTPUT
from pytest_fcbench.codecs.function_docs import openapi, python_code
from pytest_fcbench.codecs.function_docs.schema_keywords import list_unapplied_patterns
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.extras import require_extra
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.formats.fields import read_yaml
from pytest_fcbench.mcp_servers.listing import PREFIX, ToolListing, list_tools, read_source
from pytest_fcbench.run.output_files import write_new_files

HELP = "write function docs from code, OpenAPI, a list of tools or an MCP server"
PAGE = "own-suites"
EXAMPLES = (
    "fcbench functions my_tools",
    "fcbench functions openapi.json -o functions.yaml",
    "fcbench functions 'mcp:uvx mcp-server-time' -o tools.yaml",
)


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="module:function, module:Class, module, a JSON or YAML file, mcp:COMMAND or mcp:URL",
    )
    add(
        "--variable",
        action="append",
        default=[],
        metavar="NAME",
        help="environment variable that an MCP server is given (repeatable)",
    )
    add(
        "--header",
        action="append",
        default=[],
        metavar="HEADER=NAME",
        help="header for an MCP server at a URL, and the environment variable with its value (repeatable)",
    )
    add(
        "--timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="wait this long for an MCP server (default: 60)",
    )
    add(
        *OUTPUT,
        dest="to",
        type=Path,
        metavar="FILE",
        help="write to this file instead of the terminal",
    )
    add("--force", action="store_true", help="replace FILE if it exists")


def run_command(chosen: argparse.Namespace) -> int:
    servers = _ask_servers(chosen)
    docs = read_functions(chosen.sources, servers)
    listed = [
        {
            "name": doc.name,
            "description": doc.description,
            "parameters": _to_plain(doc.shown_schema),
        }
        for doc in docs.values()
    ]
    # One server: several have no place in a file whose calls act on one.
    noted: dict[str, object] = {}
    if len(servers) == 1:
        ((source, listing),) = servers.items()
        noted["server"] = {
            "source": source,
            "name": listing.name,
            "version": listing.version,
            "tools": listing.digest,
        }
    content = {**noted, "functions": listed}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    if chosen.to:
        write_new_files({chosen.to: text}, force=chosen.force)
        print(f"{chosen.to}: {len(docs)} function{'s' * (len(docs) != 1)}")
    else:
        print(text, end="")
    # On stderr, because the docs themselves may go to stdout.
    for doc in docs.values():
        gaps = [] if doc.description else ["has no description"]
        for name, schema in doc.properties.items():
            if not schema.get("description"):
                gaps.append(f"{name} has no description")
            if schema.get("type") == "any":
                gaps.append(f"{name} has no type, or one of several")
        gaps += (
            f"the pattern {pattern!r} is sent unchanged, but not enforced: Python has no form for it"
            for pattern in list_unapplied_patterns(doc.shown_schema)
        )
        for gap in gaps:
            print(f"note: {doc.name}: {gap}", file=sys.stderr)
    return 0


def _ask_servers(chosen: argparse.Namespace) -> Mapping[str, ToolListing]:
    """Ask the MCP servers among the sources for their tools. Raises ``FcbenchError``."""
    if chosen.timeout <= 0:
        raise UsageError(f"--timeout {chosen.timeout:g}: must be above 0")
    headers: dict[str, str] = {}
    for given in chosen.header:
        name, _, variable = given.partition("=")
        if not name or not variable:
            raise UsageError(f"--header={given}: must be a header and an environment variable, HEADER=NAME")
        headers[name] = variable
    found: dict[str, ToolListing] = {}
    for source in chosen.sources:
        if source.startswith(PREFIX):
            require_extra("mcp", source)
            found[source] = list_tools(
                read_source(source, chosen.variable, headers, chosen.timeout), Path.cwd()
            )
    return found


def read_functions(
    sources: Sequence[str], servers: Mapping[str, ToolListing] | None = None
) -> Mapping[str, FunctionDoc]:
    """Read the docs of all functions in the sources, by name. Raises ``FcbenchError``.

    ``servers`` has the tools of those that are MCP servers.
    """
    docs: dict[str, FunctionDoc] = {}
    for source in sources:
        path, listing = Path(source), (servers or {}).get(source)
        if path.suffix == ".py" and not listing:
            raise UsageError(
                f"{source}: this is a file; name the module: {path.stem} or {path.stem}:function"
            )
        found: Iterable[FunctionDoc]
        if listing:
            found = openapi.read_tools(list(listing.tools), source)
        elif path.suffix in (".json", ".yaml", ".yml"):
            found = openapi.read_functions(read_yaml(path), source)
        else:
            found = python_code.document_named(source, Path.cwd())
        listed = list(found)
        if not listed:
            raise UsageError(
                f"{source}: there are 0 functions, because its list of tools or operations is empty; "
                "name a source that has some"
            )
        for doc in listed:
            if doc.name in docs:
                raise UsageError(f"{source}: the function {doc.name!r} is given twice; leave one of them out")
            docs[doc.name] = doc
    return docs


def _to_plain(value: object) -> object:
    """Copy a value into dicts and lists."""
    # YAML's safe dump takes no other mappings and sequences.
    if isinstance(value, Mapping):
        return {key: _to_plain(member) for key, member in value.items()}
    return [_to_plain(member) for member in value] if isinstance(value, (list, tuple)) else value
