"""Two writings of a text have the same words, two texts do not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.judging.words import is_code, spell_umlauts, split_words, turn_name
from tests.cases import each_case


@each_case(
    ("one", "other", "words"),
    [
        ("Sagrada Família", "sagrada familia", "sagrada familia"),
        ("TOKYO  Tower\n", "Tokyo Tower", "tokyo tower"),
        ("Tokyo\u200b Tower", "Tokyo Tower", "tokyo tower"),
        ("Ｔｏｋｙｏ", "Tokyo", "tokyo"),
        ("Straße", "STRASSE", "strasse"),
        ("Tromsø", "Tromso", "tromso"),
        ("Seattle–Tacoma", "Seattle-Tacoma", "seattle tacoma"),
        ("King's Cross", "Kings Cross", "kings cross"),
        ("O’Hare", "O'Hare", "ohare"),
        ("U.S.A.", "USA", "usa"),
        ("John F. Kennedy", "John F Kennedy", "john f kennedy"),
        ("the Louvre", "Louvre", "louvre"),
        ("a hotel by the sea", "hotel by the sea", "hotel by sea"),
        ("Tom & Jerry", "Tom and Jerry", "tom and jerry"),
        ("City Centre", "city center", "city center"),
        ("Terminal Three", "terminal 3", "terminal 3"),
        ("Fifth Avenue", "5th avenue", "5th avenue"),
        ("5km", "5 km", "5 km"),
        ("North-East gate", "northeast gate", "northeast gate"),
        ("class_descending", "Class descending", "class descending"),
    ],
)
def test_both_writings_have_these_words(one: str, other: str, words: str) -> None:
    assert [split_words(one), split_words(other)] == [tuple(words.split())] * 2


@each_case(
    ("one", "other"),
    [
        ("C", "C++"),
        ("C++", "C#"),
        ("gate 5", "gate -5"),
        ("version 3.5", "version 35"),
        ("3/4", "34"),
        ("5²", "52"),
        ("が", "か"),
        ("й", "и"),
        ("कि", "क"),
        ("A Coruña", "Coruña"),
        ("Vitamin A", "Vitamin"),
        ("the", "a"),
        ("?", "!"),
        ("University of Washington", "Washington University"),
    ],
)
def test_what_is_not_the_same(one: str, other: str) -> None:
    assert split_words(one) != split_words(other)


@each_case("text", ["f7Gh2k", "class::3", "a@b.org", "x=1", "readme.md", "BOM.AIRPORT", "C++"])
def test_a_code_is_recognized(text: str) -> None:
    assert is_code(text)


@each_case("text", ["Bergen", "O'Hare", "7", "route 66", "AT & T", "", " ", "Fort-de-France"])
def test_ordinary_words_are_no_code(text: str) -> None:
    assert not is_code(text)


@given(st.text(st.characters(codec=None), max_size=50))
def test_blanks_around_a_text_make_no_words(text: str) -> None:
    assert split_words(text) == split_words(f"  {text}  ")


@given(st.text(st.characters(codec=None), max_size=50))
def test_a_text_of_one_letter_case_without_digits_and_signs_is_no_code(text: str) -> None:
    assert not is_code("".join(filter(str.isalpha, text.casefold())))


def test_a_first_name_behind_a_comma_goes_to_the_front() -> None:
    assert turn_name("Smith, Jane") == turn_name("Jane Smith") == ("jane", "smith")
    assert turn_name("King, Jr.") == ("king", "junior")
    assert turn_name("Smith, Jane") != turn_name("Smith, John")


@each_case(
    ("one", "other"),
    [
        ("don't", "do not"),
        ("can't", "cannot"),
        ("I'm here", "I am here"),
        ("favourite colours", "favorite colors"),
        ("organising", "organizing"),
        ("travelled", "traveled"),
        ("e-mail", "email"),
        ("Wi-Fi", "wifi"),
        ("J.R.R. Tolkien", "J. R. R. Tolkien"),
        ("Acme Corp.", "Acme Corporation"),
    ],
)
def test_other_spellings_are_the_same(one: str, other: str) -> None:
    assert split_words(one) == split_words(other)


@each_case(
    ("one", "other"),
    [("do", "do not"), ("can", "can't"), ("hour", "hor"), ("wise", "wize")],
)
def test_other_words_stay_other(one: str, other: str) -> None:
    assert split_words(one) != split_words(other)


def test_umlauts_are_written_in_two_ways() -> None:
    assert spell_umlauts("Göttingen") == ("Göttingen", "Goettingen")
    assert spell_umlauts("Go\u0308ttingen")[1:] == ("Goettingen",)
    assert [len(spell_umlauts(text)) for text in ("Goettingen", "São Paulo", "ü" * 3_000)] == [1, 1, 1]
