"""Faults of a served model and of its chat template, where the right answers are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf

from pytest_fcbench.codecs.decoders.native_syntaxes import NativeSyntax, list_schemas
from pytest_fcbench.codecs.native_prompt import write_native_text
from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Prompting
from pytest_fcbench.domain.text import as_mapping, read_json_text
from pytest_fcbench.domain.transcript import AskModel, Call, Completion, ToolCall
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.models.baselines.oracle import change_value, draw_chance
from pytest_fcbench.server.conforming import WireFault

WITHOUT_TOOLS = "I have no function for that."
WITHOUT_RESULTS = "I am still waiting for the results of my calls."


class ModelFault(StrEnum):
    """A way in which a model is wrong."""

    WRONG = "wrong"
    """The share is one of entries, which are answered wrongly each time."""
    FLIP = "flip"
    """An answer is wrong now and then, as from a model that guesses."""
    STOP_EARLY = "stop_early"
    """The model ends after the first of several calls, where it calls by tools."""
    CROWDED = "crowded"
    """All answers are wrong where more functions are offered than the number behind the colon."""


@dataclass(frozen=True, slots=True)
class Mistakes:
    """The entries that a model always answers wrongly."""

    share: float = 0.0
    """The share of all entries, drawn by the seed."""
    seed: int = 0
    most_functions: float = inf
    """Entries that offer more functions are answered wrongly, too."""

    def has_entry(self, entry: Entry) -> bool:
        """Tell whether an entry is always answered wrongly."""
        return draw_chance(entry.key, self.seed) < self.share or len(entry.functions) > self.most_functions


def write_wrong_answer(entry: Entry, request: AskModel, prompting: Prompting) -> Completion:
    """Write an answer that can be read and is wrong, the same to the same request in every mode."""
    calls = list(find_kind(entry).answer_rightly(entry, request).calls)
    if not calls:
        # Where nothing is to be called, a call is wrong.
        calls = [Call(function.name, {}) for function in entry.functions[:1]]
    elif calls[0].arguments:
        name, value = next(iter(calls[0].arguments.items()))
        calls[0] = replace(calls[0], arguments={**calls[0].arguments, name: change_value(value)})
    else:
        calls.append(calls[0])
    return render_completion(calls, entry, prompting, request.tools)


def write_as_text(
    completion: Completion, syntax: NativeSyntax, tools: Sequence[Mapping[str, object]]
) -> Completion:
    """Write the calls of an answer into its text, as a model without a parser behind it."""
    parts = [part for part in completion.tool_calls or () if isinstance(part, ToolCall)]
    calls = [Call(part.name, as_mapping(read_json_text(str(part.arguments)))) for part in parts]
    text = write_native_text(calls, syntax, list_schemas(tools)) if calls else completion.text
    return replace(completion, text=text, tool_calls=None)


def lose_from_prompt(request: AskModel, fault: WireFault) -> Completion | None:
    """Answer as a model whose template lost tools or results; None where the request has none."""
    if fault is WireFault.LOSE_TOOLS and request.tools:
        return Completion(text=WITHOUT_TOOLS)
    has_results = any(message.get("role") == "tool" for message in request.messages)
    if fault is WireFault.LOSE_RESULTS and has_results:
        return Completion(text=WITHOUT_RESULTS)
    return None
