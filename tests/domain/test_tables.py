"""Tables of the package lie beside the modules that read them, and are checked when they are read."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import ValidationError

import pytest_fcbench
from pytest_fcbench.domain.tables import WordSet, read_table

PACKAGE = Path(pytest_fcbench.__file__).parent


def test_a_row_of_another_shape_is_refused_by_its_place(tmp_path: Path) -> None:
    (tmp_path / "rows.toml").write_text('colours = "red green"\nsizes = 3\n')
    with pytest.raises(ValidationError, match=r"(?s)sizes.*frozenset"):
        read_table(dict[str, WordSet], str(tmp_path / "rows.py"), "rows.toml")
    (tmp_path / "rows.toml").write_text('colours = "red green"\n')
    table: Mapping[str, WordSet] = read_table(dict[str, WordSet], str(tmp_path / "rows.py"), "rows.toml")
    assert table == {"colours": {"red", "green"}}


def test_every_table_says_what_it_holds_and_is_read_beside_it() -> None:
    tables = sorted(PACKAGE.rglob("*.toml"))
    assert len(tables) > 10
    for table in tables:
        assert table.read_text(encoding="utf-8").startswith("# "), table
        assert tomllib.loads(table.read_text(encoding="utf-8")), table
        beside = (module.read_text(encoding="utf-8") for module in table.parent.glob("*.py"))
        assert any(table.name in text or (".toml" in text and table.stem in text) for text in beside), table
