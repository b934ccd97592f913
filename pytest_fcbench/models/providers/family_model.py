"""Ask models as the official harness does: each family directly, at its own API.

A family makes the body of its requests. To it are added the parameters that the user chose and, for a written
prompt, the limit of the answer. Other requests, such as those to a judge, take the form for every server.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from pytest_fcbench.codecs.chat_reply import read_served
from pytest_fcbench.codecs.dialogues.families import UNASKED, find_api, list_asked
from pytest_fcbench.codecs.dialogues.vendor_forms import read_family_reply
from pytest_fcbench.codecs.dialogues.written_prompt import MOST_ANSWER_TOKENS
from pytest_fcbench.config.options import BY_KEY, Settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.domain.prompting import Api, FamilyMember, WireRequest
from pytest_fcbench.domain.protocol_notes import merge_notes
from pytest_fcbench.domain.redaction import mask_secrets_within
from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.models.official_models import find_family, find_official_id, name_at_server
from pytest_fcbench.models.protocol import Model, describe_request
from pytest_fcbench.models.provider import CHAT, Chosen, choose_manner
from pytest_fcbench.models.providers.endpoint_model import STREAM_OPTIONS, Parameters
from pytest_fcbench.models.providers.event_stream import JoinedStream
from pytest_fcbench.models.providers.openai_compatible import (
    CONTROLS,
    Endpoint,
    OpenAICompatibleModel,
    find_endpoint,
    find_given_key,
    make_model,
)
from pytest_fcbench.models.providers.vendors import (
    RequestSigner,
    add_to_path,
    describe_key,
    find_vendor,
    needs_signature,
)

_REFUSED_LIMIT = 1000
"""The official limit where the prompt alone is too long; the server refuses the request then."""

_SPARE_TOKENS = 2
"""The tokens of a context that the official limit leaves free."""

_RENAMED: Mapping[Api, tuple[str | None, Mapping[str, str]]] = {
    Api.RESPONSES: (None, {"max_tokens": "max_output_tokens"}),
    Api.GENERATE_CONTENT: (
        "generationConfig",
        {
            "temperature": "temperature",
            "top_p": "topP",
            "top_k": "topK",
            "max_tokens": "maxOutputTokens",
            "seed": "seed",
        },
    ),
    Api.CONVERSE: (
        "inferenceConfig",
        {"temperature": "temperature", "top_p": "topP", "max_tokens": "maxTokens"},
    ),
}
"""The member of the body that holds parameters, None for the body itself, and their names there."""

_STREAMED = (Api.CHAT, Api.COMPLETIONS)
"""The APIs whose streams are read."""


def choose_member(settings: Settings) -> FamilyMember | None:
    """Choose the official model whose form requests take, by ``--fcbench-as``, else by the model's id.

    None where requests take the form for every server. Raises ``UsageError``.
    """
    requested_id = settings.read_as
    if requested_id == CHAT:
        return None
    official = requested_id or find_official_id(settings.model, settings.mode)
    if official is None:
        return None
    family = find_family(official, repaired=settings.repair)
    options = {"mode": settings.mode, "names": settings.names, "syntax": settings.syntax}
    conflicts = {name: value for name, value in options.items() if value not in (None, getattr(family, name))}
    # Without --fcbench-as, options that contradict the family ask for the form for every server.
    if conflicts and requested_id is None:
        return None
    if family.handler in UNASKED and not (settings.repair and family.handler in list_asked()):
        if requested_id is None:
            return None
        reason = UNASKED[family.handler]
        raise UsageError(f"--fcbench-as={official}: {reason}; use --fcbench-as={CHAT}")
    for name, value in conflicts.items():
        raise UsageError(
            f"{BY_KEY[name].flag}={value}: {official} is asked and read with {name} "
            f"{getattr(family, name)!s}; leave {BY_KEY[name].flag} out, or use --fcbench-as={CHAT}"
        )
    is_own_id = find_official_id(settings.model, family.mode) == official or settings.model == official
    _, _, behind_prefix = settings.model.partition("/")
    endpoint = find_endpoint(settings)
    server_name = endpoint.model if endpoint else behind_prefix or settings.model
    name = name_at_server(official) if is_own_id else server_name
    return FamilyMember(official, family.handler, name, settings.repair)


@dataclass
class FamilyModel(OpenAICompatibleModel):
    """A model that is asked in the form of its family."""

    plain: Model | None = None
    """Answers requests that have no form of a family."""
    context_length: int | None = None
    """The most tokens of prompt and answer together; None where only the server knows."""
    has_listed_models: bool = False
    """True where the server has listed its models, which may tell the length of the context."""
    missing_key: str = ""
    """The message for a key that the vendor's own address needs and that is not set."""
    signer: RequestSigner | None = None
    """Signs requests that carry no key."""

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Ask the endpoint once. Raises ``CallError`` where no answer comes."""
        if request.wire is None:
            assert self.plain, "without a plain model, only requests in a family's form can be sent"
            return await self.plain.complete(entry, request)
        return await super().complete(entry, request)

    async def ask_endpoint(self, entry: Entry, request: AskModel) -> Completion:
        """Ask the endpoint as the official harness does. Raises ``CallError``."""
        return await self.send_request(entry, request, self.choose_parameters(request))

    def require_key(self) -> None:
        """Raise ``CallError`` where the family's endpoint needs a key and none is set."""
        if self.missing_key:
            raise CallError("authentication", self.build_reason(self.missing_key))

    def choose_parameters(self, request: AskModel) -> dict[str, object]:
        """Return the parameters that the user gave; a family has defaults of its own."""
        return self.parameters | ({"stream": True} if request.defaults.get("stream") else {})

    async def send_request(self, entry: Entry, request: AskModel, parameters: Parameters) -> Completion:
        """Send one request. Raises ``CallError``."""
        assert request.wire
        wire = request.wire
        self.require_key()
        body = self._build_body(wire, parameters)
        if wire.api is Api.COMPLETIONS and "max_tokens" not in body:
            body["max_tokens"] = await self._limit_answer(str(body["prompt"]))
        url, headers = self.address_request(entry, wire.api)
        body_text = json.dumps(body)
        if self.signer:
            try:
                headers = await asyncio.to_thread(self.signer.sign_headers, url, headers, body_text)
            except CallError as error:
                raise error.with_reason(self.build_reason(error.reason)) from None

        def read(stream: JoinedStream) -> Completion:
            value = cast("Mapping[str, object]", mask_secrets_within(stream.reply, self.secrets))
            completion = read_family_reply(wire.api, value)
            protocol = merge_notes(completion.protocol, stream.notes)
            return replace(completion, protocol=protocol, served=read_served(value, ()))

        wants_stream = bool(body.get("stream"))
        return await self.exchange_messages((url, headers), body_text, read, wants_stream=wants_stream)

    def describe_request(self, entry: Entry, request: AskModel) -> Mapping[str, object]:
        """Return a request as it is sent, as JSON values in which keys are masked.

        The limit of the answer to a written prompt is missing, because it takes a request to the server.
        """
        wire = request.wire
        if wire is None:
            return describe_request(self.plain, entry, request)
        url, headers = self.address_request(entry, wire.api)
        body = self._build_body(wire, self.parameters)
        return self.mask_parts({"url": url, "headers": headers, "body": body})

    def _build_body(self, wire: WireRequest, parameters: Parameters) -> dict[str, object]:
        """Build the body; only a family knows its model's name while it writes a prompt."""
        named = {"model": self.name} if wire.api is Api.COMPLETIONS else {}
        return {**named, **add_parameters(wire, parameters)}

    async def _limit_answer(self, prompt: str) -> int:
        """Return the official limit of an answer: what the context leaves, and never more than 4,096."""
        if self.context_length is None and not self.has_listed_models:
            # vLLM and SGLang say in their list of models how long a context may be.
            rows = await self.list_model_rows()
            # Not before, nor for a server that is still starting: such requests would go without the limit.
            self.has_listed_models = bool(rows)
            lengths = (row.get("max_model_len") for row in rows if row.get("id") == self.name)
            self.context_length = next((length for length in lengths if isinstance(length, int)), None)
        if self.context_length is None:
            return MOST_ANSWER_TOKENS
        # No token is shorter than a byte, so a short prompt needs no request.
        prompt_tokens = len(prompt.encode("utf-8", "surrogatepass"))
        if prompt_tokens + _SPARE_TOKENS + MOST_ANSWER_TOKENS > self.context_length:
            prompt_tokens = await self._count_tokens(prompt)
        return compute_answer_limit(self.context_length, prompt_tokens)

    async def _count_tokens(self, prompt: str) -> int:
        """Ask the server for the tokens of a prompt; estimate them from its length where it does not say."""
        url = add_to_path(re.sub(r"/v1/?(?=\?|$)", "", self.api_base or ""), "tokenize")
        reply = await self.ask_for_object(url, {"model": self.name, "prompt": prompt})
        count = reply.get("count")
        return count if isinstance(count, int) else len(prompt) // 4


def compute_answer_limit(context_length: int, prompt_tokens: int) -> int:
    """Compute the official limit of an answer from the tokens of a context and of a prompt.

    Official: ``base_oss_handler._query_prompting``.
    """
    if context_length < prompt_tokens + _SPARE_TOKENS:
        return _REFUSED_LIMIT
    return min(MOST_ANSWER_TOKENS, context_length - prompt_tokens - _SPARE_TOKENS)


def add_parameters(wire: WireRequest, parameters: Parameters) -> dict[str, object]:
    """Return the body of a request with the parameters that the user chose, where the API has them."""
    member, names = _RENAMED.get(wire.api, (None, {}))
    members = {name: value for name, value in parameters.items() if name not in CONTROLS}
    if member is None:
        # In their order: of two names of one parameter the last counts.
        members = {names.get(name, name): value for name, value in members.items()}
    elif nested := {names[name]: members.pop(name) for name in list(members) if name in names}:
        members = {member: {**as_mapping(wire.body.get(member)), **nested}, **members}
    body: dict[str, object] = {**wire.body, **members}
    if body.get("stream") and wire.api in _STREAMED:
        body = STREAM_OPTIONS | body
    elif "stream" in parameters:
        body.pop("stream_options", None)
    return {**body, **as_mapping(parameters.get("extra_body"))}


def find_address(member: FamilyMember, settings: Settings) -> tuple[str | None, str | None]:
    """Find address and key of a family's endpoint: in options, the environment, or the vendor's defaults."""
    vendor, endpoint = find_vendor(member.handler), find_endpoint(settings)
    key = find_given_key(settings)
    if endpoint:
        return endpoint.api_base, key or endpoint.api_key or vendor.find_key()
    return settings.api_base or vendor.find_base(), key or vendor.find_key()


def find_key_variables(member: FamilyMember, settings: Settings) -> Sequence[str]:
    """Return the environment variables of a family's key; none where requests are signed instead."""
    endpoint, (api_base, key) = find_endpoint(settings), find_address(member, settings)
    if key is None and api_base and _takes_signatures(member, api_base):
        return ()
    return (*((endpoint.key_variable,) if endpoint else ()), *find_vendor(member.handler).keys)


def _takes_signatures(member: FamilyMember, api_base: str) -> bool:
    return find_api(member.handler) is Api.CONVERSE and needs_signature(api_base)


def open_family_model(member: FamilyMember, plain: Model, settings: Settings) -> Chosen:
    """Open the model of a family behind its endpoint. Raises ``UsageError`` where none is known."""
    vendor, api = find_vendor(member.handler), find_api(member.handler)
    if settings.parameters.get("stream") and api not in _STREAMED:
        flag = BY_KEY["stream"].flag
        raise UsageError(
            f"{flag}=on: {member.model} is asked at an API whose streams are not read; leave {flag} out, or "
            f"use --fcbench-as={CHAT}"
        )
    api_base, key = find_address(member, settings)
    if api_base is None:
        raise UsageError(
            f"{settings.flags.model}={settings.model}: {member.model} is asked at a server of your own; "
            f"give its address with {settings.flags.api_base}=URL, or use --fcbench-as={CHAT}"
        )
    base = make_model(settings, Endpoint(member.name, api_base, key, ""))
    signs = key is None and _takes_signatures(member, api_base)
    lacks_key = not key and not signs and api_base == vendor.base
    kept_names = settings.chosen_parameters | CONTROLS
    base.parameters = {name: value for name, value in base.parameters.items() if name in kept_names}
    model = FamilyModel(
        **vars(base),
        plain=plain,
        context_length=settings.context_length,
        missing_key=describe_key(settings.model, vendor.keys) if lacks_key and vendor.keys else "",
        signer=RequestSigner(api_base) if signs else None,
    )
    manner = choose_manner(replace(settings, read_as=member.model))
    return Chosen(model, replace(manner, member=member))
