"""Compare telephone numbers, however they are grouped, with and without the code of the country.

A number without a country's code is the same as one with it where dialling it in that country reaches it:
``020 7946 0958`` is ``+44 20 7946 0958``. A number without its area is another number, and so is one with
another extension.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import phonenumbers

_PHONE = re.compile(
    r"(?:tel:)?\s*(?P<number>\+?[\d\s().\-/\u2010-\u2013]{3,30}\d)"
    r"(?:\s*(?:,|;)?\s*(?:ext\.?|extension|x|#)=?\s*(?P<extension>\d{1,7}))?",
    re.ASCII | re.IGNORECASE,
)


class _Phone(NamedTuple):
    digits: str
    """As it is written; with the code of the country where ``is_international``."""
    is_international: bool
    extension: str | None


def is_same_phone(one: object, other: object, *, is_asked_for: bool = True) -> bool | None:
    """Tell whether two texts are one telephone number; None where one is no telephone number.

    Where none ``is_asked_for``, the answer is True or None; True needs one number with its country's code.
    """
    if not isinstance(one, str) or not isinstance(other, str):
        return None
    if not is_asked_for:
        return (one.startswith("+") or other.startswith("+") or None) and (is_same_phone(one, other) or None)
    a, b = _read_phone(one), _read_phone(other)
    if a is None or b is None:
        return None
    if a.extension != b.extension:
        return False
    if a.is_international is b.is_international:
        return a.digits == b.digits
    abroad, home = (a, b) if a.is_international else (b, a)
    number = _parse_number(f"+{abroad.digits}")
    if number is None or number.country_code is None:
        return False
    main_region = phonenumbers.region_code_for_country_code(number.country_code)
    region = phonenumbers.region_code_for_number(number) or main_region
    # Of North America many numbers are invented; elsewhere an area that is none shows another country.
    is_number = phonenumbers.is_possible_number if abroad.digits[0] == "1" else phonenumbers.is_valid_number
    return is_number(number) and _parse_number(home.digits, region) == number


def _read_phone(text: str) -> _Phone | None:
    if len(text) > 60 or not (match := _PHONE.fullmatch(text.strip())):
        return None
    number_text = match["number"]
    if number_text.startswith(("+", "00")):
        # Some write the zero that is dialled within the country, after its code: +44 (0)20.
        number_text = number_text.replace("(0)", "")
    digits = re.sub(r"\D", "", number_text)
    for prefix in ("+", "00", "011"):
        if not number_text.startswith(prefix):
            continue
        number = _parse_number(f"+{digits.removeprefix(prefix)}")
        # Some numbers within a country begin with these digits too.
        if prefix == "+" or (number is not None and phonenumbers.is_possible_number(number)):
            whole = digits.removeprefix(prefix)
            if number is not None:
                whole = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)[1:]
            return _Phone(whole, True, match["extension"])
    # In North America the 1 before area and number is the code of the country as well.
    if len(digits) == 11 and digits[0] == "1" and digits[1] not in "01":
        return _Phone(digits, True, match["extension"])
    return _Phone(digits, False, match["extension"])


def _parse_number(text: str, region: str | None = None) -> phonenumbers.PhoneNumber | None:
    try:
        return phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None
