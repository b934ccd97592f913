"""Mask what belongs to people in a conversation, in question and right call alike.

Each value is replaced by one value of the same kind that belongs to nobody, wherever it stands and however it
is written: with or without separators, country code and upper case, in digits of any script, as in a URL, as
text or as a JSON number. Left alone is what the functions' docs have (enums, defaults, examples): it belongs
to the functions.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote, unquote

from pytest_fcbench.tools.importing.logged import LoggedConversation
from pytest_fcbench.tools.importing.personal_data import (
    EMAIL_START,
    NUMBER_START,
    PLAIN,
    PersonalValue,
    find_personal_values,
    join_digits,
    write_number,
)

_SEPARATORS = r"(?:[\s()./-]|%2[089DEFdef]){0,3}"
_MASK = re.compile(r"person\d+@example\.com|masked-key-\d{4}|40{11}\d{4}|2\d\d55501\d\d")
"""The plain form of what masks write, which belongs to nobody."""


@dataclass(slots=True)
class Masks:
    """The values of a conversation that belong to people, each with its mask."""

    numbers: dict[PersonalValue, int]
    """The values in the order of the conversation, each with the number of its mask."""
    writings: dict[str, str] = field(default_factory=dict)
    """What was replaced, as it was written, with its replacement."""
    _pattern: re.Pattern[str] = field(init=False)
    _values: Mapping[str, PersonalValue] = field(init=False)

    def __post_init__(self) -> None:
        # Addresses first, since what stands before the @ may look like a number.
        values = sorted(self.numbers, key=lambda each: (each.kind != "e-mail", -len(each.plain)))
        self._values = {f"v{place}": value for place, value in enumerate(values)}
        patterns = (f"(?P<{name}>{_make_pattern(value)})" for name, value in self._values.items())
        self._pattern = re.compile("|".join(patterns) or r"(?!)")

    @property
    def counts(self) -> Counter[str]:
        """The number of values of each kind."""
        return Counter(value.kind for value in self.numbers)

    def mask_text(self, text: str) -> str:
        """Replace what belongs to people in a text."""
        pieces: list[str] = []
        end = 0
        for match in self._pattern.finditer(plain := text.translate(PLAIN)):
            value = self._values[str(match.lastgroup)]
            # A bracket around a number as a whole belongs to the text.
            start = match.start() + (match[0].startswith("(") and ")" not in match[0])
            original = plain[start : match.end()]
            mask = _write_mask(value, self.numbers[value], unquote(original))
            mask = quote(mask, safe="") if "%" in original else mask
            pieces += (text[end:start], mask)
            end = match.end()
            self.writings[text[start:end]] = mask
        return "".join((*pieces, text[end:]))

    def mask_value(self, value: object) -> object:
        """Replace what belongs to people in a JSON value."""
        if isinstance(value, str):
            return self.mask_text(value)
        if isinstance(value, list):
            return [self.mask_value(each) for each in value]
        if isinstance(value, Mapping):
            return {self.mask_text(str(key)): self.mask_value(each) for key, each in value.items()}
        if isinstance(text := write_number(value), str) and (masked_text := self.mask_text(text)) != text:
            return int(masked_text)
        return value

    def find_survivor(self, text: str) -> str:
        """Return the kind of a value that a text still has in some writing, or an empty text."""
        if not self.numbers:
            return ""
        letters = unicodedata.normalize("NFKC", unquote(text).translate(PLAIN)).lower()
        digits = re.sub(r"[\s()./-]", "", letters)
        for value in self.numbers:
            if value.plain.lower() in (digits if value.plain.isdecimal() else letters):
                return value.kind
        return ""


def _make_pattern(value: PersonalValue) -> str:
    """Return a regular expression for every way to write the value, without groups that are numbered."""
    if value.kind in ("phone", "card"):
        country = _SEPARATORS.join(value.country)
        code = rf"(?:(?:(?:\+|%2[Bb]|00|011){_SEPARATORS})?{country}{_SEPARATORS})?" if country else ""
        zero = rf"(?:\(?0\)?{_SEPARATORS})?" if value.kind == "phone" else ""
        return rf"{NUMBER_START}\(?{code}\(?{zero}{_SEPARATORS.join(value.plain)}(?!\d)"
    if value.kind == "key":
        return re.escape(value.plain)
    letters = (each if each.isalnum() else rf"(?:{re.escape(each)}|%{ord(each):02x})" for each in value.plain)
    return rf"{EMAIL_START}(?i:{''.join(letters)})(?![\w-]|\.\w)"


def _write_mask(value: PersonalValue, number: int, original: str) -> str:
    """Write the mask with this number in the way in which the value was found."""
    digits = join_digits(original)
    is_separated = re.search(r"[^\d+]", original) is not None
    match value.kind:
        case "e-mail":
            return f"person{number}@example.com"
        case "key":
            return f"masked-key-{number:04d}"
        case "card":
            separator = next((each for each in original if not each.isdecimal()), "")
            return separator.join(("4000", "0000", "0000", f"{number:04d}"))
    # 555-01xx is kept free in every area code, for films.
    parts = (str(202 + number // 100), "555", f"01{number % 100:02d}")
    if digits in (value.plain, f"0{value.plain}"):
        start = f"({parts[0]}) " if "(" in original and ")" in original else ""
        return start + ("-".join(parts[1:] if start else parts) if is_separated else "".join(parts))
    prefix = "+" if "+" in original else next((each for each in ("00", "011") if digits.startswith(each)), "")
    return prefix + ("-" if is_separated else "").join(("1", *parts))


def mask_conversation(conversation: LoggedConversation) -> tuple[LoggedConversation, Masks]:
    """Mask a conversation; return it with its masks."""
    texts = [("", message.text) for message in conversation.messages]
    calls = [("", call.arguments) for message in conversation.messages for call in message.calls]
    personal_values = find_personal_values([*texts, *calls])
    if not personal_values:
        return conversation, Masks({})
    tools_text = json.dumps(conversation.tools, ensure_ascii=False)
    existing_masks = {each.plain for each in personal_values if _MASK.fullmatch(each.plain)}
    numbers: dict[PersonalValue, int] = {}
    last: Counter[str] = Counter()
    for each in personal_values:
        if each.plain in existing_masks or re.search(_make_pattern(each), tools_text):
            continue
        last[each.kind] += 1
        while _write_mask(each, last[each.kind], each.plain) in existing_masks:
            last[each.kind] += 1
        numbers[each] = last[each.kind]
    masks = Masks(numbers)
    messages = tuple(
        replace(
            message,
            text=masks.mask_text(message.text),
            calls=tuple(replace(call, arguments=masks.mask_value(call.arguments)) for call in message.calls),
        )
        for message in conversation.messages
    )
    return replace(conversation, messages=messages), masks
