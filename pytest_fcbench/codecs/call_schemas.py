"""Count the calls of a conversation that keep the schemas that the model was shown, right or not.

Verifiers of vendors count the same. Arguments have to be JSON as they were sent, so that an empty text is
none; a text that tries to call and cannot be read is a call whose arguments are none. A schema that a source
gives holds as it is. Of docs in the words of BFCL hold types, enums, members and required parameters, at
every depth. The type ``any`` takes every value, although the tools of official requests name it ``string``.
As in JSON Schema, a parameter that a schema does not name may have any value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected
from pytest_fcbench.codecs.decoders.syntax import Calls, Unreadable
from pytest_fcbench.codecs.function_docs.json_schema import describe_call_violation
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import FunctionDoc, Schema
from pytest_fcbench.domain.prompting import Prompting
from pytest_fcbench.domain.registry import IdentityCache
from pytest_fcbench.domain.text import as_mapping, copy_into_lists, read_strict_json
from pytest_fcbench.domain.transcript import CallCounts, Completion, Fault, Transcript

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_NO_JSON = object()
"""Stands for arguments that are not JSON."""


def count_calls(entry: Entry, transcript: Transcript, wording: presenting.Wording) -> CallCounts:
    """Count the calls of the model under test, and those of them that keep the schema of their function."""
    prompting, first = transcript.prompting, None
    withheld = entry.scene.withheld if entry.scene else {}
    offered, docs = entry.functions, _name_docs(entry, entry.functions, prompting)
    checks: list[tuple[bool, bool, bool, bool]] = []
    for number, turn in enumerate(transcript.answers):
        if late := withheld.get(number):
            offered, docs = (*offered, *late), docs | _name_docs(entry, late, prompting)
        for completion in turn:
            offer = OfferedFunctions(offered, prompting.names)
            for name, arguments in _read_calls(completion, entry, prompting, offer):
                doc, is_json = docs.get(name), arguments is not _NO_JSON
                given = arguments if isinstance(arguments, Mapping) else None
                is_complete = doc is not None and given is not None and given.keys() >= {*doc.required}
                is_valid = is_complete and _is_valid(
                    cast("FunctionDoc", doc), given, entry, prompting, wording
                )
                checks.append((is_json, doc is not None, is_complete, is_valid))
            if first is None:
                first = len(checks)
    sums = [sum(column) for column in zip(*checks, strict=True)] or [0] * 4
    return CallCounts(len(checks), first or 0, *sums)


def _name_docs(entry: Entry, docs: tuple[FunctionDoc, ...], prompting: Prompting) -> dict[str, FunctionDoc]:
    """Map the shown and the own name of each function to its doc."""
    shown_docs = {presenting.find_shown_name(doc.name, entry, prompting): doc for doc in docs}
    return {doc.name: doc for doc in docs} | shown_docs


def _read_calls(
    completion: Completion, entry: Entry, prompting: Prompting, offer: OfferedFunctions
) -> Iterator[tuple[str, object]]:
    """Yield the name and the decoded arguments of each call of an answer."""
    if completion.fault is not None:
        if completion.fault is Fault.UNREADABLE_CALL:
            yield "", _NO_JSON
        return
    if tool_calls := presenting.select_tool_calls(completion):
        for call in tool_calls:
            arguments = call.arguments
            try:
                yield call.name, read_strict_json(arguments) if isinstance(arguments, str) else arguments
            except ValueError:
                yield call.name, _NO_JSON
        return
    reading = read_corrected(completion, prompting.syntax, entry.category.language, offer)
    if isinstance(reading, Unreadable):
        yield "", _NO_JSON
    for read_call in reading.calls if isinstance(reading, Calls) else ():
        # Arguments that have no name, or a name twice, belong to no parameter.
        yield read_call.name, None if read_call.positional else read_call.arguments


_SCHEMAS = IdentityCache[FunctionDoc, dict[str, object]](1024)
_VALIDATORS = IdentityCache[dict[str, object], "Validator"](1024)


def _is_valid(
    doc: FunctionDoc, arguments: object, entry: Entry, prompting: Prompting, wording: presenting.Wording
) -> bool:
    """Tell whether the arguments of a call are valid by the schema that the model was shown."""
    # Calls in text may have tuples, which no schema knows.
    arguments = copy_into_lists(arguments)
    if doc.given is not None:
        return describe_call_violation(doc, as_mapping(arguments)) is None
    language = entry.category.language

    def make_schema(doc: FunctionDoc) -> dict[str, object]:
        wire_doc = presenting.build_wire_doc(doc, wording, language, prompting.names)
        return _convert_schema(as_mapping(wire_doc["parameters"]))

    schema = _SCHEMAS.find_or_make(doc, make_schema, wording.notes[language])
    if _fits_plainly(arguments, schema):
        return True
    return _VALIDATORS.find_or_make(schema, _make_validator).is_valid(cast("Any", arguments))


def has_schema(arguments: Mapping[str, object], parameters: Schema) -> bool:
    """Tell whether the parameters of a tool declare these arguments, with their types, enums and members."""
    schema, value = _convert_schema(parameters), copy_into_lists(arguments)
    return arguments.keys() <= as_mapping(parameters.get("properties")).keys() and (
        _fits_plainly(value, schema) or _make_validator(schema).is_valid(cast("Any", value))
    )


_PLAIN_TYPES: Mapping[object, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    None: (str, int, float, bool, list, dict),
}


def _fits_plainly(value: object, schema: Mapping[str, Any]) -> bool:
    """Tell whether a value is valid at first sight; where it is not, the validator decides.

    The validator takes ten times as long, and its library is imported for the first call that needs it.
    """
    if type(value) not in _PLAIN_TYPES[schema.get("type")]:
        return False
    if "enum" in schema and not (isinstance(value, str) and value in schema["enum"]):
        return False
    if isinstance(value, list):
        return "items" not in schema or all(_fits_plainly(each, schema["items"]) for each in value)
    if isinstance(value, dict):
        members = schema.get("properties", {})
        return value.keys() >= {*schema.get("required", ())} and all(
            _fits_plainly(each, members[name]) for name, each in value.items() if name in members
        )
    return True


def _convert_schema(shown: Mapping[str, object]) -> dict[str, object]:
    """Convert a shown schema to a valid JSON Schema; what data leave unclear restricts nothing."""
    schema: dict[str, object] = {}
    kind = shown.get("type")
    # A word that is none of JSON Schema's stands in docs and below the depth to which official code converts.
    if isinstance(kind, str) and kind not in ("any", "Any") and kind in presenting.JSON_TYPES:
        schema["type"] = presenting.JSON_TYPES[kind]
    # Docs put the words for elements of a list beside its type.
    if isinstance(options := shown.get("enum"), list) and options and schema.get("type") != "array":
        schema["enum"] = options
    if isinstance(required := shown.get("required"), (list, tuple)):
        schema["required"] = [name for name in required if isinstance(name, str)]
    if isinstance(properties := shown.get("properties"), Mapping):
        schema["properties"] = {name: _convert_schema(as_mapping(each)) for name, each in properties.items()}
    if isinstance(items := shown.get("items"), Mapping):
        schema["items"] = _convert_schema(items)
    return schema


def _make_validator(schema: dict[str, object]) -> Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema)
