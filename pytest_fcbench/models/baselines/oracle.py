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
from functools import partial

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions
from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.domain.categories import Group
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import FunctionDoc, Schema
from pytest_fcbench.domain.prompting import Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Call, Completion
from pytest_fcbench.kinds.answers import oracle as memory_recall
from pytest_fcbench.kinds.answers.truth import Answers, Facts
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls, choose_plain_value
from pytest_fcbench.kinds.execution.truth import ExpectedResponse, ExpectedResults
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from pytest_fcbench.kinds.relevance.truth import AnyCall
from pytest_fcbench.kinds.state.truth import Trajectory
from pytest_fcbench.models.provider import Provider, open_plain_model

ABSTENTION = "None of the offered functions can serve this request."
DONE = "All of this is done."


@dataclass(frozen=True, slots=True)
class OracleModel:
    """A model that knows the ground truth; it answers in the mode it is asked in."""

    prompting: Prompting
    immediate: bool = True
    notes: tuple[str, ...] = ()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Return the right answer."""
        if not entry.category.single_turn:
            calls, words = _answer_step(entry, request)
            if not calls:
                return Completion(text=words)
            return render_completion(calls, entry, self.prompting, request.tools)
        match entry.expectation:
            case ExpectedResults(calls=texts):
                calls = _parse_calls(entry, texts)
            case ExpectedResponse(call=text):
                calls = _parse_calls(entry, [text])
            case ExpectedCalls(calls=expected):
                calls = [_choose_call(wanted, entry.find_function(wanted.name)) for wanted in expected]
            case AnyCall():
                doc = entry.functions[0]
                calls = [Call(doc.name, {name: _make_value(doc.properties[name]) for name in doc.required})]
            case _:
                return Completion(text=ABSTENTION)
        return render_completion(calls, entry, self.prompting)


def _answer_step(entry: Entry, request: AskModel) -> tuple[Sequence[Call], str]:
    """Return the calls of a step of a conversation, and the words to say where there are none."""
    match entry.expectation:
        case Trajectory(turns=turns) if not request.step:
            return _parse_calls(entry, turns[request.turn]), ABSTENTION
        case GoldenPath(steps=steps) if request.step < len(steps):
            return [Call(wanted.name, wanted.arguments) for wanted in steps[request.step]], DONE
        case Facts() as facts if not request.step:
            return memory_recall.store_facts(entry, facts, request.turn), DONE
        case Answers(trail=trail) as right:
            words = memory_recall.write_answer(entry, right, request)
            if request.step < len(trail):
                return _parse_calls(entry, trail[request.step]), words
            return memory_recall.search_memory(entry, request), words
    return [], DONE


def _parse_calls(entry: Entry, texts: Sequence[str]) -> list[Call]:
    """Parse calls of a ground truth, positional arguments under the names of the function docs.

    A text that is no call is left out; entries with such a truth stand in the ledger of their suite.
    """
    late = entry.scene.withheld.values() if entry.scene else ()
    offer = OfferedFunctions(entry.functions + tuple(doc for docs in late for doc in docs), Names.DOTTED)
    calls: list[Call] = []
    for text in texts:
        with suppress(Undecodable):
            # The name of a tool may be none of Python's.
            read = (
                (python.parse_tool_call(text),)
                if entry.category.group is Group.MCP
                else python.parse_corrected(text)
            )
            calls += map(offer.normalise_call, read)
    return calls


def _choose_call(wanted: ExpectedCall, doc: FunctionDoc | None) -> Call:
    """Return the call with the first accepted value of each argument, without what may be left out."""
    required = doc.required if doc else ()
    arguments = {}
    for name, accepted in wanted.accepted.items():
        options = accepted if isinstance(accepted, list) else [accepted]
        # "" among the accepted values means that the parameter may be left out.
        if "" in options and name not in required:
            continue
        first = next((option for option in options if option != ""), "" if options else [])
        arguments[name] = choose_plain_value(first)
    return Call(wanted.name, arguments)


def _make_value(schema: Schema) -> object:
    """Return some value of a declared type."""
    options = schema.get("enum")
    # The enum of a list is meant for its elements, as in ``conforms_to_schema``.
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


PROVIDER = Provider(
    partial(open_plain_model, OracleModel),
    about="answers from the ground truth",
    needs_network=False,
    answers_questions=False,
)
