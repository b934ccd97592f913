"""The table of places holds together."""

from __future__ import annotations

from pytest_fcbench.matchers.equivalence import gazetteer
from pytest_fcbench.matchers.equivalence.gazetteer import Region, can_be_same
from pytest_fcbench.matchers.equivalence.words import split_words


def test_every_region_is_in_the_table() -> None:
    codes = gazetteer.read_region_codes()
    known = [*gazetteer.read_cities().values(), *gazetteer.read_airports().values()]
    assert len(known) > 200
    for place in known:
        assert codes[place.region.country]
        if place.region.state:
            assert place.region in codes[place.region.state]


def test_no_name_is_given_twice() -> None:
    """A later row would silently take the name of an earlier one."""
    rows = [*gazetteer._read_rows("cities")]
    names = [name for _, given in rows for name in {split_words(name) for name in given}]
    assert len(names) == len(set(names))
    airports = [
        name
        for known, given in gazetteer._read_airports()
        for name in {frozenset(split_words(n)) for n in given}
    ]
    assert len(airports) == len(set(airports))
    assert [name for name, where in gazetteer.read_regions().items() if len(where) > 1] == [("georgia",)]


def test_what_can_be_one_place() -> None:
    norway, usa, texas, maine = Region("NO"), Region("US"), Region("US", "TX"), Region("US", "ME")
    for one, other, fit in (
        (None, texas, True),
        (texas, texas, True),
        (usa, texas, True),
        (maine, texas, False),
        (norway, usa, False),
        (norway, texas, False),
    ):
        assert can_be_same(one, other) is can_be_same(other, one) is fit


def test_codes_mean_what_is_most_usual_first() -> None:
    codes = gazetteer.read_region_codes()
    assert codes["CA"] == (Region("US", "CA"), Region("CA"))
    assert codes["WA"] == (Region("US", "WA"), Region("AU", "WA"))
    assert codes["NO"] == (Region("NO"),)
    assert codes["UK"] == (Region("GB"),)
