"""Where entries come from: ``core`` (ours, embedded), official ones from packs, a team's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.domain.errors import UsageError, unknown
from pytest_fcbench.suites import bfcl, complexfuncbench, core
from pytest_fcbench.suites.custom import open_own
from pytest_fcbench.suites.packs import Source
from pytest_fcbench.suites.suite import Suite

SUITES: Mapping[str, Callable[[Path], Suite]] = {
    "core": core.open_suite,
    "bfcl": bfcl.open_suite,
    "complexfuncbench": complexfuncbench.open_suite,
}
"""How to open each suite, given the cache folder."""

PACKS: Mapping[str, Source] = {"bfcl": bfcl.SOURCE, "complexfuncbench": complexfuncbench.SOURCE}
"""The packs that ``fcbench pull`` can get."""


def openers(own: Mapping[str, Path]) -> Mapping[str, Callable[[Path], Suite]]:
    """How to open each suite, those of a team included."""
    return {**SUITES, **{name: partial(_open_own, name, path) for name, path in own.items()}}


def _open_own(name: str, path: Path, cache: Path) -> Suite:
    return open_own(name, path)


def open_suite(name: str, cache: Path, own: Mapping[str, Path] = MappingProxyType({})) -> Suite:
    """A suite by name. Raises ``UsageError`` for an unknown name, ``PackMissing`` without its pack."""
    known = openers(own)
    if name not in known:
        raise UsageError(unknown("suite", name, known))
    return known[name](cache)


def word_of(path: Path) -> str:
    """What a suite is called after its file or folder."""
    return re.sub(r"\W+", "_", path.absolute().stem)


def name_of(path: Path) -> str:
    """The name of a suite that is pointed at. Raises ``UsageError``."""
    if not can_name_a_suite(name := word_of(path)):
        raise UsageError(
            f"{path}: {name!r} cannot be the name of a suite; rename it, "
            "or give it a name under suites in fcbench.yaml"
        )
    return name


def can_name_a_suite(name: str) -> bool:
    """Whether it is a word, because it becomes a mark, and none of ours."""
    return bool(re.fullmatch(r"[A-Za-z_]\w*", name)) and name not in (*SUITES, *CATEGORIES, *SELECTIONS)
