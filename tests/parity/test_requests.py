"""What a model is shown equals what the official system shows, for every single-turn entry."""

from __future__ import annotations

import hashlib
import json

from pytest_fcbench.codecs import presenting
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Entry
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.kind import ConversationContext
from pytest_fcbench.kinds.table import converse
from pytest_fcbench.suites.suite import Suite

OFFICIAL_SHA256 = "2ae1518e27066424e0fd28d38a33ccc7a54b09a617a29f048a03991320c350f5"
"""Of the messages, tools and prompts that bfcl-eval 2026.3.23 itself builds: for each entry of the 13
categories (``load_dataset_entry``) the id with the digests of the question, of ``convert_to_tool`` for the
OpenAI chat interface, and of ``system_prompt_pre_processing_chat_model``; sorted by id."""


def test_requests_are_the_official_ones(bfcl: Suite) -> None:
    digests = {}
    for category in [category for category in bfcl.categories if category.single_turn and category.scored]:
        for entry in bfcl.load(category):
            tools = presenting.build_first_request(entry, bfcl.wording, Prompting.make_default(Mode.FC))
            prompt = presenting.build_first_request(entry, bfcl.wording, Prompting.make_default(Mode.PROMPT))
            digests[entry.id] = [
                _digest_value(_pair_messages(tools)),
                _digest_value(tools.tools),
                _digest_value(_pair_messages(prompt)),
            ]
    assert len(digests) == 3641
    found = hashlib.sha256(json.dumps(sorted(digests.items())).encode()).hexdigest()
    assert found == OFFICIAL_SHA256


def _pair_messages(request: AskModel) -> list[list[object]]:
    return [[message["role"], message["content"]] for message in request.messages]


def _digest_value(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


MEMORY_SHA256 = "adad430b8aed77b1392248a6772a8d4e8c1bed8147f877f617be214409608970"
"""The same of the 465 memory entries and the 111 conversations before them, with an empty memory: here the
question is that of all turns, after ``add_memory_instruction_system_prompt``."""


def test_requests_about_memories_are_the_official_ones(bfcl: Suite) -> None:
    digests = {}
    for name in SELECTIONS["memory"]:
        asked = {each.id: each for entry in bfcl.load(CATEGORIES[name]) for each in (*entry.earlier, entry)}
        for entry in asked.values():
            tools, prompt = (_build_first_request(entry, bfcl, mode) for mode in (Mode.FC, Mode.PROMPT))
            later = [[[message.role, message.content] for message in turn] for turn in entry.turns[1:]]
            digests[entry.id] = [
                _digest_value([_pair_messages(tools), *later]),
                _digest_value(tools.tools),
                _digest_value(_pair_messages(prompt)),
            ]
    assert len(digests) == 465 + 111
    found = hashlib.sha256(json.dumps(sorted(digests.items())).encode()).hexdigest()
    assert found == MEMORY_SHA256


def _build_first_request(entry: Entry, suite: Suite, mode: Mode) -> AskModel:
    names = Names.UNDERSCORED if mode is Mode.FC else Names.DOTTED
    manner = ModelPresentation("", Prompting.make_default(mode, names))
    return next(converse(entry, ConversationContext(manner, suite, PathSettings(Profile.OFFICIAL))))
