"""Whether the calls of a trajectory can be made, and whether turns without calls must be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.registry import Offer
from pytest_fcbench.domain.conformance import misfit
from pytest_fcbench.domain.entry import Entry, Trajectory
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.matchers.state import offered
from pytest_fcbench.matchers.text_normalization import standardized
from pytest_fcbench.tools.audit.facts import Facts
from pytest_fcbench.tools.audit.findings import CERTAIN, HINT, LIKELY, Severity, shown
from pytest_fcbench.tools.audit.registry import Problem, check


def turns(entry: Entry) -> Sequence[Sequence[str]]:
    """The calls of each turn; none where the truth is of another kind."""
    return entry.expectation.turns if isinstance(entry.expectation, Trajectory) else ()


@check("unmakeable", "a call of a trajectory cannot be made")
def unmakeable(facts: Facts) -> Iterator[Problem]:
    """Calls that are no Python, of functions that are not offered (yet), or not as their doc says."""
    for entry in facts.entries:
        for number, texts in enumerate(turns(entry)):
            for text in texts:
                if found := _unmakeable(entry, number, text):
                    severity, why = found
                    evidence = f"turn {number + 1}: {shown(text)}: {why}"
                    yield Problem(entry.id, severity, evidence, "correct the call of the truth")


def _unmakeable(entry: Entry, turn: int, text: str) -> tuple[Severity, str] | None:
    try:
        calls = python.corrected(text)
    except Undecodable as error:
        return CERTAIN, str(error)
    if len(calls) != 1:
        return CERTAIN, f"{len(calls)} calls where one belongs"
    docs = {doc.name: doc for doc in offered(entry, turn)}
    call = Offer(tuple(docs.values()), Names.DOTTED).own(calls[0])
    if call.name not in docs:
        late = {doc.name: at for at, found in _withheld(entry).items() for doc in found}
        when = f"only from turn {late[call.name] + 1} on" if call.name in late else "in no turn"
        return CERTAIN, f"{call.name} is offered {when}"
    if call.positional:
        return CERTAIN, f"{shown(call.positional[0])} belongs to no parameter"
    if why := misfit(call.name, call.arguments, docs, lambda value, schema: True):
        return CERTAIN, why
    plain = {name: value for name, value in call.arguments.items() if not isinstance(value, (dict, str))}
    declared = {name: FunctionDoc(name, "", {"properties": doc.properties}) for name, doc in docs.items()}
    why = misfit(call.name, plain, declared)
    return (LIKELY, why) if why else None


def _withheld(entry: Entry) -> Mapping[int, Sequence[FunctionDoc]]:
    return entry.scene.withheld if entry.scene else {}


@check("erring", "a call of a trajectory returns an error")
def erring(facts: Facts) -> Iterator[Problem]:
    """Calls that return an error when the trajectory is carried out."""
    for entry in facts.entries:
        if not any(turns(entry)):
            continue
        try:
            environments = facts.fresh(entry)
        except Exception as error:  # noqa: BLE001 - a state that somebody wrote can break anything
            evidence = f"the initial state cannot be opened: {type(error).__name__}: {error}"
            yield Problem(entry.id, CERTAIN, evidence, "correct the state")
            continue
        for number, texts in enumerate(turns(entry), 1):
            for text, result in zip(texts, environments.perform(texts), strict=True):
                unmade = _unmakeable(entry, number - 1, text)
                if unmade and unmade[0] is CERTAIN:
                    continue  # ``unmakeable`` tells it
                if found := _error(result):
                    severity, told = found
                    evidence = f"turn {number}: {shown(text, 120)} returns {shown(told, 120)}"
                    advice = "correct the call or the initial state, or say that the error is wanted"
                    yield Problem(entry.id, severity, evidence, advice)


def _error(result: str) -> tuple[Severity, str] | None:
    if result.startswith("Error: "):
        return CERTAIN, result
    try:
        value = json.loads(result)
    except ValueError:
        return None
    error = value.get("error") if isinstance(value, dict) else None
    return (LIKELY, str(error)) if error else None


@check("callable_turn", "a turn without calls could be served")
def callable_turns(facts: Facts) -> Iterator[Problem]:
    """Turns of the truth without calls in which nothing that the next turn needs is missing.

    Missing may be a function that comes late, or a value that the user names only then.
    """
    for entry in facts.entries:
        truth = turns(entry)
        for turn, texts in enumerate(truth):
            if texts:
                continue
            if found := _callable(entry, turn, truth):
                severity, evidence = found
                advice = "leave out what is needed, or expect the calls in this turn"
                yield Problem(entry.id, severity, evidence, advice)


def _callable(entry: Entry, turn: int, truth: Sequence[Sequence[str]]) -> tuple[Severity, str] | None:
    after = next((n for n in range(turn + 1, len(truth)) if truth[n]), None)
    if after is None:
        return LIKELY, f"no turn from {turn + 1} on makes a call, so nothing shows what is missing"
    calls = list(_calls(truth[after]))
    late = [doc.name for at, docs in _withheld(entry).items() if turn < at <= after for doc in docs]
    if late:
        if any(f"{name}(" in text for name in late for text in truth[after]):
            return None
        evidence = f"turn {turn + 1} waits for {shown(late)}, which turn {after + 1} does not call"
        return LIKELY, f"{evidence}: {shown(list(truth[after]))}"
    said = standardized(" ".join(m.content for messages in entry.turns[: turn + 1] for m in messages))
    if not calls or not all(_stands(value, said) for call in calls for value in call.arguments.values()):
        return None
    evidence = f"turn {turn + 1} already says every value of turn {after + 1}"
    return HINT, f"{evidence}: {shown(list(truth[after]))}"


def _calls(texts: Sequence[str]) -> Iterator[Call]:
    for text in texts:
        try:
            yield from python.corrected(text)
        except Undecodable:
            return


def _stands(value: object, said: str) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_stands(element, said) for element in value)
    if isinstance(value, dict):
        return all(_stands(member, said) for member in value.values())
    return isinstance(value, bool) or standardized(str(value)) in said
