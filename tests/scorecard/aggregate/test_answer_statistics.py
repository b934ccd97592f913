"""Cost and latency: sums of what is known, and the official statistics of latencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, replace
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.transcript import AuxiliaryCall, Completion, Ending, Party, completion_to_json
from pytest_fcbench.domain.verdict import Failed, Passed, Verdict
from pytest_fcbench.scorecard.aggregate.answer_statistics import (
    CostLatency,
    describe_endings,
    describe_protocol_notes,
    describe_unusable_answers,
    measure_beside_records,
    measure_bill,
    measure_usage,
)
from pytest_fcbench.scorecard.record import EarlierConversation, Record, Usage
from tests.cases import each_case
from tests.factories import make_record

NOTHING = CostLatency(0, 0, *[None] * 8)


def _measure_steps(*steps: Usage) -> CostLatency:
    """Measure one Record with these steps."""
    return measure_usage([make_record(steps=steps)])


def _measure_latencies(*seconds: float | None) -> CostLatency:
    return _measure_steps(*(Usage(latency_s=value) for value in seconds))


def test_sums_and_means_of_a_run() -> None:
    records = [
        make_record(steps=[Usage(1.0, 100, 10, 0.001), Usage(2.0, 300, 20, 0.003)]),
        make_record(number=1, steps=[Usage(6.0, 200, 30, 0.002)]),
    ]
    assert asdict(measure_usage(records)) == {
        "steps": 3,
        "priced": 3,
        "input_tokens": 600,
        "output_tokens": 60,
        "usd": pytest.approx(0.006),
        "usd_per_1000_calls": pytest.approx(2.0),
        "latency_mean_s": 3.0,
        "latency_std_s": pytest.approx(sqrt(7)),  # (4 + 1 + 9) / (3 - 1)
        "latency_p50_s": 2.0,
        "latency_p95_s": pytest.approx(5.6),  # 0.95 x 2 = 1.9: nine tenths of the way from 2 to 6
        "cached_tokens": None,
        "cache_write_tokens": None,
        "reasoning_tokens": None,
    }


def test_parts_of_tokens_are_summed_where_they_are_known() -> None:
    known = Usage(1.0, 100, 10, 0.1, cached_tokens=40, cache_write_tokens=5, reasoning_tokens=3)
    found = _measure_steps(known, Usage(1.0, 50, 10, 0.1, cached_tokens=2), Usage(1.0, 50, 10, 0.1))
    assert (found.cached_tokens, found.cache_write_tokens, found.reasoning_tokens) == (42, 5, 3)


@each_case(
    "records",
    [
        pytest.param([], id="no records"),
        pytest.param([make_record()], id="no steps"),
        pytest.param([make_record(steps=[Usage(), Usage()])], id="nothing known"),
        pytest.param([make_record(steps=[Usage(latency_s=0.0)])], id="no time"),
    ],
)
def test_where_nothing_is_known_all_is_none(records: list[Record]) -> None:
    assert measure_usage(records) == NOTHING


def test_one_value_has_no_deviation() -> None:
    found = _measure_steps(Usage(1.5, 7, 2, 0.25))
    assert astuple(found) == (1, 1, 7, 2, 0.25, 250.0, 1.5, None, 1.5, 1.5, None, None, None)


def test_each_sum_is_over_the_steps_that_know_their_value() -> None:
    found = _measure_steps(
        Usage(input_tokens=10), Usage(output_tokens=3), Usage(usd=0.5), Usage(latency_s=2.0), Usage()
    )
    assert (found.steps, found.priced, found.input_tokens, found.output_tokens) == (4, 1, 10, 3)
    assert (found.usd, found.usd_per_1000_calls) == (0.5, 500.0)


def test_what_costs_nothing_is_known_to_cost_nothing() -> None:
    found = _measure_steps(Usage(usd=0.0), Usage(usd=0.0))
    assert (found.steps, found.priced, found.usd, found.usd_per_1000_calls) == (2, 2, 0.0, 0.0)


def test_latencies_of_zero_are_dropped_as_officially() -> None:
    assert _measure_latencies(0.0, 4.0, None, 2.0, 0.0) == _measure_latencies(4.0, 2.0)
    assert _measure_latencies(4.0, 2.0).latency_mean_s == 3.0


@each_case(
    ("seconds", "p50", "p95"),
    [
        pytest.param([1, 2], 1.5, 1.95, id="between two"),
        pytest.param([10, 1, 3, 2], 2.5, 8.95, id="2.85 of 3 steps: 3 + 0.85 x 7"),
        pytest.param([5, 4, 3, 2, 1], 3, 4.8, id="3.8 of 4 steps"),
        pytest.param(range(1, 22), 11, 20, id="on a value"),
        pytest.param(range(1, 101), 50.5, 95.05, id="94.05 of 99 steps"),
        pytest.param([7, 7, 7], 7, 7, id="all the same"),
    ],
)
def test_percentiles_interpolate_as_officially(seconds: list[float], p50: float, p95: float) -> None:
    found = _measure_latencies(*seconds)
    assert found.latency_p50_s == pytest.approx(p50)
    assert found.latency_p95_s == pytest.approx(p95)


def test_percentile_and_deviation_are_not_those_of_other_rules() -> None:
    """The nearest value would be 10, and the deviation of a population the root of 50 / 4."""
    assert _measure_latencies(1, 2, 3, 10).latency_p95_s == pytest.approx(8.95)
    assert _measure_latencies(1, 2, 3, 10).latency_std_s == pytest.approx(sqrt(50 / 3))


_STEP = st.builds(
    Usage,
    st.none() | st.floats(0, 1e4),
    st.none() | st.integers(0, 10**6),
    st.none() | st.integers(0, 10**6),
    st.none() | st.floats(0, 10),
)
_RECORDS = st.lists(
    st.builds(lambda steps: make_record(steps=steps), st.lists(_STEP, max_size=3)), max_size=12
)


@given(_RECORDS)
def test_latencies_lie_in_their_range(records: list[Record]) -> None:
    seconds = [step.latency_s for record in records for step in record.steps if step.latency_s]
    found = measure_usage(records)
    for value in (found.latency_mean_s, found.latency_p50_s, found.latency_p95_s):
        assert (value is None) == (not seconds)
        if value is not None:
            assert min(seconds) * (1 - 1e-9) <= value <= max(seconds) * (1 + 1e-9)
    assert (found.latency_std_s is None) == (len(seconds) < 2)


@given(_RECORDS, st.integers(0, 12))
def test_the_parts_of_a_run_sum_up(records: list[Record], cut: int) -> None:
    whole, one, other = (measure_usage(part) for part in (records, records[:cut], records[cut:]))
    assert whole.steps == one.steps + other.steps
    assert whole.priced == one.priced + other.priced
    assert (whole.input_tokens or 0) == (one.input_tokens or 0) + (other.input_tokens or 0)
    assert (whole.output_tokens or 0) == (one.output_tokens or 0) + (other.output_tokens or 0)
    assert (whole.usd or 0) == pytest.approx((one.usd or 0) + (other.usd or 0))


@given(_RECORDS.flatmap(lambda records: st.tuples(st.just(records), st.permutations(records))))
def test_the_order_of_records_does_not_matter(orders: tuple[list[Record], list[Record]]) -> None:
    assert measure_usage(orders[0]) == measure_usage(orders[1])


# What is no step of a Record


def make_aside(party: Party, tokens: int | None, usd: float | None = None) -> AuxiliaryCall:
    return AuxiliaryCall(
        party, "digest", Completion(input_tokens=tokens, output_tokens=1, latency_s=2.0), usd
    )


def test_other_parties_are_summed_by_name() -> None:
    records = [
        replace(make_record(), asides=(make_aside(Party.SIMILARITY, 5), make_aside(Party.JUDGE, 10, 0.5))),
        replace(make_record(number=1), asides=(make_aside(Party.JUDGE, 30, 0.25),)),
    ]
    found = measure_beside_records(records)
    assert list(found) == sorted((Party.JUDGE, Party.SIMILARITY))
    judge = found[Party.JUDGE]
    assert (judge.steps, judge.input_tokens, judge.output_tokens, judge.usd) == (2, 40, 2, 0.75)
    assert judge.latency_mean_s == 2.0
    assert found[Party.SIMILARITY].input_tokens == 5


def test_searches_have_no_tokens_and_no_row() -> None:
    record = replace(make_record(), asides=(make_aside(Party.WEB, None), make_aside(Party.JUDGE, 1)))
    assert list(measure_beside_records([record])) == [Party.JUDGE]


def test_earlier_conversations_come_first() -> None:
    earlier = [
        EarlierConversation("core:a", (Usage(1.0, 10, 1, 0.1), Usage(1.0, 20, 2, 0.1)), ()),
        EarlierConversation("core:b", (Usage(1.0, 30, 3, 0.1),), ()),
    ]
    record = replace(make_record(), asides=(make_aside(Party.JUDGE, 1),))
    found = measure_beside_records([record], earlier)
    assert list(found) == ["earlier conversations", Party.JUDGE]
    held = found["earlier conversations"]
    assert (held.steps, held.input_tokens, held.output_tokens) == (3, 60, 6)


def test_nothing_beside_records_is_nothing() -> None:
    assert measure_beside_records([make_record()]) == {}


def test_a_party_that_counts_no_tokens_has_its_seconds_and_dollars() -> None:
    """Such as a judge on a server that is paid by the hour."""
    record = replace(make_record(), asides=(make_aside(Party.JUDGE, None, 0.5),))
    judge = measure_beside_records([record])[Party.JUDGE]
    assert (judge.steps, judge.usd, judge.latency_mean_s) == (1, 0.5, 2.0)


# The bill

EARLIER = [EarlierConversation("core:a", (Usage(5.0, 10, 1, 0.25), Usage(5.0, 20, 2, 0.25)), ())]
STEP = Usage(1.0, 100, 10, 0.5)


def test_the_bill_of_a_model_alone_is_its_usage() -> None:
    records = [make_record(steps=[STEP, STEP]), make_record(number=1, steps=[Usage(2.0, 1, 1)])]
    assert measure_bill(records) == measure_usage(records)
    assert measure_bill([]) == NOTHING


def test_earlier_conversations_are_on_the_bill() -> None:
    bill = measure_bill([make_record(steps=[STEP])], EARLIER)
    assert (bill.steps, bill.priced, bill.input_tokens, bill.usd) == (3, 3, 130, 1.0)
    assert bill.usd_per_1000_calls == pytest.approx(1000 / 3)


def test_a_judge_is_on_the_bill_and_its_calls_are_none_of_the_model() -> None:
    record = replace(make_record(steps=[STEP]), asides=(make_aside(Party.JUDGE, 10, 0.25),) * 2)
    bill = measure_bill([record])
    assert (bill.steps, bill.priced, bill.output_tokens, bill.usd) == (3, 3, 12, 1.0)
    assert bill.usd_per_1000_calls == 1000.0


def test_a_judge_without_a_price_leaves_the_bill_open() -> None:
    record = replace(make_record(steps=[STEP]), asides=(make_aside(Party.JUDGE, 10),))
    bill = measure_bill([record])
    assert (bill.steps, bill.priced, bill.usd) == (2, 1, 0.5)


def test_searches_of_the_web_are_not_on_the_bill() -> None:
    record = replace(make_record(steps=[STEP]), asides=(make_aside(Party.WEB, None),))
    assert measure_bill([record]) == measure_usage([record])


def test_latencies_of_the_bill_are_those_of_the_records() -> None:
    record = replace(make_record(steps=[STEP]), asides=(make_aside(Party.JUDGE, 10, 0.25),))
    assert measure_bill([record], EARLIER).latency_mean_s == 1.0


def make_ended(number: int, *endings: Ending | None) -> Record:
    turn: tuple[Mapping[str, object], ...] = tuple(
        completion_to_json(Completion(text="a", ending=each)) for each in endings
    )
    return replace(make_record(Passed(), number=number), turns=(turn,))


def test_answers_are_counted_over_all_steps() -> None:
    records = [make_ended(0, Ending.CUT, None), make_ended(1, Ending.CUT, Ending.FILTERED)]
    cut, filtered = describe_endings(records)
    assert cut.startswith("2 answers cut at the limit of tokens; raise --fcbench-max-tokens")
    assert filtered.startswith("1 answer stopped by the provider's content filter")


def test_every_ending_is_told() -> None:
    assert len(describe_endings([make_ended(0, *Ending)])) == len(Ending)


def test_answers_that_end_by_themselves_are_not() -> None:
    assert describe_endings([make_ended(0, None, None)]) == []


def make_noted(number: int, *answers: tuple[str, ...]) -> Record:
    turn = tuple(completion_to_json(Completion(text="a", protocol=protocol)) for protocol in answers)
    return replace(make_record(number=number), turns=(turn,))


def test_answers_are_counted_for_each_code() -> None:
    records = [
        make_noted(0, ("no_done", "stream_index"), ()),
        make_noted(1, ("stream_index", "cut_stream"), ("newer",)),
    ]
    told = describe_protocol_notes(records)
    assert [line.partition(":")[0] for line in told] == [
        "the server broke the protocol in 2 answers (stream_index)",
        "the server broke the protocol in 1 answer (no_done)",
        "the server failed before it gave 1 answer (cut_stream)",
        "the server broke the protocol in 1 answer (newer)",
    ]


def test_servers_that_keep_to_it_are_not_told_of() -> None:
    assert describe_protocol_notes([make_noted(0, (), ())]) == []


EMPTY: Mapping[str, object] = {"text": " ", "tool_calls": None, "reasoning": "so ...", "fault": None}
WORDS: Mapping[str, object] = {
    "text": "I would call f.",
    "tool_calls": None,
    "reasoning": None,
    "fault": None,
}
CALL: Mapping[str, object] = {**EMPTY, "tool_calls": [{"f": "{}"}]}
WRONG = Failed("simple_function_checker:wrong_count", "no call")
UNREADABLE = Failed("ast_decoder:decoder_failed", "no list")


def make_records(
    answers: Sequence[Mapping[str, object]],
    verdict: Verdict = WRONG,
    category: str = "simple_python",
    mode: str = "fc",
) -> list[Record]:
    """Make a Record for each answer."""
    syntax = "tool_calls" if mode == "fc" else "python"
    return [
        replace(
            make_record(verdict, number=number, category=category),
            turns=((answer,),),
            mode=mode,
            syntax=syntax,
        )
        for number, answer in enumerate(answers)
    ]


def test_answers_that_are_all_empty_are_told() -> None:
    told = describe_unusable_answers(make_records([EMPTY] * 19 + [{**EMPTY, "text": None}]))
    assert told == (
        "every answer of 20 entries that expect calls is empty; raise --fcbench-max-tokens if the model "
        "reasons first, or look at what the server logs"
    )


def test_a_context_that_is_too_short_for_a_tenth_of_the_entries_is_told() -> None:
    overflow = {**EMPTY, "text": None, "fault": "context_overflow"}
    told = describe_unusable_answers(make_records([overflow] * 3 + [CALL] * 27))
    assert told == (
        "3 of 30 entries outgrew the context and count as wrong; if the model can read more, start the "
        "server with a longer context (vLLM: --max-model-len; llama.cpp: -c; llama-cpp-python: --n_ctx)"
    )
    assert "2 of 20 entries" in (describe_unusable_answers(make_records([overflow] * 2 + [CALL] * 18)) or "")
    assert describe_unusable_answers(make_records([overflow] * 3 + [CALL] * 28)) is None
    assert describe_unusable_answers(make_records([overflow] * 19)) is None


def test_answers_without_any_tool_call_are_told_with_the_switches_of_servers() -> None:
    told = describe_unusable_answers(make_records([WORDS] * 19 + [EMPTY]))
    assert told is not None
    assert told.startswith("no answer of 20 entries that expect calls contains a tool call; let the server")
    assert "vLLM: --enable-auto-tool-choice and --tool-call-parser" in told
    assert told.endswith("or ask in words with --fcbench-mode=prompt")


def test_texts_that_can_never_be_read_are_told_with_the_options() -> None:
    told = describe_unusable_answers(make_records([WORDS] * 20, UNREADABLE, mode="prompt"))
    assert told is not None
    assert told.startswith(
        "no answer of 20 entries that expect calls can be read as calls; choose the syntax"
    )


@each_case(
    "records",
    [
        make_records([WORDS] * 19),
        make_records([*[WORDS] * 20, CALL]),
        make_records([*[EMPTY] * 20, CALL]),
        make_records([WORDS] * 40, Passed(), category="irrelevance"),
        make_records([WORDS] * 40, WRONG, mode="prompt"),
        [replace(record, syntax="python") for record in make_records([WORDS] * 40)],
        [make_record(WRONG, number=number) for number in range(40)],
        [],
    ],
    ids=[
        "too few",
        "one call",
        "one call, else empty",
        "no call is right",
        "readable",
        "calls in the text beside tools",
        "not answered",
        "none",
    ],
)
def test_nothing_is_told_where_some_are_usable_or_too_few(records: list[Record]) -> None:
    assert describe_unusable_answers(records) is None


def test_one_readable_text_is_enough() -> None:
    records = make_records([WORDS] * 20, UNREADABLE, mode="prompt")
    readable = make_records([WORDS], WRONG, mode="prompt")
    assert describe_unusable_answers([*records, *readable]) is None
