"""Completions, the calls read from them, and conversations: how they run and what they leave."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar, cast

from pytest_fcbench.domain.entry import Message
from pytest_fcbench.domain.json_values import DESCRIBED, Count
from pytest_fcbench.domain.prompting import Prompting, WireRequest
from pytest_fcbench.domain.text import escape_surrogates, read_json_text
from pytest_fcbench.domain.verdict import Profile


@dataclass(frozen=True, slots=True)
class Call:
    """A function call read from an answer.

    Argument values are what Python literals can be (tuples included); the key ``**`` stands for
    arguments that came without a name where the syntax has one (``f(**d)``, a bare Java identifier).
    """

    name: str
    arguments: Mapping[str, object]
    positional: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call as the interface returned it; ``arguments`` is usually JSON text, unparsed."""

    name: str
    arguments: object
    id: str = ""


MOST_CALLS = 10_000
"""Calls of a conversation that are carried out at most."""


class Fault(StrEnum):
    """The reason why a completion is not an ordinary answer."""

    OVERFLOW = "context_overflow"
    """The request did not fit into the model's context: the model's own failure."""
    TOO_LARGE = "too_large"
    """The answer is too long or repeats itself, or its conversation has too many calls: the model's own."""
    UNREADABLE_CALL = "unreadable_call"
    """The server could not read a call that the model wrote: the model's own failure."""
    INFERENCE_ERROR = "inference_error"
    """A result file has the error of a failed call in place of an answer."""
    OTHER_TURNS = "other_number_of_turns"
    """A result file has another number of turns than the entry, which officially means an end by force."""


class Ending(StrEnum):
    """The way in which an answer ended, where neither the model's last word nor its calls ended it."""

    CUT = "length"
    """It reached the limit of tokens of an answer."""
    FILTERED = "content_filter"
    """A filter of the provider kept it back, or a part of it."""
    REFUSED = "refusal"
    """The model refused in a field of its own instead of answering."""
    FUNCTION_CALL = "function_call"
    """It calls in the field that came before ``tool_calls``, which nothing reads."""
    MALFORMED = "malformed_call"
    """It called, but the server could not read the call and sent none."""


ENDINGS: Mapping[Ending, str] = {
    Ending.CUT: "the answer was cut at the limit of its tokens",
    Ending.FILTERED: "the provider's content filter stopped the answer",
    Ending.REFUSED: "the model refused",
    Ending.FUNCTION_CALL: "the answer calls in the legacy field function_call, which is not read",
    Ending.MALFORMED: "the server could not read the call that the model wrote",
}
"""The beginning of a sentence about each ending."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply of a model.

    ``tool_calls`` is None where the reply had no such field, ``()`` where it was there and empty; a
    text among them is a text part, which some vendors' replies put into the same list.
    Latency is in seconds.

    ``message`` is the assistant message as the server sent it, with members that nothing here reads (ids,
    signatures, null); later requests repeat it. It is None where nobody sent one: baselines, files of
    results, and answers that earlier versions stored.
    """

    text: str | None = None
    tool_calls: tuple[ToolCall | str, ...] | None = None
    reasoning: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_s: float | None = None
    fault: Fault | None = None
    finish_reason: str | None = None
    """The server's word for why the answer ended; None where it gave none."""
    ending: Ending | None = None
    """The way in which the answer ended, if that was not the model's own."""
    refusal: str | None = None
    """The words in which a model refused, where the interface has a field of its own for them."""
    in_parts: bool = False
    """True where the text came as a list of parts, which the official readers take for no text."""
    protocol: tuple[str, ...] = ()
    """The codes of what the server did against its interface (``ProtocolNote``)."""
    message: Mapping[str, object] | None = None
    cached_tokens: int | None = None
    """Input tokens that the server found in its cache; like the two below, None where it does not say."""
    cache_write_tokens: int | None = None
    """Input tokens that the server wrote to its cache for a price of its own."""
    reasoning_tokens: int | None = None
    """Output tokens that are reasoning."""
    served: tuple[str, ...] = ()
    """The members of the reply that say who served it, as ``name=value``."""


def describe_ending(completion: Completion) -> str:
    """Describe why an answer ended, with a refusal in one line; empty where the model ended it."""
    if completion.refusal:
        return f"{ENDINGS[Ending.REFUSED]}: {' '.join(completion.refusal.split()):.80}"
    return ENDINGS[completion.ending] if completion.ending else ""


Turns: TypeAlias = tuple[tuple[Completion, ...], ...]
"""The completions of a conversation, turn by turn."""


class Party(StrEnum):
    """A party that is asked in a conversation."""

    MODEL = "model"
    """The model under test."""
    JUDGE = "judge"
    """A model that judges what rules cannot."""
    SIMILARITY = "similarity"
    """A measure of how alike texts are."""
    PROVIDER = "provider"
    """The API that the functions belong to."""
    WEB = "web"
    """The web: a search engine and the servers of pages."""
    SERVER = "mcp"
    """The MCP servers that the calls of entries act on."""
    STREAM = "stream"
    """The model under test, asked again: for the same reply as a stream, and for the whole one once more."""
    ENDPOINT = "endpoint"
    """The endpoint of the model under test, which is sent requests as they are."""
    OWN_WEB = "own_web"
    """The small web that a suite brings with it."""


PAID = (Party.MODEL, Party.JUDGE, Party.SIMILARITY, Party.STREAM, Party.ENDPOINT)
"""The parties that are paid by tokens or time."""
WEBS = (Party.WEB, Party.OWN_WEB)
"""The parties that answer questions about the web."""


@dataclass(frozen=True, slots=True)
class AskModel:
    """A request that a conversation yields to get one completion; messages and tools in the wire form."""

    messages: tuple[Mapping[str, object], ...]
    tools: tuple[Mapping[str, object], ...] = ()
    turn: int = 0
    """Index of the turn, for models that do not read messages."""
    step: int = 0
    """Index of the step within the turn."""
    party: Party = Party.MODEL
    defaults: Mapping[str, object] = field(default_factory=dict)
    """Parameters of the request that hold unless the user chose others."""
    attempt: int = 0
    """The number of equal requests before this one, where an answer was of no use."""
    wire: WireRequest | None = None
    """The request in the form of the model's family; None where every server gets the same form."""

    @property
    def digest(self) -> str:
        """Hash of party, messages and tools, defaults and attempt; equal for equal requests.

        A request in the form of a family is that form alone.
        """
        parts = (self.messages, self.tools) if self.wire is None else (self.wire.api, self.wire.body)
        request_text = json.dumps([self.party, *parts, *self.variant], sort_keys=True)
        # A lone surrogate, which JSON escapes can bring in, has no form in UTF-8.
        return hashlib.sha256(request_text.encode("utf-8", "backslashreplace")).hexdigest()

    @property
    def variant(self) -> tuple[object, ...]:
        """Defaults and attempt, for hashes; nothing where there are none, as in all older hashes."""
        return (dict(self.defaults), self.attempt) if self.defaults or self.attempt else ()


@dataclass(frozen=True, slots=True)
class AuxiliaryCall:
    """A completion of another party than the model; ``digest`` is that of its request."""

    party: Party
    digest: str
    completion: Completion
    usd: float | None = None
    """The dollars that it cost; None where no price is known."""


NOT_ASKED = Completion(text="nobody was asked this", fault=Fault.INFERENCE_ERROR)
"""A stand-in for an answer that another party did not give."""


BUILTIN = "builtin"
"""The judge that needs no model: rules of ours."""


@dataclass(frozen=True, slots=True)
class PathSettings:
    """The settings under which a golden path is walked, which decide what the model is shown."""

    __pydantic_config__ = DESCRIBED

    profile: Profile
    """The profile whose rules apply."""
    judge: str = BUILTIN
    """The judge of arguments that no rule can compare, and of replies in words: our rules (which rate none),
    or a model by its label."""
    similarity: str = "structured"
    """The measure by which calls are paired with expected ones."""
    live: bool = False
    """True where the API itself is asked what a call returns."""
    runner: str | None = None
    """The official runner whose habits hold, by name; null where none holds."""
    wording: str | None = None
    """The version of the official code whose texts are used; null where they are ours."""


@dataclass(frozen=True, slots=True)
class CallFunctions:
    """A demand that a conversation yields to have calls carried out; calls as Python text."""

    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallResults:
    """The results of calls as texts that a model is shown, one for each call."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A completion within a turn, its calls and their results."""

    completion: Completion
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallCounts:
    """Counts of the calls that a model under test made, whether they are right or not."""

    __pydantic_config__ = DESCRIBED

    calls: Count
    first: Count
    """Calls of the first answer."""
    valid_json: Count
    """Calls whose arguments are valid JSON."""
    known: Count
    """Calls of a function that was offered."""
    complete: Count
    """Calls that give all required parameters."""
    valid: Count
    """Calls whose arguments are valid by the schema that was shown."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A finished conversation: its turns of steps, its model and its settings."""

    entry: str
    model: str
    prompting: Prompting
    turns: tuple[tuple[Step, ...], ...]
    asides: tuple[AuxiliaryCall, ...] = ()
    """Completions of other parties, in the order of their requests."""
    driven: PathSettings | None = None
    """The settings of the golden path; None where there is none."""

    @property
    def last(self) -> Completion:
        """The last completion, by which a single-turn entry is judged."""
        return self.turns[-1][-1].completion

    @property
    def completions(self) -> tuple[Completion, ...]:
        """The completions of all turns in order."""
        return tuple(completion for turn in self.answers for completion in turn)

    @property
    def answers(self) -> Turns:
        """The completions of each turn."""
        return tuple(tuple(step.completion for step in turn) for turn in self.turns)


def to_wire_message(message: Message) -> Mapping[str, object]:
    """Convert a message of the question to the form that chat interfaces take."""
    return {"role": message.role, "content": message.content}


def completion_to_json(completion: Completion) -> dict[str, object]:
    """Convert a completion to JSON values; tool calls are ``{name: arguments}``, as officially.

    What is said about the end of an answer and its parts is left out where there is nothing to say. The
    message is not part of it: only later requests of the same conversation need it.
    """
    calls = completion.tool_calls
    optional_members = {
        "finish_reason": completion.finish_reason,
        "ending": completion.ending,
        "refusal": completion.refusal,
        "in_parts": completion.in_parts or None,
        "protocol": list(completion.protocol) or None,
    }
    return {
        "text": completion.text,
        "tool_calls": None
        if calls is None
        else [part if isinstance(part, str) else {part.name: part.arguments} for part in calls],
        "reasoning": completion.reasoning,
        "fault": completion.fault,
        **{name: value for name, value in optional_members.items() if value is not None},
    }


def completion_from_json(value: Mapping[str, object]) -> Completion:
    """Read what ``completion_to_json`` wrote. Raises KeyError or ValueError for any other object."""
    text, calls, reasoning, fault = (value[key] for key in ("text", "tool_calls", "reasoning", "fault"))
    return Completion(
        text=None if text is None else str(text),
        tool_calls=tuple(part_from_json(part) for part in calls) if isinstance(calls, list) else None,
        reasoning=None if reasoning is None else str(reasoning),
        fault=None if fault is None else Fault(str(fault)),
        finish_reason=_read_text(value.get("finish_reason")),
        ending=None if (ending := value.get("ending")) is None else Ending(str(ending)),
        refusal=_read_text(value.get("refusal")),
        in_parts=value.get("in_parts") is True,
        protocol=tuple(map(str, protocol)) if isinstance(protocol := value.get("protocol"), list) else (),
    )


def _read_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def part_from_json(part: object) -> ToolCall | str:
    """Read a tool call written as ``{name: arguments}``; anything else is a text part."""
    if isinstance(part, Mapping) and part:
        name, arguments = next(iter(part.items()))
        return ToolCall(str(name), arguments)
    return part if isinstance(part, str) else json.dumps(part)


CallingConversation: TypeAlias = Generator[AskModel | CallFunctions, Completion | CallResults, Transcript]

Found = TypeVar("Found")
Inquiry: TypeAlias = Generator[AskModel, Completion, Found]
"""Asks models and other parties, is sent their completions, and returns what it found out."""
Conversation: TypeAlias = Inquiry[Transcript]
"""A conversation whose calls are carried out elsewhere."""


_END = re.compile(r"</think>|<\|thought_end\|>")
_BEGINNING = re.compile(r"<think>\n*|<\|thought_start\|>\n*")


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text with reasoning, in the order of its parts; joined they are the text."""

    opening: str
    reasoning: str
    closing: str
    """From the first mark that ends the reasoning to the last one, line breaks around them included."""
    answer: str


def find_reasoning(text: str) -> MarkedText | None:
    """Find the reasoning of a text, whatever model marked it; None where no mark ends one.

    The reasoning ends at the first mark and the answer begins behind the last one, as the official
    ``QwenHandler`` cuts.
    """
    ends = list(_END.finditer(text))
    if not ends:
        return None
    start_index = 0
    for beginning in _BEGINNING.finditer(text, 0, ends[0].start()):
        start_index = beginning.end()
    end_index = max(start_index, len(text[: ends[0].start()].rstrip("\n")))
    answer = text[ends[-1].end() :].lstrip("\n")
    return MarkedText(
        text[:start_index], text[start_index:end_index], text[end_index : len(text) - len(answer)], answer
    )


def drop_official_reasoning(text: str) -> str:
    """Return what a text says behind the last ``</think>``, as the official ``QwenHandler`` reads it."""
    _, mark, answer = text.rpartition("</think>")
    return answer.lstrip("\n") if mark else text


def drop_reasoning(text: str) -> str:
    """Return what a text says behind its reasoning, whatever model marked it."""
    return marked_text.answer if (marked_text := find_reasoning(text)) else text


def separate_reasoning(completion: Completion) -> tuple[Completion, tuple[str, str] | None]:
    """Return a completion with the reasoning of its text in the field for it, and the texts around it.

    These are None where the text marks no reasoning, or where reasoning came in that field already.
    """
    if completion.reasoning is not None or not (marked_text := find_reasoning(completion.text or "")):
        return completion, None
    separated_completion = replace(completion, text=marked_text.answer, reasoning=marked_text.reasoning)
    return separated_completion, (marked_text.opening, marked_text.closing)


Demand = TypeVar("Demand")
Inner = TypeVar("Inner")
Reply = TypeVar("Reply")
InnerReply = TypeVar("InnerReply")
Result = TypeVar("Result")


def drive_conversation(
    conversation: Generator[Demand, Reply, Result], answer: Callable[[Demand], Reply]
) -> Result:
    """Answer every demand of a conversation and return its result."""
    # Sending None starts a generator. An answer that raises StopIteration does not end the conversation.
    reply: Any = None
    while True:
        try:
            demand = conversation.send(reply)
        except StopIteration as end:
            return cast("Result", end.value)
        reply = answer(demand)


async def drive_conversation_async(
    conversation: Generator[Demand, Reply, Result], answer: Callable[[Demand], Awaitable[Reply]]
) -> Result:
    """Await an answer to every demand of a conversation and return its result."""
    reply: Any = None
    while True:
        try:
            demand = conversation.send(reply)
        except StopIteration as end:
            return cast("Result", end.value)
        reply = await answer(demand)


def relay_conversation(
    conversation: Generator[Inner, InnerReply, Result],
    respond: Callable[[Inner], Generator[Demand, Reply, InnerReply]],
) -> Generator[Demand, Reply, Result]:
    """Run a conversation inside another one, which passes on the demands of ``respond`` to its driver."""
    reply: Any = None
    while True:
        try:
            demand = conversation.send(reply)
        except StopIteration as end:
            return cast("Result", end.value)
        reply = yield from respond(demand)


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call, and the reply that was recorded for it."""

    name: str
    arguments: Mapping[str, object]
    reply: str
    """JSON text, as a model is shown it; parsed, the thousands of replies of a suite take more memory."""

    @classmethod
    def with_reply(cls, name: str, arguments: Mapping[str, object], reply: object) -> RecordedCall:
        """Make a recorded call of a JSON reply. Raises RecursionError where it is nested too deeply."""
        return cls(name, arguments, write_reply(reply))

    @property
    def reply_value(self) -> object:
        """The reply as a JSON value, parsed each time."""
        value: object = read_json_text(self.reply)
        return value


def write_reply(reply: object) -> str:
    """Write a JSON value as the reply that a model is shown: lone surrogates escaped, other scripts not."""
    # ComplexFuncBench leaves other scripts as they are in its replies (``ensure_ascii=False``).
    return escape_surrogates(json.dumps(reply, ensure_ascii=False))
