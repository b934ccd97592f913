"""Dialogues of models that get their prompt as one text (``/v1/completions``).

Official: ``local_inference/base_oss_handler.py`` and the classes on it. They all go through the prompting
loop, whether their prompt offers functions as tools or in the system text.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias

from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.decoders.syntax import decode_leniently
from pytest_fcbench.codecs.dialogues.api_dialogue import join_user_messages
from pytest_fcbench.codecs.dialogues.dialogue import TEMPERATURE, Opening, PlainLog
from pytest_fcbench.codecs.dialogues.tools import convert_doc, write_declaration_text, write_result_text
from pytest_fcbench.codecs.presenting import WireDoc, Wording, build_result_messages
from pytest_fcbench.domain.entry import Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import Api, Mode, WireRequest
from pytest_fcbench.domain.text import as_list, as_mapping
from pytest_fcbench.domain.transcript import AskModel, Completion, to_wire_message

OURS = "pytest_fcbench.codecs.dialogues"


@cache
def _make_environment(package: str) -> Environment:
    """Make the environment of the folder ``templates`` of a package.

    Beside Jinja's own filters there are ``json`` (``json.dumps`` with its options) and ``repr``, which write
    as Python does.
    """
    # Most models are asked through a chat interface and need none.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(package),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        # The text goes to a model, where an escaped sign would be another one.
        autoescape=False,  # noqa: S701
    )
    environment.filters["json"] = json.dumps
    environment.filters["repr"] = repr
    return environment


MOST_ANSWER_TOKENS = 4096
"""The official limit of an answer to a written prompt."""

ChatMessage: TypeAlias = Mapping[str, object]
"""A message with its role and content, as a template reads it."""


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer in parts."""

    text: str
    """What is judged and carried out."""
    message: ChatMessage
    """What later prompts repeat."""
    reasoning: str | None = None


def read_text(text: str) -> ReadAnswer:
    """Read an answer of which all is judged and repeated."""
    return ReadAnswer(text, {"role": "assistant", "content": text})


def write_tool_messages(answer: ReadAnswer, calls: Sequence[str], texts: Sequence[str]) -> list[ChatMessage]:
    """Write each result as a message of a tool, which is named by the whole call (official)."""
    return [{"role": "tool", "name": call, "content": text} for call, text in zip(calls, texts, strict=True)]


@dataclass(frozen=True, slots=True)
class DocNotation:
    """What a request shows docs in."""

    texts: Sequence[str]
    """The official sentences of the family."""
    requests: int
    """The number of the request; 1 throughout where known faults are left out."""


@dataclass(frozen=True, slots=True)
class WrittenPrompt:
    """How a family's prompt is written."""

    template: str | None
    """The file of ``templates`` that writes it; None where the model's own template does, at its server."""
    is_prompted: bool = False
    """True where BFCL's system prompt with the function docs opens the conversation."""
    convert_docs: Callable[[Sequence[WireDoc], Wording], Sequence[WireDoc]] = lambda docs, _: docs
    """Makes the docs that the template shows."""
    prepare_turn: Callable[[Sequence[ChatMessage]], Sequence[ChatMessage]] = lambda messages: messages
    """Changes the messages of each turn of the question."""
    read_answer: Callable[[str], ReadAnswer] = read_text
    write_results: Callable[[ReadAnswer, Sequence[str], Sequence[str]], list[ChatMessage]] = (
        write_tool_messages
    )
    repair_answer: Callable[[ReadAnswer], ReadAnswer] = lambda answer: answer
    """Changes a read answer where known faults are left out."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """What the body has beside model, prompt, temperature and limit."""
    show_docs: Callable[[Sequence[Mapping[str, object]], DocNotation], object] = lambda docs, _: docs
    """Makes what the template shows of the docs in one request."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """Marks of a family that shares its template with others."""
    package: str = OURS
    """The package whose folder ``templates`` holds the template."""


class WrittenDialogue:
    """A conversation whose every request is one text, written anew."""

    def __init__(self, opening: Opening, prompt: WrittenPrompt) -> None:
        entry, wording, prompting = opening.entry, opening.wording, opening.prompting
        self._opening, self._prompt = opening, prompt
        docs = [
            presenting.build_wire_doc(doc, wording, entry.category.language, prompting.names)
            for doc in entry.functions
        ]
        self._functions = prompt.convert_docs(docs, wording)
        prompting = replace(prompting, mode=Mode.PROMPT if prompt.is_prompted else Mode.FC)
        first = presenting.build_first_request(entry, wording, prompting, opening.preamble)
        self._messages: list[ChatMessage] = list(prompt.prepare_turn(first.messages))
        self._log = PlainLog(first.messages)
        self._answer: ReadAnswer | None = None
        self._requests = 0

    def add_user_turn(self, said: Sequence[Message]) -> None:
        """Add the messages of a later turn."""
        messages = [*map(to_wire_message, said)]
        self._log.messages += messages
        self._messages += self._prompt.prepare_turn(messages)

    def add_functions(self, late: Sequence[FunctionDoc]) -> None:
        """Offer more functions as text of the user (official, also where the prompt has tools)."""
        text_prompting = replace(self._opening.prompting, mode=Mode.PROMPT)
        request = presenting.build_late_functions_request(late, self._opening.wording, text_prompting)
        self._log.messages += request.messages
        self._messages += self._prompt.prepare_turn(request.messages)

    def build_request(self, turn: int, step: int) -> AskModel:
        """Write the prompt of all that was said."""
        self._requests += 1
        self._log.place = turn, step
        member = self._opening.member
        # Official: two families change what they show at each request, and so add to it again.
        notation = DocNotation(self._opening.texts, 1 if member.repaired else self._requests)
        values = {
            "messages": self._messages,
            "functions": self._prompt.show_docs(self._functions, notation),
            "texts": notation.texts,
            "model": member.model,
            "requests": notation.requests,
            "is_repaired": member.repaired,
            **self._prompt.marks,
        }
        common = {"model": member.name, "temperature": TEMPERATURE, **self._prompt.parameters}
        if self._prompt.template is None:
            # The model's own template shows the docs: vLLM and SGLang pass them on to it beside the messages;
            # as ``tools`` they would be checked and changed.
            shown_docs = {"chat_template_kwargs": {"tools": list(self._functions)}}
            chat_body = {"messages": list(self._messages), "max_tokens": MOST_ANSWER_TOKENS, **shown_docs}
            wire = WireRequest(Api.CHAT, {**common, **chat_body})
        else:
            template = _make_environment(self._prompt.package).get_template(f"{self._prompt.template}.jinja")
            wire = WireRequest(Api.COMPLETIONS, {**common, "prompt": template.render(values)})
        return AskModel(tuple(self._log.messages), turn=turn, step=step, wire=wire)

    def add_answer(self, completion: Completion) -> Completion:
        """Add an answer; its reasoning is not judged where the family cuts it off."""
        answer = self._prompt.read_answer(completion.text or "")
        self._answer = self._prompt.repair_answer(answer) if self._opening.member.repaired else answer
        self._messages.append(self._answer.message)
        reasoning = completion.reasoning or self._answer.reasoning
        judged_answer = replace(completion, text=self._answer.text, reasoning=reasoning)
        self._log.add_answer(judged_answer, ())
        return judged_answer

    def add_results(self, calls: Sequence[str], texts: Sequence[str]) -> None:
        """Add the results of calls."""
        assert self._answer, "results follow an answer"
        self._log.add_results(calls, texts)
        self._messages += self._prompt.write_results(self._answer, calls, texts)


if TYPE_CHECKING:
    from jinja2 import Environment

# The messages of a turn


def make_system_user(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """Make system messages the user's."""
    return [{**each, "role": "user"} if each["role"] == "system" else each for each in messages]


def join_all_as_user(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """Make system messages the user's, and join consecutive messages of the user."""
    return join_user_messages(make_system_user(messages))


def name_model_turns(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """Join consecutive messages of the user, and call answers in the question the model's.

    Official: answers of the conversation itself stay those of an assistant.
    """
    joined_messages = join_user_messages(messages)
    return [{**each, "role": "model"} if each["role"] == "assistant" else each for each in joined_messages]


# Answers

_TAGGED_CALL = re.compile(r"<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)


def _find_tagged_calls(
    text: str, *, writes_ascii: bool = True, quotes_texts: bool = False
) -> list[ChatMessage]:
    """Find the calls between tags, each with its name and its arguments as text."""
    calls: list[ChatMessage] = []
    for call_text in _TAGGED_CALL.findall(text):
        call = decode_leniently(call_text, None)
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
    calls = decode_leniently(text, None)
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
    return [
        {"role": "tool", "content": text, "call_id": call_id}
        for call_id, text in zip(as_list(answer.message.get("ids")), texts, strict=False)
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


def convert_docs(docs: Sequence[WireDoc], wording: Wording) -> list[WireDoc]:
    """Convert docs with the types of JSON Schema, under names without dots."""
    return [convert_doc(doc, wording) for doc in docs]


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
