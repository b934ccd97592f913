"""Failed conversations whose calls acted on an MCP server have the classes of other conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.failure import Divergence, FailedEntry, FailureClass
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.kinds.server_turns import verdict as server_state
from pytest_fcbench.kinds.server_turns.kind import recall_calls
from pytest_fcbench.kinds.state.failure import classify_conversation
from tests.mcp_servers.made import COUNT, TEA, converse_with_shelf, make_server_entry

C = FailureClass
Answers: TypeAlias = Sequence[Sequence[tuple[str, Mapping[str, object]]] | str]


def _classify(answers: Answers, entry: Entry | None = None) -> Divergence:
    entry = entry or make_server_entry()
    transcript = converse_with_shelf(entry, *answers)
    verdict = server_state.judge(entry, transcript).official
    assert isinstance(verdict, Failed)
    return classify_conversation(FailedEntry(entry, transcript, verdict, Profile.OFFICIAL), recall_calls)


def _put(**arguments: object) -> tuple[str, Mapping[str, object]]:
    return "put-goods", arguments


PUT, RICE = "put-goods(name='tea', count=2)", _put(name="rice", count=1)
CLASSES: Mapping[str, tuple[Answers, tuple[object, ...]]] = {
    "no call": (["Done."], (C.NO_CALL, 1, PUT, None)),
    "no call later": ([[TEA], "Done.", "Two."], (C.NO_CALL, 2, "count_goods(name='tea')", None)),
    "another value": ([[_put(name="tea", count=3)]], (C.WRONG_ARGUMENT, 1, PUT, "count")),
    "another look": (
        [[TEA], "Done.", [("count_goods", {"name": "Tea"})]],
        (C.WRONG_ARGUMENT, 2, "count_goods(name='tea')", "name"),
    ),
    "too late": ([[COUNT], "Done.", [TEA, COUNT]], (C.WRONG_TURN, 1, PUT, None)),
    "one more change": ([[TEA, RICE], "Done.", [COUNT]], (C.EXTRA_CALL, 1, None, None)),
    "no such tool": ([[("sell", {"name": "tea"})]], (C.UNKNOWN_FUNCTION, 1, PUT, None)),
    "too many steps": ([[COUNT]] * 21, (C.STEP_LIMIT, 1, None, None)),
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_failure_has_the_class_that_its_calls_show(name: str) -> None:
    answers, expected = CLASSES[name]
    found = _classify(answers)
    assert (found.failure, found.turn, found.expected, found.parameter) == expected


def test_a_look_beside_a_change_is_no_change() -> None:
    # In the first turn the count stands beside a change; the second shows that it only looks.
    found = _classify([[COUNT, TEA, RICE], "Done.", [COUNT]])
    assert (found.failure, found.found) == (C.EXTRA_CALL, "put-goods(name='rice',count=1)")
