"""Entries under pressure: what is added, that the truth stays, and what cannot be pressed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Entry, Shard, name_cluster
from pytest_fcbench.domain.pressure import CHARACTERS_PER_TOKEN, PressureKind, parse_levels, split_level
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    PathSettings,
    Transcript,
    drive_conversation,
)
from pytest_fcbench.domain.verdict import Passed, Profile
from pytest_fcbench.environments.execution import open_environments
from pytest_fcbench.kinds.kind import ConversationContext, Resources
from pytest_fcbench.kinds.table import converse, find_kind, judge
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.suites import core
from pytest_fcbench.suites.pressure import TOO_ALIKE, PressureMaterial, press_entry, restore_pressure


@cache
def make_material() -> PressureMaterial:
    return PressureMaterial([core.open_suite(Path())], context_tokens=8000)


def load(*names: str) -> list[Entry]:
    return [entry for name in names for entry in core.open_suite(Path()).load(CATEGORIES[name])]


def press(entries: Sequence[Entry], text: str) -> Iterator[Entry]:
    for entry in entries:
        yield from press_entry(entry, parse_levels(text), make_material())


def hold_oracle_conversation(entry: Entry, mode: Mode, requests: list[AskModel]) -> Transcript:
    oracle, suite = OracleModel(Prompting.make_default(mode)), core.open_suite(Path())
    context = ConversationContext(
        ModelPresentation("oracle", oracle.prompting), suite, PathSettings(Profile.CORRECTED)
    )

    def answer(request: AskModel) -> Completion:
        requests.append(request)
        return run_through(oracle.complete(each, request))

    for each in (*entry.earlier, entry):
        requests.clear()
        transcript = drive_conversation(converse(each, context), answer)
    return transcript


def is_right(entry: Entry, mode: Mode) -> bool:
    world = core.open_suite(Path()).world
    resources = Resources(lambda each: open_environments(each, world), _execute_nothing, _perform_nothing)
    judgement = judge(entry, hold_oracle_conversation(entry, mode, []), resources)
    return all(isinstance(each, Passed) for each in (judgement.official, judgement.corrected))


def _execute_nothing(calls: object, recorded: object, own: object) -> NoReturn:
    raise AssertionError("nothing here is executed")


def _perform_nothing(*_: object) -> NoReturn:
    raise AssertionError("nothing here is sent")


SINGLE = [
    n for n in SELECTIONS["single_turn"] if n in {each.name for each in core.open_suite(Path()).categories}
]


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("name", SINGLE)
def test_oracle_is_right_at_every_level_of_distractors(name: str) -> None:
    """All entries of a single-turn category keep their truth among 8 and 128 other functions."""
    levels = "distractors:8" if "java" in name else "distractors:8,128"
    wrong = [each.id for each in press(load(name), levels) if not is_right(each, Mode.FC)]
    assert wrong == []


@pytest.mark.few(2)
@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
@pytest.mark.parametrize("text", ["distractors:0,64", "context:25,75", "results:1k,8k", "errors:0,1,2"])
def test_oracle_is_right_in_conversations(text: str, mode: Mode) -> None:
    """A sample of conversations keeps its truth under each kind of pressure."""
    entries = (
        load("multi_turn_base", "multi_turn_miss_func", "multi_turn_composite")[::9] + load("memory_kv")[::11]
    )
    pressed = list(press(entries, text))
    assert len({split_level(each.id)[0] for each in pressed}) > 6
    assert [each.id for each in pressed if not is_right(each, mode)] == []


def test_levels_of_distractors_contain_the_lower_ones() -> None:
    """A level has all functions of the entry and of lower levels, at places that follow from its key."""
    entry = load("multiple")[5]
    plain, few, more, most = press([entry], "distractors:0,8,32,128")
    assert plain.functions == entry.functions
    assert few.id == f"{entry.id}+distractors=8"
    assert [len(each.functions) - len(entry.functions) for each in (few, more, most)] == [8, 32, 128]
    names = [{doc.name for doc in each.functions} for each in (plain, few, more, most)]
    assert names[0] < names[1] < names[2] < names[3]
    assert few.functions == next(press([entry], "distractors:8")).functions
    order = [doc.name for doc in more.functions if doc.name in names[1]]
    assert order == [doc.name for doc in few.functions]
    assert order[: len(entry.functions)] != [doc.name for doc in entry.functions]


def test_no_distractor_does_the_same() -> None:
    """Functions named after the same thing, or described alike, are left out; those of the same API stay."""
    timer = next(entry for entry in load("multiple") if entry.find_function("set_timer"))
    offered = {doc.name for doc in next(press([timer], "distractors:128")).functions}
    own = {doc.name for doc in timer.functions}
    assert not {"start_timer", "timers.start", "lab.start_timer"} & (offered - own)
    move = next(entry for entry in load("multiple") if entry.find_function("clinic.reschedule_appointment"))
    offered = {doc.name for doc in next(press([move], "distractors:128")).functions}
    assert not {"clinic.move", "clinic.book"} & offered, "no entry offers them beside each other"
    hold = next(
        entry for entry in load("live_parallel") if [d.name for d in entry.functions] == ["parcels.hold"]
    )
    assert "parcels.refuse" in {doc.name for doc in next(press([hold], "distractors:8")).functions}


def test_limit_of_likeness_loses_few_functions() -> None:
    """Of the wrong functions that people offered beside a right one, fewer than 3 % are as alike."""
    pool = make_material()._pools
    alike = []
    for entry in load("multiple", "live_multiple", "parallel_multiple"):
        right = {call.name for steps in find_kind(entry).list_right_calls(entry) for c in steps for call in c}
        docs = pool[entry.category.language]
        for doc in entry.functions:
            ratings = docs.rate(doc) if doc.name in right else {}
            alike += [
                rating.alike
                for place, rating in ratings.items()
                if docs.docs[place].name not in right and entry.find_function(docs.docs[place].name)
            ]
    assert len(alike) > 3000
    assert sum(each >= TOO_ALIKE for each in alike) / len(alike) < 0.03


def test_what_cannot_be_pressed_is_left_out() -> None:
    """Irrelevance has no truth that other functions leave alone; single turns have no results."""
    assert not list(press(load("irrelevance"), "distractors:8"))
    assert not list(press(load("simple_java"), "distractors:8,128"))
    assert not list(press(load("simple_python"), "results:1k"))
    assert not list(press(load("multi_turn_miss_func"), "errors:1"))
    assert not list(press(load("hotels"), "context:50"))
    assert list(press(load("irrelevance")[:1], "context:50"))


def test_context_is_filled_by_whole_conversations() -> None:
    """Turns about functions of other names stand before the question, as much as fits."""
    entry = load("multiple")[0]
    half, most = press([entry], "context:50,75")
    for each, share in ((half, 0.5), (most, 0.75)):
        (first,) = each.turns
        assert first[-1:] == entry.turns[0]
        size = sum(len(m.content) + sum(len(str(call)) for call in m.calls) for m in first[:-1])
        assert 0.5 * share < size / (8000 * CHARACTERS_PER_TOKEN) <= share
        assert {"tool", "assistant", "user"} <= {message.role for message in first}
    assert most.turns[0][: len(half.turns[0]) - 1] == half.turns[0][:-1]
    requests: list[AskModel] = []
    hold_oracle_conversation(most, Mode.FC, requests)
    calls = [call for m in requests[0].messages if isinstance(of := m.get("tool_calls"), list) for call in of]
    assert len(calls) == sum(m["role"] == "tool" for m in requests[0].messages) > 0


def test_results_are_as_long_as_the_level_says() -> None:
    """Each result of a call has others around it, and is still there."""
    entry = load("multi_turn_base")[2]
    plain, long = press([entry], "results:0,2k")
    texts = []
    for each in (plain, long):
        requests: list[AskModel] = []
        hold_oracle_conversation(each, Mode.FC, requests)
        texts.append([str(m["content"]) for m in requests[-1].messages if m["role"] == "tool"])
    assert len(texts[0]) == len(texts[1]) > 1
    for own, padded in zip(*texts, strict=True):
        assert own in padded
        assert 0.99 < len(padded) / (2000 * CHARACTERS_PER_TOKEN) < 1.02


def test_errors_come_instead_of_the_first_results() -> None:
    """The first answers with calls get an error; who calls again is judged by the calls that were made."""
    (entry,) = press(load("multi_turn_base")[:1], "errors:2")
    transcript = hold_oracle_conversation(entry, Mode.FC, [])
    assert [bool(step.calls) for step in transcript.turns[0]] == [False, False, True, False]
    assert is_right(entry, Mode.FC)


def test_levels_of_an_entry_are_one_cluster_and_in_one_shard() -> None:
    """Level and suffix follow from the id alone."""
    entry = load("live_multiple")[0]
    pressed = list(press([entry], "distractors:0,8"))
    assert {name_cluster("core", each.id, each.cluster) for each in pressed} == {
        name_cluster("core", entry.id, entry.cluster)
    }
    assert len({Shard(number, 7).holds(each) for each in (*pressed, entry) for number in (3,)}) == 1
    assert split_level("core:a+errors=2") == ("core:a", parse_levels("errors:2")[0])
    assert split_level("core:a+b=2") == ("core:a+b=2", None)
    assert restore_pressure(entry, pressed[1].key).pressure == parse_levels("distractors:8")[0]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("noise:1", "must begin with distractors, context, results, errors"),
        ("errors:x", "must be errors: and whole numbers with commas between, such as errors:0,1,2"),
        ("context:96", "has the level 96; context can be 95 at most"),
        ("errors:0,1,2,3,4,5,6,7,8", "has 9 levels; give at most 8"),
    ],
)
def test_wrong_levels_are_refused(text: str, rule: str) -> None:
    """The rule and an example stand in the error."""
    with pytest.raises(ValueError, match=rule):
        parse_levels(text)


def test_levels_are_read() -> None:
    """A k is a thousand; levels are sorted and come once."""
    levels = parse_levels("results:8k,1k,1000")
    assert [level.amount for level in levels] == [1000, 8000]
    assert {level.kind for level in levels} == {PressureKind.RESULTS}
