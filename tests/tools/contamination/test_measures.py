"""How much a text surprises, computed by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import Message
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.tools.contamination.measures import (
    TextMeasure,
    build_text,
    collect_distinct_texts,
    measure_text,
)
from tests.factories import make_entry, make_multi_turn

ENTRY = make_entry()
HALF, EIGHTH = math.log(1 / 2), math.log(1 / 8)


def test_a_text_measured_by_hand() -> None:
    """One token of 1/2 and one of 1/8: their geometric mean is 1/4."""
    found = measure_text(ENTRY, "a bcd ef", [None, HALF, EIGHTH])
    assert (found.entry, found.category) == (ENTRY.key, "simple_python")
    assert (found.characters, found.tokens) == (8, 2)
    assert found.nats == pytest.approx(math.log(16))
    assert found.perplexity == pytest.approx(4)
    assert found.nats_per_character == pytest.approx(math.log(16) / 8)
    assert found.nats_per_character / math.log(2) == pytest.approx(4 / 8), "bits"


@pytest.mark.parametrize("first", [None, 0, 0.0, -0.0])
def test_the_first_token_counts_only_with_a_probability(first: float | None) -> None:
    assert measure_text(ENTRY, "ab", [first, HALF]).perplexity == pytest.approx(2)
    assert measure_text(ENTRY, "ab", [EIGHTH, HALF]).perplexity == pytest.approx(4)


def test_how_a_text_is_cut_does_not_change_nats_per_character() -> None:
    coarse, fine = (
        measure_text(ENTRY, "abcd", [None, *values]) for values in ([2 * EIGHTH], [EIGHTH, EIGHTH])
    )
    assert coarse.nats_per_character == fine.nats_per_character
    assert coarse.perplexity == pytest.approx(fine.perplexity**2)


@pytest.mark.parametrize(
    ("text", "characters"), [("é", 1), ("e\u0301", 2), ("日本", 2), ("👩‍🚀", 3), ("\ud800", 1)]
)
def test_characters_are_code_points(text: str, characters: int) -> None:
    assert measure_text(ENTRY, text, [HALF]).characters == characters


@pytest.mark.parametrize(
    ("logprobs", "cause", "reason"),
    [
        ([], "too_short", "no token has a probability"),
        ([None], "too_short", "no token has a probability"),
        ([0.0], "too_short", "no token has a probability"),
        ([None, HALF, None], "no_logprobs", "token 3 of 3 has no probability"),
        ([None, None], "no_logprobs", "token 2 of 2 has no probability"),
        ([None, math.nan], "no_number", "the log-probability of token 2 of 2 is nan"),
        ([None, HALF, -math.inf], "no_number", "the log-probability of token 3 of 3 is -inf"),
        ([math.nan, HALF], "no_number", "the log-probability of token 1 of 2 is nan"),
        ([None, -9999.0], "no_number", "the log-probability of token 2 of 2 is -9999"),
        ([None, 0.5], "no_number", "the log-probability of token 2 of 2 is 0.5"),
    ],
)
def test_what_cannot_be_measured(logprobs: list[float | None], cause: str, reason: str) -> None:
    with pytest.raises(NotScoredError) as caught:
        measure_text(ENTRY, "text", logprobs)
    assert (caught.value.cause, caught.value.reason) == (cause, reason)


def test_rounding_above_zero_is_certainty() -> None:
    assert measure_text(ENTRY, "ab", [None, 1e-7]) == TextMeasure(ENTRY.key, "simple_python", 2, 1, 0.0)


LOGPROBS = st.lists(st.floats(-700, 0), min_size=1, max_size=50)


@given(LOGPROBS, st.randoms(use_true_random=False))
def test_the_order_of_tokens_does_not_matter(logprobs: list[float], random: object) -> None:
    shuffled = sorted(logprobs)
    assert measure_text(ENTRY, "text", [None, *logprobs]) == measure_text(ENTRY, "text", [None, *shuffled])


@given(LOGPROBS)
def test_a_perplexity_is_a_number_from_1_on(logprobs: list[float]) -> None:
    found = measure_text(ENTRY, "text", [None, *logprobs])
    assert 1 <= found.perplexity < math.inf
    assert found.tokens == len(logprobs)


# Which text


def test_the_words_of_the_user_are_measured() -> None:
    entry = replace(
        make_entry(query="Where?"), turns=((Message("system", "Be kind."), Message("user", "Where?")),)
    )
    assert build_text(entry) == "Where?"
    talk = make_multi_turn(("Go.", ["f()"]), ("", []), ("Stop.", []))
    assert build_text(talk) == "Go.\nStop."


def test_function_docs_stand_before_them_as_json() -> None:
    (doc,) = ENTRY.functions
    shown, said = build_text(ENTRY, functions=True).split("\n")
    assert json.loads(shown) == {
        "name": doc.name,
        "description": doc.description,
        "parameters": doc.parameters,
    }
    assert said == "What will the weather in Bergen be?"


def test_a_text_counts_once_and_none_not_at_all() -> None:
    first, again = make_entry(entry_id="a"), make_entry(entry_id="b")
    silent = make_multi_turn(("", ["f()"]), entry_id="c")
    blank = make_entry(query=" \n", entry_id="d")
    found = collect_distinct_texts([first, silent, again, blank])
    assert found == {"What will the weather in Bergen be?": first}
    assert collect_distinct_texts([silent], functions=True) == {}
