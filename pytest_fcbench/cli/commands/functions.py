"""``fcbench functions``: write function docs from code, an OpenAPI file or a list of tools."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from pytest_fcbench.cli.command import OUTPUT
from pytest_fcbench.codecs.function_docs import openapi, python_code
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.run.output_files import write_new_files
from pytest_fcbench.suites.formats.fields import read_yaml

HELP = "write function docs from code, OpenAPI or a list of tools"
PAGE = "own-suites"
EXAMPLES = (
    "fcbench functions my_tools",
    "fcbench functions openapi.json -o functions.yaml",
)


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="module:function, module:Class, module, or a JSON or YAML file",
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
    docs = read_functions(chosen.sources)
    listed = [
        {
            "name": doc.name,
            "description": doc.description,
            "parameters": _to_plain(doc.given or doc.parameters),
        }
        for doc in docs.values()
    ]
    text = yaml.safe_dump({"functions": listed}, sort_keys=False, allow_unicode=True, width=100)
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
        for gap in gaps:
            print(f"note: {doc.name}: {gap}", file=sys.stderr)
    return 0


def read_functions(sources: Sequence[str]) -> Mapping[str, FunctionDoc]:
    """Read the docs of all functions in the sources, by name. Raises ``FcbenchError``."""
    docs: dict[str, FunctionDoc] = {}
    for source in sources:
        path = Path(source)
        if path.suffix == ".py":
            raise UsageError(
                f"{source}: this is a file; name the module: {path.stem} or {path.stem}:function"
            )
        is_file = path.suffix in (".json", ".yaml", ".yml")
        found = (
            openapi.read_functions(read_yaml(path), source)
            if is_file
            else python_code.document_named(source, Path.cwd())
        )
        for doc in found:
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
