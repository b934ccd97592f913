"""The folder of entries that a command writes, a file for each category."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pytest_fcbench.cli.command import OUTPUT
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.run.output_files import write_new_files
from pytest_fcbench.tools.authoring.entry_writing import format_entries


def declare_folder_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the folder that entries are written to."""
    parser.add_argument(
        *OUTPUT,
        dest="to",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="write one file per category to this folder",
    )
    parser.add_argument("--force", action="store_true", help="replace existing files")


def write_entries(arguments: argparse.Namespace, entries: Sequence[Entry]) -> None:
    """Write entries to the folder and print how many are in each file. Raises ``FcbenchError``."""
    texts = {arguments.to / f"{category}.yaml": text for category, text in format_entries(entries).items()}
    write_new_files(texts, force=arguments.force)
    for path in texts:
        size = sum(entry.category.name == path.stem for entry in entries)
        print(f"{path}: {size} {'entry' if size == 1 else 'entries'}")
