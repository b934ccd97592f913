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
from typing import Annotated, Any, Literal, TypeVar

import pydantic

from pytest_fcbench.codecs.function_docs.json_schema import describe_violation
from pytest_fcbench.domain.protocol_notes import ProtocolNote, describe_note
from pytest_fcbench.domain.text import as_mapping, read_strict_json
from pytest_fcbench.formats.rows import Row
from pytest_fcbench.kinds.server_check import exchange
from pytest_fcbench.kinds.server_check.exchange import CUT, Replies, ServerCall, ServerReply


class BrokenProperty(Exception):  # noqa: N818 - a finding, not an error of the program
    """The server did what it must not do."""


class UndecidedProperty(Exception):  # noqa: N818 - a finding, not an error of the program
    """The reply does not show what the server does."""


def raise_gravest(findings: Sequence[BrokenProperty | UndecidedProperty]) -> None:
    """Raise the first breach among findings, else the first of them, if there is one."""
    if findings:
        raise min(findings, key=lambda each: isinstance(each, UndecidedProperty))


@dataclass(frozen=True, slots=True)
class Property:
    """A property that a check can demand."""

    argument: Any
    """The type of what a check says about it, for pydantic."""
    judge: Callable[[Any, Any], None]
    """Judges each reply, or all replies by name, by what the check says."""
    of_all: bool
    """True where it is one of all replies together."""
    cut_decides: bool
    """True where a reply that was cut at the limit of its tokens can be judged."""

    def read_argument(self, value: object) -> object:
        """Read what a check says. Raises ``pydantic.ValidationError``."""
        return pydantic.TypeAdapter(self.argument).validate_python(value)

    def find_breach(self, replies: Replies, wanted: object) -> None:
        """Judge the replies to a check. Raises ``BrokenProperty`` and ``UndecidedProperty``."""
        if self.of_all:
            return self.judge(replies, wanted)
        findings: list[BrokenProperty | UndecidedProperty] = []
        for name, reply in replies.items():
            try:
                self.judge(reply, wanted)
            except (BrokenProperty, UndecidedProperty) as finding:
                prefix = f"{name}: " if len(replies) > 1 else ""
                findings.append(type(finding)(f"{prefix}{finding}"))
        raise_gravest(findings)
        return None


PROPERTIES: dict[str, Property] = {}
"""Every property by name."""

Judge = TypeVar("Judge", bound=Callable[..., None])


def check(
    name: str, argument: Any, *, of_all: bool = False, cut_decides: bool = False
) -> Callable[[Judge], Judge]:
    """Register a property of each reply of a check, or of all its replies together."""

    def register(judge: Judge) -> Judge:
        PROPERTIES[name] = Property(argument, judge, of_all, cut_decides)
        return judge

    return register


class CountRange(Row):
    """A number of things, at least and at most."""

    least: int = 0
    most: int | None = None


# Calls


@check("calls", int | CountRange)
def count_calls(reply: ServerReply, wanted: int | CountRange) -> None:
    """Check the number of calls in a reply."""
    span = CountRange(least=wanted, most=wanted) if isinstance(wanted, int) else wanted
    number = len(reply.calls)
    if number < span.least or (span.most is not None and number > span.most):
        raise BrokenProperty(f"{number} calls: {reply}")


@check("names", list[str])
def name_calls(reply: ServerReply, wanted: Sequence[str]) -> None:
    """Check the names of calls against those that they may have."""
    for call in _require_calls(reply):
        if call.name not in wanted:
            raise BrokenProperty(f"calls {call.name!r}, not {' or '.join(wanted)}")


@check("arguments", Literal["object", "valid"] | dict[str, object])
def judge_arguments(reply: ServerReply, wanted: str | Mapping[str, object]) -> None:
    """Check that arguments are a JSON object, are valid by their schema, or are just this object."""
    for call in _require_calls(reply):
        try:
            text = call.arguments
            arguments = read_strict_json(text) if isinstance(text, str) else text
        except ValueError:
            raise BrokenProperty(f"the arguments cannot be read as JSON: {call}") from None
        if not isinstance(arguments, Mapping):
            raise BrokenProperty(f"the arguments are JSON, but not an object: {call}")
        if isinstance(wanted, Mapping) and arguments != wanted:
            raise BrokenProperty(f"the arguments are {json.dumps(arguments)}, not {json.dumps(wanted)}")
        schema = reply.request.schemas.get(str(call.name), {})
        if wanted == "valid" and (flaw := describe_violation(schema, arguments)):
            raise BrokenProperty(f"{call}: {flaw}")


@check("argument_type", Literal["text", "object"])
def judge_argument_type(reply: ServerReply, wanted: str) -> None:
    """Check the form of arguments: JSON text, as OpenAI's interfaces have it, or an object."""
    for call in _require_calls(reply):
        if isinstance(call.arguments, str) is not (wanted == "text"):
            raise BrokenProperty(f"the arguments are a JSON {type(call.arguments).__name__}, not {wanted}")


@check("ids", Literal["unique"])
def judge_ids(reply: ServerReply, wanted: str) -> None:
    """Check that each call has an id of its own, a text."""
    ids = [call.id for call in _require_calls(reply)]
    if not all(isinstance(each, str) and each for each in ids):
        raise BrokenProperty(f"a call has no id: {ids}")
    if len(set(ids)) < len(ids):
        raise BrokenProperty(f"calls share an id: {ids}")


@check("other_ids", list[str], of_all=True)
def compare_ids(replies: Replies, wanted: Sequence[str]) -> None:
    """Check that ids differ between replies, since one conversation may hold all of their calls."""
    ids = [call.id for name in wanted for call in _require_calls(replies[name])]
    if len(set(map(str, ids))) < len(ids):
        raise BrokenProperty(f"calls of different replies share an id: {ids}")


@check("call_type", str)
def judge_call_type(reply: ServerReply, wanted: str) -> None:
    """Check the member ``type`` of calls."""
    for call in _require_calls(reply):
        if call.type != wanted:
            raise BrokenProperty(f"the type of a call is {call.type!r}, not {wanted!r}")


# Text


@check("text", Literal["none", "some"])
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


@check("markup", Literal["none"])
def find_markup(reply: ServerReply, wanted: str) -> None:
    """Find markup of templates beside calls, which a parser should have taken out."""
    _require_calls(reply)
    # A model may think about how it has to write a call.
    for place, text, marks in (("text", reply.text, MARKUP), ("reasoning", reply.reasoning, _MARKUP_THERE)):
        if found := marks.search(text):
            raise BrokenProperty(f"the {place} beside the calls holds {found[0]!r}: {text!r:.200}")


@check("json_text", dict[str, object])
def judge_json_text(reply: ServerReply, wanted: Mapping[str, object]) -> None:
    """Check that the text is JSON and valid by a schema."""
    try:
        value = read_strict_json(reply.text)
    except ValueError:
        raise BrokenProperty(f"the text cannot be read as JSON: {reply.text!r:.200}") from None
    if flaw := describe_violation(wanted, value):
        raise BrokenProperty(f"{reply.text!r:.200}: {flaw}")


# Endings and tokens


@check("ending", str | list[str], cut_decides=True)
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


@check("cut_calls", Literal["marked"], cut_decides=True)
def judge_cut_calls(reply: ServerReply, wanted: str) -> None:
    """Check that the reply with a call that was cut says so."""
    broken = [call for call in reply.calls if not _is_json(call)]
    if broken and reply.ending != CUT:
        raise BrokenProperty(f"a cut call, with the finish_reason {reply.ending!r}: {broken[0]}")


@check("usage", Literal["adds_up"], cut_decides=True)
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


class Growth(Row):
    """A reply whose prompt has more tokens than that of another one."""

    less: str
    more: str
    by: int = 1


@check("prompt_grows", Growth, of_all=True, cut_decides=True)
def compare_prompts(replies: Replies, wanted: Growth) -> None:
    """Check by the tokens of two prompts that what one of them has more reaches the model."""
    less, more = replies[wanted.less].tokens.prompt, replies[wanted.more].tokens.prompt
    if not less or not more:
        raise UndecidedProperty("the server does not tell the tokens of the prompt")
    if more < less + wanted.by:
        counts = f"the prompt of {wanted.more!r} has {more} tokens, that of {wanted.less!r} {less}"
        raise BrokenProperty(counts)


@check("choices", int, cut_decides=True)
def count_choices(reply: ServerReply, wanted: int) -> None:
    """Check the number of choices."""
    if len(reply.choices) != wanted:
        raise BrokenProperty(f"{len(reply.choices)} choices, not {wanted}")


# Streams


_ABOUT_CALLS = frozenset(
    [
        *(ProtocolNote.STREAM_INDEX, ProtocolNote.CHANGED_ID, ProtocolNote.ARGUMENTS_NOT_TEXT),
        *(ProtocolNote.REPEATED_NAME, ProtocolNote.REPEATED_CALL, ProtocolNote.EMPTY_ARGUMENTS_FIRST),
    ]
)
"""Notes that only a reply with calls can have."""


@check("notes", list[ProtocolNote], cut_decides=True)
def find_notes(reply: ServerReply, wanted: Sequence[ProtocolNote]) -> None:
    """Check that a reply has none of these notes on how the server breaks its interface."""
    for note in reply.exchange.notes:
        if note in wanted:
            raise BrokenProperty(describe_note(note))
    if _ABOUT_CALLS.intersection(wanted):
        _require_calls(reply)


@check("content_type", str, cut_decides=True)
def judge_content_type(reply: ServerReply, wanted: str) -> None:
    """Check the content type."""
    if reply.exchange.content_type.partition(";")[0].strip().lower() != wanted:
        raise BrokenProperty(f"the content type is {reply.exchange.content_type!r}, not {wanted}")


class Likeness(Row):
    """Two replies that say the same, and two that show how far equal requests get equal replies."""

    one: str
    other: str
    again: str
    """The same request as ``one``: where these two differ, nothing is decided."""
    other_again: str
    """The same request as ``other``, for the same reason."""


@check("same", Likeness, of_all=True)
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
    values = [each.read_arguments() if _is_json(each) else each.arguments for each in reply.calls]
    calls = [[call.name, value] for call, value in zip(reply.calls, values, strict=True)]
    # Parsers leave other white space at the ends of a whole reply than of a stream.
    text, reasoning = reply.text.strip(), reply.reasoning.strip()
    return {"calls": calls, "text": text, "reasoning": reasoning, "ending": reply.ending}


# Errors and time


@check("error", Literal["object"], cut_decides=True)
def judge_error(reply: ServerReply, wanted: str) -> None:
    """Check that a refusal is a JSON object that says what is wrong."""
    if reply.exchange.status == 200:
        return
    body = reply.exchange.reply
    if body is None or not any(body.get(name) for name in ("error", "detail", "message")):
        words = exchange.describe_error(reply.exchange)
        raise BrokenProperty(f"HTTP {reply.exchange.status} without an error object: {words}")


class ReplyPace(Row):
    """A reply that takes no longer than some times what another one takes."""

    before: str
    after: str
    times: Annotated[float, pydantic.Field(gt=1)]


_SHORT_S = 5.0
"""Seconds within which a reply is never late."""


@check("soon", ReplyPace, of_all=True, cut_decides=True)
def compare_pace(replies: Replies, wanted: ReplyPace) -> None:
    """Check that a reply takes not much longer than an earlier one."""
    before, after = replies[wanted.before].latency_s, replies[wanted.after].latency_s
    if after > max(_SHORT_S, before * wanted.times):
        raise BrokenProperty(f"{wanted.after!r} took {after:.1f} s, {wanted.before!r} {before:.1f} s")


def _require_calls(reply: ServerReply) -> Sequence[ServerCall]:
    if not reply.calls:
        raise UndecidedProperty("the model called nothing")
    return reply.calls


def _is_json(call: ServerCall) -> bool:
    try:
        call.read_arguments()
    except ValueError:
        return False
    return call.arguments is not None


def _read_limit(reply: ServerReply) -> int:
    body = as_mapping(reply.request.body)
    limits = (body.get(name) for name in ("max_tokens", "max_completion_tokens", "max_output_tokens"))
    return next((limit for limit in limits if isinstance(limit, int)), 0)
