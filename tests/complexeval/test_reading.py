"""What an answer says, by the rules of each profile."""

from __future__ import annotations

from pytest_fcbench.codecs.reading import Unreadable
from pytest_fcbench.complexeval.reading import Reader
from pytest_fcbench.entries import FunctionDoc
from pytest_fcbench.verdicts import Profile
from tests.complexeval.talking import CORRECTED, OFFICIAL, call, held
from tests.complexeval.test_conversation import ENTRY
from tests.factories import tool_calls


def test_of_two_functions_that_are_shown_alike_the_first_is_meant() -> None:
    docs = tuple(FunctionDoc(name, "", {"type": "object"}) for name in ("read(all)", "read/all/", "other"))
    reader = Reader(docs, "tool_calls")
    for profile in Profile:
        (made,) = reader.read(tool_calls(("read-all-", "{}")), profile).calls
        assert not isinstance(made, Unreadable)
        assert made.name == "read(all)"


def test_a_step_holds_calls_as_they_were_read() -> None:
    """Officially no function of that name is there to be called."""
    answers = [[call("no_such", x=1)]]
    assert held(ENTRY, answers, OFFICIAL).turns[0][0].calls == ("(unreadable)",)
    assert held(ENTRY, answers, CORRECTED).turns[0][0].calls == ("no_such(x=1)",)
