"""Reader of the sentences that BFCL's tools return, in sources that are neither imported nor run."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.suites.bfcl.rows import as_mapping
from pytest_fcbench.suites.bfcl.world import CLASSES

_MULTI_TURN = "bfcl_eval/eval_checker/multi_turn_eval"

_FILES = {
    "executor": f"{_MULTI_TURN}/multi_turn_utils.py",
    **{
        domain: f"{_MULTI_TURN}/func_source_code/{file}.py"
        for domain, file in {
            "file_system": "gorilla_file_system",
            "math": "math_api",
            "memory_kv": "memory_kv",
            "memory_rec_sum": "memory_rec_sum",
            "memory_vector": "memory_vector",
            "messages": "message_api",
            "posting": "posting_api",
            "tickets": "ticket_api",
            "trading": "trading_bot",
            "travel": "travel_booking",
            "vehicle": "vehicle_control",
            "web_search": "web_search",
        }.items()
    },
}
"""The source of each domain, and of what carries calls out."""

SOURCES = tuple(_FILES.values())

_HASHES = Path(__file__).with_name("sentence_hashes.json")
"""Of the sentences of each function, so that a changed one can be named."""

CLASS_NAMES: Mapping[str, str] = {
    **{domain: name for name, domain in CLASSES.items()},
    "memory_kv": "MemoryAPI_kv",
    "memory_rec_sum": "MemoryAPI_rec_sum",
    "memory_vector": "MemoryAPI_vector",
    "web_search": "WebSearchAPI",
}
"""The official class of each domain, which Python names in errors."""


def read_sentences(modules: Mapping[str, ast.Module]) -> Mapping[str, Mapping[str, list[str]]]:
    """Return the sentences of each function of each domain, as templates of ``str.format``."""
    sentences: dict[str, dict[str, list[str]]] = {domain: {} for domain in _FILES}
    for domain, path in _FILES.items():
        for node in ast.walk(modules[path]):
            if isinstance(node, ast.FunctionDef) and (texts := list(_read_function(node))):
                sentences[domain].setdefault(node.name, []).extend(texts)
    return sentences


def hash_sentences(sentences: Mapping[str, object]) -> dict[str, str]:
    """Return the first digits of a hash of the sentences of each function, by ``domain.function``."""
    return {
        f"{domain}.{function}": hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:12]
        for domain, functions in sentences.items()
        for function, texts in as_mapping(functions).items()
    }


def list_changes(sentences: Mapping[str, object]) -> list[str]:
    """Name the functions whose sentences are not those of the version that this project was written for."""
    known_hashes: dict[str, str] = read_json_text(_HASHES.read_text(encoding="utf-8"))
    current_hashes = hash_sentences(sentences)
    return [
        f"sentences of {name}" + ("" if name in current_hashes else ", which are gone")
        for name in sorted(known_hashes.keys() | current_hashes.keys())
        if known_hashes.get(name) != current_hashes.get(name)
    ]


def _read_function(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the texts with a space of a function in source order, without its docstring.

    A text without one is a name, a key or a date format.
    """
    first = function.body[0]
    docstring = first.value if isinstance(first, ast.Expr) else None
    texts = [each for each in _list_texts(function) if each is not docstring]
    for node in sorted(texts, key=lambda text: (text.lineno, text.col_offset)):
        parts: list[ast.expr] = node.values if isinstance(node, ast.JoinedStr) else [node]
        if any(isinstance(part, ast.Constant) and " " in str(part.value) for part in parts):
            yield "".join(_write_parts(parts))


def _list_texts(node: ast.AST) -> Iterator[ast.JoinedStr | ast.Constant]:
    """Yield the texts below a node, without those that are parts of other texts."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.JoinedStr) or (
            isinstance(child, ast.Constant) and isinstance(child.value, str)
        ):
            yield child
        else:
            yield from _list_texts(child)


def _write_parts(parts: list[ast.expr]) -> Iterator[str]:
    """Yield the parts of a template; a value is called by its name, or ``value`` where it has none."""
    for part in parts:
        match part:
            case ast.Constant(value=text):
                yield str(text).replace("{", "{{").replace("}", "}}")
            case ast.FormattedValue(value=ast.Name(id=name) | ast.Attribute(attr=name)):
                yield f"{{{name}}}"
            case _:
                yield "{value}"
