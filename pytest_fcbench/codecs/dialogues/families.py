"""How each family is asked: a row for each class of the official harness, and those of other distributions.

Another distribution adds a family by an entry point of the group ``fcbench.families``; its name is what
``--fcbench-as`` takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pytest_fcbench.codecs.dialogues.api_dialogue import ApiDialogue, ApiFamily, read_api_families
from pytest_fcbench.codecs.dialogues.dialogue import ChatDialogue, Dialogue, FewShotDialogue, Opening
from pytest_fcbench.codecs.dialogues.written_prompt import WRITTEN_FAMILIES, WrittenDialogue, WrittenPrompt
from pytest_fcbench.domain.prompting import Api, Mode, Names
from pytest_fcbench.domain.registry import Registry
from pytest_fcbench.domain.tables import read_table


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


_REMARKS = read_table(dict[str, Mapping[str, str]], __file__, "families.toml")
UNASKED = _REMARKS["unasked"]
"""The official classes that are not asked without ``--fcbench-repair``, with the reason."""
FAULTS = _REMARKS["faults"]
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
    if opening.prompting.mode is Mode.COMPLETION:
        return FewShotDialogue(opening)
    if opening.manner.member is None:
        return ChatDialogue(opening)
    row = find_row(opening.member.handler)
    assert row, "a family without a dialogue is refused before anything is asked"
    return WrittenDialogue(opening, row) if isinstance(row, WrittenPrompt) else ApiDialogue(opening, row)
