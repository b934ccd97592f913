"""Write the next step of a conversation as an entry, and check that a suite can have it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.domain.categories import CATEGORIES
from pytest_fcbench.domain.entry import PastCall
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.tools.importing.free_texts import Parameter
from pytest_fcbench.tools.importing.next_steps import NextStep
from pytest_fcbench.tools.importing.offered_tools import find_parameters, name_tool


def write_entry(step: NextStep, cluster: str) -> Mapping[str, object]:
    """Write a step as a line of a suite; its id follows from what it asks and expects."""
    entry: dict[str, object] = {"category": step.category}
    messages: list[dict[str, object]] = []
    for message in step.said:
        messages.append({"role": message.role})
        if message.content or not message.calls:
            messages[-1]["content"] = message.content
        if message.calls:
            messages[-1]["calls"] = [{call.name: dict(call.arguments)} for call in message.calls]
    entry["messages"] = messages
    entry["functions"] = list(step.tools)
    if step.calls:
        schemas = {name_tool(tool): find_parameters(tool) for tool in step.tools}
        entry["expect"] = [{call.name: list_accepted(call, schemas[call.name])} for call in step.calls]
    text = json.dumps(entry, sort_keys=True, ensure_ascii=False)
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=6).hexdigest()
    return {"category": step.category, "id": f"{step.category}_{digest}", **entry, "cluster": cluster}


def mark_free_texts(line: str, parameters: Iterable[Parameter]) -> str:
    """Mark parameters of an entry as free text, which a judge compares."""
    entry = read_json_text(line)
    for function, parameter in parameters:
        entry.setdefault("judged", {}).setdefault(function, []).append(parameter)
    return f"{json.dumps(entry, ensure_ascii=True)}\n"


def list_accepted(call: PastCall, properties: Mapping[str, object]) -> Mapping[str, object]:
    """List the accepted values of each argument: the logged one.

    A parameter with a default may be left out where the logged value is the default, and may be given with
    the default where the log leaves it out.
    """
    accepted_values: dict[str, object] = {}
    for name, value in call.arguments.items():
        is_default = "default" in (schema := as_mapping(properties.get(name))) and schema["default"] == value
        accepted_values[name] = [value, ""] if is_default and value != "" else [value]
    for name in properties:
        default = as_mapping(properties[name]).get("default")
        if name not in accepted_values and default not in (None, ""):
            accepted_values[name] = [default, ""]
    return accepted_values


def find_flaw(entry: Mapping[str, object]) -> str:
    """Return why a suite could not have an entry, or an empty text."""
    value = {key: member for key, member in entry.items() if key != "category"}
    file = Field({"category": entry["category"], "entries": [value]}, Path("log"), (), 1)
    try:
        entry_files.make_entries(file, "log", CATEGORIES[str(entry["category"])])
    except SuiteError as error:
        return str(error).partition("entries.0.")[2] or str(error)
    return ""
