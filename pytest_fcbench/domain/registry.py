"""Named things of one kind: those of this package, and those that other distributions add by entry points.

A distribution adds a suite, a model provider, a kind of entry or a decoder in its ``pyproject.toml``::

    [project.entry-points."fcbench.kinds"]
    politeness = "fcbench_politeness:POLITE"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from pytest_fcbench.domain.errors import UsageError, describe_unknown_name

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Things by name. The package's own come first; an entry point is imported when its name is looked up.

    ``kind`` is the word for one of them in errors.
    """

    def __init__(self, kind: str, group: str, own: Mapping[str, T]) -> None:
        self._kind = kind
        self._group = group
        self._own = own
        self._loaded: dict[str, T] = {}

    def _find_additions(self) -> Mapping[str, EntryPoint]:
        """Find the entry points of other distributions by name. Raises ``UsageError`` for a name twice."""
        entry_points: dict[str, EntryPoint] = {}
        for point in find_entry_points(self._group):
            other = entry_points.setdefault(point.name, point)
            if other.value != point.value or point.name in self._own:
                owner = "pytest-fcbench" if point.name in self._own else _distribution_of(other)
                raise UsageError(
                    f"{self._kind} {point.name!r} of {_distribution_of(point)}: {owner} already has one "
                    f"of that name; rename the entry point in {self._group}, or uninstall one of them"
                )
        return entry_points

    def __getitem__(self, name: str) -> T:
        if name in self._own:
            return self._own[name]
        if name not in self._loaded:
            point = self._find_additions()[name]
            try:
                self._loaded[name] = point.load()
            except Exception as error:
                raise UsageError(
                    f"{self._kind} {point.name!r}: {point.value} of {_distribution_of(point)} cannot be "
                    f"imported: {type(error).__name__}: {error}; repair or uninstall that distribution"
                ) from error
        return self._loaded[name]

    # The one of ``Mapping`` looks the name up, which would import its entry point.
    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._loaded or name in self._find_additions()

    def __iter__(self) -> Iterator[str]:
        yield from (*self._own, *self._find_additions())

    def __len__(self) -> int:
        return len(self._own) + len(self._find_additions())

    def find(self, name: str) -> T:
        """Return the thing of that name. Raises ``UsageError`` with the valid names."""
        if name not in self:
            raise UsageError(describe_unknown_name(self._kind, name, self))
        return self[name]


@cache
def find_entry_points(group: str) -> tuple[EntryPoint, ...]:
    """Find the entry points of a group, once: it reads the metadata of every installed distribution."""
    return tuple(entry_points(group=group))


def _distribution_of(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an unnamed distribution"
