"""``fcbench schema``: the format of entries, for editors."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from pytest_fcbench.suites.formats.entry_schema import entry_schema

if TYPE_CHECKING:
    from pytest_fcbench.cli.command import Commands


def register(commands: Commands) -> None:
    """Declare the command."""
    schema = commands.add_parser("schema", help="print the JSON Schema of entries of your own")
    schema.add_argument(
        "--lines", action="store_true", help="of a line of a file of JSON lines, not of a file of YAML"
    )
    schema.set_defaults(run=_schema)


def _schema(chosen: argparse.Namespace) -> int:
    print(json.dumps(entry_schema(lines=chosen.lines), indent=2))
    return 0
