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
from pytest_fcbench.domain.family import Api

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


FAULTS: Mapping[str, str] = {
    "ClaudeHandler": "in prompting an answer whose first block is not a text fails the entry",
    "GeminiHandler": "in prompting an answer of more than two parts fails the entry",
    "Granite3FCHandler": "the prompt ends without the mark at which the answer begins",
    "HammerHandler": "each request tells the defaults of parameters once more in their descriptions",
    "NemotronHandler": "the first message of the user is part of the system text, and results are never sent",
    "ThinkAgentHandler": "only the first message is ever written: no history, no results, no later turns",
}
"""Known faults of official classes, which are repeated unless ``--fcbench-repair`` leaves them out."""

KEPT_FAULTS: Mapping[str, str] = {
    "GemmaHandler": "answers go back in the role of an assistant, which the model's template does not know",
    "GraniteFunctionCallingHandler": "no_function is carried out as a call, so that a turn never ends",
    "MiningHandler": "calls of the interface are never read, so that none can be right",
    "QwenAPIHandler": "of qwen3-235b-a22b-instruct-2507-FC dotted names are shown with underscores and not "
    "mapped back, so that they cannot match",
}
"""Known faults that are repeated in every case: they lie in the reading, or in the family's own way."""


def find_api(handler: str) -> Api | None:
    """Return the API at which an official class asks; None for one without a dialogue."""
    if handler in API_FAMILIES:
        return API_FAMILIES[handler].form.api
    if handler in WRITTEN_FAMILIES:
        return Api.CHAT if WRITTEN_FAMILIES[handler].template is None else Api.COMPLETIONS
    return None


def open_dialogue(opening: Opening) -> Dialogue:
    """Open a conversation in the form of its family, or in the form that every server takes."""
    if opening.manner.member is None:
        return ChatDialogue(opening)
    return DIALOGUES[opening.member.handler](opening)
