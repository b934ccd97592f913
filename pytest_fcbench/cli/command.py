"""The protocol of the modules in ``commands``; the name of a module is that of its command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Protocol

OUTPUT = ("-o", "--output", "--to")
"""The names of the option for what a command writes."""


class Command(Protocol):
    """A command of ``fcbench``."""

    HELP: str
    PAGE: str
    """The page of the docs that explains it."""
    EXAMPLES: Sequence[str]
    """Lines for a shell that show common uses."""
    declare_options: Callable[[argparse.ArgumentParser], None]
    run_command: Callable[[argparse.Namespace], int]
    """Run the command and return its exit code; a ``UsageError`` ends in 4, another ``FcbenchError`` in 1."""


def drop_option_prefix(text: str) -> str:
    """Replace names of pytest's options by those of commands: ``--model`` for ``--fcbench-model``."""
    return text.replace("--fcbench-", "--")
