"""Requests in the form of a family find the entry that they are about, or nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.codecs.dialogues.replies import read_family_reply
from pytest_fcbench.domain.categories import CATEGORIES
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.family import FamilyMember, WireRequest
from pytest_fcbench.domain.prompting import ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.conversation import converse
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.official_models import find_family, name_at_server
from pytest_fcbench.server.body import RefusedRequestError
from pytest_fcbench.server.family_lookup import FamilyLookup, add_texts
from pytest_fcbench.suites import core

CORE = core.open_suite(Path())
FEW = replace(CORE, categories=tuple(CATEGORIES[name] for name in ("simple_python", "multi_turn_base")))


def make_manner(model: str) -> ModelPresentation:
    family = find_family(model)
    member = FamilyMember(model, family.handler, name_at_server(model))
    return ModelPresentation("m", Prompting(family.mode, family.names, family.syntax), member=member)


def find_entry(category: str) -> Entry:
    return CORE.load(CATEGORIES[category])[0]


def list_right_requests(entry: Entry, manner: ModelPresentation, lookup: FamilyLookup) -> list[WireRequest]:
    """Hold a conversation with the replies that the lookup finds, and return its requests."""
    talk = converse(entry, ConversationContext(manner, CORE, PathSettings(Profile.OFFICIAL)))
    sent: list[WireRequest] = []
    asked = next(talk)
    while True:
        assert asked.wire
        sent.append(asked.wire)
        key, reply = lookup.find_reply(json.dumps(asked.wire.body).encode(), entry.key)
        assert key == entry.key
        try:
            asked = talk.send(read_family_reply(asked.wire.api, reply))
        except StopIteration:
            return sent


@pytest.mark.parametrize(
    "model",
    ["gpt-4o-2024-11-20-FC", "claude-haiku-4-5-20251001-FC", "meta-llama/Llama-3.3-70B-Instruct-FC"],
)
def test_a_conversation_is_answered_to_its_end(model: str) -> None:
    entry, manner = find_entry("multi_turn_base"), make_manner(model)
    lookup = FamilyLookup([FEW], OracleModel, manner)
    assert len(list_right_requests(entry, manner, lookup)) > len(entry.turns)


def make_first_body(entry: Entry, manner: ModelPresentation, changed: Mapping[str, Any]) -> bytes:
    asked = next(converse(entry, ConversationContext(manner, CORE, PathSettings(Profile.OFFICIAL))))
    assert asked.wire
    return json.dumps({**asked.wire.body, **changed}).encode()


def test_parameters_are_the_clients() -> None:
    manner = make_manner("gpt-4o-2024-11-20-FC")
    body = make_first_body(find_entry("simple_python"), manner, {"temperature": 1, "model": "mine"})
    key, _ = FamilyLookup([FEW], OracleModel, manner).find_reply(body)
    assert key == find_entry("simple_python").key


@pytest.mark.parametrize(
    ("changed", "name", "says"),
    [
        (
            {"input": [{"role": "user", "content": "Other."}]},
            None,
            "no entry of core has a request like this",
        ),
        ({"tools": []}, "core:simple_python_0", "core:simple_python_0 has no request like this"),
    ],
)
def test_a_changed_request_is_refused(changed: Mapping[str, Any], name: str | None, says: str) -> None:
    manner = make_manner("gpt-4o-2024-11-20-FC")
    body = make_first_body(find_entry("simple_python"), manner, changed)
    with pytest.raises(RefusedRequestError, match=says):
        FamilyLookup([FEW], OracleModel, manner).find_reply(body, name)


@pytest.mark.parametrize("content", [b"no JSON", b"[1]", b"[" * 100_000])
def test_what_is_no_request_is_refused(content: bytes) -> None:
    lookup = FamilyLookup([FEW], OracleModel, make_manner("gpt-4o-2024-11-20-FC"))
    with pytest.raises(RefusedRequestError, match="must be a JSON object"):
        lookup.find_reply(content)


def test_sentences_of_a_suite_are_kept() -> None:
    own = replace(CORE, wording=replace(CORE.wording, family_texts={"x": ("own",)}))
    given = add_texts([own, CORE], {"x": ("given",)})
    assert [suite.wording.family_texts["x"] for suite in given] == [("own",), ("given",)]
