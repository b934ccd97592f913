"""The table of places holds together."""

from __future__ import annotations

import pytest

from pytest_fcbench.judging import gazetteer
from pytest_fcbench.judging.gazetteer import (
    Region,
    can_be_same,
    read_currency,
    read_language,
    read_rows,
)
from pytest_fcbench.judging.words import fold_text, split_words
from tests.cases import each_case


def test_every_region_is_in_the_table() -> None:
    codes = gazetteer.read_region_codes()
    airports = [known for known, _ in gazetteer._read_own_airports()]
    known = [*gazetteer.read_cities().values(), *airports]
    assert len(known) > 200
    for place in known:
        assert codes[place.region.country]
        if place.region.state:
            assert place.region in codes[place.region.state]


def test_no_name_is_given_twice() -> None:
    """A later row would silently take the name of an earlier one."""
    for table in ("cities", "airports", "currencies", "languages", "shared_names"):
        rows = [*read_rows(table)]
        names = [name for _, given in rows for name in {fold_text(name).casefold() for name in given}]
        assert len(names) == len(set(names)), table
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


def test_a_shared_name_is_no_well_known_city() -> None:
    assert gazetteer.read_shared_names().isdisjoint(gazetteer.read_cities())
    for name, is_shared in (("Cambridge", True), ("Birmingham", True), ("San Jose", True), ("Paris", False)):
        assert gazetteer.is_shared_name(split_words(name)) is is_shared


def test_no_airport_is_read_about_a_well_known_city(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gazetteer, "_read_airport_cities", lambda: pytest.fail("read all airports"))
    assert not gazetteer.is_shared_name(split_words("London"))


def test_a_landmark_is_in_one_city() -> None:
    names = [name for _, (_, *given) in read_rows("landmarks") for row in given for name in row.split(" = ")]
    assert len(names) == len({split_words(name) for name in names}) > 150
    landmarks = gazetteer.read_landmarks()
    assert landmarks[split_words("Louvre Paris")] == landmarks[split_words("Louvre Museum")]
    assert split_words("Louvre Abu Dhabi") not in landmarks


def test_airports_beyond_the_table_are_known() -> None:
    assert gazetteer.read_airports()[frozenset({"keflavik"})] == gazetteer.read_airport_codes()["KEF"]
    assert gazetteer.read_airport_codes()["KEF"].region == Region("IS")
    assert frozenset({"london"}) not in gazetteer.read_airports()


def test_every_country_has_its_code_of_three_letters() -> None:
    codes = gazetteer.read_country_codes()
    countries = [code for code, _ in read_rows("countries")]
    assert [code for code, _ in read_rows("country_codes")] == countries
    assert (codes["CHE"], codes["CHN"], codes["AUT"]) == (Region("CH"), Region("CN"), Region("AT"))


@each_case(
    ("code", "names"),
    [
        ("USD", ["USD", "usd", "US dollar", "U.S. Dollars", "US$", "the US dollar", "United States dollar"]),
        ("EUR", ["EUR", "euro", "Euros", "€"]),
        ("GBP", ["British pound", "pounds sterling", "£", "GBP"]),
        ("CNY", ["yuan", "renminbi", "RMB"]),
        ("AUD", ["Australian Dollar (AUD)", "A$"]),
    ],
)
def test_names_of_one_currency(code: str, names: list[str]) -> None:
    assert [read_currency(name) for name in names] == [code] * len(names)


@each_case(
    "text",
    ["dollar", "peso", "$", "¥", "franc", "rupees", "pound", "Australian dollar (USD)", "BTC", "", "((a"],
)
def test_what_names_no_currency_or_several(text: str) -> None:
    assert read_currency(text) is None


def test_every_code_has_three_letters_and_a_name() -> None:
    rows = [*read_rows("currencies")]
    assert len(rows) > 140
    assert all(len(code) == 3 and code.isupper() and names[0] for code, names in rows)


@each_case(
    ("code", "names"),
    [
        ("de", ["de", "DE", "German", "Deutsch", "deu", "ger"]),
        ("pt-br", ["pt-br", "pt_BR", "Brazilian Portuguese", "Portuguese (Brazil)", "português do Brasil"]),
        ("zh-cn", ["zh-cn", "Simplified Chinese", "Chinese (Simplified)", "zh-Hans"]),
        ("ja", ["ja", "Japanese", "日本語"]),
    ],
)
def test_names_of_one_language(code: str, names: list[str]) -> None:
    assert [read_language(name) for name in names] == [code] * len(names)


def test_a_country_makes_another_language() -> None:
    assert len({read_language(name) for name in ("English", "British English", "en-us", "en-au")}) == 4


@each_case("text", ["", "xx", "Klingon", "the", "?"])
def test_what_names_no_language(text: str) -> None:
    assert read_language(text) is None
