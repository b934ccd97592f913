"""``fcbench completion``: what makes a shell complete our commands and their options."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pytest_fcbench.domain.extras import need

if TYPE_CHECKING:
    from pytest_fcbench.cli.command import Commands

SHELLS = ("bash", "zsh")
_WHERE = """\
bash: fcbench completion bash > ~/.local/share/bash-completion/completions/fcbench
zsh:  fcbench completion zsh > a folder of $fpath, as _fcbench"""


def register(commands: Commands) -> None:
    """Declare the command."""
    completion = commands.add_parser(
        "completion",
        help="print what makes a shell complete this command",
        epilog=_WHERE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    completion.add_argument("shell", choices=SHELLS)
    completion.set_defaults(run=_completion)


def _completion(chosen: argparse.Namespace) -> int:
    need("completion", by="fcbench completion")
    import shtab

    print(shtab.complete(chosen.parser, chosen.shell))
    return 0
