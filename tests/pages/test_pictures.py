"""The pictures of the pages in the docs."""

from __future__ import annotations

from tests.conftest import ROOT
from tests.pages.pages import FOLDER, list_pictures

_LARGEST = 150_000
"""The most bytes of a picture."""


def test_the_pictures_of_the_docs_are_small_and_shown() -> None:
    kept = {f"{picture.name}.png" for picture in list_pictures() if picture.kept}
    assert {path.name for path in FOLDER.iterdir()} == kept
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    for name in kept:
        assert (FOLDER / name).stat().st_size < _LARGEST
        assert f"](pictures/{name})" in pages
