"""Pages: a policy that fits their blocks, colours that can be seen by day and by night."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from pytest_fcbench.present.charts.pages import MOST_SERIES, hash_block, read_colours, write_policy


def test_a_policy_names_what_it_allows() -> None:
    sha256 = base64.b64encode(hashlib.sha256("a{}é".encode()).digest()).decode()
    assert (
        write_policy("a{}é")
        == f"default-src 'none'; style-src 'sha256-{sha256}'; base-uri 'none'; form-action 'none'"
    )
    assert f"; script-src {hash_block('x')}; img-src data:; " in write_policy(
        "", f"script-src {hash_block('x')}", "img-src data:"
    )


def test_paper_is_lit_by_day() -> None:
    assert re.findall(r"@media ([^{]*) \{", read_colours()) == ["screen and (prefers-color-scheme: dark)"]


def read_themes() -> list[dict[str, str]]:
    """Return the variables of the light and of the dark page."""
    return [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
        for block in re.findall(r":root \{(.*?)\}", read_colours(), re.DOTALL)
    ]


def compute_luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def compute_contrast(one: str, other: str) -> float:
    """Compute WCAG 2.2's contrast ratio."""
    dark, light = sorted((compute_luminance(one), compute_luminance(other)))
    return (light + 0.05) / (dark + 0.05)


TEXTS = ("ink", "quiet", "accent", "passed", "failed", "not-scored")


@pytest.mark.parametrize("name", [*TEXTS, *(f"s{n}" for n in range(MOST_SERIES))])
def test_texts_and_marks_have_enough_contrast_by_day_and_night(name: str) -> None:
    for theme in read_themes():
        assert compute_contrast(theme[name], theme["paper"]) >= 4.5
        assert name not in TEXTS or compute_contrast(theme[name], theme["wash"]) >= 4.5


def test_the_measure_of_contrast_can_fail() -> None:
    assert compute_contrast("#000000", "#ffffff") == pytest.approx(21)
    assert compute_contrast("#999999", "#ffffff") < 4.5
    assert len(read_themes()) == 2
