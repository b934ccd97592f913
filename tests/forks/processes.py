"""Start processes by a fork server, or as usual where the system has no such server."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from execnet import gateway_io
from execnet.gateway_base import ExecModel, Popen2IO
from execnet.xspec import XSpec

from tests.forks import client
from tests.forks.client import ForkedProcess

ROOT = Path(__file__).parents[2]
IS_POSSIBLE = hasattr(os, "pidfd_open")
"""Linux has what it needs."""
_PATIENCE_S = 120.0


@cache
def start_server() -> Path:
    """Start the fork server of this process; return the folder of its socket and its commands."""
    folder = Path(tempfile.mkdtemp(prefix="forks-"))
    for name in client.MODULES:
        # Neither site-packages nor the user's settings: it starts in a hundredth of a second.
        text = Path(client.__file__).read_text(encoding="utf-8")
        (folder / name).write_text(f"#!{sys.executable} -IS\n{text}", encoding="utf-8")
        (folder / name).chmod(0o700)
    ready = folder / "ready"
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.forks.server", str(folder / "socket"), str(ready)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        start_new_session=True,
    )

    @atexit.register
    def stop_server() -> None:
        assert server.stdin is not None
        server.stdin.close()
        server.wait(_PATIENCE_S)
        shutil.rmtree(folder)

    too_late = time.monotonic() + _PATIENCE_S
    while not ready.exists():
        if server.poll() is not None or time.monotonic() > too_late:
            raise OSError("the fork server did not start")
        time.sleep(0.02)
    return folder


def find_command(name: str) -> list[str]:
    """Return the words that begin a command, ``pytest`` or ``fcbench``."""
    return [str(start_server() / name)] if IS_POSSIBLE else [sys.executable, "-m", client.MODULES[name]]


class ForkedWorker(gateway_io.Popen2IOMaster):
    """The connection of execnet to a forked worker."""

    def __init__(self, execmodel: ExecModel) -> None:
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        files = (theirs_in, theirs_out, 2)
        self.popen = ForkedProcess(start_server() / "socket", files, code=gateway_io.popen_bootstrapline)
        os.close(theirs_in)
        os.close(theirs_out)
        requests, replies = os.fdopen(ours_in, "wb"), os.fdopen(ours_out, "rb")
        Popen2IO.__init__(self, requests, replies, execmodel=execmodel)


@contextmanager
def forked_workers() -> Iterator[None]:
    """Fork the workers that xdist starts on this machine."""
    create_io = gateway_io.create_io

    def create_or_fork(spec: XSpec, execmodel: ExecModel) -> gateway_io.Popen2IOMaster:
        if spec.popen and not (spec.python or spec.via):
            return ForkedWorker(execmodel)
        return create_io(spec, execmodel)

    with pytest.MonkeyPatch.context() as patch:
        if IS_POSSIBLE:
            patch.setattr(gateway_io, "create_io", create_or_fork)
        yield


def run_command(
    name: str, *arguments: str, folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``pytest`` or ``fcbench`` in a folder; return what it printed."""
    return subprocess.run(
        [*find_command(name), *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
