"""Mask what belongs to people in a conversation, in question and right call alike.

Each value is replaced by one value of the same kind that belongs to nobody, wherever it stands and however it
is written: with or without separators, country code and upper case, in digits of any script, as in a URL, as
text or as a JSON number. Left alone is what the functions' docs have (enums, defaults, examples): it belongs
to the functions.

Find what belongs to people in texts: e-mail addresses, phone numbers, card numbers and keys.

A phone number without its country is told from other numbers by words before it (``call me at``), by its
parameter's name, or by its groups: North America's, or a 0 with an area that some country has. Numbers with a
right check digit that no issuer of cards gives out, such as ISBNs and times in milliseconds, are no cards.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote, unquote

from pytest_fcbench.tools.importing.offered_tools import LoggedConversation

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


_ESCAPE = r"(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})|(?<=\\[nrt])"
"""The end of a character that an address of the web or a JSON text has in another form."""
EMAIL_START, NUMBER_START = rf"(?:{_ESCAPE}|(?<![\w.+\\-]))", rf"(?:{_ESCAPE}|(?<![\d.]))"
_EMAIL = re.compile(rf"{EMAIL_START}\w[\w.+'-]{{0,63}}@[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{1,8}}(?![\w-])")
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
_LOCAL_PHONE = re.compile(r"(?<![\w.-])(?:\(\d{3}\)[-. ]?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w-])")
_ZEROS_PHONE = re.compile(r"(?<![\w.])00(?=[\d() ./-]*[() ./-])[1-9][\d() ./-]{6,20}\d(?![\w-])")
_BEFORE, _AFTER = r"(?<![0-9A-Za-z_.,:/#-])", r"(?![0-9A-Za-z_%:]|[.,/-]\d| ?[€$£])"
_AREA_PHONE = re.compile(
    rf"(?P<gap>[^\d\n.;]{{0,24}}){_BEFORE}(?P<number>(?=(?:\D{{0,3}}\d){{9}})"
    rf"\(?0\d{{2,4}}(?:\) ?| ?[-/ ] ?)\d{{2,8}}(?:[- ]\d{{2,5}}){{0,3}}){_AFTER}"
)
_AREA_REGIONS = (
    *("DE", "GB", "AT", "CH", "NL", "BE", "SE", "IE", "IT", "AU", "JP", "KR", "CN", "ZA", "TR", "IN"),
)
"""Regions in which a number begins with 0 and its area; one of them has to group a number in this way."""
_SAID_PHONE = re.compile(
    r"(?:phone|mobil|whatsapp|rufnummer|tel[eé]fono?|t[eé]l[eé]phone|celular|телефон|电话|手机|電話|携帯|전화|هاتف|फ़ोन"
    r"|\b(?:my|your|his|her|our|their|meine?|ihre?|mi|mon|meu) (?:(?:new|old|home|work|office) )?"
    r"(?:number|nummer|n[uú]m[eé]ro)|\b(?P<verb>call|text|ring|dial|reach|contact|sms|tel|cell|fax|handy|anrufen"
    r"|ll[aá]m\w+|m[oó]vil|appele[rz])\b)"
    rf"(?P<gap>[^\d\n$€£¥#]{{0,24}}?){_BEFORE}(?P<number>\(?\d[\d() ./-]{{5,20}}\d){_AFTER}",
    re.IGNORECASE,
)
_GAP = re.compile(
    r"\W*(?:(?:me|us|him|her|them|back|please|now|later|today|tonight|tomorrow|at|on|under|via|the|this|my|is"
    r"|number|no|unter|al|au)\W+)*",
    re.IGNORECASE,
)
"""The words between a word such as ``call``, which has other meanings too, and a phone number."""
_OTHER_THING = re.compile(
    r"\b(?:order|invoice|account|id|ref\w*|ticket|case|item|room|flight|version|prices?|costs?|isbn|code|zip|policy"
    r"|track\w*|sold|serial|model|date|since|until|before|after|part|sku|product|article|contract|licen[cs]e"
    r"|bestell\w*|pedido|commande)\b",
    re.IGNORECASE,
)
_NO_PHONE = re.compile(
    r"(?:19|20)\d\d[-/ ](?:19|20)\d\d|\d{4}[-/.]\d\d?[-/.]\d\d?(?!\d)|-\d\d-(?:19|20)\d\d\Z"
    r"|(?<![\d.])\d\d?[-/.]\d\d?[-/.](?:\d{4}|\d\d)(?![\d.])|\A(?:\d{1,3}\.){3}\d{1,3}\Z|\A\d+\.\d+\Z|0{5}"
    r"|(?: 000){2}|\A97[89]\b|\A1[4-9]\d{8}(?:\d{3})?\Z|\A97[89]\d{10}\Z|\A\d-\d+-\d+-\d\Z"
)
"""Dates, addresses of the net, fractions, round numbers, times in seconds or milliseconds, ISBNs."""
_PHONE_NAME = re.compile(
    r"phone|mobile|msisdn|whatsapp|(?:^|_)(?:tel|cell|fax|sms)(?:$|_|number)", re.IGNORECASE
)


class _PlainCharacters(dict[int, int]):
    """Maps a character to the plain one that means the same, one for one, so that places stay."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        kind = unicodedata.category(character)
        plain = (
            str(unicodedata.decimal(character))
            if kind == "Nd"
            else "-"
            if kind == "Pd" or character == "\u2212"
            else " "
            if kind in ("Zs", "Cf")
            else unicodedata.normalize("NFKC", character)
            if unicodedata.east_asian_width(character) in "FH"
            else character
        )
        self[code] = ord(plain) if len(plain) == 1 else code
        return self[code]


PLAIN = _PlainCharacters()


@dataclass(frozen=True, slots=True)
class PersonalValue:
    """A value that belongs to people, whatever way it is written."""

    kind: str
    plain: str
    """An address in lower case, a key, the digits of a card, or of a phone number without country code."""
    country: str = ""
    """The country code of a phone number, where it is known."""


def write_number(value: object) -> str | None:
    """Return the digits of a whole number, or None for any other value."""
    match value:
        case bool():
            return None
        case int() | float() if abs(value) <= 10**20 and value == value // 1:
            return str(int(value))
    return None


def _find_values(text: str) -> Iterator[PersonalValue]:
    """Find what belongs to people in a text by its look."""
    # Nothing that is masked has neither.
    if "@" not in text and not any(map(str.isdigit, text)):
        return
    yield from (PersonalValue("e-mail", match[0].lower()) for match in _EMAIL.finditer(text))
    yield from (PersonalValue("key", match[0]) for match in _KEY.finditer(text))
    for match in _CARD.finditer(text):
        if is_card_number(match[0]):
            yield PersonalValue("card", join_digits(match[0]))
    if "+" in text:
        yield from _find_phones(text)
    for match in _ZEROS_PHONE.finditer(text):
        yield from _find_phones(f"+{match[0][2:]}")
    for match in _LOCAL_PHONE.finditer(text):
        yield PersonalValue("phone", join_digits(match[0]), "1")


def join_digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


def _find_phones(text: str) -> Iterator[PersonalValue]:
    """Find the numbers with a country code that exist."""
    import phonenumbers

    for match in phonenumbers.PhoneNumberMatcher(text, None):
        number = phonenumbers.national_significant_number(match.number)
        yield PersonalValue("phone", number, str(match.number.country_code))


def _find_national_phones(name: str, text: str) -> Iterator[PersonalValue]:
    """Find the numbers without a country: by a parameter's name, by words before them, by an area."""
    from phonenumbers import Leniency, PhoneNumberMatcher

    numbers = [text] if _PHONE_NAME.search(name) and re.fullmatch(r"[\d() ./-]{7,24}", text) else []
    for match in _SAID_PHONE.finditer(text):
        is_grouped = re.search(r"\A\(?0|\D", match["number"]) or len(match["number"]) > 9
        if not match["verb"] or (is_grouped and _GAP.fullmatch(match["gap"])):
            numbers += _list_phone(match)
    with_area = dict.fromkeys(each for match in _AREA_PHONE.finditer(text) for each in _list_phone(match))
    for number in with_area:
        matchers = (PhoneNumberMatcher(number, each, Leniency.STRICT_GROUPING) for each in _AREA_REGIONS)
        if any(each.has_next() for each in matchers):
            numbers.append(number)
    for digits in map(join_digits, numbers):
        plain = digits.lstrip("0")
        if len(digits) == 11 and digits.startswith("1") and digits[1] > "1":
            yield PersonalValue("phone", digits[1:], "1")
        # Zeros alone are nobody's number, and would be found in every other one.
        elif len(digits) >= 7 and 6 <= len(plain) <= 15:
            yield PersonalValue("phone", plain, "1" if len(digits) == 10 and digits[0] > "1" else "")


def _list_phone(match: re.Match[str]) -> list[str]:
    """List the number of a match, or nothing where its form or the words before tell of another thing."""
    is_other = _OTHER_THING.search(match["gap"]) or _NO_PHONE.search(match["number"])
    return [] if is_other or len(join_digits(match["number"])) < 7 else [match["number"]]


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
    digits = join_digits(text)
    luhn_digits = [int(each) * (1 + at % 2) for at, each in enumerate(reversed(digits))]
    is_right = sum(each - 9 * (each > 9) for each in luhn_digits) % 10 == 0
    return is_right and 14 <= len(digits) <= 19 and _ISSUER.fullmatch(digits) is not None


def find_personal_values(members: Iterable[tuple[str, object]]) -> Mapping[PersonalValue, None]:
    """Find what belongs to people in values, each with the name of its parameter; in order, each once."""
    texts = [
        (name, unquote((value if isinstance(value, str) else write_number(value) or "").translate(PLAIN)))
        for parameter, member in members
        for name, value in _list_members(member, parameter)
    ]
    personal_values: dict[PersonalValue, None] = {}
    for _, text in texts:
        personal_values |= dict.fromkeys(_find_values(text))
    # Last, so that a number with its country is known wherever it stands without.
    for name, text in texts:
        for phone in _find_national_phones(name, text):
            if not any(each.plain in phone.plain for each in personal_values):
                personal_values[phone] = None
    return personal_values
