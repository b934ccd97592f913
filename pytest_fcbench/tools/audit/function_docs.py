"""Checks of function docs: can a tool interface, a matcher and a reader understand them?

Many entries offer the same function, so a flaw of a doc is reported once, at the first entry that offers it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping

from pytest_fcbench.codecs.function_docs.json_schema import list_untyped
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import CERTAIN, HINT, LIKELY, Flaw
from pytest_fcbench.domain.function_doc import TYPES, WITH_ELEMENTS, FunctionDoc, Language, conforms_to_schema
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.judging.text_normalization import standardize
from pytest_fcbench.tools.audit.findings import (
    Check,
    SuiteFacts,
    check,
    entry_check,
    format_value,
    standardize_turns,
)
from pytest_fcbench.tools.audit.truths import iterate_accepted_values

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Names that tool interfaces accept, dots apart."""


def serialize_doc(doc: FunctionDoc, *, named: bool = True) -> str:
    """Serialize a doc, so that equal docs give equal texts; ``named=False`` leaves out the name."""
    name = doc.name if named else ""
    return json.dumps([name, doc.description, doc.parameters], sort_keys=True, default=repr)


def _doc_check(name: str) -> Callable[[Callable[[FunctionDoc, Language], Iterator[Flaw]]], Check]:
    """Declare a check that looks at each distinct doc; evidence begins behind the name of the function."""

    def declare(examine: Callable[[FunctionDoc, Language], Iterator[Flaw]]) -> Check:
        def find(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
            offering: defaultdict[str, list[tuple[Entry, FunctionDoc]]] = defaultdict(list)
            # Entries share docs: one that many offer is serialized once.
            texts: dict[int, str] = {}
            for entry in facts.entries:
                for doc in entry.all_functions:
                    if id(doc) not in texts:
                        texts[id(doc)] = serialize_doc(doc)
                    offering[entry.category.language + texts[id(doc)]].append((entry, doc))
            for offers in offering.values():
                entry, doc = offers[0]
                more = _count_entries({other.id for other, _ in offers})
                for severity, evidence, _ in examine(doc, entry.category.language):
                    yield entry.id, Flaw(severity, f"{doc.name}{evidence}{more}")

        return check(name)(find)

    return declare


def _count_entries(ids: Collection[str]) -> str:
    return f" (offered in {len(ids)} entries)" if len(ids) > 1 else ""


@_doc_check("bad_doc")
def find_unsound_docs(doc: FunctionDoc, language: Language) -> Iterator[Flaw]:
    """Find docs that are no valid schema, or one that interfaces or matchers cannot use."""
    shown_name = Names.UNDERSCORED.show_name(doc.name)
    if not _TOOL_NAME.fullmatch(shown_name):
        yield Flaw(LIKELY, f": most APIs reject the name {format_value(shown_name)}")
    if (declared_type := doc.parameters.get("type")) not in ("dict", "object"):
        yield Flaw(CERTAIN, f": parameters are of type {format_value(declared_type)}, not dict")
    for name in doc.required:
        if name not in doc.properties:
            yield Flaw(CERTAIN, f": requires {format_value(name)}, which is not a parameter")
    if len(set(doc.required)) < len(doc.required):
        yield Flaw(LIKELY, f": a parameter is listed twice in required: {format_value(list(doc.required))}")
    for name, schema in doc.properties.items():
        yield from _examine_schema(f".{name}", schema, language)
    for name in list_untyped(doc):
        yield Flaw(
            HINT, f".{name} has no type or one of several; its values are compared without a check of types"
        )


def _examine_schema(path: str, schema: object, language: Language) -> Iterator[Flaw]:
    if not isinstance(schema, Mapping):
        yield Flaw(CERTAIN, f"{path} is {format_value(schema)}, which is not a schema")
        return
    declared_type, enum = schema.get("type"), schema.get("enum")
    has_elements = declared_type in WITH_ELEMENTS[language]
    if not isinstance(declared_type, str) or declared_type not in TYPES[language]:
        fault = f"the type {format_value(declared_type)}, which {language} entries do not support"
        yield Flaw(LIKELY, f"{path} has {fault}")
    if enum is not None and (not isinstance(enum, list) or not enum):
        yield Flaw(CERTAIN, f"{path} has the enum {format_value(enum)}, which has no values")
    elif isinstance(enum, list) and language is Language.PYTHON and not has_elements:
        wrong = [member for member in enum if not conforms_to_schema(member, {"type": declared_type})]
        if wrong:
            yield Flaw(LIKELY, f"{path} is of type {declared_type}, but its enum has {format_value(wrong)}")
    items, properties = schema.get("items"), schema.get("properties")
    if has_elements and not isinstance(items, Mapping):
        yield Flaw(HINT, f"{path} is of type {declared_type} but does not declare the type of its elements")
    if isinstance(items, Mapping):
        yield from _examine_schema(f"{path}[]", items, language)
    if isinstance(properties, Mapping):
        for name, member in properties.items():
            yield from _examine_schema(f"{path}.{name}", member, language)


_REMARK = re.compile(
    r"\bpytest[_-]fcbench\b|\bfcbench\b|\bbfcl(?:[_-]eval)?\b"
    r"|\bofficially\b|\bofficial (?:behaviou?r|benchmark|class|code|harness|implementation|package|suite)\b"
    r"|\bdifferent from (?:the official|theirs|ours|upstream)\b|\bours\b|\bupstream (?:class|code)\b"
    r"|\bground truth\b|(?-i:\b(?:TODO|FIXME)\b)",
    re.IGNORECASE,
)
"""Words of developers about a function or the benchmark, which say nothing to its users."""


@_doc_check("remark")
def find_remarks(doc: FunctionDoc, language: Language) -> Iterator[Flaw]:
    """Find remarks about an implementation or a benchmark in what models are told of a function."""
    for path, text in _iterate_descriptions("", {**doc.parameters, "description": doc.description}):
        if remark := _REMARK.search(text):
            around = text[max(0, remark.start() - 40) : remark.end() + 40].strip()
            yield Flaw(LIKELY, f"{path} says {format_value(remark.group())}: {format_value(around)}")


def _iterate_descriptions(path: str, schema: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    if isinstance(text := schema.get("description"), str):
        yield path, text
    if isinstance(properties := schema.get("properties"), Mapping):
        for name, member in properties.items():
            if isinstance(member, Mapping):
                yield from _iterate_descriptions(f"{path}.{name}", member)
    if isinstance(items := schema.get("items"), Mapping):
        yield from _iterate_descriptions(f"{path}[]", items)


@check("same_name")
def find_indistinct_functions(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find functions that a model sees under one name, and functions that differ only in name."""
    twins: defaultdict[str, list[str]] = defaultdict(list)
    for entry in facts.entries:
        by_name: defaultdict[str, list[str]] = defaultdict(list)
        by_text: defaultdict[str, list[str]] = defaultdict(list)
        for doc in entry.all_functions:
            by_name[Names.UNDERSCORED.show_name(doc.name)].append(doc.name)
            by_text[serialize_doc(doc, named=False)].append(doc.name)
        for shown_name, names in by_name.items():
            if len(names) > 1:
                evidence = f"{format_value(names)} are all shown as {format_value(shown_name)}"
                yield entry.id, Flaw(CERTAIN, evidence, "rename or remove all but one")
        for names in by_text.values():
            if len(set(names)) > 1:
                twins[f"{format_value(names)} differ only in their names"].append(entry.id)
    for evidence, ids in twins.items():
        yield ids[0], Flaw(LIKELY, f"{evidence}{_count_entries(ids)}")


_DEFAULT_IN_DESCRIPTION = re.compile(
    r"\bdefault(?:s|ed)?(?: value)?(?: (?:is|are|to|as|of)(?: set to)?|:| =)\s*"
    r"(?:'([^']*)'|\"([^\"]*)\"|`([^`]*)`|(-?\d+(?:\.\d+)?|true|false|none|null)(?=[.,;)](?:\s|$)|\s*$))",
    re.IGNORECASE,
)
"""A default in a description: a quoted text, or a value without a unit behind it."""


@_doc_check("default")
def find_contradictory_defaults(doc: FunctionDoc, language: Language) -> Iterator[Flaw]:
    """Find defaults that contradict the type, the enum or the description."""
    for name, schema in doc.properties.items():
        default = schema.get("default") if isinstance(schema, dict) else None
        if default is None:
            continue
        statement = f".{name}: the default {format_value(default)} is not"
        is_typed = language is Language.PYTHON or not isinstance(default, str)
        enum = schema.get("enum")
        if is_typed and not conforms_to_schema(default, {"type": schema.get("type")}, language):
            yield Flaw(LIKELY, f"{statement} of type {schema.get('type')}")
        elif isinstance(enum, list) and default not in ("", *enum) and not isinstance(default, (list, dict)):
            yield Flaw(LIKELY, f"{statement} in the enum {format_value(enum)}")
        match = _DEFAULT_IN_DESCRIPTION.search(str(schema.get("description", "")))
        text = next((group for group in match.groups() if group is not None), None) if match else None
        if text is not None and not has_same_text(text, default):
            statement = f"the default is {format_value(default)}, its description says {format_value(text)}"
            yield Flaw(LIKELY, f".{name}: {statement}")
        if name in doc.required:
            yield Flaw(HINT, f".{name} is required, but has the default {format_value(default)}")


def has_same_text(text: str, value: object) -> bool:
    """Tell whether a text states a value; numbers count by value, ``[]`` and ``None`` are both nothing."""
    nothing = ("", "none", "null", "[]", "{}")
    value_text, text = str(value).lower(), text.lower()
    if value_text in nothing and text in nothing:
        return True
    try:
        return float(text) == float(value_text)
    except ValueError:
        return standardize(text) == standardize(value_text)


@entry_check("leak")
def find_leaked_values(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find right values that stand in the doc but not in the question, which need no reading of it."""
    question = standardize_turns(entry.turns)
    for parameter in iterate_accepted_values(entry):
        if parameter.is_optional:
            continue
        enum, default = parameter.schema.get("enum"), parameter.schema.get("default")
        if isinstance(enum, list):
            if len(enum) == 1:
                yield Flaw(HINT, f"{parameter.label}: the enum {format_value(enum)} leaves no choice")
        elif isinstance(default, str) and default != "" and default in parameter.values:
            if standardize(default) not in question:
                reason = f"the only value is the default, {format_value(default)}"
                yield Flaw(HINT, f"{parameter.label}: {reason}")
        else:
            description = standardize(str(parameter.schema.get("description", "")))
            for option in parameter.values:
                text = standardize(option) if isinstance(option, str) else ""
                if len(text) > 3 and text in description and text not in question:
                    reason = "occurs in the description, but not in the question"
                    yield Flaw(HINT, f"{parameter.label}: {format_value(option)} {reason}")
                    break
