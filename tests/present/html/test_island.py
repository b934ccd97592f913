"""The islands: what the script reads is what was put in, whatever a model wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import ArgumentPair, CallPair, Explanation, StateDifference
from pytest_fcbench.domain.transcript import Completion, Fault, PathSettings, RecordedCall, completion_to_json
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored, Passed, Profile
from pytest_fcbench.kinds.execution.verdict import ExpectedResponse, ExpectedResults, ResultRule
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.present.failure_codes import find_failure_code
from pytest_fcbench.present.html.island import (
    LONGEST,
    Done,
    SuiteInfo,
    build_islands,
    cut_text,
    find_fair_length,
    write_inert_json,
)
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.record import EarlierConversation, Record, Usage
from tests.cases import each_case
from tests.factories import (
    FACTS,
    make_answered_record,
    make_call_verdict,
    make_doc,
    make_entry,
    make_multi_turn,
    make_path_record,
    make_path_score,
    make_record,
    tool_calls,
    write_scorecard,
)
from tests.server.test_conforming import list_checks

HOSTILE = "</script><script>window.pwned=1</script><!--\u202e\u2028\u0000\ud800&amp;"

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=())) | st.sampled_from(
    [HOSTILE, "\udfff", "]]>"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_goes_in_comes_out(value: object) -> None:
    text = write_inert_json(value)
    assert json.loads(text) == value
    assert not re.search("[<>&\n\r\u2028\u2029\u202e\ud800-\udfff]", text)
    text.encode()


@given(st.lists(st.integers(0, 50), max_size=20), st.integers(0, 60), st.integers(0, 400))
def test_texts_keep_to_the_budget_and_no_shorter_than_needed(
    lengths: list[int], longest: int, budget: int
) -> None:
    found = find_fair_length(lengths, longest, budget)
    assert 0 <= found <= longest
    assert sum(min(length, found) for length in lengths) <= max(budget, 0)
    if found < longest and any(length > found for length in lengths):
        assert sum(min(length, found + 1) for length in lengths) > budget


def know_entry(entry: Entry, done: Mapping[tuple[int, str], Done] | None = None) -> SuiteInfo:
    """Return the knowledge of a suite that has one entry."""
    truths = {entry.key: find_kind(entry).describe_truth(entry)}
    return SuiteInfo({entry.key: entry}, done or {}, truths=truths)


def read_islands(
    tmp_path: Path, records: Sequence[Record], told: SuiteInfo | None = None, cards: int = 1
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the index and the entries of one scorecard, or of several that are alike."""
    card = scorecard_files.load_scorecard(write_scorecard(tmp_path / "card.json", records))
    made = build_islands(
        [card] * cards, [f"m{n}" for n in range(cards)], told or SuiteInfo(), Profile.OFFICIAL
    )
    assert not any("\n" in line for line in made.lines)
    return json.loads(made.index), list(map(json.loads, made.lines))


def test_a_check_is_listed_by_its_property_with_readable_requests(tmp_path: Path) -> None:
    entry = next(each for each in list_checks() if each.id == "prompt_result")
    record = replace(make_record(category="server_must"), entry=entry.key)
    _, (listed,) = read_islands(tmp_path, [record], know_entry(entry))
    assert listed["title"] == listed["rule"] == "The result of a call reaches the prompt."
    ((_, requests),) = listed["turns"][0]["said"]
    short, long = requests.split("\nlong (chat/completions):\n")
    assert json.loads(long)["messages"][-1]["role"] == "tool"
    assert '    {"role": "user", "content": "What is the weather in Oslo?"},' in short.splitlines()


def test_the_index_has_category_and_verdicts_of_each_entry(tmp_path: Path) -> None:
    failed = Failed("wrong_count", "2 calls came, 1 expected")
    records = [
        make_record(),
        make_record(failed, number=1),
        make_record(NotScored("timeout", "it took"), number=2),
    ]
    index, entries = read_islands(tmp_path, records, cards=2)
    assert index["words"] == [
        ["passed", "", ""],
        ["failed", "wrong_count", "too many calls came"],
        ["not_scored", "timeout", "timeout"],
    ]
    assert index["rows"] == [[0, [0, 0], [0, 0]], [0, [1, 1], [1, 1]], [0, [2, 2], [2, 2]]]
    assert index["labels"] == ["m0", "m1"]
    assert [entry["id"] for entry in entries] == [record.entry for record in records]


def test_causes_are_counted_with_the_command_that_shows_the_first(tmp_path: Path) -> None:
    records = [
        make_record(NotScored("timeout", "it took")),
        make_record(NotScored("set_aside", "bad data"), number=1),
        *(
            make_record(Failed(code, "", {}), number=n)
            for n, code in enumerate(("no_call", "relevance:no_call"), 2)
        ),
    ]
    card = scorecard_files.load_scorecard(write_scorecard(tmp_path / "a card.json", records))
    (causes,) = build_islands([card], ["m"], SuiteInfo(), Profile.OFFICIAL).causes
    assert [(cause.name, cause.status, cause.count) for cause in causes] == [
        ("no call came, although one was expected", "failed", 2),
        ("timeout", "not_scored", 1),
    ]
    command = f"fcbench run show core:simple_python_2 --scorecard '{card.path}'"
    assert causes[0].write_command(card) == command
    assert replace(causes[0], item_id="core:a\nb").write_command(card) == ""


def test_the_index_has_what_each_entry_took_in_each_run(tmp_path: Path) -> None:
    steps = (Usage(1.25, 300, 40, 0.001), Usage(0.5, 100, None, None))
    records = [replace(make_record(), steps=steps), make_record(number=1)]
    index, _ = read_islands(tmp_path, records)
    assert index["usage"] == [[[1.75, 440, 0.001]], [[None, None, None]]]
    assert read_islands(tmp_path, records[1:])[0]["usage"] is None


def test_an_entry_that_only_one_of_two_has(tmp_path: Path) -> None:
    cards = [
        scorecard_files.load_scorecard(
            write_scorecard(tmp_path / f"{n}.json", [make_record(number=n), make_record(number=5)])
        )
        for n in (0, 1)
    ]
    made = build_islands(cards, ["a", "b"], SuiteInfo(), Profile.OFFICIAL)
    assert json.loads(made.index)["rows"] == [[0, [0, 0], []], [0, [0, 0], [0, 0]], [0, [], [0, 0]]]
    assert [entry["id"][-1] for entry in map(json.loads, made.lines)] == ["0", "5", "1"]


def test_trials_are_answers_of_one_entry(tmp_path: Path) -> None:
    records = [make_record(trial=1), make_record(Failed("a", "b"), trial=2)]
    index, entries = read_islands(tmp_path, records)
    assert index["rows"] == [[0, [0, 0, 1, 1]]]
    assert [answer["trial"] for answer in entries[0]["answers"]] == [1, 2]
    assert "--fcbench-trials=2" in index["options"][0]


def test_calls_along_a_golden_path_are_rows(tmp_path: Path) -> None:
    wrong = make_call_verdict(
        step=2, made={"city": "Oslo"}, expected={"city": "Bergen"}, code="value_error", reason="another city"
    )
    alone = make_call_verdict(step=2, paired=False, code="unpaired", stage="unpaired")
    path = make_path_score(make_call_verdict(), wrong, alone)
    other = make_path_score(make_call_verdict())
    records = [make_path_record(path=path), make_path_record(number=1, path=path, corrected_path=other)]
    _, (plain, *entries) = read_islands(tmp_path, [*records, make_record()])
    ((profiles, rows),) = entries[0]["answers"][0]["paths"]
    assert profiles == "both profiles"
    bergen, oslo = (f'find_hotels {{"city": "{city}"}}' for city in ("Bergen", "Oslo"))
    assert rows == [
        ["1", "right (exact)", bergen, bergen, ""],
        [
            "2",
            "value_error (value)",
            oslo,
            bergen,
            'city (string) is "Oslo", expected "Bergen"\nanother city',
        ],
        ["2", "unpaired (unpaired)", bergen, "", ""],
    ]
    assert [told for told, _ in entries[1]["answers"][0]["paths"]] == [
        "official profile",
        "corrected profile",
    ]
    assert "paths" not in plain["answers"][0]


def test_a_golden_path_is_told_by_steps(tmp_path: Path) -> None:
    find, buy = RecordedCall.with_reply("find", {"a": 1}, {}), RecordedCall.with_reply("buy", {}, {})
    golden = GoldenPath(((find, buy), (buy,)))
    entry = replace(make_entry("hotels"), expectation=golden)
    _, entries = read_islands(tmp_path, [make_path_record()], know_entry(entry))
    assert entries[0]["steps"] == [['find {"a": 1}', "buy {}"], ["buy {}"]]


def test_profiles_that_differ_are_both_told(tmp_path: Path) -> None:
    aside = NotScored(SET_ASIDE, "the answer is wrong")
    _, entries = read_islands(tmp_path, [make_record(Passed(), aside), make_record(number=1)])
    assert entries[0]["answers"][0]["verdicts"] == [
        ["passed"],
        ["not_scored", SET_ASIDE, "the answer is wrong"],
    ]
    assert entries[1]["answers"][0]["verdicts"] == [["passed"]]


@each_case(
    ("details", "columns", "rows"),
    [
        (
            {"function": "f", "parameter": "x", "found": "1", "accepted": "[2]"},
            ["function", "parameter", "found", "accepted"],
            [["f", "x", "1", "[2]"]],
        ),
        (
            {"turn": 2, "differences": [{"at": "a.b", "expected": "1", "found": None}]},
            ["at", "expected"],
            [["a.b", "1"]],
        ),
        ({"function": "f", "misses": [{"code": "c", "reason": "r"}]}, ["code", "reason"], [["c", "r"]]),
        ({"found": ["f", "f"], "expected": ["f"]}, ["found", "expected"], [['["f", "f"]', '["f"]']]),
        ({"new": 1.0, "found": "x"}, ["found", "new"], [["x", "1.0"]]),
    ],
)
def test_details_are_a_table(
    tmp_path: Path, details: Mapping[str, object], columns: list[str], rows: list[list[str]]
) -> None:
    _, entries = read_islands(tmp_path, [make_record(Failed("code", "reason", details))])
    assert entries[0]["answers"][0]["verdicts"][0][3] == {"columns": columns, "rows": rows}


def test_an_entry_without_details_has_no_table(tmp_path: Path) -> None:
    _, entries = read_islands(tmp_path, [make_record(Failed("code", "reason"))])
    assert entries[0]["answers"][0]["verdicts"] == [["failed", "code", "reason"]]


# What is asked


def test_what_an_entry_asks_and_expects(tmp_path: Path) -> None:
    entry = make_entry(expect=[{"weather.forecast": {"city": ["Bergen", "Åsane"], "days": [1.0, ""]}}])
    index, (told,) = read_islands(tmp_path, [make_record()], know_entry(entry))
    assert told["turns"] == [{"said": [["user", "What will the weather in Bergen be?"]]}]
    assert told["expected"] == [
        ["weather.forecast", [["city", ['"Bergen"', '"Åsane"'], False], ["days", ["1.0"], True]]]
    ]
    name, about, parameters = index["functions"][told["functions"][0]]
    assert (name, about) == ("weather.forecast", "About weather.forecast.")
    assert parameters == [
        ["city", "string", "City."],
        ["days", "integer, default 1, optional", "Days ahead."],
    ]


@pytest.mark.parametrize(
    ("category", "rule"), [("irrelevance", "no call"), ("live_relevance", "at least one call")]
)
def test_entries_without_expected_calls(tmp_path: Path, category: str, rule: str) -> None:
    entry = make_entry(category)
    _, (told,) = read_islands(tmp_path, [make_record(category=category)], know_entry(entry))
    assert told["rule"] == rule


def test_calls_whose_results_are_compared(tmp_path: Path) -> None:
    entry = replace(
        make_entry("exec_simple", entry_id="simple_python_0"),
        expectation=ExpectedResults(("f(x=1)", "f(x=2)"), (ResultRule.EXACT,) * 2),
    )
    _, (told,) = read_islands(tmp_path, [make_record()], know_entry(entry))
    assert told["turns"][0]["truth"] == ["f(x=1)", "f(x=2)"]


def test_a_call_whose_answer_is_compared(tmp_path: Path) -> None:
    entry = replace(
        make_entry("rest", entry_id="simple_python_0"),
        expectation=ExpectedResponse("requests.get(url='https://a.example/')"),
    )
    _, (told,) = read_islands(tmp_path, [make_record()], know_entry(entry))
    assert told["turns"][0]["truth"] == ["requests.get(url='https://a.example/')"]


WRONG_VALUE = Explanation(
    (("user", "Go."),),
    calls=(CallPair("f", "f", False, (ArgumentPair("x", "2", "1", True),)),),
    differences=(StateDifference("files.a", "'text'", None),),
)


def test_a_failure_is_explained_beside_its_verdict(tmp_path: Path) -> None:
    record = make_record(Failed("wrong_count", "two calls"))
    told = SuiteInfo(explanations={(0, record.item_id): (Profile.CORRECTED, WRONG_VALUE)})
    index, (line,) = read_islands(tmp_path, [record], told)
    assert line["answers"][0]["why"] == {
        "profile": "corrected",
        "turn": "",
        "rows": [["call", "", "f", "f", False], ["", "x", "2", "1", True]],
        "state": [["", "files.a", "(nothing)", "'text'", True]],
    }
    assert index["codes"] == {"wrong_count": list(find_failure_code("wrong_count"))}


def test_an_answer_without_calls_stands_beside_what_was_expected(tmp_path: Path) -> None:
    record = make_record(Failed("no_call", "no call"))
    explanation = Explanation((), turn="turn 2 of 3", found=("Sorry.",), expected=("f()", "g()"))
    told = SuiteInfo(explanations={(0, record.item_id): (Profile.OFFICIAL, explanation)})
    _, (line,) = read_islands(tmp_path, [record], told)
    why = line["answers"][0]["why"]
    assert why["turn"] == "turn 2 of 3"
    assert why["rows"] == [["", "", "Sorry.", "f()\ng()", True]]


def test_an_entry_that_passed_has_no_explanation(tmp_path: Path) -> None:
    index, (line,) = read_islands(tmp_path, [make_record()], SuiteInfo())
    assert "why" not in line["answers"][0]
    assert index["codes"] == {}


def test_a_trajectory_with_what_was_returned(tmp_path: Path) -> None:
    late = make_doc("late")
    entry = make_multi_turn(("Go.", ["cd(folder='a')"]), ("", []), withheld={1: [late]})
    record = replace(
        make_answered_record(
            tool_calls(("cd", '{"folder": "a"}')), Completion("Done."), category="multi_turn_base"
        ),
        turns=(
            (completion_to_json(tool_calls(("cd", '{"folder": "a"}'))),),
            (completion_to_json(Completion("Done.")),),
        ),
    )
    done: dict[tuple[int, str], Done] = {(0, record.item_id): [[[("cd(folder='a')", "there")]], [[]]]}
    index, (told,) = read_islands(tmp_path, [record], know_entry(entry, done))
    first, second = told["turns"]
    assert first == {"said": [["user", "Go."]], "truth": ["cd(folder='a')"]}
    assert second["truth"] == []
    assert [index["functions"][number][0] for number in second["new"]] == ["late"]
    assert told["answers"][0]["turns"] == [[{"done": [["cd(folder='a')", "there"]]}], [{"text": "Done."}]]


def test_functions_that_entries_share_are_there_once(tmp_path: Path) -> None:
    entries = {f"core:simple_python_{n}": make_entry(entry_id=f"simple_python_{n}") for n in range(3)}
    index, told = read_islands(tmp_path, [make_record(number=n) for n in range(3)], SuiteInfo(entries))
    assert len(index["functions"]) == 1
    assert [entry["functions"] for entry in told] == [[0], [0], [0]]


def test_an_entry_that_no_suite_has_is_still_there(tmp_path: Path) -> None:
    _, (told,) = read_islands(tmp_path, [make_answered_record(Completion("Hm."))])
    assert told == {"id": "core:simple_python_0", "answers": told["answers"]}
    assert told["answers"][0]["turns"] == [[{"text": "Hm."}]]


# What is answered


def test_a_step_with_everything(tmp_path: Path) -> None:
    completion = Completion(
        text="Well.",
        tool_calls=tool_calls(("f", {"x": 1.0})).tool_calls,
        reasoning="Hm.",
        fault=Fault.OVERFLOW,
    )
    record = replace(make_answered_record(completion), steps=(Usage(1.5, 1200, 7, 0.002),))
    _, (told,) = read_islands(tmp_path, [record])
    answer = told["answers"][0]
    assert answer["turns"] == [
        [
            {
                "fault": "context_overflow",
                "reasoning": "Hm.",
                "text": "Well.",
                "calls": [["f", '{"x": 1.0}']],
                "took": "1.50 s, 1,200 tokens in, 7 out, $0.002000",
            }
        ]
    ]
    assert answer["took"] == "1.50 s, 1,200 tokens in, 7 out, $0.002000"


def test_long_texts_are_cut_and_say_how_long_they_were(tmp_path: Path) -> None:
    _, (told,) = read_islands(
        tmp_path,
        [make_answered_record(Completion("x" * 1_000_000), tool_calls(("f" * 90_000, "y" * 90_000)))],
    )
    text, call = (step.get("text") or step["calls"][0] for step in told["answers"][0]["turns"][0])
    assert text == "x" * LONGEST + "… (cut: 1,000,000 characters)"
    assert all(len(part) < LONGEST + 40 for part in call)
    assert cut_text("abc", 3) == "abc"


def test_hostile_texts_survive_as_they_are(tmp_path: Path) -> None:
    card = scorecard_files.load_scorecard(
        write_scorecard(tmp_path / "card.json", [make_answered_record(Completion(HOSTILE))])
    )
    made = build_islands([card], [HOSTILE], SuiteInfo(), Profile.OFFICIAL)
    assert json.loads(made.index)["labels"] == [HOSTILE]
    assert json.loads(made.lines[0])["answers"][0]["turns"][0][0]["text"] == HOSTILE
    text = "".join((*made.lines, made.index))
    assert "</script" not in text
    text.encode()


def test_the_test_of_an_entry_can_be_named(tmp_path: Path) -> None:
    index, entries = read_islands(tmp_path, [make_record()])
    assert index["tests"][entries[0]["answers"][0]["test"]] == "benchmarks/test_x.py::test_x"
    assert index["options"] == ["--fcbench-model=test --fcbench-mode=fc --fcbench-suite=core"]


def test_the_command_has_the_means_of_conversations_along_golden_paths(tmp_path: Path) -> None:
    path = write_scorecard(tmp_path / "card.json", [make_record()])
    card = scorecard_files.load_scorecard(path)
    for driven, options in (
        (PathSettings(Profile.CORRECTED), " --fcbench-profile=corrected"),
        (
            PathSettings(Profile.OFFICIAL, "openai/j", "rapidfuzz", live=True, runner="qwen"),
            " --fcbench-profile=official --fcbench-judge=openai/j --fcbench-similarity=rapidfuzz "
            "--fcbench-responses=live --fcbench-runner=qwen",
        ),
    ):
        told = replace(card, facts=replace(card.facts, driven=driven))
        index = json.loads(build_islands([told], ["x"], SuiteInfo(), Profile.OFFICIAL).index)
        assert index["options"][0].endswith(f"--fcbench-suite=core{options}")


def test_words_of_a_file_cannot_leave_their_place_in_a_command(tmp_path: Path) -> None:
    card = scorecard_files.load_scorecard(write_scorecard(tmp_path / "a b;c.json", [make_record()]))
    evil = replace(card, facts=replace(card.facts, model="x'; rm -rf ~ #"))
    index = json.loads(build_islands([evil], ["x"], SuiteInfo(), Profile.OFFICIAL).index)
    assert index["options"][0].startswith("'--fcbench-model=x'\"'\"'; rm -rf ~ #' ")
    assert index["files"] == [f"'{tmp_path}/a b;c.json'"]


# Earlier conversations


def make_memory_islands(tmp_path: Path, told: SuiteInfo) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the islands of a question about a memory that one conversation has filled, in two runs."""
    turns = ((completion_to_json(Completion(text="I keep it.")),),)
    before = EarlierConversation("core:memory_kv_0_before_0", (Usage(latency_s=1.5),), turns)
    records = [make_record(category="memory_kv"), make_record(number=1)]
    path = write_scorecard(tmp_path / "card.json", records, replace(FACTS, earlier=(before,)))
    card = scorecard_files.load_scorecard(path)
    made = build_islands([card, card], ["a", "b"], told, Profile.OFFICIAL)
    return json.loads(made.index), list(map(json.loads, made.lines))


def test_an_entry_names_the_conversations_that_it_continues(tmp_path: Path) -> None:
    before = make_entry("memory_kv", query="My cat is Ada.", entry_id="memory_kv_0_before_0")
    question = replace(make_entry("memory_kv", query="Who is Ada?"), after=before)
    index, entries = make_memory_islands(tmp_path, SuiteInfo({question.key: question}))
    after = {entry["id"]: entry.get("after") for entry in entries}
    assert after == {question.key: [before.item_id], "core:simple_python_1": None}
    shown = index["earlier"][before.item_id]
    assert shown["turns"] == [{"said": [["user", "My cat is Ada."]]}]
    assert [answer["of"] for answer in shown["answers"]] == [0, 1]
    assert shown["answers"][0]["turns"] == [[{"text": "I keep it.", "took": "1.50 s"}]]


def test_of_an_unknown_entry_no_earlier_conversation_is_named(tmp_path: Path) -> None:
    index, entries = make_memory_islands(tmp_path, SuiteInfo())
    assert [entry.get("after") for entry in entries] == [None, None]
    assert "turns" not in index["earlier"]["core:memory_kv_0_before_0"]
