"""A currency is one by any name that no other has."""

from __future__ import annotations

from pytest_fcbench.judging.equivalence.named_codes import read_currency, read_language, read_rows
from tests.cases import each_case


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
