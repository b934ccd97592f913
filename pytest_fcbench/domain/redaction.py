"""Remove secrets from texts before they are stored, shown or logged."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence

_SECRET_NAME = re.compile(r"(?:^|_)(?:API)?(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?$", re.IGNORECASE)
# A word with a digit must follow "bearer", so that "bearer authentication" stays readable.
_SECRET_TEXT = re.compile(
    r"(?i)\b(bearer\s+(?=\S*\d)|api[-_ ]?key[\"']?\s*[:=]\s*[\"']?)[\w.~+/=-]{8,}|\bsk-[\w-]{8,}",
)
_SHORTEST = 6
_LONG = 16
"""Characters of a key that no honest answer contains by chance."""


def list_secrets(*secrets: str) -> list[str]:
    """List the given secrets and the values of secret-looking environment variables, longest first."""
    named = [value for name, value in os.environ.items() if _SECRET_NAME.search(name)]
    # Longest first: a secret can be the beginning of another one, whose rest would stay readable.
    return sorted({*named, *secrets}, key=len, reverse=True)


def list_long_secrets(*secrets: str) -> list[str]:
    """List the known secrets that can be removed from a model's answer without changing an honest one."""
    return [secret for secret in list_secrets(*secrets) if len(secret) >= _LONG]


def mask_secrets(text: str, secrets: Iterable[str]) -> str:
    """Replace each of these secrets in a text by ``***``."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def mask_secrets_within(value: object, secrets: Sequence[str]) -> object:
    """Replace each of these secrets in all texts of a JSON value."""
    if isinstance(value, str):
        return mask_secrets(value, secrets)
    if isinstance(value, Mapping):
        return {str(name): mask_secrets_within(member, secrets) for name, member in value.items()}
    if isinstance(value, list):
        return [mask_secrets_within(member, secrets) for member in value]
    return value


def redact_secrets(text: str, *secrets: str) -> str:
    """Replace given secrets, values of secret-looking variables and key-like words by ``***``."""
    for secret in list_secrets(*secrets):
        # Shorter values, such as "test" or "1", occur in honest texts by chance.
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, "***")
    return _SECRET_TEXT.sub(lambda found: f"{found.group(1) or ''}***", text)
