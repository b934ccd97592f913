from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.environments import execution as environments
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.environments.world import World
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.suites import core
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.tools.authoring.entry_writing import write_walks
from pytest_fcbench.tools.authoring.sampling import (
    Walk,
    WalkCall,
    does_succeed,
    draw_fresh_value,
    draw_walks,
    list_words,
    rate_fit,
)
from tests.cases import each_case


@pytest.fixture(scope="module")
def suite() -> Suite:
    return core.open_suite(Path())


@pytest.fixture(scope="module")
def desk(suite: Suite) -> Entry:
    """Tickets and files."""
    return suite.load(CATEGORIES["multi_turn_base"])[1]


def _open_environments(suite: Suite, entry: Entry) -> Environments:
    return environments.open_environments(entry, suite.world)


@pytest.fixture(scope="module")
def walks(suite: Suite, desk: Entry) -> list[Walk]:
    return list(draw_walks(_open_environments(suite, desk), desk.functions, Random(1), 8))


def test_a_walk_can_be_carried_out_and_returns_what_it_says(
    suite: Suite, desk: Entry, walks: list[Walk]
) -> None:
    assert len(walks) == 8
    for walk in walks:
        here = _open_environments(suite, desk)
        for call in (call for calls in walk.turns for call in calls):
            assert here.perform_calls([call.text]) == (call.result,)
            assert "error" not in call.result.lower()


def test_each_walk_has_calls_that_need_each_other(suite: Suite, desk: Entry, walks: list[Walk]) -> None:
    for walk in walks:
        assert walk.edges
        calls = [call for turn in walk.turns for call in turn]
        for at, call in enumerate(calls):
            for name, source in call.found.items():
                assert source in [earlier.name for earlier in calls[:at]]
                instead = call.text.replace(repr(call.arguments[name]), repr("nothing of the kind"))
                here = _open_environments(suite, desk)
                here.perform_calls([earlier.text for earlier in calls[:at]])
                assert here.perform_calls([instead]) != (call.result,)


@pytest.mark.nightly
def test_the_edges_are_those_that_a_person_would_draw(suite: Suite, desk: Entry) -> None:
    many = draw_walks(_open_environments(suite, desk), desk.functions, Random(2), 25)

    edges = frozenset[tuple[str, str]]().union(*(walk.edges for walk in many))

    assert ("create_ticket", "close_ticket.ticket_id") in edges
    assert ("ls", "mv.source") in edges or ("ls", "cp.source") in edges
    targets = {target for _, target in edges}
    assert not targets & {"create_ticket.title", "send_message.message", "resolve_ticket.resolution"}


@pytest.mark.nightly
def test_no_two_walks_are_alike_and_the_seed_decides(suite: Suite, desk: Entry, walks: list[Walk]) -> None:
    names = [tuple(call.name for calls in walk.turns for call in calls) for walk in walks]
    assert len(set(names)) == len(names)
    assert list(draw_walks(_open_environments(suite, desk), desk.functions, Random(1), 8)) == walks
    assert list(draw_walks(_open_environments(suite, desk), desk.functions, Random(9), 8)) != walks


def test_the_environments_that_it_starts_from_stay_as_they_are(suite: Suite, desk: Entry) -> None:
    start = _open_environments(suite, desk)

    list(draw_walks(start, desk.functions, Random(3), 3))

    assert start.copy_state() == _open_environments(suite, desk).copy_state()


def test_a_try_copies_no_table_of_the_world(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse_copy(world: World, copies: object) -> World:
        raise AssertionError("a world never changes, and most of the time of a walk went into its copies")

    monkeypatch.setattr(World, "__deepcopy__", refuse_copy, raising=False)
    (vehicle,) = (
        entry for entry in suite.load(CATEGORIES["multi_turn_base"]) if entry.id == "multi_turn_base_4"
    )
    list(draw_walks(_open_environments(suite, vehicle), vehicle.functions, Random(1), 1))


def test_what_was_said_or_returned_need_not_be_mentioned_again(walks: list[Walk]) -> None:
    for walk in walks:
        said: list[object] = []
        for turn in range(len(walk.turns)):
            mention = walk.list_mentions(turn)
            assert not any(value in said for value in mention)
            said += mention


def test_functions_that_need_what_nobody_describes_are_left_out(walks: list[Walk]) -> None:
    assert "edit_ticket" not in {call.name for walk in walks for calls in walk.turns for call in calls}


def test_a_draft_is_read_only_when_it_is_worded(desk: Entry, walks: list[Walk], tmp_path: Path) -> None:
    assert desk.scene is not None
    path = tmp_path / "draft.yaml"
    path.write_text(write_walks(desk.scene, walks, desk.key, 3, {}), encoding="utf-8")
    with pytest.raises(SuiteError, match=r"draft\.yaml:\d+: entries\.0\.turns\.0\.user: is not written yet"):
        entry_files.read_entries(path, "mine")

    questions = {(at, turn): "Please." for at, walk in enumerate(walks) for turn in range(len(walk.turns))}
    path.write_text(write_walks(desk.scene, walks, desk.key, 3, questions), encoding="utf-8")
    entries = entry_files.read_entries(path, "mine")

    assert [entry.id for entry in entries] == [f"multi_turn_base_{3 + at}" for at in range(8)]
    assert {entry.parents for entry in entries} == {(desk.key,)}
    assert [entry.expectation for entry in entries] == [
        Trajectory(tuple(tuple(call.text for call in calls) for calls in walk.turns)) for walk in walks
    ]
    assert all(entry.scene == desk.scene for entry in entries)


@each_case(
    ("result", "succeeds"),
    [
        ('{"balance": 0}', True),
        ('{"found": []}', False),
        ('{"sent": false}', False),
        ('{"state": "not found"}', False),
        ("Error: no such file", False),
    ],
)
def test_the_words_of_a_result_tell_whether_a_call_succeeds(result: str, succeeds: bool) -> None:
    assert does_succeed(result) is succeeds


def test_a_chain_counts_the_links_between_calls_that_need_each_other() -> None:
    def make_call(name: str, **found: str) -> WalkCall:
        return WalkCall(name, {}, found, (), "")

    pair = (make_call("find"), make_call("read", id="find"))
    assert Walk((pair,)).links == 1
    assert Walk((pair, (make_call("close", id="read"),))).links == 2
    assert Walk((pair, (make_call("close", id="find"),))).links == 1
    # The second call of a function does not shorten the chain that led to the first.
    assert Walk((pair, (make_call("read"),))).links == 1


@each_case(
    ("name", "schema", "expected"),
    [
        ("username", {"type": "string"}, {"Mira Solberg", "Jonas Okafor", "Aiko Lindqvist"}),
        ("file_name", {"type": "string"}, {"minutes.txt", "packing_list.txt", "expenses.csv"}),
        ("start", {"type": "string", "description": "As MM/YYYY."}, {"09/2027", "04/2028"}),
        ("sector", {"type": "string", "description": 'Such as "Technology".'}, {"Technology"}),
        ("badge", {"type": "string", "description": "On the user's card, like 'K7'."}, {"K7"}),
        ("base", {"type": "string", "description": "A code such as USD, EUR or RMB."}, {"USD", "EUR", "RMB"}),
        ("priority", {"type": "integer", "description": "From 1 to 3."}, {1, 2, 3}),
        ("door", {"type": "string", "enum": ["left", "right"]}, {"left", "right"}),
        ("gadget", {"type": "string"}, {f"gadget {n}" for n in (2, 3, 5, 8, 12, 25, 40, 75, 120, 250)}),
    ],
)
def test_what_is_made_up_suits_its_parameter(
    name: str, schema: dict[str, object], expected: set[object]
) -> None:
    assert {draw_fresh_value(name, schema, Random(seed)) for seed in range(200)} == expected


@each_case(
    ("name", "description", "label", "fits"),
    [
        ("receiver_id", "", "user id", True),
        ("source", "Name of a folder.", "directory", True),
        ("ticket_id", "", "order id", False),
        ("dir_name", "Name of the new folder.", "folder", False),
        ("message", "", "message", False),
    ],
)
def test_a_known_value_fits_by_its_words(name: str, description: str, label: str, fits: bool) -> None:
    schema = {"type": "string", "description": description}
    assert bool(rate_fit(name, schema, list_words(label))) == fits
