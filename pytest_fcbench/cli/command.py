"""What each module of the folder ``commands`` provides; its name is that of the command."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Protocol


class Command(Protocol):
    """A command of ``fcbench``."""

    HELP: str
    declare_options: Callable[[argparse.ArgumentParser], None]
    run_command: Callable[[argparse.Namespace], int]
    """Do the work and return the exit code; a ``UsageError`` ends in 2, another ``FcbenchError`` in 1."""


def drop_option_prefix(text: str) -> str:
    """Name options of a run as the command does: ``--model`` for ``--fcbench-model``."""
    return text.replace("--fcbench-", "--")
