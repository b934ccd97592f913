"""How each family is asked: a row for each class of the official harness, and those of other distributions.

Another distribution adds a family by an entry point of the group ``fcbench.families``; its name is what
``--fcbench-as`` takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pytest_fcbench.codecs.dialogues.api_dialogue import ApiDialogue, ApiFamily, read_api_families
from pytest_fcbench.codecs.dialogues.dialogue import ChatDialogue, Dialogue, Opening
from pytest_fcbench.codecs.dialogues.written_prompt import WRITTEN_FAMILIES, WrittenDialogue, WrittenPrompt
from pytest_fcbench.domain.prompting import Api, Names
from pytest_fcbench.domain.registry import Registry


@cache
def list_asked() -> Mapping[str, WrittenPrompt | ApiFamily]:
    """List how each official class asks."""
    return {**WRITTEN_FAMILIES, **read_api_families()}


@dataclass(frozen=True, slots=True)
class OwnFamily:
    """A family that is not official: how it is asked, and how its answers are read."""

    asked: WrittenPrompt | ApiFamily
    syntax: str
    """A name of ``codecs.decoders.registry.SYNTAXES``, which also decides the mode."""
    names: Names = Names.DOTTED
    """How dotted names of functions are shown."""


OWN_FAMILIES: Registry[OwnFamily] = Registry("family", "fcbench.families", {})
"""The families of other distributions, by the name that ``--fcbench-as`` takes."""


UNASKED: Mapping[str, str] = {
    "MiniCPMFCHandler": "its prompt shows functions as Python that datamodel-code-generator 0.25.7 writes, "
    "and later versions write them differently",
    "QwenAgentNoThinkHandler": "officially its handler cannot be built; --fcbench-repair asks as it was "
    "meant",
}
"""The official classes that are not asked without ``--fcbench-repair``, with the reason."""


FAULTS: Mapping[str, str] = {
    "ClaudeHandler": "in prompt mode, an answer whose first block is not text fails the entry",
    "GeminiHandler": "in prompting an answer of more than two parts fails the entry",
    "GemmaHandler": "answers and results go back in roles that the model's template does not know",
    "Granite3FCHandler": "the prompt lacks the marker after which the answer begins",
    "GraniteFunctionCallingHandler": "no_function is carried out as a call, so that a turn never ends",
    "HammerHandler": "each request tells the defaults of parameters once more in their descriptions",
    "MiningHandler": "calls of the interface are never read, so that none can be right",
    "NemotronHandler": "the first message of the user is part of the system text, and results are never sent",
    "QwenAPIHandler": "of qwen3-235b-a22b-instruct-2507-FC dotted names are shown with underscores and "
    "not mapped back, so that they cannot match",
    "ThinkAgentHandler": "only the first message is ever written: no history, no results, no later turns",
}
"""Known faults of official classes, which are repeated unless ``--fcbench-repair`` leaves them out."""


def find_row(handler: str) -> WrittenPrompt | ApiFamily | None:
    """Return how an official class or an own family asks; None for one without a dialogue."""
    if handler in list_asked():
        return list_asked()[handler]
    return None if handler in UNASKED else OWN_FAMILIES.find(handler).asked


def find_api(handler: str) -> Api | None:
    """Return the API at which a family is asked; None for one without a dialogue."""
    match find_row(handler):
        case ApiFamily(form=form):
            return form.api
        case WrittenPrompt(template=template):
            return Api.CHAT if template is None else Api.COMPLETIONS
    return None


def open_dialogue(opening: Opening) -> Dialogue:
    """Open a conversation in the form of its family, or in the form that every server takes."""
    if opening.manner.member is None:
        return ChatDialogue(opening)
    row = find_row(opening.member.handler)
    assert row, "a family without a dialogue is refused before anything is asked"
    return WrittenDialogue(opening, row) if isinstance(row, WrittenPrompt) else ApiDialogue(opening, row)
