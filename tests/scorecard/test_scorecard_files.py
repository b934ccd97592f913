"""Scorecards and baselines read back from files: what matters is there, and errors say what is wrong."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.transcript import Completion, PathSettings
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.aggregate.scores import score_metric
from pytest_fcbench.scorecard.outlines import Outliner
from pytest_fcbench.scorecard.record import Record, Usage, sort_records
from pytest_fcbench.scorecard.run_facts import RuleOutcome
from pytest_fcbench.scorecard.scorecard_files import (
    ByteRange,
    KeptRun,
    Place,
    load_outlines,
    load_scorecard,
    open_places,
    open_scorecard,
    read_report,
    read_report_head,
    write_baseline,
)
from tests.cases import each_case
from tests.factories import (
    FACTS,
    make_answered_record,
    make_call_verdict,
    make_path_record,
    make_path_score,
    make_record,
    make_scorecard,
    write_scorecard,
)

WRONG, TIMEOUT = Failed("wrong_count", "2 calls", {"found": 2}), NotScored("timeout", "600 s")
RECORDS = [
    make_record(Passed(), category="parallel", number=10, steps=[Usage(1.5, 10, 2, 0.5)]),
    make_record(WRONG, Passed(), category="parallel", number=9),
    make_record(TIMEOUT, category="live_simple"),
    make_record(Passed(), NotScored(SET_ASIDE, "bad data"), category="simple_python"),
]
"""Out of order, so that the order of a loaded one is seen to be made."""


def _write_file(path: Path, text: object) -> Path:
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path


def test_a_scorecard_comes_back_as_it_was(tmp_path: Path) -> None:
    facts = replace(FACTS, notes=("a note",), price=Price(input=1.0, output=2.0), concurrency=8)
    path = write_scorecard(tmp_path / "scorecard.json", RECORDS, facts, size=7)
    found = load_scorecard(path)
    assert found.facts == facts
    assert found.records == tuple(RECORDS[index] for index in (3, 1, 0, 2))
    assert found.path == path
    assert found.created_s == 1_780_000_000.5
    assert found.nodeids["core:parallel_9"] == "benchmarks/test_x.py::test_x[core:parallel_9]"
    assert len(found.nodeids) == len(RECORDS)


DRIVEN = PathSettings(Profile.CORRECTED, "openai/judge", "bge", live=True)


def test_how_complex_conversations_went_on_comes_back(tmp_path: Path) -> None:
    facts = replace(FACTS, driven=DRIVEN)
    path = write_scorecard(tmp_path / "scorecard.json", [make_path_record()], facts)
    assert load_scorecard(path).facts == facts
    kept = load_scorecard(_write_file(tmp_path / "baseline.json", write_baseline(load_scorecard(path))))
    assert kept.facts.driven == DRIVEN


def test_older_files_do_not_tell_how(tmp_path: Path) -> None:
    report = make_scorecard([make_record()])
    section = report["fcbench"]
    assert isinstance(section, dict)
    del section["driven"]
    assert load_scorecard(_write_file(tmp_path / "x.json", report)).facts.driven is None


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ([], "driven: Input should be a dictionary or an instance of PathSettings, found \\[\\]"),
        (
            {"profile": "fixed", "judge": "", "similarity": "", "live": False},
            "driven.profile: Input should be 'official' or 'corrected', found 'fixed'",
        ),
        ({"profile": "official"}, "'judge' is missing"),
    ],
)
def test_odd_words_on_how_are_refused(tmp_path: Path, told: object, says: str) -> None:
    report = make_scorecard([make_record()])
    section = report["fcbench"]
    assert isinstance(section, dict)
    with pytest.raises(UsageError, match=says):
        load_scorecard(_write_file(tmp_path / "x.json", report | {"fcbench": section | {"driven": told}}))


def test_paths_come_back(tmp_path: Path) -> None:
    wrong = make_call_verdict(code="value_error", expected={"city": "Oslo"}, reason="another city")
    record = make_path_record(WRONG, path=make_path_score(make_call_verdict(), wrong), cluster="3")
    assert load_scorecard(write_scorecard(tmp_path / "x.json", [record])).records == (record,)


def test_two_tests_of_an_entry_are_one_record(tmp_path: Path) -> None:
    """As in the run, whose scores count the entry once."""
    report = make_scorecard([make_record()])
    tests = report["tests"]
    assert isinstance(tests, list)
    found = load_scorecard(
        _write_file(tmp_path / "x.json", report | {"tests": [*tests, tests[0] | {"nodeid": "other"}]})
    )
    assert len(found.records) == 1


def test_what_became_of_the_gate_comes_back(tmp_path: Path) -> None:
    told = make_scorecard(RECORDS)
    rule = {"rule": "overall>=0.2", "outcome": "held", "sentence": "overall is 60.00%"}
    section = told["fcbench"]
    assert isinstance(section, dict)
    found = load_scorecard(
        _write_file(tmp_path / "scorecard.json", told | {"fcbench": section | {"gate": [rule]}})
    )
    assert found.gate == (RuleOutcome("overall>=0.2", "held", "overall is 60.00%"),)
    cut = _write_file(tmp_path / "scorecard.json", told | {"fcbench": section | {"gate": [{"rule": "x"}]}})
    with pytest.raises(UsageError, match="invalid scorecard: 'outcome' is missing"):
        load_scorecard(cut)


def test_sizes_of_categories_that_were_not_run_come_back(tmp_path: Path) -> None:
    """Those that count by their number: without them the score of the group would be another."""
    found = load_scorecard(
        write_scorecard(tmp_path / "scorecard.json", [make_record(category="live_simple")], size=7)
    )
    assert found.size_of("live_multiple") == 7
    assert found.size_of("parallel") == 0
    live = score_metric("live", found.records, Profile.OFFICIAL, found.size_of, partial=True)
    assert live
    assert live.accuracy == pytest.approx(1 / (1 + 3 * 7))


def _load_baseline(folder: Path, records: Sequence[Record]) -> scorecard_files.Scorecard:
    whole = load_scorecard(write_scorecard(folder / "scorecard.json", records, size=7))
    return load_scorecard(_write_file(folder / "baseline.json", write_baseline(whole)))


def test_a_baseline_keeps_verdicts_and_scores(tmp_path: Path) -> None:
    whole, slim = (
        load_scorecard(write_scorecard(tmp_path / "s.json", RECORDS, size=7)),
        _load_baseline(tmp_path, RECORDS),
    )
    for profile in Profile:
        assert slim.scores(profile) == whole.scores(profile)
    assert [record.item_id for record in slim.records] == [record.item_id for record in whole.records]
    assert slim.records[1].verdicts.official == Failed("wrong_count", "")
    assert slim.records[0].verdicts.corrected == NotScored(SET_ASIDE, "")
    assert slim.facts == whole.facts
    assert all(record.turns == () for record in slim.records)


def test_a_baseline_of_a_baseline_is_the_same(tmp_path: Path) -> None:
    slim = _load_baseline(tmp_path, RECORDS)
    assert write_baseline(slim) == write_baseline(
        load_scorecard(write_scorecard(tmp_path / "s.json", RECORDS, size=7))
    )


def test_a_baseline_keeps_trials(tmp_path: Path) -> None:
    trials = [make_record(Passed(), trial=1), make_record(WRONG, trial=2)]
    slim = _load_baseline(tmp_path, trials)
    assert [(record.entry, record.trial) for record in slim.records] == [
        ("core:simple_python_0", 1),
        ("core:simple_python_0", 2),
    ]


def test_an_entry_may_be_named_like_a_trial(tmp_path: Path) -> None:
    named = replace(make_record(), entry="core:simple_python-t2")
    (found,) = _load_baseline(tmp_path, [named]).records
    assert (found.entry, found.trial) == ("core:simple_python-t2", None)


_VERDICTS: st.SearchStrategy[Verdict] = st.one_of(
    st.just(Passed()),
    st.builds(Failed, st.sampled_from(["wrong_count", "value_error:string", "with space"]), st.just("")),
    st.builds(NotScored, st.sampled_from(["timeout", SET_ASIDE]), st.just("")),
)


@given(st.lists(st.tuples(_VERDICTS, _VERDICTS), max_size=6))
def test_every_pair_of_verdicts_survives(
    tmp_path_factory: pytest.TempPathFactory, verdicts: list[tuple[Verdict, Verdict]]
) -> None:
    records = [make_record(*pair, number=number) for number, pair in enumerate(verdicts)]
    slim = _load_baseline(tmp_path_factory.mktemp("b"), records)
    assert [record.verdicts for record in slim.records] == [record.verdicts for record in records]


def test_a_first_trial_alone_is_that_of_its_entry(tmp_path: Path) -> None:
    """A run with trials that was cut short may have no others, and a comparison goes by entries."""
    slim = _load_baseline(tmp_path, [make_record(trial=1)])
    assert [(record.entry, record.trial) for record in slim.records] == [("core:simple_python_0", None)]


def test_a_baseline_has_a_line_for_each_entry(tmp_path: Path) -> None:
    slim = write_baseline(load_scorecard(write_scorecard(tmp_path / "s.json", RECORDS)))
    assert json.loads(slim)["entries"] == {
        "simple_python": {"core:simple_python_0": ["passed", "not_scored set_aside"]},
        "parallel": {"core:parallel_9": ["failed wrong_count", "passed"], "core:parallel_10": "passed"},
        "live_simple": {"core:live_simple_0": "not_scored timeout"},
    }
    assert '   "core:parallel_9": ["failed wrong_count", "passed"],' in slim.splitlines()


_GOOD = make_scorecard(RECORDS)
_SECTION = _GOOD["fcbench"]


@each_case("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_that_an_editor_has_written_again_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "scorecard.json"
    path.write_text(json.dumps(_GOOD), encoding=encoding)
    assert load_scorecard(path).records == tuple(sort_records(RECORDS))
    assert len(load_outlines(path).records) == len(RECORDS)


def _change_section(**changes: object) -> dict[str, object]:
    section = _GOOD["fcbench"]
    assert isinstance(section, dict)
    return _GOOD | {"fcbench": {**section, **changes}}


@each_case(
    ("text", "told"),
    [
        ("no JSON", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a scorecard: section 'fcbench' is missing; give the scorecard.json of a benchmark run"),
        (
            '{"tests": []}',
            "not a scorecard: section 'fcbench' is missing; give the scorecard.json of a benchmark run",
        ),
        (
            '{"fcbench": []}',
            "not a scorecard: section 'fcbench' is missing; give the scorecard.json of a benchmark run",
        ),
        (
            _change_section(schema="fcbench-scorecard/9"),
            "unknown schema 'fcbench-scorecard/9'; this version reads",
        ),
        ({"schema": "fcbench-baseline/9", "fcbench": {}}, "unknown schema 'fcbench-baseline/9'"),
        ({"fcbench": _SECTION}, "invalid scorecard: 'tests' is missing"),
        (
            _change_section(profile="mine"),
            "invalid scorecard: profile: Input should be 'official' or 'corrected', found 'mine'",
        ),
        (_change_section(notes="x"), "invalid scorecard: notes: Input should be a valid list, found 'x'"),
        (
            _change_section(sizes={"cross": None}),
            "invalid scorecard: 'sizes' must be an object that maps categories to numbers of tests",
        ),
        (_change_section(sizes=[]), "invalid scorecard: "),
        (_GOOD | {"created": 10**400}, "invalid scorecard: int too large to convert to float"),
        (
            _change_section(suites=[]),
            "invalid scorecard: suites: Input should be a valid dictionary, found []",
        ),
        (
            _change_section(suites={"core": "1"}),
            "invalid scorecard: suites.core: Input should be a valid dictionary, found '1'",
        ),
        (
            _GOOD | {"tests": [{"nodeid": "x", "metadata": {"fcbench": {}}}]},
            "invalid scorecard: 'entry' is missing",
        ),
        (_GOOD | {"tests": 3}, "invalid scorecard: 'int' object is not iterable"),
        (_GOOD | {"tests": ["x"]}, "invalid scorecard: "),
        (
            {
                "schema": scorecard_files.BASELINE,
                "fcbench": _SECTION,
                "entries": {"parallel": {"a:b": "lost"}},
            },
            "invalid scorecard: unknown verdict 'lost'",
        ),
    ],
)
def test_what_is_no_scorecard_is_refused_with_the_reason(tmp_path: Path, text: object, told: str) -> None:
    path = _write_file(tmp_path / "x.json", text)
    with pytest.raises(UsageError) as caught:
        load_scorecard(path)
    assert str(caught.value).startswith(f"{path}: {told}")


@pytest.mark.parametrize("layout", ["ours", "another"])
def test_a_key_that_is_used_twice_is_refused(tmp_path: Path, layout: str) -> None:
    path = write_scorecard(tmp_path / "scorecard.json", RECORDS)
    text = path.read_text()
    text = text if layout == "ours" else json.dumps(json.loads(text))
    path.write_text(text.rstrip().removesuffix("}") + ', "fcbench": {}}')
    for load in (load_scorecard, load_outlines):
        with pytest.raises(UsageError, match="the key 'fcbench' is used twice"):
            load(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json: cannot be read: No such file or directory"):
        load_scorecard(tmp_path / "none.json")


def test_the_usual_file_is_read(tmp_path: Path) -> None:
    """What the table of refusals changes is good when nothing is changed."""
    assert len(load_scorecard(_write_file(tmp_path / "x.json", _change_section())).records) == len(RECORDS)


def test_outlines_are_those_of_the_whole_records(tmp_path: Path) -> None:
    records = [
        make_answered_record(Completion("a text"), number=0),
        make_answered_record(Completion("x" * 500), number=1, official=Failed("a", "b", {"found": "x"})),
    ]
    path = write_scorecard(tmp_path / "card.json", records)
    whole, outlined = load_scorecard(path), load_outlines(path)
    assert outlined.records == tuple(map(Outliner().outline_record, whole.records))
    assert (outlined.facts, outlined.sizes, outlined.nodeids) == (whole.facts, whole.sizes, whole.nodeids)
    assert (outlined.created_s, outlined.gate) == (whole.created_s, whole.gate)
    assert outlined.records != whole.records


def test_each_test_is_handed_on_with_its_record_and_its_place(tmp_path: Path) -> None:
    records = [make_record(), make_record(number=1)]
    path = write_scorecard(tmp_path / "card.json", records)
    report = json.loads(path.read_text())
    found: list[tuple[object, Record | None, object]] = []
    with open_places(path) as read_place:
        load_outlines(
            path,
            lambda test, record, place: found.append((test, record, json.loads(read_place(place)))),
        )
    # The last test is one of another kind.
    assert [record for _, record, _ in found] == [*records, None]
    assert [test for test, _, _ in found] == [text for _, _, text in found] == report["tests"]


@each_case(
    "text",
    ["", "[]", "{", '{"fcbench": 1}', '{"fcbench": {"schema": "x"}, "tests": []}', '{"tests": [1]}', "\x80"],
)
def test_a_file_that_is_no_scorecard_is_refused_in_the_same_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "card.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=r"card\.json: ") as whole:
        load_scorecard(path)
    with pytest.raises(UsageError, match=r"card\.json: ") as outlined:
        load_outlines(path)
    assert str(outlined.value) == str(whole.value)


def test_an_open_scorecard_reads_answers_where_they_are_asked_for(tmp_path: Path) -> None:
    record = make_answered_record(Completion(text="Bergen is sunny"), number=7)
    path = write_scorecard(tmp_path / "a.json", [record, *RECORDS])
    with ExitStack() as opened:
        card = open_scorecard(path, opened)
        (outline,) = (each for each in card.records if each.turns)
        assert outline.turns != record.turns
        assert card.read_whole(outline) == record


def test_an_open_scorecard_may_be_a_pipe(tmp_path: Path) -> None:
    record = make_answered_record(Completion(text="Bergen is sunny"))
    text = write_scorecard(tmp_path / "a.json", [record]).read_text(encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(text,))
    writer.start()
    with ExitStack() as opened:
        (read,) = open_scorecard(tmp_path / "pipe", opened).records
    writer.join()
    assert read == record


def test_an_answer_that_cannot_be_read_is_refused_at_once(tmp_path: Path) -> None:
    broken = replace(make_record(), turns=(({"text": "x", "tool_calls": 3},),))
    path = write_scorecard(tmp_path / "a.json", [broken])
    with (
        ExitStack() as opened,
        pytest.raises(UsageError, match=r"an answer of core:simple_python_0: .*give the scorecard.json"),
    ):
        open_scorecard(path, opened)


def test_an_open_baseline_has_no_answers_to_read(tmp_path: Path) -> None:
    path = _write_file(tmp_path / "b.json", write_baseline(_load_baseline(tmp_path, RECORDS)))
    with ExitStack() as opened:
        card = open_scorecard(path, opened)
        assert [card.read_whole(each) for each in card.records] == list(card.records)


def test_a_baseline_has_no_answers_to_leave_out(tmp_path: Path) -> None:
    path = tmp_path / "base.json"
    path.write_text(write_baseline(load_scorecard(write_scorecard(tmp_path / "card.json", [make_record()]))))
    assert load_outlines(path) == load_scorecard(path)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def read(path: Path) -> tuple[dict[str, object], list[object], list[Place]]:
    tests: list[object] = []
    places: list[Place] = []

    def take_test(test: object, place: Place) -> None:
        tests.append(test)
        places.append(place)

    return read_report(path, take_test), tests, places


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports") / "report.json"


def lay_out(members: Mapping[str, object], tests: Sequence[object]) -> str:
    """Write a report as a run does: each test on a line."""
    beginning = "".join(f"{json.dumps(key)}: {json.dumps(value)}, " for key, value in members.items())
    lines = ",".join(f"\n{json.dumps(test)}" for test in tests)
    return f'{{{beginning}"tests": [{lines}\n], "last": 1}}'


@given(
    members=st.dictionaries(st.text(max_size=4).filter(lambda key: key != "tests"), VALUES, max_size=3),
    tests=st.lists(VALUES, max_size=5),
    indent=st.sampled_from([None, 0, 3, "ours"]),
)
def test_it_is_read_as_json_reads_it(
    path: Path, members: dict[str, Any], tests: list[Any], indent: Literal["ours"] | int | None
) -> None:
    text = (
        lay_out(members, tests)
        if indent == "ours"
        else json.dumps({**members, "tests": tests, "last": 1}, indent=indent, ensure_ascii=False)
    )
    path.write_bytes(text.encode())
    found, taken, places = read(path)
    assert found == {**members, "tests": [], "last": 1}
    assert taken == tests
    assert all(isinstance(place, ByteRange) == (indent == "ours") for place in places)
    with open_places(path) as read_place:
        assert [json.loads(read_place(place)) for place in places] == tests
    if indent == "ours":
        assert read_report_head(path) == {**members, "tests": []}


@each_case(
    "text",
    [
        *("", "{", '{"a"', '{"a": ', '{"a": 1', '{"a": 1}}', '{"a": 1} x', '{"a": 1,}', "{a: 1}"),
        *(
            '{"tests": [1',
            '{"tests": [1,]}',
            '{"tests": [1 2]}',
            '{"a": "\x80"}',
            "{1: 2}",
        ),
        *('{"tests": [\n1', '{"tests": [\n1,', '{"tests": [\n', '{"tests": [\n1\n] x'),
    ],
)
def test_what_is_no_plain_object_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=r"."):
        read(tmp_path / "x.json")


def test_tests_that_are_no_list_are_left_to_who_reads_them(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"tests": {"a": 1}, "b": 2}')
    assert read(tmp_path / "x.json") == ({"tests": {"a": 1}, "b": 2}, [], [])


@each_case(
    ("name", "ended"),
    [("20270115-080000-test.json", "2027-01-15 08:00:00"), ("gpt-4o-mini.json", "-"), ("2027.json", "-")],
)
def test_a_file_with_a_name_of_its_own_tells_no_end(name: str, ended: str) -> None:
    run = KeptRun(Path(name), "m", "official", (), {}, None, None, 1, 0, 0, None, None, None, None)
    assert run.ended == ended
