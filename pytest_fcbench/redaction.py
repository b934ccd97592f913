"""Keeping secrets out of every text that is stored, shown or logged."""

from __future__ import annotations

import os
import re

_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)S?$", re.IGNORECASE)
_SECRET_TEXT = re.compile(r"(?i)\b(bearer\s+|api[-_ ]?key[\"' :=]+)[\w.~+/=-]{8,}|\bsk-[\w-]{8,}")
_SHORTEST = 6


def redacted(text: str) -> str:
    """The text with ``***`` for values of secret-looking environment variables and key-like words."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST and _SECRET_NAME.search(name):
            text = text.replace(value, "***")
    return _SECRET_TEXT.sub(lambda found: f"{found.group(1) or ''}***", text)
