"""Write calls the way a model would, for models that compute calls instead of text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from xml.sax.saxutils import escape, quoteattr

from pytest_fcbench.codecs.decoders.syntax import CLOSING, OPENING
from pytest_fcbench.codecs.presenting import find_shown_name
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import Language, Schema
from pytest_fcbench.domain.prompting import AnswerNotation, Mode, PromptFormat, Prompting
from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.domain.transcript import Call, Completion, ToolCall


def render_completion(
    calls: Sequence[Call], entry: Entry, prompting: Prompting, tools: Sequence[Mapping[str, object]] = ()
) -> Completion:
    """Write an answer that makes these calls to a request with these tools.

    Argument values are Python values, whatever the language.
    """
    is_python = entry.category.language is Language.PYTHON
    if prompting.mode is Mode.FC:
        tool_calls = []
        for index, call in enumerate(calls):
            arguments = call.arguments if is_python else _write_sources(call, entry, quoted=False)
            text = json.dumps(arguments, ensure_ascii=False, default=list)
            name = find_shown_name(call.name, entry, prompting, tools)
            tool_calls.append(ToolCall(name, text, f"call_{index}"))
        return Completion(tool_calls=tuple(tool_calls))
    if entry.variation:
        shown_calls = [replace(call, name=find_shown_name(call.name, entry, prompting)) for call in calls]
        return Completion(text=render_in_format(shown_calls, entry.variation.format))
    texts = []
    for call in calls:
        if is_python:
            arguments_text = _write_arguments(call)
        else:
            sources = _write_sources(call, entry, quoted=True)
            arguments_text = ", ".join(f"{name}={source}" for name, source in sources.items())
        # A bare Java call is a statement and needs its end; a method of a class does not.
        end = ";" if entry.category.language is Language.JAVA and "." not in call.name else ""
        texts.append(f"{find_shown_name(call.name, entry, prompting)}({arguments_text}){end}")
    return Completion(text=f"[{', '.join(texts)}]")


def render_in_format(calls: Sequence[Call], prompt_format: PromptFormat) -> str:
    """Write calls with named arguments in the return format of a prompt format.

    The closing tag is escaped inside the calls, so that readers find its real place.
    """
    match prompt_format.returned:
        case AnswerNotation.PYTHON:
            text = f"[{', '.join(f'{call.name}({_write_arguments(call)})' for call in calls)}]"
            text = text.replace(CLOSING, CLOSING.replace("<", r"\x3c"))
        case AnswerNotation.JSON:
            objects = [{"function": call.name, "parameters": call.arguments} for call in calls]
            text = json.dumps(objects, ensure_ascii=False).replace("</", r"<\/")
        case AnswerNotation.VERBOSE_XML:
            text = _write_xml(calls, verbose=True)
        case AnswerNotation.CONCISE_XML:
            text = _write_xml(calls, verbose=False)
    return f"{OPENING}{text}{CLOSING}" if prompt_format.tagged else text


def _write_arguments(call: Call) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())


def _write_xml(calls: Sequence[Call], *, verbose: bool) -> str:
    functions = []
    for call in calls:
        parameters = ""
        for name, value in call.arguments.items():
            # Readers strip text between tags, but not attributes.
            kind, text = _type_value(value, stripped=not verbose)
            if verbose:
                parameters += f'<param name={quoteattr(name)} value={quoteattr(text)} type="{kind}"/>'
            else:
                parameters += f'<param name={quoteattr(name)} type="{kind}">{escape(text, _RETURN)}</param>'
        inside = f"<params>{parameters}</params>" if verbose else parameters
        functions.append(f"<function name={quoteattr(call.name)}>{inside}</function>")
    return f"<functions>{''.join(functions)}</functions>"


_RETURN = {"\r": "&#13;"}
"""XML readers convert a bare carriage return to a line feed."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML has no form for."""


def _type_value(value: object, *, stripped: bool) -> tuple[str, str]:
    """Return a value's type attribute and its text, as a literal where the text alone would lose it."""
    if isinstance(value, str) and (_NOT_XML.search(value) or (stripped and value != value.strip())):
        return "dict", repr(value)
    if isinstance(value, str):
        return "string", value
    if isinstance(value, bool):
        return "boolean", str(value).lower()
    words = {int: "integer", float: "float", list: "array", tuple: "tuple", type(None): "null"}
    return words.get(type(value), "dict"), repr(value)


def _write_sources(call: Call, entry: Entry, *, quoted: bool) -> dict[str, str]:
    """Write arguments as source text; with ``quoted`` texts get quotes, as parts of code."""
    doc = entry.find_function(call.name)
    properties = doc.properties if doc else {}
    write = _write_java if entry.category.language is Language.JAVA else _write_javascript
    sources = {}
    for name, value in call.arguments.items():
        schema = properties.get(name, {})
        if not isinstance(value, str):
            sources[name] = write(value, schema, quoted=quoted)
        # A text is the name of a variable where another type is declared.
        elif schema.get("type") != "String" and re.fullmatch(r"[A-Za-z_$][\w.]*|new .*", value):
            sources[name] = value
        else:
            sources[name] = json.dumps(value, ensure_ascii=False) if quoted else value
    return sources


_JAVA_SUFFIX = {"long": "L", "float": "f"}
_JAVA_ARRAY = {"integer": "int", "boolean": "boolean", "double": "double", "long": "long", "float": "float"}
_JAVA_BOXED = {name: name.capitalize() for name in ("integer", "boolean", "double", "long")} | {
    "any": "Object"
}


def _write_java(value: object, schema: Schema, *, quoted: bool = False) -> str:
    kind = str(schema.get("type"))
    element = as_mapping(schema.get("items"))
    name = str(element.get("type", "Object"))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        number = float(value) if kind == "double" else value
        return f"{number}{_JAVA_SUFFIX.get(kind, '')}"
    if isinstance(value, (list, tuple)) and kind == "Array":
        # The official patterns keep the quotes of an array's texts, so they are written without.
        inner = ", ".join(item if isinstance(item, str) else _write_java(item, element) for item in value)
        text = f"new {_JAVA_ARRAY.get(name, 'String')}[]{{{inner}}}"
        return f'"""{text}"""' if quoted and name == "String" else text
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_write_java(item, element) for item in value)
        return f"new ArrayList<{_JAVA_BOXED.get(name, 'String')}>(Arrays.asList({inner}))"
    if isinstance(value, Mapping):
        puts = " ".join(
            f"put({json.dumps(key, ensure_ascii=False)}, {_write_java(item, {})});"
            for key, item in value.items()
        )
        text = f"new HashMap<String, Object>() {{{{ {puts} }}}}" if puts else "new HashMap<String, Object>()"
        # The official parser drops the body of a class; inside a text block it survives.
        return f'"""{text}"""' if quoted and puts else text
    return json.dumps(value, ensure_ascii=False)


def _write_javascript(value: object, schema: Schema, *, quoted: bool = False) -> str:
    if schema.get("type") == "Bigint" and isinstance(value, int):
        return f"{value}n"
    if isinstance(value, (list, tuple)):
        element = as_mapping(schema.get("items"))
        return f"[{', '.join(_write_javascript(item, element) for item in value)}]"
    return json.dumps(value, ensure_ascii=False)
