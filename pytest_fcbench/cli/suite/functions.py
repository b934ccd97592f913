"""Write function docs from code, an OpenAPI file, a list of tools or an MCP server."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.registry import require_extra
from pytest_fcbench.mcp_servers.open_server import PREFIX, ToolListing, list_tools, read_source
from pytest_fcbench.run.output_files import write_new_files
from pytest_fcbench.tools.authoring.function_sources import describe_gaps, read_functions


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
        for gap in describe_gaps(doc):
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


def _to_plain(value: object) -> object:
    """Copy a value into dicts and lists."""
    # YAML's safe dump takes no other mappings and sequences.
    if isinstance(value, Mapping):
        return {key: _to_plain(member) for key, member in value.items()}
    return [_to_plain(member) for member in value] if isinstance(value, (list, tuple)) else value
