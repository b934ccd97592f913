"""Mask what belongs to people: e-mail addresses, phone numbers, card numbers and keys.

A conversation is read twice. First its texts and values are searched for what belongs to people; then each
such value is replaced wherever it stands and however it is written (with or without separators, country code
and upper case, as text or as a JSON number) by one value of the same kind that belongs to nobody. So a right
call still has what the question says.

Left alone is what the functions' docs have (enums, defaults, examples): it belongs to the functions. Numbers
with a right check digit that no issuer of cards gives out, such as ISBNs and times in milliseconds, are none.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from pytest_fcbench.tools.importing.logged import LoggedConversation

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}(?![\w-])")
_KEY = re.compile(
    r"(?<![\w-])(?:sk|pk|rk|ghp|gho|ghs|ghu|xox[abprs]|glpat|hf|AKIA|ASIA|AIza)[-_A-Za-z0-9]{14,200}(?![\w-])"
    r"|(?<![\w.-])eyJ[\w-]{10,2000}\.[\w-]{10,4000}\.[\w-]{10,2000}(?![\w-])"
)
_CARD = re.compile(
    r"(?<![\d.-])\d{4}([ -])\d{4,6}\1\d{4,5}(?:\1\d{1,7})?(?![\d-])|(?<![\w.-])\d{14,19}(?![\w-])"
)
_ISSUER = re.compile(
    r"(?:4\d{15}|(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)\d+|3[47]\d{13}|3(?:0[0-5]|[689])\d{11}"
    r"|35(?:2[89]|[3-8])\d{12,15}|6(?:011|4[4-9]|5)\d+|62\d{14,17}|220[0-4]\d{12})"
)
"""Beginnings and lengths of the numbers of Visa, Mastercard, American Express, Diners, JCB and others."""
_LOCAL_PHONE = re.compile(r"(?<![\w.-])\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}(?![\w-])")
_ZEROS_PHONE = re.compile(r"(?<![\w.])00(?=[\d() ./-]*[() ./-])[1-9][\d() ./-]{6,20}\d(?![\w-])")
_PHONE_NAME = re.compile(
    r"phone|mobile|msisdn|whatsapp|(?:^|_)(?:tel|cell|fax|sms)(?:$|_|number)", re.IGNORECASE
)
_SEPARATORS = r"[\s()./\u2010-\u2015-]{0,3}"


@dataclass(frozen=True, slots=True)
class _Personal:
    """A value that belongs to people, whatever way it is written."""

    kind: str
    plain: str
    """An address in lower case, a key, the digits of a card, or of a phone number without country code."""
    country: str = ""
    """The country code of a phone number, where it is known."""

    def make_pattern(self) -> str:
        """Return a regular expression for every way to write the value, without groups that are numbered."""
        if self.kind in ("phone", "card"):
            country = _SEPARATORS.join(self.country)
            code = rf"(?:(?:\+|00|011)?{_SEPARATORS}{country}{_SEPARATORS})?" if country else ""
            zero = rf"(?:\(?0\)?{_SEPARATORS})?" if self.kind == "phone" else ""
            return rf"(?<![\d.])\(?{code}\(?{zero}{_SEPARATORS.join(self.plain)}(?!\d)"
        if self.kind == "key":
            return re.escape(self.plain)
        return rf"(?<![\w.+-])(?i:{re.escape(self.plain)})(?![\w-]|\.\w)"

    def write_mask(self, number: int, found: str) -> str:
        """Write the mask with this number in the way in which the value was found."""
        digits = "".join(filter(str.isdecimal, found))
        is_separated = re.search(r"[^\d+]", found) is not None
        match self.kind:
            case "e-mail":
                return f"person{number}@example.com"
            case "key":
                return f"masked-key-{number:04d}"
            case "card":
                separator = next((each for each in found if not each.isdecimal()), "")
                return separator.join(("4000", "0000", "0000", f"{number:04d}"))
        # 555-01xx is kept free in every area code, for films.
        parts = (str(202 + number // 100), "555", f"01{number % 100:02d}")
        if digits in (self.plain, f"0{self.plain}"):
            start = f"({parts[0]}) " if "(" in found and ")" in found else ""
            return start + ("-".join(parts[1:] if start else parts) if is_separated else "".join(parts))
        prefix = (
            "+" if "+" in found else next((each for each in ("00", "011") if digits.startswith(each)), "")
        )
        return prefix + ("-" if is_separated else "").join(("1", *parts))


_MASK = re.compile(r"person\d+@example\.com|masked-key-\d{4}|40{11}\d{4}|2\d\d55501\d\d")
"""The plain form of what masks write, which belongs to nobody."""


@dataclass(slots=True)
class Masks:
    """The values of a conversation that belong to people, each with its mask."""

    numbers: dict[_Personal, int]
    """The values in the order of the conversation, each with the number of its mask."""
    writings: dict[str, str] = field(default_factory=dict)
    """What was replaced, as it was written, with its replacement."""
    _pattern: re.Pattern[str] = field(init=False)
    _values: Mapping[str, _Personal] = field(init=False)

    def __post_init__(self) -> None:
        # Addresses first, since what stands before the @ may look like a number.
        values = sorted(self.numbers, key=lambda each: (each.kind != "e-mail", -len(each.plain)))
        self._values = {f"v{place}": value for place, value in enumerate(values)}
        patterns = (f"(?P<{name}>{value.make_pattern()})" for name, value in self._values.items())
        self._pattern = re.compile("|".join(patterns) or r"(?!)")

    @property
    def counts(self) -> Counter[str]:
        """The number of values of each kind."""
        return Counter(value.kind for value in self.numbers)

    def mask_text(self, text: str) -> str:
        """Replace what belongs to people in a text."""

        def replace_match(match: re.Match[str]) -> str:
            value = self._values[str(match.lastgroup)]
            # A bracket around a number as a whole belongs to the text.
            start = "(" if match[0].startswith("(") and ")" not in match[0] else ""
            found = match[0].removeprefix(start)
            self.writings[found] = value.write_mask(self.numbers[value], found)
            return start + self.writings[found]

        return self._pattern.sub(replace_match, text)

    def mask_value(self, value: object) -> object:
        """Replace what belongs to people in a JSON value."""
        if isinstance(value, str):
            return self.mask_text(value)
        if isinstance(value, list):
            return [self.mask_value(each) for each in value]
        if isinstance(value, Mapping):
            return {self.mask_text(str(key)): self.mask_value(each) for key, each in value.items()}
        if isinstance(text := _write_number(value), str) and (masked := self.mask_text(text)) != text:
            return int(masked)
        return value

    def find_survivor(self, text: str) -> str:
        """Return the kind of a value that a text still has in some writing, or an empty text."""
        letters = text.lower()
        digits = re.sub(r"[\s()./\u2010-\u2015-]", "", letters) if self.numbers else ""
        for value in self.numbers:
            if value.plain.lower() in (digits if value.plain.isdecimal() else letters):
                return value.kind
        return ""


def _write_number(value: object) -> str | None:
    """Return the digits of a whole number, or None for any other value."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or abs(value) > 10**20
        or value != value // 1
    ):
        return None
    return str(int(value))


def _find_values(text: str) -> Iterator[_Personal]:
    """Find what belongs to people in a text by its look."""
    # Nothing that is masked has neither.
    if "@" not in text and not any(map(str.isdigit, text)):
        return
    yield from (_Personal("e-mail", found[0].lower()) for found in _EMAIL.finditer(text))
    yield from (_Personal("key", found[0]) for found in _KEY.finditer(text))
    for found in _CARD.finditer(text):
        if is_card_number(found[0]):
            yield _Personal("card", "".join(filter(str.isdecimal, found[0])))
    if "+" in text:
        yield from _find_phones(text)
    for found in _ZEROS_PHONE.finditer(text):
        yield from _find_phones(f"+{found[0][2:]}")
    for found in _LOCAL_PHONE.finditer(text):
        yield _Personal("phone", "".join(filter(str.isdecimal, found[0])), "1")


def _find_phones(text: str) -> Iterator[_Personal]:
    """Find the numbers with a country code that exist."""
    import phonenumbers

    for found in phonenumbers.PhoneNumberMatcher(text, None):
        number = phonenumbers.national_significant_number(found.number)
        yield _Personal("phone", number, str(found.number.country_code))


def _find_named_phone(name: str, value: object) -> Iterator[_Personal]:
    """Find a number without any separator by the name of its parameter."""
    written = value if isinstance(value, str) else _write_number(value) or ""
    if _PHONE_NAME.search(name) and re.fullmatch(r"[\d() ./-]{7,24}", written):
        digits = "".join(filter(str.isdecimal, written))
        if len(digits) == 11 and digits.startswith("1"):
            yield _Personal("phone", digits[1:], "1")
        elif 7 <= len(digits) <= 15:
            yield _Personal("phone", digits.lstrip("0"), "1" if len(digits) == 10 and digits[0] > "1" else "")


def _list_members(value: object, name: str = "") -> Iterator[tuple[str, object]]:
    """Yield each text and number of a JSON value with the name of the member that has it."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _list_members(key)
            yield from _list_members(each, str(key))
    elif isinstance(value, list):
        for each in value:
            yield from _list_members(each, name)
    else:
        yield name, value


def is_card_number(text: str) -> bool:
    """Tell whether the digits of a text are of an issuer of cards and have the right check digit (Luhn)."""
    digits = "".join(filter(str.isdecimal, text))
    doubled = [int(each) * (1 + at % 2) for at, each in enumerate(reversed(digits))]
    is_right = sum(each - 9 * (each > 9) for each in doubled) % 10 == 0
    return is_right and 14 <= len(digits) <= 19 and _ISSUER.fullmatch(digits) is not None


def mask_conversation(logged: LoggedConversation) -> tuple[LoggedConversation, Masks]:
    """Mask a conversation; return it with its masks."""
    members = [
        *(("", message.text) for message in logged.messages),
        *(
            each
            for message in logged.messages
            for call in message.calls
            for each in _list_members(call.arguments)
        ),
    ]
    found: dict[_Personal, None] = {}
    for _, value in members:
        found |= dict.fromkeys(_find_values(value if isinstance(value, str) else _write_number(value) or ""))
    for name, value in members:
        for phone in _find_named_phone(name, value):
            if not Masks(dict.fromkeys(found, 0)).find_survivor(phone.plain):
                found[phone] = None
    if not found:
        return logged, Masks({})
    offered = json.dumps(logged.tools, ensure_ascii=False)
    masked = {each.plain for each in found if _MASK.fullmatch(each.plain)}
    numbers: dict[_Personal, int] = {}
    last: Counter[str] = Counter()
    for each in found:
        if each.plain in masked or re.search(each.make_pattern(), offered):
            continue
        last[each.kind] += 1
        while each.write_mask(last[each.kind], each.plain) in masked:
            last[each.kind] += 1
        numbers[each] = last[each.kind]
    masks = Masks(numbers)
    messages = tuple(
        replace(
            message,
            text=masks.mask_text(message.text),
            calls=tuple(replace(call, arguments=masks.mask_value(call.arguments)) for call in message.calls),
        )
        for message in logged.messages
    )
    return replace(logged, messages=messages), masks
