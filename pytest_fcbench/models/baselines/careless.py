"""A simulated model that knows the right answers and makes typical mistakes of small models in some entries.

Which entries it gets wrong, and by which mistake, follows from their keys alone: every run and every worker
sees the same ones, and a larger share only adds to them. In a conversation the mistake is made where the last
calls belong. A few mistakes turn out to be acceptable answers, as they do with real models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from random import Random
from typing import TypeAlias

from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.transcript import AskModel, Call, Completion
from pytest_fcbench.kinds.kind import DONE
from pytest_fcbench.kinds.relevance import make_call
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.models.provider import Chosen, Provider, open_plain_model, refuse_model

DEFAULT_PERCENT = 6.0
ASKS_BACK = "Could you tell me a little more about what you need?"
GIVES_UP = str({"answer": "I could not find that.", "context": "Nothing was found."})

Answer: TypeAlias = Sequence[Call] | str
"""Calls, or else words."""
Mistake: TypeAlias = Callable[[Entry, Sequence[Call]], Answer | None]
"""Makes a wrong answer of the right calls to an entry; None where it cannot be made of them."""


def draw_chance(key: str, seed: object) -> float:
    """Draw a number in [0, 1) for an entry, the same in every process."""
    return int.from_bytes(sha256(f"{seed} {key}".encode()).digest()[:4]) / 2**32


def change_value(value: object) -> object:
    """Return another value of the same type."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value} other"
        case list() | tuple():
            return [*value, *value] if value else ["other"]
        case Mapping():
            return {}
    return "other"


def change_number(value: object) -> object:
    """Add one to a number; None for any other value."""
    return change_value(value) if type(value) in (int, float) else None


def cut_value(value: object) -> object:
    """Leave out the last word of a text, or the last element of a list."""
    if isinstance(value, str):
        return value.rpartition(" ")[0].rstrip(" ,") or None
    return value[:-1] if isinstance(value, list) and len(value) > 1 else None


def change_argument(change: Callable[[object], object], entry: Entry, calls: Sequence[Call]) -> Answer | None:
    """Change the last argument that can be changed in this way."""
    for place, call in reversed(list(enumerate(calls))):
        for name, value in list(call.arguments.items())[::-1]:
            if (changed := change(value)) is not None:
                return _put_arguments(calls, place, {**call.arguments, name: changed})
    return None


def write_number_as_text(entry: Entry, calls: Sequence[Call]) -> Answer | None:
    """Put a number into quotes; in other languages than Python all values are texts."""
    if entry.category.language is not Language.PYTHON:
        return None
    return change_argument(lambda value: str(value) if type(value) in (int, float) else None, entry, calls)


def swap_values(entry: Entry, calls: Sequence[Call]) -> Answer | None:
    """Give two arguments of one type each other's value."""
    for place, call in enumerate(calls):
        for one, other in zip(call.arguments, list(call.arguments)[1:], strict=False):
            values = call.arguments[one], call.arguments[other]
            if type(values[0]) is type(values[1]) and values[0] != values[1]:
                swapped = {**call.arguments, one: values[1], other: values[0]}
                return _put_arguments(calls, place, swapped)
    return None


def leave_argument_out(entry: Entry, calls: Sequence[Call], *, required: bool) -> Answer | None:
    """Leave the last argument out that a call requires, or one that only the request asks for."""
    for place, call in enumerate(calls):
        doc = entry.find_function(call.name)
        for name in list(call.arguments)[::-1]:
            if doc and (name in doc.required) is required:
                rest = {each: value for each, value in call.arguments.items() if each != name}
                return _put_arguments(calls, place, rest)
    return None


def invent_argument(entry: Entry, calls: Sequence[Call]) -> Answer | None:
    """Fill a parameter that the request says nothing about."""
    for place, call in enumerate(calls):
        doc = entry.find_function(call.name)
        for name in doc.properties if doc else ():
            if doc and name not in call.arguments:
                filled = make_call(replace(doc, parameters={**doc.parameters, "required": [name]}))
                return _put_arguments(calls, place, {**call.arguments, **filled.arguments})
    return None


def _put_arguments(calls: Sequence[Call], place: int, arguments: Mapping[str, object]) -> Answer:
    return [*calls[:place], replace(calls[place], arguments=arguments), *calls[place + 1 :]]


def call_other_function(entry: Entry, calls: Sequence[Call]) -> Answer | None:
    """Call another function that is offered, with what fits its parameters."""
    names = {call.name for call in calls}
    for doc in entry.functions:
        if doc.name not in names:
            fitting = {name: value for name, value in calls[0].arguments.items() if name in doc.properties}
            return [Call(doc.name, {**make_call(doc).arguments, **fitting}), *calls[1:]]
    return None


def forget_call(entry: Entry, calls: Sequence[Call]) -> Answer | None:
    """Leave out the last of several calls; in a conversation even the only one."""
    return calls[:-1] if len(calls) > 1 else None if entry.category.single_turn else DONE


def write_calls_as_text(entry: Entry, calls: Sequence[Call]) -> Answer | None:
    """Write the calls into the text of the answer, where the interface has a field for them."""
    return f"I will call {render_completion(calls, entry, Prompting.make_default(Mode.PROMPT)).text}"


def ask_back(entry: Entry, calls: Sequence[Call]) -> Answer | None:
    """Ask for what the request has said."""
    return ASKS_BACK


MISTAKES: Mapping[str, Mistake] = {
    "calls another function": call_other_function,
    "forgets a call": forget_call,
    "writes a number as text": write_number_as_text,
    "miscounts": partial(change_argument, change_number),
    "cuts a value": partial(change_argument, cut_value),
    "swaps two values": swap_values,
    "leaves a required argument out": partial(leave_argument_out, required=True),
    "leaves an optional argument out": partial(leave_argument_out, required=False),
    "invents an argument": invent_argument,
    "writes calls as text": write_calls_as_text,
    "calls nothing": ask_back,
}
"""The mistakes that can be made of right calls."""


@dataclass(frozen=True, slots=True)
class CarelessModel:
    """A model that makes mistakes in a share of the entries; it answers in the mode it is asked in."""

    percent: float
    prompting: Prompting
    immediate: bool = True

    @property
    def notes(self) -> tuple[str, ...]:
        """Say that nobody was measured."""
        return (f"careless is simulated: right answers, with mistakes made in {self.percent:g} % of entries",)

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Return the right answer, or the mistake that is drawn for the entry."""
        right = find_kind(entry).answer_rightly(entry, request)
        answer: Answer = right.calls or right.words
        if entry.expectation.is_judged and draw_chance(entry.key, "careless") * 100 < self.percent:
            answer = make_mistake(entry, request, right.calls) or answer
        if isinstance(answer, str):
            return Completion(text=answer)
        return render_completion(answer, entry, self.prompting, request.tools)


def make_mistake(entry: Entry, request: AskModel, calls: Sequence[Call]) -> Answer | None:
    """Make the mistake of an entry if its place is here; ``calls`` are the right ones."""
    if entry.expectation.rests_on_results:
        # One answer in two does not even look.
        return GIVES_UP if not calls or draw_chance(entry.key, "look") < 0.5 else None
    if entry.expectation.forbids_calls:
        return [make_call(doc) for doc in entry.functions[:1]]
    if entry.expectation.takes_any_call:
        return ASKS_BACK
    turns = find_kind(entry).list_right_calls(entry)
    places = [(turn, step) for turn, steps in enumerate(turns) for step, each in enumerate(steps) if each]
    if not calls or (request.turn, request.step) != places[-1]:
        return None
    mistakes = Random(entry.key).sample(list(MISTAKES.values()), len(MISTAKES))  # noqa: S311 - to be repeated
    return next((wrong for make in mistakes if (wrong := make(entry, calls))), None)


def open_careless_model(argument: str, settings: Settings) -> Chosen:
    """Open the model with the share of mistakes behind the colon, or the usual one. Raises ``UsageError``."""
    if not re.fullmatch(r"|\d{1,3}(\.\d+)?", argument, re.ASCII) or float(argument or 0) > 100:
        raise refuse_model(settings, "must have a percentage from 0 to 100, e.g. careless:20")
    percent = float(argument) if argument else DEFAULT_PERCENT
    return open_plain_model(partial(CarelessModel, percent), argument, settings)


PROVIDER = Provider(
    open_careless_model,
    "PERCENT",
    f"simulated: right answers, with typical mistakes in {DEFAULT_PERCENT:g} % (or PERCENT) of entries",
    needs_network=False,
    answers_questions=False,
    argument_is_optional=True,
)
