"""Nothing that an MCP server started outlives it, nor the command that wanted it, however that ended."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from pytest_fcbench.domain.entry import ServerProgram
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.mcp_servers.open_server import list_tools

pytest.importorskip("mcp")

_SERVER = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
is_server = os.fork()
if not is_server:
    os.setsid()
with open(sys.argv[1], "a") as file:
    file.write(f"{os.getpid()} ")
while not is_server or len(open(sys.argv[1]).read().split()) < int(sys.argv[2]):
    time.sleep(0.02)
"""
"""A server that says nothing and ends when so many processes have begun; its child, in a session of its own,
does not end."""


def wait_until(is_so: Callable[[], bool]) -> bool:
    until = time.monotonic() + 60
    while not is_so() and time.monotonic() < until:
        time.sleep(0.02)
    return is_so()


def list_written(path: Path) -> list[int]:
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def test_a_child_of_a_server_that_ended_is_ended(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with pytest.raises(CallError, match="Connection closed"):
        list_tools(ServerProgram((sys.executable, "-c", _SERVER, str(pids), "2")))
    assert wait_until(lambda: not any(map(psutil.pid_exists, list_written(pids))))


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["SIGINT", "SIGKILL"])
def test_a_server_that_hangs_ends_with_the_command(tmp_path: Path, number: int) -> None:
    pids = tmp_path / "pids"
    server = shlex.join([sys.executable, "-c", _SERVER, str(pids), "3"])
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from pytest_fcbench.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "suite", "functions", f"mcp:{server}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert wait_until(lambda: len(list_written(pids)) == 2)
            process.send_signal(number)
            process.communicate(timeout=60)
            assert wait_until(lambda: not any(map(psutil.pid_exists, list_written(pids))))
        finally:
            process.kill()
            for pid in filter(psutil.pid_exists, list_written(pids)):
                psutil.Process(pid).kill()
