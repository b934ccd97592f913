"""Any model that litellm reaches. The only module that imports litellm, and only on the first call."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_fcbench.answers import AskModel, Completion, Fault, Mode, ToolCall
from pytest_fcbench.entries import Entry
from pytest_fcbench.errors import NotScoredError
from pytest_fcbench.redaction import redacted

if TYPE_CHECKING:
    from types import ModuleType


def _import() -> ModuleType:
    # Without this, litellm asks the network for its price list while it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    return litellm


@dataclass
class LitellmModel:
    """One model behind litellm.

    ``parameters`` go into every request as they are (temperature, seed, top_p ...). One that the model
    refuses is left out from then on and named in ``notes``.
    """

    id: str
    parameters: dict[str, object]
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 600.0
    mode: Mode | None = None
    syntax: str | None = None
    immediate: bool = False
    dropped: dict[str, str] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """One line for each parameter that was dropped."""
        return tuple(f"{name} was dropped: {reason}" for name, reason in sorted(self.dropped.items()))

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Ask the endpoint. Raises ``NotScoredError`` with the cause where no answer comes."""
        litellm = _import()
        sent = dict(self.parameters)
        while True:
            started = time.perf_counter()
            try:
                reply = await litellm.acompletion(**self._request(request), **sent)
            except litellm.exceptions.ContextWindowExceededError as error:
                return Completion(text=self._short(error), fault=Fault.OVERFLOW)
            except (litellm.exceptions.BadRequestError, litellm.exceptions.UnsupportedParamsError) as error:
                named = [name for name in sent if re.search(rf"\b{re.escape(name)}\b", str(error))]
                if not named:
                    raise NotScoredError("bad_request", self._blame(error)) from None
                sent = {name: value for name, value in sent.items() if name not in named}
                continue
            except litellm.exceptions.AuthenticationError as error:
                raise NotScoredError("authentication", self._blame(error)) from None
            except litellm.exceptions.RateLimitError as error:
                raise NotScoredError("rate_limit", self._blame(error)) from None
            except litellm.exceptions.Timeout as error:
                raise NotScoredError("timeout", self._blame(error)) from None
            except Exception as error:  # noqa: BLE001 - any provider's failure is one answer missing, not a crash
                raise NotScoredError("endpoint", self._blame(error)) from None
            self._drop(self.parameters.keys() - sent.keys())
            return _completion(reply, time.perf_counter() - started)

    def _request(self, request: AskModel) -> dict[str, object]:
        """Everything but the optional parameters. ``tools`` is left out when empty, as officially."""
        asked: dict[str, object] = {
            "model": self.id,
            "messages": [dict(message) for message in request.messages],
            "timeout": self.timeout_s,
            "num_retries": 2,
        }
        if request.tools:
            asked["tools"] = [dict(tool) for tool in request.tools]
        if self.api_base:
            asked["api_base"] = self.api_base
        if self.api_key:
            asked["api_key"] = self.api_key
        return asked

    def _drop(self, refused: Set[str]) -> None:
        """Leave out from now on what an error named and what the request went through without."""
        for name in refused:
            self.parameters.pop(name, None)
            self.dropped.setdefault(name, f"{self.id} refused it")

    def _blame(self, error: Exception) -> str:
        return f"{self.id}: {self._short(error)}"

    def _short(self, error: Exception) -> str:
        text = " ".join(str(error).split()) or type(error).__name__
        return redacted(text, self.api_key or "")[:300]


def _completion(reply: object, latency_s: float) -> Completion:
    """A reply in litellm's (OpenAI's) shape."""
    choices = getattr(reply, "choices", None)
    if not choices:
        raise NotScoredError("endpoint", "the endpoint answered without any choice")
    message = choices[0].message
    calls = getattr(message, "tool_calls", None)
    usage = getattr(reply, "usage", None)
    reasoning = getattr(message, "reasoning_content", None)
    return Completion(
        text=message.content if isinstance(message.content, str) else None,
        tool_calls=None
        if not calls
        else tuple(
            ToolCall(str(call.function.name or ""), call.function.arguments, str(call.id or ""))
            for call in calls
        ),
        reasoning=reasoning if isinstance(reasoning, str) else None,
        input_tokens=getattr(usage, "prompt_tokens", None),
        output_tokens=getattr(usage, "completion_tokens", None),
        latency_s=latency_s,
    )
