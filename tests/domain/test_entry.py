"""Entries, as reports and tools show them."""

from __future__ import annotations

from dataclasses import replace

from tests.factories import make_entry


def test_an_entry_is_shown_by_its_name_without_its_truth() -> None:
    entry = make_entry(entry_id="simple_python_3")
    assert repr(entry) == f"<Entry {entry.suite}:simple_python_3>"
    assert repr(replace(entry, trial=2)) == f"<Entry {entry.suite}:simple_python_3-t2>"
