"""Writing calls the way a model would: for models that compute calls instead of text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from xml.sax.saxutils import escape, quoteattr

from pytest_fcbench.codecs.decoders.wrapping import CLOSING, OPENING
from pytest_fcbench.codecs.presenting import shown
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import Language, Schema
from pytest_fcbench.domain.prompt_format import PromptFormat, Returned
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.transcript import Call, Completion, ToolCall


def render(calls: Sequence[Call], entry: Entry, prompting: Prompting) -> Completion:
    """An answer that makes these calls. Argument values are Python values, whatever the language."""
    language = entry.category.language
    if prompting.mode is Mode.FC:
        tool_calls = []
        for index, call in enumerate(calls):
            arguments = (
                _sources(call, entry, quoted=False) if language is not Language.PYTHON else call.arguments
            )
            text = json.dumps(arguments, ensure_ascii=False, default=list)
            tool_calls.append(ToolCall(shown(call.name, entry, prompting), text, f"call_{index}"))
        return Completion(tool_calls=tuple(tool_calls))
    if entry.variation:
        named = [replace(call, name=shown(call.name, entry, prompting)) for call in calls]
        return Completion(text=in_format(named, entry.variation.format))
    return Completion(text=f"[{', '.join(_call_text(call, entry, prompting) for call in calls)}]")


def in_format(calls: Sequence[Call], chosen: PromptFormat) -> str:
    """Calls with named arguments in the return format of a prompt format.

    No end of a tag stands in it but the tag's own, so that what is read is what was written.
    """
    text = _RETURNED[chosen.returned](calls)
    return f"{OPENING}{text}{CLOSING}" if chosen.tagged else text


def _as_python(calls: Sequence[Call]) -> str:
    written = ", ".join(f"{call.name}({_arguments(call)})" for call in calls)
    return f"[{written}]".replace(CLOSING, CLOSING.replace("<", r"\x3c"))


def _arguments(call: Call) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())


def _as_json(calls: Sequence[Call]) -> str:
    objects = [{"function": call.name, "parameters": call.arguments} for call in calls]
    return json.dumps(objects, ensure_ascii=False).replace("</", r"<\/")


def _as_verbose_xml(calls: Sequence[Call]) -> str:
    def parameter(name: str, value: object) -> str:
        kind, text = _typed(value, stripped=False)
        return f'<param name={quoteattr(name)} value={quoteattr(text)} type="{kind}"/>'

    return _as_xml(calls, parameter, "<params>{}</params>")


def _as_concise_xml(calls: Sequence[Call]) -> str:
    def parameter(name: str, value: object) -> str:
        kind, text = _typed(value, stripped=True)
        return f'<param name={quoteattr(name)} type="{kind}">{escape(text, _RETURN)}</param>'

    return _as_xml(calls, parameter, "{}")


def _as_xml(calls: Sequence[Call], parameter: Callable[[str, object], str], around: str) -> str:
    functions = [
        f"<function name={quoteattr(call.name)}>"
        f"{around.replace('{}', ''.join(parameter(*each) for each in call.arguments.items()))}</function>"
        for call in calls
    ]
    return f"<functions>{''.join(functions)}</functions>"


_RETURN = {"\r": "&#13;"}
"""Readers of XML take a bare one for a line end."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML has no form for."""


def _typed(value: object, *, stripped: bool) -> tuple[str, str]:
    """A value's type attribute and its text; a literal stands for a text that would not come through."""
    if isinstance(value, str) and (_NOT_XML.search(value) or (stripped and value != value.strip())):
        return "dict", repr(value)
    if isinstance(value, str):
        return "string", value
    if isinstance(value, bool):
        return "boolean", str(value).lower()
    words = {int: "integer", float: "float", list: "array", tuple: "tuple", type(None): "null"}
    return words.get(type(value), "dict"), repr(value)


_RETURNED: Mapping[Returned, Callable[[Sequence[Call]], str]] = {
    Returned.PYTHON: _as_python,
    Returned.JSON: _as_json,
    Returned.VERBOSE_XML: _as_verbose_xml,
    Returned.CONCISE_XML: _as_concise_xml,
}


def _call_text(call: Call, entry: Entry, prompting: Prompting) -> str:
    if entry.category.language is Language.PYTHON:
        arguments = _arguments(call)
    else:
        arguments = ", ".join(f"{n}={text}" for n, text in _sources(call, entry, quoted=True).items())
    # A bare Java call is a statement and needs its end; a method of a class does not.
    end = ";" if entry.category.language is Language.JAVA and "." not in call.name else ""
    return f"{shown(call.name, entry, prompting)}({arguments}){end}"


def _sources(call: Call, entry: Entry, *, quoted: bool) -> dict[str, str]:
    """Arguments as source text; ``quoted`` says that texts stand among code and need quotes."""
    doc = entry.function(call.name)
    properties = doc.properties if doc else {}
    write = _java if entry.category.language is Language.JAVA else _javascript
    sources = {}
    for name, value in call.arguments.items():
        schema = properties.get(name, {})
        text = _top_level(value, schema, quoted=quoted)
        sources[name] = write(value, schema, quoted=quoted) if text is None else text
    return sources


def _top_level(value: object, schema: Schema, *, quoted: bool) -> str | None:
    """A text: the name of a variable where another type is declared, else the text itself."""
    if not isinstance(value, str):
        return None
    expression = schema.get("type") != "String" and re.fullmatch(r"[A-Za-z_$][\w.]*|new .*", value)
    return value if expression or not quoted else json.dumps(value, ensure_ascii=False)


_JAVA_SUFFIX = {"long": "L", "float": "f"}
_JAVA_ARRAY = {"integer": "int", "boolean": "boolean", "double": "double", "long": "long", "float": "float"}
_JAVA_BOXED = {
    "integer": "Integer",
    "boolean": "Boolean",
    "double": "Double",
    "long": "Long",
    "any": "Object",
}


def _java(value: object, schema: Schema, *, quoted: bool = False) -> str:
    kind = str(schema.get("type"))
    items = schema.get("items")
    element: Schema = items if isinstance(items, Mapping) else {}
    name = str(element.get("type", "Object"))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        number = float(value) if kind == "double" else value
        return f"{number}{_JAVA_SUFFIX.get(kind, '')}"
    if isinstance(value, (list, tuple)) and kind == "Array":
        # The official patterns keep the quotes of an array's texts, so they are written without.
        inner = ", ".join(item if isinstance(item, str) else _java(item, element) for item in value)
        text = f"new {_JAVA_ARRAY.get(name, 'String')}[]{{{inner}}}"
        return f'"""{text}"""' if quoted and name == "String" else text
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_java(item, element) for item in value)
        return f"new ArrayList<{_JAVA_BOXED.get(name, 'String')}>(Arrays.asList({inner}))"
    if isinstance(value, Mapping):
        puts = " ".join(
            f"put({json.dumps(key, ensure_ascii=False)}, {_java(item, {})});" for key, item in value.items()
        )
        text = f"new HashMap<String, Object>() {{{{ {puts} }}}}" if puts else "new HashMap<String, Object>()"
        # The official parser drops the body of a class; inside a text block it survives.
        return f'"""{text}"""' if quoted and puts else text
    return json.dumps(value, ensure_ascii=False)


def _javascript(value: object, schema: Schema, *, quoted: bool = False) -> str:
    if schema.get("type") == "Bigint" and isinstance(value, int):
        return f"{value}n"
    if isinstance(value, (list, tuple)):
        items = schema.get("items")
        return (
            f"[{', '.join(_javascript(item, items if isinstance(items, Mapping) else {}) for item in value)}]"
        )
    return json.dumps(value, ensure_ascii=False)
