"""The tree of commands, from ``commands.toml``: the help of each, and the module that has its functions.

Neither the help nor a word that names no command needs these modules, which take half a second to import.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

_ABOUT = "Benchmarks run with pytest; these commands prepare a run and read what it leaves."
QUESTIONS = ("low-score", "providers", "own-checks", "repository", "store-and-costs")
"""The pages of the docs that answer what newcomers ask; the title of each is the question."""


class Command(NamedTuple):
    """A command, or a group of commands, which has no module."""

    title: str
    """The title under which the help lists it."""
    help: str
    module: str = ""
    """The module below ``cli`` that has ``run_NAME``, by the last word of the name."""
    page: str = ""
    """The page of the docs that explains it."""
    examples: Sequence[str] = ()
    note: str = ""
    """What the help says in place of a description, where options need one."""
    without_project: bool = False
    """Whether it does the same in every folder."""


@cache
def read_tree() -> Mapping[str, Command]:
    """Read all commands by name, one word or a group and a word, and the groups."""
    text = Path(__file__).with_name("commands.toml").read_text(encoding="utf-8")
    return {name: Command(**row) for name, row in tomllib.loads(text).items()}


def find_command_names() -> Sequence[str]:
    """Find the name of every command."""
    return [name for name, command in read_tree().items() if command.module]


def list_group(group: str) -> Mapping[str, Command]:
    """Return the commands of a group by their last word; of "" those of one word, and the groups."""
    return {
        name.rpartition(" ")[2]: command
        for name, command in read_tree().items()
        if name.rpartition(" ")[0] == group
    }


def is_group(name: str) -> bool:
    """Tell whether a word names a group of commands."""
    return name in read_tree() and not read_tree()[name].module


def find_folder(name: str) -> Path:
    """Find a folder of the repository: inside the package where it was installed, beside it in a checkout."""
    package = Path(__file__).parents[1]
    return inside if (inside := package / name).is_dir() else package.parent / name


def list_questions() -> Iterator[str]:
    """List the pages that answer questions of newcomers, each with its question."""
    for name in QUESTIONS:
        with (find_folder("docs") / f"{name}.md").open(encoding="utf-8") as page:
            yield f"{name:<{max(map(len, QUESTIONS))}}  {page.readline().removeprefix('# ').strip()}"


def load_functions(
    name: str,
) -> tuple[Callable[[argparse.ArgumentParser], None] | None, Callable[[argparse.Namespace], int]]:
    """Import the module of a command; return what declares options beside ``options.toml``, and what runs it.

    The latter returns the exit code; a ``UsageError`` ends in 4, another ``FcbenchError`` in 1.
    """
    module, last = import_module(f"{__package__}.{read_tree()[name].module}"), name.rpartition(" ")[2]
    return getattr(module, f"declare_{last}", None), getattr(module, f"run_{last}")


def describe_unknown_command(group: str, word: str) -> str:
    """Describe a word that names no command of a group, and the commands that may be meant."""
    names = {name.rpartition(" ")[2]: name for name in read_tree()}
    same = [name for name in find_command_names() if name.rpartition(" ")[2] == word]
    text = f"unknown command {f'{group} {word}'.strip()!r}"
    if same:
        return f"{text}; use {' or '.join(f'fcbench {name}' for name in same)}"
    near = [f"fcbench {names[each]}" for each in get_close_matches(word, names, n=2, cutoff=0.5)]
    guess = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"{text}.{guess} '{f'fcbench {group}'.strip()} --help' lists what is possible"


def render_group(group: str, usage: str) -> str:
    """Write the help of the program, or of a group: its commands by what they are for."""
    commands = list_group(group)
    width = max(map(len, commands)) + 2
    lines = [usage, f"{read_tree()[group].help.capitalize()}." if group else _ABOUT]
    titles = [command.title for command in commands.values()]
    for place, (name, command) in enumerate(commands.items()):
        if command.title not in titles[:place]:
            lines += ["", f"{command.title}:"]
        inner = f": {', '.join(list_group(name))}" if is_group(name) else ""
        indent = " " * (width + 2)
        lines.append(fill(f"  {name:<{width}}{command.help}{inner}", 80, subsequent_indent=indent))
        if command.title == "questions":
            lines += (f"{indent}{question}" for question in list_questions())
    example = " ".join(filter(None, ("fcbench", group, "COMMAND")))
    return "\n".join([*lines, "", f"'{example} --help' explains a command.", ""])
