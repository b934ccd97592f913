"""What is told of a run with every score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.transcript import Driven
from pytest_fcbench.domain.verdict import Profile

SCHEMA = "fcbench-scorecard/1"
"""The form of the section in a scorecard's file."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Model, manner, suites: without them no score says anything."""

    fcbench: str
    """Version of this project."""
    model: str
    mode: str
    names: str
    syntax: str
    profile: Profile
    suites: Mapping[str, Mapping[str, str | None]]
    """Version and pack hash of each suite."""
    notes: tuple[str, ...] = ()
    price: Price | None = None
    """What dollars were counted with; None where no price is known."""
    concurrency: int | None = None
    """Calls at once, among which a server's price by the hour is divided."""
    driven: Driven | None = None
    """By what means conversations along golden paths went on; None in a run without such."""
    rated_by: str | None = None
    """The judge that rated replies in words, by its label; None where none was asked."""
    search: str | None = None
    """Who answered searches of the web; None in a run without such."""
    shard: str | None = None
    """The part of the entries that was run, such as ``3/10``; None for all."""
