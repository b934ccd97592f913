"""A page of the docs as what it promises: files, and commands with what they print.

- A file is given as its name in backticks and a colon on a line, then a code block; it is written first.
- In a block ``console`` a line that begins with ``$ `` is a command, the lines below it are what it prints.
  ``...`` alone on a line stands for any lines, within a line for any text.
- ``<!-- project -->``: all begins in a folder that ``fcbench init`` has filled; ``<!-- checkout -->``:
  in one with the files of this repository that a plain ``pytest`` needs.
- ``<!-- needs bfcl -->`` above a block: it is run where the official pack is, in a folder of its own.
- ``fcbench serve OPTIONS --port 8001`` on an indented line is started before the first command, and
  ``localhost:8001`` is its address. On a page without such lines ``localhost:8000`` is the address of
  ``fcbench serve --model oracle --name my-ft``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.conftest import ROOT
from tests.forks.processes import IS_POSSIBLE, start_server
from tests.served import served

PAGES = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("project/*.md"), ROOT / "README.md"])
ENDPOINT = "localhost:8000"
NOT_RUN = ("git clone", "pip install", "python -m venv", "pytest tests ")
"""Beginnings of the only commands that are not run: they install, or would run this very test."""

_FILE = re.compile(r"^`([^`\s]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SERVER = re.compile(r"^    fcbench serve (.*) --port (\d+)$", re.MULTILINE)
_SESSION = re.compile(r"^(<!-- needs bfcl -->\n\n?)?```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Command:
    """One command of a page and the lines that are shown below it."""

    text: str
    shown: tuple[str, ...]
    official: bool
    """Whether it needs the official pack."""

    @property
    def runs(self) -> bool:
        return not self.text.startswith(NOT_RUN)


@dataclass(frozen=True)
class Page:
    """What a text promises."""

    text: str

    @property
    def files(self) -> dict[str, str]:
        return dict(_FILE.findall(self.text))

    @property
    def servers(self) -> Mapping[str, Sequence[str]]:
        """The options of each server by its address."""
        found = {f"localhost:{port}": options.split() for options, port in _SERVER.findall(self.text)}
        if not found and ENDPOINT in self.text:
            found = {ENDPOINT: ["--model", "oracle", "--name", "my-ft"]}
        return found

    @property
    def commands(self) -> tuple[Command, ...]:
        return tuple(self._commands())

    def _commands(self) -> Iterator[Command]:
        for needs, session in _SESSION.findall(self.text):
            for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
                lines = part.splitlines()
                size = 1 + next(n for n, line in enumerate(lines) if not line.endswith("\\"))
                yield Command("\n".join(lines[:size]), tuple(lines[size:]), bool(needs))


def page(path: Path) -> Page:
    """Read a page."""
    return Page(path.read_text(encoding="utf-8"))


def matches(shown: Sequence[str], told: Sequence[str]) -> bool:
    """Tell whether the lines are those that are shown."""
    if not shown:
        return not told
    if shown[0].strip() == "...":
        return any(matches(shown[1:], told[at:]) for at in range(len(told) + 1))
    pattern = ".*".join(map(re.escape, shown[0].rstrip().split("...")))
    return bool(told) and bool(re.fullmatch(pattern, told[0].rstrip())) and matches(shown[1:], told[1:])


def _find_programs() -> tuple[str, ...]:
    """Return the folders of ``pytest`` and ``fcbench``, first the one where they are forked."""
    installed = str(Path(sys.executable).parent)
    return (str(start_server()), installed) if IS_POSSIBLE else (installed,)


def run(command: str, folder: Path, cache: Path) -> str:
    """Return what a command prints, errors too, in a folder and with a cache of packs."""
    ours = ("FCBENCH", "PYTEST", "GITHUB", "CI", "COV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    more = {
        "PATH": os.pathsep.join((*_find_programs(), os.environ["PATH"])),
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "80",
        "FCBENCH_CACHE": str(cache),
        "MY_FT_KEY": "a-key-of-the-docs",
        # Plugins of the tests have no part in a benchmark run, but take a fifth of the time of a short one.
        "PYTEST_ADDOPTS": "-p no:hypothesispytest -p no:anyio",
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        # Wide enough for all columns of the tables.
        env=kept | more | {"COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    return done.stdout


def prepare(page: Page, folder: Path) -> None:
    """Fill a folder with what the page begins with."""
    if "<!-- project -->" in page.text:
        run("fcbench init --ci none", folder, folder)
    if "<!-- checkout -->" in page.text:
        for name in ("fcbench.yaml", "pyproject.toml", "conftest.py"):
            shutil.copy(ROOT / name, folder)
        shutil.copytree(ROOT / "benchmarks", folder / "benchmarks")
    for name, text in page.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def walk(page: Page, folder: Path, cache: Path, *, official: bool = False) -> Iterator[tuple[Command, str]]:
    """Run the commands of a page, those that need the official pack or the others; each with what it says."""
    commands = [command for command in page.commands if command.runs and command.official is official]
    prepare(page, folder)
    with ExitStack() as stack:
        served_at = {
            address: urlsplit(stack.enter_context(served(*options))).netloc
            for address, options in page.servers.items()
        }
        for path in (path for path in folder.rglob("*") if path.suffix in (".yaml", ".yml", ".py")):
            path.write_text(_replace(path.read_text(encoding="utf-8"), served_at), encoding="utf-8")
        shown_as = {there: address for address, there in served_at.items()}
        for command in commands:
            told = run(_replace(command.text, served_at), folder, cache)
            yield command, _replace(told, shown_as)


def _replace(text: str, by: Mapping[str, str]) -> str:
    for old, new in by.items():
        text = text.replace(old, new)
    return text
