"""Any model that litellm reaches, for answers and for vectors.

The only module that imports litellm, and only on the first call.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from pytest_fcbench.codecs.chat_reply import CHAT, SERVED, read_choice, read_served, read_tokens
from pytest_fcbench.codecs.dialogues.vendor_forms import read_family_reply
from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.redaction import list_request_secrets
from pytest_fcbench.domain.text import as_mapping, escape_surrogates, list_objects, read_reply_text
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.models.price_table import litellm_models, litellm_providers
from pytest_fcbench.models.protocol import Model
from pytest_fcbench.models.provider import Chosen, Provider, choose_manner, refuse_model
from pytest_fcbench.models.providers.endpoint_model import EndpointModel, Parameters, RequestRefusedError
from pytest_fcbench.models.providers.event_stream import join_chunks
from pytest_fcbench.models.providers.failures import (
    OWN_FAULTS,
    Failure,
    diagnose_failure,
    parse_retry_after,
    write_in_one_line,
)
from pytest_fcbench.models.providers.openai_compatible import CONTROLS, read_answer, read_known_parameters
from pytest_fcbench.models.providers.reply_bodies import LONGEST_BODY, MIB, bound_replies
from pytest_fcbench.models.providers.vendors import describe_key, find_variable, read_key_variables


def import_litellm() -> ModuleType:
    """Import litellm, without its network access, telemetry and printed hints."""
    # Without this, litellm asks the network for its price list while it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # It logs parts of replies, which may repeat what was sent.
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    module: ModuleType = litellm
    return module


def build_call(model: str, timeout_s: float, api_base: str | None, api_key: str | None) -> dict[str, object]:
    """Build the arguments that all calls of litellm have."""
    optional = {"api_base": api_base, "api_key": api_key}
    # Only the dispatcher repeats calls: it knows the limits of the whole run.
    always: dict[str, object] = {"model": model, "timeout": timeout_s, "max_retries": 0}
    return always | {name: value for name, value in optional.items() if value}


class LitellmModel(EndpointModel):
    """A model behind litellm."""

    def require_key(self) -> None:
        """Raise ``CallError`` where litellm would find no key."""
        require_key(self.id, self.api_base, self.api_key, self.parameters)

    async def prepare(self) -> None:
        """Import litellm, and have it import what it imports with the first call to a provider.

        Raises ``CallError`` where no key is set.
        """
        self.require_key()
        litellm = import_litellm()
        hello = [{"role": "user", "content": "hello"}]
        # It sends nothing and returns the given answer; what it says of the id the first real call says too.
        with suppress(Exception):
            await litellm.acompletion(model=self.id, messages=hello, mock_response="", api_key="unused")

    async def send_request(self, entry: Entry, request: AskModel, parameters: Parameters) -> Completion:
        """Ask through litellm once. Raises ``CallError``."""
        self.require_key()
        litellm = import_litellm()
        originals: list[str] = []

        def keep_original(details: Mapping[str, object]) -> None:
            if isinstance(original := details.get("original_response"), str):
                originals.append(original)

        call = build_call(self.id, self.timeout_s, self.api_base, self.api_key)
        arguments = {**self._build_arguments(entry, request, parameters), **call, "logger_fn": keep_original}
        start_time = time.perf_counter()
        try:
            with bound_replies(litellm.httpx, self.longest_body):
                if request.wire:
                    reply = await litellm.atext_completion(**arguments)
                    completion = read_family_reply(request.wire.api, reply.model_dump())
                elif parameters.get("stream"):
                    reply = await litellm.acompletion(**arguments)
                    chunks = [chunk.model_dump(exclude_unset=True) async for chunk in reply]
                    # Joined by the rules for all streams, not by litellm's.
                    completion = read_answer(join_chunks(iter(chunks)), self.secrets)
                else:
                    reply = await litellm.acompletion(**arguments)
                    completion = _read_completion(reply, originals, self.secrets)
        except Exception as error:  # noqa: BLE001 - any provider's failure is one answer missing, not a crash
            # litellm refuses some answers that a server did give, such as content in parts.
            if (original := _find_original_reply(originals)) is None:
                call_error = describe_failure(self.id, error, self.secrets)
                if fault := OWN_FAULTS.get(call_error.cause):
                    return Completion(text=call_error.reason, fault=fault)
                if call_error.cause == "bad_request":
                    call_error = RequestRefusedError(call_error.reason, str(error))
                raise call_error from None
            completion = read_choice(*original, self.secrets)
        return replace(completion, latency_s=time.perf_counter() - start_time)

    def describe_request(self, entry: Entry, request: AskModel) -> Mapping[str, object]:
        """Return what litellm is asked to send; the body that it makes of that is its own."""
        arguments = self._build_arguments(entry, request, self.choose_parameters(request))
        return {"litellm": self.mask_parts({"model": self.id, "api_base": self.api_base, **arguments})}

    def _build_arguments(self, entry: Entry, request: AskModel, parameters: Parameters) -> dict[str, object]:
        """Build the arguments of litellm that are those of one request."""
        # litellm changes what it is given (of ``hosted_vllm`` it cuts parts out of the schemas of tools), and
        # the next request begins with the same messages and tools.
        messages = [deepcopy(dict(message)) for message in request.messages]
        plain_arguments = {**parameters, "messages": messages}
        arguments = {**request.wire.body, **parameters} if request.wire else plain_arguments
        # As officially, empty ``tools`` are left out.
        if request.tools:
            arguments["tools"] = [deepcopy(dict(tool)) for tool in request.tools]
        if headers := self.build_headers(entry):
            arguments["extra_headers"] = headers
        return arguments


def describe_failure(
    model: str, error: Exception, secrets: Sequence[str], way_out: str = "add --fcbench-api-base=URL"
) -> CallError:
    """Return litellm's error of a failed call as ours: its cause, and whether trying again may help.

    ``way_out`` is that for a model on a server of one's own.
    """
    status = getattr(error, "status_code", None)
    # The error and those that it came from, which litellm wraps several times.
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or link.__context__
    # Ours, of a limit on what is read and followed.
    if ours := next((each for each in chain if isinstance(each, CallError)), None):
        return ours.with_reason(f"{model}: {write_in_one_line(ours.reason, secrets)}")
    if _NO_PROVIDER in str(error):
        reason = f"{model}: not an id of litellm; for a server of your own {way_out}"
        return CallError("not_found", reason)
    if _NO_KEY.search(str(error)):
        failure = Failure("authentication", transient=False)
    elif any(isinstance(each, _UNREACHABLE) for each in chain):
        failure = Failure("connection", transient=True)
    elif "Timeout" in type(error).__name__:
        failure = Failure("timeout", transient=True)
    else:
        codes = (code for each in chain if isinstance(code := getattr(each, "code", None), str))
        failure = diagnose_failure(status if isinstance(status, int) else 500, " ".join([str(error), *codes]))
    headers = as_mapping(getattr(error, "litellm_response_headers", None))
    wait, date = (value if isinstance(value := headers.get(name), str) else None for name in _WAIT_HEADERS)
    wait_s = None if wait is None else parse_retry_after(wait, date)
    return failure.make_error(f"{model}: {_shorten(error, secrets)}", wait_s)


def _shorten(error: Exception, secrets: Sequence[str]) -> str:
    # Some messages of litellm end in a traceback, with paths of this machine.
    words = str(error).partition("Traceback (most recent call last)")[0]
    return write_in_one_line(words, secrets) or type(error).__name__


# litellm passes these on as errors of the server, some with status 500, so they would be tried for minutes.
_NO_KEY = re.compile(
    r"Missing credentials|Missing \S+ API Key|api_key client option must be set|\w_API_KEY is not set",
    re.IGNORECASE,
)
_NO_PROVIDER = "LLM Provider NOT provided"

_UNREACHABLE = (ConnectionRefusedError, socket.gaierror)
_WAIT_HEADERS = ("retry-after", "date")


def _read_completion(reply: object, originals: Sequence[str], secrets: Sequence[str]) -> Completion:
    """Read a reply in OpenAI's shape, from what the server sent where that has this shape."""
    choices = getattr(reply, "choices", None)
    if not choices:
        raise CallError("endpoint", "the endpoint returned no choices", transient=True)
    if original := _find_original_reply(originals):
        choice, _ = original
    else:
        message = _drop_nulls(choices[0].message.model_dump(exclude_unset=True))
        choice = {"message": message, "finish_reason": choices[0].finish_reason}
    completion = read_choice(choice, None, secrets)
    # litellm translates what every provider states into OpenAI's words.
    usage = getattr(reply, "usage", None)
    counts = read_tokens(usage.model_dump() if usage else None, CHAT)
    served = read_served({name: getattr(reply, name, None) for name in SERVED}, secrets)
    return replace(completion, served=served, **counts)


def _find_original_reply(originals: Sequence[str]) -> tuple[Mapping[str, object], object] | None:
    """Return the choice and the usage in the server's own reply, if it has OpenAI's chat interface.

    litellm changes it: of a text it cuts ``<think>`` off, and members that it does not know get other places.
    """
    for original in reversed(originals):
        try:
            reply = as_mapping(read_reply_text(original))
        except ValueError:
            continue
        if choices := list_objects(reply.get("choices")):
            if not isinstance(message := choices[0].get("message"), Mapping):
                return None
            return {**choices[0], "message": _drop_nulls(message)}, reply.get("usage")
    return None


def _drop_nulls(message: Mapping[str, object]) -> Mapping[str, object]:
    """Leave out members of a message and of its calls that are null, except a content of the message.

    The client of OpenAI, which litellm uses for some servers, adds those that the server did not send, and
    litellm sends none of them back.
    """
    members = {name: value for name, value in message.items() if value is not None or name == "content"}
    if isinstance(calls := members.get("tool_calls"), list):
        members["tool_calls"] = [
            {name: value for name, value in call.items() if value is not None}
            if isinstance(call, Mapping)
            else call
            for call in calls
        ]
    return members


def _open_model(argument: str, settings: Settings) -> Chosen:
    if not argument:
        raise refuse_model(settings, "needs an id of litellm, as in litellm:openai/gpt-4o")
    model = LitellmModel(
        id=argument,
        parameters=dict(settings.parameters),
        api_base=settings.api_base,
        api_key=settings.api_key,
        timeout_s=settings.timeout_s,
        tag=settings.tag,
        chosen=settings.chosen_parameters,
        longest_body=settings.max_body * MIB,
    )
    return Chosen(model, choose_manner(settings))


_ADDRESS = re.compile(r"_(API_BASE|BASE_URL|API_URL|URL|ENDPOINT)$")
_PLACE = re.compile(r"_(API_VERSION|REGION|REGION_NAME|LOCATION|PROJECT|PROJECT_ID)$")
_OTHER_WORDS: Mapping[str, Sequence[str]] = {
    "bedrock": ("AWS",),
    "huggingface": ("HF",),
    "sagemaker": ("AWS",),
    "vertex_ai": ("VERTEX", "VERTEXAI"),
    "text-completion-openai": ("OPENAI",),
    "watsonx": ("WX", "WML"),
}
"""Words with which variables of a provider begin, beside those of its name."""


def has_provider(model: str) -> bool:
    """Tell whether litellm knows which provider to ask for a model, without asking."""
    litellm = import_litellm()
    try:
        litellm.get_llm_provider(model)
    except litellm.BadRequestError:
        return False
    return True


def find_provider_name(model: str) -> str | None:
    """Return litellm's name of the provider of an id, None where its tables do not tell."""
    name, slash, _ = model.partition("/")
    if slash and name in litellm_providers():
        return name
    provider_name = litellm_models().get(model, {}).get("litellm_provider")
    return provider_name if isinstance(provider_name, str) else None


def identify_endpoint(argument: str, settings: Settings) -> Mapping[str, object]:
    """Return the variables of the environment by which litellm chooses where a model is asked.

    litellm names them after the provider (``OPENAI_BASE_URL``, ``AZURE_API_VERSION``). An address in the
    settings comes before those of the environment.
    """
    provider = find_provider_name(argument) or "openai"
    patterns = [_PLACE] if settings.api_base else [_PLACE, _ADDRESS]
    variables = _read_variables(provider, patterns)
    return {"environment": variables} if variables else {}


def _read_variables(provider: str, patterns: Sequence[re.Pattern[str]]) -> Mapping[str, str]:
    """Read the variables of a provider whose names have one of these ends."""
    # The first word is enough: the variable of ``ollama_chat`` is ``OLLAMA_API_BASE``.
    words = (re.split(r"[_-]", provider.upper())[0], *_OTHER_WORDS.get(provider, ()))
    prefixes = tuple(f"{word}_" for word in words)
    return {
        variable: value
        for variable, value in os.environ.items()
        if value and variable.startswith(prefixes) and any(pattern.search(variable) for pattern in patterns)
    }


_WITHOUT_PREFIX = frozenset({"anthropic", "cohere", "cohere_chat", "openai", "text-completion-openai"})
"""Providers that litellm finds by the name of a model alone; of others it knows prices by that name."""

_OWN_SERVERS = frozenset({"hosted_vllm", "lm_studio"})
"""Prefixes of servers that people run themselves, for which no address can be right but theirs."""
_PROOFS_AT_ANTHROPIC = ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_FEDERATION_RULE_ID")
"""Variables with which litellm is let in without a key."""


def find_key_variables(model: str) -> Sequence[str]:
    """Return the environment variables that litellm reads for the key of a model.

    There are none where only litellm knows them, or has another way to be let in.
    """
    provider = find_provider_name(model)
    if provider is None or ("/" not in model and provider not in _WITHOUT_PREFIX):
        return ()
    variables = read_key_variables().get(provider, ())
    others = (*(_PROOFS_AT_ANTHROPIC if provider == "anthropic" else ()), "USE_LITELLM_PROXY")
    return () if find_variable(others) and not find_variable(variables) else variables


def require_key(model: str, api_base: str | None, api_key: str | None, parameters: Parameters) -> None:
    """Raise ``CallError`` where litellm would find no key or no address for a model, before it is imported.

    It imports for seconds before it tells that; some providers it asks without any key, and to some it
    sends that of OpenAI.
    """
    is_of_own_server = model.partition("/")[0] in _OWN_SERVERS and not (api_base or "api_base" in parameters)
    if is_of_own_server and not _read_variables(find_provider_name(model) or "", [_ADDRESS]):
        # litellm would ask OpenAI.
        raise CallError("connection", f"{model}: its address is not known; give it with --fcbench-api-base")
    # Where it asks another address or with parameters of its own, only litellm knows what is needed.
    if api_key or api_base or not parameters.keys() <= read_known_parameters() - CONTROLS:
        return
    variables, provider = find_key_variables(model), find_provider_name(model) or ""
    if not variables or find_variable(variables) or _read_variables(provider, [_ADDRESS]):
        return
    if not _is_set_otherwise(provider, variables):
        raise CallError("authentication", f"{model}: {describe_key(model, variables)}")


def _is_set_otherwise(provider: str, variables: Sequence[str]) -> bool:
    """Tell whether litellm may have a key that is not in the environment: in a file or in Python."""
    # Somebody may have imported it and given it one.
    litellm_module = sys.modules.get("litellm")
    names = ("api_key", "api_base", f"{provider}_key", "secret_manager_client")
    if any(getattr(litellm_module, name, None) for name in names):
        return True
    spec = find_spec("litellm")
    folders = Path(spec.origin).parents if spec and spec.origin else ()
    # While it is imported, it reads the nearest such file above its own folder.
    file = next((file for folder in folders if (file := folder / ".env").is_file()), None)
    text = file.read_text(encoding="utf-8", errors="replace") if file else ""
    return any(variable in text for variable in variables)


PROVIDER = Provider(_open_model, "ID", "any id of litellm, asked through litellm", identify=identify_endpoint)
"""Makes models of all names that no other provider has."""


_DIGITS = 6


@dataclass(frozen=True, slots=True)
class EmbeddingModel(Model):
    """A model whose answer is a JSON matrix: cosines of the texts ``made`` (rows) and ``expected`` (columns).

    The texts are the messages of the request, in order; their role says to which side they belong.
    Officially it is bge-large-en-v1.5, whose vectors are normalised, so that a dot product is a cosine.
    """

    id: str
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 600.0
    parameters: Mapping[str, object] = field(default_factory=dict)
    """Parameters that go into every request (``encoding_format`` ...)."""

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Ask the endpoint once. Raises ``CallError`` where no vectors come."""
        texts = [escape_surrogates(str(message["content"])) for message in request.messages]
        call = build_call(self.id, self.timeout_s, self.api_base, self.api_key)
        arguments: dict[str, object] = {**self.parameters, **call, "input": texts}
        require_key(self.id, self.api_base, self.api_key, self.parameters)
        litellm, start_time = import_litellm(), time.perf_counter()
        try:
            with bound_replies(litellm.httpx, LONGEST_BODY):
                reply: object = await litellm.aembedding(**arguments)
        except Exception as error:  # noqa: BLE001 - any provider's failure is one answer missing, not a crash
            secrets = list_request_secrets(self.api_key, self.api_base, self.parameters)
            way_out = f"use openai/{self.id} with --fcbench-similarity-api-base=URL"
            raise describe_failure(self.id, error, secrets, way_out) from None
        sides: dict[object, list[list[float]]] = {"made": [], "expected": []}
        for vector, message in zip(self._read_vectors(reply, len(texts)), request.messages, strict=True):
            sides[message["role"]].append(vector)
        cosines = [
            [
                # ``fsum`` gives the same digits on every Python. Adding 0.0 makes 0.0 of -0.0, which JSON
                # would write differently.
                round(math.fsum(a * b for a, b in zip(made_vector, other, strict=True)), _DIGITS) + 0.0
                for other in sides["expected"]
            ]
            for made_vector in sides["made"]
        ]
        tokens = getattr(getattr(reply, "usage", None), "prompt_tokens", None)
        latency_s = time.perf_counter() - start_time
        return Completion(text=json.dumps(cosines), input_tokens=tokens, output_tokens=0, latency_s=latency_s)

    def _read_vectors(self, reply: object, count: int) -> list[list[float]]:
        """Return the vectors in order, each of length 1. Raises ``CallError`` unless all are usable."""
        rows = getattr(reply, "data", None) or ()
        by_place = {_read_member(row, "index"): _read_member(row, "embedding") for row in rows}
        vectors = []
        for place in range(count):
            vector = by_place.get(place)
            if not isinstance(vector, list) or not vector:
                continue
            if all(type(x) in (int, float) and math.isfinite(x) for x in vector):
                # So that no square is too large or too small for a float.
                largest = max(map(abs, vector)) or 1.0
                scaled_vector = [x / largest for x in vector]
                length = math.hypot(*scaled_vector) or 1.0
                vectors.append([x / length for x in scaled_vector])
        if len(vectors) < count or len(set(map(len, vectors))) > 1:
            counts = f"{len(by_place)} vectors for {count} texts"
            reason = f"{self.id}: the endpoint returned {counts}, or some that are not valid"
            raise CallError("garbled", reason, transient=True)
        return vectors


def _read_member(row: object, name: str) -> object:
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)
