"""``fcbench completion``: what makes a shell complete our commands and their options."""

from __future__ import annotations

import argparse

from pytest_fcbench.domain.extras import need

SHELLS = ("bash", "zsh")
_WHERE = """\
bash: fcbench completion bash > ~/.local/share/bash-completion/completions/fcbench
zsh:  fcbench completion zsh > a folder of $fpath, as _fcbench"""


HELP = "print what makes a shell complete this command"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.epilog = _WHERE
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("shell", choices=SHELLS)


def run_command(chosen: argparse.Namespace) -> int:
    need("completion", by="fcbench completion")
    import shtab

    print(shtab.complete(chosen.make_parser(), chosen.shell))
    return 0
