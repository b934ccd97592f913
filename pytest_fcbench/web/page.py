"""What a server of ours sends for a URL."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """What a server sends for a URL, and what a search engine knows of it."""

    url: str
    title: str
    text: str
    """As it is indexed, without markup; empty for what a search engine does not find."""
    type: str
    body: bytes
    location: str | None = None
    """Where a redirect leads."""
