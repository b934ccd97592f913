"""The properties that replies of a server must have, by the name that a check gives them.

A property is about what the server does, so a reply that a weak or random model may give breaks none: such a
reply leaves the property undecided. A function here returns nothing where the property is kept, and raises
``BrokenProperty`` or ``UndecidedProperty`` with a sentence otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import pydantic

from pytest_fcbench.domain.protocol_notes import ProtocolNote, describe_note
from pytest_fcbench.domain.text import as_mapping, read_json_text
from pytest_fcbench.kinds.server_check.exchange import CUT, Replies, ServerReply, describe_error


class BrokenProperty(Exception):  # noqa: N818 - a finding, not an error of the program
    """The server did what it must not do."""


class UndecidedProperty(Exception):  # noqa: N818 - a finding, not an error of the program
    """The reply does not show what the server does."""


@dataclass(frozen=True, slots=True)
class Property:
    """A property that a check can demand."""

    name: str
    argument: Any
    """The type of what a check says about it, for pydantic."""
    find_breach: Callable[[Replies, Any], None]
    cut_decides: bool
    """True where a reply that was cut at the limit of its tokens can be judged."""

    def read_argument(self, value: object) -> object:
        """Read what a check says. Raises ``pydantic.ValidationError``."""
        return pydantic.TypeAdapter(self.argument).validate_python(value)


PROPERTIES: dict[str, Property] = {}
"""Every property by name."""

CompareReplies: TypeAlias = Callable[[Replies, Any], None]
JudgeReply: TypeAlias = Callable[[ServerReply, Any], None]


def check_replies(
    name: str, argument: Any, *, cut_decides: bool = False
) -> Callable[[CompareReplies], CompareReplies]:
    """Register a property of all replies of a check together."""

    def register(find_breach: CompareReplies) -> CompareReplies:
        PROPERTIES[name] = Property(name, argument, find_breach, cut_decides)
        return find_breach

    return register


def check_each(name: str, argument: Any, *, cut_decides: bool = False) -> Callable[[JudgeReply], JudgeReply]:
    """Register a property of each reply of a check."""

    def register(find_breach: JudgeReply) -> JudgeReply:
        def find_breach_in_any(replies: Replies, wanted: object) -> None:
            for reply_name, reply in replies.items():
                try:
                    find_breach(reply, wanted)
                except (BrokenProperty, UndecidedProperty) as finding:
                    prefix = f"{reply_name}: " if len(replies) > 1 else ""
                    raise type(finding)(f"{prefix}{finding}") from None

        PROPERTIES[name] = Property(name, argument, find_breach_in_any, cut_decides)
        return find_breach

    return register


class CountRange(pydantic.BaseModel):
    """A number of things, at least and at most."""

    model_config = pydantic.ConfigDict(extra="forbid")

    least: int = 0
    most: int | None = None

    def holds(self, number: int) -> bool:
        """Tell whether a number is within the range."""
        return self.least <= number and (self.most is None or number <= self.most)


# Calls


@check_each("calls", int | CountRange)
def count_calls(reply: ServerReply, wanted: int | CountRange) -> None:
    """Check the number of calls in a reply."""
    span = CountRange(least=wanted, most=wanted) if isinstance(wanted, int) else wanted
    if not span.holds(len(reply.calls)):
        raise BrokenProperty(f"{len(reply.calls)} calls: {reply}")


@check_each("names", list[str])
def name_calls(reply: ServerReply, wanted: Sequence[str]) -> None:
    """Check the names of calls against those that they may have."""
    for call in _require_calls(reply):
        if call.name not in wanted:
            raise BrokenProperty(f"calls {call.name!r}, not {' or '.join(wanted)}")


@check_each("arguments", Literal["object", "valid"] | dict[str, object])
def judge_arguments(reply: ServerReply, wanted: str | Mapping[str, object]) -> None:
    """Check that arguments are a JSON object, are valid by their schema, or are just this object."""
    for call in _require_calls(reply):
        try:
            arguments = call.read_arguments()
        except (ValueError, RecursionError):
            raise BrokenProperty(f"the arguments cannot be read as JSON: {call}") from None
        if not isinstance(arguments, Mapping):
            raise BrokenProperty(f"the arguments are JSON, but not an object: {call}")
        if isinstance(wanted, Mapping) and arguments != wanted:
            raise BrokenProperty(f"the arguments are {json.dumps(arguments)}, not {json.dumps(wanted)}")
        if wanted == "valid" and (
            flaw := find_schema_error(arguments, reply.request.schemas.get(str(call.name), {}))
        ):
            raise BrokenProperty(f"{call}: {flaw}")


@check_each("argument_type", Literal["text", "object"])
def judge_argument_type(reply: ServerReply, wanted: str) -> None:
    """Check the form of arguments: JSON text, as OpenAI's interfaces have it, or an object."""
    for call in _require_calls(reply):
        if isinstance(call.arguments, str) is not (wanted == "text"):
            raise BrokenProperty(f"the arguments are a JSON {type(call.arguments).__name__}, not {wanted}")


@check_each("ids", Literal["unique"])
def judge_ids(reply: ServerReply, wanted: str) -> None:
    """Check that each call has an id of its own, a text."""
    ids = [call.id for call in _require_calls(reply)]
    if not all(isinstance(each, str) and each for each in ids):
        raise BrokenProperty(f"a call has no id: {ids}")
    if len(set(ids)) < len(ids):
        raise BrokenProperty(f"calls share an id: {ids}")


@check_replies("other_ids", list[str])
def compare_ids(replies: Replies, wanted: Sequence[str]) -> None:
    """Check that ids differ between replies, since one conversation may hold all of their calls."""
    ids = [call.id for name in wanted for call in _require_calls(replies[name])]
    if len(set(map(str, ids))) < len(ids):
        raise BrokenProperty(f"calls of different replies share an id: {ids}")


@check_each("call_type", str)
def judge_call_type(reply: ServerReply, wanted: str) -> None:
    """Check the member ``type`` of calls."""
    for call in _require_calls(reply):
        if call.type != wanted:
            raise BrokenProperty(f"the type of a call is {call.type!r}, not {wanted!r}")


# Text


@check_each("text", Literal["none", "some"])
def judge_text(reply: ServerReply, wanted: str) -> None:
    """Check that a reply has words, or none."""
    if wanted == "none" and reply.text.strip():
        raise BrokenProperty(f"the text is {reply.text!r:.200}")
    if wanted == "some" and not reply.text.strip():
        raise UndecidedProperty("the model wrote no text")


MARKUP = re.compile(
    r"</?(?:tool_calls?|function|think|tool_response|invoke|parameter)\b|<[|｜]|\[TOOL_CALLS\]|<minimax:|<seed:"
)
"""Beginnings of special tokens: in the text of a reply they show that a parser did not read all of it."""
_MARKUP_THERE = re.compile(r"</?think\b")


@check_each("markup", Literal["none"])
def find_markup(reply: ServerReply, wanted: str) -> None:
    """Find markup of templates beside calls, which a parser should have taken out."""
    _require_calls(reply)
    # A model may think about how it has to write a call.
    for place, text, marks in (("text", reply.text, MARKUP), ("reasoning", reply.reasoning, _MARKUP_THERE)):
        if found := marks.search(text):
            raise BrokenProperty(f"the {place} beside the calls holds {found[0]!r}: {text!r:.200}")


@check_each("json_text", dict[str, object])
def judge_json_text(reply: ServerReply, wanted: Mapping[str, object]) -> None:
    """Check that the text is JSON and valid by a schema."""
    try:
        value = read_json_text(reply.text)
    except (ValueError, RecursionError):
        raise BrokenProperty(f"the text cannot be read as JSON: {reply.text!r:.200}") from None
    if flaw := find_schema_error(value, wanted):
        raise BrokenProperty(f"{reply.text!r:.200}: {flaw}")


# Endings and tokens


@check_each("ending", str | list[str], cut_decides=True)
def judge_ending(reply: ServerReply, wanted: str | Sequence[str]) -> None:
    """Check why a reply ended; ``tool_calls`` is demanded of replies with calls only."""
    if wanted == "tool_calls":
        _require_calls(reply)
    if reply.ending in ([wanted] if isinstance(wanted, str) else wanted):
        return
    if wanted != CUT and reply.ending == CUT:
        raise UndecidedProperty("the reply was cut at the limit of its tokens")
    if wanted == CUT and reply.ending != CUT and (reply.tokens.answer or 0) < _read_limit(reply):
        raise UndecidedProperty("the model ended its reply before the limit")
    raise BrokenProperty(f"the finish_reason is {reply.ending!r}, not {wanted!r}: {reply}")


@check_each("cut_calls", Literal["marked"], cut_decides=True)
def judge_cut_calls(reply: ServerReply, wanted: str) -> None:
    """Check that the reply with a call that was cut says so."""
    broken = [call for call in reply.calls if not _is_json(call.arguments)]
    if broken and reply.ending != CUT:
        raise BrokenProperty(f"a cut call, with the finish_reason {reply.ending!r}: {broken[0]}")


@check_each("usage", Literal["adds_up"], cut_decides=True)
def add_usage(reply: ServerReply, wanted: str) -> None:
    """Check that the tokens add up to the total; some servers count reasoning beside the answer."""
    prompt, answer, total = reply.tokens
    body = as_mapping(reply.request.body)
    if body.get("stream") and not as_mapping(body.get("stream_options")).get("include_usage"):
        raise UndecidedProperty("the server does not take a request for the tokens of a stream")
    if not prompt or answer is None:
        raise BrokenProperty(f"the usage is {json.dumps(reply.body.get('usage'))}")
    if total is not None and total - prompt - answer not in (0, reply.reasoning_tokens):
        raise BrokenProperty(f"{prompt} and {answer} tokens are not {total}")


class Growth(pydantic.BaseModel):
    """A reply whose prompt has more tokens than that of another one."""

    model_config = pydantic.ConfigDict(extra="forbid")

    less: str
    more: str
    by: int = 1


@check_replies("prompt_grows", Growth, cut_decides=True)
def compare_prompts(replies: Replies, wanted: Growth) -> None:
    """Check by the tokens of two prompts that what one of them has more reaches the model."""
    less, more = replies[wanted.less].tokens.prompt, replies[wanted.more].tokens.prompt
    if not less or not more:
        raise UndecidedProperty("the server does not tell the tokens of the prompt")
    if more < less + wanted.by:
        raise BrokenProperty(
            f"the prompt of {wanted.more!r} has {more} tokens, that of {wanted.less!r} {less}"
        )


@check_each("choices", int, cut_decides=True)
def count_choices(reply: ServerReply, wanted: int) -> None:
    """Check the number of choices."""
    if len(reply.choices) != wanted:
        raise BrokenProperty(f"{len(reply.choices)} choices, not {wanted}")


# Streams


_ABOUT_CALLS = frozenset(
    {
        ProtocolNote.STREAM_INDEX,
        ProtocolNote.CHANGED_ID,
        ProtocolNote.REPEATED_NAME,
        ProtocolNote.REPEATED_CALL,
        ProtocolNote.EMPTY_ARGUMENTS_FIRST,
        ProtocolNote.ARGUMENTS_NOT_TEXT,
    }
)
"""Notes that only a reply with calls can have."""


@check_each("notes", list[ProtocolNote], cut_decides=True)
def find_notes(reply: ServerReply, wanted: Sequence[ProtocolNote]) -> None:
    """Check that a reply has none of these notes on how the server breaks its interface."""
    for note in reply.exchange.notes:
        if note in wanted:
            raise BrokenProperty(describe_note(note))
    if _ABOUT_CALLS.intersection(wanted):
        _require_calls(reply)


@check_each("content_type", str, cut_decides=True)
def judge_content_type(reply: ServerReply, wanted: str) -> None:
    """Check the content type."""
    if reply.exchange.content_type.partition(";")[0].strip().lower() != wanted:
        raise BrokenProperty(f"the content type is {reply.exchange.content_type!r}, not {wanted}")


class Likeness(pydantic.BaseModel):
    """Two replies that say the same, and two that show how far equal requests get equal replies."""

    model_config = pydantic.ConfigDict(extra="forbid")

    one: str
    other: str
    again: str
    """The same request as ``one``: where these two differ, nothing is decided."""
    other_again: str
    """The same request as ``other``, for the same reason."""


@check_replies("same", Likeness)
def compare_replies(replies: Replies, wanted: Likeness) -> None:
    """Check that two replies have the same calls, text, reasoning and ending."""
    names = (wanted.one, wanted.other, wanted.again, wanted.other_again)
    one, other, again, other_again = (_list_parts(replies[name]) for name in names)
    if (one, other) != (again, other_again):
        raise UndecidedProperty("two equal requests got different replies")
    for part, value in one.items():
        if value != other[part]:
            raise BrokenProperty(f"{part}: {wanted.one} {value!r:.150}, {wanted.other} {other[part]!r:.150}")


def _list_parts(reply: ServerReply) -> Mapping[str, object]:
    calls = [
        [call.name, call.read_arguments() if _is_json(call.arguments) else call.arguments]
        for call in reply.calls
    ]
    # Parsers leave other white space at the ends of a whole reply than of a stream.
    text, reasoning = reply.text.strip(), reply.reasoning.strip()
    return {"calls": calls, "text": text, "reasoning": reasoning, "ending": reply.ending}


# Errors and time


@check_each("error", Literal["object"], cut_decides=True)
def judge_error(reply: ServerReply, wanted: str) -> None:
    """Check that a refusal is a JSON object that says what is wrong."""
    if reply.exchange.status == 200:
        return
    body = reply.exchange.reply
    if body is None or not any(body.get(name) for name in ("error", "detail", "message")):
        raise BrokenProperty(
            f"HTTP {reply.exchange.status} without an error object: {describe_error(reply.exchange)}"
        )


class ReplyPace(pydantic.BaseModel):
    """A reply that takes no longer than some times what another one takes."""

    model_config = pydantic.ConfigDict(extra="forbid")

    before: str
    after: str
    times: Annotated[float, pydantic.Field(gt=1)]


_SHORT_S = 5.0
"""Seconds within which a reply is never late."""


@check_replies("soon", ReplyPace, cut_decides=True)
def compare_pace(replies: Replies, wanted: ReplyPace) -> None:
    """Check that a reply takes not much longer than an earlier one."""
    before, after = replies[wanted.before].latency_s, replies[wanted.after].latency_s
    if after > max(_SHORT_S, before * wanted.times):
        raise BrokenProperty(f"{wanted.after!r} took {after:.1f} s, {wanted.before!r} {before:.1f} s")


def find_schema_error(value: object, schema: Mapping[str, object]) -> str | None:
    """Return the first error of a value by a JSON Schema, or None."""
    from jsonschema import Draft202012Validator

    error = next(iter(Draft202012Validator(schema).iter_errors(value)), None)
    return None if error is None else f"{error.json_path}: {error.message:.200}"


def _require_calls(reply: ServerReply) -> Sequence[Any]:
    if not reply.calls:
        raise UndecidedProperty("the model called nothing")
    return reply.calls


def _is_json(arguments: object) -> bool:
    if not isinstance(arguments, str):
        return arguments is not None
    try:
        read_json_text(arguments)
    except (ValueError, RecursionError):
        return False
    return True


def _read_limit(reply: ServerReply) -> int:
    body = as_mapping(reply.request.body)
    limits = (body.get(name) for name in ("max_tokens", "max_completion_tokens", "max_output_tokens"))
    return next((limit for limit in limits if isinstance(limit, int)), 0)
