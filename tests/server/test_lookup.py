"""Which entry a request is about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.answers import Mode, Names
from pytest_fcbench.server.lookup import MANNERS, Lookup, Refused, read_body
from pytest_fcbench.suites import open_suite
from tests.factories import make_doc, make_entry
from tests.server.asking import CORE, Sent, body_of, entries_of, read, suite_of

DOTTED = make_entry()
FIRST = make_entry(functions=[make_doc("now")], query="What time is it?", entry_id="first")
SECOND = make_entry(functions=[make_doc("now")], query="What time is it?", entry_id="second")
BARE = make_entry("irrelevance", functions=[], query="Tell me a joke.")


def _lookup() -> Lookup:
    return Lookup([suite_of(DOTTED, FIRST, SECOND, BARE)])


def _refused(body: Sent, name: str | None = None) -> tuple[int, str, str]:
    with pytest.raises(Refused) as caught:
        _lookup().find(read(body), name)
    return caught.value.status, caught.value.code, str(caught.value)


# Found


@pytest.mark.parametrize("named", [False, True], ids=["by what it asks", "by name"])
@pytest.mark.parametrize(("mode", "names"), MANNERS)
def test_an_entry_and_its_manner_are_found(mode: Mode, names: Names, *, named: bool) -> None:
    asked = _lookup().find(read(body_of(DOTTED, mode, names)), DOTTED.key if named else None)
    assert (asked.entry, asked.mode, asked.names) == (DOTTED, mode, names)


def test_an_entry_that_is_put_alike_in_two_manners_is_found_in_the_usual_one() -> None:
    lookup = _lookup()
    with pytest.raises(Refused):
        lookup.find(read({"messages": []}))
    assert lookup.find(read(body_of(FIRST, Mode.FC, Names.DOTTED))).names is Names.UNDERSCORED
    assert lookup.find(read(body_of(FIRST, Mode.PROMPT, Names.UNDERSCORED))).names is Names.DOTTED


@pytest.mark.parametrize("mode", Mode)
def test_every_entry_of_core_is_found_in_one_lookup(mode: Mode) -> None:
    lookup = Lookup([CORE])
    names = Names.UNDERSCORED if mode is Mode.FC else Names.DOTTED
    for entry in entries_of(CORE):
        asked = lookup.find(read(body_of(entry, mode, names)))
        assert (asked.entry, asked.mode) == (entry, mode)


@pytest.mark.parametrize(
    ("name", "found"),
    [(None, FIRST), (FIRST.key, FIRST), (SECOND.key, SECOND), (f"{SECOND.key}-t12", SECOND)],
)
def test_of_entries_that_ask_the_same_the_named_one_is_meant_or_the_first(
    name: str | None, found: object
) -> None:
    lookup = _lookup()
    lookup.find(read(body_of(FIRST)))
    assert lookup.find(read(body_of(SECOND)), name).entry is found


def test_suites_are_searched_in_their_order() -> None:
    twin = make_entry(suite="twin")
    suites = [suite_of(twin, name="twin"), suite_of(DOTTED)]
    assert Lookup(suites).find(read(body_of(DOTTED))).entry is twin
    assert Lookup(suites[::-1]).find(read(body_of(DOTTED))).entry is DOTTED


def test_an_entry_whose_name_ends_like_a_trial_is_found_under_it() -> None:
    entry = make_entry(entry_id="core-t2")
    assert Lookup([suite_of(entry)]).find(read(body_of(entry)), "core:core-t2").entry is entry


def test_only_messages_and_tools_count_and_as_values() -> None:
    functions = [make_doc("scale", {"by": {"type": "float", "default": 1.0, "enum": [1.5, 2.0]}})]
    entry = make_entry(functions=functions)
    body = {key: value for key, value in sorted(body_of(entry).items(), reverse=True) if key != "model"}
    text = json.dumps({**body, "temperature": 1, "user": "me"}, indent=1)
    written_by_javascript = text.replace("1.0", "1").replace("2.0", "2")
    assert written_by_javascript != text
    assert Lookup([suite_of(entry)]).find(read_body(written_by_javascript)).entry is entry


@pytest.mark.parametrize("tools", [[], None])
def test_no_tools_can_be_said_in_several_ways(tools: object) -> None:
    assert _lookup().find(read({**body_of(DOTTED, Mode.PROMPT), "tools": tools})).mode is Mode.PROMPT
    assert _lookup().find(read({**body_of(BARE), "tools": tools})).mode is Mode.FC


# Refused


@pytest.mark.parametrize(
    "change",
    [{"messages": []}, {"messages": [{"role": "user", "content": "Else?"}]}, {"tools": []}, {"tools": True}],
)
def test_what_no_entry_asks_is_refused(change: Sent) -> None:
    says = "no entry of these suites asks this: core"
    assert _refused(body_of(DOTTED) | change) == (404, "unknown_request", says)


def test_a_named_entry_must_ask_what_was_sent() -> None:
    says = f"{FIRST.key} does not ask these messages with these tools"
    assert _refused(body_of(DOTTED), FIRST.key) == (400, "other_request", says)


@pytest.mark.parametrize("name", ["core:third", "first", "", f"{FIRST.key}-t0", f"{FIRST.key}-t1-t2"])
def test_a_name_must_be_that_of_an_entry(name: str) -> None:
    says = f"these suites have no entry {name!r}: core"
    assert _refused(body_of(FIRST), name) == (404, "unknown_entry", says)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", "invalid_json"),
        (b'{"messages": [', "invalid_json"),
        (b"\xff", "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b"[]", "invalid_request"),
        (b"{}", "invalid_request"),
        (b'{"messages": "hi"}', "invalid_request"),
    ],
)
def test_a_body_must_be_an_object_with_messages(text: bytes, code: str) -> None:
    with pytest.raises(Refused) as caught:
        read_body(text)
    assert (caught.value.status, caught.value.code) == (400, code)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(VALUES)
def test_the_same_values_are_the_same_request_however_written(value: object) -> None:
    body = {"messages": [value], "tools": [{"b": value, "a": 1}]}
    other = json.dumps({"tools": [{"a": 1.0, "b": value}], "messages": [value]}, indent=2, ensure_ascii=False)
    assert read(body) == read_body(other)


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (1, "1"), (0, None), ([1, 2], [2, 1]), ({"a": None}, {}), (1, 1.5)]
)
def test_other_values_are_another_request(one: object, other: object) -> None:
    assert read({"messages": [one]}).digest != read({"messages": [other]}).digest


@pytest.mark.parametrize(
    ("given", "stream"), [({}, False), ({"stream": None}, False), ({"stream": True}, True)]
)
def test_whether_a_stream_is_asked_for(given: Sent, stream: bool) -> None:
    assert read({"messages": [], **given}).stream is stream


# The official suite


@pytest.mark.parametrize(("mode", "names"), MANNERS[:2])
def test_six_requests_of_bfcl_are_shared_and_names_tell_their_entries_apart(
    mode: Mode, names: Names, pack_cache: Path
) -> None:
    suite = open_suite("bfcl", pack_cache)
    lookup = Lookup([suite])
    bodies = {entry.key: read(body_of(entry, mode, names, suite)) for entry in entries_of(suite)}
    found = {key: lookup.find(body).entry.key for key, body in bodies.items()}
    shared = {key: first for key, first in found.items() if key != first}
    assert len(shared) == 6
    assert {key: lookup.find(bodies[key], key).entry.key for key in bodies} == {key: key for key in bodies}
