"""Ask for calls in the native syntax of a model, with everything about functions in the texts of a request.

No tools are sent and no results in a field of their own, so that no parser of a server reads the answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_fcbench.codecs.decoders import native_syntaxes
from pytest_fcbench.codecs.decoders.native_syntaxes import NativeSyntax
from pytest_fcbench.codecs.decoders.syntax import decode_leniently
from pytest_fcbench.domain.function_doc import Schema
from pytest_fcbench.domain.text import as_mapping, list_objects
from pytest_fcbench.domain.transcript import AskModel, Call

_EXAMPLES = (Call("first_function", {"text": "a", "number": 1}), Call("second_function", {"text": "b"}))
_IN_WORDS = "Where no function helps, or the results are there, answer in words."


def write_native_prompt(request: AskModel, syntax: NativeSyntax) -> AskModel:
    """Move the tools, the calls and the results of a request into its texts."""
    schemas = native_syntaxes.list_schemas(request.tools)
    messages: list[dict[str, object]] = []
    for message in request.messages:
        role, content = str(message.get("role")), message.get("content")
        if role == "tool":
            result = f"<tool_response>\n{content}\n</tool_response>"
            # Many chat templates refuse two messages of the user in a row.
            if messages and messages[-1]["role"] == "user":
                messages[-1]["content"] = f"{messages[-1]['content']}\n{result}"
            else:
                messages.append({"role": "user", "content": result})
            continue
        past_calls = [*map(read_past_call, list_objects(message.get("tool_calls")))]
        calls_text = write_native_text(past_calls, syntax, schemas)
        text = "\n".join(filter(None, (content if isinstance(content, str) else "", calls_text)))
        messages.append({"role": role, "content": text if calls_text else content})
    if request.tools:
        functions = "\n".join(
            json.dumps(as_mapping(tool.get("function")), ensure_ascii=False) for tool in request.tools
        )
        prompt = f"You can call these functions:\n{functions}\n\n{describe_calls(syntax)}"
        if messages and messages[0]["role"] in ("system", "developer"):
            messages[0]["content"] = f"{messages[0]['content']}\n\n{prompt}"
        else:
            messages.insert(0, {"role": "system", "content": prompt})
    return replace(request, messages=tuple(messages), tools=(), wire=None)


def read_past_call(call: Mapping[str, object]) -> Call:
    """Read a call of an earlier message."""
    function = as_mapping(call.get("function"))
    arguments = function.get("arguments")
    return Call(str(function.get("name")), as_mapping(decode_leniently(arguments, arguments)))


def write_native_text(calls: Sequence[Call], syntax: NativeSyntax, schemas: Mapping[str, Schema]) -> str:
    """Write calls as the model would; as JSON where the syntax has no form for them."""
    try:
        return syntax.write_calls(calls, schemas) if calls else ""
    except native_syntaxes.Unwritable:
        return json.dumps([{"name": call.name, "arguments": call.arguments} for call in calls])


def find_prompted_syntax(messages: Sequence[object]) -> NativeSyntax | None:
    """Find the syntax in which a request asks for calls by its texts; None where it does not."""
    text = str(as_mapping(messages[0]).get("content")) if messages else ""
    if not text.endswith(_IN_WORDS):
        return None
    syntaxes = native_syntaxes.NATIVE_SYNTAXES.values()
    return next((each for each in syntaxes if text.endswith(describe_calls(each))), None)


def describe_calls(syntax: NativeSyntax) -> str:
    """Describe by an example how calls are written."""
    examples = _EXAMPLES if syntax.most is None else _EXAMPLES[: syntax.most]
    return (
        "To call functions, answer with the calls alone. Write them like these, whose functions are made up:"
        f"\n{syntax.write_calls(examples)}\n\n{_IN_WORDS}"
    )
