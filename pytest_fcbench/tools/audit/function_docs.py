"""Whether function docs can be understood: by an interface for tools, by a matcher, by a reader.

Many entries offer the same function, so what is wrong with a doc is told once, at the first entry that offers
it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from pytest_fcbench.domain.conformance import TYPES, WITH_ELEMENTS, conforms
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import FunctionDoc, Language, Schema
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.matchers.text_normalization import standardized
from pytest_fcbench.tools.audit.facts import Facts
from pytest_fcbench.tools.audit.findings import CERTAIN, HINT, LIKELY, Severity, shown
from pytest_fcbench.tools.audit.registry import Problem, check
from pytest_fcbench.tools.audit.truths import Accepted, accepted

_Told: TypeAlias = Iterator[tuple[Severity, str]]
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What interfaces for tools take as a name, dots apart."""


@check("bad_doc", "a function doc is no sound schema")
def bad_docs(facts: Facts) -> Iterator[Problem]:
    """Docs that are no schema, or one that interfaces or matchers trip over."""
    yield from _of_docs(facts, "bad_doc", "correct the function doc", _bad_doc)


def _of_docs(
    facts: Facts, check: str, advice: str, wrong: Callable[[FunctionDoc, Language], _Told]
) -> Iterator[Problem]:
    """What is wrong with each doc that differs from the others."""
    offering: defaultdict[str, list[tuple[Entry, FunctionDoc]]] = defaultdict(list)
    texts: dict[int, str] = {}
    for entry in facts.entries:
        for doc in offered(entry):
            if id(doc) not in texts:
                texts[id(doc)] = written(doc)
            offering[entry.category.language + texts[id(doc)]].append((entry, doc))
    for found in offering.values():
        entry, doc = found[0]
        more = _elsewhere({other.id for other, _ in found})
        for severity, evidence in wrong(doc, entry.category.language):
            yield Problem(entry.id, severity, f"{doc.name}{evidence}{more}", advice)


def _elsewhere(ids: Collection[str]) -> str:
    return f" (offered in {len(ids)} entries)" if len(ids) > 1 else ""


def offered(entry: Entry) -> Sequence[FunctionDoc]:
    """All functions of an entry, late ones too."""
    late = entry.scene.withheld.values() if entry.scene else ()
    return (*entry.functions, *(doc for docs in late for doc in docs))


def written(doc: FunctionDoc, *, named: bool = True) -> str:
    """A doc as text, equal for equal ones; without its name equal for those that differ in nothing else."""
    name = doc.name if named else ""
    return json.dumps([name, doc.description, doc.parameters], sort_keys=True, default=repr)


def _bad_doc(doc: FunctionDoc, language: Language) -> _Told:
    shown_name = Names.UNDERSCORED.shown(doc.name)
    if not _TOOL_NAME.fullmatch(shown_name):
        yield LIKELY, f": most interfaces refuse the name {shown(shown_name)}"
    if doc.parameters.get("type") not in ("dict", "object"):
        yield CERTAIN, f": parameters are of type {shown(doc.parameters.get('type'))}, not dict"
    for name in doc.required:
        if name not in doc.properties:
            yield CERTAIN, f": requires {shown(name)}, which is no parameter"
    if len(set(doc.required)) < len(doc.required):
        yield LIKELY, f": a parameter stands twice in required: {shown(list(doc.required))}"
    for name, schema in doc.properties.items():
        for severity, told in _bad_schema(schema, language):
            yield severity, f".{name}{told}"


def _bad_schema(schema: object, language: Language) -> _Told:
    if not isinstance(schema, Mapping):
        yield CERTAIN, f" is {shown(schema)}, no schema"
        return
    declared, enum = schema.get("type"), schema.get("enum")
    if not isinstance(declared, str) or declared not in TYPES[language]:
        yield LIKELY, f" has the type {shown(declared)}, which {language} entries do not know"
    if enum is not None and (not isinstance(enum, list) or not enum):
        yield CERTAIN, f" has the enum {shown(enum)}, which nothing is in"
    elif isinstance(enum, list) and language is Language.PYTHON and declared not in WITH_ELEMENTS[language]:
        wrong = [member for member in enum if not conforms(member, {"type": declared})]
        if wrong:
            yield LIKELY, f" is of type {declared}, but its enum has {shown(wrong)}"
    items, properties = schema.get("items"), schema.get("properties")
    if declared in WITH_ELEMENTS[language] and not isinstance(items, Mapping):
        yield HINT, f" is of type {declared} and does not say what its elements are"
    if isinstance(items, Mapping):
        for severity, told in _bad_schema(items, language):
            yield severity, f"[]{told}"
    if isinstance(properties, Mapping):
        for name, member in properties.items():
            for severity, told in _bad_schema(member, language):
                yield severity, f".{name}{told}"


_SAID = re.compile(
    r"\bdefault(?:s|ed)?(?: value)?(?: (?:is|are|to|as|of)(?: set to)?|:| =)\s*"
    r"(?:'([^']*)'|\"([^\"]*)\"|`([^`]*)`|(-?\d+(?:\.\d+)?|true|false|none|null)(?=[.,;)](?:\s|$)|\s*$))",
    re.IGNORECASE,
)
"""What a description says of a default: a quoted text, or a value that no unit follows."""


def _defaults(doc: FunctionDoc, language: Language) -> _Told:
    for name, schema in doc.properties.items():
        default = schema.get("default") if isinstance(schema, dict) else None
        if default is None:
            continue
        typed = language is Language.PYTHON or not isinstance(default, str)
        enum = schema.get("enum")
        if typed and not conforms(default, {"type": schema.get("type")}, language):
            yield LIKELY, f".{name}: the default {shown(default)} is not of type {schema.get('type')}"
        elif isinstance(enum, list) and default not in ("", *enum) and not isinstance(default, (list, dict)):
            yield LIKELY, f".{name}: the default {shown(default)} is not in the enum {shown(enum)}"
        said = _SAID.search(str(schema.get("description", "")))
        text = next((group for group in said.groups() if group is not None), None) if said else None
        if text is not None and not same_text(text, default):
            yield LIKELY, f".{name}: the default is {shown(default)}, its description says {shown(text)}"
        if name in doc.required:
            yield HINT, f".{name} is required, but has the default {shown(default)}"


def same_text(text: str, value: object) -> bool:
    """Whether a text says a value: numbers by value, ``[]`` and ``None`` are nothing."""
    written, text = str(value).lower(), text.lower()
    if written in _NOTHING and text in _NOTHING:
        return True
    try:
        return float(text) == float(written)
    except ValueError:
        return standardized(text) == standardized(written)


_NOTHING = ("", "none", "null", "[]", "{}")


@check("same_name", "functions of an entry cannot be told apart")
def same_names(facts: Facts) -> Iterator[Problem]:
    """Functions of an entry that a model sees under one name, and functions that differ only in name."""
    twins: defaultdict[str, list[str]] = defaultdict(list)
    for entry in facts.entries:
        by_name: defaultdict[str, list[str]] = defaultdict(list)
        by_text: defaultdict[str, list[str]] = defaultdict(list)
        for doc in offered(entry):
            by_name[Names.UNDERSCORED.shown(doc.name)].append(doc.name)
            by_text[written(doc, named=False)].append(doc.name)
        for shown_name, names in by_name.items():
            if len(names) > 1:
                evidence = f"{shown(names)} are all shown as {shown(shown_name)}"
                yield Problem(entry.id, CERTAIN, evidence, "rename or drop all but one")
        for names in by_text.values():
            if len(set(names)) > 1:
                twins[f"{shown(names)} differ in nothing but the name"].append(entry.id)
    for evidence, ids in twins.items():
        advice = "drop all but one, or tell them apart"
        yield Problem(ids[0], LIKELY, f"{evidence}{_elsewhere(ids)}", advice)


@check("default", "a default contradicts its doc")
def defaults(facts: Facts) -> Iterator[Problem]:
    """Defaults that contradict the type, the enum or what the description says."""
    yield from _of_docs(facts, "default", "let the doc name one default", _defaults)


@check("leak", "the doc gives the answer away", weak=True)
def leaks(facts: Facts) -> Iterator[Problem]:
    """Right values that stand in the doc and not in the question: they can be copied without reading it."""
    for entry in facts.entries:
        asked = standardized(" ".join(message.content for turn in entry.turns for message in turn))
        for item in accepted(entry):
            if why := _leak(item, asked):
                evidence = f"{item.at}: {why}"
                advice = "take another example, or ask for another value"
                yield Problem(entry.id, HINT, evidence, advice)


def _leak(item: Accepted, asked: str) -> str | None:
    schema: Schema = item.schema
    enum = schema.get("enum")
    if isinstance(enum, list) and len(enum) == 1 and not item.omissible:
        return f"the enum {shown(enum)} leaves no choice"
    if item.omissible or isinstance(enum, list) or not item.given:
        return None
    default = schema.get("default")
    if default not in (None, "") and default in item.given and isinstance(default, str):
        return None if standardized(default) in asked else f"the only value is the default, {shown(default)}"
    described = standardized(str(schema.get("description", "")))
    for option in item.given:
        text = standardized(option) if isinstance(option, str) else ""
        if len(text) > 3 and text in described and text not in asked:
            return f"{shown(option)} stands in the description, not in the question"
    return None
