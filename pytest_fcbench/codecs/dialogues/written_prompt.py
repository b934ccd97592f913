"""Dialogues of models that get their prompt as one text (``/v1/completions``).

Official: ``local_inference/base_oss_handler.py`` and the classes on it. They all go through the prompting
loop, whether their prompt offers functions as tools or in the system text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.dialogues.dialogue import TEMPERATURE, Opening
from pytest_fcbench.codecs.dialogues.plain_log import PlainLog
from pytest_fcbench.codecs.dialogues.templates import OURS, render_prompt
from pytest_fcbench.codecs.presenting import WireDoc
from pytest_fcbench.codecs.wording import Wording
from pytest_fcbench.domain.entry import Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import Api, Mode, WireRequest
from pytest_fcbench.domain.transcript import AskModel, Completion, to_wire_message

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


def keep_answer(answer: ReadAnswer) -> ReadAnswer:
    """Leave a read answer as it is."""
    return answer


def write_tool_messages(answer: ReadAnswer, calls: Sequence[str], texts: Sequence[str]) -> list[ChatMessage]:
    """Write each result as a message of a tool, which is named by the whole call (official)."""
    return [{"role": "tool", "name": call, "content": text} for call, text in zip(calls, texts, strict=True)]


def keep_messages(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """Leave the messages of a turn as they are."""
    return messages


def keep_docs(docs: Sequence[WireDoc], wording: Wording) -> Sequence[Mapping[str, object]]:
    """Leave function docs as they are."""
    return docs


@dataclass(frozen=True, slots=True)
class DocNotation:
    """What a request shows docs in."""

    texts: Sequence[str]
    """The official sentences of the family."""
    requests: int
    """The number of the request; 1 throughout where known faults are left out."""


def show_docs_as_they_are(docs: Sequence[Mapping[str, object]], notation: DocNotation) -> object:
    """Leave docs as they are."""
    return docs


@dataclass(frozen=True, slots=True)
class WrittenPrompt:
    """How a family's prompt is written."""

    template: str | None
    """The file of ``templates`` that writes it; None where the model's own template does, at its server."""
    is_prompted: bool = False
    """True where BFCL's system prompt with the function docs opens the conversation."""
    convert_docs: Callable[[Sequence[WireDoc], Wording], Sequence[Mapping[str, object]]] = keep_docs
    """Makes the docs that the template shows."""
    prepare_turn: Callable[[Sequence[ChatMessage]], Sequence[ChatMessage]] = keep_messages
    """Changes the messages of each turn of the question."""
    read_answer: Callable[[str], ReadAnswer] = read_text
    write_results: Callable[[ReadAnswer, Sequence[str], Sequence[str]], list[ChatMessage]] = (
        write_tool_messages
    )
    repair_answer: Callable[[ReadAnswer], ReadAnswer] = keep_answer
    """Changes a read answer where known faults are left out."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """What the body has beside model, prompt, temperature and limit."""
    show_docs: Callable[[Sequence[Mapping[str, object]], DocNotation], object] = show_docs_as_they_are
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
            template = {"chat_template_kwargs": {"tools": list(self._functions)}}
            chat_body = {"messages": list(self._messages), "max_tokens": MOST_ANSWER_TOKENS, **template}
            wire = WireRequest(Api.CHAT, {**common, **chat_body})
        else:
            prompt = render_prompt(self._prompt.template, values, self._prompt.package)
            wire = WireRequest(Api.COMPLETIONS, {**common, "prompt": prompt})
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
