"""Write function docs from code, an OpenAPI file, a list of tools or an MCP server."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from pytest_fcbench.cli.output import declare_output
from pytest_fcbench.codecs.function_docs import openapi, python_code
from pytest_fcbench.codecs.function_docs.schema_keywords import list_unapplied_patterns
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.registry import require_extra
from pytest_fcbench.formats.fields import read_yaml
from pytest_fcbench.mcp_servers.open_server import PREFIX, ToolListing, list_tools, read_source
from pytest_fcbench.run.output_files import write_new_files


def declare_functions(parser: argparse.ArgumentParser) -> None:
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
    declare_output(parser, "FILE", "write to this file instead of the terminal")
    add("--force", action="store_true", help="replace FILE if it exists")


def run_functions(arguments: argparse.Namespace) -> int:
    servers = _ask_servers(arguments)
    docs = read_functions(arguments.sources, servers)
    functions = [
        {
            "name": doc.name,
            "description": doc.description,
            "parameters": _to_plain(doc.shown_schema),
        }
        for doc in docs.values()
    ]
    # One server: several have no place in a file whose calls act on one.
    server_facts: dict[str, object] = {}
    if len(servers) == 1:
        ((source, listing),) = servers.items()
        server_facts["server"] = {
            "source": source,
            "name": listing.name,
            "version": listing.version,
            "tools": listing.digest,
        }
    content = {**server_facts, "functions": functions}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    if arguments.to:
        write_new_files({arguments.to: text}, force=arguments.force)
        print(f"{arguments.to}: {len(docs)} function{'s' * (len(docs) != 1)}")
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


def _ask_servers(arguments: argparse.Namespace) -> Mapping[str, ToolListing]:
    """Ask the MCP servers among the sources for their tools. Raises ``FcbenchError``."""
    if arguments.timeout <= 0:
        raise UsageError(f"--timeout {arguments.timeout:g}: must be above 0")
    headers: dict[str, str] = {}
    for header in arguments.header:
        name, _, variable = header.partition("=")
        if not name or not variable:
            raise UsageError(f"--header={header}: must be a header and an environment variable, HEADER=NAME")
        headers[name] = variable
    listings: dict[str, ToolListing] = {}
    for source in arguments.sources:
        if source.startswith(PREFIX):
            require_extra("mcp", source)
            listings[source] = list_tools(
                read_source(source, arguments.variable, headers, arguments.timeout), Path.cwd()
            )
    return listings


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
        doc_iterator: Iterable[FunctionDoc]
        if listing:
            doc_iterator = openapi.read_tools(list(listing.tools), source)
        elif path.suffix in (".json", ".yaml", ".yml"):
            doc_iterator = openapi.read_functions(read_yaml(path), source)
        else:
            doc_iterator = python_code.document_named(source, Path.cwd())
        source_docs = list(doc_iterator)
        if not source_docs:
            raise UsageError(
                f"{source}: there are 0 functions, because its list of tools or operations is empty; "
                "name a source that has some"
            )
        for doc in source_docs:
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
