"""How each family with a written prompt is asked: a row for each official class.

Source: the classes of ``bfcl_eval.model_handler.local_inference`` (2026.3.23), driven and recorded.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from pytest_fcbench.codecs.decoders.json_text import from_json
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.dialogues.api_dialogue import join_user_messages
from pytest_fcbench.codecs.dialogues.declarations import write_declaration_text, write_result_text
from pytest_fcbench.codecs.dialogues.tools import write_flat_doc
from pytest_fcbench.codecs.dialogues.written_prompt import (
    ChatMessage,
    DocNotation,
    ReadAnswer,
    WrittenPrompt,
    read_text,
)
from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.codecs.presenting import WireDoc, build_result_messages
from pytest_fcbench.codecs.wording import Wording

# The messages of a turn


def join_users(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """Join consecutive messages of the user."""
    return join_user_messages(messages)


def make_system_user(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """Make system messages the user's."""
    return [{**each, "role": "user"} if each["role"] == "system" else each for each in messages]


def join_all_as_user(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """Make system messages the user's, and join consecutive messages of the user."""
    return join_users(make_system_user(messages))


def name_model_turns(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """Join consecutive messages of the user, and call answers in the question the model's.

    Official: answers of the conversation itself stay those of an assistant.
    """
    return [
        {**each, "role": "model"} if each["role"] == "assistant" else each for each in join_users(messages)
    ]


# Answers

_TAGGED_CALL = re.compile(r"<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)


def _find_tagged_calls(
    text: str, *, writes_ascii: bool = True, quotes_texts: bool = False
) -> list[ChatMessage]:
    """Find the calls between tags, each with its name and its arguments as text."""
    calls: list[ChatMessage] = []
    for call_text in _TAGGED_CALL.findall(text):
        try:
            call = from_json(call_text)
        except Undecodable:
            continue
        if isinstance(call, dict) and {"name", "arguments"} <= call.keys():
            arguments = call["arguments"]
            is_text = isinstance(arguments, str) and not quotes_texts
            arguments_text = arguments if is_text else json.dumps(arguments, ensure_ascii=writes_ascii)
            calls.append({"name": call["name"], "arguments": arguments_text})
    return calls


def split_reasoning(text: str) -> tuple[str, str]:
    """Split a text into its reasoning and what stands behind the last mark of its end."""
    parts = text.split("</think>")
    if len(parts) == 1:
        return "", text
    return parts[0].rstrip("\n").split("<think>")[-1].lstrip("\n"), parts[-1].lstrip("\n")


def read_reasoned_text(text: str) -> ReadAnswer:
    """Read an answer whose reasoning goes back within a turn, and is not judged."""
    reasoning, answer = split_reasoning(text)
    message = {"role": "assistant", "content": answer, "reasoning": reasoning, "calls": []}
    return ReadAnswer(answer, message, reasoning or None)


def read_reasoned_calls(text: str, *, writes_ascii: bool = True) -> ReadAnswer:
    """Read an answer as above with calls between tags, beside which its text does not go back.

    Official: the calls of the reasoning count too in what goes back.
    """
    answer = read_reasoned_text(text)
    calls = _find_tagged_calls(text, writes_ascii=writes_ascii)
    content = "" if calls else answer.text
    return replace(answer, message={**answer.message, "content": content, "calls": calls})


def read_tagged_calls(text: str, *, quotes_texts: bool = False) -> ReadAnswer:
    """Read an answer with calls between tags, beside which its text does not go back."""
    calls = _find_tagged_calls(text, quotes_texts=quotes_texts)
    message = {"role": "assistant", "content": "" if calls else text, "reasoning": "", "calls": calls}
    return ReadAnswer(text, message)


def read_behind_reasoning(text: str) -> ReadAnswer:
    """Read an answer that goes back whole and is judged behind its reasoning, line breaks kept."""
    reasoning, mark, answer = text.rpartition("</think>")
    return ReadAnswer(answer, {"role": "assistant", "content": text}, reasoning if mark else None)


_NO_FUNCTION = re.compile(
    r'<function_call>\s*\{\s*"name"\s*:\s*"\s*no_function\s*".*?(?=<function_call>|\Z)', re.DOTALL
)


def drop_no_function(answer: ReadAnswer) -> ReadAnswer:
    """Judge an answer without what says that no function is called, which is carried out otherwise."""
    return replace(answer, text=_NO_FUNCTION.sub("", answer.text))


def read_numbered_calls(text: str) -> ReadAnswer:
    """Read an answer whose calls get ids; officially nine random letters and digits."""
    try:
        calls = from_json(text)
    except Undecodable:
        return read_text(text)
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        return read_text(text)
    # By a hash, so that the same call always gets the same id.
    ids = [
        hashlib.sha256(f"{number} {text}".encode("utf-8", "surrogatepass")).hexdigest()[:9]
        for number in range(len(calls))
    ]
    numbered_calls = [{**call, "id": call_id} for call, call_id in zip(calls, ids, strict=True)]
    content = f"[TOOL_CALLS]{json.dumps(numbered_calls)}"
    return ReadAnswer(text, {"role": "assistant", "content": content, "ids": ids})


# Results


def write_ipython_messages(
    answer: ReadAnswer, calls: Sequence[str], texts: Sequence[str]
) -> list[ChatMessage]:
    """Write a message of the role that Llama knows for what an environment prints, for each result."""
    return [{"role": "ipython", "content": text} for text in texts]


def write_listed_results(answer: ReadAnswer, calls: Sequence[str], texts: Sequence[str]) -> list[ChatMessage]:
    """Write all results as one message of the user."""
    return build_result_messages((), calls, texts, 0, 0)


def write_numbered_results(
    answer: ReadAnswer, calls: Sequence[str], texts: Sequence[str]
) -> list[ChatMessage]:
    """Write a message for each result with the id of its call."""
    ids = answer.message.get("ids")
    return [
        {"role": "tool", "content": text, "call_id": call_id}
        for call_id, text in zip(ids if isinstance(ids, list) else (), texts, strict=False)
    ]


def write_declared_results(
    answer: ReadAnswer, calls: Sequence[str], texts: Sequence[str]
) -> list[ChatMessage]:
    """Write a message for each result, named by the whole call (official)."""
    return [
        {"role": "tool", "name": call, "content": text, "written": write_result_text(text)}
        for call, text in zip(calls, texts, strict=True)
    ]


# Docs


def convert_docs(docs: Sequence[WireDoc], wording: Wording) -> list[Mapping[str, object]]:
    """Convert docs with the types of JSON Schema, under names without dots."""
    return [write_flat_doc(doc, wording) for doc in docs]


def show_properties(docs: Sequence[Mapping[str, object]], notation: DocNotation) -> object:
    """Show docs with the properties of their parameters alone."""
    return [
        {
            "name": doc["name"],
            "description": doc["description"],
            "parameters": dict(as_mapping(as_mapping(doc["parameters"]).get("properties"))),
        }
        for doc in docs
    ]


def show_declarations(docs: Sequence[Mapping[str, object]], notation: DocNotation) -> object:
    """Show docs as declarations of FunctionGemma."""
    return [*map(write_declaration_text, docs)]


_DEFAULT = 2
"""The place of the words before a default among Hammer's texts."""


def show_hammer_docs(docs: Sequence[Mapping[str, object]], notation: DocNotation) -> object:
    """Show docs with their properties, in which ``required`` is a flag.

    Official: each request adds the default to the description again.
    """
    hammer_docs = []
    for doc in docs:
        parameters = as_mapping(doc["parameters"])
        inner: dict[str, Mapping[str, object]] = {}
        for name, schema in as_mapping(parameters.get("properties")).items():
            inner[name] = as_mapping(schema)
            if isinstance(members := inner[name].get("properties"), Mapping):
                inner[name] = _flag_required(members, inner[name].get("required"))
        properties = _flag_required(inner, parameters.get("required"))
        for property_schema in properties.values():
            if "default" in property_schema:
                default_text = f"{notation.texts[_DEFAULT]}{property_schema['default']}'" * notation.requests
                property_schema["description"] = f"{property_schema.get('description', '')}{default_text}"
        hammer_docs.append({"name": doc["name"], "description": doc["description"], "parameters": properties})
    return hammer_docs


def _flag_required(properties: Mapping[str, object], required_names: object) -> dict[str, dict[str, object]]:
    names = required_names if isinstance(required_names, list) else []
    return {
        name: {**as_mapping(schema), "required": True} if name in names else dict(as_mapping(schema))
        for name, schema in properties.items()
    }


_LLAMA_MARKS = {
    "beginning": "<|begin_of_text|>",
    "before_role": "<|start_header_id|>",
    "after_role": "<|end_header_id|>\n\n",
    "end": "<|eot_id|>",
    "result_role": "ipython",
}
_QWEN_MARKS = {
    "beginning": "",
    "before_role": "<|im_start|>",
    "after_role": "\n",
    # Official: without the line break that ends a turn of Qwen.
    "end": "<|im_end|>",
    "result_role": "tool",
}

WRITTEN_FAMILIES: Mapping[str, WrittenPrompt] = {
    "ArchHandler": WrittenPrompt("arch", read_answer=partial(read_tagged_calls, quotes_texts=True)),
    "BielikHandler": WrittenPrompt("chatml", is_prompted=True, marks={"beginning": "<s>", "middle": "\n"}),
    "BitAgentHandler": WrittenPrompt("xlam", marks=_LLAMA_MARKS),
    "DeepseekReasoningHandler": WrittenPrompt(
        "deepseek_r1",
        is_prompted=True,
        prepare_turn=join_all_as_user,
        read_answer=read_behind_reasoning,
        write_results=write_listed_results,
    ),
    "Falcon3FCHandler": WrittenPrompt(None),
    "FunctionGemmaHandler": WrittenPrompt(
        "functiongemma", write_results=write_declared_results, show_docs=show_declarations
    ),
    "GLMHandler": WrittenPrompt(
        "glm_4", convert_docs=convert_docs, parameters={"stop_token_ids": [151329, 151336, 151338]}
    ),
    "GemmaHandler": WrittenPrompt("gemma", is_prompted=True, prepare_turn=name_model_turns),
    "Granite3FCHandler": WrittenPrompt("granite_3"),
    "Granite4FCHandler": WrittenPrompt("granite_4", read_answer=read_tagged_calls),
    "GraniteFunctionCallingHandler": WrittenPrompt(
        "granite_20b", convert_docs=convert_docs, repair_answer=drop_no_function
    ),
    "HammerHandler": WrittenPrompt("hammer", prepare_turn=make_system_user, show_docs=show_hammer_docs),
    "LlamaHandler": WrittenPrompt("llama", is_prompted=True, write_results=write_ipython_messages),
    "LlamaHandler_3_1": WrittenPrompt("llama_3_1"),
    "MiniCPMHandler": WrittenPrompt("chatml", is_prompted=True, marks={"beginning": "", "middle": "\n"}),
    "MistralFCHandler": WrittenPrompt(
        "ministral", read_answer=read_numbered_calls, write_results=write_numbered_results
    ),
    "NanbeigeFCHandler": WrittenPrompt("nanbeige_fc", read_answer=read_reasoned_calls),
    "PelicanVLFCHandler": WrittenPrompt(
        "pelican", read_answer=partial(read_reasoned_calls, writes_ascii=False)
    ),
    "PhiFCHandler": WrittenPrompt("phi_fc"),
    "PhiHandler": WrittenPrompt("phi_4", is_prompted=True),
    "QwenFCHandler": WrittenPrompt("qwen_fc", read_answer=read_reasoned_calls),
    "QwenHandler": WrittenPrompt("qwen", is_prompted=True, read_answer=read_reasoned_text),
    "SalesforceLlamaHandler": WrittenPrompt("xlam", marks=_LLAMA_MARKS),
    "SalesforceQwenHandler": WrittenPrompt("xlam", marks=_QWEN_MARKS),
    "ThinkAgentHandler": WrittenPrompt("think_agent", show_docs=show_properties),
}
"""Families by the official class."""
