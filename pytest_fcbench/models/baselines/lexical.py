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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from pytest_fcbench.codecs.rendering import render
from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import FunctionDoc, Schema
from pytest_fcbench.domain.prompting import Prompting
from pytest_fcbench.domain.transcript import AskModel, Call, Completion
from pytest_fcbench.models.provider import Chosen, Provider, choose_plain_manner

T = TypeVar("T")

_THRESHOLD = 1.0
_STOP = frozenset(Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split())
_NUMBERS = {
    word: value
    for value, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
}
_WORD = re.compile(r"[^\W\d_]+")
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
    """Answers in the mode it is asked in."""

    prompting: Prompting
    immediate: bool = True
    notes: tuple[str, ...] = (
        "lexical is a baseline without a model: it matches words, so most entries are expected to fail",
    )

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """The best guess from words alone."""
        said = entry.turns[request.turn]
        text = next((m.content for m in reversed(said) if m.role == "user"), "")
        calls = [] if request.step else list(_calls(text, entry.functions))
        if not calls:
            return Completion(text="No function seems to fit.")
        return render(calls, entry, self.prompting)


def _calls(text: str, functions: Sequence[FunctionDoc]) -> Iterator[Call]:
    best = _best(text, functions)
    if best is None:
        return
    parts = [part for part in _SPLIT.split(text) if part.strip()]
    partial = [call for part in parts if (call := _complete_call(part, _best(part, functions) or best))]
    if len(partial) > 1 and len({repr(call) for call in partial}) == len(partial):
        yield from partial
    else:
        yield Call(best.name, _fill(text, best, leave_out=False))


def _best(text: str, functions: Sequence[FunctionDoc]) -> FunctionDoc | None:
    words = _stems(text)
    scored = [(_score(words, doc), -index) for index, doc in enumerate(functions)]
    if not scored or max(scored)[0] < _THRESHOLD:
        return None
    return functions[-max(scored)[1]]


def _score(words: frozenset[str], doc: FunctionDoc) -> float:
    in_name = words & _stems(re.sub(r"([a-z])([A-Z])", r"\1 \2", doc.name))
    in_description = words & _stems(doc.description) - in_name
    parameters = " ".join(
        f"{name} {schema.get('description', '')}" for name, schema in doc.properties.items()
    )
    in_parameters = words & _stems(parameters) - in_name - in_description
    return 2.0 * len(in_name) + len(in_description) + 0.25 * len(in_parameters)


@lru_cache(4096)  # most are of function docs, which many entries share
def _stems(text: str) -> frozenset[str]:
    """Lower-case words without stop words and plural endings."""
    words = set(_WORD.findall(text.replace("_", " ").lower())) - _STOP
    return frozenset(_ENDING.sub("", word) or word for word in words)


def _complete_call(text: str, doc: FunctionDoc) -> Call | None:
    """A call filled from a part of the request alone, or None if a required value is missing."""
    arguments = _fill(text, doc, leave_out=True)
    return Call(doc.name, arguments) if arguments and set(doc.required) <= arguments.keys() else None


@dataclass
class _Clues:
    """What a text offers, each with its place and used once."""

    text: str
    numbers: list[tuple[int, int | float]] = field(default_factory=list)
    names: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def of(cls, text: str) -> _Clues:
        quoted = [(m.start(), next(filter(None, m.groups()))) for m in _QUOTED.finditer(text)]
        plain = _QUOTED.sub(lambda found: " " * len(found.group()), text)
        numbers = [(m.start(), _number(m.group())) for m in _NUMBER.finditer(plain)]
        words = [(m.start(), m.group().lower()) for m in _WORD.finditer(plain)]
        numbers += [(at, _NUMBERS[word]) for at, word in words if word in _NUMBERS]
        capitalised = [(m.start(), m.group()) for m in _CAPITALISED.finditer(plain)]
        after = [(m.start(1), m.group(1)) for m in _AFTER_PREPOSITION.finditer(plain)]
        return cls(text, sorted(numbers), list(dict.fromkeys([*quoted, *capitalised, *after])))

    def take(self, clues: list[tuple[int, T]], name: str) -> T | None:
        """The first clue after a word of the parameter's name, else the first."""
        if not clues:
            return None
        lower = self.text.lower()
        places = [found.start() for stem in _stems(name) for found in re.finditer(re.escape(stem), lower)]
        behind = [clue for clue in clues if places and clue[0] > min(places)]
        best = (behind or clues)[0]
        clues.remove(best)
        return best[1]


def _number(text: str) -> int | float:
    text = text.replace(",", "")
    return float(text) if "." in text else int(text)


def _fill(text: str, doc: FunctionDoc, *, leave_out: bool) -> dict[str, object]:
    """Values for the parameters; required ones that nothing fits get a stand-in unless ``leave_out``."""
    clues = _Clues.of(text)
    arguments: dict[str, object] = {}
    ordered = sorted(doc.properties.items(), key=lambda item: item[0] not in doc.required)
    for name, schema in ordered:
        required = name in doc.required
        value = _value(name, schema, clues, required=required)
        if value is None and required and not leave_out:
            value = _stand_in(schema, text)
        if value is not None:
            arguments[name] = value
    return {name: arguments[name] for name in doc.properties if name in arguments}


def _value(name: str, schema: Schema, clues: _Clues, *, required: bool) -> object:
    options = schema.get("enum")
    kind = str(schema.get("type")).lower()
    if isinstance(options, list):
        return next((option for option in options if _mentions(clues.text, str(option))), None)
    if kind in ("integer", "long", "bigint", "byte", "short"):
        number = clues.take(clues.numbers, name)
        return None if number is None else int(number)
    if kind in ("float", "double", "number"):
        number = clues.take(clues.numbers, name)
        return None if number is None else float(number)
    if kind == "boolean":
        mentioned = any(_mentions(clues.text, word) for word in _stems(name))
        return not _NO.search(clues.text) if mentioned or required else None
    if kind in ("string", "any", "char") and required:
        return clues.take(clues.names, name)
    if kind in ("array", "tuple", "arraylist") and required:
        return _list(schema, clues)
    return None


def _list(schema: Schema, clues: _Clues) -> list[object] | None:
    items = schema.get("items")
    kind = str(items.get("type")).lower() if isinstance(items, dict) else "string"
    if kind in ("integer", "long", "float", "double", "number"):
        numbers, clues.numbers = clues.numbers, []
        return [int(n) if kind in ("integer", "long") else float(n) for _, n in numbers] or None
    names, clues.names = clues.names, []
    return [name for _, name in names] or None


def _stand_in(schema: Schema, text: str) -> object:
    """Something of the right type for a required parameter that nothing in the request fits."""
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return options[0]
    kind = str(schema.get("type")).lower()
    if kind in ("integer", "long", "bigint", "byte", "short", "float", "double", "number"):
        return 1
    if kind in ("array", "tuple", "arraylist"):
        return []
    if kind in ("dict", "hashmap", "object"):
        return {}
    return max(_WORD.findall(text), key=len, default="")


def _mentions(text: str, option: str) -> bool:
    return (
        re.search(rf"(?<!\w){re.escape(option.replace('_', ' '))}", text.replace("_", " "), re.IGNORECASE)
        is not None
    )


def _open(argument: str, settings: Settings) -> Chosen:
    manner = choose_plain_manner(settings)
    return Chosen(LexicalModel(manner.prompting), manner)


PROVIDER = Provider(
    _open,
    about="matches words, the floor that any model must beat",
    needs_network=False,
    answers_questions=False,
)
