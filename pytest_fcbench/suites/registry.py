"""Registry of suites by name: ours, those of other distributions, a team's own.

Another distribution adds a suite by an entry point in the group ``fcbench.suites``: a function that takes the
cache folder and returns the ``Suite``, which has the name of the entry point.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.registry import Registry
from pytest_fcbench.suites import bfcl, complexfuncbench, core
from pytest_fcbench.suites.custom import open_own
from pytest_fcbench.suites.packs import Source
from pytest_fcbench.suites.suite import Suite

OURS: Mapping[str, Callable[[Path], Suite]] = {
    core.NAME: core.open_suite,
    bfcl.SOURCE.name: bfcl.open_suite,
    complexfuncbench.NAME: complexfuncbench.open_suite,
}
"""Functions that open the suites of this package, given the cache folder, by name."""

SUITES: Registry[Callable[[Path], Suite]] = Registry("suite", "fcbench.suites", OURS)
"""Functions that open the installed suites, by name."""

PACKS: Mapping[str, Source] = {source.name: source for source in (bfcl.SOURCE, complexfuncbench.SOURCE)}
"""The packs that ``fcbench pull`` can get."""


def list_openers(own: Mapping[str, Path]) -> Mapping[str, Callable[[Path], Suite]]:
    """Return the functions that open all suites; nothing is imported before a suite is opened."""
    return {name: partial(open_suite, name, own=own) for name in (*SUITES, *own)}


def open_suite(name: str, cache: Path, own: Mapping[str, Path] = MappingProxyType({})) -> Suite:
    """Open a suite by name. Raises ``UsageError`` for an unknown name, ``PackMissing`` without its pack."""
    if name in own:
        return open_own(name, own[name])
    suite = SUITES.find(name)(cache)
    if name not in OURS and (suite.name != name or not _is_word(name)):
        raise UsageError(
            f"suite {name!r}: its entry point opens a suite named {suite.name!r}; give both the "
            f"same name, because it is also the name of a mark"
        )
    return suite


def suggest_name(path: Path) -> str:
    """Return a name for a suite, made from the name of its file or folder."""
    return re.sub(r"\W+", "_", path.absolute().stem)


def name_suite(path: Path) -> str:
    """Return the name of the suite at a path. Raises ``UsageError``."""
    if not can_name_a_suite(name := suggest_name(path)):
        raise UsageError(
            f"{path}: {name!r} cannot name a suite; rename it, or give it a name under suites in fcbench.yaml"
        )
    return name


def can_name_a_suite(name: str) -> bool:
    """Tell whether a name is free and a word, because it becomes a mark."""
    return _is_word(name) and name not in (*CATEGORIES, *SELECTIONS) and name not in SUITES


def _is_word(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w*", name) is not None
