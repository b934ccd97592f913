"""Two sets compared: against scipy, with differences that are there and that are not."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_fcbench.domain.entry import Message
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.tools.contamination_study import (
    LIMITS,
    MeasureComparison,
    Study,
    Summary,
    TextMeasure,
    build_text,
    collect_distinct_texts,
    compare_sets,
    describe_finding,
    measure_text,
    rank_test,
    render_study,
    tabulate_study,
)
from tests.cases import each_case
from tests.factories import make_entry, make_multi_turn

VALUES = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=30)


@given(VALUES, VALUES)
def test_ranks_are_tested_as_by_scipy(a: list[float], b: list[float]) -> None:
    share, p = rank_test(a, b)
    if len({*a, *b}) == 1:
        assert (share, p) == (0.5, 1.0)
        return
    known = stats.mannwhitneyu(b, a, method="asymptotic")
    assert share == pytest.approx(float(known.statistic) / (len(a) * len(b)))
    assert p == pytest.approx(float(known.pvalue))


@given(VALUES, VALUES)
def test_ranks_of_the_sets_in_the_other_order(a: list[float], b: list[float]) -> None:
    share, p = rank_test(a, b)
    assert rank_test(b, a) == pytest.approx((1 - share, p))


def make_measures(mean: float, number: int = 80, seed: int = 0, characters: int = 4) -> list[TextMeasure]:
    """Make measures of texts of 20 tokens with so many nats each, more or less."""
    chance = Random(seed)
    return [
        TextMeasure(f"core:x_{n}", "x", 20 * characters, 20, 20 * max(0.1, chance.gauss(mean, 0.3)))
        for n in range(number)
    ]


def compare_measures(
    a: Sequence[TextMeasure], b: Sequence[TextMeasure]
) -> tuple[MeasureComparison, MeasureComparison]:
    perplexity, characters = compare_sets(a, b)
    assert (perplexity.measure, characters.measure) == ("perplexity", "nats per character")
    return perplexity, characters


def test_sets_compared_by_hand() -> None:
    """Perplexities 2, 4 and 8 against 16; of each text half as many characters as tokens."""
    a = [TextMeasure(f"c:{n}", "x", 5, 10, 10 * n * math.log(2)) for n in (1, 2, 3)]
    b = [TextMeasure("c:4", "x", 5, 10, 10 * 4 * math.log(2))]
    perplexity, characters = compare_measures(a, b)
    assert (perplexity.a.n, perplexity.b.n) == (3, 1)
    assert [perplexity.a.mean, perplexity.a.median, perplexity.b.mean] == pytest.approx([14 / 3, 4, 16])
    low, high = read_limits(perplexity.a)
    assert 1.999 < low < 14 / 3 < high < 8.001
    assert (perplexity.b.low, perplexity.b.high, perplexity.low, perplexity.high) == (None,) * 4
    assert perplexity.difference == pytest.approx(14 / 3 - 16)
    assert perplexity.share == 1.0
    assert characters.a.mean == pytest.approx(2 * 2 * math.log(2))


def read_limits(found: Summary | MeasureComparison) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def test_a_planted_difference_is_found() -> None:
    for which, (a, b) in (
        ("a", (make_measures(2.0), make_measures(2.5, seed=1))),
        ("b", (make_measures(2.5), make_measures(2.0, seed=1))),
    ):
        for comparison in compare_measures(a, b):
            assert comparison.lower == which
            low, high = read_limits(comparison)
            assert (high < 0) if which == "a" else (low > 0)
            assert low < comparison.difference < high


def test_where_there_is_none_none_is_found() -> None:
    for comparison in compare_measures(make_measures(2.0), make_measures(2.0, seed=1)):
        assert comparison.lower is None
        low, high = read_limits(comparison)
        assert low < 0 < high


def test_the_same_texts_do_not_differ_at_all() -> None:
    for comparison in compare_measures(make_measures(2.0), make_measures(2.0)):
        assert (comparison.difference, comparison.share) == (0, 0.5)
        assert comparison.p == pytest.approx(1)


def test_chance_finds_something_about_as_often_as_it_should() -> None:
    found = sum(
        rank_test(
            [m.nats for m in make_measures(2, 30, 2 * n)], [m.nats for m in make_measures(2, 30, 2 * n + 1)]
        )[1]
        < 0.05
        for n in range(400)
    )
    assert 8 <= found <= 34, "5 % of 400 is 20, with a standard deviation of 4.4"


def test_the_interval_is_about_that_of_the_normal_distribution() -> None:
    a = make_measures(2.0, 400)
    _, characters = compare_measures(a, make_measures(2.0, seed=1))
    values = [measure.nats_per_character for measure in a]
    known = stats.t.interval(0.95, len(a) - 1, characters.a.mean, stats.sem(values))
    assert read_limits(characters.a) == pytest.approx(known, rel=2e-3)


def test_the_order_of_texts_does_not_matter() -> None:
    a, b = make_measures(2.0, 20), make_measures(2.2, 20, 1)
    assert compare_sets(a[::-1], [*b[7:], *b[:7]]) == compare_sets(a, b)


def test_what_is_found_in_words() -> None:
    low, high = make_measures(2.0), make_measures(2.5, seed=1)
    assert describe_finding(compare_sets(low, high), "A", "B") == (
        "A surprises the model less than B does, by both measures and by more than chance "
        "(by ranks, perplexity p < 0.0001, nats per character p < 0.0001). Training on A "
        "would explain this, but other causes are possible."
    )
    assert describe_finding(compare_sets(high, low), "A", "B").startswith(
        "B surprises the model less than A does"
    )
    assert "no sign that the model knows one better" in describe_finding(compare_sets(low, low), "A", "B")
    # More nats a token, but so long tokens that it is less a character.
    mixed = describe_finding(compare_sets(make_measures(2.5, characters=9), low), "A", "B")
    assert mixed.startswith("The two measures disagree (by ranks, perplexity p < 0.0001, ")


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


@each_case("first", [None, 0, 0.0, -0.0])
def test_the_first_token_counts_only_with_a_probability(first: float | None) -> None:
    assert measure_text(ENTRY, "ab", [first, HALF]).perplexity == pytest.approx(2)
    assert measure_text(ENTRY, "ab", [EIGHTH, HALF]).perplexity == pytest.approx(4)


def test_how_a_text_is_cut_does_not_change_nats_per_character() -> None:
    coarse, fine = (
        measure_text(ENTRY, "abcd", [None, *values]) for values in ([2 * EIGHTH], [EIGHTH, EIGHTH])
    )
    assert coarse.nats_per_character == fine.nats_per_character
    assert coarse.perplexity == pytest.approx(fine.perplexity**2)


@each_case(("text", "characters"), [("é", 1), ("e\u0301", 2), ("日本", 2), ("👩‍🚀", 3), ("\ud800", 1)])
def test_characters_are_code_points(text: str, characters: int) -> None:
    assert measure_text(ENTRY, text, [HALF]).characters == characters


@each_case(
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


HOSTILE = "<script>$x^{$\x1b[31m\ud800"


def make_study(model: str = "m", b: list[TextMeasure] | None = None) -> Study:
    sets = {"core:non_live": make_measures(2.0, 5), "core:live": b or make_measures(2.5, 4, 1)}
    late = {"core:x_9": NotScoredError("timeout", "no answer within 1 s")}
    return Study(model, "vllm", "the user's words", sets, late, compare_sets(*sets.values()))


def test_the_table_has_both_sets_and_their_difference() -> None:
    found = tabulate_study(make_study())
    assert found.title == "How surprising the user's words are to m"
    assert [row[:3] for row in found.rows] == [
        (measure, name, number)
        for measure in ("perplexity", "nats per character")
        for name, number in (("core:non_live", "5"), ("core:live", "4"), ("difference", ""))
    ]
    assert re.fullmatch(r"\d+\.\d{3} to \d+\.\d{3}", found.rows[0][4])
    assert found.notes[-len(LIMITS) :] == LIMITS


def test_a_set_of_one_has_no_interval() -> None:
    assert tabulate_study(make_study(b=make_measures(2.5, 1))).rows[1][4] == "-"


def test_a_row_for_each_text() -> None:
    rows = list(csv.DictReader(io.StringIO(render_study(make_study(), Path("x.csv")))))
    assert len(rows) == 9
    assert rows[0] == {
        "set": "core:non_live",
        "entry": "core:x_0",
        "category": "x",
        "characters": "80",
        "tokens": "20",
        # 45.65029 nats of 20 tokens: e to the power of 2.2825145, and 45.65029 / 80
        "perplexity": "9.8013",
        "nats per character": "0.570629",
    }


def test_json_has_sets_comparisons_texts_and_failures() -> None:
    found = json.loads(render_study(make_study(), Path("x.json")))
    assert found["schema"] == "fcbench-contamination/1"
    assert (found["model"], found["endpoint"], found["text"]) == ("m", "vllm", "the user's words")
    assert found["sets"] == ["core:non_live", "core:live"]
    assert [comparison["measure"] for comparison in found["comparisons"]] == [
        "perplexity",
        "nats per character",
    ]
    assert found["comparisons"][0]["a"]["n"] == 5
    assert len(found["texts"]["core:live"]) == 4
    assert found["texts"]["core:live"][0]["perplexity"] > 1
    assert found["unmeasured"] == {"core:x_9": {"cause": "timeout", "reason": "no answer within 1 s"}}


def test_a_page_of_its_own() -> None:
    page = html.unescape(render_study(make_study(), Path("x.html")))
    assert "default-src 'none'" in page
    assert page.count("<svg") == 1
    marks = [len(re.findall(f"<polygon [^>]*fill-s{series}", page)) for series in (0, 1)]
    assert marks == [5 + 1, 4 + 1], "one for each text and one in the legend"
    assert "Perplexity against nats per character, core:non_live and core:live; " in page
    assert "nats per character" in page
    assert page.count("<script") == 1, "that of this package, which the policy allows by its hash"
    outside = set(re.findall(r"""(?:href|src)=["']([^"']+)""", page))
    assert all(link.startswith("#") or link == "data:," for link in outside)


@pytest.mark.parametrize("ending", [".html", ".csv", ".json"])
def test_the_same_study_gives_the_same_file(ending: str) -> None:
    assert render_study(make_study(), Path(f"x{ending}")) == render_study(make_study(), Path(f"x{ending}"))


def test_hostile_names_are_text() -> None:
    page = render_study(make_study(HOSTILE), Path("x.html"))
    assert page.count("<script") == 1
    assert "\x1b" not in page
    assert "&lt;script&gt;$x^{$" in page
