"""Read JSON values of unchecked types."""

from __future__ import annotations

from collections.abc import Mapping


def as_mapping(value: object) -> Mapping[str, object]:
    """Return a value that is an object, or an empty object."""
    return value if isinstance(value, Mapping) else {}
