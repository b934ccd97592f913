"""A value suits its parameter: by name, by description, by what is known under the same words."""

from __future__ import annotations

from random import Random

import pytest

from pytest_fcbench.tools.authoring.meanings import draw_fresh_value, list_words, rate_fit


@pytest.mark.parametrize(
    ("name", "schema", "expected"),
    [
        ("username", {"type": "string"}, {"Mira Solberg", "Jonas Okafor", "Aiko Lindqvist"}),
        ("file_name", {"type": "string"}, {"minutes.txt", "packing_list.txt", "expenses.csv"}),
        ("start", {"type": "string", "description": "As MM/YYYY."}, {"09/2027", "04/2028"}),
        ("sector", {"type": "string", "description": 'Such as "Technology".'}, {"Technology"}),
        ("base", {"type": "string", "description": "A code such as USD, EUR or RMB."}, {"USD", "EUR", "RMB"}),
        ("priority", {"type": "integer", "description": "From 1 to 3."}, {1, 2, 3}),
        ("door", {"type": "string", "enum": ["left", "right"]}, {"left", "right"}),
        ("gadget", {"type": "string"}, {f"gadget {n}" for n in (2, 3, 5, 8, 12, 25, 40, 75, 120, 250)}),
    ],
)
def test_what_is_made_up_suits_its_parameter(
    name: str, schema: dict[str, object], expected: set[object]
) -> None:
    assert {draw_fresh_value(name, schema, Random(seed)) for seed in range(200)} == expected


@pytest.mark.parametrize(
    ("name", "description", "label", "fits"),
    [
        ("receiver_id", "", "user id", True),
        ("source", "Name of a folder.", "directory", True),
        ("ticket_id", "", "order id", False),
        ("dir_name", "Name of the new folder.", "folder", False),
        ("message", "", "message", False),
    ],
)
def test_a_known_value_fits_by_its_words(name: str, description: str, label: str, fits: bool) -> None:
    schema = {"type": "string", "description": description}
    assert bool(rate_fit(name, schema, list_words(label))) == fits
