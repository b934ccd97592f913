"""The support desk: who may do what, and what becomes of a ticket."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.environments.api.tickets import Tickets
from pytest_fcbench.environments.environment import list_functions
from pytest_fcbench.environments.world import World
from tests.cases import each_case

WORLD = World(defaults={"tickets": {"ticket_queue": [], "ticket_counter": 1, "current_user": None}})
LAMP: dict[str, Any] = {
    "id": 7,
    "title": "Lamp",
    "description": "It flickers.",
    "status": "Open",
    "priority": 2,
    "created_by": "grace",
}
CONFIG: dict[str, Any] = {"ticket_queue": [LAMP], "ticket_counter": 8, "current_user": "ada"}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)
CALLS = st.lists(st.tuples(st.sampled_from(list_functions(Tickets)), st.lists(JSON, max_size=3)), max_size=12)


def make_desk(**config: object) -> Tickets:
    return Tickets(CONFIG | config, WORLD)


def test_the_state_is_the_default_state_with_the_configuration_over_it() -> None:
    assert Tickets({"nonsense": 1}, WORLD).state() == WORLD.defaults["tickets"]
    assert make_desk().state() == CONFIG


def test_a_new_ticket_is_open_and_belongs_to_the_user() -> None:
    tickets = make_desk()
    ticket = tickets.create_ticket("Door")
    assert ticket == {
        "id": 8,
        "title": "Door",
        "description": "",
        "status": "Open",
        "priority": 1,
        "created_by": "ada",
    }
    assert tickets.get_ticket(8) == ticket
    assert tickets.ticket_counter == 9


@each_case("priority", [0, 6, -1, 5.5])
def test_a_priority_goes_from_1_to_5(priority: Any) -> None:
    tickets = make_desk()
    assert "priority" in str(tickets.create_ticket("Door", priority=priority)["error"])
    assert tickets.state() == CONFIG


def test_creating_and_listing_tickets_needs_a_login() -> None:
    tickets = make_desk(current_user=None)
    assert "Log in" in str(tickets.create_ticket("Door")["error"])
    assert "Log in" in str(tickets.get_user_tickets()[0]["error"])


@pytest.mark.parametrize(
    ("username", "password", "works"), [("bob", "any", True), ("bob", "", False), ("", "any", False)]
)
def test_any_name_and_password_will_do_that_are_not_empty(username: str, password: str, works: bool) -> None:
    tickets = make_desk(current_user=None)
    assert tickets.ticket_login(username, password) == {"success": works}
    assert tickets.ticket_get_login_status() == {"login_status": works}
    assert tickets.logout() == {"success": works}
    assert tickets.current_user is None


@each_case(
    ("function", "arguments"),
    [
        ("get_ticket", []),
        ("close_ticket", []),
        ("resolve_ticket", ["done"]),
        ("edit_ticket", [{"title": "x"}]),
    ],
)
def test_a_ticket_that_is_not_there_is_named(function: str, arguments: list[object]) -> None:
    assert getattr(make_desk(), function)("7", *arguments) == {"error": "There is no ticket 7."}


Failing = tuple[str, list[object], str]
"""A function, its arguments, and what else there is: ``nobody`` logged in, or a ticket of that status."""
ALIKE: list[list[Failing]] = [
    [("create_ticket", ["Door"], "nobody"), ("create_ticket", ["Roof", "", 9], "nobody")],
    [("get_user_tickets", [], "nobody"), ("get_user_tickets", ["Open"], "nobody")],
    [("create_ticket", ["Door", "", 0], ""), ("create_ticket", ["Roof", "", 9], "")],
    [
        ("get_ticket", [3], ""),
        ("get_ticket", ["3"], ""),  # as a text it is the same
        ("close_ticket", [3], ""),
        ("resolve_ticket", [3, "done"], ""),
        ("edit_ticket", [3, {"id": 1}], ""),
    ],
    [("get_ticket", [4], "")],
    [("close_ticket", [7], "Closed"), ("close_ticket", [7], "Closed")],
    [("close_ticket", [7.0], "Closed")],
    [("resolve_ticket", [7, "a"], "Resolved"), ("resolve_ticket", [7, "b"], "Resolved")],
    [("edit_ticket", [7, {"id": 1}], ""), ("edit_ticket", [7, {"title": "x", "id": 2}], "")],
    [("edit_ticket", [7, {"id": 1, "note": 2}], ""), ("edit_ticket", [7, {"note": 1, "id": 2}], "")],
]


def error_of(function: str, arguments: list[object], setting: str) -> str:
    tickets = make_desk(
        ticket_queue=[LAMP | {"status": setting}], current_user=None if setting == "nobody" else "ada"
    )
    answer = getattr(tickets, function)(*arguments)
    return str((answer[0] if isinstance(answer, list) else answer)["error"])


@each_case("calls", ALIKE, ids=str)
def test_errors_read_alike_exactly_where_they_officially_do(calls: list[Failing]) -> None:
    """Verdicts compare texts: what an error names, and which functions share it, is part of them."""
    [text] = {error_of(*call) for call in calls}
    assert text not in {error_of(*call) for others in ALIKE if others is not calls for call in others}


def test_closing_and_resolving_are_refused_only_twice_in_a_row() -> None:
    """Official, and without a login, on the ticket of another user."""
    tickets = make_desk(current_user=None)
    assert tickets.close_ticket(7) == {"status": "Ticket 7 has been closed successfully."}
    assert "error" in tickets.close_ticket(7)
    assert tickets.resolve_ticket(7, "new bulb") == {"status": "Ticket 7 has been resolved successfully."}
    assert "error" in tickets.resolve_ticket(7, "none")
    assert tickets.get_ticket(7) == LAMP | {"status": "Resolved", "resolution": "new bulb"}
    assert "status" in tickets.close_ticket(7)


def test_an_edit_sets_fields_without_a_look_at_their_values() -> None:
    tickets = make_desk(current_user=None)
    edit = {"title": "Bulb", "priority": 9, "status": "Lost", "description": None}
    assert tickets.edit_ticket(7, edit) == {"status": "Ticket 7 has been updated successfully."}
    assert tickets.ticket_queue == [LAMP | {"title": "Bulb", "priority": 9, "status": "Lost"}]


@pytest.mark.parametrize("field", ["id", "created_by", "resolution"])
def test_an_edit_of_another_field_changes_nothing(field: str) -> None:
    tickets = make_desk()
    assert field in str(tickets.edit_ticket(7, {"title": "Bulb", field: 1})["error"])
    assert tickets.state() == CONFIG


def test_an_edit_must_be_an_object() -> None:
    with pytest.raises(AttributeError, match="'list' object has no attribute 'keys'"):
        make_desk().edit_ticket(7, ["title"])  # type: ignore[arg-type]


@each_case(
    ("status", "titles"),
    [(None, ["Door", "Roof"]), ("", ["Door", "Roof"]), ("CLOSED", ["Roof"]), ("Resolved", [])],
)
def test_a_user_sees_their_own_tickets(status: str | None, titles: list[str]) -> None:
    tickets = make_desk()
    tickets.create_ticket("Door")
    tickets.create_ticket("Roof")
    tickets.close_ticket(9)
    assert [ticket["title"] for ticket in tickets.get_user_tickets(status)] == titles


@given(CALLS)
def test_no_call_reaches_beyond_its_desk(calls: list[tuple[str, list[object]]]) -> None:
    tickets, other = make_desk(), make_desk()
    config, world, state = deepcopy(CONFIG), deepcopy(WORLD), deepcopy(other.state())
    tickets.close_ticket(7)
    for function, arguments in calls:
        with suppress(Exception):
            getattr(tickets, function)(*arguments)
    assert (CONFIG, WORLD, other.state()) == (config, world, state)
