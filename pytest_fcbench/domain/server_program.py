"""MCP servers of a team, as entries name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class ServerProgram:
    """A program that serves tools by the Model Context Protocol over its standard input and output.

    It is started for one conversation, in a temporary folder of its own, and ended after it.
    """

    command: tuple[str, ...]
    """The program and its arguments. ``{suite}``, also in ``setup``, is the folder of the entry's file."""
    variables: tuple[str, ...] = ()
    """Names of environment variables that it is given, beside the few that every program needs."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts by relative path, written into its folder before it starts."""
    setup: tuple[tuple[str, ...], ...] = ()
    """Programs with their arguments that are run in its folder before it starts, in this order."""
    timeout_s: float = 60.0
    """The longest that its start, a setup program and a call may take each."""

    def enter_suite(self, folder: str) -> ServerProgram:
        """Return the program with the folder of the entry's file in place of ``{suite}``.

        Entries keep the word, so that stored answers do not depend on where a suite lies.
        """

        def fill_folder(command: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(part.replace("{suite}", folder) for part in command)

        return replace(self, command=fill_folder(self.command), setup=tuple(map(fill_folder, self.setup)))


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server that the calls of an entry act on, and how its state is read."""

    program: ServerProgram
    probes: tuple[str, ...] = ()
    """Calls as Python text whose results show the state; none of them may change it."""
    volatile: frozenset[str] = frozenset()
    """Members of JSON results that differ between equal states, such as times."""
    masks: tuple[str, ...] = ()
    """Regular expressions; what they match in a result differs between equal states."""
