"""A page with drawings in Chromium: its policy lets its style in, and it follows the reader's colours."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.present.table_formats import render_page
from pytest_fcbench.present.tables import Table
from tests.present.charts.test_plots import PERPLEXITIES, RELEASES
from tests.present.html.browser import open_browser, open_page

_COLOURS = """
    const of = (name, part) => getComputedStyle(document.querySelector(name))[part];
    return [of("body", "backgroundColor"), of("body", "color"), of("text", "fill"), of(".fill-s1", "fill")];
"""


@pytest.mark.nightly
def test_a_page_by_day_by_night_and_on_paper(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "\n".join(render_page("t", [Table("", ("a",), ())], [RELEASES, PERPLEXITIES])), encoding="utf-8"
    )
    seen = []
    with open_browser() as chrome:
        for media, scheme in (("screen", "light"), ("screen", "dark"), ("print", "dark")):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
            open_page(chrome, path)
            seen.append(chrome.execute_script(_COLOURS))
        logged: list[object] = chrome.get_log("browser")  # type: ignore[no-untyped-call]
    day, night, paper = seen
    assert logged == [], "nothing that the policy refuses"
    assert paper == day == ["rgb(253, 252, 250)", "rgb(28, 28, 31)", "rgb(28, 28, 31)", "rgb(179, 71, 0)"]
    assert all(one != other for one, other in zip(day, night, strict=True))
