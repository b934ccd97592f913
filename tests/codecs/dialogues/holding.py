"""Conversations in the form of a family, held by hand with sentences of our own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_fcbench.codecs.dialogues.dialogue import Dialogue, Opening
from pytest_fcbench.codecs.dialogues.families import open_dialogue
from pytest_fcbench.codecs.dialogues.vendor_forms import read_family_reply
from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import FamilyMember, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.models.official_models import find_family, name_at_server
from tests.codecs.test_presenting import WORDING
from tests.factories import make_doc, make_entry, make_multi_turn

LAMP = make_doc("home.lamp", {"on": {"type": "boolean", "description": "Lit?"}})
BELL = FunctionDoc("bell", "Ring.", {"type": "dict", "properties": {}, "required": []}, {})
LAMP_CALL = "home.lamp(on=True)"
LONG = make_multi_turn(("Light!", []), ("Ring!", []), functions=[LAMP])
SHORT = make_entry(functions=[LAMP], query="Light!")

TEXTS: Mapping[str, tuple[str, ...]] = defaultdict(lambda: tuple(f"<text {number}>" for number in range(12)))


def open_family(
    model: str, entry: Entry = LONG, preamble: str = "", *, repaired: bool = False, texts: int | None = None
) -> Dialogue:
    """Open a conversation as an official model; its sentences are ``<text 0>``, ``<text 1>`` and so on."""
    family = find_family(model)
    member = FamilyMember(model, family.handler, name_at_server(model), repaired)
    manner = ModelPresentation("m", Prompting(family.mode, family.names, family.syntax), member=member)
    shown = TEXTS["any"][:texts]
    wording = replace(WORDING, family_texts={family.handler: shown})
    return open_dialogue(Opening(entry, manner, wording, preamble))


def show_body(dialogue: Dialogue) -> dict[str, Any]:
    """Return the body of the next request."""
    asked = dialogue.build_request(0, 0)
    assert asked.wire
    return dict(asked.wire.body)


def answer_with(dialogue: Dialogue, reply: Mapping[str, object]) -> Completion:
    """Give a dialogue a reply of its API, and return what is judged of it."""
    asked = dialogue.build_request(0, 0)
    assert asked.wire
    return dialogue.add_answer(read_family_reply(asked.wire.api, reply))


def say_more(dialogue: Dialogue, *texts: str) -> None:
    """Add a turn of the user."""
    dialogue.add_user_turn([Message("user", text) for text in texts])


def list_shown(body: Mapping[str, Any], member: str, since: int = 0) -> Sequence[Any]:
    """Return the items of a body from a place on."""
    items = body[member]
    assert isinstance(items, list)
    return items[since:]
