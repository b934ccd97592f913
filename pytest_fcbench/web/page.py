"""Pages of the small web that a server of ours serves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """The content of a URL, and its text for a search engine."""

    url: str
    title: str
    text: str
    """The text that is indexed, without markup; empty for pages that a search must not find."""
    type: str
    body: bytes
    location: str | None = None
    """The target of a redirect."""
