"""The check of a call against its function doc, before its values are compared.

Official: ``CompareFCBase.format_check``. It checks names and the outermost types that it knows, and accepts
``true`` as a number. The corrected profile knows all types of JSON Schema and does not accept that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pytest_fcbench.domain.conformance import describe_misfit, has_type, name_json_type
from pytest_fcbench.domain.function_doc import FunctionDoc, Schema
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Profile

_OFFICIAL: Mapping[object, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "array": list,
}


def find_format_error(call: Call, docs: Mapping[str, FunctionDoc], profile: Profile) -> str | None:
    """Describe the error in the form of a call, in words for the model, or return None."""
    fits = _conforms_officially if profile is Profile.OFFICIAL else has_type
    error = describe_misfit(call.name, call.arguments, docs, fits)
    return None if error is None else make_printable(error)


@dataclass(frozen=True, slots=True)
class FormFault:
    """A fault of a call's form, in words for people: those for the model do not name a misspelt parameter."""

    code: str
    """The code that the same fault has in a call whose form is right."""
    parameters: tuple[str, ...]
    description: str


def find_form_fault(
    made_call: Mapping[str, object], docs: Mapping[str, FunctionDoc], profile: Profile
) -> FormFault | None:
    """Find the fault for which ``find_format_error`` refuses a call of an offered function."""
    doc, arguments = docs.get(str(made_call.get("name"))), made_call.get("arguments")
    if doc is None or not isinstance(arguments, Mapping):
        return None
    missing = [name for name in doc.required if name not in arguments]
    surplus = [name for name in arguments if name not in doc.properties]
    if missing or surplus:
        parts = [f"{name!r} is missing" for name in missing]
        parts += [f"{name!r} is not one of its parameters" for name in surplus]
        code = "param_missing" if missing else "param_hallucination"
        return FormFault(code, (*missing, *surplus), make_printable(" and ".join(parts)))
    fits = _conforms_officially if profile is Profile.OFFICIAL else has_type
    for name, value in arguments.items():
        if not fits(value, schema := doc.properties[name]):
            type_name = name_json_type(value)
            description = f"{name!r} must be of type {schema.get('type')}, not {type_name}"
            return FormFault("value_error", (name,), make_printable(description))
    return None


def find_official_misfit(
    call: Call, docs: Mapping[str, FunctionDoc]
) -> tuple[str, Mapping[str, object]] | None:
    """Find the first error in the form of a call as ``format_check`` does, or return None.

    The error is a place of ``PathWording.refusals``, and the values for its sentence as Python writes them.
    """
    doc = docs.get(call.name)
    if doc is None:
        return "unknown_function", {"function": call.name}
    if missing := set(doc.required) - call.arguments.keys():
        # The official message tells the names as a list of the call's arguments in order.
        argument_names = sorted(call.arguments)
        return "missing", {
            "function": doc.name,
            "required": list(doc.required),
            "given": argument_names,
            "names": _write_set(missing),
        }
    if surplus := call.arguments.keys() - doc.properties.keys():
        return "surplus", {"function": doc.name, "names": _write_set(surplus)}
    for name, value in sorted(call.arguments.items()):
        schema = doc.properties[name]
        if not _conforms_officially(value, schema):
            return str(schema["type"]), {"function": doc.name, "parameter": name, "type": type(value)}
    return None


def _write_set(names: Iterable[str]) -> str:
    """Write a set as Python does, in alphabetical order: Python's own differs from process to process."""
    return "{" + ", ".join(map(repr, sorted(names))) + "}"


def _conforms_officially(value: object, schema: Schema) -> bool:
    kind = schema.get("type")
    # A type that the official table lacks passes; a boolean is a number, as isinstance has it.
    return not isinstance(kind, str) or kind not in _OFFICIAL or isinstance(value, _OFFICIAL[kind])
