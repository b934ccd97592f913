"""Imports of this package's modules by a run, as quick as outside of pytest."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pytest_fcbench.domain.garbage_collection import pause_collector


@contextmanager
def import_plainly(hook: object) -> Iterator[None]:
    """Import without garbage collection, and without ``hook``, with which pytest rewrites assertions.

    The modules of an installation are many; they leave no garbage, and are no tests.
    """
    left_out = [(place, finder) for place, finder in enumerate(sys.meta_path) if finder is hook]
    for _, finder in left_out:
        sys.meta_path.remove(finder)
    try:
        with pause_collector():
            yield
    finally:
        for place, finder in left_out:
            sys.meta_path.insert(place, finder)
