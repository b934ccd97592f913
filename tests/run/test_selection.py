"""The entries of an audit that are in training data, and files that do not tell them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.run.selection import read_trained_entries
from tests.cases import each_case

SUITES = {"orders": {"version": "7", "pack_hash": None}, "core": {"version": "10", "pack_hash": None}}


def test_entries_are_named_with_their_suite(tmp_path: Path) -> None:
    path = tmp_path / "trained.json"
    path.write_text(json.dumps({"suite": "orders", "version": "7", "trained": ["a", "b"]}))
    assert read_trained_entries(path, SUITES) == {"orders:a", "orders:b"}


@each_case(
    ("text", "says"),
    [
        ('{"suite": "orders", "version": "7", "trained": null}', "is not an audit against training data"),
        ("[]", "is not an audit against training data"),
        ("{", "is not an audit against training data; make it with fcbench suite audit SUITE --against="),
        ('{"suite": "ordres", "version": "7", "trained": []}', "ordres, but the run has orders, core"),
        ('{"suite": "orders", "version": "6", "trained": []}', "orders 6, but the run has orders 7; make it"),
        (None, "cannot be read: No such file or directory; make it with fcbench suite audit"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str | None, says: str) -> None:
    path = tmp_path / "trained.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=rf"trained\.json: .*{re.escape(says)}"):
        read_trained_entries(path, SUITES)
