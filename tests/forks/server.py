"""``python -m tests.forks.server SOCKET READY``: import everything once, fork a process for each connection.

Python with pytest, its plugins and the benchmark takes a second of processor time to start, most of it for
imports, and the tests start about a thousand of such processes. Forked, a worker takes a quarter.

A connection brings one message: what to run, arguments, environment and folder as JSON, with the files that
become 0, 1 and 2. It is answered with the id of the process, and with its exit code when it ends in order.
The server writes a file when it is ready. It ends with its standard input, and ends its processes.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import runpy
import select
import shutil
import signal
import socket
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import NoReturn, TypedDict

import pytest

from pytest_fcbench.cli import tree
from pytest_fcbench.domain.registry import find_entry_points
from pytest_fcbench.suites import core

ROOT = Path(__file__).parents[2]
LONGEST = 200_000
"""Bytes of a message, which is sent whole; an environment has a few thousand."""


class Request(TypedDict):
    """What a forked process is to be."""

    module: str
    """The module that is run like ``python -m``; empty to run ``code``."""
    code: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str


def import_everything() -> None:
    """Run some entries of every category and read the others, so that whatever a run imports is there."""
    before = set(sys.modules)
    paths = list(sys.path)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        shutil.copytree(ROOT / "benchmarks", Path(folder, "benchmarks"))
        with contextlib.chdir(folder):
            code = pytest.main(
                [
                    *("benchmarks", "-p", "no:cacheprovider", "--fcbench-model=oracle", "--fcbench-smoke"),
                    *("--fcbench-runs=none", "--fcbench-store=none", "--fcbench-scorecard=none"),
                ]
            )
        assert code == 0, f"the run before the first fork ended with {code}"
    # The test modules of another folder have the same names.
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "benchmarks":
            del sys.modules[name]
    sys.path[:] = paths
    importlib.import_module("xdist.remote")
    importlib.import_module("pytest_fcbench.cli.main")
    for name in tree.find_command_names():
        tree.load_functions(name)
    suite = core.open_suite(Path())
    for category in suite.categories:
        suite.load(category)


def serve_forks(listening: socket.socket) -> None:
    """Fork for each connection until standard input is closed."""
    # Those that asked for the processes watch them.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    while 0 not in select.select([0, listening.fileno()], [], [])[0]:
        connection, _ = listening.accept()
        with connection:
            if os.fork() == 0:
                listening.close()
                become_process(connection)


def _open_output(number: int, buffering: int) -> io.TextIOWrapper:
    """Open standard output or errors; with 0 each write arrives at once."""
    file = open(number, "wb", buffering=buffering, closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(file, write_through=buffering == 0)


def become_process(connection: socket.socket) -> NoReturn:
    """Turn this process into what is asked for, and end it with its exit code."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        message, files, _, _ = socket.recv_fds(connection, LONGEST, 3)
        request: Request = json.loads(message)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        connection.send(str(os.getpid()).encode())
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        buffering = 0 if os.environ.get("PYTHONUNBUFFERED") else -1
        sys.stdout, sys.stderr = _open_output(1, buffering), _open_output(2, 0)
        sys.path[:0] = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        importlib.invalidate_caches()
        find_entry_points.cache_clear()
        sys.argv = ["-c", *request["arguments"]]
        if request["module"]:
            sys.path.insert(0, request["folder"])
            runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
        else:
            exec(request["code"], {"__name__": "__main__"})
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
    except BaseException:  # noqa: BLE001 - as at the end of any program
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        with contextlib.suppress(OSError):
            connection.send(str(code).encode())
        os._exit(code)


if __name__ == "__main__":
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        import_everything()
        server.bind(sys.argv[1])
        server.listen(64)
        Path(sys.argv[2]).touch()
        serve_forks(server)
    # Nothing outlives the tests, not even what a killed command left running.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
