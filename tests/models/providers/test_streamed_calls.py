"""Pieces of streamed tool calls are joined however a server numbers them; what it did wrong is noted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.models.providers.streamed_calls import StreamedCalls
from tests.cases import each_case

SALT, RICE = '{"item": "salt"}', '{"item": "rice"}'
CALLS = [("price", SALT), ("price", RICE)]


def piece(index: object, call_id: object, name: object, arguments: object) -> dict[str, object]:
    """Make a piece of a call; a member that is ``...`` is left out."""
    function = {"name": name, "arguments": arguments}
    said = {
        "index": index,
        "id": call_id,
        "function": {name: value for name, value in function.items() if value is not ...},
    }
    return {name: value for name, value in said.items() if value is not ...}


def join_pieces(pieces: Sequence[dict[str, object]]) -> tuple[list[dict[str, Any]], list[str]]:
    calls = StreamedCalls()
    for each in pieces:
        calls.add_piece(each)
    joined = calls.join()
    return joined, sorted(calls.notes)


def read_pieces(*pieces: dict[str, object]) -> tuple[list[tuple[object, object]], list[str]]:
    joined, notes = join_pieces(pieces)
    return [(call["function"].get("name"), call["function"].get("arguments")) for call in joined], notes


def cut_in_pieces(index: object, call_id: object, arguments: str, later_id: object = ...) -> list[Any]:
    """Write a call as its beginning and two pieces of arguments."""
    half = len(arguments) // 2
    return [
        piece(index, call_id, "price", ""),
        piece(index, later_id, ..., arguments[:half]),
        piece(index, later_id, ..., arguments[half:]),
    ]


def test_calls_as_the_interface_wants_them_have_no_note() -> None:
    assert read_pieces(*cut_in_pieces(0, "a", SALT), *cut_in_pieces(1, "b", RICE)) == (CALLS, [])


def test_a_call_keeps_its_members_and_loses_its_index() -> None:
    begin = piece(0, "a", "f", "") | {"type": "function", "extra_content": {"signature": "s"}}
    joined, _ = join_pieces([begin, piece(0, "", "", "{}") | {"type": None, "extra_content": None}])
    function = {"name": "f", "arguments": "{}"}
    assert joined == [
        {"id": "a", "type": "function", "extra_content": {"signature": "s"}, "function": function}
    ]


@pytest.mark.parametrize("first", [1, 2, 7])
def test_an_index_need_not_begin_at_0(first: int) -> None:
    pieces = [*cut_in_pieces(first, "a", SALT), *cut_in_pieces(first + 1, "b", RICE)]
    assert read_pieces(*pieces) == (CALLS, ["stream_index"])


@each_case("indices", [(0, 2), ("0", "1"), (None, None), (..., ...), (0.5, 1.5), (True, False)])
def test_an_index_may_be_missing_or_no_number(indices: tuple[object, object]) -> None:
    first, second = indices
    pieces = [*cut_in_pieces(first, "a", SALT), *cut_in_pieces(second, "b", RICE)]
    assert read_pieces(*pieces) == (CALLS, ["stream_index"])


@each_case(("one", "other"), [("a", "b"), (..., ...), ("", ""), ("a", "a")])
def test_calls_may_share_an_index(one: object, other: object) -> None:
    calls, notes = read_pieces(piece(0, one, "price", SALT), piece(0, other, "price", RICE))
    assert calls == CALLS
    assert "stream_index" in notes


def test_calls_in_pieces_may_share_an_index() -> None:
    pieces = [*cut_in_pieces(0, "a", SALT), *cut_in_pieces(0, "b", RICE)]
    assert read_pieces(*pieces) == (CALLS, ["stream_index"])


def test_calls_without_arguments_may_share_an_index() -> None:
    pieces = [piece(0, "a", "open", ""), piece(0, "b", "close", "")]
    assert read_pieces(*pieces) == ([("open", ""), ("close", "")], ["stream_index"])


@pytest.mark.parametrize("later_id", ["a", ...])
def test_an_index_may_grow_with_each_piece(later_id: object) -> None:
    pieces = [*cut_in_pieces(0, "a", SALT, later_id), *cut_in_pieces(3, "b", RICE, later_id and "b")]
    if later_id is ...:
        pieces = [*cut_in_pieces(0, "a", SALT), *cut_in_pieces(3, "b", RICE)]
    grown = [{**each, "index": number} for number, each in enumerate(pieces)]
    assert read_pieces(*grown) == (CALLS, ["stream_index"])


def test_an_index_and_a_name_may_come_with_each_piece() -> None:
    pieces = [piece(0, ..., "price", '{"item"'), piece(1, ..., "price", ': "salt"}')]
    assert read_pieces(*pieces) == (CALLS[:1], ["repeated_name", "stream_index"])


def test_a_known_id_counts_more_than_the_index() -> None:
    pieces = [
        piece(0, "a", "price", '{"item"'),
        piece(1, "b", "price", RICE),
        piece(1, "a", ..., ': "salt"}'),
    ]
    assert read_pieces(*pieces) == (CALLS, ["stream_index"])


def test_an_id_may_change_from_piece_to_piece() -> None:
    pieces = [piece(0, "a", "price", ""), piece(0, "b", ..., SALT[:5]), piece(0, "c", ..., SALT[5:])]
    assert read_pieces(*pieces) == (CALLS[:1], ["changed_id"])


@each_case("empty", [1, 2])
@each_case("index", [0, ...])
@each_case("length", [4, len(SALT)])
def test_a_new_id_and_the_name_may_come_with_each_piece(empty: int, index: object, length: int) -> None:
    texts = [""] * empty + [SALT[start : start + length] for start in range(0, len(SALT), length)]
    pieces = [piece(index, f"id{number}", "price", text) for number, text in enumerate(texts)]
    if index == 0 or length < len(SALT):
        assert read_pieces(*pieces)[0] == CALLS[:1]
    else:
        # Without an index nothing but the id tells calls apart.
        assert read_pieces(*pieces)[0] == [*[("price", "")] * empty, CALLS[0]]


def test_one_id_may_name_several_calls() -> None:
    pieces = [*cut_in_pieces(0, "a", SALT, "a"), *cut_in_pieces(1, "a", RICE, "a")]
    assert read_pieces(*pieces) == (CALLS, ["changed_id"])


def test_a_name_that_is_repeated_is_no_piece_of_it() -> None:
    pieces = [piece(0, "a", "price", SALT[:5]), piece(0, "a", "price", SALT[5:]), piece(0, "a", "price", "")]
    assert read_pieces(*pieces) == (CALLS[:1], ["repeated_name"])


def test_a_name_may_come_in_pieces() -> None:
    pieces = [piece(0, "a", "pri", ""), piece(0, ..., "ce", ""), piece(0, ..., ..., SALT)]
    assert read_pieces(*pieces) == (CALLS[:1], [])


def test_a_last_piece_with_the_name_alone_is_no_call() -> None:
    pieces = [piece(0, ..., "price", SALT), piece(0, ..., "price", "")]
    assert read_pieces(*pieces) == (CALLS[:1], ["repeated_name"])


def test_arguments_that_come_twice_count_once() -> None:
    pieces = [*cut_in_pieces(0, "a", SALT), piece(0, ..., ..., SALT.replace(" ", ""))]
    assert read_pieces(*pieces) == (CALLS[:1], ["repeated_call"])
    other = [*cut_in_pieces(0, "a", SALT), piece(0, ..., ..., RICE)]
    assert read_pieces(*other) == ([("price", SALT + RICE)], [])


@pytest.mark.parametrize("later", [[SALT], [SALT[:5], SALT[5:]]])
def test_an_empty_object_before_the_arguments_is_none(later: list[str]) -> None:
    pieces = [piece(0, "a", "price", "{}"), *(piece(0, ..., ..., part) for part in later)]
    assert read_pieces(*pieces) == (CALLS[:1], ["empty_arguments_first"])


def test_a_call_without_arguments_keeps_its_empty_object() -> None:
    pieces = [piece(0, "a", "open", "{}"), piece(0, ..., ..., "\n"), piece(1, "b", "price", SALT)]
    assert read_pieces(*pieces) == ([("open", "{}\n"), ("price", SALT)], [])


@each_case("arguments", [{"item": "salt"}, [1], 5, True])
def test_arguments_that_are_no_text_become_text(arguments: object) -> None:
    """No official code reads streams, so none says that they are wrong."""
    calls, notes = read_pieces(piece(0, "a", "price", arguments))
    assert (calls, notes) == ([("price", json.dumps(arguments))], ["arguments_not_text"])


def test_null_is_what_some_send_before_the_arguments() -> None:
    assert read_pieces(piece(0, "a", "price", None)) == ([("price", None)], [])
    assert read_pieces(piece(0, "a", "price", None), piece(0, ..., ..., SALT)) == (CALLS[:1], [])


def test_the_index_tells_the_order_only_where_calls_overlap() -> None:
    begun = [piece(1, "b", "price", ""), piece(0, "a", "price", "")]
    assert read_pieces(*begun, piece(1, ..., ..., RICE), piece(0, ..., ..., SALT)) == (CALLS, [])
    one_by_one = [piece(1, "b", "price", RICE), piece(0, "a", "price", SALT)]
    assert read_pieces(*one_by_one) == (CALLS[::-1], [])


def test_brackets_in_strings_and_escapes_do_not_end_the_arguments() -> None:
    arguments = json.dumps({"item": 'a "}" \\', "of": [{}, []]})
    for cut in range(1, len(arguments)):
        pieces = [piece(0, "a", "f", arguments[:cut]), piece(0, "b", "f", arguments[cut:])]
        assert read_pieces(*pieces)[0] == [("f", arguments)]


BROKEN = SALT[:-1]


@pytest.mark.parametrize("index", [0, ...])
def test_a_second_call_that_is_broken_is_a_call(index: object) -> None:
    calls, _ = read_pieces(piece(index, ..., "price", SALT), piece(index, ..., "price", BROKEN))
    assert calls == [("price", SALT), ("price", BROKEN)]


def test_calls_without_an_index_may_come_in_turn() -> None:
    pieces = [piece(..., call_id, "price", '{"item": ') for call_id in ("a", "b")]
    pieces += [piece(..., call_id, "price", item) for call_id, item in (("a", '"salt"}'), ("b", '"rice"}'))]
    assert read_pieces(*pieces)[0] == CALLS


@pytest.mark.parametrize(("name", "arguments"), [("price", SALT), ("weigh", RICE)])
def test_calls_with_one_id_and_indices_of_their_own_are_two(name: str, arguments: str) -> None:
    calls, _ = read_pieces(piece(0, "a", "price", SALT), piece(1, "a", name, arguments))
    assert calls == [("price", SALT), (name, arguments)]


def test_calls_with_one_id_that_are_announced_at_once_are_two() -> None:
    begun = [piece(0, "a", "price", ""), piece(1, "a", "price", "")]
    calls, _ = read_pieces(*begun, piece(0, ..., ..., SALT), piece(1, ..., ..., RICE))
    assert calls == CALLS


def test_an_empty_object_before_a_piece_with_id_and_name_is_none() -> None:
    pieces = [piece(0, "a", "price", "{}"), piece(0, "a", "price", SALT)]
    assert read_pieces(*pieces)[0] == CALLS[:1]


def test_an_object_that_comes_twice_counts_once() -> None:
    given = {"item": "salt"}
    assert read_pieces(piece(0, "a", "price", given), piece(0, "a", "price", given))[0] == CALLS[:1]
    assert read_pieces(piece(0, "a", "price", {}), piece(0, ..., ..., SALT))[0] == CALLS[:1]


def test_another_name_with_whole_arguments_is_another_call() -> None:
    calls, _ = read_pieces(piece(0, ..., "open", ""), piece(0, ..., "price", SALT))
    assert calls == [("open", ""), ("price", SALT)]


def test_a_name_that_repeats_what_came_of_it_is_the_name() -> None:
    assert read_pieces(piece(0, "a", "pri", ""), piece(0, "a", "price", SALT))[0] == CALLS[:1]


def test_an_empty_object_behind_the_arguments_is_nothing() -> None:
    assert read_pieces(*cut_in_pieces(0, "a", SALT), piece(0, ..., ..., "{}"))[0] == CALLS[:1]


def test_more_calls_than_a_run_carries_out_are_too_many() -> None:
    pieces = [piece(number, str(number), "f", "{}") for number in range(10_001)]
    assert len(join_pieces(pieces[1:])[0]) == 10_000
    with pytest.raises(CallError, match="more than 10,000 calls"):
        join_pieces(pieces)
