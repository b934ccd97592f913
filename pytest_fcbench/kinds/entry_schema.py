"""The format of a team's own entries as a JSON Schema (draft 2020-12), against which editors check.

It is made from the models that read the files. Rules that depend on function docs (that a parameter is known,
that a value has its type) are checked by the readers only. The schema never refuses a file that they accept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from pytest_fcbench.formats.rows import generate_json_schemas
from pytest_fcbench.kinds.entry_files import file_models, keys_at_top

Schema: TypeAlias = Mapping[str, Any]


def generate_entry_schema(*, lines: bool = False) -> Schema:
    """Return the schema of a file of YAML, or of one of the ``lines`` of a file of JSON lines."""
    models = file_models()
    schemas = generate_json_schemas(set(models.values()))
    files: dict[str, list[str]] = {}
    for name, model in models.items():
        files.setdefault(model.__name__, []).append(name)
    shapes: dict[str, Schema] = {file: {"$ref": f"#/$defs/{file}"} for file in files}
    if lines:
        for file in files:
            # An entry together with the keys at the top of its file.
            whole = schemas[file]
            entry = schemas[whole["properties"]["entries"]["items"]["$ref"].rpartition("/")[2]]
            extra = {name: schema for name, schema in whole["properties"].items() if name in keys_at_top()}
            required_keys = [name for name in (*whole["required"], *entry["required"]) if name != "entries"]
            properties = {**entry["properties"], **extra}
            shapes[file] = {**entry, "properties": properties, "required": required_keys}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An entry of pytest-fcbench" if lines else "Entries of pytest-fcbench",
        "type": "object",
        "properties": {"category": {"enum": list(models)}},
        "required": ["category"],
        "allOf": [
            {
                "if": {"properties": {"category": {"enum": names}}, "required": ["category"]},
                "then": shapes[file],
            }
            for file, names in files.items()
        ],
        "$defs": {name: schema for name, schema in schemas.items() if not (lines and name in files)},
    }
