"""The ``fcbench`` command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pkgutil import iter_modules

from pytest_fcbench.cli import commands
from pytest_fcbench.cli.command import Commands
from pytest_fcbench.domain.errors import FcbenchError, UsageError


def declare_commands(declared: Commands) -> None:
    """Declare every command: each module of the folder ``commands`` is one."""
    for module in sorted(each.name for each in iter_modules(commands.__path__)):
        import_module(f"{commands.__name__}.{module}").register(declared)


def parser() -> argparse.ArgumentParser:
    """What reads the words of the command line."""
    made = argparse.ArgumentParser(
        prog="fcbench", description="Beside pytest: what a benchmark project needs."
    )
    made.add_argument("--version", action="version", version=version("pytest-fcbench"))
    made.set_defaults(parser=made)
    declare_commands(made.add_subparsers(required=True, metavar="COMMAND"))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. 0 when it worked, 1 when it could not, 2 for wrong words."""
    chosen = parser().parse_args(arguments)
    try:
        code: int = chosen.run(chosen)
        sys.stdout.flush()
    except BrokenPipeError:
        # Who reads the output has read enough (``| head``); what is left must not be tried again at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except UsageError as error:
        parser().error(str(error))
    except FcbenchError as error:
        print(f"fcbench: {error}", file=sys.stderr)
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
