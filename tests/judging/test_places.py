"""Names of one place are the same, names of two are not; where nobody can tell they are not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.judging.places import is_same_place, write_out_code
from pytest_fcbench.judging.words import split_words
from tests.cases import each_case

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
    # directions in addresses, and where they make a known name
    ("540 N Michigan Ave", "540 North Michigan Avenue"),
    ("12 S.W. Pine St", "12 Southwest Pine Street"),
    ("N. Carolina", "North Carolina"),
    # spaces
    ("Disney Land Paris", "Disneyland Paris"),
    ("NewYork", "New York, NY"),
    # a landmark, and a city that a name has too
    ("Eiffel Tower", "Tour Eiffel, Paris, France"),
    ("Statue of Liberty", "Statue of Liberty, NYC"),
    ("Harbor Inn Seattle", "Harbor Inn Seattle, Seattle, WA"),
    ("Pier Inn Long Beach", "Pier Inn Long Beach, Long Beach, CA"),
    # codes that several airports share
    ("LON", "London"),
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
    ("540 N Michigan Ave", "540 S Michigan Ave"),
    ("W Hotel", "West Hotel"),
    ("Avenue N", "Avenue North"),
    ("New Castle", "Newcastle"),
    ("Eiffel Tower", "Eiffel Tower, Las Vegas"),
    ("Eiffel Tower", "Eiffel Tower, Texas"),
    ("Harbor Inn", "Harbor Inn, Seattle"),
    ("Harbor Inn London", "Harbor Inn London, Ontario"),
    ("New York Hotel", "New York Hotel, York"),
    ("London Road", "London Road, London"),
    ("", "Norway"),
    (",", ", Norway"),
    ("x" * 301, "x" * 301),
]


@each_case(("one", "other"), SAME)
def test_names_of_one_place(one: str, other: str) -> None:
    assert is_same_place(one, other)
    assert is_same_place(other, one)


@each_case(("one", "other"), DIFFERENT)
def test_names_of_two_places(one: str, other: str) -> None:
    assert not is_same_place(one, other)
    assert not is_same_place(other, one)


def test_a_code_with_its_kind_is_written_out() -> None:
    assert [write_out_code(text) for text in ("JFK.AIRPORT", "jfk.airport")] == ["JFK Airport"] * 2
    assert write_out_code("PAR.CITY") == "paris"
    assert [write_out_code(text) for text in ("XXX.CITY", "JFK", "JFK.GATE")] == [
        "XXX.CITY",
        "JFK",
        "JFK.GATE",
    ]


NAMES = st.sampled_from(sorted({name for pair in (*SAME, *DIFFERENT) for name in pair if len(name) < 100}))


@given(NAMES | st.text(st.characters(codec=None)), NAMES | st.text(st.characters(codec=None)))
def test_being_the_same_place_goes_both_ways(one: str, other: str) -> None:
    assert is_same_place(one, other) is is_same_place(other, one)
    if split_words(one):
        assert is_same_place(one, one)
