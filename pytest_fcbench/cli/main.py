"""The entry point of the ``fcbench`` command."""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from importlib.metadata import version
from keyword import iskeyword
from pathlib import Path
from pkgutil import iter_modules
from traceback import print_exc
from typing import Any, NoReturn, TypeVar, cast

from pytest_fcbench.cli import commands
from pytest_fcbench.cli.command import Command, drop_option_prefix
from pytest_fcbench.cli.project import find_project
from pytest_fcbench.config.options import FILE
from pytest_fcbench.domain.errors import FcbenchError, UsageError, describe_unknown_name
from pytest_fcbench.domain.text import escape_controls

USAGE_ERROR = 4
"""The exit code for a wrong option, name or file, as pytest has it; 2 says that a gate cannot tell."""

P = TypeVar("P", bound=argparse.ArgumentParser)


def find_command_names() -> Sequence[str]:
    """Find the name of every command: each module of the folder ``commands`` is one."""
    # A module cannot have a keyword as its name, so a command with such a name has an underscore behind it.
    return [module.name.rstrip("_").replace("_", "-") for module in iter_modules(commands.__path__)]


GROUPS: Mapping[str, Sequence[str]] = {
    "prepare": ("init", "doctor", "models", "suites", "pull", "completion"),
    "look at a run": ("runs", "show", "report", "view", "codes", "diagnose", "schema"),
    "compare and decide": ("compare", "gate", "baseline", "leaderboard", "export"),
    "keep and join": ("store", "merge", "rejudge"),
    "write suites": ("functions", "draft", "import", "augment", "sample", "audit"),
    "examine models and judges": ("contamination", "judge-audit", "serve", "check-apis"),
}
"""The commands as the help lists them."""

_WITHOUT_PROJECT = ("init", "pull", "completion", "codes", "schema", "check-apis")
"""The commands that do the same in every folder."""


def load_command(name: str) -> Command:
    """Import the module of a command."""
    # A module cannot declare that it implements a protocol.
    module_name = f"{name}_" if iskeyword(name) else name.replace("-", "_")
    return cast("Command", import_module(f"{commands.__name__}.{module_name}"))


def declare_commands(subparsers: argparse._SubParsersAction[P], names: Sequence[str] = ()) -> None:
    """Declare the commands of these names; all if none is given."""
    for name in names or find_command_names():
        command = load_command(name)
        description = f"{command.HELP[0].upper()}{command.HELP[1:]}."
        examples = "\n  ".join(command.EXAMPLES)
        parser = subparsers.add_parser(
            name,
            help=command.HELP,
            description=description,
            epilog=f"examples:\n  {examples}\n\nmore: docs/{command.PAGE}.md",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.set_defaults(run=command.run_command)
        command.declare_options(parser)
        _declare_switches(parser, default=False)


def _declare_switches(parser: argparse.ArgumentParser, default: bool | str) -> None:
    """Declare the switches of every command, for its actions too."""
    parser.add_argument(
        "-q", "--quiet", action="store_true", default=default, help="print errors only; the exit code tells"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", default=default, help="print the traceback of an error too"
    )
    for subparsers in (each for each in parser._actions if isinstance(each, argparse._SubParsersAction)):
        for action in subparsers.choices.values():
            # What stands before the action would be overwritten by a default.
            _declare_switches(action, argparse.SUPPRESS)


def make_parser(names: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Make the parser of the command line with the commands of these names; with all if none is given."""
    parser = _Program(
        prog="fcbench", description="Commands for benchmark projects, beside running them with pytest."
    )
    program = f"fcbench {version('pytest-fcbench')}"
    parser.add_argument("-V", "--version", action="version", version=program)
    parser.set_defaults(make_parser=make_parser)
    commands_of = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    declare_commands(commands_of, names)
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line and the way to the help; argparse would print the usage first."""

    def error(self, message: str) -> NoReturn:
        """Print an error and exit."""
        self.exit(
            USAGE_ERROR, f"{self.prog}: error: {message}\n'{self.prog} --help' lists what is possible\n"
        )


class _Program(_Parser):
    """The parser of the program, whose help lists the commands by group."""

    def format_help(self) -> str:
        """Write the help; argparse would list all commands in a row."""
        lines = [self.format_usage(), f"{self.description}"]
        for title, names in GROUPS.items():
            lines += ["", f"{title}:", *(f"  {name:<14} {load_command(name).HELP}" for name in names)]
        lines += ["", "'fcbench COMMAND --help' has the options of a command, 'fcbench -V' the version."]
        return "\n".join(lines) + "\n"


class _Outlet(io.FileIO):
    """Output that may fail, or whose reader may have had enough (``| head``), while the command goes on."""

    failure: OSError | None = None
    """The reason why something that somebody wanted to read could not be written."""

    def write(self, data: Any, /) -> int:
        """Write bytes, or drop them where nobody reads them."""
        try:
            return super().write(data)
        except BrokenPipeError:
            pass
        except OSError as error:
            self.failure = error
        return memoryview(data).nbytes


class _Printed(io.TextIOWrapper):
    """Output whose texts cannot command a terminal, whoever wrote them."""

    def write(self, text: str, /) -> int:
        """Write a text with its control characters escaped."""
        super().write(escape_controls(text))
        return len(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 if it worked, 1 if it failed, 4 for a usage error."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    outlets = {name: _open_outlet(name) for name in ("stdout", "stderr")}
    try:
        with _take_end_signals() as received_signals:
            return _run_named_command(words)
    except KeyboardInterrupt:
        number = received_signals[0] if received_signals else signal.SIGINT
        print(f"fcbench: ended by {signal.Signals(number).name}", file=sys.stderr)
        return 128 + number
    finally:
        sys.stdout.flush()
        # Also in the place of an exit of argparse, which prints the help.
        if (outlet := outlets["stdout"]) and outlet.failure:
            print(f"fcbench: the output cannot be written: {outlet.failure.strerror}", file=sys.stderr)
            sys.exit(1)


@contextmanager
def _take_end_signals() -> Iterator[Sequence[int]]:
    """End a command on SIGTERM and SIGHUP as on Ctrl-C, so that it ends what it started; yield what came."""
    received_signals: list[int] = []

    def interrupt(number: int, frame: object) -> NoReturn:
        received_signals.append(number)
        raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    is_main = threading.current_thread() is threading.main_thread()
    handled_signals = [each for each in numbers if is_main and signal.getsignal(each) == signal.SIG_DFL]
    for number in handled_signals:
        signal.signal(number, interrupt)
    try:
        yield received_signals
    finally:
        for number in handled_signals:
            signal.signal(number, signal.SIG_DFL)


def _open_outlet(name: str) -> _Outlet | None:
    """Replace a standard stream of the process by one whose failure ends in no traceback."""
    stream = getattr(sys, name)
    if stream is None:
        # It was closed (``>&-``). Any file that is opened later could take its place.
        stream = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open until the end
        setattr(sys, name, stream)
    outlet = None
    if stream is getattr(sys, f"__{name}__") and isinstance(stream, io.TextIOWrapper):
        outlet = _Outlet(stream.fileno(), "w", closefd=False)
        # A file gets what a table or an export says as it is.
        wrapper = _Printed if name == "stderr" or stream.isatty() else io.TextIOWrapper
        lines = stream.line_buffering
        stream = wrapper(io.BufferedWriter(outlet), stream.encoding, line_buffering=lines)
        setattr(sys, name, stream)
    # Models write in every script, and a redirected stream of Windows has a few hundred characters.
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return outlet


def _run_named_command(words: Sequence[str]) -> int:
    """Run the command that the words name and return its exit code."""
    # argparse would answer with the names of all commands.
    if words and not words[0].startswith("-") and words[0] not in find_command_names():
        print(
            f"fcbench: error: {describe_unknown_name('command', words[0], find_command_names())}",
            file=sys.stderr,
        )
        return USAGE_ERROR
    # Only the command that is named is imported, for the version a small one: all take half a second.
    any_command = ["completion"] if words[:1] in (["-V"], ["--version"]) else []
    parser = make_parser([name for name in find_command_names() if words[:1] == [name]] or any_command)
    arguments, unknown = parser.parse_known_args(words)
    if unknown:
        program = f"fcbench {words[0]}"
        text = f"unrecognized arguments: {' '.join(unknown)}"
        parser.exit(USAGE_ERROR, f"{program}: error: {text}\n'{program} --help' lists what is possible\n")
    if not arguments.quiet and words[0] not in _WITHOUT_PROJECT and (project := find_project()) != Path():
        print(f"fcbench: in the project {project.resolve()} ({project / FILE})", file=sys.stderr)
    try:
        with Path(os.devnull).open("w") as sink, redirect_stdout(sink if arguments.quiet else sys.stdout):
            code: int = arguments.run(arguments)
    except UsageError as error:
        if arguments.verbose:
            print_exc()
        parser.exit(USAGE_ERROR, f"fcbench {words[0]}: error: {drop_option_prefix(str(error))}\n")
    except FcbenchError as error:
        if arguments.verbose:
            print_exc()
        print(f"fcbench: {error}", file=sys.stderr)
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
