"""A pool of child processes that carry out calls; a child is reused until it has to be ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Pipe

from pytest_fcbench.domain.entry import PathCall
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.execution.functions.lookups import FailedLookupError, Provider, Recorded, UnansweredError
from pytest_fcbench.execution.outcomes import Limit, Outcome, Raised, Returned, Stopped, Unanswered
from pytest_fcbench.execution.sandbox.frames import READY, encode, receive


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one call."""

    cpu_s: float = 2.0
    wall_s: float = 10.0
    """Includes the wait for a web API."""
    memory: int = 2**30
    """Bytes of the whole process; Python itself takes some fifty million."""


# The time for a child to start on a machine with a high load.
_START_S = 60.0


class Pool:
    """A pool whose children are started on demand. Any thread may call; ``size`` calls run at once.

    ``live`` answers calls of web APIs without a recorded answer.
    """

    def __init__(self, size: int = 2, limits: Limits | None = None, live: Provider | None = None) -> None:
        self.limits = limits or (Limits(wall_s=60.0) if live else Limits())
        self._live = live
        self._idle: list[_Child] = []
        self._free = threading.BoundedSemaphore(size)
        self._own: set[str] = set()
        self._closed = False

    def __call__(
        self, calls: Sequence[str], recorded: Sequence[PathCall] = (), own: Sequence[str] = ()
    ) -> tuple[Outcome, ...]:
        """Carry out calls and return their outcomes (an ``outcomes.Execute``)."""
        provider = Recorded(recorded, self._live)
        # Functions of all suites are kept together, so that children are seldom replaced.
        self._own.update(own)
        outcomes = []
        for call in calls:
            with self._free:
                names = tuple(sorted(self._own))
                child = self._idle.pop() if self._idle else _Child(self.limits, names)
                if not child.knows(names):
                    child.end()
                    child = _Child(self.limits, names)
                try:
                    outcomes.append(child.run(call, provider))
                # After Ctrl-C the answer may still come, and would be taken for that of the next call.
                except BaseException:
                    child.end()
                    raise
                if self._closed:
                    child.end()
                elif not child.ended:
                    self._idle.append(child)
        return tuple(outcomes)

    def close(self) -> None:
        """End the children; one that is busy ends after its call."""
        self._closed = True
        while self._idle:
            self._idle.pop().end()


class _Child:
    def __init__(self, limits: Limits, own: tuple[str, ...]) -> None:
        if sys.platform == "win32":
            raise NotScoredError(
                "unsupported_system",
                "calls can be executed on Linux and macOS only; use WSL or a container on Windows",
            )
        self._limits = limits
        self._own = own
        self._connection, other = Pipe()
        # What Python needs to start. Keys and tokens of the environment stay out.
        kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "PYTHONHOME") if name in os.environ}
        path = os.pathsep.join(filter(os.path.isabs, sys.path))
        with other:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [
                    *(sys.executable, "-P", "-m", "pytest_fcbench.execution.sandbox.child"),
                    *(str(other.fileno()), str(limits.cpu_s), str(limits.memory), *own),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(other.fileno(),),
                cwd=os.sep,
                env={**kept, "PYTHONPATH": path},
            )
        self.ended = False
        try:
            first = receive(self._connection) if self._connection.poll(_START_S) else ("", "")
        except (EOFError, OSError):
            first = "", ""
        if first != READY:
            self.end()
            raise RuntimeError(f"the process that carries calls out does not start: {first[1]}".rstrip(": "))

    def run(self, call: str, provider: Provider) -> Outcome:
        """Carry out one call; the child has ended if it took too much."""
        deadline = time.monotonic() + self._limits.wall_s
        try:
            self._send(call)
            while self._connection.poll(max(0.0, deadline - time.monotonic())):
                match receive(self._connection):
                    case "ask", name, arguments:
                        self._send(_ask_provider(provider, name, arguments))
                    case "returned", value:
                        return Returned(value)
                    case "unanswered", function:
                        return Unanswered(str(function))
                    case "memory", reason:
                        return Stopped(Limit.MEMORY, str(reason))
                    case _, reason:
                        return Raised(str(reason))
        except (EOFError, OSError):
            # The socket closed: the child was ended by a signal, by its own timer or by the system.
            signalled = -self._process.wait()
            self.end()
            if signalled != signal.SIGPROF:
                return Raised(f"the process that carried it out died (signal {signalled})")
            return Stopped(Limit.TIME, f"it takes more than {self._limits.cpu_s:g} s of processor time")
        self.end()
        return Stopped(Limit.TIME, f"it takes more than {self._limits.wall_s:g} s")

    def knows(self, own: tuple[str, ...]) -> bool:
        """Tell whether the child is alive and has these functions.

        Another program may have ended it, which is not the fault of a call.
        """
        return own == self._own and self._process.poll() is None

    def _send(self, value: object) -> None:
        self._connection.send_bytes(encode(value))

    def end(self) -> None:
        """Kill the process; it holds no state worth saving."""
        self.ended = True
        self._connection.close()
        self._process.kill()
        self._process.wait()


def _ask_provider(provider: Provider, name: str, arguments: dict[str, object]) -> tuple[object, ...]:
    try:
        return "answer", provider.answer(name, arguments)
    except UnansweredError:
        return ("unanswered",)
    except FailedLookupError as error:
        return "failed", str(error)
