"""Named things: those of this package, those that other distributions add, and packages of extras.

A distribution adds a suite, a model provider, a kind of entry or a decoder in its ``pyproject.toml``::

    [project.entry-points."fcbench.kinds"]
    politeness = "fcbench_politeness:POLITE"
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

from pytest_fcbench.domain.errors import UsageError, describe_unknown_name

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Things by name. The package's own come first; an entry point is imported when its name is looked up.

    ``kind`` is the word for one of them in errors. The package's own can be given by entry points, too.
    """

    def __init__(self, kind: str, group: str, own: Mapping[str, T | EntryPoint]) -> None:
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
            own: Any = self._own[name]
            if not isinstance(own, EntryPoint):
                return own  # type: ignore[no-any-return]
            if name not in self._loaded:
                self._loaded[name] = own.load()
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
        return name in self._loaded or name in self._own or name in self._find_additions()

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


EXTRAS: Mapping[str, tuple[str, ...]] = {
    "completion": ("argcomplete", "shtab"),
    "data": ("pandas", "pyarrow"),
    "inspect": ("inspect_ai",),
    "markdown": ("html2text",),
    "mcp": ("httpx2", "mcp"),
    "mlflow": ("mlflow",),
    "parsers": ("hypothesis",),
    "pull": ("pip",),
    "report": ("matplotlib",),
    "search": ("ddgs",),
    "vector": ("numpy", "safetensors", "tokenizers"),
    "wandb": ("wandb",),
}
APART = frozenset({"inspect", "mlflow", "parsers", "wandb"})
"""Extras that ``all`` leaves out: programs for other purposes, with packages or plugins of their own."""


def list_missing_packages(extra: str) -> list[str]:
    """List the packages of an extra that are not installed."""
    # Looked for and not imported: an import would run the package and take its time.
    return [package for package in EXTRAS[extra] if find_spec(package) is None]


def require_extra(extra: str, by: str) -> None:
    """Raise ``UsageError`` where a package of an extra is not installed; ``by`` is what needs it.

    Call it before anything is asked or written.
    """
    if missing_packages := list_missing_packages(extra):
        packages = f"package{'s' * (len(missing_packages) > 1)} {' and '.join(missing_packages)}"
        raise UsageError(f"{by} needs the {packages}: pip install 'pytest-fcbench[{extra}]'")


Source = TypeVar("Source")
Value = TypeVar("Value")


class IdentityCache(Generic[Source, Value]):
    """Remembers values made from objects that have no hash and do not change, such as schemas.

    Equal objects are told apart, because 1, 1.0 and True are equal, but not the same JSON.
    """

    def __init__(self, most: int) -> None:
        """Keep at most ``most`` values; with one more, all before it are forgotten."""
        self._most = most
        self._pairs: dict[tuple[int, Hashable], tuple[Source, Value]] = {}
        """By the address of the source, which stays its own while it is kept here, and what else counts."""

    def find_or_make(self, source: Source, make: Callable[[Source], Value], beside: Hashable = None) -> Value:
        """Return the value made from a source and from what counts beside it, making it the first time."""
        key = id(source), beside
        pair = self._pairs.get(key)
        if pair is None:
            if len(self._pairs) >= self._most:
                self._pairs.clear()
            pair = self._pairs[key] = source, make(source)
        return pair[1]
