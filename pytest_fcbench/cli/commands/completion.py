"""``fcbench completion``: print the script by which a shell completes commands and options."""

from __future__ import annotations

import argparse

HELP = "print a script that lets a shell complete this command"
PAGE = "options"
EXAMPLES = (
    "fcbench completion bash > ~/.local/share/bash-completion/completions/fcbench",
    "fcbench completion zsh > ~/.zfunc/_fcbench",
    "fcbench completion fish > ~/.config/fish/completions/fcbench.fish",
)
SHELLS = ("bash", "zsh", "fish", "powershell")


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("shell", choices=SHELLS)


def run_command(arguments: argparse.Namespace) -> int:
    # Imported late because no other command needs it.
    import shtab

    print(shtab.complete(arguments.make_parser(), arguments.shell))
    return 0
