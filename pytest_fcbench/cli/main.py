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
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pytest_fcbench.cli import tree
from pytest_fcbench.domain.errors import FcbenchError, UsageError, describe_unknown_name
from pytest_fcbench.domain.text import escape_controls

USAGE_ERROR = 4
"""The exit code for a wrong option, name or file, as pytest has it; 2 says that a gate cannot tell."""

P = TypeVar("P", bound=argparse.ArgumentParser)


def make_parser(names: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Make the parser of the command line with the commands of these names; with all if none are given."""
    parser = _Parser(prog="fcbench", usage="fcbench COMMAND ...")
    parser.set_defaults(make_parser=make_parser, run=None)
    parser.add_argument("-V", "--version", action=_PrintVersion, nargs=0, help="print the version")
    declare_commands(parser.add_subparsers(metavar="COMMAND", parser_class=_Parser), names)
    return parser


def declare_commands(
    places: argparse._SubParsersAction[P], names: Sequence[str] | None = None
) -> Mapping[str, P]:
    """Declare groups, and the commands of these names; all if none are given. Return their parsers."""
    parsers: dict[str, P] = {}
    places_of = {"": places}
    for group in filter(tree.is_group, tree.read_tree()):
        usage, about = f"fcbench {group} COMMAND ...", tree.read_tree()[group].help
        parser = places.add_parser(group, prog=f"fcbench {group}", usage=usage, help=about)
        places_of[group] = parser.add_subparsers(metavar="COMMAND", parser_class=type(parser))
    for name in tree.find_command_names() if names is None else names:
        # Imported late, because the help needs no options.
        from pytest_fcbench.cli.options import declare_options

        group, _, last = name.rpartition(" ")
        command, (declare_more, run_command) = tree.read_tree()[name], tree.load_functions(name)
        examples = "\n  ".join(command.examples)
        parser = parsers[name] = places_of[group].add_parser(
            last,
            prog=f"fcbench {name}",
            help=command.help,
            description=command.note or f"{command.help[0].upper()}{command.help[1:]}.",
            epilog=f"examples:\n  {examples}\n\nmore: fcbench help {command.page}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.set_defaults(run=run_command)
        declare_options(parser, name)
        if declare_more:
            declare_more(parser)
        _declare_switches(parser, default=False)
    return parsers


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


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line and the way to the help, and which lists commands by group."""

    def error(self, message: str) -> NoReturn:
        """Print an error and exit; argparse would print the usage first.

        Where an argument is missing, an example says what one looks like.
        """
        if message.startswith(required := "the following arguments are required: "):
            examples = [example for command in tree.read_tree().values() for example in command.examples]
            own = [example for example in examples if example.startswith(f"{self.prog} ")]
            message = "; e.g. ".join((f"missing: {message.removeprefix(required)}", *own[:1]))
        self.exit(
            USAGE_ERROR, f"{self.prog}: error: {message}\n'{self.prog} --help' lists what is possible\n"
        )

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is no choice; an ending of a file is told with the actions that write it."""
        if action.choices is None or value in action.choices:
            return
        text = describe_unknown_name(str(action.metavar or action.dest).lower(), value, action.choices)
        if isinstance(action, argparse._SubParsersAction):
            parsers = action.choices.values()
            writers = [parser.prog for parser in parsers if f".{value}" in parser.format_help()]
            text += f" For .{value}: {' or '.join(writers)}." if writers else ""
        raise argparse.ArgumentError(action, text)

    def format_help(self) -> str:
        """Write the help; argparse would list all commands in a row, and has to know them."""
        group = self.prog.removeprefix("fcbench").strip()
        is_list = not group or tree.is_group(group)
        return tree.render_group(group, self.format_usage()) if is_list else super().format_help()


class _PrintVersion(argparse.Action):
    """Print the version, which is looked up for nothing else, whatever words follow."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print it and exit."""
        from importlib.metadata import version

        print(f"fcbench {version('pytest-fcbench')}")
        parser.exit()


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
    given = [*takewhile(lambda word: not word.startswith("-"), words[:2])]
    group = given.pop(0) if given[:1] and tree.is_group(given[0]) else ""
    name = f"{group} {given[0]}".strip() if given else group
    # argparse would answer with the names of all commands.
    if given and given[0] not in tree.list_group(group):
        print(f"fcbench: error: {tree.describe_unknown_command(group, given[0])}", file=sys.stderr)
        return USAGE_ERROR
    # Only the command that is named is imported: all take half a second.
    parser = make_parser([name] if given else [])
    arguments, unknown = parser.parse_known_args(words)
    program = f"fcbench {name}".strip()
    if unknown:
        text = f"unrecognized arguments: {' '.join(unknown)}"
        parser.exit(USAGE_ERROR, f"{program}: error: {text}\n'{program} --help' lists what is possible\n")
    if not given:
        print(tree.render_group(group, f"usage: {program} COMMAND ...\n"), end="")
        return USAGE_ERROR
    # Imported late, because the help needs neither.
    from pytest_fcbench.cli.options import drop_option_prefix, find_project
    from pytest_fcbench.config.options import FILE

    if (
        not arguments.quiet
        and not tree.read_tree()[name].without_project
        and (project := find_project()) != Path()
    ):
        print(f"fcbench: in the project {project.resolve()} ({project / FILE})", file=sys.stderr)
    try:
        with Path(os.devnull).open("w") as sink, redirect_stdout(sink if arguments.quiet else sys.stdout):
            code: int = arguments.run(arguments)
    except UsageError as error:
        _print_traceback(arguments)
        parser.exit(USAGE_ERROR, f"{program}: error: {drop_option_prefix(str(error))}\n")
    except FcbenchError as error:
        _print_traceback(arguments)
        print(f"fcbench: {error}", file=sys.stderr)
        return 1
    return code


def _print_traceback(arguments: argparse.Namespace) -> None:
    """Print where the error that is handled comes from, if that is asked for."""
    if arguments.verbose:
        # Imported late: it brings fifteen modules.
        from traceback import print_exc

        print_exc()


if __name__ == "__main__":
    sys.exit(main())
