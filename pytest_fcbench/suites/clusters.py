"""Clusters of entries that were made from each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_fcbench.domain.entry import Entry


def clustered(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries; one that a cluster is named after is in it, as what was made from it is."""
    names = {entry.cluster for entry in entries}
    return tuple(
        replace(entry, cluster=entry.id) if entry.id in names and not entry.cluster else entry
        for entry in entries
    )
