"""The right calls of a step, the requests that put them through a server, and the calls that come back."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TypeAlias

from pytest_fcbench.codecs.call_schemas import has_schema
from pytest_fcbench.domain.redaction import mask_secrets
from pytest_fcbench.domain.text import as_mapping, list_objects, read_json_text, shorten_text
from pytest_fcbench.domain.transcript import AuxiliaryCall, Call, Inquiry, ToolCall
from pytest_fcbench.domain.verdict import UNDECIDED
from pytest_fcbench.judging.text_normalization import are_equal
from pytest_fcbench.kinds.forced.entries import NamedServer
from pytest_fcbench.kinds.kind import ask_once
from pytest_fcbench.kinds.server_check import exchange as server_check
from pytest_fcbench.kinds.server_check.exchange import RawRequest, ServerCall, ServerExchange, ServerReply
from pytest_fcbench.kinds.server_check.kind import UnansweredRequestError
from pytest_fcbench.kinds.server_check.properties import MARKUP

JsonBody: TypeAlias = Mapping[str, object]
"""The JSON object of a request, or of a piece of a stream."""
_SHOWN = 300
"""Characters of a text that a reason shows."""


class NotTestableError(Exception):
    """The truth cannot be put through the server in this way; the text says why."""


class LackingPathError(NotTestableError):
    """The server does not have the path that is needed."""


@dataclass(frozen=True)
class ForcedStep:
    """A request to a model, and the calls of its right answer."""

    messages: tuple[Mapping[str, object], ...]
    tools: tuple[Mapping[str, object], ...]
    calls: tuple[ToolCall, ...]

    @cached_property
    def right_calls(self) -> tuple[Call, ...]:
        """The calls with their arguments as JSON values."""
        return tuple(Call(call.name, read_json_text(str(call.arguments))) for call in self.calls)

    @cached_property
    def keeps_schemas(self) -> bool:
        """Tell whether the arguments have the types that their tools declare; parsers convert others."""
        schemas = RawRequest("", self.chat_request).schemas
        return all(has_schema(call.arguments, schemas.get(call.name, {})) for call in self.right_calls)

    @property
    def chat_request(self) -> dict[str, object]:
        """The request as every server takes it."""
        return {"messages": list(self.messages), "tools": list(self.tools), "tool_choice": "auto"}

    def write_answer(self) -> Mapping[str, object]:
        """Write the right answer as a message of the assistant."""
        functions = [{"name": call.name, "arguments": call.arguments} for call in self.calls]
        calls = [
            {"id": f"call0000{number}", "type": "function", "function": function}
            for number, function in enumerate(functions)
        ]
        return {"role": "assistant", "content": "", "tool_calls": calls}


@dataclass(frozen=True, slots=True)
class ForcedText:
    """The right calls as a model would write them."""

    text: str
    ids: tuple[int, ...] = ()
    """Its tokens, where the server's own tokenizer gave them."""
    prompt: tuple[int, ...] = ()
    """The tokens of the prompt before it."""


@dataclass(frozen=True)
class ReturnedCalls:
    """What a server made of the text that was put through it."""

    manner: str
    """How the text reached it: whole, streamed, in which pieces."""
    calls: tuple[ServerCall, ...] = ()
    content: str = ""
    """The words beside the calls."""
    error: str = ""
    """The server's words where it failed at the text."""
    ids: tuple[int, ...] = ()
    """The tokens of the text, where the server tells them."""
    undecided: str = ""
    """The reason why calls that are wrong would show nothing."""
    command: str = ""
    """Two lines for a shell that show the same."""


def read_returned(reply: ServerReply, manner: str) -> ReturnedCalls:
    """Read the calls of a chat completion, at whichever path it came. Raises ``NotTestableError``."""
    chat_reply = ServerReply(RawRequest(server_check.CHAT, {}), require_reply(reply, manner).exchange)
    if not chat_reply.is_good:
        return ReturnedCalls(manner, error=str(chat_reply))
    is_cut = chat_reply.ending == server_check.CUT
    undecided = "the reply was cut at the limit of its tokens" if is_cut else ""
    return ReturnedCalls(manner, chat_reply.calls, chat_reply.text, undecided=undecided)


def require_reply(reply: ServerReply, manner: str) -> ServerReply:
    """Return a reply unless the server refuses the request. Raises ``NotTestableError``."""
    status, words = reply.exchange.status, server_check.describe_error(reply.exchange)
    if status in (404, 405, 501):
        raise LackingPathError(f"the server does not offer {reply.request.path}")
    # vLLM answers 400 where its parser fails at a piece of a stream.
    if status < 500 and not reply.is_good and "derender failed" not in words:
        raise NotTestableError(f"the server refuses it ({manner}): HTTP {status}: {words}")
    return reply


def find_difference(step: ForcedStep, returned: ReturnedCalls) -> str | None:
    """Describe the first way in which what came back is not the right calls; None where it is."""
    if returned.error:
        return f"the server fails at it: {returned.error}"
    if len(returned.calls) != len(step.right_calls):
        came = f"{len(returned.calls)} of {len(step.right_calls)} calls came back"
        words = f", and the text {returned.content!r:.{_SHOWN}}" if returned.content.strip() else ""
        listed = f": {', '.join(map(str, returned.calls))}" if returned.calls else ""
        return f"{came}{listed}{words}"
    for call, right, wanted in zip(returned.calls, step.right_calls, step.calls, strict=True):
        try:
            is_same = call.name == right.name and are_equal(call.read_arguments(), right.arguments)
        except (ValueError, RecursionError):
            is_same = False
        if not is_same:
            return f"{wanted.name}({wanted.arguments}) came back as {call}"
    if mark := MARKUP.search(returned.content):
        return f"the calls came back, but {mark[0]!r} leaks into the text: {returned.content!r:.{_SHOWN}}"
    return None


def describe_outcome(way: str, step: ForcedStep, text: ForcedText, returned: ReturnedCalls) -> str:
    """Describe what became of a text: in the first line the outcome, then where, why, and how to see it."""
    difference = find_difference(step, returned)
    outcome = KEPT if difference is None else UNDECIDED if returned.undecided else BROKEN
    shown = f"put through {shorten_text(text.text, _SHOWN)!r}" if text.text else "put through its own tokens"
    reason = f"{difference or 'the same calls came back'}; {shown}"
    if difference and returned.undecided:
        reason = f"{returned.undecided}; {reason}"
    lines = [f"{outcome}: {way}, {returned.manner}", " ".join(reason.split())]
    return "\n".join([*lines, *([returned.command] if outcome == BROKEN else [])])


KEPT, BROKEN = "kept", "broken"
"""Outcomes of a text that was put through a server, beside ``UNDECIDED``."""


@dataclass
class ForcedServer:
    """The server under test, asked by raw requests each of which is sent once."""

    shared: MutableMapping[str, AuxiliaryCall]
    """The answers that hold for all entries of a run, by the digest of their question."""
    named: NamedServer
    asides: dict[str, AuxiliaryCall] = field(default_factory=dict)
    """The answers about this entry, and the shared ones that it needed."""

    def send(self, path: str, body: JsonBody | None, *, once: bool = False) -> Inquiry[ServerReply]:
        """Send a request, or ask for a page where it has no body; ``once`` shares the answer among entries.

        Raises ``UnansweredRequestError``.
        """
        request = RawRequest(path, body or {}, method="GET" if body is None else "POST")
        question = request.write_question(0)
        if once and question.digest in self.shared:
            self.asides[question.digest] = self.shared[question.digest]
        completion = yield from ask_once(question, self.asides)
        if completion.fault:
            raise UnansweredRequestError(completion.text or "no reply")
        if once:
            self.shared[question.digest] = self.asides[question.digest]
        return ServerReply(request, ServerExchange.read_completion(completion))

    def count_tokens(self, body: JsonBody, *, once: bool = False) -> Inquiry[tuple[int, ...]]:
        """Ask for the tokens of a prompt or of messages. Raises ``NotTestableError``."""
        reply = yield from self.send(TOKENIZE, body, once=once)
        tokens = require_reply(reply, "its prompt").body.get("tokens")
        if not isinstance(tokens, list) or not all(type(each) is int for each in tokens):
            raise NotTestableError(f"{TOKENIZE} gives no tokens: {reply.exchange.reply}"[:_SHOWN])
        return tuple(tokens)

    def tokenize_text(self, text: str, *, once: bool = False) -> Inquiry[tuple[int, ...]]:
        """Ask for the tokens of a text. Raises ``NotTestableError``."""
        return (yield from self.count_tokens({"prompt": text, "add_special_tokens": False}, once=once))

    def tokenize_messages(
        self, step: ForcedStep, *answers: Mapping[str, object], opened: bool = False, once: bool = False
    ) -> Inquiry[tuple[int, ...]]:
        """Ask for the prompt of messages, with ``opened`` up to where an answer begins."""
        messages = [*step.messages, *answers]
        body = {"messages": messages, "tools": list(step.tools), "add_generation_prompt": opened}
        return (yield from self.count_tokens(body, once=once))

    def write_command(self, path: str, body: JsonBody, pieces: Sequence[JsonBody] = ()) -> str:
        """Write a request as two lines for a shell, in which ``$API_KEY`` stands for the key.

        Of a stream each piece is a request, which hands on the state that the reply before it told.
        """
        base, mark, query = self.named.address.partition("?")
        base = (re.sub(r"/v\d+/?$", "", base) if path.startswith("/") else base).rstrip("/")
        prompt = body.get("prompt_token_ids")
        # The end of the prompt shows the same, unless a parser looks for reasoning in it.
        body = {**body, "prompt_token_ids": list(prompt)[-8:]} if isinstance(prompt, list) else body
        shown = json.dumps({"model": self.named.model, **body}, ensure_ascii=False).replace("'", r"'\''")
        headers = '-H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json"'
        curl = f'curl -s "$SERVER/{path.removeprefix("/")}{mark}{query}" {headers}'
        setting = f"SERVER={shlex.quote(base)}"
        if not pieces:
            return f"{setting}\n{curl} -d '{shown}'"
        shown = shown.replace(f'"{PIECE}"', "'\"$PIECE\"'").replace(f'"{STATE}"', "'\"$STATE\"'")
        listed = " ".join(f"'{json.dumps(piece)}'" for piece in pieces)
        return (
            f"{setting}; STATE=null\nfor PIECE in {listed}; do R=$({curl} -d '{shown}'); "
            'echo "$R" | jq -c .chunk.choices; STATE=$(echo "$R" | jq -c .stream_state); done'
        )


TOKENIZE, DETOKENIZE = "/tokenize", "/detokenize"
DERENDER = f"{server_check.CHAT}/derender"
"""Paths of vLLM; those that begin with a slash stand at the root of the server."""


# Streams of pieces


def join_deltas(chunks: Sequence[JsonBody], manner: str, secrets: Sequence[str] = ()) -> ReturnedCalls:
    """Join the chunks of a stream to calls and words, as clients do: by the index of a call.

    Each chunk is free of secrets, but a server may send one in pieces.
    """
    calls: dict[str, list[str]] = {}
    content = ""
    for chunk in chunks:
        for choice in list_objects(chunk.get("choices")):
            delta = as_mapping(choice.get("delta"))
            content += str(delta.get("content") or "")
            for part in list_objects(delta.get("tool_calls")):
                function = as_mapping(part.get("function"))
                # A server may send anything as an index.
                call = calls.setdefault(str(part.get("index")), ["", ""])
                call[0] += str(function.get("name") or "")
                call[1] += str(function.get("arguments") or "")
    masked = (map(partial(mask_secrets, secrets=secrets), call) for call in calls.values())
    joined_calls = tuple(ServerCall("", *call) for call in masked)
    return ReturnedCalls(manner, joined_calls, mask_secrets(content, secrets))


PIECE, STATE = "$PIECE", "$STATE"
"""Values in the body of a shown request that differ from piece to piece."""
