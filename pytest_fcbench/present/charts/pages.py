"""Common parts of all pages: light and dark colours, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

MOST_SERIES = 8
"""The most series that colour, marker and dashes can tell apart."""


@cache
def read_colours() -> str:
    """Read the style sheet of drawings; its variables are the colours of pages, too."""
    return Path(__file__).with_name("colours.css").read_text(encoding="utf-8")


def write_policy(style: str, *also: str, form: str = "'none'") -> str:
    """Write a Content-Security-Policy: this style sheet by its hash, what else is named, nothing more.

    ``form`` is where forms may lead.
    """
    # base-uri and form-action do not fall back to default-src, so they are named.
    only = ("default-src 'none'", f"style-src {hash_block(style)}", *also)
    return "; ".join((*only, "base-uri 'none'", f"form-action {form}"))


def hash_block(block: str) -> str:
    """Hash a block of a page as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()}'"
