"""The workspace whose users send each other messages."""

from __future__ import annotations

from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.environments.api.messages import Messages
from pytest_fcbench.environments.environment import list_functions
from pytest_fcbench.environments.world import World
from tests.cases import each_case

WORLD = World(
    defaults={
        "messages": {
            "random_seed": 7,
            "generated_ids": [],
            "user_count": 2,
            "user_map": {"Ada": "USR001", "Ben": "USR002"},
            "inbox": [{"USR002": "Tea at four?"}],
            "message_count": 1,
            "current_user": None,
        }
    }
)


def make_workspace(user: str | None = "USR001", world: World = WORLD, **config: object) -> Messages:
    return Messages({"current_user": user, **config}, world, long_context=True)


def test_state_is_the_default_under_the_configuration() -> None:
    assert make_workspace(None, user_count=9).state() == {
        **{key: value for key, value in WORLD.defaults["messages"].items() if key != "random_seed"},
        "generated_ids": set(),
        "user_count": 9,
    }


def test_users_are_listed_and_found_by_name() -> None:
    messages = make_workspace(None)
    assert messages.list_users() == {"user_list": ["Ada", "Ben"]}
    assert messages.get_user_id("Ben") == {"user_id": "USR002"}
    assert "'ben'" in str(messages.get_user_id("ben")["error"])


def test_a_known_user_can_log_in() -> None:
    messages = make_workspace(None)
    assert messages.message_get_login_status() == {"login_status": False}
    assert messages.message_login("Ada") == {"login_status": False, "message": "User ID 'Ada' not found."}
    assert messages.message_login("USR002") == {
        "login_status": True,
        "message": "User 'USR002' logged in successfully.",
    }
    assert messages.message_get_login_status() == {"login_status": True}
    assert messages.current_user == "USR002"


@each_case(
    ("name", "arguments"),
    [
        ("send_message", ("USR002", "x")),
        ("delete_message", ("USR002",)),
        ("view_messages_sent", ()),
        ("search_messages", ("x",)),
        ("get_message_stats", ()),
    ],
)
def test_what_needs_a_login(name: str, arguments: tuple[str, ...]) -> None:
    messages = make_workspace("")
    before = deepcopy(messages.state())
    assert list(getattr(messages, name)(*arguments)) == ["error"]
    assert messages.state() == before


def test_a_message_is_sent() -> None:
    messages = make_workspace()
    sent = messages.send_message("USR002", "Yes")
    (message_id,) = messages.generated_ids
    assert sent == {
        "sent_status": True,
        "message_id": {"new_id": message_id},
        "message": "Message sent to 'USR002' successfully.",
    }
    assert (messages.inbox[-1], messages.message_count) == ({"USR002": "Yes"}, 2)
    assert "'Ben'" in str(messages.send_message("Ben", "Yes")["error"])


def test_ids_come_from_the_seed_and_are_not_given_twice() -> None:
    first = [make_workspace().send_message("USR002", "x")["message_id"] for _ in range(2)]
    assert first[0] == first[1]
    assert make_workspace(random_seed=None).send_message("USR002", "x")["message_id"] == first[0]
    assert make_workspace(random_seed=8).send_message("USR002", "x")["message_id"] != first[0]
    (taken,) = first[0].values()  # type: ignore[attr-defined]
    assert make_workspace(generated_ids=[taken]).send_message("USR002", "x")["message_id"] != first[0]


def test_the_id_range_of_the_benchmark() -> None:
    sent = make_workspace(random_seed=200191).send_message("USR002", "x")
    assert sent["message_id"] == {"new_id": 67410}


def test_of_equal_messages_the_oldest_is_deleted_and_the_count_stays() -> None:
    messages = make_workspace(inbox=[{"USR002": "a"}, {"USR001": "b"}, {"USR002": "a"}], message_count=3)
    assert messages.delete_message("USR002") == {
        "deleted_status": True,
        "receiver_id": "USR002",
        "message": "Receiver USR002's latest message deleted successfully.",
    }
    assert (messages.inbox, messages.message_count) == ([{"USR001": "b"}, {"USR002": "a"}], 3)
    assert list(messages.delete_message("USR009")) == ["error"]


def test_messages_that_were_sent_can_be_viewed() -> None:
    messages = make_workspace(inbox=[{"USR002": "Tea?"}, {"USR001": "Note"}, {"USR002": "No tea"}])
    assert messages.view_messages_sent() == {"messages": {"USR002": ["Tea?", "No tea"], "USR001": ["Note"]}}
    assert messages.search_messages("TEA") == {
        "results": [
            {"receiver_id": "USR002", "message": "Tea?"},
            {"receiver_id": "USR002", "message": "No tea"},
        ]
    }
    assert messages.get_message_stats() == {"stats": {"received_count": 3, "total_contacts": 2}}


def test_contacts_need_no_login() -> None:
    messages = make_workspace(None)
    assert messages.add_contact("Cy") == {
        "added_status": True,
        "user_id": "USR003",
        "message": "Contact 'Cy' added successfully.",
    }
    assert "'Cy'" in str(messages.add_contact("Cy")["error"])
    assert messages.user_count == 3


def test_a_taken_id_counts_all_the_same() -> None:
    messages = make_workspace(user_count=1)
    assert "'USR002'" in str(messages.add_contact("Cy")["error"])
    assert messages.user_count == 2
    assert "Cy" not in messages.user_map


Failing = tuple[str, list[object], dict[str, object]]
OUT: dict[str, object] = {"current_user": None}
ALIKE: list[list[Failing]] = [
    [
        ("send_message", ["USR002", "x"], OUT),
        ("send_message", ["x", "y"], OUT),
        ("delete_message", ["x"], OUT),
        ("view_messages_sent", [], OUT),
        ("search_messages", ["x"], OUT),
        ("get_message_stats", [], OUT),
    ],
    [("get_user_id", [None], OUT), ("get_user_id", ["None"], {})],  # as a text it is the same
    [("get_user_id", ["x"], {})],
    [
        ("send_message", ["x", "y"], {}),
        ("send_message", ["x", "z"], {"inbox": []}),
        ("delete_message", ["'x'"], {}),  # with the quotes that sending adds
    ],
    [("delete_message", ["x"], {}), ("delete_message", ["x"], {"inbox": []})],
    [("delete_message", [7], {}), ("delete_message", ["7"], {})],
    [("add_contact", ["Ada"], {}), ("add_contact", ["Ada"], {"user_count": 1})],
    [("add_contact", ["Ben"], {})],
    [("add_contact", ["x"], {"user_count": 1}), ("add_contact", ["y"], {"user_count": 1})],
    [("add_contact", ["x"], {"user_count": 0})],
]
"""Functions, their arguments and the configuration of the workspace: one list for each text."""


def error_of(function: str, arguments: list[object], config: dict[str, object]) -> str:
    messages = Messages({"current_user": "USR001", **config}, WORLD)
    return str(getattr(messages, function)(*arguments)["error"])


@each_case("calls", ALIKE, ids=str)
def test_errors_read_alike_exactly_where_they_officially_do(calls: list[Failing]) -> None:
    """Verdicts compare texts: what an error names, and which functions share it, is part of them."""
    [text] = {error_of(*call) for call in calls}
    assert text not in {error_of(*call) for others in ALIKE if others is not calls for call in others}


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
names = st.sampled_from(["Ada", "Cy", "USR001", "USR002", "x"])
values = names | st.recursive(scalars, lambda inner: st.lists(inner, max_size=2), max_leaves=3)
calls = st.tuples(st.sampled_from(list_functions(Messages)), st.lists(values, max_size=2))


@given(st.lists(calls, max_size=12))
def test_any_calls_stay_within_their_instance(made: list[tuple[str, list[object]]]) -> None:
    config: dict[str, object] = {
        "current_user": "USR001",
        "inbox": [{"USR002": "a"}],
        "user_map": {"Ada": "USR001"},
    }
    world, before = deepcopy(WORLD), deepcopy(config)
    messages, other = Messages(config, world), Messages(config, world)
    untouched = deepcopy(other.state())
    for name, arguments in made:
        try:
            answer = getattr(messages, name)(*arguments)
        except Exception:  # noqa: BLE001
            continue
        assert isinstance(answer, dict)
    assert (config, world, other.state()) == (before, WORLD, untouched)
