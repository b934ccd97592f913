"""The written prompts of models without a chat interface equal the official ones, to the letter."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_fcbench.codecs.dialogues.written_prompt import WRITTEN_FAMILIES
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.suites.suite import Suite
from tests.parity.asking.recordings import find_recordings, index_entries
from tests.parity.asking.test_bfcl import settle_text
from tests.parity.families.recordings import (
    Body,
    FamilyRecording,
    find_body_difference,
    read_family_recordings,
    send_bodies,
)


@pytest.fixture(scope="module")
def entries(bfcl: Suite) -> Mapping[str, Entry]:
    return index_entries(bfcl)


def read_run(handler: str) -> list[FamilyRecording]:
    path = find_recordings("families/oss.jsonl.xz")
    if path is None:
        pytest.skip("no recordings: neither FCBENCH_ASKING nor a folder 'asking' beside FCBENCH_ORACLE")
    return [each for each in read_family_recordings(path) if each.handler == handler]


def settle_bodies(bodies: Sequence[Body]) -> list[Body]:
    """Write what differs between two official runs in one way, and leave out what the transport decides."""
    return [
        {
            name: settle_text(number_call_ids(value)) if isinstance(value, str) else settle_value(value)
            for name, value in body.items()
            if name != "max_tokens"
        }
        for body in bodies
    ]


def settle_value(value: Any) -> Any:
    """Write what differs between two official runs in one way, at every depth."""
    if isinstance(value, list):
        return [settle_value(each) for each in value]
    if isinstance(value, dict):
        return {name: settle_value(each) for name, each in value.items()}
    return settle_text(value) if isinstance(value, str) else value


def number_call_ids(prompt: str) -> str:
    """Write the ids of Ministral's calls, which are random officially, by the order of their first use."""
    found = dict.fromkeys(re.findall(r'(?<="id": ")\w{9}(?="\})', prompt))
    for number, call_id in enumerate(found):
        prompt = prompt.replace(f'id": "{call_id}"', f'id": "number {number}"')
    return prompt


def show_template_inputs(body: Body) -> Body:
    """Show what a model's own template was given as the request that gives it the same.

    The recording of such a family holds the inputs of the template in place of a prompt.
    """
    if not body["prompt"].startswith('{"messages"'):
        return body
    given = json.loads(body["prompt"])
    rest = {name: value for name, value in body.items() if name != "prompt"}
    return {**rest, "messages": given["messages"], "chat_template_kwargs": {"tools": given["tools"]}}


def list_differences(
    recordings: Sequence[FamilyRecording], entries: Mapping[str, Entry], suite: Suite
) -> list[str]:
    memories: dict[str, Mapping[str, Mapping[str, object]]] = {}
    found = []
    for recording in recordings:
        ours = send_bodies(entries[recording.entry], recording, suite, memories)
        official = [show_template_inputs(body) for body in recording.bodies]
        difference = find_body_difference(settle_bodies(ours), settle_bodies(official))
        if difference:
            found.append(f"{recording.model} {recording.entry}: {difference}")
    return found


@pytest.mark.few(4)
@pytest.mark.parametrize("handler", WRITTEN_FAMILIES)
def test_prompts_are_the_official_ones(handler: str, bfcl: Suite, entries: Mapping[str, Entry]) -> None:
    recordings = read_run(handler)
    assert recordings
    assert list_differences(recordings, entries, bfcl) == []


def test_a_changed_letter_is_a_difference(bfcl: Suite, entries: Mapping[str, Entry]) -> None:
    recording = read_run("LlamaHandler")[3]
    changed = json.loads(json.dumps(recording.bodies[-1]).replace("the", "tha", 1))
    told = list_differences([replace(recording, bodies=[*recording.bodies[:-1], changed])], entries, bfcl)
    assert len(told) == 1
