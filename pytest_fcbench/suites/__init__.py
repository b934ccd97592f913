"""Where entries come from: ``core`` (ours, embedded) and official ones from packs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pytest_fcbench.errors import UsageError, unknown
from pytest_fcbench.suites import bfcl, complexfuncbench, core
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


def open_suite(name: str, cache: Path) -> Suite:
    """A suite by name. Raises ``UsageError`` for an unknown name, ``PackMissing`` without its pack."""
    if name not in SUITES:
        raise UsageError(unknown("suite", name, SUITES))
    return SUITES[name](cache)
