"""``fcbench schema``: print the JSON Schema of entries, for editors."""

from __future__ import annotations

import argparse
import json

from pytest_fcbench.kinds.entry_schema import generate_entry_schema

HELP = "print the JSON Schema of your own entries"
PAGE = "own-suites"
EXAMPLES = (
    "fcbench schema",
    "fcbench schema --lines",
)


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--lines",
        action="store_true",
        help="print the schema of one line of a JSON Lines file, not of a YAML file",
    )


def run_command(arguments: argparse.Namespace) -> int:
    print(json.dumps(generate_entry_schema(lines=arguments.lines), indent=2))
    return 0
