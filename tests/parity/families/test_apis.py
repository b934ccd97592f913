"""Requests to each family's own API equal the official ones, member for member."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_fcbench.codecs.dialogues.api_dialogue import read_api_families
from pytest_fcbench.codecs.dialogues.families import UNASKED
from pytest_fcbench.codecs.dialogues.vendor_forms import read_family_reply
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.kinds.kind import Memories
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

FILES = (
    *("chat_others", "claude", "cohere", "deepseek", "gemini", "mistral", "nova"),
    *("openai_responses", "qwen_api", "special"),
)


@pytest.fixture(scope="module")
def entries(bfcl: Suite) -> Mapping[str, Entry]:
    return index_entries(bfcl)


@pytest.fixture(scope="module")
def recordings() -> Mapping[str, list[FamilyRecording]]:
    """Return the recordings by handler."""
    found: dict[str, list[FamilyRecording]] = {}
    for name in FILES:
        path = find_recordings(f"families/{name}.jsonl.xz")
        if path is None:
            pytest.skip("no recordings: neither FCBENCH_ASKING nor a folder 'asking' beside FCBENCH_ORACLE")
        for each in read_family_recordings(path):
            found.setdefault(each.handler, []).append(each)
    return found


def read_recorded_reply(recording: FamilyRecording, answer: Any) -> Completion:
    return read_family_reply(read_api_families()[recording.handler].form.api, answer)


def settle_value(value: Any) -> Any:
    """Write what differs between two official runs in one way, at every depth."""
    if isinstance(value, str):
        return settle_text(value)
    if isinstance(value, list):
        return [settle_value(each) for each in value]
    return {name: settle_value(each) for name, each in value.items()} if isinstance(value, dict) else value


def restore_memory(entry: Entry, recording: FamilyRecording, memories: Memories) -> None:
    """Put what the recorded system text shows into the memory that the conversations before have left.

    Of ten earlier conversations only the first was recorded.
    """
    if entry.after is None or not entry.scene or "memory_kv" not in entry.scene.domains:
        return
    shown = re.search(r"(?<=\n)\{\n.*?\n\}(?=\n)", find_system_text(recording.bodies[0]), re.DOTALL)
    core = json.loads(shown[0]) if shown else {}
    memories[entry.after.key] = {"memory_kv": {"core_memory": core, "archival_memory": {}}}


def find_system_text(value: Any) -> str:
    """Return the longest text of a body; in an entry about a memory that is the system text."""
    if isinstance(value, str):
        return value
    each = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max(map(find_system_text, each), key=len, default="")


def show_agent_body(body: Body) -> Body:
    """Show what qwen-agent was given as the body that it sends: it has a server of its own for templates."""
    if "quick_chat_oai" not in body:
        return body
    configured = body["cfg"]["generate_cfg"]
    left = ("fncall_prompt_type", "extra_body", "thought_in_content", "max_input_tokens", "timeout")
    drawn = {name: value for name, value in configured.items() if name not in left}
    return {
        **body["quick_chat_oai"],
        **drawn,
        **configured["extra_body"],
        "model": body["cfg"]["model"],
    }


def list_differences(
    recordings: Sequence[FamilyRecording], entries: Mapping[str, Entry], suite: Suite
) -> list[str]:
    memories: dict[str, Memories] = {}
    found = []
    for recording in recordings:
        kept = memories.setdefault(recording.run, {})
        entry = entries[recording.entry]
        restore_memory(entry, recording, kept)
        ours = send_bodies(entry, recording, suite, kept, read_recorded_reply)
        official: list[Body] = settle_value([show_agent_body(body) for body in recording.bodies])
        if difference := find_body_difference(settle_value(ours), official):
            found.append(f"{recording.run} {recording.entry}: {difference}")
    return found


@pytest.mark.few(4)
@pytest.mark.parametrize("handler", sorted(read_api_families().keys() - UNASKED.keys()))
def test_requests_are_the_official_ones(
    handler: str,
    bfcl: Suite,
    entries: Mapping[str, Entry],
    recordings: Mapping[str, list[FamilyRecording]],
) -> None:
    assert list_differences(recordings[handler], entries, bfcl) == []


def test_a_changed_letter_is_a_difference(
    bfcl: Suite, entries: Mapping[str, Entry], recordings: Mapping[str, list[FamilyRecording]]
) -> None:
    recording = recordings["GrokHandler"][3]
    changed = json.loads(json.dumps(recording.bodies[-1]).replace("the", "tha", 1))
    told = list_differences([replace(recording, bodies=[*recording.bodies[:-1], changed])], entries, bfcl)
    assert len(told) == 1
