"""Runs against a slow server that are ended by a signal."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from tests.chaos.processes import find_group
from tests.dispatch.clock import Stuck, wait_until
from tests.loopback import Body, Reply, make_message_reply, serve_answers
from tests.plugin.conftest import PLUGINS
from tests.processes import listening_to_ctrl_c

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
    signalled_at: float = 0.0
    ended_at: float = 0.0

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
        self.ended_at = time.monotonic()
        return output

    @property
    def left_behind(self) -> list[str]:
        """The processes of the run that go on, and its temporary files."""
        # A zombie of a worker may wait a moment for its parent's end to be noticed.
        with suppress(Stuck):
            wait_until(lambda: find_group(self.process.pid) == [])
        processes = [str(process) for process in find_group(self.process.pid)]
        # pytest keeps the temporary folders of its last runs, by its own rules.
        files = [path.name for path in self.temporary.iterdir() if not path.name.startswith("pytest-of-")]
        return [*processes, *files]

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
def start_run(folder: Path, *options: str, at_once: int, port: int = 0) -> Iterator[RunningProject]:
    """Start a run of the benchmarks in a folder against a server of its own; kill what is left of it."""
    server, temporary = SlowServer(), folder / "temporary"
    temporary.mkdir(exist_ok=True)
    with serve_answers(server.answer, port=port) as endpoint, listening_to_ctrl_c():
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "pytest", *PLUGINS, "--fcbench-model=m", "--fcbench-mode=prompt"),
                *(f"--fcbench-api-base={endpoint.api_base}", f"--fcbench-concurrency={at_once}", *options),
            ],
            cwd=folder,
            env=os.environ | {"TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            yield RunningProject(process, folder, server, temporary, urlsplit(endpoint.api_base).port or 0)
        finally:
            for left in find_group(process.pid):
                left.kill()
            process.communicate()


EARLY = ("--fcbench-category=memory_kv", "--fcbench-category=simple_python")
"""The first entry is judged after its earlier conversations, so a signal comes before any verdict."""
LATER = ("--fcbench-category=simple_python,multiple,parallel,parallel_multiple,irrelevance",)
PLAIN, TWO_WORKERS = ("-n", "0"), ("-n", "2")
