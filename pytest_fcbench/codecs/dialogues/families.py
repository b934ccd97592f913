"""How each official family is asked: a row for each class of the official harness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from pytest_fcbench.codecs.dialogues.api_dialogue import ApiDialogue
from pytest_fcbench.codecs.dialogues.api_families import API_FAMILIES
from pytest_fcbench.codecs.dialogues.chat import ChatDialogue
from pytest_fcbench.codecs.dialogues.dialogue import Dialogue, Opening
from pytest_fcbench.codecs.dialogues.written_families import WRITTEN_FAMILIES
from pytest_fcbench.codecs.dialogues.written_prompt import WrittenDialogue

DIALOGUES: Mapping[str, Callable[[Opening], Dialogue]] = {
    **{handler: partial(WrittenDialogue, written=written) for handler, written in WRITTEN_FAMILIES.items()},
    **{handler: partial(ApiDialogue, family=family) for handler, family in API_FAMILIES.items()},
}
"""The makers of dialogues by the official class."""


UNASKED: Mapping[str, str] = {
    "MiniCPMFCHandler": "its prompt shows functions as Python that a code generator writes, not ours",
    "QwenAgentNoThinkHandler": "officially its handler cannot be built, so it asks nothing to be repeated",
}
"""The official classes without a dialogue, with the reason."""


def open_dialogue(opening: Opening) -> Dialogue:
    """Open a conversation in the form of its family, or in the form that every server takes."""
    if opening.manner.member is None:
        return ChatDialogue(opening)
    return DIALOGUES[opening.member.handler](opening)
