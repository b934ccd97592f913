"""A pool of processes that start one for each call; they are used again until they have to be ended."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import RecordedCall
from pytest_fcbench.execution.lookups import (
    LOOKUPS,
    FailedLookupError,
    LookupSource,
    RecordedLookups,
    UnansweredError,
)
from pytest_fcbench.execution.outcomes import Limit, Outcome, Raised, Returned, Stopped, Unanswered
from pytest_fcbench.execution.sandbox.confinement import find_missing
from pytest_fcbench.execution.sandbox.frames import READY, Channel, FrameError


@dataclass(frozen=True, slots=True)
class CallLimits:
    """The limits of one call."""

    cpu_s: float = 2.0
    wall_s: float = 10.0
    """Includes the wait for a web API."""
    memory: int = 2**30
    """Bytes of the whole process; Python itself takes some fifty million."""


# The time for a child to start on a machine with a high load.
_START_S = 60.0
_IMPORT_S = 25.0
"""The time for the import of a module with own functions; one that never ends must not hold others up."""
_LONGEST_CALL = 1_000_000
_NO_RESULT = "what the process of the call sends is no result"


class Pool:
    """A pool whose children are started on demand. Any thread may call; ``size`` calls run at once.

    ``live`` answers calls of web APIs without a recorded answer. Where the system cannot confine a process,
    ``unconfined`` lets a team's own functions be carried out all the same.
    """

    def __init__(
        self,
        size: int = 2,
        limits: CallLimits | None = None,
        live: LookupSource | None = None,
        *,
        unconfined: bool = False,
    ) -> None:
        self.limits = limits or (CallLimits(wall_s=60.0) if live else CallLimits())
        self._live = live
        self._unconfined = unconfined
        self._idle: list[_Child] = []
        self._free = threading.BoundedSemaphore(size)
        self._own: set[str] = set()
        self._failures: dict[str, str] = {}
        """Why own functions, or their modules, cannot be imported; these are not tried again."""
        self._closed = False

    def __call__(
        self, calls: Sequence[str], recorded: Sequence[RecordedCall] = (), own: Sequence[str] = ()
    ) -> tuple[Outcome, ...]:
        """Carry out calls and return their outcomes (an ``outcomes.Execute``)."""
        if sys.platform == "win32":
            raise NotScoredError(
                "unsupported_system",
                "calls can be executed on Linux and macOS only; use WSL or a container on Windows",
            )
        # The benchmark's own functions reach nothing, whatever their arguments.
        if own and not self._unconfined and (missing := find_missing()):
            raise NotScoredError(
                "unsupported_system",
                "own functions are carried out only where they reach no file, network or process, and this "
                f"system lacks {missing}; --fcbench-unconfined carries them out all the same, and a model "
                "may then reach these through them",
            )
        provider = RecordedLookups(recorded, self._live)
        outcomes = []
        for call in calls:
            with self._free:
                # Functions of all suites are kept together, so that children are seldom replaced.
                names = tuple(sorted(name for name in {*self._own, *own} if not self._find_failure(name)))
                child = self._idle.pop() if self._idle else _Child(self.limits, names)
                if not child.knows(names):
                    child.end()
                    child = _Child(self.limits, names)
                # Only now, as a module may end its child, or keep it from starting.
                self._own.update(own)
                self._failures |= child.failures
                try:
                    for failure in filter(None, map(self._find_failure, own)):
                        raise RuntimeError(
                            "own functions cannot be imported in the sandbox, which sets no environment "
                            f"variables: {failure}"
                        )
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

    def _find_failure(self, name: str) -> str | None:
        return self._failures.get(name, self._failures.get(name.rpartition(".")[0]))

    def close(self) -> None:
        """End the children; one that is busy ends after its call."""
        self._closed = True
        while self._idle:
            self._idle.pop().end()


class _Child:
    def __init__(self, limits: CallLimits, own: tuple[str, ...]) -> None:
        self._limits = limits
        self._own = own
        ours, theirs = socket.socketpair()
        # What Python needs to start. Keys and tokens of the environment stay out.
        variables = {
            name: os.environ[name] for name in ("LD_LIBRARY_PATH", "PYTHONHOME") if name in os.environ
        }
        path = os.pathsep.join(filter(os.path.isabs, sys.path))
        numbers = (theirs.fileno(), _IMPORT_S, limits.cpu_s, limits.wall_s, limits.memory)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [
                    *(sys.executable, "-P", "-m", "pytest_fcbench.execution.sandbox.child"),
                    *(*map(str, numbers), *own),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                cwd=os.sep,
                # Libraries of numerics wait for ever for the threads that a call may not start.
                env={**variables, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
                # Its group is ended as a whole.
                start_new_session=True,
            )
        self._control = Channel(ours, key="", deadline=time.monotonic() + _START_S)
        self.ended = False
        try:
            first = self._control.receive()
        except (EOFError, OSError):
            first = []
        match first:
            case [word, dict(failures)] if word == READY:
                self.failures = failures
            case _:
                self.end()
                raise RuntimeError("the process that carries calls out does not start")

    def run(self, call: str, provider: LookupSource) -> Outcome:
        """Carry out one call; the child has ended if it took too much."""
        if len(call) > _LONGEST_CALL:
            return Raised(f"the call has more than {_LONGEST_CALL:,} characters")
        self._control.deadline = time.monotonic() + self._limits.wall_s
        key = secrets.token_bytes(16)
        ours, theirs = socket.socketpair()
        try:
            with ours:
                with theirs:
                    socket.send_fds(self._control.connection, [key], [theirs.fileno()])
                outcome = _exchange_frames(Channel(ours, key.hex(), self._control.deadline), call, provider)
            # Only when its process has ended a call can change nothing any more.
            (status,) = self._control.receive()
        except TimeoutError:
            self.end()
            return Stopped(Limit.TIME, f"it takes more than {self._limits.wall_s:g} s")
        except (EOFError, OSError):
            self.end()
            status = self._process.returncode
            outcome = None
        if outcome:
            return outcome
        if status == -signal.SIGPROF:
            return Stopped(Limit.TIME, f"it takes more than {self._limits.cpu_s:g} s of processor time")
        return Raised(f"the process that carried it out ended without a result (status {status})")

    def knows(self, own: tuple[str, ...]) -> bool:
        """Tell whether the child is alive and has these functions.

        Another program may have ended it, which is not the fault of a call.
        """
        return own == self._own and self._process.poll() is None

    def end(self) -> None:
        """Kill the process and that of a call; they hold no state worth saving."""
        self.ended = True
        self._control.connection.close()
        # Once its status was asked for, its number may be that of another.
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def _exchange_frames(channel: Channel, call: str, provider: LookupSource) -> Outcome | None:
    """Return what the process of a call tells; None where it ends before.

    Raises TimeoutError, and NotScoredError where no call can be carried out.
    """
    try:
        channel.receive()
    except (EOFError, ConnectionError):
        # No function has run yet.
        raise NotScoredError("unsupported_system", "the process of a call cannot be confined here") from None
    try:
        channel.send(call)
        while True:
            match channel.receive():
                case ["ask", str(name), dict(arguments)] if name in LOOKUPS:
                    try:
                        channel.send("answer", provider.answer(name, arguments))
                    except UnansweredError:
                        channel.send("unanswered")
                    except (FailedLookupError, RecursionError) as error:
                        channel.send("failed", str(error))
                case ["returned", value]:
                    return Returned(value)
                case ["unanswered", str(function)]:
                    return Unanswered(function)
                case ["memory", str(reason)]:
                    return Stopped(Limit.MEMORY, reason)
                case ["raised", str(reason)]:
                    return Raised(reason)
                case _:
                    return Raised(_NO_RESULT)
    except FrameError:
        return Raised(_NO_RESULT)
    except (EOFError, ConnectionError):
        return None
