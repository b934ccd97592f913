"""The ``fcbench`` command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import TypeAlias

from pytest_fcbench.commands import (
    audit,
    augment,
    baseline,
    check_apis,
    compare,
    completion,
    contamination,
    diagnose,
    doctor,
    draft,
    export,
    functions,
    init,
    judge_audit,
    leaderboard,
    merge,
    models,
    pull,
    rejudge,
    report,
    sample,
    schema,
    serve,
    show,
    store,
    suites,
)
from pytest_fcbench.errors import FcbenchError, UsageError

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""Where a command declares itself."""

COMMANDS = (
    audit,
    augment,
    baseline,
    check_apis,
    compare,
    completion,
    contamination,
    diagnose,
    doctor,
    draft,
    export,
    functions,
    init,
    judge_audit,
    leaderboard,
    merge,
    models,
    pull,
    rejudge,
    report,
    sample,
    schema,
    serve,
    show,
    store,
    suites,
)


def parser() -> argparse.ArgumentParser:
    """What reads the words of the command line."""
    made = argparse.ArgumentParser(
        prog="fcbench", description="Beside pytest: what a benchmark project needs."
    )
    made.add_argument("--version", action="version", version=version("pytest-fcbench"))
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.register(commands)
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
