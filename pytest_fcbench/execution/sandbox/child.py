"""The process in which calls are carried out: it can open nothing, and its time and memory are limited.

Runs as ``python -m pytest_fcbench.execution.sandbox.child FD CPU_S MEMORY [NAME ...]``; FD is a socket to the
parent, over which both exchange ``frames``, and the names are those of a team's ``own`` functions. The
process ends when the socket is closed, and so also when the parent was killed.

The limits are those of POSIX. macOS ignores that of memory, and Windows cannot start this process.
"""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from multiprocessing.connection import Connection

from pytest_fcbench.codecs.call_evaluation import carry_out_call
from pytest_fcbench.execution.functions import lookups
from pytest_fcbench.execution.functions.everyday import EVERYDAY
from pytest_fcbench.execution.functions.formulas import FORMULAS
from pytest_fcbench.execution.sandbox.frames import LONGEST, READY, encode, receive

LONGEST_CALL = 1_000_000
"""The limit of a call's length in characters."""


def main() -> None:
    """Carry out calls until the parent has ended."""
    descriptor, cpu_s, memory = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    socket = 3
    # The limit of descriptors counts from 0, so the socket gets the lowest that is free.
    if descriptor != socket:
        os.dup2(descriptor, socket)
        os.close(descriptor)
    connection = Connection(socket)
    try:
        functions = _collect_functions(connection, sys.argv[4:])
    except Exception as error:  # noqa: BLE001 - a module is a program of the user, which may fail in any way
        connection.send_bytes(encode(("raised", f"{type(error).__name__}: {error}")))
        return
    # What Python imports to report an error is imported now: later no file can be opened.
    _carry_out("sort_array(array=[1]", functions)
    # From here on no files, no sockets, no other processes and no more memory.
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, socket + 1),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_AS, memory),
    ):
        resource.setrlimit(limit, (value, value))
    connection.send_bytes(encode(READY))
    while True:
        try:
            text = receive(connection)
            # The signal of this timer ends the process, whatever it computes.
            signal.setitimer(signal.ITIMER_PROF, cpu_s)
            outcome = _carry_out(text, functions)
            signal.setitimer(signal.ITIMER_PROF, 0)
            connection.send_bytes(outcome)
        except (EOFError, OSError):
            return


def _collect_functions(connection: Connection, own: Iterable[str]) -> Mapping[str, Callable[..., object]]:
    """Collect the benchmark's functions and a team's ``own``, named ``module.function``.

    Raises what the modules of a team raise. Their folders are on ``sys.path`` since the suite that names them
    was read.
    """

    def ask(name: str, arguments: lookups.Arguments) -> object:
        connection.send_bytes(encode(("ask", name, dict(arguments))))
        match receive(connection):
            case ("answer", value):
                return value
            case ("failed", reason):
                raise lookups.FailedLookupError(reason)
        raise lookups.UnansweredError(name)

    functions = {**FORMULAS, **EVERYDAY, **lookups.make_functions(ask)}
    for name in own:
        module, _, function = name.rpartition(".")
        found: Callable[..., object] = getattr(importlib.import_module(module), function)
        # Also without dots, because some interfaces refuse dots.
        functions[name] = functions[name.replace(".", "_")] = found
    return functions


def _carry_out(text: str, functions: Mapping[str, Callable[..., object]]) -> bytes:
    try:
        if len(text) > LONGEST_CALL:
            raise ValueError(f"the call has more than {LONGEST_CALL:,} characters")
        value = carry_out_call(text, functions)
        # Officially a tuple becomes a list before it is compared.
        frame = encode(("returned", list(value) if isinstance(value, tuple) else value))
        return frame if len(frame) <= LONGEST else encode(("memory", "the result is too large"))
    except lookups.UnansweredError as error:
        return encode(("unanswered", str(error)))
    except MemoryError:
        return encode(("memory", "it needs too much memory"))
    except Exception as error:  # noqa: BLE001 - a model's arguments can make anything go wrong
        return encode(("raised", f"{type(error).__name__}: {error}"[:500]))


if __name__ == "__main__":
    main()
