"""Whatever a server answers to some entries, the run ends, and the others keep their verdicts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from random import Random

import pytest

from pytest_fcbench.suites import core
from tests.chaos.evil_replies import EVIL_REPLIES, TRANSPORT, make_bomb, send, write_call, write_text
from tests.chaos.evil_server import EvilServer, serve_evil
from tests.chaos.processes import watch_memory
from tests.plugin.conftest import PLUGINS, Project

CATEGORIES = (
    *("simple_python", "simple_java", "simple_javascript", "parallel", "parallel_multiple"),
    *("irrelevance", "live_simple", "live_irrelevance"),
)
CAUSES = frozenset(
    [
        "authentication",
        "connection",
        "endpoint",
        "garbled",
        "rate_limit",
        "redirect",
        "timeout",
        "too_large",
        "web_page",
    ]
)
"""Causes of entries that are not scored because of a reply; ``model_error`` would be a fault of ours."""
MIB = 2**20
NIGHTLY = pytest.mark.nightly
MOST_MEMORY = 150 * MIB
"""Bytes that evil replies may add to the largest size of a process."""

ENTRIES = tuple(
    entry.item_id
    for category in core.open_suite(Path()).categories
    if category.name in CATEGORIES
    for entry in core.open_suite(Path()).load(category)
)
DRAWN = sorted(ENTRIES, key=lambda entry: Random(entry).random())
ONCE: Mapping[str, str] = dict(zip(DRAWN[::2], EVIL_REPLIES, strict=False))
"""The kind of reply to an entry, each kind once."""
TWICE: Mapping[str, str] = dict(zip(DRAWN[::2], cycle(EVIL_REPLIES), strict=False))
"""The same for half of the entries, so that each kind comes about twice."""


def test_every_kind_of_reply_is_sent() -> None:
    assert set(ONCE.values()) == set(EVIL_REPLIES)
    assert len(ONCE) == len(EVIL_REPLIES) < len(TWICE)


@dataclass(frozen=True)
class Outcome:
    """The Records of a run, the largest size of its process in bytes, and what it printed."""

    records: Mapping[str, Mapping[str, object]]
    memory: int
    exit_code: int
    output: str

    def find_verdict(self, entry: str) -> tuple[str, str]:
        """Return the status of an entry in the corrected profile, and its code or cause."""
        verdicts = self.records[entry]["verdicts"]
        assert isinstance(verdicts, dict)
        verdict = verdicts["corrected"]
        return verdict["status"], verdict.get("code") or verdict.get("cause") or ""


def run_with(project: Project, server: EvilServer, mode: str, *options: str) -> Outcome:
    """Run all entries with a server in a process of its own."""
    command = [
        *(sys.executable, "-m", "pytest", "-q", *PLUGINS, f"--fcbench-category={','.join(CATEGORIES)}"),
        *(f"--fcbench-api-base={server.api_base}", f"--fcbench-mode={mode}"),
        *("--fcbench-tag", "--fcbench-timeout=6", "--fcbench-retries=1", "--fcbench-max-pause=1"),
        *("--fcbench-no-preflight", *options),
    ]
    output = project.path / "output.txt"
    with output.open("wb") as file:
        process = subprocess.Popen(command, cwd=project.path, stdout=file, stderr=subprocess.STDOUT)
        memory = watch_memory(process)
    said = output.read_text(encoding="utf-8", errors="replace")
    return Outcome(project.records(), memory, process.returncode, said)


@contextmanager
def serve_mode(mode: str, evil: Mapping[str, str]) -> Iterator[EvilServer]:
    """Serve a harmless answer to all entries but those with a kind of evil reply."""
    harmless = write_call("f", '{"a": 1}') if mode == "fc" else write_text("[f(a=1)]")
    with serve_evil(lambda entry: EVIL_REPLIES[evil[entry]] if entry in evil else send(harmless)) as server:
        yield server


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="the size of a process is asked for as Linux tells it")
@pytest.mark.parametrize(
    ("mode", "options", "replies"),
    [
        pytest.param("fc", ("--fcbench-model=m",), TWICE, id="fc"),
        pytest.param("prompt", ("--fcbench-model=m", "-n", "2"), ONCE, id="prompt, 2 workers", marks=NIGHTLY),
        pytest.param("fc", ("--fcbench-model=litellm:openai/m",), ONCE, id="litellm", marks=NIGHTLY),
    ],
)
def test_evil_replies_change_nothing_for_the_other_entries(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    options: tuple[str, ...],
    replies: Mapping[str, str],
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    # Made before, because it takes longer than a run waits for an answer.
    for form in ("gzip", "deflate"):
        make_bomb(form)
    with serve_mode(mode, {}) as server:
        clean = run_with(project, server, mode, *options, "--fcbench-store=clean.sqlite")
    with serve_mode(mode, replies) as server:
        evil = run_with(project, server, mode, *options)
    assert evil.exit_code == 1, evil.output
    assert "INTERNALERROR" not in evil.output
    assert evil.records.keys() == clean.records.keys()
    others = clean.records.keys() - replies.keys()
    assert {e: evil.find_verdict(e) for e in others} == {e: clean.find_verdict(e) for e in others}
    found = {kind: evil.find_verdict(entry) for entry, kind in replies.items()}
    unscored = {kind: code for kind, (status, code) in found.items() if status == "not_scored"}
    assert {kind: cause for kind, cause in unscored.items() if cause not in CAUSES} == {}
    assert TRANSPORT.keys() - unscored.keys() == set()
    assert {found["text too long"], found["arguments too long"]} == {("failed", "too_large")}
    assert evil.memory - clean.memory < MOST_MEMORY
