"""The entry point of the ``fcbench`` command."""

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
from pytest_fcbench.cli.command import Command, drop_option_prefix
from pytest_fcbench.domain.errors import FcbenchError, UsageError


def find_command_names() -> Sequence[str]:
    """Find the name of every command: each module of the folder ``commands`` is one."""
    return [module.name.replace("_", "-") for module in iter_modules(commands.__path__)]


def declare_commands(
    declared: argparse._SubParsersAction[argparse.ArgumentParser], names: Sequence[str] = ()
) -> None:
    """Declare the commands of these names; all if none is given."""
    for name in names or find_command_names():
        # A module cannot declare that it implements a protocol.
        command = cast("Command", import_module(f"{commands.__name__}.{name.replace('-', '_')}"))
        parser = declared.add_parser(name, help=command.HELP)
        parser.set_defaults(run=command.run_command)
        command.declare_options(parser)


def make_parser(names: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Make the parser of the command line with the commands of these names; with all if none is given."""
    parser = argparse.ArgumentParser(
        prog="fcbench", description="Commands for benchmark projects, beside running them with pytest."
    )
    parser.add_argument("--version", action="version", version=version("pytest-fcbench"))
    parser.set_defaults(make_parser=make_parser)
    declare_commands(parser.add_subparsers(required=True, metavar="COMMAND"), names)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 if it worked, 1 if it failed, 2 for a usage error."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    # Only the command that is named is imported: all of them together take most of a second.
    parser = make_parser([name for name in find_command_names() if words[:1] == [name]])
    chosen = parser.parse_args(words)
    try:
        code: int = chosen.run(chosen)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has had enough (``| head``). Python flushes stdout again when it ends, so give it a sink.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except UsageError as error:
        parser.error(drop_option_prefix(str(error)))
    except FcbenchError as error:
        print(f"fcbench: {error}", file=sys.stderr)
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
