"""The oracle answers from the ground truth.

It must score 100 % in the corrected profile: an entry it misses is broken. Where several values are
accepted it gives the first, leaves out what may be left out, and for relevance entries, which have no
ground truth, it fills the first function with values of the declared types. In a conversation it makes all
calls of a turn at once, of a golden path those of each step, and then says that it is done. Where words are
the answer, it says one that its calls have found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.registry import Offer
from pytest_fcbench.codecs.rendering import render
from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.entry import (
    Answers,
    AnyCall,
    Entry,
    ExpectedCall,
    ExpectedCalls,
    ExpectedResponse,
    ExpectedResults,
    Facts,
    GoldenPath,
    Trajectory,
)
from pytest_fcbench.domain.function_doc import FunctionDoc, Schema
from pytest_fcbench.domain.prompting import Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Call, Completion
from pytest_fcbench.models.baselines import memory_recall
from pytest_fcbench.models.provider import Chosen, Provider, choose_plain_manner

ABSTENTION = "None of the offered functions can serve this request."
DONE = "All of this is done."


@dataclass(frozen=True, slots=True)
class OracleModel:
    """Answers in the mode it is asked in."""

    prompting: Prompting
    immediate: bool = True
    notes: tuple[str, ...] = ()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """The right answer."""
        if not entry.category.single_turn:
            calls, words = _step(entry, request)
            if not calls:
                return Completion(text=words)
            return render(calls, entry, self.prompting)
        match entry.expectation:
            case ExpectedResults(calls=texts):
                calls = _calls_of_turn(entry, texts)
            case ExpectedResponse(call=text):
                calls = _calls_of_turn(entry, [text])
            case ExpectedCalls(calls=expected):
                calls = [_call(wanted, entry.function(wanted.name)) for wanted in expected]
            case AnyCall():
                calls = [_plausible(entry.functions[0])]
            case _:
                return Completion(text=ABSTENTION)
        return render(calls, entry, self.prompting)


def _step(entry: Entry, request: AskModel) -> tuple[Sequence[Call], str]:
    """The calls of a step of a conversation, and what to say where there are none."""
    match entry.expectation:
        case Trajectory(turns=turns) if not request.step:
            return _calls_of_turn(entry, turns[request.turn]), ABSTENTION
        case GoldenPath(steps=steps) if request.step < len(steps):
            return [Call(wanted.name, wanted.arguments) for wanted in steps[request.step]], DONE
        case Facts() as facts if not request.step:
            return memory_recall.keeping(entry, facts, request.turn), DONE
        case Answers() as right:
            return _sought(entry, right, request), memory_recall.answered(entry, right, request)
    return [], DONE


def _sought(entry: Entry, right: Answers, request: AskModel) -> Sequence[Call]:
    """Calls that find an answer: those that are known to, else those that look into a memory."""
    if request.step < len(right.trail):
        return _calls_of_turn(entry, right.trail[request.step])
    return memory_recall.looking(entry, request)


def _calls_of_turn(entry: Entry, texts: Sequence[str]) -> list[Call]:
    """Calls of a trajectory, positional arguments under the names of the function docs.

    What is no call cannot be made; entries with such a truth stand in the ledger of their suite.
    """
    late = entry.scene.withheld.values() if entry.scene else ()
    offer = Offer(entry.functions + tuple(doc for docs in late for doc in docs), Names.DOTTED)
    calls: list[Call] = []
    for text in texts:
        with suppress(Undecodable):
            calls += map(offer.own, python.corrected(text))
    return calls


def _call(wanted: ExpectedCall, doc: FunctionDoc | None) -> Call:
    required = doc.required if doc else ()
    arguments = {}
    for name, accepted in wanted.accepted.items():
        options = accepted if isinstance(accepted, list) else [accepted]
        if "" in options and name not in required:
            continue
        arguments[name] = _value(next((option for option in options if option != ""), "" if options else []))
    return Call(wanted.name, arguments)


def _value(option: object) -> object:
    """An accepted value in plain form: of a dict's alternatives the first, without what may be left out.

    What lies deeper inside a dict is plain already: officially it is compared as it stands.
    """
    if isinstance(option, list):
        return [_value(item) for item in option]
    if not isinstance(option, Mapping):
        return option
    return {
        key: alternatives[0]
        for key, alternatives in option.items()
        if isinstance(alternatives, list) and alternatives and "" not in alternatives
    }


def _plausible(doc: FunctionDoc) -> Call:
    return Call(doc.name, {name: _of_type(doc.properties[name]) for name in doc.required})


def _of_type(schema: Schema) -> object:
    options = schema.get("enum")
    if isinstance(options, list) and options and schema.get("type") not in ("array", "tuple"):
        return options[0]
    values: Mapping[str, object] = {
        "integer": 1,
        "float": 1.0,
        "number": 1,
        "boolean": True,
        "array": [],
        "tuple": [],
        "dict": {},
        "object": {},
    }
    return values.get(str(schema.get("type")), "text")


def _open(argument: str, settings: Settings) -> Chosen:
    manner = choose_plain_manner(settings)
    return Chosen(OracleModel(manner.prompting), manner)


PROVIDER = Provider(
    _open, about="answers from the ground truth", needs_network=False, answers_questions=False
)
