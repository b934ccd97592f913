"""A run that is ended by a signal asks nothing more, keeps what it has, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pytest

from tests.chaos.processes import find_group
from tests.dispatch.clock import wait_until
from tests.loopback import Body, Reply, make_message_reply, serve_answers
from tests.plugin.conftest import PLUGINS, Project
from tests.processes import listening_to_ctrl_c

AT_ONCE = 16
LATE_S = 0.5
"""Seconds after a signal in which a request may arrive that was sent before it."""


@dataclass
class SlowServer:
    """The requests to a server that answers each after a moment, by the time of their arrival."""

    arrivals: list[float] = field(default_factory=list)
    answered: int = 0
    moments: Random = field(default_factory=lambda: Random(1))

    def answer(self, asked: Body) -> Reply:
        self.arrivals.append(time.monotonic())
        time.sleep(self.moments.uniform(0.1, 0.4))
        self.answered += 1
        return make_message_reply("[f(x=1)]")


@dataclass
class RunningProject:
    """A run in a process group of its own, with an own folder for temporary files."""

    process: subprocess.Popen[str]
    folder: Path
    server: SlowServer
    temporary: Path
    port: int

    def end(self, number: int, *, group: bool, twice: bool) -> str:
        """Send a signal to the run, as a terminal to the whole group, and return what it printed."""
        self.signalled_at = time.monotonic()
        for _ in range(1 + twice):
            if group:
                os.killpg(self.process.pid, number)
            else:
                self.process.send_signal(number)
            time.sleep(0.2)
        output, _ = self.process.communicate(timeout=60)
        return output

    @property
    def late_requests(self) -> list[float]:
        """The seconds after the signal at which requests arrived that nobody should have sent."""
        delays = (arrival - self.signalled_at for arrival in self.server.arrivals)
        return [delay for delay in delays if delay > LATE_S]

    @property
    def stored(self) -> int:
        """The number of answers in the store."""
        with closing(sqlite3.connect(self.folder / ".fcbench" / "answers.sqlite")) as store:
            (number,) = store.execute("SELECT count(*) FROM answers").fetchone()
        return int(number)


@contextmanager
def start_run(project: Project, *options: str, port: int = 0) -> Iterator[RunningProject]:
    server, temporary = SlowServer(), project.path / "temporary"
    temporary.mkdir(exist_ok=True)
    with serve_answers(server.answer, port=port) as endpoint, listening_to_ctrl_c():
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "pytest", *PLUGINS, "--fcbench-model=m", "--fcbench-mode=prompt"),
                *(f"--fcbench-api-base={endpoint.api_base}", f"--fcbench-concurrency={AT_ONCE}", *options),
            ],
            cwd=project.path,
            env=os.environ | {"TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            yield RunningProject(
                process, project.path, server, temporary, urlsplit(endpoint.api_base).port or 0
            )
        finally:
            for left in find_group(process.pid):
                left.kill()
            process.communicate()


EARLY = ("--fcbench-category=memory_kv", "--fcbench-category=simple_python")
"""The first entry is judged after its earlier conversations, so a signal comes before any verdict."""
LATER = ("--fcbench-category=simple_python,multiple,parallel,parallel_multiple,irrelevance",)
PLAIN, TWO_WORKERS = ("-n", "0"), ("-n", "2")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("number", "code", "group", "twice", "options", "after"),
    [
        pytest.param(signal.SIGINT, 2, True, False, (*LATER, *PLAIN), 40, id="INT"),
        pytest.param(signal.SIGINT, 2, True, True, (*LATER, *TWO_WORKERS), 40, id="INT twice, 2 workers"),
        pytest.param(signal.SIGINT, 2, True, False, (*EARLY, *TWO_WORKERS), 1, id="early INT, 2 workers"),
        pytest.param(signal.SIGTERM, 143, False, False, (*LATER, *TWO_WORKERS), 40, id="TERM, 2 workers"),
        pytest.param(signal.SIGTERM, 143, False, False, (*EARLY, *PLAIN), 1, id="early TERM"),
        pytest.param(signal.SIGHUP, 129, True, True, (*LATER, *PLAIN), 40, id="HUP twice"),
        pytest.param(signal.SIGHUP, 129, True, False, (*LATER, *TWO_WORKERS), 40, id="HUP, 2 workers"),
    ],
)
def test_a_signal_ends_a_run_in_order(
    project: Project,
    number: int,
    code: int,
    group: bool,
    twice: bool,
    options: tuple[str, ...],
    after: int,
) -> None:
    with start_run(project, *options) as run:
        wait_until(lambda: len(run.server.arrivals) >= after, 60)
        output = run.end(number, group=group, twice=twice)
        assert run.process.returncode == code, output
        assert run.late_requests == []
        assert "Traceback" not in output
        assert "INTERNALERROR" not in output
        # A zombie of a worker may wait a moment for its parent's end to be noticed.
        wait_until(lambda: find_group(run.process.pid) == [])
        # pytest keeps the temporary folders of its last runs, by its own rules.
        assert [path.name for path in run.temporary.iterdir() if not path.name.startswith("pytest-of-")] == []
        assert f"{run.stored} answer" in output
        assert "run again to continue from there" in output
        assert ("the run was ended by SIG" in output) == (number != signal.SIGINT)
    judged = project.records()
    assert len(judged) <= run.stored
    # Workers may have judged nothing yet.
    assert not judged if options[0] in EARLY else judged or "2" in options


def test_a_run_that_was_ended_goes_on_where_it_was(project: Project) -> None:
    with start_run(project, *LATER) as run:
        wait_until(lambda: run.server.answered >= 20, 60)
        run.end(signal.SIGTERM, group=False, twice=False)
        stored = run.stored
    # Another address would be another server.
    with start_run(project, *LATER, port=run.port) as again:
        output, _ = again.process.communicate(timeout=60)
    assert again.process.returncode in (0, 1)
    assert f"{stored} answers were reused" in output
    assert len(again.server.arrivals) == len(project.records()) - stored


def test_a_signal_before_anything_is_asked_ends_the_run_at_once(project: Project) -> None:
    with start_run(project, "--collect-only") as run:
        time.sleep(0.3)
        output = run.end(signal.SIGTERM, group=False, twice=False)
    # By the signal itself, or in order where the session had begun; or it came too late.
    assert run.process.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM, 0)
    assert "Traceback" not in output
    assert run.server.arrivals == []
    assert not (project.path / "scorecard.json").exists()


def test_signals_are_given_back(project: Project) -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    project.run("--fcbench-category=parallel", "--fcbench-limit=2").assert_outcomes(passed=2)
    assert [signal.getsignal(number) for number in numbers] == before
