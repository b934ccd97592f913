"""A Record says what became of one entry, and comes back from JSON as it was."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import (
    AuxiliaryCall,
    CallCounts,
    Completion,
    Ending,
    Fault,
    Party,
    Step,
    Transcript,
    completion_from_json,
    completion_to_json,
)
from pytest_fcbench.domain.verdict import (
    CallVerdict,
    Difference,
    Failed,
    Judgement,
    NotScored,
    Passed,
    PathScore,
    Profile,
    Verdicts,
)
from pytest_fcbench.present.document import json_schema
from pytest_fcbench.scorecard.record import (
    Rating,
    Record,
    Usage,
    build_record,
    from_json,
    read_answer,
    sort_records,
    to_json,
    write_record,
)
from tests.cases import each_case
from tests.factories import (
    make_call_verdict,
    make_entry,
    make_path_record,
    make_path_score,
    make_record,
    make_transcript,
    tool_calls,
)

MANNER = ModelPresentation("gpt", Prompting.make_default(Mode.FC))
PASSED = Judgement.same_in_both(Passed())


@cache
def make_validator() -> jsonschema.Draft202012Validator:
    """Make the validator of a Record's JSON Schema."""
    return jsonschema.Draft202012Validator({**json_schema(), "$ref": "#/$defs/record"})


ANSWER = {"text": "x", "tool_calls": None, "reasoning": None, "fault": None}
_SAID = completion_to_json(
    Completion(finish_reason="stop", ending=Ending.REFUSED, refusal="No.", in_parts=True)
) | {"reasoning_marks": ["", "</think>"]}


def _record_completions(*completions: Completion) -> Record:
    """Return the Record of a transcript with these completions in one turn."""
    turns = (tuple(map(Step, completions)),)
    transcript = Transcript("core:simple_python_0", "gpt", Prompting.make_default(Mode.FC), turns)
    return build_record(make_entry(), MANNER, PASSED, transcript)


def _write_json(record: Record) -> dict[str, Any]:
    """Return the JSON object of a Record as a file holds it."""
    found: dict[str, Any] = json.loads(json.dumps(to_json(record)))
    return found


def test_it_says_whose_entry_and_how_it_was_asked() -> None:
    entry = make_entry("live_parallel", suite="mine", entry_id="live_parallel_3")
    assert build_record(entry, MANNER, PASSED, None) == Record(
        entry="mine:live_parallel_3",
        suite="mine",
        category="live_parallel",
        group="live",
        model="gpt",
        mode="fc",
        names="underscored",
        syntax="tool_calls",
        verdicts=Verdicts.same_in_both(Passed()),
    )


def test_latency_and_tokens_are_sums_over_all_completions() -> None:
    found = _record_completions(
        Completion(latency_s=0.5, input_tokens=10, output_tokens=3),
        Completion(latency_s=0.25, input_tokens=20),
        Completion(),
    )
    assert found.usage == Usage(0.75, 30, 3)
    assert found.steps == (Usage(0.5, 10, 3), Usage(0.25, 20), Usage())


def test_cached_and_reasoning_tokens_are_written_and_read() -> None:
    used = Completion(
        input_tokens=9, output_tokens=5, cached_tokens=4, cache_write_tokens=1, reasoning_tokens=2
    )
    judged = AuxiliaryCall(Party.JUDGE, "0f", used)
    found = replace(_record_completions(used, used), asides=(judged,))
    assert found.usage == Usage(None, 18, 10, None, 8, 2, 4)
    again = from_json(_write_json(found))
    assert (again.steps, again.asides) == (found.steps, found.asides)


def test_steps_of_older_scorecards_do_not_tell_of_cached_tokens() -> None:
    old = {"latency_s": 0.5, "input_tokens": 3, "output_tokens": 1, "usd": 0.25}
    written = {**_write_json(make_record()), "steps": [old]}
    assert from_json(written).steps == (Usage(0.5, 3, 1, 0.25),)
    make_validator().validate(written)


def test_each_step_has_its_price_where_one_is_known() -> None:
    def price_completion(completion: Completion, party: Party) -> float | None:
        per_token = {Party.MODEL: 0.5, Party.JUDGE: 2.0}.get(party)
        return per_token and completion.input_tokens and completion.input_tokens * per_token

    asides = (
        AuxiliaryCall(Party.JUDGE, "0f", Completion("ok", input_tokens=5, output_tokens=1, latency_s=0.5)),
        AuxiliaryCall(Party.WEB, "1f", Completion("page", latency_s=0.5)),
    )
    transcript = replace(make_transcript(Completion(input_tokens=3)), asides=asides)
    found = build_record(make_entry(), MANNER, PASSED, transcript, price_completion)
    assert [step.usd for step in found.steps] == [1.5] == [found.usage.usd]
    assert [aside.usd for aside in found.asides] == [10.0, None]
    written = _write_json(found)
    judged, searched = written["asides"]
    assert judged["usage"] == asdict(Usage(0.5, 5, 1, 10.0))
    assert "usage" not in searched
    assert from_json(written).asides[0] == found.asides[0]


def test_reasoning_in_a_text_stands_apart_and_the_text_comes_back() -> None:
    completion = Completion(text="<think>\nHm.\n</think>\n\n[f()]")
    found = _record_completions(completion)
    assert found.turns == (
        (
            {
                **ANSWER,
                "text": "[f()]",
                "reasoning": "Hm.",
                "reasoning_marks": ["<think>\n", "\n</think>\n\n"],
            },
        ),
    )
    assert read_answer(found.turns[0][0]) == completion
    assert from_json(_write_json(found)) == found


def test_reasoning_in_a_field_of_its_own_stays_there() -> None:
    completion = Completion(text="[f()]", reasoning="Hm.")
    (answer,) = _record_completions(completion).turns[0]
    assert answer == {**ANSWER, "text": "[f()]", "reasoning": "Hm."}
    assert read_answer(answer) == completion


@pytest.mark.parametrize("marks", ["</think>", ["</think>"], ["<think>", None]])
def test_marks_of_reasoning_are_two_texts(marks: object) -> None:
    with pytest.raises(ValueError, match="reasoning_marks: expected the two texts around the reasoning"):
        read_answer({**ANSWER, "reasoning": "Hm.", "reasoning_marks": marks})


def test_asides_of_older_scorecards_have_no_usage() -> None:
    written = {**_write_json(make_record()), "asides": [_ASIDE]}
    assert from_json(written).asides == (AuxiliaryCall(Party.JUDGE, "0f", Completion("x")),)
    broken = {**written, "asides": [{**_ASIDE, "usage": {"usd": "much"}}]}
    with pytest.raises(TypeError, match=r"the record of 'core:simple_python_0': usd.int: .* found 'much'"):
        from_json(broken)


def test_trials_are_records_of_their_own() -> None:
    entry = replace(make_entry(), trial=2)
    found = build_record(entry, MANNER, PASSED, None)
    assert (found.entry, found.trial, found.item_id) == (entry.key, 2, entry.item_id)
    assert found.item_id == "core:simple_python_0-t2"
    assert from_json(json.loads(json.dumps(to_json(found)))) == found


def test_what_is_unknown_is_none_not_zero() -> None:
    found = _record_completions(Completion(text="x"))
    assert found.usage == Usage()


def test_it_holds_the_completions_of_each_turn() -> None:
    """What they took is held apart, one for each in the same order."""
    first = (Completion(text="first", latency_s=0.5), tool_calls(("f", "{")))
    steps = (tuple(map(Step, first)), (Step(Completion(), ("f()",), ("not held",)),))
    transcript = Transcript("core:x", "gpt", Prompting.make_default(Mode.FC), steps)
    found = build_record(make_entry(), MANNER, PASSED, transcript)
    assert found.turns == (
        ({**ANSWER, "text": "first"}, {**ANSWER, "text": None, "tool_calls": [{"f": "{"}]}),
        ({**ANSWER, "text": None},),
    )
    assert found.steps == (Usage(0.5), Usage(), Usage())
    held = [[completion_from_json(answer) for answer in turn] for turn in found.turns]
    assert held == [[Completion(text="first"), first[1]], [Completion()]]


def test_without_a_transcript_it_holds_no_turn() -> None:
    assert build_record(make_entry(), MANNER, PASSED, None).turns == ()


def test_the_verdict_is_that_of_a_profile() -> None:
    found = make_record(Passed(), Failed("wrong_count", "2 calls"))
    assert found.verdict(Profile.OFFICIAL) == Passed()
    assert found.verdict(Profile.CORRECTED) == Failed("wrong_count", "2 calls")


def test_as_json_it_has_every_verdict_with_code_and_reason() -> None:
    found = make_record(Failed("wrong_count", "2 calls", {"found": 2}), NotScored("set_aside", "bad data"))
    assert _write_json(found) == {
        "entry": "core:simple_python_0",
        "suite": "core",
        "category": "simple_python",
        "group": "non_live",
        "model": "test",
        "mode": "fc",
        "names": "underscored",
        "syntax": "tool_calls",
        "verdicts": {
            "official": {
                "status": "failed",
                "code": "wrong_count",
                "reason": "2 calls",
                "details": {"found": 2},
            },
            "corrected": {"status": "not_scored", "code": "set_aside", "reason": "bad data"},
        },
        "trial": None,
        "latency_s": None,
        "input_tokens": None,
        "output_tokens": None,
        "usd": None,
        "steps": [],
        "turns": [],
        "marks": [],
        "cluster": None,
        "asides": [],
        "paths": {},
        "as_written": None,
        "rating": None,
        "stratum": None,
        "calls": None,
        "served": [],
        "streams": [],
    }
    passed = {"status": "passed", "code": None, "reason": None}
    assert to_json(make_record())["verdicts"] == {"official": passed, "corrected": passed}


_WRONG = make_call_verdict(code="value_error", expected={"city": "Oslo"})
PATH: dict[str, Any] = json.loads(json.dumps(asdict(make_path_score(_WRONG))))
_BOTH = {profile: {"status": "passed", "code": None, "reason": None} for profile in ("official", "corrected")}
_ASIDE = {**ANSWER, "party": "judge", "digest": "0f"}


def _change_path(*path: str | int, to: object) -> dict[str, object]:
    """Return the path with a value at a place in it."""
    found: Any = json.loads(json.dumps({"official": PATH}))
    at = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = to
    return {"paths": found}


@pytest.mark.parametrize(
    ("more", "fits"),
    [
        pytest.param({"paths": {"official": PATH, "corrected": PATH}}, True, id="both profiles"),
        pytest.param({"paths": {"fixed": PATH}}, False, id="an unknown profile"),
        pytest.param(_change_path("official", "extra", to=1), False, id="an unknown key"),
        pytest.param(_change_path("official", "calls", to=-1), False, id="less than no call"),
        pytest.param(_change_path("official", "completeness", to=3), False, id="a rating above 2"),
        pytest.param(
            _change_path("official", "verdicts", 0, "stage", to="guess"), False, id="an unknown stage"
        ),
        pytest.param(_change_path("official", "verdicts", 0, "code", to="odd"), False, id="an unknown code"),
        pytest.param(
            _change_path("official", "verdicts", 0, "step", to=0), False, id="a step before the first"
        ),
        pytest.param(_change_path("official", "verdicts", 0, "made", to={"f": {}}), False, id="another call"),
        pytest.param(_change_path("official", "verdicts", 0, "expected", to=None), True, id="not paired"),
        pytest.param(
            _change_path("official", "verdicts", 0, "differences", 0, "kind", to="x"),
            False,
            id="an unknown kind",
        ),
        pytest.param({"asides": [_ASIDE]}, True, id="an aside"),
        pytest.param({"asides": [{**_ASIDE, "party": "user"}]}, False, id="an unknown party"),
        pytest.param({"asides": [ANSWER]}, False, id="an aside of nobody"),
        pytest.param({"rating": {"score": 2, "code": None, "reason": "x"}}, True, id="a rating"),
        pytest.param({"rating": {"score": 3, "code": None, "reason": "x"}}, False, id="more than the best"),
        pytest.param({"rating": {"score": None, "code": "judge_reply", "reason": "x"}}, True, id="no rating"),
        pytest.param({"as_written": _BOTH}, True, id="as written"),
        pytest.param({"as_written": {"official": _BOTH["official"]}}, False, id="as written in one profile"),
        pytest.param({"cluster": 7}, False, id="a cluster without a name"),
    ],
)
def test_the_schema_knows_paths_and_asides(more: dict[str, object], *, fits: bool) -> None:
    assert make_validator().is_valid({**_write_json(make_record()), **more}) is fits


def test_verdicts_of_entries_that_share_a_cluster_are_one_unit() -> None:
    found = make_path_record(cluster="4")
    assert found.unit == replace(found, entry="core:hotels_1").unit
    assert found.unit == replace(found, category="flights", entry="core:flights_1").unit
    others = {"suite": "mine"}, {"cluster": "5"}
    assert len({found.unit, *(replace(found, **other).unit for other in others)}) == 3  # type: ignore[arg-type]
    assert replace(found, cluster=None).unit == found.entry


@pytest.mark.parametrize(
    ("turns", "fits"),
    [
        pytest.param([], True, id="none"),
        pytest.param([[ANSWER, {**ANSWER, "tool_calls": [{"f": {}}, "part"]}], [ANSWER]], True, id="turns"),
        pytest.param([ANSWER], False, id="no list of lists"),
        pytest.param([[{**ANSWER, "more": 1}]], False, id="an unknown key"),
        pytest.param([[{"text": "x"}]], False, id="keys are missing"),
        pytest.param([[{**ANSWER, "fault": "else"}]], False, id="an unknown fault"),
        pytest.param(None, False, id="null"),
        pytest.param([[{**ANSWER, **_SAID}]], True, id="the end of an answer and marks of reasoning"),
        pytest.param([[{**ANSWER, "reasoning_marks": ["</think>"]}]], False, id="one mark of reasoning"),
    ],
)
def test_the_schema_knows_turns(turns: object, *, fits: bool) -> None:
    value = {**_write_json(make_record()), "turns": turns}
    assert make_validator().is_valid(value) is fits


# Round trip

_TEXT = st.text(max_size=20)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_TABLE = st.dictionaries(_TEXT, _JSON, max_size=3)
_REASON = st.text(st.characters(), max_size=20)
_VERDICT = (
    st.just(Passed()) | st.builds(Failed, _TEXT, _REASON, _TABLE) | st.builds(NotScored, _TEXT, _REASON)
)
_COUNT = st.none() | st.integers(0, 2**53)
_CALLED = st.fixed_dictionaries({"name": _TEXT, "arguments": _TABLE})
_CALL_VERDICT = st.builds(
    CallVerdict,
    step=st.integers(1, 9),
    made=_CALLED,
    expected=st.none() | _CALLED,
    stage=_TEXT,
    right=st.booleans(),
    code=st.none() | _TEXT,
    reason=_TEXT,
    differences=st.lists(
        st.builds(Difference, _TEXT, _TEXT, st.none() | _TEXT, _JSON, _JSON), max_size=2
    ).map(tuple),
)
_RATING = st.none() | st.integers(0, 2)
_FEW = st.integers(0, 99)
_PATH = st.builds(
    PathScore, _FEW, _FEW, _FEW, _FEW, _FEW, st.lists(_CALL_VERDICT, max_size=2).map(tuple), _RATING, _RATING
)
_BOTH_VERDICTS = st.builds(Verdicts, _VERDICT, _VERDICT)
_RATED = st.builds(Rating, st.integers(0, 2), st.none(), _TEXT) | st.builds(Rating, st.none(), _TEXT, _REASON)
_COMPLETION = st.builds(Completion, text=st.none() | _TEXT, fault=st.none() | st.sampled_from(Fault))
_ASIDES = st.builds(AuxiliaryCall, st.sampled_from(Party), _TEXT, _COMPLETION)
_ANSWER = st.builds(lambda more, answer: more | answer, _TABLE, _COMPLETION.map(completion_to_json))
RECORDS = st.builds(
    Record,
    entry=_TEXT,
    suite=_TEXT,
    category=st.sampled_from(list(CATEGORIES)) | _TEXT,
    group=_TEXT,
    model=_TEXT,
    mode=_TEXT,
    names=_TEXT,
    syntax=_TEXT,
    verdicts=_BOTH_VERDICTS,
    trial=st.none() | st.integers(1, 99),
    steps=st.lists(
        st.builds(Usage, st.none() | st.floats(0, 1e6), _COUNT, _COUNT, st.none() | st.floats(0, 1e6)),
        max_size=3,
    ).map(tuple),
    turns=st.lists(st.lists(_ANSWER, max_size=2).map(tuple), max_size=3).map(tuple),
    cluster=st.none() | _TEXT,
    asides=st.lists(_ASIDES, max_size=2).map(tuple),
    paths=st.dictionaries(st.sampled_from(Profile), _PATH, max_size=2),
    as_written=st.none() | _BOTH_VERDICTS,
    rating=st.none() | _RATED,
    stratum=st.none() | _TEXT,
)


@given(RECORDS)
def test_a_record_comes_back_from_json_as_it_was(found: Record) -> None:
    text = json.dumps(to_json(found))
    assert text.isascii()
    assert from_json(json.loads(text)) == found


_SUMS = set(asdict(Usage()))
"""What a Record's JSON says for readers and can be computed again."""


_LATER = {"cluster", "asides", "paths", "as_written", "rating", "stratum", "calls", "served", "streams"}
"""What older scorecards do not have."""


@each_case("key", [key for key in to_json(make_record()) if key not in _SUMS | _LATER])
def test_json_without_a_key_is_no_record(key: str) -> None:
    value = to_json(make_record())
    del value[key]
    with pytest.raises(KeyError, match=key):
        from_json(value)


def test_a_record_keeps_each_server_of_its_answers_once_and_its_calls() -> None:
    answers = [Completion(text="x", served=served) for served in (("model=a", "provider=b"), ("model=a",))]
    transcript = replace(make_transcript("x"), turns=(tuple(map(Step, answers)),))
    counts = CallCounts(2, 2, 2, 1, 1, 1)
    record = build_record(make_entry(), MANNER, PASSED, transcript, calls=counts)
    assert record.served == ("model=a", "provider=b")
    assert from_json(json.loads(write_record(record))) == record


def test_a_record_of_an_older_scorecard_has_no_path() -> None:
    value = {key: told for key, told in to_json(make_record()).items() if key not in _LATER}
    assert from_json(value) == make_record()


@each_case(
    ("wrong", "reason"),
    [
        pytest.param(
            {"verdicts": None},
            "verdicts: Input should be a dictionary or an instance of Verdicts, found None",
            id="verdicts",
        ),
        pytest.param(
            {"verdicts": {"official": {"status": "odd"}, "corrected": {}}},
            "verdicts.official: Input tag 'odd' found using 'status' does not match any of the expected tags",
            id="status",
        ),
        pytest.param(
            {"verdicts": {"official": [], "corrected": []}},
            "verdicts.official: Input should be a valid dictionary or object",
            id="verdict",
        ),
        pytest.param({"turns": "text"}, "turns: Input should be a valid list, found 'text'", id="turns"),
        pytest.param({"turns": [{}]}, "turns.0: Input should be a valid list, found {}", id="turn"),
        pytest.param(
            {"turns": [["text"]]},
            "turns.0.0: Input should be an instance of Mapping, found 'text'",
            id="answer",
        ),
        pytest.param({"steps": {}}, "steps: Input should be a valid list, found {}", id="steps"),
        pytest.param(
            {"steps": [{**asdict(Usage()), "latency_s": "0.5"}]},
            "steps.0.latency_s.int: Input should be a valid integer, found '0.5'",
            id="latency",
        ),
        pytest.param(
            {"steps": [{**asdict(Usage()), "input_tokens": True}]},
            "steps.0.input_tokens: Input should be a valid integer, found True",
            id="tokens",
        ),
        pytest.param({"asides": {}}, "asides: Input should be a valid list, found {}", id="asides"),
        pytest.param({"paths": []}, "paths: Input should be a valid dictionary, found []", id="paths"),
        pytest.param(
            {"paths": {"official": []}},
            "paths.official: Input should be a dictionary or an instance of PathScore, found []",
            id="path",
        ),
        pytest.param(
            {"paths": {"official": {**PATH, "calls": None}}},
            "paths.official.calls: Input should be a valid integer, found None",
            id="no number of calls",
        ),
        pytest.param(
            {"paths": {"official": {**PATH, "right": -1}}},
            "paths.official.right: Input should be greater than or equal to 0, found -1",
            id="less than no call",
        ),
        pytest.param(
            {"paths": {"official": {**PATH, "verdicts": None}}},
            "paths.official.verdicts: Input should be a valid list, found None",
            id="call verdicts",
        ),
        pytest.param(
            {"paths": {"official": {**PATH, "completeness": "2"}}},
            "paths.official.completeness: Input should be a valid integer, found '2'",
            id="rating",
        ),
    ],
)
def test_json_of_another_shape_is_no_record(wrong: dict[str, object], reason: str) -> None:
    with pytest.raises(TypeError, match=re.escape(f"the record of 'core:simple_python_0': {reason}")):
        from_json({**to_json(make_record()), **wrong})


def test_details_may_hold_what_json_has_no_word_for() -> None:
    """A tuple comes back as a list; nothing else changes."""
    found = make_record(Failed("c", "r", {"accepted": (1, 2)}))
    again = from_json(json.loads(json.dumps(to_json(found))))
    assert again == replace(found, verdicts=Verdicts.same_in_both(Failed("c", "r", {"accepted": [1, 2]})))


def test_an_entry_may_have_any_name() -> None:
    """Numbers are ordered as such, unless they are longer than Python makes a number of."""
    long = f"a_{'9' * 5000}"
    ids = ["a_10", "a_9", long, "a_٣", "a_\ud800"]
    records = [replace(make_record(), entry=f"core:{name}") for name in ids]
    found = [record.entry.removeprefix("core:") for record in sort_records(records)]
    assert found == [long, "a_\ud800", "a_٣", "a_9", "a_10"]


def test_ids_that_differ_in_their_signs_only_have_an_order() -> None:
    records = [
        replace(make_record(trial=trial), entry=f"core:{name}")
        for trial in (1, 2)
        for name in ("a_1", "a-01")
    ]
    expected = ["core:a-01-t1", "core:a-01-t2", "core:a_1-t1", "core:a_1-t2"]
    for order in (records, records[::-1]):
        assert [record.item_id for record in sort_records(order)] == expected


def test_levels_of_pressure_are_ordered_as_numbers() -> None:
    ids = [f"core:multiple_0+distractors={level}" for level in (0, 8, 32, 128)]
    records = [replace(make_record(), entry=each) for each in sorted(ids)]
    assert [record.entry for record in sort_records(records)] == ids
