"""What each module of the folder ``commands`` provides; its name is that of the command."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Protocol

from pytest_fcbench.domain.errors import FcbenchError, UsageError


class Command(Protocol):
    """A command of ``fcbench``."""

    HELP: str
    declare_options: Callable[[argparse.ArgumentParser], None]
    run_command: Callable[[argparse.Namespace], int]
    """Do the work and return the exit code; a ``UsageError`` ends in 2, another ``FcbenchError`` in 1."""


def without_prefix(error: FcbenchError) -> UsageError:
    """Return the error with options named as here: ``--model`` for ``--fcbench-model``."""
    return UsageError(str(error).replace("--fcbench-", "--"))
