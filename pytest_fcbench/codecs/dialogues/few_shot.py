"""The dialogue of models that only continue a text (``/v1/completions``): answered examples and a question.

The prompt is ours, so a score says what a base model can do with it, and compares with no official one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.dialogues.dialogue import Opening
from pytest_fcbench.codecs.presenting import Wording
from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import Api, Prompting, WireRequest
from pytest_fcbench.domain.transcript import AskModel, Completion

_HEAD = (
    "Each task below lists functions as JSON and asks a question. The answer is a Python list of the "
    "function calls that do what is asked, and nothing else.\n\n"
)
_FUNCTIONS, _QUESTION, _CALLS = "### Functions\n", "\n### Question\n", "\n### Calls\n"
_STOP = ("\n###", "\n\n")
"""Texts that end an answer: a base model goes on with a next task."""
_MOST_TOKENS = 1024
"""The limit of an answer unless a parameter gives another; servers would end it after 16 tokens."""


def write_shot(entry: Entry, answer: str, wording: Wording, prompting: Prompting) -> str:
    """Write an entry with its right answer, as an example."""
    return f"{_write_task(entry, wording, prompting)}{answer}\n\n"


def _write_task(entry: Entry, wording: Wording, prompting: Prompting) -> str:
    docs = [
        presenting.build_wire_doc(doc, wording, entry.category.language, prompting.names)
        for doc in entry.functions
    ]
    messages = entry.turns[0]
    one = len(messages) == 1
    question = "\n".join(each.content if one else f"{each.role}: {each.content}" for each in messages)
    return f"{_FUNCTIONS}{json.dumps(docs, ensure_ascii=False)}{_QUESTION}{question}{_CALLS}"


def read_task(prompt: str) -> Sequence[Mapping[str, str]]:
    """Read the last task of a prompt as messages: the functions of the system, the question of the user."""
    functions, _, rest = prompt.rpartition(_FUNCTIONS)[2].partition(_QUESTION)
    return (
        {"role": "system", "content": functions},
        {"role": "user", "content": rest.removesuffix(_CALLS)},
    )


class FewShotDialogue:
    """The dialogue of one question and its answer, which ends it."""

    def __init__(self, opening: Opening) -> None:
        task = _write_task(opening.entry, opening.wording, opening.prompting)
        self._prompt = f"{_HEAD}{''.join(opening.manner.shots)}{task}"

    def build_request(self, turn: int, step: int) -> AskModel:
        """Write the prompt; the messages are for models that need no network."""
        body = {"prompt": self._prompt, "stop": list(_STOP), "max_tokens": _MOST_TOKENS}
        wire = WireRequest(Api.COMPLETIONS, body)
        return AskModel(tuple(read_task(self._prompt)), turn=turn, step=step, wire=wire)

    def add_answer(self, completion: Completion) -> Completion:
        """Return the answer as it came."""
        return completion

    def add_results(self, calls: Sequence[str], texts: Sequence[str]) -> None:
        """Add nothing: no call is carried out."""

    def add_user_turn(self, said: Sequence[Message]) -> None:
        """Refuse: entries of several turns are not asked in this mode."""
        raise TypeError("a base model is asked one question")

    def add_functions(self, late: Sequence[FunctionDoc]) -> None:
        """Refuse: only later turns bring functions."""
        raise TypeError("a base model is asked one question")
