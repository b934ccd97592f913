"""Tests that try many small cases in one item."""

from __future__ import annotations

import functools
import inspect
import os
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

APART = "FCBENCH_TEST_CASES_APART"
"""Set, it makes an item of each case, so that one can be run alone by its name."""

Test = Callable[..., None]
Ids = Iterable[str | float | int | bool | None] | Callable[..., object] | None


def each_case(names: str | Sequence[str], cases: Iterable[object], ids: Ids = None) -> Callable[[Test], Test]:
    """Let a test try each case in one item, and tell every case that fails.

    It takes what ``pytest.mark.parametrize`` takes, and is meant where cases are many, take milliseconds and
    leave nothing behind: among thousands of items nobody finds anything, and each costs time of its own.
    Each case has its own ``tmp_path`` and ``monkeypatch``; other fixtures are shared.
    """
    if os.environ.get(APART):
        return pytest.mark.parametrize(names, cases, ids=ids)
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = list(_read_cases(keys, cases, ids))

    def join_cases(test: Test) -> Test:
        @functools.wraps(test)
        def try_all(*args: object, **fixtures: object) -> None:
            failures: list[BaseException] = []
            skips: list[BaseException] = [] if rows else [pytest.skip.Exception("there is no case")]
            for number, (name, values) in enumerate(rows):
                with pytest.MonkeyPatch.context() as monkeypatch:
                    own = _renew_fixtures(fixtures, monkeypatch, str(number))
                    try:
                        test(*args, **own, **values)
                    except pytest.skip.Exception as skip:
                        skips.append(skip)
                    except (Exception, pytest.fail.Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - any error
                        error.add_note(f"case {name}")
                        failures.append(error)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(rows)} cases fail", failures)
            if skips:
                raise skips[0]

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        try_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return try_all

    return join_cases


def _read_cases(
    keys: Sequence[str], cases: Iterable[object], ids: Ids
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield each case as a name and the value of each key."""
    given = None if ids is None or callable(ids) else list(ids)
    for number, case in enumerate(cases):
        name = str(given[number]) if given else None
        values = (case,) if len(keys) == 1 else case
        if isinstance(case, type(pytest.param())):
            assert not case.marks, "a case with marks is an item of its own"
            name, values = str(case.id) if case.id else name, case.values
        assert isinstance(values, Iterable)
        values = tuple(values)
        if callable(ids):
            name = name or "-".join(str(ids(value)) for value in values)
        yield name or reprlib.repr(values), dict(zip(keys, values, strict=True))


def _renew_fixtures(
    fixtures: Mapping[str, object], monkeypatch: pytest.MonkeyPatch, folder: str
) -> Mapping[str, object]:
    """Return the fixtures of a case: what a test changes is its own."""
    own = dict(fixtures)
    if isinstance(path := fixtures.get("tmp_path"), Path):
        own["tmp_path"] = path / folder
        (path / folder).mkdir()
    if "monkeypatch" in fixtures:
        own["monkeypatch"] = monkeypatch
    return own
