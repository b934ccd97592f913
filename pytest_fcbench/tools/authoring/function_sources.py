"""Function docs from code, files and MCP servers, and what they do not tell a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pytest_fcbench.codecs.function_docs import openapi, python_code
from pytest_fcbench.codecs.function_docs.schema_keywords import list_unapplied_patterns
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.mcp_servers.open_server import ToolListing


def describe_gaps(doc: FunctionDoc) -> Iterator[str]:
    """Describe what a function doc does not tell a model."""
    if not doc.description:
        yield "has no description"
    for name, schema in doc.properties.items():
        if not schema.get("description"):
            yield f"{name} has no description"
        if schema.get("type") == "any":
            yield f"{name} has no type, or one of several"
    for pattern in list_unapplied_patterns(doc.shown_schema):
        yield f"the pattern {pattern!r} is sent unchanged, but not enforced: Python has no form for it"


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
