"""A Python function as the model: an agent, a pipeline, a client of a team's own::

    def answer(messages, tools):        # or: async def
        return "text", or a message as OpenAI's chat interface writes it, or its list of tool calls

``messages`` and ``tools`` are those of a request to that interface; ``tools`` is empty in prompting mode. A
tool call is ``{"function": {"name": ..., "arguments": ...}}`` or ``{"name": ..., "arguments": ...}``, with
arguments as JSON text or as a dict. An object with ``model_dump``, such as a message of the ``openai``
package, is taken for what that returns.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TypeAlias

from pytest_fcbench.codecs.function_docs.python_code import import_module
from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.domain.transcript import AskModel, Completion, Ending, ToolCall
from pytest_fcbench.models.protocol import Model
from pytest_fcbench.models.provider import Chosen, Provider, choose_manner, refuse_model

Function: TypeAlias = Callable[[list[object], list[object]], object]

RAISED = "function_error"
NO_ANSWER = "function_result"


@dataclass(frozen=True, slots=True)
class PythonModel(Model):
    """A model that asks a function; one that is not ``async`` runs in a thread of its own."""

    name: str
    function: Function

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Call the function. Raises ``CallError`` where it raises, or returns no answer."""
        # The function may change its arguments, and the next request begins with the same messages.
        messages: list[object] = [deepcopy(dict(message)) for message in request.messages]
        tools: list[object] = [deepcopy(dict(tool)) for tool in request.tools]
        start_time = time.perf_counter()
        try:
            if inspect.iscoroutinefunction(self.function):
                value = await self.function(messages, tools)
            else:
                value = await asyncio.wrap_future(_run_in_thread(self.function, messages, tools))
                # A lambda or an object can return a coroutine without being a coroutine function.
                value = await value if inspect.isawaitable(value) else value
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a program of the user may fail in any way
            cause = error.error if isinstance(error, _FailedError) else error
            reason = f"{self.name} raised {type(cause).__name__}: {' '.join(str(cause).split())}"
            raise CallError(RAISED, redact_secrets(reason)[:300]) from None
        try:
            return read_completion(value, time.perf_counter() - start_time)
        except ValueError as error:
            raise CallError(NO_ANSWER, f"{self.name} returned {error}") from None


class _FailedError(Exception):
    """The error of a function in a thread, wrapped because asyncio refuses some (StopIteration)."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


def _run_in_thread(function: Function, messages: list[object], tools: list[object]) -> Future[object]:
    """Call the function in a new thread, which does not hold up the end of an aborted run."""
    future: Future[object] = Future()
    future.set_running_or_notify_cancel()

    def work() -> None:
        try:
            future.set_result(function(messages, tools))
        except BaseException as error:  # noqa: BLE001 - whatever it is, the conversation waits for it
            future.set_exception(_FailedError(error))

    Thread(target=work, name="fcbench-function", daemon=True).start()
    return future


def read_completion(value: object, latency_s: float | None = None) -> Completion:
    """Convert a returned value to a completion. Raises ValueError that describes any other value."""
    if callable(dump := getattr(value, "model_dump", None)):
        value = dump()
    if isinstance(value, str):
        return Completion(text=value, latency_s=latency_s)
    if isinstance(value, list):
        value = {"tool_calls": value}
    if not isinstance(value, Mapping):
        raise ValueError(f"{_shorten(value)}, neither text nor a message nor a list of tool calls")
    keys = ("content", "tool_calls", "reasoning_content", "refusal")
    text, calls, reasoning, refusal = map(value.get, keys)
    if not isinstance(text, str | None):
        raise ValueError(f"a message whose content is {_shorten(text)}, not text")
    if not isinstance(calls, list | None):
        raise ValueError(f"a message whose tool_calls are {_shorten(calls)}, not a list")
    if text is None and calls is None and not refusal:
        raise ValueError(f"a message with neither content nor tool_calls: {_shorten(value)}")
    read = []
    for raw_call in calls or ():
        call = raw_call.get("function", raw_call) if isinstance(raw_call, Mapping) else None
        call = call if isinstance(call, Mapping) else {}
        name, arguments = call.get("name"), call.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, str | dict):
            what = "a tool call without a name, or with arguments that are neither text nor a dict"
            raise ValueError(f"{what}: {_shorten(raw_call)}")
        try:
            read.append(ToolCall(name, arguments if isinstance(arguments, str) else json.dumps(arguments)))
        except (TypeError, ValueError, RecursionError) as error:
            reason = f"arguments that cannot be written as JSON ({error}): {_shorten(raw_call)}"
            raise ValueError(reason) from None
    thoughts, words = (part if isinstance(part, str) else None for part in (reasoning, refusal))
    ending = Ending.REFUSED if refusal else None
    return Completion(text, tuple(read) or None, thoughts, latency_s=latency_s, ending=ending, refusal=words)


def _shorten(value: object) -> str:
    return f"{value!r:.120}"


def _open_model(argument: str, settings: Settings) -> Chosen:
    """Open the function as a model; its module is looked for in the folder of the project first.

    Raises ``UsageError``.
    """
    return Chosen(PythonModel(argument, _find_function(argument, settings)), choose_manner(settings))


def _identify_code(argument: str, settings: Settings) -> Mapping[str, object]:
    """Return the sha256 of the function's file, so that answers of another version are not reused.

    Files that it imports do not count. Raises ``UsageError``.
    """
    try:
        source = inspect.getsourcefile(inspect.unwrap(_find_function(argument, settings)))
    except TypeError:
        # An object that is called, or a function written in C.
        source = None
    return {"code": hashlib.sha256(Path(source).read_bytes()).hexdigest() if source else ""}


def _find_function(argument: str, settings: Settings) -> Function:
    module, colon, function = argument.partition(":")
    if not (colon and module and function):
        raise refuse_model(settings, "a function is missing; use python:MODULE:FUNCTION")
    try:
        target: object = getattr(import_module(module, settings.project.resolve()), function, None)
    except UsageError as error:
        raise refuse_model(settings, str(error)) from None
    if not callable(target):
        raise refuse_model(settings, f"{module} has no function {function!r}; name one that it defines")
    return target


PROVIDER = Provider(
    _open_model,
    "MODULE:FUNCTION",
    "your own Python function, called with messages and tools",
    identify=_identify_code,
)
