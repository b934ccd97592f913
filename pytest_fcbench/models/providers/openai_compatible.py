"""Models behind any server with OpenAI's chat interface (vLLM, SGLang, llama.cpp ...), asked directly.

A call costs a fraction of the processor time that client libraries need, so one process keeps a fast server
busy. Messages, tools and replies pass unchanged: nothing is added, removed or rewritten on the way.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TypeAlias
from urllib.parse import quote

from pydantic_core import PydanticSerializationError, to_json

from pytest_fcbench.codecs.chat_reply import read_choice, read_served
from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.protocol_notes import merge_notes
from pytest_fcbench.domain.redaction import list_request_secrets, redact_secrets
from pytest_fcbench.domain.tables import WordSet, read_table
from pytest_fcbench.domain.text import as_mapping, list_objects, read_json_text
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.kinds.forced.entries import NamedServer
from pytest_fcbench.models.price_table import litellm_models, litellm_providers
from pytest_fcbench.models.provider import Chosen, Provider, choose_manner
from pytest_fcbench.models.providers.endpoint_model import EndpointModel, Parameters, RequestRefusedError
from pytest_fcbench.models.providers.event_stream import JoinedStream, read_value
from pytest_fcbench.models.providers.failures import diagnose_failure, read_error_message
from pytest_fcbench.models.providers.http import ConnectionPool, HttpReply, check_address
from pytest_fcbench.models.providers.reply_bodies import MIB, ReportedError, parse_json
from pytest_fcbench.models.providers.vendors import Vendor, add_to_path, build_key_header, build_url

PREFIXES: Mapping[str, Vendor] = {
    "openai": Vendor(own_keys=("OPENAI_API_KEY",), bases=("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    "hosted_vllm": Vendor(own_keys=("HOSTED_VLLM_API_KEY",), bases=("HOSTED_VLLM_API_BASE",)),
    "lm_studio": Vendor(own_keys=("LM_STUDIO_API_KEY",), bases=("LM_STUDIO_API_BASE",)),
}
"""Prefixes of ids that are left out of the request: what follows is the name that the server knows.

litellm, and so its users, keep these environment variables for them.
"""

CONTROLS = frozenset({"extra_body", "extra_headers", "api_key"})
"""Parameters that are no members of the request's body."""


@cache
def read_known_parameters() -> frozenset[str]:
    """Return the parameters that are known to be the server's; the others may be litellm's own."""
    return CONTROLS | read_table(dict[str, WordSet], __file__, "request_parameters.toml")["names"]


_MOST_NAMES = 5
"""The most names of models that a message lists."""

_LIST_S = 10.0
"""The longest wait for the list of models, which only makes an error clearer."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The server of a model: address, key, and the name by which it knows the model."""

    model: str
    api_base: str
    api_key: str | None = field(repr=False)
    key_variable: str
    """The environment variable of the key, where no other is named."""


def find_endpoint(settings: Settings) -> Endpoint | None:
    """Return the server that the settings of a run name, or None where litellm has to find one.

    That is an address given with an id that has no prefix or one of ``PREFIXES``, or an address that the
    environment gives for such a prefix. Ids that litellm knows as those of another provider are left to it,
    and ids that it knows with parameters that may be meant for it. A slash alone makes no prefix: servers
    name models by repository (``Qwen/Qwen3-8B``) or by folder (``/models/mine``).
    """
    is_for_litellm = not settings.parameters.keys() <= read_known_parameters()
    name, slash, rest = settings.model.partition("/")
    if slash and name in PREFIXES:
        prefix, model = PREFIXES[name], rest
        api_base = settings.api_base or prefix.find_base()
    # litellm's tables are read only where they decide.
    elif not settings.api_base or (slash and name in litellm_providers()):
        return None
    else:
        prefix, model, api_base = PREFIXES["openai"], settings.model, settings.api_base
        if litellm_models().get(model, {}).get("litellm_provider", "openai") != "openai":
            return None
        is_for_litellm &= model in litellm_models() or "custom_llm_provider" in settings.parameters
    if is_for_litellm or not api_base or not model:
        return None
    (key_variable,) = prefix.own_keys
    key = find_given_key(settings) or prefix.find_key()
    return Endpoint(model, api_base, key, settings.api_key_env or key_variable)


def find_given_key(settings: Settings) -> str | None:
    """Return the key that the settings of a run hold, as an option or as a parameter of requests."""
    # A variable that was read from a file often ends in a line break, which no header can hold.
    key = settings.api_key or settings.parameters.get("api_key")
    return key.strip() if isinstance(key, str) else None


def name_server(settings: Settings) -> NamedServer:
    """Name the server of a run for reports."""
    if (endpoint := find_endpoint(settings)) is None:
        return NamedServer()
    secrets = list_request_secrets(endpoint.api_key, endpoint.api_base, settings.parameters)
    return NamedServer(redact_secrets(endpoint.api_base, *secrets), endpoint.model, tuple(secrets))


Address: TypeAlias = tuple[str, Mapping[str, str]]
"""The address and the headers of a request."""
ReadStream: TypeAlias = Callable[[JoinedStream], Completion]
"""Reads a reply, which may have come as a stream."""


@dataclass
class OpenAICompatibleModel(EndpointModel):
    """A model behind a server with OpenAI's chat interface; ``name`` is its name at the server."""

    name: str = ""
    connections: ConnectionPool = field(default_factory=ConnectionPool, repr=False)
    offered: tuple[str, ...] | None = None
    """The names of the models that the server offers; None while nobody has asked for them."""

    async def prepare(self) -> None:
        """Import the client and open its pool of connections."""
        await self.connections.open_session()

    async def send_request(self, entry: Entry, request: AskModel, parameters: Parameters) -> Completion:
        """Send one request. Raises ``CallError``."""
        address, body = self.address_request(entry, Api.CHAT), build_body(self.name, request, parameters)
        read, wants_stream = partial(read_answer, secrets=self.secrets), bool(parameters.get("stream"))
        return await self.exchange_messages(address, body, read, wants_stream=wants_stream)

    async def exchange_messages(
        self, address: Address, body: bytes | str, read: ReadStream, *, wants_stream: bool
    ) -> Completion:
        """Send the body of a request, and read what a server of any kind may answer. Raises ``CallError``."""
        (url, headers), start_time = address, time.perf_counter()
        try:
            reply = await self.connections.send_request(
                "POST", url, headers=headers, body=body, timeout_s=self.timeout_s
            )
            latency_s = time.perf_counter() - start_time
            if reply.status != 200:
                return await self._read_failure(reply)
            try:
                kind, longest = reply.headers.get("Content-Type", ""), self.connections.longest_body
                completion = read(read_value(reply.body, kind, wants_stream=wants_stream, longest=longest))
            except ReportedError as error:
                return await self._read_reported_error(reply, error)
        except RequestRefusedError:
            raise
        except CallError as error:
            raise error.with_reason(self.build_reason(error.reason)) from None
        return replace(completion, latency_s=latency_s)

    def describe_request(self, entry: Entry, request: AskModel) -> Mapping[str, object]:
        """Return a request as it is sent, as JSON values in which keys are masked."""
        body: object = read_json_text(build_body(self.name, request, self.choose_parameters(request)))
        url, headers = self.address_request(entry, Api.CHAT)
        return self.mask_parts({"url": url, "headers": headers, "body": body})

    def address_request(self, entry: Entry, api: Api) -> Address:
        """Return the address and the headers of a request at an API."""
        assert self.api_base
        headers = self.build_all_headers(entry, build_key_header(api, self.api_key))
        # Half a character, as in a name of Latin-1, has no form in UTF-8.
        name = quote(self.name, safe="", errors="backslashreplace")
        return build_url(self.api_base, api, name), headers

    def build_all_headers(self, entry: Entry, of_key: Mapping[str, str]) -> Mapping[str, str]:
        return {"Content-Type": "application/json", **of_key, **self.build_headers(entry)}

    async def list_offered_models(self) -> tuple[str, ...]:
        """Ask the server once for the names of its models; there are none where it does not say."""
        if self.offered is None:
            self.offered = tuple(str(row["id"]) for row in await self.list_model_rows() if "id" in row)
        return self.offered

    async def list_model_rows(self) -> Sequence[Mapping[str, object]]:
        """Ask the server for its list of models; an empty one where it does not say."""
        reply = await self.ask_for_object(add_to_path(self.api_base or "", "models"))
        return list_objects(reply.get("data"))

    async def ask_for_object(
        self, url: str, body: Mapping[str, object] | None = None
    ) -> Mapping[str, object]:
        """Ask the server for something beside an answer; an empty object where it does not say."""
        try:
            reply = await self.connections.send_request(
                "GET" if body is None else "POST",
                url,
                headers={"Content-Type": "application/json", **build_key_header(Api.CHAT, self.api_key)},
                body=None if body is None else json.dumps(body),
                timeout_s=min(self.timeout_s, _LIST_S),
            )
            return as_mapping(parse_json(reply.body)) if reply.status == 200 else {}
        except CallError:
            return {}

    async def _read_reported_error(self, reply: HttpReply, error: ReportedError) -> Completion:
        """Read an error that came with status 200 as if it had come with its own status.

        Returns and raises what ``_read_failure`` does.
        """
        try:
            failed_reply = replace(reply, status=error.status, body=error.body)
            return await self._read_failure(failed_reply, "an error with status 200")
        except CallError as failure:
            # Where nothing more is known, the cause is what the server did.
            raise error.with_reason(failure.reason) if failure.cause == "endpoint" else failure from None

    async def _read_failure(self, reply: HttpReply, place: str = "") -> Completion:
        """Return a completion for a failure that is the model's own. Raises ``CallError`` for others.

        Its reason begins with the place of the error, where it is not the status.
        """
        message = read_error_message(reply.body)
        failure = diagnose_failure(reply.status, message)
        if failure.fault:
            return Completion(text=self.build_reason(message), fault=failure.fault)
        reason = f"{place or f'HTTP {reply.status}'}: {message}"
        if failure.cause == "bad_request":
            raise RequestRefusedError(self.build_reason(reason), message)
        if failure.cause == "not_found" and (model_names := await self.list_offered_models()):
            reason += f"; the server offers {list_names(model_names)}"
        elif failure.cause == "not_found" and not re.search(r"/v1/?(?:\?|$)", self.api_base or ""):
            reason += f"; {self.api_base} does not end in /v1, as most such addresses do"
        raise failure.make_error(reason, reply.retry_after_s)


def list_names(names: Sequence[str]) -> str:
    """List the first names of models."""
    return ", ".join(names[:_MOST_NAMES]) + (" ..." if len(names) > _MOST_NAMES else "")


def build_body(model: str, request: AskModel, parameters: Parameters) -> bytes:
    """Write the body of a request as JSON."""
    body: dict[str, object] = {
        "model": model,
        "messages": request.messages,
        **{name: value for name, value in parameters.items() if name not in CONTROLS},
        **as_mapping(parameters.get("extra_body")),
    }
    # As officially, empty ``tools`` are left out.
    if request.tools:
        body["tools"] = request.tools
    try:
        return to_json(body, fallback=dict, inf_nan_mode="constants")
    except PydanticSerializationError:
        # Half a character has no form in UTF-8, but one in ASCII.
        return json.dumps(body, default=dict).encode()


def read_answer(stream: JoinedStream, secrets: Sequence[str]) -> Completion:
    """Read the first choice of a reply, without secrets. Raises ``CallError``."""
    choices = stream.reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise CallError("endpoint", "the endpoint answered without any choice", transient=True)
    completion = read_choice(choices[0], stream.reply.get("usage"), secrets)
    protocol = merge_notes(completion.protocol, stream.notes)
    return replace(completion, protocol=protocol, served=read_served(stream.reply, secrets))


def make_model(settings: Settings, endpoint: Endpoint) -> OpenAICompatibleModel:
    """Make the model behind an endpoint. Raises ``UsageError`` for a wrong address."""
    check_address(settings.flags.api_base, endpoint.api_base, settings.flags.api_key_env)
    return OpenAICompatibleModel(
        id=settings.model,
        parameters=dict(settings.parameters),
        api_base=endpoint.api_base,
        api_key=endpoint.api_key,
        timeout_s=settings.timeout_s,
        tag=settings.tag,
        chosen=settings.chosen_parameters,
        name=endpoint.model,
        connections=ConnectionPool(settings.max_body * MIB),
    )


def _open_model(argument: str, settings: Settings) -> Chosen:
    endpoint = find_endpoint(settings)
    assert endpoint
    return Chosen(make_model(settings, endpoint), choose_manner(settings))


def _identify_server(argument: str, settings: Settings) -> Mapping[str, object]:
    """Return the address that is really asked, which the environment may name."""
    endpoint = find_endpoint(settings)
    return {"api_base": endpoint.api_base.rstrip("/")} if endpoint else {}


PROVIDER = Provider(
    _open_model,
    about="a server with OpenAI's chat interface, at --fcbench-api-base",
    identify=_identify_server,
)
