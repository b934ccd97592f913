"""Mask what belongs to people: e-mail addresses, phone numbers, card numbers and keys.

What is found is replaced by a value of the same kind that belongs to nobody, the same one wherever it occurs
in a conversation, so that a right call still has what the question says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pytest_fcbench.tools.importing.logged import LoggedCall, LoggedConversation

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}(?![\w-])")
_KEY = re.compile(
    r"(?<![\w-])(?:sk|pk|rk|ghp|gho|ghs|ghu|xox[abprs]|glpat|hf|AKIA|ASIA|AIza)[-_A-Za-z0-9]{14,200}(?![\w-])"
    r"|(?<![\w.-])eyJ[\w-]{10,2000}\.[\w-]{10,4000}\.[\w-]{10,2000}(?![\w-])"
)
_CARD = re.compile(r"(?<![\d.-])(?:\d{4}[ -]){3}\d{1,7}(?![\d-])|(?<![\w.-])\d{13,19}(?![\w-])")
_LOCAL_PHONE = re.compile(r"(?<![\w.-])\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}(?![\w-])")
_WORLD_PHONE = re.compile(r"(?<![\w+])\+\d[\d() ./-]{6,20}\d")


@dataclass(slots=True)
class Masks:
    """The masks of a conversation, and how often each kind was needed."""

    masked: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def mask_text(self, text: str) -> str:
        """Replace what belongs to people in a text."""
        # Nothing that is masked has neither.
        if "@" not in text and not any(character.isdigit() for character in text):
            return text
        text = _EMAIL.sub(self._make_replacement("e-mail", lambda n: f"person{n}@example.com"), text)
        text = _KEY.sub(self._make_replacement("key", lambda n: f"masked-key-{n:04d}"), text)
        text = _CARD.sub(
            self._make_replacement("card", lambda n: f"4000-0000-0000-{n:04d}", is_card_number), text
        )
        phone = self._make_replacement("phone", lambda n: f"+1-202-555-{100 + n % 100:04d}", is_phone_number)
        text = _WORLD_PHONE.sub(phone, text)
        return _LOCAL_PHONE.sub(
            self._make_replacement("phone", lambda n: f"+1-202-555-{100 + n % 100:04d}"), text
        )

    def mask_value(self, value: object) -> object:
        """Replace what belongs to people in a JSON value."""
        if isinstance(value, str):
            return self.mask_text(value)
        if isinstance(value, list):
            return [self.mask_value(each) for each in value]
        if isinstance(value, Mapping):
            return {key: self.mask_value(each) for key, each in value.items()}
        return value

    def _make_replacement(
        self, kind: str, make: Callable[[int], str], holds: Callable[[str], bool] = bool
    ) -> Callable[[re.Match[str]], str]:
        def replace_match(match: re.Match[str]) -> str:
            found = match[0]
            if found in self.masked.values() or not holds(found):
                return found
            # The same number is written in several ways.
            plain = re.sub(r"[ ()./-]", "", found) if kind in ("phone", "card") else found
            if plain not in self.masked:
                number = self.counts[kind] = self.counts.get(kind, 0) + 1
                self.masked[plain] = make(number)
            return self.masked[plain]

        return replace_match


def is_card_number(text: str) -> bool:
    """Tell whether the digits of a text have the check digit of a card (Luhn)."""
    digits = [int(character) for character in text if character.isdigit()]
    doubled = [each * 2 - 9 * (each > 4) if at % 2 else each for at, each in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and sum(doubled) % 10 == 0 and len(set(digits)) > 1


def is_phone_number(text: str) -> bool:
    """Tell whether a text with a country code is a number that exists."""
    import phonenumbers

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(text, None))
    except phonenumbers.NumberParseException:
        return False


def mask_conversation(logged: LoggedConversation) -> tuple[LoggedConversation, Mapping[str, int]]:
    """Mask a conversation; return it, and how many values of each kind were masked."""
    masks = Masks()

    def mask_calls(calls: tuple[LoggedCall, ...]) -> Iterator[LoggedCall]:
        return (replace(call, arguments=masks.mask_value(call.arguments)) for call in calls)

    messages = tuple(
        replace(message, text=masks.mask_text(message.text), calls=tuple(mask_calls(message.calls)))
        for message in logged.messages
    )
    return replace(logged, messages=messages), masks.counts
