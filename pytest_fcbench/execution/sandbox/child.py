"""The process that starts a process for each call, so that no call leaves anything to the next one.

Runs as ``python -m pytest_fcbench.execution.sandbox.child FD IMPORT_S CPU_S WALL_S MEMORY [NAME ...]``; FD is
a socket to the run, and the names are those of a team's ``own`` functions, which are imported once, here,
each module within IMPORT_S. For each call the socket brings a key and another socket, over which run and
process exchange ``frames``; the status with which it ended goes back. This process ends with the run.

The limits are those of POSIX. macOS ignores that of memory, and Windows cannot start this process.
"""

from __future__ import annotations

import importlib
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from pytest_fcbench.codecs.call_evaluation import carry_out_call
from pytest_fcbench.execution import lookups
from pytest_fcbench.execution.everyday import EVERYDAY
from pytest_fcbench.execution.formulas import FORMULAS
from pytest_fcbench.execution.sandbox.confinement import confine_process, find_missing
from pytest_fcbench.execution.sandbox.frames import READY, Channel, FrameError, decode_frame, encode_frame

# The lowest descriptor that is free: the limit of descriptors counts from 0.
_SOCKET = 3

Functions: TypeAlias = Mapping[str, Callable[..., object]]


def main() -> None:
    """Start processes until the run has ended."""
    descriptor, import_s, cpu_s, wall_s, memory, *own = sys.argv[1:]
    run = Channel(socket.socket(fileno=int(descriptor)), key="")
    functions, failures = _collect_functions(own, float(import_s))
    # What Python imports for an error and for a date is imported now: later no file can be opened.
    for text in ("sort_array(array=[1]", "no.function()"):
        _carry_out(text, functions)
    time.strptime("2000", "%Y")
    run.send(READY, failures)
    while True:
        key, descriptors, _, _ = socket.recv_fds(run.connection, 16, 1)
        if not key:
            return
        process = os.fork()
        if process == 0:
            try:
                _serve_call(descriptors[0], key.hex(), float(cpu_s), int(memory), functions)
            finally:
                os._exit(0)
        os.close(descriptors[0])
        # The run ends what takes too long before; this is for the case that it was killed.
        signal.signal(signal.SIGALRM, lambda *_, process=process: os.kill(process, signal.SIGKILL))
        signal.setitimer(signal.ITIMER_REAL, float(wall_s) + 1)
        _, status = os.waitpid(process, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        run.send(os.waitstatus_to_exitcode(status))


def _collect_functions(own: Iterable[str], import_s: float) -> tuple[Functions, dict[str, str]]:
    """Collect the benchmark's functions and a team's ``own``, named ``module.function``.

    The errors of those that cannot be imported come by name, that of the module where it is its own: other
    entries need none of them. The folders of their modules are on ``sys.path`` since the suite that names
    them was read.
    """

    def give_up(*_: object) -> None:
        raise TimeoutError(f"its import takes more than {import_s:g} s")

    signal.signal(signal.SIGALRM, give_up)
    functions: dict[str, Callable[..., object]] = {**FORMULAS, **EVERYDAY}
    failures: dict[str, str] = {}
    for name in own:
        module, _, function = name.rpartition(".")
        if module in failures:
            continue
        signal.setitimer(signal.ITIMER_REAL, import_s)
        try:
            implementation: Callable[..., object] = getattr(importlib.import_module(module), function)
        # A module is a program of the user, which may fail in any way, or end itself.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            failures[name if module in sys.modules else module] = f"{type(error).__name__}: {error}"
            continue
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        # Also without dots, because some interfaces refuse dots.
        functions[name] = functions[name.replace(".", "_")] = implementation
    return functions, failures


def _serve_call(descriptor: int, key: str, cpu_s: float, memory: int, functions: Functions) -> None:
    """Leave this process one socket, no files, no other processes and no more memory; carry out its call.

    Raises OSError, EOFError and FrameError.
    """
    os.dup2(descriptor, _SOCKET)
    run = Channel(socket.socket(fileno=_SOCKET), key)
    os.closerange(_SOCKET + 1, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 2**16))
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_AS, memory),
    ):
        resource.setrlimit(limit, (value, value))
    # The signal of this timer ends the process, whatever it computes.
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    if find_missing():
        resource.setrlimit(resource.RLIMIT_NOFILE, (_SOCKET + 1, _SOCKET + 1))
    else:
        confine_process()

    def ask(name: str, arguments: lookups.Arguments) -> object:
        run.send("ask", name, dict(arguments))
        match run.receive():
            case ["answer", value]:
                return value
            case ["failed", reason]:
                raise lookups.FailedLookupError(reason)
        raise lookups.UnansweredError(name)

    run.send(READY)
    (text,) = run.receive()
    run.send(*_carry_out(str(text), {**lookups.make_functions(ask), **functions}))


def _carry_out(text: str, functions: Functions) -> tuple[str, object]:
    try:
        value = carry_out_call(text, functions)
        # Officially a tuple becomes a list before it is compared.
        value = list(value) if isinstance(value, tuple) else value
        # The run would refuse a result that is too large; only here it can be told why.
        decode_frame(encode_frame(value))
    except FrameError as error:
        return "memory", str(error)
    except lookups.UnansweredError as error:
        return "unanswered", str(error)
    except MemoryError:
        return "memory", "it needs too much memory"
    except Exception as error:  # noqa: BLE001 - a model's arguments can make anything go wrong
        return "raised", f"{type(error).__name__}: {error}"[:500]
    return "returned", value


if __name__ == "__main__":
    main()
