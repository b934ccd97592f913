"""A forked process is like one that was started."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forks.client import ForkedProcess
from tests.forks.processes import IS_POSSIBLE, run_command, start_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not IS_POSSIBLE, reason="the system has no process descriptors"),
]

REPORT = """
import os, sys
print(os.getcwd(), os.environ["WHERE"], "REMOVED" in os.environ, sys.argv[1:])
print("an error", file=sys.stderr)
sys.exit(3)
"""


def fork_code(folder: Path, code: str, *arguments: str, **environment: str) -> tuple[ForkedProcess, Path]:
    """Fork a process that runs code; return it and the file with what it prints."""
    output = folder / "output.txt"
    with Path(os.devnull).open() as nothing, output.open("w") as file:
        files = (nothing.fileno(), file.fileno(), file.fileno())
        process = ForkedProcess(
            start_server() / "socket",
            files,
            code=code,
            arguments=arguments,
            environment={"PYTHONUNBUFFERED": "1", **environment},
            folder=folder,
        )
    return process, output


def test_folder_environment_arguments_output_and_exit_code_are_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMOVED", "1")
    process, output = fork_code(tmp_path, REPORT, "a", "b", WHERE="here")
    assert process.wait(30) == 3
    assert output.read_text() == f"{tmp_path} here False ['a', 'b']\nan error\n"


@pytest.mark.parametrize(
    ("code", "exit_code", "printed"),
    [
        ("pass", 0, ""),
        ("raise SystemExit('no')", 1, "no\n"),
        ("1 / 0", 1, "ZeroDivisionError: division by zero\n"),
        # An end without Python's own looks like a kill.
        ("import os; os._exit(9)", -signal.SIGKILL, ""),
    ],
)
def test_how_it_ended_is_told(tmp_path: Path, code: str, exit_code: int, printed: str) -> None:
    process, output = fork_code(tmp_path, code)
    assert process.wait(30) == exit_code
    assert output.read_text().endswith(printed)


def test_a_process_can_be_asked_and_killed(tmp_path: Path) -> None:
    process, _ = fork_code(tmp_path, "import time; time.sleep(60)")
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired, match=f"process {process.pid}"):
        process.wait(0.01)
    process.kill()
    assert process.wait(30) == -signal.SIGKILL


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "arguments", [("fcbench", "codes"), ("fcbench", "reprot"), ("pytest", "--fcbench-model=orcale")]
)
def test_a_command_says_what_it_says_when_it_is_started(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    name, *words = arguments
    module = {"fcbench": "pytest_fcbench", "pytest": "pytest"}[name]
    command = [sys.executable, "-m", module, *words]
    started = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    forked = run_command(name, *words, folder=tmp_path)
    assert started.stdout + started.stderr != ""
    assert _read_all(forked) == _read_all(started)


def _read_all(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    """Return the exit code and what was printed, without seconds and the rule that gives way to them."""
    told = re.sub(r"=+ no tests ran in \d+\.\d\ds =+", "no tests ran", done.stdout)
    return done.returncode, told, done.stderr
