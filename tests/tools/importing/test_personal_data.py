"""What belongs to people is replaced, in question and truth alike."""

from __future__ import annotations

import pytest

from pytest_fcbench.tools.importing.logged import LoggedCall, LoggedConversation, LoggedMessage
from pytest_fcbench.tools.importing.personal_data import Masks, mask_conversation


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Write to ann.b+c@corp.example.org.", "Write to person1@example.com."),
        ("Call +49 30 901820.", "Call +1-202-555-0101."),
        ("Call (415) 555-2671 or 415-555-2671", "Call +1-202-555-0101 or +1-202-555-0101"),
        ("Pay with 4111 1111 1111 1111", "Pay with 4000-0000-0000-0001"),
        ("The key is sk-abcdefghijklmnop1234", "The key is masked-key-0001"),
        ("a@b.io, c@d.io, a@b.io", "person1@example.com, person2@example.com, person1@example.com"),
    ],
)  # fmt: skip
def test_personal_data_is_replaced(text: str, masked: str) -> None:
    assert Masks().mask_text(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "Order 4111111111111112 of 2024-05-06",  # no card: its check digit is wrong
        "flight LH-1234-56, room 12@3",
        "192.168.100.200 and 10:30",
        "+12 apples",
        "3.14159265358979",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    assert Masks().mask_text(text) == text


def test_the_same_value_has_the_same_mask_in_question_and_call() -> None:
    logged = LoggedConversation(
        (
            LoggedMessage("user", "Mail ann@corp.io"),
            LoggedMessage(
                "assistant", calls=(LoggedCall("send", {"to": ["ann@corp.io"], "n": {"x": "bo@corp.io"}}),)
            ),
        )
    )
    masked, counts = mask_conversation(logged)
    assert masked.messages[0].text == "Mail person1@example.com"
    assert masked.messages[1].calls[0].arguments == {
        "to": ["person1@example.com"],
        "n": {"x": "person2@example.com"},
    }
    assert counts == {"e-mail": 2}
