"""What belongs to people is told from other numbers."""

from __future__ import annotations

import pytest

from pytest_fcbench.tools.importing.personal_data import find_personal_values


@pytest.mark.parametrize(
    "text",
    [
        "call me at 030 1234567",
        "(415) 555-0132",
        "(415)555-0132",
        "0171-555 0123",
        "Ring 020 7946 0958, please",
        "Please text 555-0132",
        "Mon numéro est le 06.12.34.56.78",
        "我的电话是13812345678",
        '{"telephone_number": "0301234567"}',
    ],
)
def test_national_phone_numbers_are_found(text: str) -> None:
    (value,) = find_personal_values([("", text)])
    assert value.kind == "phone"


@pytest.mark.parametrize(
    "text",
    [
        "Order 4111111111111112 of 2024-05-06",  # no card: its check digit is wrong
        "Run it at 1735689607000, ISBN 9780747542155",  # a time and a book: their check digits are right
        "flight LH-1234-56, room 12@3",
        "192.168.100.200 and 10:30",
        "+12 apples",
        "3.14159265358979",
        "Call me on 2024-05-06 at 10:30 or on 06.05.2024",
        "call about order 0171-5550123",
        "my order number is 4155550132",
        "text it at 1735689607000",
        "reach 1200000 people, or 100 000 000",
        "phone costs 1234567 rupees",
        "the cell at 52.5200066 13.4049540",
        "call it 1234567 times",
        "call 1234567 times",
        "ring sizes 12 34 56 78",
        "ISBN 0-306-40615-2, version 10.12.2345.67",
        "soccer in 2020-2021",
        "Ticket 0123-456789",
        "0999 1234 56789",  # no country groups a number so
    ],
)
def test_other_numbers_are_left_alone(text: str) -> None:
    assert not find_personal_values([("", text)])


def test_digits_are_a_phone_number_where_their_parameter_says_so() -> None:
    (value,) = find_personal_values([("", {"phone": 4155550132})])
    assert value.plain == "4155550132"
    assert not find_personal_values([("", {"order": 4155550132})])
