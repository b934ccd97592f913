"""``fcbench codes``: explain the codes of failures."""

from __future__ import annotations

import argparse
import shutil
from textwrap import wrap

from pytest_fcbench.cli.output import declare_json, print_json
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.scorecard.render.failure_codes import FAILURE_CODES

HELP = "explain the codes of failures"
PAGE = "failure-codes"
EXAMPLES = (
    "fcbench codes",
    "fcbench codes value_error:string",
)


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("codes", nargs="*", metavar="CODE", help="code of a failure (default: all)")
    declare_json(parser)


def run_command(chosen: argparse.Namespace) -> int:
    for code in chosen.codes:
        if code not in FAILURE_CODES:
            raise UsageError(describe_unknown_name("code", code, FAILURE_CODES))
    if chosen.json:
        print_json({code: FAILURE_CODES[code]._asdict() for code in chosen.codes or FAILURE_CODES})
        return 0
    width = max(shutil.get_terminal_size().columns, 40)
    for code in chosen.codes or FAILURE_CODES:
        meaning, advice = FAILURE_CODES[code]
        print(code)
        for text in (meaning, f"{advice[0].upper()}{advice[1:]}."):
            for line in wrap(text, width, initial_indent="    ", subsequent_indent="    "):
                print(line)
    return 0
