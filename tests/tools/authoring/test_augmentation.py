from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from pytest_fcbench.codecs.function_docs.json_schema import describe_function
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.verdict import Passed, Profile
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.kinds.calls import verdict as ast
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.kinds.relevance import verdict as relevance
from pytest_fcbench.kinds.relevance.truth import AnyCall
from pytest_fcbench.kinds.state.derived_entries import join_clusters
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.suites import core
from pytest_fcbench.tools.authoring.augmentation import KINDS, augment_entries
from pytest_fcbench.tools.authoring.entry_writing import format_entries
from tests.factories import ask_model, make_entry, make_transcript

CORE = core.open_suite(Path())
ENTRIES = [entry for category in CORE.categories if category.single_turn for entry in CORE.load(category)]
GROWN = [entry for entry in ENTRIES if entry.parents and not entry.variation]


@pytest.fixture(scope="module")
def entries_by_kind() -> dict[str, list[Entry]]:
    return dict(augment_entries(ENTRIES, list(KINDS), 40, 7, "grown"))


def _write_files(seed: int, count: int) -> Mapping[str, str]:
    """Return the files that are made of what is written by hand in ``core``."""
    by_hand = [entry for entry in ENTRIES if not entry.parents]
    return format_entries(
        [e for _, group in augment_entries(by_hand, list(KINDS), count, seed, "grown") for e in group]
    )


def _judge_right_answer(entry: Entry, mode: Mode, *, of: Entry | None = None) -> set[bool]:
    """Tell whether the right answer to an entry, or that ``of`` another, passes in each profile."""
    names = Names.UNDERSCORED if mode is Mode.FC else Names.DOTTED
    transcript = make_transcript(
        ask_model(OracleModel(Prompting.make_default(mode, names)), of or entry), mode=mode, names=names
    )
    room = relevance if entry.kind == "irrelevance" else ast
    judgement = room.judge(entry, transcript)
    return {isinstance(judgement.select_profile(profile), Passed) for profile in Profile}


def _ask_something_else(entry: Entry, draw: Random) -> Entry:
    """Return the entry with another value in its truth, or a call where none is right."""
    if not isinstance(entry.expectation, ExpectedCalls):
        return replace(entry, expectation=AnyCall())
    calls = list(entry.expectation.calls)
    at = draw.randrange(len(calls))
    accepted = dict(calls[at].accepted)
    name = draw.choice([name for name, options in accepted.items() if "" not in _check_list(options)])
    accepted[name] = [_change_value(_check_list(accepted[name])[0])]
    calls[at] = ExpectedCall(calls[at].name, accepted)
    return replace(entry, expectation=ExpectedCalls(tuple(calls)))


def _change_value(value: object) -> object:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
        case list() | tuple():
            return [*value, *value]
    return {}


def _check_list(options: object) -> Sequence[object]:
    assert isinstance(options, list)
    return options


def test_every_kind_is_made_and_only_from_what_was_not_made(entries_by_kind: dict[str, list[Entry]]) -> None:
    keys = {entry.key for entry in ENTRIES if not entry.parents}
    counts = {kind: len(entries) for kind, entries in entries_by_kind.items()}
    assert counts == dict.fromkeys(KINDS, 40)
    assert all(
        entry.parents and set(entry.parents) <= keys
        for entries in entries_by_kind.values()
        for entry in entries
    )
    ids = [entry.id for entries in entries_by_kind.values() for entry in entries]
    assert len(set(ids)) == len(ids)
    assert not {f"core:{entry_id}" for entry_id in ids} & keys


def test_few_entries_of_a_kind_have_the_same_parents(entries_by_kind: dict[str, list[Entry]]) -> None:
    most = [max(Counter(entry.parents for entry in entries).values()) for entries in entries_by_kind.values()]
    assert max(most) == 3


def test_the_same_calls_in_another_order_are_no_new_entry() -> None:
    two = [entry for entry in ENTRIES if entry.key in ("core:simple_python_0", "core:multiple_0")]
    (_, parallel), *_ = augment_entries(two, ["parallel_multiple"], 20, 1, "grown")
    asked = [frozenset(call.name for call in _list_calls(entry)) for entry in parallel]
    values = [frozenset(repr(call) for call in _list_calls(entry)) for entry in parallel]
    assert len(asked) > 1
    assert len(set(values)) == len(values)


def _list_calls(entry: Entry) -> Sequence[ExpectedCall]:
    assert isinstance(entry.expectation, ExpectedCalls)
    return entry.expectation.calls


def test_functions_that_take_any_question_or_have_no_python_name_are_no_distractors(
    entries_by_kind: dict[str, list[Entry]],
) -> None:
    entries = [*entries_by_kind["multiple"], *entries_by_kind["irrelevance"]]
    offered = {doc.name for entry in entries for doc in entry.functions}

    assert "light.set" in offered
    assert not {"web.search", "requests.get", "rental_db.run", "orders.return"} & offered


@pytest.mark.parametrize("mode", Mode)
def test_the_oracle_passes_and_another_value_fails(
    entries_by_kind: dict[str, list[Entry]], mode: Mode
) -> None:
    entries = [*GROWN, *(entry for group in entries_by_kind.values() for entry in group)]
    assert [entry.id for entry in entries if _judge_right_answer(entry, mode) != {True}] == []
    draw = Random(1)
    wrong = [(entry, _ask_something_else(entry, draw)) for entry in entries]
    assert [entry.id for entry, other in wrong if _judge_right_answer(entry, mode, of=other) != {False}] == []


def test_a_seed_makes_the_same_files_again_and_another_seed_others() -> None:
    made = _write_files(1, 8)
    assert _write_files(1, 8) == made
    assert _write_files(2, 8) != made


def test_what_was_made_for_core_has_parents_in_core() -> None:
    """It was made by code and has been read and mended by hand since."""
    keys = {entry.key for entry in ENTRIES if not entry.parents}
    assert len(GROWN) >= 100
    assert [entry.id for entry in GROWN if not set(entry.parents) <= keys] == []


def test_an_entry_is_in_the_cluster_that_is_named_after_it() -> None:
    parent, other = make_entry(entry_id="simple_python_0"), make_entry(entry_id="simple_python_1")
    variant = replace(other, id="simple_python_2", cluster="simple_python_0")

    assert [entry.cluster for entry in join_clusters([parent, other, variant])] == [
        parent.id,
        None,
        parent.id,
    ]


def test_what_is_made_reads_back_as_it_was(entries_by_kind: dict[str, list[Entry]], tmp_path: Path) -> None:
    entries = [entry for group in entries_by_kind.values() for entry in group]
    for name, text in format_entries(entries).items():
        path = tmp_path / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")

        assert entry_files.read_entries(path, "grown") == tuple(e for e in entries if e.category.name == name)


def test_a_tool_is_written_with_its_schema(tmp_path: Path) -> None:
    schema = {
        "properties": {"city": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        "required": ["city"],
    }
    doc = describe_function("weather.forecast", "", schema)
    entry = make_entry(functions=[doc], expect=[{doc.name: {"city": ["Bergen", 5003]}}], suite="grown")
    ((_, text),) = format_entries([entry]).items()
    (tmp_path / "tool.yaml").write_text(text, encoding="utf-8")

    (read,) = entry_files.read_entries(tmp_path / "tool.yaml", "grown")

    assert read.functions == (doc,)
    assert read.functions[0].given == schema


def test_nothing_comes_of_entries_that_cannot_be_used() -> None:
    with pytest.raises(ValueError, match="no entry has a single question"):
        list(augment_entries([make_entry("irrelevance")], ["multiple"], 1, 1, "grown"))
