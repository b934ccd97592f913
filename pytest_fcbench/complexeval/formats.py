"""Whether a call has the form that its function doc asks for, before its values are looked at.

Official: ``CompareFCBase.format_check``. It looks at names and at the outermost types, not into enums,
elements or members, and takes ``true`` for a number. The corrected profile does not.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.answers import Call
from pytest_fcbench.entries import FunctionDoc, Schema
from pytest_fcbench.verdicts import Profile, printable

_TYPES: Mapping[object, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_OFFICIAL = frozenset(("string", "number", "boolean", "array"))


def format_error(call: Call, docs: Mapping[str, FunctionDoc], profile: Profile) -> str | None:
    """What is wrong with the form of a call, in words for the model; None where nothing is."""
    doc = docs.get(call.name)
    if doc is None:
        return printable(f"There is no function {call.name}; the functions are {', '.join(docs)}.")
    if missing := [name for name in doc.required if name not in call.arguments]:
        return f"{doc.name} needs {', '.join(missing)}, which the call does not give."
    if surplus := [name for name in call.arguments if name not in doc.properties]:
        return printable(f"{doc.name} has no parameter {', '.join(surplus)}.")
    for name, value in call.arguments.items():
        if not _fits(value, doc.properties[name], profile):
            kind = doc.properties[name].get("type")
            return f"The parameter {name} of {doc.name} must be of type {kind}, not {_kind(value)}."
    return None


def _fits(value: object, schema: Schema, profile: Profile) -> bool:
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in _TYPES:
        return True
    if profile is Profile.OFFICIAL:
        return kind not in _OFFICIAL or isinstance(value, _TYPES[kind])
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _kind(value: object) -> str:
    if value is None:
        return "null"
    return next((kind for kind in ("boolean", "string", "number", "array", "object") if _is(value, kind)), "")


def _is(value: object, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
