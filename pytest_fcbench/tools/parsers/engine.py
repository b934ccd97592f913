"""An inference engine as far as its tool parsers are examined, and the engines that can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import chain
from pkgutil import resolve_name
from typing import Protocol, TypeAlias

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.tables import read_table

Tools: TypeAlias = Sequence[Mapping[str, object]]
"""Tools of a request in the form of OpenAI's chat interface."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer as a stream brings it: its text, and the tokens that it was decoded from."""

    text: str
    token_ids: tuple[int, ...] = ()


def join_pieces(pieces: Iterable[Piece]) -> Piece:
    """Join pieces that follow each other."""
    parts = tuple(pieces)
    return Piece(
        "".join(each.text for each in parts), tuple(chain.from_iterable(each.token_ids for each in parts))
    )


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A call as an engine sends it; ``arguments`` should be JSON text."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The calls that a parser took from an answer, and the text that it left."""

    calls: Sequence[ParsedCall]
    text: str = ""
    indexes: Sequence[int] | None = None
    """The index under which a stream sent each call, as the calls began; None for a whole answer."""


class UnusableParser(Exception):  # noqa: N818 - reads as the state it names
    """A parser cannot be made here; the message says why."""


class ToolParser(Protocol):
    """One parser of an engine; each answer is read by a fresh one, as a server does."""

    def parse_whole(self, answer: Piece, tools: Tools) -> ParsedAnswer:
        """Parse an answer that is there as a whole."""

    def parse_pieces(self, pieces: Sequence[Piece], tools: Tools) -> ParsedAnswer:
        """Parse an answer that comes in pieces, the last of which ends it."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The tool parsers of an installed engine."""

    version: str
    parsers: Sequence[str]
    """Their names, as ``--tool-call-parser`` takes them."""
    open_parser: Callable[[str], ToolParser]
    """Makes one by its name; raises ``UnusableParser``."""


@dataclass
class StreamedAnswer:
    """Joins what a stream sends, as a client does: the parts of a call by its index."""

    text: str = ""
    _parts: dict[int, tuple[list[str], list[str]]] = field(default_factory=dict)

    def add_call(self, index: int, name: str | None, arguments: str | None) -> None:
        """Add a part of the name and of the arguments of a call."""
        names, texts = self._parts.setdefault(index, ([], []))
        names.append(name or "")
        texts.append(arguments or "")

    def finish(self) -> ParsedAnswer:
        """Return the answer that the client has at the end."""
        calls = [ParsedCall("".join(names), "".join(texts)) for names, texts in self._parts.values()]
        return ParsedAnswer(calls, self.text, tuple(self._parts))


@dataclass(frozen=True, slots=True)
class EngineRow:
    """A row of ``engines.toml``."""

    package: str
    opener: str
    """The function that opens it, as ``module:NAME``."""
    syntaxes: Mapping[str, tuple[str, ...]]
    """The native syntaxes that each parser reads, by the name of the parser."""


ENGINES: Mapping[str, EngineRow] = read_table(dict[str, EngineRow], __file__, "engines.toml")
"""The engines by name."""


def is_installed(name: str) -> bool:
    """Tell whether an engine is installed, without importing it."""
    return find_spec(ENGINES[name].package) is not None


def require_engine(name: str) -> None:
    """Raise ``UsageError`` where an engine is not installed."""
    if not is_installed(name):
        raise UsageError(
            f"{name!r}: the package {ENGINES[name].package} is not installed here; install "
            f"pytest-fcbench[parsers] in the environment of the engine, and run the command there"
        )


def open_engine(name: str, tokenizer: object) -> Engine:
    """Import an engine, which takes seconds. Raises ``UsageError`` where it cannot be imported."""
    try:
        opener: Callable[[object], Engine] = resolve_name(ENGINES[name].opener)
        return opener(tokenizer)
    except ImportError as error:
        raise UsageError(
            f"{name!r}: the tool parsers of the installed version cannot be imported: {error}; install what "
            f"is missing, or another version of the engine"
        ) from error
