"""``fcbench codes`` and ``completion``: the codes of failures, and the script by which a shell completes."""

from __future__ import annotations

import argparse
import shutil
from textwrap import wrap

from pytest_fcbench.cli.output import print_json
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.protocol_notes import ProtocolNote
from pytest_fcbench.domain.registry import require_extra
from pytest_fcbench.present.failure_codes import FailureCode, read_failure_codes

CODES = {
    **read_failure_codes(),
    **{
        note.value: FailureCode(note.meaning, "tell who runs the server; no verdict depends on it")
        for note in ProtocolNote
    },
}
"""The codes of failures, and those of what servers do wrong."""


def run_codes(arguments: argparse.Namespace) -> int:
    for code in arguments.codes:
        if code not in CODES:
            raise UsageError(describe_unknown_name("code", code, CODES))
    if arguments.json:
        print_json({code: CODES[code]._asdict() for code in arguments.codes or CODES})
        return 0
    width = max(shutil.get_terminal_size().columns, 40)
    for code in arguments.codes or CODES:
        meaning, advice = CODES[code]
        print(code)
        for text in (meaning, f"{advice[0].upper()}{advice[1:]}."):
            for line in wrap(text, width, initial_indent="    ", subsequent_indent="    "):
                print(line)
    return 0


SHELLS = ("bash", "zsh", "fish", "powershell")


def run_completion(arguments: argparse.Namespace) -> int:
    require_extra("completion", "fcbench completion")
    import shtab

    print(shtab.complete(arguments.make_parser(), arguments.shell))
    return 0
