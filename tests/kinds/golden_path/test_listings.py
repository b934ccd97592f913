"""Made search results: the same text for the same seed, shaped like results, changed where it is said."""

from __future__ import annotations

import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.kinds.golden_path.listings import KINDS, make_listing

DIGESTS = {
    "stays": "1f543e461e3b2112",
    "rooms": "dc2b4db17345de53",
    "flights": "3059b0d54ffd79df",
    "cars": "2c4ab34150a7b72e",
    "sights": "89bdaf5fed12de96",
    "slots": "726f1d01b297ac93",
    "reviews": "1b60f2a7b16f3b57",
    "rides": "70640cbf0eaf1b25",
}
"""Of the text of twenty items made from the seed 7, the first 16 digits."""

each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
def test_the_text_of_a_seed_never_changes(kind: str) -> None:
    """Neither with the platform nor with Python's version. A change of it is a new version of ``core``."""
    text = json.dumps(make_listing(kind, 7, 20), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[kind]


@each_kind
def test_items_have_the_members_of_their_kind_and_are_all_different(kind: str) -> None:
    items = make_listing(kind, 3, 400)
    assert {tuple(item) for item in items} == {KINDS[kind]}
    assert len({json.dumps(item) for item in items}) == 400


@each_kind
def test_another_seed_makes_other_items(kind: str) -> None:
    assert make_listing(kind, 1, 5) != make_listing(kind, 2, 5)


@each_kind
def test_a_longer_list_begins_like_a_shorter_one(kind: str) -> None:
    assert make_listing(kind, 5, 9)[:4] == make_listing(kind, 5, 4)


@each_kind
@given(seed=st.integers(0, 10**9))
def test_identifiers_tokens_and_times_are_well_formed(kind: str, seed: int) -> None:
    for item in make_listing(kind, seed, 3):
        for name, value in item.items():
            if name.endswith("_id"):
                assert re.fullmatch(r"(st|si|rv)_[0-9a-f]{8}", str(value))
            elif name.endswith("_token"):
                assert re.fullmatch(r"[A-Za-z0-9_-]{220,560}", str(value))
            elif name.endswith("_at"):
                assert re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", str(value))
            elif name.endswith("rating"):
                assert isinstance(value, float)
                assert 6 <= value <= 9.6


@given(seed=st.integers(0, 10**9))
def test_a_flight_lands_as_long_after_its_start_as_it_takes(seed: int) -> None:
    (flight,) = make_listing("flights", seed, 1)
    departs, arrives = (
        int(text[:2]) * 60 + int(text[3:]) for text in (str(flight["departs_at"]), str(flight["arrives_at"]))
    )
    assert (arrives - departs) % 1440 == flight["duration_min"]


@given(st.integers(0, 10**9), st.floats(0, 10**6), st.floats(0, 10**6))
def test_prices_are_drawn_from_the_range(seed: int, one: float, other: float) -> None:
    low, high = sorted((round(one, 2), round(other, 2)))
    for item in make_listing("stays", seed, 5, (low, high)):
        assert isinstance(price := item["price_total"], float)
        assert low <= price <= high


def test_what_matters_is_put_in_at_its_place_and_changes_nothing_else() -> None:
    plain = make_listing("stays", 9, 5)
    made = make_listing("stays", 9, 5, each={"currency": "NOK", "pool": True}, changed={3: {"rating": 9.9}})
    assert made == [
        {**item, "currency": "NOK", "pool": True, **({"rating": 9.9} if place == 3 else {})}
        for place, item in enumerate(plain)
    ]


def test_an_item_can_differ_from_what_is_the_same_in_each() -> None:
    made = make_listing("rooms", 9, 2, each={"sleeps": 2}, changed={1: {"sleeps": 4}})
    assert [item["sleeps"] for item in made] == [2, 4]
