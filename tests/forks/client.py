"""Ask a fork server for a process. As a program it is the command that its file is named after.

It imports little, because starting it is all that it costs.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

MODULES = {"fcbench": "pytest_fcbench", "pytest": "pytest"}
"""What the commands run."""


class ForkedProcess:
    """A forked process, which is used like one of ``subprocess``."""

    def __init__(
        self,
        server: Path,
        files: tuple[int, int, int],
        *,
        module: str = "",
        code: str = "",
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        """Run a module like ``python -m``, or code like ``python -c``; ``files`` become 0, 1 and 2."""
        request = {
            "module": module,
            "code": code,
            "arguments": list(arguments),
            "environment": dict(os.environ if environment is None else environment),
            "folder": str(folder or Path.cwd()),
        }
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection.connect(str(server))
        socket.send_fds(self._connection, [json.dumps(request).encode()], files)
        self.pid = int(self._connection.recv(32))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        return self._find_code(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code. Raises ``subprocess.TimeoutExpired``."""
        code = self._find_code(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return code

    def _find_code(self, timeout: float | None) -> int | None:
        if self.returncode is not None:
            return self.returncode
        with suppress(ProcessLookupError):
            ended = os.pidfd_open(self.pid)
            try:
                if not select.select([ended], [], [], timeout)[0]:
                    return None
            finally:
                os.close(ended)
        # Processes that it left behind may keep the connection open, but write nothing.
        self._connection.setblocking(False)
        try:
            text = self._connection.recv(32)
        except BlockingIOError:
            text = b""
        self._connection.close()
        self.returncode = int(text) if text else -signal.SIGKILL
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def main() -> int:
    program = Path(sys.argv[0])
    process = ForkedProcess(
        program.with_name("socket"), (0, 1, 2), module=MODULES[program.name], arguments=sys.argv[1:]
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: process.send_signal(number))
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
