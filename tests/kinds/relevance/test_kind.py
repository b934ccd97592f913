"""Lines of official score files on wrong calls, and on abstentions."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.transcript import Completion
from tests.factories import make_entry, tool_calls
from tests.kinds.official_rows import write_and_read_row


@pytest.mark.parametrize(
    ("category", "answer", "decoded", "code"),
    [
        pytest.param(
            "irrelevance", "[f(x=1)]", [{"f": {"x": 1}}], "irrelevance_error:decoder_success", id="call"
        ),
        pytest.param("live_relevance", "Hm.", None, "relevance_error:decoder_failed", id="prose"),
        pytest.param("live_relevance", "[]", [], "relevance_error:decoder_failed", id="no call"),
        pytest.param(
            "live_relevance", tool_calls(("f", "7")), [{"f": 7}], "relevance_error:decoder_failed", id="odd"
        ),
    ],
)
def test_a_wrong_call_or_abstention_is_told(
    category: str, answer: str | Completion, decoded: object, code: str
) -> None:
    row = write_and_read_row(make_entry(category), answer)
    assert row is not None
    assert list(row)[3:] == ["valid", "prompt", "model_result", "decoded_result", "error", "error_type"]
    assert (row["model_result"], row["decoded_result"], row["error_type"]) == ("raw", decoded, code)
