"""What runs in a call reaches nothing but its arguments, and is refused where that cannot be kept."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.execution.outcomes import Raised, Returned
from pytest_fcbench.execution.sandbox import confinement, pool
from pytest_fcbench.execution.sandbox.confinement import find_missing
from tests.conftest import ROOT
from tests.execution.sandbox.attempts import HOSTILE_CALLS

OWN = "tests.execution.sandbox.attempts.wait"
NOBODY = 65534

needs_filters = pytest.mark.skipif(bool(find_missing()), reason=f"this system lacks {find_missing()}")
# Those that need no waiting, and reach further than their own call.
REACHING = list(HOSTILE_CALLS)[: list(HOSTILE_CALLS).index("write two marshal frames")]
# Each waits for the end of the time like another, and like those of test_pool.py.
SLOW = ["begin a frame", "read the connection", "sleep"]
LIMITED = ["begin a frame", "close the connection and wait", "sleep", "compute and ignore the signal", "exit"]


def name_paths() -> dict[str, str]:
    """Return the environment in which any Python of this version finds the tests and what they import."""
    paths = [str(ROOT), *(path for path in sys.path if path.endswith("-packages"))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def make_attempts(
    *options: str, only: Sequence[str] = (), python: str = sys.executable
) -> dict[str, tuple[str, str]]:
    """Make attempts in a process of their own; return outcome and harm of each."""
    command = [python, "-P", "-m", "tests.execution.sandbox.attempt_runs", *options]
    done = subprocess.run(
        [*command, "--only", *(only or HOSTILE_CALLS)],
        cwd=ROOT,
        env=name_paths(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    seen = {name: (got, harm) for name, got, harm, _ in map(json.loads, done.stdout.splitlines())}
    assert list(seen) == list(only or HOSTILE_CALLS), done.stderr[-2000:]
    return seen


def find_python() -> str:
    """Return a Python of this version with which another user may run the attempts, or skip the test."""
    if os.geteuid():
        pytest.skip("only root may become another user")
    for python in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        command = [python, "-P", "-c", "import tests.execution.sandbox.attempts"]
        try:
            subprocess.run(command, user=NOBODY, cwd=ROOT, env=name_paths(), capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        return python
    pytest.skip("no Python here, or what the tests import, may be read by another user")


def read_harm(seen: dict[str, tuple[str, str]]) -> dict[str, str]:
    return {name: harm for name, (_, harm) in seen.items() if harm}


@needs_filters
@pytest.mark.parametrize(
    "names",
    [[name for name in HOSTILE_CALLS if name not in SLOW], pytest.param(SLOW, marks=pytest.mark.nightly)],
    ids=["quick", "slow"],
)
def test_no_attempt_reaches_anything(names: list[str]) -> None:
    assert read_harm(make_attempts(only=names)) == {}


@pytest.mark.nightly
@needs_filters
def test_no_attempt_reaches_anything_where_landlock_is_missing() -> None:
    assert read_harm(make_attempts("--without", "landlock", only=REACHING)) == {}


@pytest.mark.nightly
@needs_filters
def test_no_attempt_of_another_user_reaches_anything() -> None:
    python = find_python()
    assert read_harm(make_attempts("--as", str(NOBODY), only=REACHING, python=python)) == {}


@needs_filters
def test_nothing_is_attempted_where_filters_are_missing() -> None:
    seen = make_attempts("--without", "landlock", "seccomp", only=["delete a file", "sleep"])
    assert read_harm(seen) == {}
    assert "this system lacks filters of system calls (seccomp: Function not implemented)" in str(seen)


@pytest.mark.nightly
@needs_filters
def test_without_confinement_attempts_do_harm_but_limits_hold() -> None:
    """The attempts can tell: what a filter refuses is done without one."""
    options = ("--without", "landlock", "seccomp", "--unconfined")
    seen = read_harm(make_attempts(*options, only=["delete a file", "kill a process"]))
    assert seen.keys() == {"delete a file", "kill a process"}
    assert read_harm(make_attempts(*options, only=LIMITED)) == {}


def refuse_to(act: Callable[[], object]) -> str:
    """Do something in a process that Landlock alone confines; return the error."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            confinement.confine_process()
            act()
        except OSError as error:
            os.write(writing, type(error).__name__.encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(process, 0)
    with os.fdopen(reading, "rb") as told:
        return told.read().decode()


@needs_filters
def test_landlock_alone_refuses_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not Path("/proc/sys/kernel").is_dir() or "Linux" not in platform.system():
        pytest.skip("only Linux has Landlock")
    monkeypatch.setattr(confinement, "install_filter", lambda *_: None)
    note = tmp_path / "note"
    note.write_text("kept")
    if not refuse_to(note.read_text):
        pytest.skip("this kernel has no Landlock")
    assert refuse_to(note.unlink) == "PermissionError"
    assert refuse_to(os.getpid) == ""
    assert note.read_text() == "kept"


@pytest.mark.parametrize(
    ("system", "machine", "missing"),
    [
        ("darwin", "arm64", "filters of system calls, which only Linux has"),
        ("linux", "riscv64", "filters of system calls that fit a Python of 64 bits on riscv64"),
    ],
)
def test_what_is_missing_is_said(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, missing: str
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert find_missing() == missing


def test_where_confinement_is_missing_own_functions_need_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "find_missing", lambda: "a lock")
    calls = ["math_gcd(a=4, b=6)", f"{OWN}(seconds=0)"]
    with closing(pool.Pool(1)) as refusing:
        assert isinstance(refusing(calls)[1], Raised)
        with pytest.raises(NotScoredError, match="lacks a lock; --fcbench-unconfined carries them out"):
            refusing(calls, own=[OWN])
        assert refusing(calls[:1]) == (Returned(2),)
    with closing(pool.Pool(1, unconfined=True)) as allowing:
        assert allowing(calls, own=[OWN]) == (Returned(2), Returned(1))


def test_a_process_whose_limits_the_system_refuses_carries_nothing_out() -> None:
    with (
        closing(pool.Pool(1, pool.CallLimits(memory=2**70))) as broken,
        pytest.raises(NotScoredError, match="the process of a call cannot be confined here"),
    ):
        broken(["math_gcd(a=4, b=6)"])


SUITE = """\
category: exec_simple
entries:
  - {id: exec_simple_0, query: What weigh two?, functions: ["boxes:weigh"], expect: [boxes.weigh(count=2)]}
"""
SYSTEM = """\
from pytest_fcbench.execution.sandbox import pool

pool.find_missing = lambda: "a lock"
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "unsupported_system"),
        (["--fcbench-unconfined"], "1 passed"),
    ],
)
def test_the_option_is_one_of_a_run(tmp_path: Path, options: list[str], told: str) -> None:
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "exec.yaml").write_text(SUITE)
    (tmp_path / "suite" / "boxes.py").write_text(
        'def weigh(count: int) -> float:\n    """Weigh boxes."""\n    return 2.5 * count\n'
    )
    (tmp_path / "conftest.py").write_text(SYSTEM)
    command = [sys.executable, "-m", "pytest", "suite", "-p", "no:cacheprovider", "--fcbench-model=oracle"]
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert told in done.stdout, done.stdout + done.stderr
