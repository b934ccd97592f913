"""What belongs to people is replaced by value, in question and truth alike, and nothing else is."""

from __future__ import annotations

from pytest_fcbench.tools.importing.masks import Masks, find_personal_values, mask_conversation
from pytest_fcbench.tools.importing.offered_tools import LoggedCall, LoggedConversation, LoggedMessage
from tests.cases import each_case


def _mask(text: str, offered: object = None, **arguments: object) -> tuple[str, object, Masks]:
    """Mask a question and a call; return both and the masks."""
    call = LoggedMessage("assistant", calls=(LoggedCall("send", arguments),))
    tools = ({"name": "send", "parameters": offered},) if offered else ()
    masked, masks = mask_conversation(LoggedConversation((LoggedMessage("user", text), call), tools))
    return masked.messages[0].text, masked.messages[1].calls[0].arguments, masks


@each_case(
    ("text", "masked"),
    [
        ("Write to ann.b+c@corp.example.org.", "Write to person1@example.com."),
        ("Call +49 30 901820 or +4930901820.", "Call +1-202-555-0101 or +12025550101."),
        ("Call (415) 555-2671 or 415-555-2671", "Call (202) 555-0101 or 202-555-0101"),
        ("Call (4155552671), +1 415 555 2671", "Call (2025550101), +1-202-555-0101"),
        ("0049 30 901820, later 030 901820", "001-202-555-0101, later 202-555-0101"),
        ("Pay with 4111 1111 1111 1111", "Pay with 4000 0000 0000 0001"),
        ("Pay with 378282246310005", "Pay with 4000000000000001"),
        ("The key is sk-abcdefghijklmnop1234", "The key is masked-key-0001"),
        ("a@b.io, c@d.io, A@b.io", "person1@example.com, person2@example.com, person1@example.com"),
        # Masks of an earlier import stay, and no other value gets one of them.
        ("person1@example.com, c@d.io", "person1@example.com, person2@example.com"),
    ],
)  # fmt: skip
def test_personal_data_is_replaced_in_every_writing(text: str, masked: str) -> None:
    assert _mask(text)[0] == masked


@each_case(
    ("text", "value", "masked"),
    [
        ("Text (415) 555-0132", "4155550132", "2025550101"),
        ("Text 415-555-0132", 4155550132, 2025550101),
        ("Text +49 30 901820", "4930901820", "12025550101"),
        ("Card 4539 5787 6362 1486", 4539578763621486, 4000000000000001),
        ("Mail Ann.Lee@Mail.Example.org", "ann.lee@mail.example.org", "person1@example.com"),
        ("Mail a+c@b.io", "a%2Bc%40b.io a+c＠b.io", "person1%40example.com person1@example.com"),
        ("Mail a@b.io", r"\u003ca@b.io\na@b.io", r"\u003cperson1@example.com\nperson1@example.com"),
        ("Text +٤٩ ٣٠ ٩٠١٨٢٠", "＋４９ (0)30\u2011901820", "+1-202-555-0101"),
        ("Call me at 030 1234567", "tel:030%201234567 or 030/1234567", "tel:202-555-0101 or 202-555-0101"),
        ("My number is 0171-555 0123", "+491715550123 or 491715550123", "+12025550101 or 12025550101"),
        ("Mail a@b.io", {"by": [{"a@b.io": True}]}, {"by": [{"person1@example.com": True}]}),
        ("At 1735689607000", 1735689607000, 1735689607000),
    ],
)  # fmt: skip
def test_a_call_has_the_mask_of_the_question(text: str, value: object, masked: object) -> None:
    assert _mask(text, value=value)[1] == {"value": masked}


def test_digits_are_a_phone_number_where_their_parameter_says_so() -> None:
    text, arguments, _ = _mask("Text 4155550132", phone=4155550132)
    assert (text, arguments) == ("Text 2025550101", {"phone": 2025550101})
    assert _mask("Ship 4155550132", order=4155550132)[1] == {"order": 4155550132}


def test_values_of_the_function_docs_stay() -> None:
    offered = {"properties": {"to": {"enum": ["desk@corp.io"]}}}
    text, arguments, masks = _mask("Mail desk@corp.io and bo@corp.io", offered, to="desk@corp.io")
    assert text == "Mail desk@corp.io and person1@example.com"
    assert arguments == {"to": "desk@corp.io"}
    assert masks.counts == {"e-mail": 1}


def test_what_survives_the_masks_is_found() -> None:
    _, _, masks = _mask("Text 415-555-0132 or a@b.io")
    assert masks.find_survivor("41 55 55 01 32") == "phone"
    assert masks.find_survivor("mailto:A@B.io") == masks.find_survivor("ａ%40b.io") == "e-mail"
    assert masks.find_survivor("٤١٥٥٥٥٠١٣٢") == "phone"
    assert masks.find_survivor("Text 202-555-0101 or person1@example.com") == ""


@each_case(
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


@each_case(
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


def test_digits_are_found_as_a_phone_number_where_their_parameter_says_so() -> None:
    (value,) = find_personal_values([("", {"phone": 4155550132})])
    assert value.plain == "4155550132"
    # Zeros stand for a number that is not known.
    (value,) = find_personal_values([("", {"phone": "0000000000", "mobile": 4155550132, "fax": "0000001"})])
    assert value.plain == "4155550132"
    assert not find_personal_values([("", {"order": 4155550132})])
