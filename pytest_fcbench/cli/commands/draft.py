"""``fcbench draft``: write the first entries of a suite, from functions and examples of their use."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fcbench.cli.commands.functions import read_functions
from pytest_fcbench.cli.new_entries import declare_folder_options, write_entries
from pytest_fcbench.domain.errors import FcbenchError, UsageError
from pytest_fcbench.tools.authoring.drafting import Example, draft_entries, find_examples

HELP = "write the first entries of a suite from examples in text files"
PAGE = "own-suites"
EXAMPLES = ("fcbench draft my_tools --examples=examples.md -o my_suite",)


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="where the functions are: module:function, module:Class, module, or a JSON or YAML file",
    )
    add(
        "--examples",
        type=Path,
        required=True,
        action="append",
        metavar="FILE",
        help="text file with questions, each followed by '>>> ' and the call that answers it (repeatable)",
    )
    declare_folder_options(parser)


def run_command(chosen: argparse.Namespace) -> int:
    docs = tuple(read_functions(chosen.sources).values())
    found: list[Example] = []
    for path in chosen.examples:
        try:
            found += find_examples(path.read_text(encoding="utf-8"), str(path))
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}: cannot be read: {error}; give a text file in UTF-8") from None
    entries = list(draft_entries(found, docs, chosen.to.name))
    if not entries:
        raise FcbenchError(
            f"{', '.join(map(str, chosen.examples))}: no examples; write a question and, on the "
            f"next line, '>>> ' with the call that answers it, e.g. >>> {docs[0].name}(...)"
        )
    write_entries(chosen, entries)
    used = {doc.name for entry in entries for doc in entry.functions}
    for doc in docs:
        if doc.name not in used:
            print(f"note: no example uses {doc.name}")
    return 0
