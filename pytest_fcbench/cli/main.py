"""The ``fcbench`` command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pkgutil import iter_modules
from typing import cast

from pytest_fcbench.cli import commands
from pytest_fcbench.cli.command import Command
from pytest_fcbench.cli.run_options import without_prefix
from pytest_fcbench.domain.errors import FcbenchError, UsageError


def declare_commands(declared: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare every command: each module of the folder ``commands`` is one."""
    for module in sorted(each.name for each in iter_modules(commands.__path__)):
        command = cast("Command", import_module(f"{commands.__name__}.{module}"))
        parser = declared.add_parser(module.replace("_", "-"), help=command.HELP)
        parser.set_defaults(run=command.run_command)
        command.declare_options(parser)


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="fcbench", description="Beside pytest: what a benchmark project needs."
    )
    parser.add_argument("--version", action="version", version=version("pytest-fcbench"))
    parser.set_defaults(parser=parser)
    declare_commands(parser.add_subparsers(required=True, metavar="COMMAND"))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. 0 when it worked, 1 when it could not, 2 for wrong words."""
    chosen = make_parser().parse_args(arguments)
    try:
        code: int = chosen.run(chosen)
        sys.stdout.flush()
    except BrokenPipeError:
        # Who reads the output has read enough (``| head``); what is left must not be tried again at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except UsageError as error:
        chosen.parser.error(str(without_prefix(error)))
    except FcbenchError as error:
        print(f"fcbench: {error}", file=sys.stderr)
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
