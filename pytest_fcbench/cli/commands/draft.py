"""``fcbench draft``: the first entries of a suite, from functions and examples of their use."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fcbench.cli.commands.functions import described
from pytest_fcbench.domain.errors import FcbenchError, UsageError
from pytest_fcbench.run import output_files
from pytest_fcbench.tools.authoring.drafting import drafted, examples
from pytest_fcbench.tools.authoring.entry_writing import written

HELP = "write the first entries of a suite from examples in a text"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="functions: module:function, module:Class, module, or a file of JSON or YAML",
    )
    parser.add_argument(
        "--examples",
        type=Path,
        required=True,
        action="append",
        metavar="FILE",
        help="repeatable: a text with questions, below each '>>> ' and the call that answers it",
    )
    parser.add_argument(
        "--to", type=Path, required=True, metavar="FOLDER", help="write a file by category there"
    )
    parser.add_argument("--force", action="store_true", help="replace files that are there")


def run_command(chosen: argparse.Namespace) -> int:
    docs = tuple(described(chosen.sources).values())
    found = [each for path in chosen.examples for each in examples(_text(path), str(path))]
    entries = list(drafted(found, docs, chosen.to.name))
    if not entries:
        raise FcbenchError(
            f"{', '.join(map(str, chosen.examples))}: no examples; write a question, and on the line below "
            f"it '>>> ' and the call that answers it, such as >>> {docs[0].name}(...)"
        )
    texts = {chosen.to / f"{category}.yaml": text for category, text in written(entries).items()}
    output_files.write_new(texts, force=chosen.force)
    for path in texts:
        size = sum(entry.category.name == path.stem for entry in entries)
        print(f"{path}: {size} {'entry' if size == 1 else 'entries'}")
    used = {doc.name for entry in entries for doc in entry.functions}
    for doc in docs:
        if doc.name not in used:
            print(f"note: no example calls {doc.name}")
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
