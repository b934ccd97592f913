"""Records of the official files, and the values that entries are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from pytest_fcbench.domain.entry import Message
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.suites.packs import Pack

DOC_FILES = {
    "file_system": "gorilla_file_system",
    "math": "math_api",
    "messages": "message_api",
    "posting": "posting_api",
    "tickets": "ticket_api",
    "trading": "trading_bot",
    "travel": "travel_booking",
    "vehicle": "vehicle_control",
    "memory_kv": "memory_kv",
    "memory_vector": "memory_vector",
    "memory_rec_sum": "memory_rec_sum",
    "web_search": "web_search",
}
"""The file of each domain's function docs."""


def read_rows(pack: Pack, file: str, key: str = "id") -> Iterator[Mapping[str, object]]:
    """Yield the records of a file, each of which has the key. Raises ``SuiteError``."""
    for number, line in enumerate(pack.read(file).splitlines(), 1):
        if line.strip():
            row: object = None
            with suppress(ValueError):
                row = read_json_text(line)
            if not isinstance(row, Mapping) or key not in row:
                raise SuiteError(f"{file}:{number}: not a record with the key {key!r}; pull the pack again")
            yield row


def read_doc_rows(pack: Pack, domain: str) -> Iterator[Mapping[str, object]]:
    """Yield the function docs of a domain in their official form."""
    return read_rows(pack, f"multi_turn_func_doc/{DOC_FILES[domain]}.json", key="name")


def read_docs(pack: Pack, domain: str) -> tuple[FunctionDoc, ...]:
    """Return the function docs of a domain."""
    return tuple(map(make_doc, read_doc_rows(pack, domain)))


def make_doc(value: object) -> FunctionDoc:
    """Convert an official function doc."""
    # What is left after the three, such as ``response``, is kept: some formats of prompts show it.
    doc = dict(as_mapping(value))
    name, description, parameters = doc.pop("name"), doc.pop("description"), doc.pop("parameters")
    return FunctionDoc(str(name), str(description), as_mapping(parameters), doc)


def make_turns(row: Mapping[str, object]) -> tuple[tuple[Message, ...], ...]:
    """Return the messages of each turn of a record."""
    return tuple(
        tuple(
            Message(str(message["role"]), str(message["content"]))
            for message in map(as_mapping, as_list(turn))
        )
        for turn in as_list(row["question"])
    )


def as_list(value: object) -> list[object]:
    """Return a list, or an empty one in place of anything else."""
    return value if isinstance(value, list) else []


def as_mapping(value: object) -> Mapping[str, object]:
    """Return a mapping, or an empty one in place of anything else."""
    return value if isinstance(value, Mapping) else {}
