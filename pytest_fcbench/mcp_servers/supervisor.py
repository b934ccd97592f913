"""Run an MCP server, and end it with all processes that it started: as a script, ``PARENT COMMAND...``.

The SDK ends a server that does not end by itself, but neither what a server left behind nor a server whose
client was killed. This process stands between the two: it ends when the server or the client has ended, or
by SIGTERM, and nothing that the server started outlives it. It is started without the package, so it imports
only what every Python has.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

assert sys.platform != "win32"

_LOOK_S = 0.5
"""Seconds between two looks at whether the client is still there."""
_GRACE_S = 1.0
"""Seconds that a server has to end by itself; the SDK kills this process after two."""
_DEATH_SIGNAL, _SUBREAPER = 1, 36
"""PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER of Linux: a process ends when its parent does; orphans among
the descendants of a process become its children."""


def supervise_server(parent: int, command: list[str]) -> int:
    """Run a command until it ends or the parent process does, then end its descendants."""
    _call_prctl(_SUBREAPER, 1)
    signals = {signal.SIGCHLD, signal.SIGTERM, signal.SIGALRM}
    former = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    server = os.fork()
    if not server:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
        _call_prctl(_DEATH_SIGNAL, signal.SIGKILL)
        try:
            os.execvp(command[0], command)  # noqa: S606 - the user allowed the entry to start it
        except OSError as error:
            os.write(2, f"{command[0]!r} cannot be run: {error.strerror}".encode(errors="backslashreplace"))
            os._exit(1)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_S, _LOOK_S)
    status = None
    while status is None:
        number = signal.sigwait(signals)
        status = _reap_server(server)
        if number == signal.SIGTERM or os.getppid() != parent:
            break
    if status is None:
        with suppress(ProcessLookupError):
            os.kill(server, signal.SIGTERM)
        until = time.monotonic() + _GRACE_S
        while (status := _reap_server(server)) is None and time.monotonic() < until:
            time.sleep(0.02)
    kill_descendants()
    return os.waitstatus_to_exitcode(status or 0)


def _call_prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _reap_server(server: int) -> int | None:
    """Reap what has ended; return the status of the server once it has."""
    with suppress(ChildProcessError):
        while (pid_and_status := os.waitpid(-1, os.WNOHANG))[0]:
            if pid_and_status[0] == server:
                return pid_and_status[1]
    return None


def kill_descendants() -> None:
    """Kill children until there are none; their own become children of this process."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    with suppress(OSError):
        while pids := children.read_text().split():
            for child in pids:
                os.kill(int(child), signal.SIGKILL)
            os.waitpid(-1, 0)
    # Systems without that file know groups of processes: the SDK has given this process one of its own.
    if not children.exists() and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(supervise_server(int(sys.argv[1]), sys.argv[2:]))
