"""The format of a team's own entries as a JSON Schema (draft 2020-12), against which editors check.

It says what a file may hold, kind by kind; what follows from the docs of functions (that a parameter is
known, that a value has its type) only the readers know. It never refuses what they take.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from pytest_fcbench.domain.conformance import TYPES
from pytest_fcbench.domain.entry import CATEGORIES, Comparison, Rule
from pytest_fcbench.suites.formats.entry_files import WRITTEN
from pytest_fcbench.suites.formats.function_docs import OBJECT_TYPES
from pytest_fcbench.suites.formats.tables import COLUMN_TYPES

Schema: TypeAlias = Mapping[str, object]

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_ANY_OBJECT: Schema = {"type": "object"}


def _object(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """An object with these members and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _list(items: Schema, about: str = "", least: int = 0) -> Schema:
    return {"type": "array", "items": items, "minItems": least} | ({"description": about} if about else {})


def _told(schema: Schema, about: str) -> Schema:
    return {**schema, "description": about}


def _map(values: Schema, about: str = "") -> Schema:
    return {"type": "object", "additionalProperties": values} | ({"description": about} if about else {})


_WORDS = sorted({word for words in TYPES.values() for word in words})
_PARAMETER: Schema = {
    **_object(
        {"type": {"enum": _WORDS}},
        {
            "description": _TEXT,
            "enum": {"type": "array"},
            "default": {},
            "items": {"$ref": "#/$defs/parameter"},
            "properties": _map({"$ref": "#/$defs/parameter"}),
            "required": _TEXTS,
        },
    ),
}
_FUNCTION = _object(
    {
        "name": _TEXT,
        "description": _TEXT,
        "parameters": _object(
            {
                "type": {"enum": list(OBJECT_TYPES)},
                "properties": _map(
                    {"$ref": "#/$defs/parameter", "required": ["type", "description"]}, "Parameters by name."
                ),
                "required": _told(_TEXTS, "Parameters that every call has to give."),
            }
        ),
    },
    {"response": {}},
)
_FUNCTIONS = _list({"$ref": "#/$defs/function"}, "Docs of functions, which entries offer by name.")
_ID = _told(_TEXT, "Of this entry of the suite alone; it stays when others are added.")
_QUERY = _told(_TEXT, "What the user asks.")
_ASKED: Mapping[str, Schema] = {
    "query": _QUERY,
    "messages": _list(
        _object({"role": {"enum": ["system", "user", "assistant"]}, "content": _TEXT}),
        "In place of a query: what was said so far.",
        1,
    ),
}
_PARENTS = _told(_TEXTS, "Keys of the entries that it was made from.")
_OFFERED = _list(
    {"anyOf": [_TEXT, {"$ref": "#/$defs/function"}]}, "Which functions are offered: by name, or docs."
)
_EXPECTED = _list(
    {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": {
            "anyOf": [_map(_list({}, 'Accepted values; "" means it may be left out.', 1)), {"const": None}]
        },
    },
    "The calls that are right, each the function's name with accepted values by parameter.",
    1,
)
_SHARED: Mapping[str, Schema] = {
    "cluster": _told(_TEXT, "What paraphrases of one template share."),
    "parents": _PARENTS,
}
_CALL = _told(_TEXT, "A call as Python text.")


def _asked(required: Mapping[str, Schema], optional: Mapping[str, Schema]) -> Schema:
    """An entry with a question in either form."""
    one = [{"required": [name]} for name in _ASKED]
    return {**_object({"id": _ID, **required}, {**_ASKED, **optional}), "oneOf": one}


_TABLES = _map(
    _object(
        {"columns": _map({"enum": list(COLUMN_TYPES)}), "rows": _list({"type": "array"}, "Values by column.")}
    ),
    "The tables that the statement acts on.",
)
_TRAJECTORY = _object(
    {
        "id": _ID,
        "domains": {
            **_map({"anyOf": [_ANY_OBJECT, {"const": None}]}),
            "minProperties": 1,
            "description": "What calls act on, with its initial state: a domain, or a class as module:Class.",
        },
        "turns": _list(
            _object({"user": _QUERY, "calls": _list(_CALL)}), "What is asked, and what does it.", 1
        ),
    },
    {
        "withhold": _told(
            _object({"turn": {"type": "integer", "minimum": 0}, "functions": _TEXTS}),
            "Functions that come late when an entry about missing functions is made of it.",
        ),
        "parents": _PARENTS,
    },
)
_REPLIED = _list(
    _object({"call": {**_ANY_OBJECT, "minProperties": 1, "maxProperties": 1}, "reply": {}}), "", 1
)
_PATH = _object(
    {"id": _ID, "query": _QUERY, "steps": _list(_REPLIED, "Lists of calls that can be made at once.", 1)},
    {"cluster": _SHARED["cluster"], "functions": _TEXTS, "recorded": _REPLIED},
)
_PATH_RULES: Mapping[str, Schema] = {
    "uses": _told(_TEXTS, "Files beside this one with functions of their own."),
    "functions": _FUNCTIONS,
    "lookups": _list(
        {
            "anyOf": [
                _TEXT,
                _object({"name": _TEXT}, {"where": _ANY_OBJECT, "forgiven": {"type": "boolean"}}),
            ]
        },
        "Functions that find out an identifier.",
    ),
    "judged": _told(_TEXTS, "Parameters whose value can be right in several forms."),
}
_CARRIED_OUT = _object(
    {
        "id": _ID,
        "query": _QUERY,
        "functions": _told(_TEXTS, "Names, of your own functions as module:function."),
        "expect": _list(
            {
                "anyOf": [
                    _CALL,
                    _object({"call": _CALL, "kind": {"enum": [str(each) for each in Comparison]}}),
                ]
            },
            "The calls whose results are right.",
            1,
        ),
    }
)
_PART = _object({"properties": _map({"$ref": "#/$defs/parameter"}), "required": _TEXTS})
_ENDPOINTS = _list(
    _object({"name": _TEXT, "url": _TEXT, "about": _TEXT}, {"params": _PART, "headers": _PART}),
    "What a model may ask of web APIs.",
)
_REST = _object({"id": _ID, "query": _QUERY, "endpoint": _TEXT, "expect": _CALL})
_ANSWERS = _list(_TEXT, "Any of them is right.", 1)
_SCENARIO = _object(
    {
        "id": {**_ID, "pattern": "^memory_"},
        "persona": _told(_TEXT, "Told ahead of every conversation."),
        "conversations": _list(_list(_TEXT, "What the user says.", 1), "One after the other.", 1),
        "questions": _list(
            _object(
                {
                    "query": _QUERY,
                    "answers": _ANSWERS,
                    "said": _list(_TEXT, "What the answer follows from, word by word.", 1),
                }
            )
        ),
    }
)
_QUESTION = _object(
    {"id": {**_ID, "pattern": "^web_search_"}, "query": _QUERY, "answers": _ANSWERS},
    {
        "trail": _list(
            {"anyOf": [_object({"search": _TEXT}), _object({"read": _TEXT, "finds": _TEXT})]},
            "How it can be found out.",
            1,
        )
    },
)

Kind: TypeAlias = tuple[Schema, Mapping[str, Schema], Mapping[str, Schema]]
"""An entry, and what has to stand and what may stand at the top of its file."""

_READ: Kind = (_asked({"functions": _OFFERED, "expect": _EXPECTED}, _SHARED), {}, {"functions": _FUNCTIONS})
_NO_CALL: Kind = (_asked({"functions": _OFFERED}, _SHARED), {}, {"functions": _FUNCTIONS})
_KINDS: Mapping[Rule, Kind] = {
    Rule.IRRELEVANCE: _NO_CALL,
    Rule.RELEVANCE: _NO_CALL,
    Rule.SQL: (_READ[0], {"tables": _TABLES}, _READ[2]),
    Rule.CHAT: (_asked({}, _SHARED), {}, {}),
    Rule.EXECUTION: (_CARRIED_OUT, {}, {}),
    Rule.REST: (_REST, {"endpoints": _ENDPOINTS}, {}),
    Rule.STATE: (_TRAJECTORY, {}, {}),
    Rule.PATH: (_PATH, {}, _PATH_RULES),
}
_OF_SEVERAL: Mapping[str, Kind] = {"memory": (_SCENARIO, {}, {}), "web_search": (_QUESTION, {}, {})}


def entry_schema(*, lines: bool = False) -> Schema:
    """The schema of a file of YAML, or of one of the ``lines`` of a file of JSON lines."""
    names: dict[int, list[str]] = {}
    kinds: dict[int, Kind] = {}
    for name in WRITTEN:
        kind = _OF_SEVERAL.get(name) or _KINDS.get(CATEGORIES[name].rule, _READ)
        names.setdefault(id(kind), []).append(name)
        kinds[id(kind)] = kind
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An entry of pytest-fcbench" if lines else "Entries of pytest-fcbench",
        "type": "object",
        "properties": {"category": {"enum": list(WRITTEN)}},
        "required": ["category"],
        "allOf": [_rule(names[key], kind, lines=lines) for key, kind in kinds.items()],
        "$defs": {"function": _FUNCTION, "parameter": _PARAMETER},
    }


def _rule(names: Iterable[str], kind: Kind, *, lines: bool) -> Schema:
    entry, needed, optional = kind
    category: Mapping[str, Schema] = {"category": {"enum": list(names)}}
    whole = _in_a_line(category, kind) if lines else {}
    whole = whole or _object({**category, **needed, "entries": _list(entry)}, optional)
    return {"if": {"properties": category, "required": ["category"]}, "then": whole}


def _in_a_line(category: Mapping[str, Schema], kind: Kind) -> Schema:
    """The entry itself with what stands at the top of a file beside it; ``functions`` are those it offers."""
    entry, needed, optional = kind
    members, required = entry["properties"], entry["required"]
    assert isinstance(members, Mapping)
    assert isinstance(required, list)
    beside = {name: schema for name, schema in optional.items() if name != "functions"}
    return {
        **entry,
        "properties": {**members, **category, **needed, **beside},
        "required": ["category", *needed, *required],
    }
