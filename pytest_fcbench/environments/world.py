"""The world that all environments of a suite share: default states, tables, filler for long contexts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_fcbench.environments.sentences import Sentences
from pytest_fcbench.environments.vectors import Embed, embed_by_hash

Table = Mapping[str, Any]
"""JSON values by name."""


class WebError(Exception):
    """The web has no such answer; the message says why, for a model."""


class MissingAnswer(Exception):  # noqa: N818 - reads as the state it names
    """An answer of the web is still missing; the call is carried out again once it is there."""


class Web(Protocol):
    """A source of answers of a search engine and of the servers of pages."""

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Mapping[str, object]]:
        """Return results with ``title``, ``href`` and, where there is a snippet, ``body``.

        Raises ``WebError`` and ``MissingAnswer``.
        """

    def fetch(self, url: str, mode: str, *, official: bool = False) -> str:
        """Return the content of a page in a mode, perhaps as the official tool would show it.

        Raises ``WebError`` and ``MissingAnswer``.
        """


@dataclass(frozen=True, slots=True)
class NoWeb:
    """A world in which there is no web."""

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Mapping[str, object]]:
        """Raise ``WebError``."""
        raise WebError("there is no web here.")

    def fetch(self, url: str, mode: str, *, official: bool = False) -> str:
        """Raise ``WebError``."""
        raise WebError("there is no web here.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filler:
    """Material that makes contexts long without changing any task."""

    file_text: str = ""
    """Appended to the content of files."""
    spared_files: Sequence[str] = ()
    """Names of files that are left as they are."""
    file_names: Sequence[str] = ()
    """Empty files put into every folder that has no folders."""
    watch_list: Sequence[object] = ()
    """Put at the end of a watch list that is asked for."""
    transactions: Sequence[Table] = ()
    ma_5: Sequence[float] = ()
    """Moving averages over 5 days."""
    ma_20: Sequence[float] = ()
    sectors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Stock symbols by sector."""
    order_details: Mapping[str, str] = field(default_factory=dict)
    """Texts by topic with ``{symbol}`` in them."""
    car_status: str = ""
    weather: Mapping[str, Table] = field(default_factory=dict)
    parking_brake: str = ""
    cities: Sequence[str] = ()
    credit_cards: Mapping[str, Table] = field(default_factory=dict)
    """Accounts by card id."""
    bookings: Mapping[str, Table] = field(default_factory=dict)
    accompanying: Mapping[str, Table] = field(default_factory=dict)
    """By function: members put at the end of its result, where that is an object and no error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Never changed by an environment, which copies the parts that it keeps."""

    sentences: Mapping[str, Sentences] = field(default_factory=dict)
    """Sentences that calls return, by domain, where a suite has its own; those of what carries calls out are
    under ``executor``."""
    class_names: Mapping[str, str] = field(default_factory=dict)
    """The name of each domain's class in Python's own errors, where a suite has its own."""
    defaults: Mapping[str, Table] = field(default_factory=dict)
    """The state of each domain (by its name in ``DOMAINS``) unless an entry's configuration overrides it."""
    fares: Mapping[str, float] = field(default_factory=dict)
    """Base cost of a flight by ``from|to`` (airport codes)."""
    airports: Sequence[str] = ()
    """All airport codes."""
    nearest_airports: Mapping[str, str] = field(default_factory=dict)
    """Airport code by city."""
    exchange_rates: Mapping[str, float] = field(default_factory=dict)
    """Rate by ``from|to`` (currencies)."""
    symbols: Mapping[str, str] = field(default_factory=dict)
    """Stock symbol by company."""
    sectors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Stock symbols by sector."""
    distances: Sequence[Sequence[object]] = ()
    """``[zip code, zip code, distance]``, the same in both directions; the distance in km."""
    zip_codes: Mapping[str, str] = field(default_factory=dict)
    """Zip code by city."""
    tire_shop: str = ""
    """Address of the only tire shop."""
    support_reply: str = ""
    """The answer of customer support to everything."""
    foreign_passport: str = ""
    """The refusal of a traveler whose passport is not of the United States."""
    today: str = "2024-09-01"
    """The date that environments go by, ``YYYY-MM-DD``."""
    embed: Embed = embed_by_hash
    """Makes vectors of texts, for a memory that finds them by meaning."""
    web: Web = field(default_factory=NoWeb)
    """Answers searches and has pages."""
    filler: Filler = field(default_factory=Filler)


def world_from_json(value: Table) -> World:
    """Make a world from JSON values by the names of its fields. Raises TypeError for an unknown name.

    ``{"__ellipsis__": true}`` in the filler's watch list stands for Python's ``...``, which JSON cannot hold.
    """
    filler = dict(value.get("filler", {}))
    if "watch_list" in filler:
        filler["watch_list"] = [... if isinstance(item, Mapping) else item for item in filler["watch_list"]]
    return World(**{**value, "filler": Filler(**filler)})
