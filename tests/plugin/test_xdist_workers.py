"""Workers that xdist reaches over sockets, as it reaches other machines; one of them is lost."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from pytest_fcbench.plugin.xdist_workers import forgive_death, go_on_without, notice_loss
from tests.plugin.conftest import Project, size
from tests.plugin.test_served import options
from tests.served import served

DIE = """
import os, pathlib
def pytest_runtest_call(item):
    if pathlib.Path("dies").exists() and pathlib.Path("dies").read_text() in item.nodeid:
        os._exit(3)
"""


@contextmanager
def start_host(folder: Path) -> Iterator[str]:
    """Start a host in a folder; yield the option of pytest by which xdist finds a worker there."""
    command = [sys.executable, "-u", "-m", "execnet.script.socketserver", "127.0.0.1:0"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout is not None
            places = (re.search(r"127\.0\.0\.1', (\d+)", line) for line in process.stdout)
            port = next(found[1] for found in places if found)
            yield f"--tx=socket=127.0.0.1:{port}//chdir={folder}"
        finally:
            process.kill()


def _write_hosts(project: Project, count: int) -> list[Path]:
    """Write folders with the same project each, as machines of their own have it."""
    project.write("conftest.py", DIE)
    folders = []
    for number in range(count):
        folder = project.path.parent / f"{project.path.name}-host{number}"
        project.write(f"../{folder.name}/conftest.py", DIE)
        (folder / "benchmarks").symlink_to(project.path / "benchmarks")
        folders.append(folder)
    return folders


def _run_on_hosts(project: Project, folders: list[Path], category: str = "live_simple") -> pytest.RunResult:
    with ExitStack() as stack:
        api_base = stack.enter_context(served("--model", "oracle", "--latency", "0.05"))
        places = [stack.enter_context(start_host(folder)) for folder in folders]
        chosen = (f"--fcbench-category={category}", "--fcbench-store=none")
        return project.run_apart(*options(api_base, *chosen), "-d", *places)


@pytest.mark.nightly
def test_a_lost_host_takes_one_entry_with_it(project: Project) -> None:
    """There are so many tests that the other host has not taken all of them when this one dies."""
    folders, count = _write_hosts(project, 2), size("multiple")
    (folders[1] / "dies").write_text("core:")
    result = _run_on_hosts(project, folders, "multiple")
    result.assert_outcomes(passed=count - 1, failed=1)
    result.stdout.fnmatch_lines(
        ["*is lost (*refused*); the other processes take its tests", f"not scored (1 of {count}, *"]
    )


@pytest.mark.nightly
def test_a_run_without_hosts_ends_in_order(project: Project) -> None:
    folders = _write_hosts(project, 1)
    (folders[0] / "dies").write_text("live_simple_5")
    result = _run_on_hosts(project, folders)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        ["*is lost (*) and no other process can take its tests; run again, answers so far are stored*"]
    )
    result.stdout.no_fnmatch_line("*INTERNALERROR*")
    assert len(project.records()) < 13


def test_the_kernel_is_told_to_look_after_a_connection() -> None:
    class Io:
        def __init__(self, sock: object) -> None:
            self.sock = sock

    class Gateway:
        def __init__(self, sock: object) -> None:
            self._io = Io(sock)

    with socket.socket() as connection:
        notice_loss(Gateway(connection))  # type: ignore[arg-type]
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        if hasattr(socket, "TCP_KEEPIDLE"):
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 15
    notice_loss(Gateway(None))  # type: ignore[arg-type]


def test_commands_may_be_sent_to_a_worker_that_has_just_died() -> None:
    class Node:
        def sendcommand(self, name: str, **values: object) -> None:
            raise OSError("cannot send (already closed?)")

    node = Node()
    with pytest.raises(OSError, match="already closed"):
        node.sendcommand("runtests", indices=[1])
    forgive_death(node)
    node.sendcommand("runtests", indices=[1])


def test_an_xdist_that_works_otherwise_is_left_alone() -> None:
    class Session:
        pass

    session = Session()
    go_on_without(session)
    assert not vars(session)
