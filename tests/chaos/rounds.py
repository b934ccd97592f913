"""Rounds of chaos: a run among evil replies, signals, full disks and damaged stores, and then its next run.

Everything follows from the number of the round.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle
from pathlib import Path
from random import Random

from pytest_fcbench.suites import core
from tests.chaos.evil_replies import EVIL_REPLIES, EvilReply, send, write_call, write_text
from tests.chaos.evil_server import EvilServer, serve_evil
from tests.chaos.processes import find_group, watch_memory
from tests.conftest import ROOT
from tests.plugin.conftest import PLUGINS
from tests.processes import listening_to_ctrl_c

SECRET = "sk-Chaos0123456789abcdef"
MIB = 2**20
_CATEGORIES = (
    *("simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "irrelevance"),
    *("live_simple", "live_irrelevance", "multi_turn_base", "memory_kv", "chatable"),
)
_PATIENCE_S = 1800.0
"""Enough for a machine that is many times slower than usual; a hang is told all the same."""


class Trouble(StrEnum):
    """What befalls the first of the two runs of a round."""

    NOTHING = "nothing"
    INT = "SIGINT"
    TERM = "SIGTERM"
    HUP = "SIGHUP"
    KILL = "SIGKILL"
    DISK = "no file may grow beyond 200 kB"
    MEMORY = "little memory"
    STORE = "a damaged store"


_SIGNALS = {
    Trouble.INT: (signal.SIGINT, 2),
    Trouble.TERM: (signal.SIGTERM, 143),
    Trouble.HUP: (signal.SIGHUP, 129),
    Trouble.KILL: (signal.SIGKILL, -9),
}
"""The signal of each trouble, and the exit code that it must lead to."""


@dataclass(frozen=True)
class Round:
    """One round: two runs with the same server and store, the first of which meets trouble."""

    number: int
    trouble: Trouble
    mode: str
    options: tuple[str, ...]
    evil: Mapping[str, EvilReply]
    """Evil replies by item id."""
    delay_s: float
    """Seconds until the trouble, where it is a signal."""

    def __str__(self) -> str:
        evil = f"{len(self.evil)} evil replies"
        return f"round {self.number}: {self.trouble}, {self.mode}, {' '.join(self.options)}, {evil}"


def draw_round(number: int) -> Round:
    """Draw everything about a round from its number."""
    chance = Random(number)
    suite = core.open_suite(Path())
    entries = [
        entry.item_id
        for category in suite.categories
        if category.name in _CATEGORIES
        for entry in suite.load(category)
    ]
    chance.shuffle(entries)
    kinds = list(EVIL_REPLIES.values())
    chance.shuffle(kinds)
    count = chance.choice((0, 20, 60))
    model = chance.choice(("m", "m", "m", "litellm:openai/m"))
    workers = chance.choice(((), (), ("-n", "0"), ("-n", "2")))
    return Round(
        number,
        chance.choice(list(Trouble)),
        chance.choice(("fc", "prompt")),
        (f"--fcbench-model={model}", f"--fcbench-concurrency={chance.choice((2, 8, 32))}", *workers),
        dict(zip(entries[:count], cycle(kinds), strict=False)),
        chance.uniform(0.2, 8.0),
    )


@dataclass(frozen=True)
class Ended:
    """How a run ended: its exit code, what it printed, and the bytes of its largest size."""

    code: int
    output: str
    memory: int


@dataclass(frozen=True)
class Outcome:
    """What went wrong in a round, in words, and the bytes of the largest size of its runs."""

    faults: tuple[str, ...]
    memory: int


def run_round(drawn: Round, folder: Path) -> Outcome:
    """Play a round in an empty folder."""
    shutil.copytree(ROOT / "benchmarks", folder / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tmp").mkdir()
    harmless = send(write_call("f", '{"a": 1}') if drawn.mode == "fc" else write_text("[f(a=1)]"))
    faults: list[str] = []
    with serve_evil(lambda entry: drawn.evil.get(entry, harmless)) as server, listening_to_ctrl_c():
        first = _run_with_trouble(drawn, folder, server)
        faults += [f"first run: {fault}" for fault in _find_faults(drawn, folder, first, is_first=True)]
        asked = dict(server.asked)
        stored = _list_stored(folder)
        second = _run(drawn, folder, server)
        faults += [f"second run: {fault}" for fault in _find_faults(drawn, folder, second, is_first=False)]
        if drawn.trouble is not Trouble.STORE:
            again = sorted(each for each in stored if server.asked[each] > asked.get(each, 0))
            faults += [f"asked again although it was stored: {each}" for each in again]
    faults += [f"{path} holds the key" for path in _find_leaks(folder)]
    left = [path.name for path in (folder / "tmp").iterdir() if not path.name.startswith("pytest-of-")]
    # A process that was killed can tidy nothing up.
    if left and drawn.trouble is not Trouble.KILL:
        faults.append(f"left in the temporary folder: {left}")
    return Outcome(tuple(faults), max(first.memory, second.memory))


def _make_command(drawn: Round, server: EvilServer) -> list[str]:
    return [
        *(sys.executable, "-m", "pytest", *PLUGINS, *drawn.options),
        *(f"--fcbench-api-base={server.api_base}", f"--fcbench-mode={drawn.mode}"),
        *(f"--fcbench-category={','.join(_CATEGORIES)}", "--fcbench-tag", "--fcbench-timeout=2"),
        *("--fcbench-retries=1", "--fcbench-max-pause=1", "--fcbench-no-preflight"),
        "--fcbench-api-key-env=CHAOS_KEY",
    ]


def _run(
    drawn: Round,
    folder: Path,
    server: EvilServer,
    limit: Callable[[], None] | None = None,
    meddle: Callable[[subprocess.Popen[bytes]], None] | None = None,
) -> Ended:
    """Run to the end. ``limit`` is called in the new process, ``meddle`` when it has started."""
    environment = os.environ | {"CHAOS_KEY": SECRET, "TMPDIR": str(folder / "tmp")}
    with (folder / "output.txt").open("wb") as file:
        process = subprocess.Popen(
            _make_command(drawn, server),
            cwd=folder,
            env=environment,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=limit,
        )
        try:
            if meddle:
                meddle(process)
            memory = watch_memory(process, _PATIENCE_S)
        finally:
            # A run that does not end is told by its exit code.
            for left in find_group(process.pid) if process.poll() is None else ():
                left.kill()
            process.wait()
    output = (folder / "output.txt").read_text(encoding="utf-8", errors="replace")
    time.sleep(0.5)
    for left in find_group(process.pid):
        output += f"\nLEFT BEHIND: {left.cmdline()[:4]}\n"
        left.kill()
    return Ended(process.returncode, output, memory)


def _run_with_trouble(drawn: Round, folder: Path, server: EvilServer) -> Ended:
    match drawn.trouble:
        case Trouble.INT | Trouble.TERM | Trouble.HUP | Trouble.KILL:
            number, _ = _SIGNALS[drawn.trouble]

            def send_signal(process: subprocess.Popen[bytes]) -> None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(drawn.delay_s)
                if process.poll() is None:
                    os.killpg(process.pid, number)

            return _run(drawn, folder, server, meddle=send_signal)
        case Trouble.DISK:
            size = 200_000
            return _run(drawn, folder, server, lambda: _set_limit(resource.RLIMIT_FSIZE, size))
        case Trouble.MEMORY:
            return _run(drawn, folder, server, lambda: _set_limit(resource.RLIMIT_DATA, 700 * MIB))
        case Trouble.STORE:
            _run(drawn, folder, server)
            _damage_store(folder, Random(drawn.number))
            return _run(drawn, folder, server)
        case _:
            return _run(drawn, folder, server)


def _set_limit(kind: int, most: int) -> None:
    resource.setrlimit(kind, (most, most))


def _damage_store(folder: Path, chance: Random) -> None:
    """Damage some rows, or some pages, of the store."""
    path = folder / ".fcbench" / "answers.sqlite"
    if chance.random() < 0.5:
        with closing(sqlite3.connect(path)) as store, store:
            store.execute("UPDATE answers SET answer = '{half' WHERE key < '4'")
        return
    data = bytearray(path.read_bytes())
    for _ in range(20):
        place = chance.randrange(4096, max(len(data), 4097))
        data[place : place + 64] = chance.randbytes(64)
    path.write_bytes(data)


def _list_stored(folder: Path) -> set[str]:
    """List the entries of one call that have a stored answer, so that they need not be asked again."""
    path = folder / ".fcbench" / "answers.sqlite"
    single = ("simple_", "multiple_", "parallel_", "irrelevance_", "live_")
    try:
        with closing(sqlite3.connect(path)) as store:
            rows = store.execute("SELECT entry FROM answers").fetchall()
    except sqlite3.Error:
        return set()
    return {entry for (entry,) in rows if entry.partition(":")[2].startswith(single)}


def _find_faults(drawn: Round, folder: Path, ended: Ended, *, is_first: bool) -> list[str]:
    """List what a run should not have done, in words."""
    faults = []
    words = (
        "INTERNALERROR",
        "Traceback (most recent call last)",
        "LEFT BEHIND",
        "internal_error",
        "model_error",
    )
    # Nothing can be promised where Python itself gets no memory, but that it is told.
    allowed = ("MemoryError",) if drawn.trouble is Trouble.MEMORY and is_first else ()
    if not any(word in ended.output for word in allowed):
        faults += [f"it printed {word!r}" for word in words if word in ended.output]
    codes = {0, 1}
    if is_first and drawn.trouble in _SIGNALS:
        number, code = _SIGNALS[drawn.trouble]
        # Before the session has begun a signal ends Python as it ends any program.
        codes |= {code, -number}
    if is_first and drawn.trouble in (Trouble.DISK, Trouble.MEMORY):
        codes |= {2, 3, 4}
    if ended.code not in codes:
        faults.append(f"exit code {ended.code}: {ended.output[-2000:]}")
    if not (is_first and drawn.trouble in (*_SIGNALS, Trouble.DISK, Trouble.MEMORY)):
        faults += _check_scorecard(folder)
    if SECRET in ended.output:
        faults.append("it printed the key")
    return faults


def _check_scorecard(folder: Path) -> list[str]:
    try:
        tests = json.loads((folder / "scorecard.json").read_bytes())["tests"]
    except (OSError, ValueError, KeyError) as error:
        return [f"there is no scorecard: {error!r}"]
    missing = [test["nodeid"] for test in tests if "fcbench" not in test.get("metadata", {})]
    return [f"no Record: {nodeid}" for nodeid in missing]


def _find_leaks(folder: Path) -> list[Path]:
    """List the files that hold the key."""
    return [path for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
