"""``fcbench serve`` as a process of its own, for tests that go over real HTTP."""

from __future__ import annotations

import http.client
import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import IO, Any
from urllib.parse import urlsplit

from tests.conftest import ROOT
from tests.forks.processes import find_command

_PATIENCE_S = 120


@contextmanager
def started(*options: str, stderr: IO[str] | None = None) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server on a free port: its process and its ``api_base``. It is ended with the block."""
    command = [*find_command("fcbench"), "serve", "--port", "0", *options]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=stderr, text=True) as process:
        assert process.stdout is not None
        too_long = threading.Timer(_PATIENCE_S, process.kill)
        too_long.start()
        try:
            ready = process.stdout.readline()
            assert ready.startswith("serving "), f"the server did not start: {ready!r}"
            too_long.cancel()
            yield process, ready.split()[-1]
        finally:
            too_long.cancel()
            process.terminate()
            try:
                process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def served(*options: str) -> Iterator[str]:
    """The ``api_base`` of a server that runs until the block ends."""
    with started(*options) as (_, api_base):
        yield api_base


def stats(api_base: str) -> dict[str, Any]:
    """What the server has done so far."""
    with closing(http.client.HTTPConnection(urlsplit(api_base).netloc, timeout=_PATIENCE_S)) as connection:
        connection.request("GET", "/stats")
        found: dict[str, Any] = json.load(connection.getresponse())
    return found


def wait_for(api_base: str, key: str, value: object) -> None:
    """Until the stats say so; fails when they never do."""
    for _ in range(_PATIENCE_S * 10):
        if stats(api_base)[key] == value:
            return
        time.sleep(0.1)
    raise AssertionError(f"{key} never was {value}: {stats(api_base)}")
