"""A run imports our modules without pytest's rewriting of assertions and without garbage collection."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_fcbench.plugin import import_plainly


def test_the_hook_is_left_out_and_returns_to_its_place(pytestconfig: pytest.Config) -> None:
    hook: object = pytestconfig.pluginmanager.rewrite_hook
    before, was_enabled = list(sys.meta_path), gc.isenabled()
    assert hook in before
    with suppress(LookupError), import_plainly(hook):
        assert sys.meta_path == [finder for finder in before if finder is not hook]
        assert not gc.isenabled()
        raise LookupError
    assert sys.meta_path == before
    assert gc.isenabled() == was_enabled


class Finder:
    """What a module may add while it is imported."""

    @staticmethod
    def find_spec(name: str, path: object, target: object = None) -> None:
        return None


def test_what_is_added_meanwhile_stays(pytestconfig: pytest.Config) -> None:
    before = list(sys.meta_path)
    try:
        with import_plainly(pytestconfig.pluginmanager.rewrite_hook):
            sys.meta_path.append(Finder)
        assert sys.meta_path == [*before, Finder]
    finally:
        sys.meta_path[:] = before


@pytest.mark.nightly
@pytest.mark.parametrize("option", [(), ("--assert=plain",)], ids=["rewritten", "plain"])
def test_assertions_of_tests_are_rewritten_as_ever(
    pytester: pytest.Pytester, option: tuple[str, ...]
) -> None:
    """Also of a test that is collected beside the entries of a run."""
    pytester.path.joinpath("fcbench.yaml").write_text("model: oracle\n")
    Path(pytester.path, "test_own.py").write_text("def test_own():\n    number = 3\n    assert number == 4\n")
    result = pytester.runpytest_subprocess(*option, "-p", "no:cacheprovider")
    assert ("assert 3 == 4" in result.stdout.str()) == (not option)
