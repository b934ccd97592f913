"""Badges: an image and the JSON for shields.io."""

from __future__ import annotations

import json
from xml.etree.ElementTree import fromstring

import pytest

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.tools.export.badge import render_text
from tests.hostile_texts import HOSTILE_TEXTS
from tests.tools.export.runs import make_order, make_run

SVG = "{http://www.w3.org/2000/svg}"


def test_the_image_shows_label_and_score() -> None:
    image = fromstring("".join(render_text(make_order(metric="parallel", ending=".svg"))))
    assert [text.text for text in image.iter(f"{SVG}text")] == ["core parallel", "50.0%"]
    assert image.findtext(f"{SVG}title") == "core parallel: 50.0%"


def test_the_json_is_an_endpoint_of_shields() -> None:
    badge = json.loads("".join(render_text(make_order(metric="multiple", name="BFCL", ending=".json"))))
    assert badge == {"schemaVersion": 1, "label": "BFCL", "message": "100.0%", "color": "#0b5fa5"}


def test_a_formula_of_which_parts_were_not_run_must_be_named() -> None:
    assert "<title>core all: 66.7%</title>" in "".join(render_text(make_order()))
    # Non-live is (0.5 / 3 + 1 + 0.5 + 0) / 4, and a tenth of overall.
    badge = "".join(render_text(make_order(metric="overall")))
    assert "<title>core overall, parts not run count as 0: 4.2%</title>" in badge


def test_an_unknown_score_is_refused_with_the_nearest() -> None:
    with pytest.raises(
        UsageError, match=r"--metric=paralel: unknown metric 'paralel'. Did you mean 'parallel'"
    ):
        list(render_text(make_order(metric="paralel")))


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_every_label_is_a_text(text: str) -> None:
    image = fromstring(
        "".join(render_text(make_order(make_run(text=text), metric="parallel", name=text or None)))
    )
    assert [element.tag.removeprefix(SVG) for element in image] == ["title", "rect", "rect", "text", "text"]
