"""A language is one by its codes and names; that of a country is another one."""

from __future__ import annotations

from pytest_fcbench.judging.equivalence.languages import read_language
from tests.cases import each_case


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
