"""How each official family is asked: a row for each class of the official harness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from pytest_fcbench.codecs.dialogues.api_dialogue import ApiDialogue
from pytest_fcbench.codecs.dialogues.api_families import API_FAMILIES
from pytest_fcbench.codecs.dialogues.chat import ChatDialogue
from pytest_fcbench.codecs.dialogues.dialogue import Dialogue, Opening
from pytest_fcbench.codecs.dialogues.prompts_a import PROMPTS_A
from pytest_fcbench.codecs.dialogues.prompts_b import PROMPTS_B
from pytest_fcbench.codecs.dialogues.written_prompt import WrittenDialogue, WrittenPrompt

WRITTEN: Mapping[str, WrittenPrompt] = {**PROMPTS_A, **PROMPTS_B}
"""The families whose prompt is one text, by the official class."""

DIALOGUES: Mapping[str, Callable[[Opening], Dialogue]] = {
    **{handler: partial(WrittenDialogue, written=written) for handler, written in WRITTEN.items()},
    **{handler: partial(ApiDialogue, family=family) for handler, family in API_FAMILIES.items()},
}
"""The makers of dialogues by the official class."""


def open_dialogue(opening: Opening) -> Dialogue:
    """Open a conversation in the form of its family, or in the form that every server takes."""
    if opening.manner.member is None:
        return ChatDialogue(opening)
    return DIALOGUES[opening.member.handler](opening)
