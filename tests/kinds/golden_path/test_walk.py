"""What an answer says, by the rules of each profile."""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.syntax import Unreadable
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path.walk import Reader
from tests.factories import tool_calls
from tests.kinds.golden_path.talking import CORRECTED, OFFICIAL, hold_conversation, write_call
from tests.kinds.golden_path.test_conversation import ENTRY


def test_of_two_functions_that_are_shown_alike_the_first_is_meant() -> None:
    docs = tuple(FunctionDoc(name, "", {"type": "object"}) for name in ("read(all)", "read/all/", "other"))
    reader = Reader(docs, "tool_calls")
    for profile in Profile:
        (made,) = reader.read(tool_calls(("read-all-", "{}")), profile).calls
        assert not isinstance(made, Unreadable)
        assert made.name == "read(all)"


def test_a_step_holds_calls_as_they_were_read() -> None:
    """Officially no function of that name is there to be called."""
    answers = [[write_call("no_such", x=1)]]
    assert hold_conversation(ENTRY, answers, OFFICIAL).turns[0][0].calls == ("(unreadable)",)
    assert hold_conversation(ENTRY, answers, CORRECTED).turns[0][0].calls == ("no_such(x=1)",)
