"""Names of one place are the same, names of two are not; where nobody can tell they are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.matchers.equivalence.places import is_same_place
from pytest_fcbench.matchers.equivalence.words import split_words

SAME = [
    # with and without what they lie in
    ("Bergen", "Bergen, Norway"),
    ("Bergen", "Bergen (Norge)"),
    ("Portland", "Portland, Oregon"),
    ("Portland, OR", "Portland, Oregon, USA"),
    ("San Jose, CA", "San Jose, California"),
    ("Paris", "Paris, France"),
    ("Berlin, DE", "Berlin, Germany"),
    ("Haifa, IL, Israel", "Haifa, Israel"),
    ("Perth, WA", "Perth, Western Australia"),
    ("Seattle, Washington", "Seattle, WA"),
    ("Washington D.C.", "Washington, DC"),
    ("Atlanta, Georgia", "Atlanta, USA"),
    ("Tbilisi, Georgia", "Tbilisi"),
    ("Big Ben, UK", "Big Ben"),
    ("USA", "United States"),
    # other names
    ("New York", "New York City, USA"),
    ("NYC", "New York, NY"),
    ("Wien", "Vienna, Austria"),
    ("München", "Munich"),
    ("東京", "Tokyo, Japan"),
    ("Colosseum, Rome", "Colosseum, Roma, Italia"),
    # airports
    ("LAX", "Los Angeles International Airport"),
    ("JFK Airport", "John F. Kennedy Intl Airport"),
    ("Amsterdam Airport Schiphol", "Schiphol Airport"),
    ("O'Hare International Airport, Chicago", "Chicago O'Hare Airport"),
    ("Melbourne Airport, Australia", "MEL"),
    # abbreviations
    ("2405 Pine St", "2405 Pine Street"),
    ("930 St Mary's Rd", "930 Saint Marys Road"),
    ("St. John's", "Saint John's"),
    ("Mt Fuji", "Mount Fuji"),
    ("Ft. Worth", "Fort Worth"),
    ("5th Ave", "Fifth Avenue"),
    # a city that stands elsewhere
    ("Hyatt Regency Dallas", "Dallas Hyatt Regency"),
    ("Downtown, San Diego", "San Diego Downtown"),
    ("Vienna International Airport", "International Airport, Vienna"),
]

DIFFERENT = [
    ("Bergen", "Bergen op Zoom"),
    ("Bergen, Norway", "Bergen, Netherlands"),
    ("San Jose, Costa Rica", "San Jose, California"),
    ("Portland, Oregon", "Portland, Maine"),
    ("Atlanta, Georgia", "Atlanta, Texas"),
    ("Paris", "Paris, Texas"),
    ("Melbourne, Florida", "Melbourne"),
    ("Los Angeles, Chile", "Los Angeles"),
    ("Utrecht", "Utrecht, Atlantis"),
    ("Hilton, UK", "Hilton"),
    ("Museum, Norway", "Museum"),
    ("Union Station, Toronto", "Union Station"),
    ("World Center Hotel, New York", "World Center Hotel"),
    ("Spokane, Washington", "Spokane"),
    ("Hotel Norway", "Hotel"),
    ("Air France", "Air"),
    ("Mexico City", "Mexico"),
    ("Kansas City", "Kansas"),
    ("New York", "Newark"),
    ("New York", "York"),
    ("Los Angeles", "LAX"),
    ("Los Angeles", "Los Angeles Airport"),
    ("LAX", "lax"),
    ("JFK", "LGA"),
    ("London Heathrow Airport", "London Gatwick Airport"),
    ("Tokyo Narita Airport", "Tokyo Haneda Airport"),
    ("London Airport", "Heathrow Airport"),
    ("Orlando International Airport", "Orlando Sanford International Airport"),
    ("Billings Logan International Airport", "Logan International Airport"),
    ("2405 Pine St", "2405 Pine Rd"),
    ("30 ft", "30 fort"),
    ("South Boston Hotel", "Boston South Hotel"),
    ("Lake Forest Hotel", "Forest Lake Hotel"),
    ("London to Paris", "Paris to London"),
    ("Oslo, Bergen", "Bergen, Oslo"),
    ("University of Washington", "Washington University"),
    ("", "Norway"),
    (",", ", Norway"),
    ("x" * 301, "x" * 301),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_names_of_one_place(one: str, other: str) -> None:
    assert is_same_place(one, other)
    assert is_same_place(other, one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_names_of_two_places(one: str, other: str) -> None:
    assert not is_same_place(one, other)
    assert not is_same_place(other, one)


NAMES = st.sampled_from(sorted({name for pair in (*SAME, *DIFFERENT) for name in pair if len(name) < 100}))


@given(NAMES | st.text(st.characters(codec=None)), NAMES | st.text(st.characters(codec=None)))
def test_being_the_same_place_goes_both_ways(one: str, other: str) -> None:
    assert is_same_place(one, other) is is_same_place(other, one)
    if split_words(one):
        assert is_same_place(one, one)
