"""The process in which calls are carried out: it can open nothing, and takes no more than it is given.

Runs as ``python -m pytest_fcbench.execution.sandbox.child FD CPU_S MEMORY [NAME ...]``; FD is a socket to the
parent, by which they talk in ``frames``, and the names are those of a team's ``own`` functions. It ends when
the socket is closed, so also when the parent was killed.

The limits are those of POSIX. macOS ignores that of memory, and Windows cannot start this process.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection

from pytest_fcbench.codecs.call_evaluation import carried_out
from pytest_fcbench.execution.functions import lookups
from pytest_fcbench.execution.functions.custom import loaded
from pytest_fcbench.execution.functions.everyday import EVERYDAY
from pytest_fcbench.execution.functions.formulas import FORMULAS
from pytest_fcbench.execution.sandbox.frames import LONGEST, READY, receive, written

LONGEST_CALL = 1_000_000
"""Characters of a call."""
_NOT_SMALL = "the result is too large"


def main() -> None:
    """Serve until the parent is gone."""
    descriptor, cpu_s, memory = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    socket = 3
    if descriptor != socket:
        os.dup2(descriptor, socket)
        os.close(descriptor)
    connection = Connection(socket)
    try:
        functions = {**_functions(connection), **loaded(sys.argv[4:])}
    except Exception as error:  # noqa: BLE001 - a module is a program of the user, which may fail in any way
        connection.send_bytes(written(("raised", f"{type(error).__name__}: {error}")))
        return
    _outcome("sort_array(array=[1]", functions)  # what Python imports for an error is imported now
    _limit(socket + 1, memory)
    connection.send_bytes(written(READY))
    while True:
        try:
            text = receive(connection)
            signal.setitimer(signal.ITIMER_PROF, cpu_s)  # its signal ends the process, whatever it computes
            outcome = _outcome(text, functions)
            signal.setitimer(signal.ITIMER_PROF, 0)
            connection.send_bytes(outcome)
        except (EOFError, OSError):
            return


def _limit(descriptors: int, memory: int) -> None:
    """No file, no socket, no process, no more memory."""
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, descriptors),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_AS, memory),
    ):
        resource.setrlimit(limit, (value, value))


def _functions(connection: Connection) -> Mapping[str, Callable[..., object]]:
    def ask(name: str, arguments: lookups.Arguments) -> object:
        connection.send_bytes(written(("ask", name, dict(arguments))))
        match receive(connection):
            case ("answer", value):
                return value
            case ("failed", reason):
                raise lookups.FailedLookupError(reason)
        raise lookups.UnansweredError(name)

    return {**FORMULAS, **EVERYDAY, **lookups.functions(ask)}


def _outcome(text: str, functions: Mapping[str, Callable[..., object]]) -> bytes:
    try:
        if len(text) > LONGEST_CALL:
            raise ValueError(f"the call has more than {LONGEST_CALL:,} characters")
        value = carried_out(text, functions)
        frame = written(("returned", list(value) if isinstance(value, tuple) else value))
        return frame if len(frame) <= LONGEST else written(("memory", _NOT_SMALL))
    except lookups.UnansweredError as error:
        return written(("unanswered", str(error)))
    except MemoryError:
        return written(("memory", "it needs too much memory"))
    except Exception as error:  # noqa: BLE001 - a model's arguments can make anything go wrong
        return written(("raised", f"{type(error).__name__}: {error}"[:500]))


if __name__ == "__main__":
    main()
