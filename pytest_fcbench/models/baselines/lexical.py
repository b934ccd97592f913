"""A baseline without a model: word overlap picks the function, typed patterns fill its parameters.

Deterministic and weak on purpose: it is the floor that any model must beat. It sees what a model sees,
the question and the function docs, and works in three steps:

1. score each function by the words it shares with the request (its name counts more than its description);
   below a threshold it abstains;
2. fill parameters by type: enum words, numbers, quoted or capitalised text, yes/no words; what cannot be
   filled and is optional is left out;
3. split the request at "and", ";" and sentence ends; where two or more parts can each fill a call of
   their own, it makes one call for each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import FunctionDoc, Schema
from pytest_fcbench.domain.prompting import Prompting
from pytest_fcbench.domain.transcript import AskModel, Call, Completion
from pytest_fcbench.models.provider import Provider, open_plain_model

T = TypeVar("T")

# One word in common with a function's description is enough; one with a parameter alone is not.
_THRESHOLD = 1.0
_STOP = frozenset(Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split())
_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WHOLE_NUMBERS = ("integer", "long", "bigint", "byte", "short")
_FRACTIONS = ("float", "double", "number")
_LISTS = ("array", "tuple", "arraylist")
_WORD = re.compile(r"[^\W\d_]+")
# Bounded, because ``int`` refuses texts of more than 4,300 digits.
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d{1,200}(?:,\d{3}){0,9}(?:\.\d{1,200})?(?!\d)")
_QUOTED = re.compile(r"\"([^\"]+)\"|(?<!\w)'([^']{2,}?)'(?!\w)|`([^`]+)`|“([^”]+)”|«([^»]+)»")
_CAPITALISED = re.compile(r"(?<=[\s(])(?:[A-Z][\w&-]*)(?:\s+[A-Z][\w&-]*)*")
_AFTER_PREPOSITION = re.compile(
    r"\b(?:in|at|for|from|to|of|on|near|called|named)\s+(?:the\s+|my\s+|a\s+)?([^\W\d_]+)"
)
_SPLIT = re.compile(r"\band\b|;|[.!?]\s|\bthen\b|\balso\b")
_ENDING = re.compile(r"(?:ies|es|s|ing|ed)$")
_NO = re.compile(r"\b(?:no|not|without|don't|never|off|disable)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LexicalModel:
    """The word-matching baseline; it answers in the mode it is asked in."""

    prompting: Prompting
    immediate: bool = True
    notes: tuple[str, ...] = (
        "lexical is a baseline without a model (--fcbench-model names one): it matches words, so most "
        "entries are expected to fail",
    )

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Guess the calls from words alone."""
        messages = entry.turns[request.turn]
        text = next((m.content for m in reversed(messages) if m.role == "user"), "")
        best = None if request.step else _find_best(text, entry.functions)
        if best is None:
            return Completion(text="No function seems to fit.")
        calls = []
        for part in _SPLIT.split(text):
            if part.strip():
                doc = _find_best(part, entry.functions) or best
                arguments = _fill_parameters(part, doc, leave_out=True)
                if arguments and set(doc.required) <= arguments.keys():
                    calls.append(Call(doc.name, arguments))
        # Compared as texts, because arguments can be lists, which have no hash.
        if len(calls) < 2 or len({repr(call) for call in calls}) < len(calls):
            calls = [Call(best.name, _fill_parameters(text, best, leave_out=False))]
        return render_completion(calls, entry, self.prompting, request.tools)


def _find_best(text: str, functions: Sequence[FunctionDoc]) -> FunctionDoc | None:
    words = _find_stems(text)
    scores = []
    for doc in functions:
        in_name = words & _find_stems(re.sub(r"([a-z])([A-Z])", r"\1 \2", doc.name))
        in_description = words & _find_stems(doc.description) - in_name
        texts = [f"{name} {each.get('description', '')}" for name, each in doc.properties.items()]
        in_parameters = words & _find_stems(" ".join(texts)) - in_name - in_description
        scores.append(2.0 * len(in_name) + len(in_description) + 0.25 * len(in_parameters))
    if max(scores, default=0.0) < _THRESHOLD:
        return None
    return functions[scores.index(max(scores))]


# Most are of function docs, which many entries share.
@lru_cache(4096)
def _find_stems(text: str) -> frozenset[str]:
    """Return the lower-case words of a text without stop words and endings."""
    words = set(_WORD.findall(text.replace("_", " ").lower())) - _STOP
    return frozenset(_ENDING.sub("", word) or word for word in words)


@dataclass
class _Clues:
    """Values that a text offers, each with its place and used once."""

    text: str
    numbers: list[tuple[int, int | float]] = field(default_factory=list)
    names: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def of(cls, text: str) -> _Clues:
        quotations = [(m.start(), next(filter(None, m.groups()))) for m in _QUOTED.finditer(text)]
        # Spaces of the same length, so that the places in the text stay the same.
        plain = _QUOTED.sub(lambda match: " " * len(match.group()), text)
        numbers = [
            (m.start(), float(digits) if "." in (digits := m.group().replace(",", "")) else int(digits))
            for m in _NUMBER.finditer(plain)
        ]
        words = [(m.start(), m.group().lower()) for m in _WORD.finditer(plain)]
        numbers += [(at, _NUMBER_WORDS.index(word)) for at, word in words if word in _NUMBER_WORDS]
        proper_names = [(m.start(), m.group()) for m in _CAPITALISED.finditer(plain)]
        after = [(m.start(1), m.group(1)) for m in _AFTER_PREPOSITION.finditer(plain)]
        return cls(text, sorted(numbers), list(dict.fromkeys([*quotations, *proper_names, *after])))

    def take(self, clues: list[tuple[int, T]], name: str) -> T | None:
        """Remove and return the first clue after a word of the parameter's name, else the first."""
        if not clues:
            return None
        lower = self.text.lower()
        places = [m.start() for stem in _find_stems(name) for m in re.finditer(re.escape(stem), lower)]
        behind = [clue for clue in clues if places and clue[0] > min(places)]
        best = (behind or clues)[0]
        clues.remove(best)
        return best[1]


def _fill_parameters(text: str, doc: FunctionDoc, *, leave_out: bool) -> dict[str, object]:
    """Find values for the parameters; required ones get a stand-in where needed, unless ``leave_out``."""
    clues = _Clues.of(text)
    arguments: dict[str, object] = {}
    # Required parameters choose first, because each clue is used once.
    sorted_properties = sorted(doc.properties.items(), key=lambda item: item[0] not in doc.required)
    for name, schema in sorted_properties:
        is_required = name in doc.required
        value = _find_value(name, schema, clues, required=is_required)
        if value is None and is_required and not leave_out:
            value = _make_stand_in(schema, text)
        if value is not None:
            arguments[name] = value
    return {name: arguments[name] for name in doc.properties if name in arguments}


def _find_value(name: str, schema: Schema, clues: _Clues, *, required: bool) -> object:
    options = schema.get("enum")
    kind = str(schema.get("type")).lower()
    if isinstance(options, list):
        return next((option for option in options if _mentions(clues.text, str(option))), None)
    if kind in (*_WHOLE_NUMBERS, *_FRACTIONS):
        number = clues.take(clues.numbers, name)
        return number if number is None else int(number) if kind in _WHOLE_NUMBERS else float(number)
    if kind == "boolean":
        is_mentioned = any(_mentions(clues.text, word) for word in _find_stems(name))
        return not _NO.search(clues.text) if is_mentioned or required else None
    if kind in ("string", "any", "char") and required:
        return clues.take(clues.names, name)
    if kind not in _LISTS or not required:
        return None
    items = schema.get("items")
    kind = str(items.get("type")).lower() if isinstance(items, dict) else "string"
    if kind in ("integer", "long", *_FRACTIONS):
        numbers, clues.numbers = clues.numbers, []
        return [int(n) if kind in ("integer", "long") else float(n) for _, n in numbers] or None
    names, clues.names = clues.names, []
    return [name for _, name in names] or None


def _make_stand_in(schema: Schema, text: str) -> object:
    """Return a value of the right type for a required parameter that nothing in the request fits."""
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return options[0]
    kind = str(schema.get("type")).lower()
    if kind in (*_WHOLE_NUMBERS, *_FRACTIONS):
        return 1
    if kind in _LISTS:
        return []
    if kind in ("dict", "hashmap", "object"):
        return {}
    return max(_WORD.findall(text), key=len, default="")


def _mentions(text: str, option: str) -> bool:
    words = re.escape(option.replace("_", " "))
    return re.search(rf"(?<!\w){words}", text.replace("_", " "), re.IGNORECASE) is not None


PROVIDER = Provider(
    partial(open_plain_model, LexicalModel),
    about="matches words, the floor that any model must beat",
    needs_network=False,
    answers_questions=False,
)
