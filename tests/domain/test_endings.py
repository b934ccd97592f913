"""One table has the words in which all servers say why an answer ended."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.endings import is_failure, read_ending
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.transcript import Ending


@pytest.mark.parametrize(
    ("reason", "ending"),
    [
        ("stop", None),
        ("tool_calls", None),
        ("end_turn", None),
        (None, None),
        (7, None),
        ("length", Ending.CUT),
        ("MAX_TOKENS", Ending.CUT),
        ("model_context_window_exceeded", Ending.CUT),
        ("SAFETY", Ending.FILTERED),
        ("content_filtered", Ending.FILTERED),
        ("refusal", Ending.REFUSED),
        ("function_call", Ending.FUNCTION_CALL),
        ("MALFORMED_FUNCTION_CALL", Ending.MALFORMED),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", Ending.MALFORMED),
        ("malformed_tool_use", Ending.MALFORMED),
    ],
)
def test_words_of_servers(reason: object, ending: Ending | None) -> None:
    assert read_ending(reason) is ending
    assert not is_failure(reason)


@pytest.mark.parametrize(
    "reason", ["error", "Abort", "network_error", "insufficient_system_resource", "failed"]
)
def test_words_of_a_server_that_failed(reason: str) -> None:
    assert is_failure(reason)
    with pytest.raises(CallError, match=reason) as failure:
        read_ending(reason)
    assert (failure.value.cause, failure.value.transient) == ("aborted_answer", True)
