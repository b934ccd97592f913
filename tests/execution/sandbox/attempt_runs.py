"""Make the attempts of ``attempts`` here and tell what was seen, one line of JSON for each.

Runs as ``python -m tests.execution.sandbox.attempt_runs [--as UID] [--without landlock seccomp]
[--unconfined] [--only NAME ...]``. A kernel that lacks something is this one behind a filter that answers
ENOSYS to the calls for it, as a kernel without them does.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.execution.outcomes import Returned
from pytest_fcbench.execution.sandbox.pool import CallLimits, Pool
from tests.execution.sandbox.attempts import HOSTILE_CALLS

SECRET = "sk-attempt-2718281828"
# The last marks the processes of this run.
LIMITS = CallLimits(cpu_s=0.5, wall_s=2, memory=2**29 + 4096 * os.getpid())
_HONEST = "math_gcd(a=12, b=18)"
# Beside the limit: to start a process, on a machine with a high load.
_GRACE_S = 10


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of an attempt."""

    name: str
    got: str
    """The outcome of the call."""
    harm: str
    """What it reached; empty where it reached nothing."""
    seconds: float


def lose_calls(names: list[str]) -> None:
    """Let this process and what it starts find a kernel without Landlock, or without filters."""
    from pytest_fcbench.execution.sandbox import confinement

    calls = [(444, 444), (445, 445), (446, 446)] if "landlock" in names else []
    calls += [(317, 277)] if "seccomp" in names else []
    if calls:
        # Who is not root may have filters only of programs without privileges.
        ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
        confinement.install_filter(calls, confinement.REFUSE | errno.ENOSYS, confinement.ALLOW)


@contextmanager
def open_scene() -> Iterator[tuple[Mapping[str, object], list[str]]]:
    """Make files, a process and listeners to reach; yield their names, and what listeners hear."""
    heard: list[str] = []
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        victim = subprocess.Popen(["sleep", "600"], env={"SECRET": SECRET}, start_new_session=True)
        # Not awaited: what traces it may keep it.
        opened.callback(victim.kill)
        name = f"attempts-{os.getpid()}-{time.monotonic_ns()}"
        stream = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = stream.getsockname()[1]
        datagrams = opened.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        datagrams.bind(("127.0.0.1", port))
        local = opened.enter_context(socket.socket(socket.AF_UNIX))
        local.bind("\0" + name)
        local.listen()
        (folder / "empty").mkdir()
        (folder / "note").write_text("kept")
        (folder / "link").symlink_to("note")
        (folder / "part.py").write_text("")
        paths = {each: str(folder / each) for each in ("note", "new", "empty", "link")}
        numbers = {"victim": victim.pid, "run": os.getpid(), "port": port}
        yield {**paths, **numbers, "folder": str(folder), "name": name}, heard
        for listener in (stream, datagrams, local):
            listener.setblocking(False)
            try:
                _ = listener.recv(1) if listener is datagrams else listener.accept()
                heard.append("a listener was reached")
            except BlockingIOError:
                pass
        if os.path.ismount(folder / "empty"):
            subprocess.run(["umount", folder / "empty"], check=True)


def describe_scene(scene: Mapping[str, object]) -> Mapping[str, object]:
    """Describe what attempts may not change."""
    folder = Path(str(scene["folder"]))
    victim = psutil.Process(int(str(scene["victim"])))
    files: dict[str, object] = {}
    for path in filter(Path.exists, [folder, *sorted(folder.rglob("*"))]):
        seen = path.lstat()
        # Whatever is changed, the time of the last change is another.
        files[path.name] = (seen.st_ctime_ns, seen.st_ino, seen.st_mode, seen.st_size)
    alive = victim.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
    return {
        "files": files,
        "the process": alive,
        "its state": alive and (victim.nice(), victim.rlimit(psutil.RLIMIT_NOFILE)),
    }


def find_left(pool_processes: set[int]) -> list[int]:
    """Find processes of calls that still run although no call does."""
    mark = str(LIMITS.memory)
    left = []
    for process in psutil.process_iter(["cmdline", "pid", "status"]):
        line = process.info["cmdline"] or []
        if "pytest_fcbench.execution.sandbox.child" in line and mark in line:
            left.append(process.info["pid"])
    return [pid for pid in left if pid not in pool_processes]


def make_attempt(name: str, pool: Pool) -> Seen:
    """Make one attempt and look what came of it."""
    harm = []
    outcomes: list[object] = []
    with open_scene() as (scene, heard):
        before = describe_scene(scene)
        known = f"{__package__}.attempts."
        text = known + HOSTILE_CALLS[name].format_map(scene)
        # All of them, so that they are imported once.
        own = sorted({known + call.partition("(")[0] for call in HOSTILE_CALLS.values()})

        def carry_out() -> None:
            try:
                outcomes.extend(pool([text], own=own))
            except (NotScoredError, RuntimeError) as error:
                outcomes.append(error)
            outcomes.extend(pool([_HONEST]))

        started = time.monotonic()
        thread = threading.Thread(target=carry_out, daemon=True)
        thread.start()
        thread.join(LIMITS.wall_s + _GRACE_S)
        seconds = time.monotonic() - started
        if thread.is_alive():
            harm.append("the run hangs")
        after = describe_scene(scene)
        harm += [f"{what} changed" for what in before if after[what] != before[what]]
        children = {child.pid for child in psutil.Process().children()}
        if left := find_left(children):
            harm.append("a process is left")
            for pid in left:
                os.kill(pid, signal.SIGKILL)
    harm += heard
    got = str(outcomes[0]) if outcomes else ""
    if "reached" in got:
        harm.append("the function went on")
    if SECRET in got:
        harm.append("the secret is in the result")
    if outcomes[:1] == [Returned(666)] and "stolen" not in name:
        harm.append("the result is forged")
    if outcomes and outcomes[1:] != [Returned(6)]:
        harm.append(f"the next call: {outcomes[1:]}")
    return Seen(name, got, "; ".join(harm), round(seconds, 1))


def main() -> None:
    """Make attempts and print what was seen."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--as", dest="user", type=int, default=None)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--unconfined", action="store_true")
    parser.add_argument("--only", nargs="*", default=list(HOSTILE_CALLS))
    chosen = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = SECRET
    if chosen.user is not None:
        os.setgroups([])
        os.setgid(chosen.user)
        os.setuid(chosen.user)
    lose_calls(chosen.without)
    options = {"unconfined": True} if chosen.unconfined else {}
    with closing(Pool(1, LIMITS, **options)) as pool:  # type: ignore[arg-type]
        for name in chosen.only:
            seen = make_attempt(name, pool)
            print(json.dumps([seen.name, seen.got[:300], seen.harm, seen.seconds]), flush=True)
            if "hangs" in seen.harm:
                os._exit(1)
    sys.exit(0)


if __name__ == "__main__":
    main()
