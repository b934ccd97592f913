"""Entries that put the truth of other entries through the server, made from any that have calls."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pytest_fcbench.codecs.decoders.registry import find_writer
from pytest_fcbench.domain.entry import CATEGORIES, Entry, Expectation
from pytest_fcbench.kinds.table import find_kind

FORCED = CATEGORIES["server_forced"]
"""The category of all such entries."""


@dataclass(frozen=True, slots=True)
class NamedServer:
    """The server under test as reports name it."""

    address: str = "http://localhost:8000/v1"
    """Its address without keys."""
    model: str = "NAME"
    """Its name of the model."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """The secrets that it is sent, which no report may contain."""


@dataclass(frozen=True, slots=True)
class ForcedTruth(Expectation):
    """The entry whose truth is put through the server, and the way that the user chose."""

    entry: Entry
    way: str
    """A word of ``ForcedWay``."""
    syntax: str | None
    """The native syntax of the calls that the user named a syntax of."""
    server: NamedServer


def force_truth(
    entry: Entry, way: str, syntax: str | None = None, server: NamedServer | None = None
) -> Entry | None:
    """Make the entry that puts the truth of another one through the server; None where that has no calls."""
    if not any(calls for steps in find_kind(entry).list_right_calls(entry) for calls in steps):
        return None
    writer = find_writer(syntax) if syntax else None
    truth = ForcedTruth(entry, way, writer.name if writer else None, server or NamedServer())
    # Its id stays; what else a model would be asked or judged by does not matter.
    forced = Entry(entry.suite, entry.id, FORCED, entry.turns, entry.functions, truth, trial=entry.trial)
    return replace(forced, cluster=entry.cluster, parents=entry.parents, pressure=entry.pressure)


def get_truth(entry: Entry) -> ForcedTruth:
    """Return what an entry forces. Raises TypeError for an entry of another kind."""
    if not isinstance(entry.expectation, ForcedTruth):
        raise TypeError(f"{entry.key} forces no truth")
    return entry.expectation
