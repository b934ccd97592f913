"""``fcbench completion``: print the script by which a shell completes commands and options."""

from __future__ import annotations

import argparse

from pytest_fcbench.domain.extras import require_extra

HELP = "print a script that lets a shell complete this command"
SHELLS = ("bash", "zsh")


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.epilog = (
        "bash: fcbench completion bash > ~/.local/share/bash-completion/completions/fcbench\n"
        "zsh:  fcbench completion zsh > a folder of $fpath, as _fcbench"
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("shell", choices=SHELLS)


def run_command(chosen: argparse.Namespace) -> int:
    require_extra("completion", by="fcbench completion")
    # shtab comes with an extra; without it only this command may fail.
    import shtab

    print(shtab.complete(chosen.make_parser(), chosen.shell))
    return 0
