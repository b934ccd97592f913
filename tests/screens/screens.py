"""Take screens: run a command in a new project and return what it shows, but for times and paths."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import termios
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.forks.processes import find_command

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
WIDTHS = (60, 80, 120)

_QUIET = ("--fcbench-store=none",)
_RUN = ("pytest", "benchmarks", "-m", "parallel", *_QUIET)


@dataclass(frozen=True)
class Screen:
    """A screen: commands that go before it, and the one that shows it."""

    name: str
    words: Sequence[str]
    before: Sequence[Sequence[str]] = ()


SCREENS = (
    Screen("run", (*_RUN, "--fcbench-gate=parallel>=50%", "--fcbench-failures=5")),
    Screen("one-failure", ("pytest", "core:parallel_3", *_QUIET)),
    Screen("show", ("fcbench", "run", "show", "core:parallel_3"), (_RUN,)),
    Screen("compare", ("fcbench", "run", "compare"), (_RUN, (*_RUN, "--fcbench-model=oracle"))),
    Screen("gate", ("fcbench", "gate", "--gate=parallel>=50%"), (_RUN,)),
    Screen("help", ("fcbench", "--help")),
    Screen("help-of-a-group", ("fcbench", "run", "--help")),
    Screen("unknown-command", ("fcbench", "show", "core:parallel_3")),
    Screen("unknown-entry", ("fcbench", "run", "show", "core:paralel_3")),
)
RUNS = SCREENS[:2]
"""Those that are coloured on a terminal and fit its width."""

_COLOURS = {
    "0": "</>",
    "1": "<bold>",
    "31": "<red>",
    "32": "<green>",
    "33": "<yellow>",
    "36": "<cyan>",
}
_CHANGING = (
    (re.compile(r"in \d+\.\d\ds\b"), "in N s"),
    (re.compile(r"\d{8}-\d{6}-"), "YYYYMMDD-HHMMSS-"),
    # A narrow screen may cut a run's name anywhere.
    (re.compile(r"\b20\d{2,6}(?:-\d{0,6})?(?=…)"), "YYYYMMDD-"),
    (re.compile(r"sha256 [0-9a-f]{12}"), "sha256 HASH--------"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"), "YYYY-MM-DD HH:MM UTC"),
)


def take_screen(
    screen: Screen, folder: Path, *, width: int, terminal: bool = False, colour: bool = False
) -> str:
    """Run the commands of a screen in a new folder and return its text, colours as tags."""
    shutil.copytree(ROOT / "benchmarks", folder / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "fcbench.yaml").write_text("model: lexical\n")
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "FCBENCH_"))
    }
    environment = {
        **inherited,
        "COLUMNS": str(width),
        "LINES": "50",
        "TERM": "xterm",
        "PYTHONPATH": str(ROOT),
        # A plugin of the tests, which warns of another package of theirs.
        "PYTEST_ADDOPTS": "-p no:hypothesispytest",
    }
    for key in ("CI", "GITHUB_ACTIONS", "NO_COLOR", "FORCE_COLOR"):
        environment.pop(key, None)
    if not colour:
        environment["NO_COLOR"] = "1"
    for words in screen.before:
        _run_piped(words, folder, environment)
    run = _run_on_terminal if terminal else _run_piped
    return "".join(f"{line}\n" for line in _clean_lines(run(screen.words, folder, environment)))


def _run_piped(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        [*find_command(words[0]), *words[1:]],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def _run_on_terminal(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(environment["COLUMNS"]), 0, 0))
    process = subprocess.Popen(
        [*find_command(words[0]), *words[1:]],
        cwd=folder,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    read = bytearray()
    try:
        while part := os.read(ours, 65_536):
            read += part
    except OSError:
        # Linux ends the reading of a terminal that nobody has open any more with an error.
        pass
    finally:
        os.close(ours)
        process.wait(60)
    return read.decode().replace("\r\n", "\n")


def _clean_lines(text: str) -> Iterator[str]:
    """Yield the lines from our section on, without what changes from run to run."""
    # Before it pytest names paths and plugins, and the live line counts as fast as the machine is.
    _, section, rest = text.rpartition(" function-calling benchmark ")
    shown = rest.partition("\n")[2] if section else text
    for line in shown.splitlines():
        tagged = re.sub("\x1b\\[([0-9;]*)m", lambda found: _write_tags(found[1]), line)
        for pattern, word in _CHANGING:
            tagged = pattern.sub(word, tagged)
        # pytest's rules around its last line are as long as the seconds leave room for.
        yield re.sub("={3,}|-{10,}(?= )|(?<= )-{10,}", "===", tagged).rstrip()


def _write_tags(codes: str) -> str:
    return "".join(_COLOURS.get(code, f"<{code}>") for code in codes.split(";"))


def list_screens() -> Iterator[tuple[str, Screen, int, bool, bool]]:
    """Yield the file name of every screen with its width, whether on a terminal, and whether in colour."""
    for screen in SCREENS:
        for width in WIDTHS:
            yield f"{screen.name}-{width}.txt", screen, width, False, False
    for screen in RUNS:
        yield f"{screen.name}-80-terminal.txt", screen, 80, True, False
        yield f"{screen.name}-80-colour.txt", screen, 80, True, True
