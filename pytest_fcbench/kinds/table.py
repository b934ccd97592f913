"""The table of all kinds: those of this package, each in its folder, and those that other distributions add.

A distribution adds a kind under a name of its own by an entry point of the group ``fcbench.kinds``; entries
whose ``other_kind`` is that name are of that kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.registry import Registry
from pytest_fcbench.kinds.kind import Kind

_ROWS: Mapping[str, str] = {
    "simple": "calls.kind:SIMPLE",
    "multiple": "calls.kind:MULTIPLE",
    "parallel": "calls.kind:PARALLEL",
    "next_call": "calls.kind:NEXT_CALL",
    "irrelevance": "relevance.kind:IRRELEVANCE",
    "relevance": "relevance.kind:RELEVANCE",
    "next_reply": "relevance.kind:NEXT_REPLY",
    "chat": "chat.kind:CHAT",
    "own_check": "own_check.kind:OWN_CHECK",
    "sql": "sql.kind:SQL",
    "state": "state.kind:STATE",
    "memory": "answers.kind:MEMORY",
    "web_search": "answers.kind:WEB_SEARCH",
    "golden_path": "golden_path.kind:GOLDEN_PATH",
    "execution": "execution.kind:EXECUTION",
    "rest": "execution.kind:REST",
    "server_turns": "server_turns.kind:SERVER_TURNS",
    "variation": "variation.kind:VARIATION",
}
"""The object of each kind, as ``module:NAME`` below this room; a kind is imported when it is first needed."""


class _OwnKinds(Mapping[str, Kind]):
    def __getitem__(self, name: str) -> Kind:
        module, _, attribute = _ROWS[name].partition(":")
        kind: Kind = getattr(import_module(f"{__package__}.{module}"), attribute)
        return kind

    # The one of ``Mapping`` looks the name up, which would import the kind.
    def __contains__(self, name: object) -> bool:
        return name in _ROWS

    def __iter__(self) -> Iterator[str]:
        return iter(_ROWS)

    def __len__(self) -> int:
        return len(_ROWS)


KINDS: Registry[Kind] = Registry("kind", "fcbench.kinds", _OwnKinds())
"""Every kind by name."""


def find_kind(entry: Entry) -> Kind:
    """Return the kind of an entry. Raises ``UsageError`` for a name that no kind has."""
    return KINDS.find(entry.kind)
