"""Checks that calls of trajectories and golden paths can be made, and that turns without calls need none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.domain.entry import Entry, Group
from pytest_fcbench.domain.explanation import CERTAIN, HINT, LIKELY, Flaw, Severity
from pytest_fcbench.domain.function_doc import FunctionDoc, conforms_to_schema, describe_misfit
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.kinds.golden_path.truth import list_steps
from pytest_fcbench.kinds.state.verdict import list_expected_turns, list_offered_docs
from pytest_fcbench.tools.audit.findings import SuiteFacts, entry_check, format_value, standardize_turns
from pytest_fcbench.tools.audit.strata import is_said


def list_performed_turns(entry: Entry) -> Sequence[Sequence[str]]:
    """List the calls of each turn; none where they act on no environment."""
    return () if entry.category.group is Group.MCP else list_expected_turns(entry)


@entry_check("unmakeable")
def find_unmakeable_calls(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find calls that are not valid Python, of functions not offered (yet), or that violate their doc."""
    for turn, texts in enumerate(list_performed_turns(entry)):
        for text in texts:
            if flaw := _examine_call(entry, turn, text):
                yield Flaw(flaw.severity, f"turn {turn + 1}: {format_value(text)}: {flaw.evidence}")


def _examine_call(entry: Entry, turn: int, text: str) -> Flaw | None:
    try:
        calls = python.parse_corrected(text)
    except Undecodable as error:
        return Flaw(CERTAIN, str(error))
    if len(calls) != 1:
        return Flaw(CERTAIN, f"{len(calls)} calls in place of one")
    docs = {doc.name: doc for doc in list_offered_docs(entry, turn)}
    call = OfferedFunctions(tuple(docs.values()), Names.DOTTED).normalise_call(calls[0])
    if call.name not in docs:
        late = {doc.name: at for at, withheld in entry.late_functions.items() for doc in withheld}
        when = f"only from turn {late[call.name] + 1} on" if call.name in late else "in no turn"
        return Flaw(CERTAIN, f"{call.name} is offered {when}")
    if call.positional:
        return Flaw(CERTAIN, f"{format_value(call.positional[0])} matches no parameter")
    # Types come second: a missing or unknown name makes a Python call fail, but a wrong type need not.
    if why := describe_misfit(call.name, call.arguments, docs, lambda value, schema: True):
        return Flaw(CERTAIN, why)
    plain = {name: value for name, value in call.arguments.items() if not isinstance(value, (dict, str))}
    bare_docs = {name: FunctionDoc(name, "", {"properties": doc.properties}) for name, doc in docs.items()}
    why = describe_misfit(call.name, plain, bare_docs)
    return Flaw(LIKELY, why) if why else None


@entry_check("erring")
def find_erring_calls(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find calls that return an error when the trajectory is executed."""
    if not any(turns := list_performed_turns(entry)):
        return
    try:
        environments = facts.open_environments(entry)
    except Exception as error:  # noqa: BLE001 - a state that somebody wrote can break anything
        evidence = f"the initial state cannot be opened: {type(error).__name__}: {error}"
        yield Flaw(CERTAIN, evidence, "correct the state")
        return
    for turn, texts in enumerate(turns):
        for text, result in zip(texts, environments.perform_calls(texts), strict=True):
            flaw = _examine_call(entry, turn, text)
            if flaw and flaw.severity is CERTAIN:
                continue  # ``unmakeable`` finds it
            if problem := _read_error(result):
                severity, message = problem
                evidence = f"{format_value(text, 120)} returns {format_value(message, 120)}"
                yield Flaw(severity, f"turn {turn + 1}: {evidence}")


def _read_error(result: str) -> tuple[Severity, str] | None:
    if result.startswith("Error: "):
        return CERTAIN, result
    try:
        value = read_json_text(result)
    except ValueError:
        return None
    error = value.get("error") if isinstance(value, dict) else None
    return (LIKELY, str(error)) if error else None


@entry_check("callable_turn")
def find_callable_turns(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find turns without expected calls in which nothing that the next turn needs is missing.

    A function that is offered late may be missing, or a value that the user names only then.
    """
    truth = list_performed_turns(entry)
    for turn, texts in enumerate(truth):
        if texts:
            continue
        after = next((n for n in range(turn + 1, len(truth)) if truth[n]), None)
        if after is None:
            evidence = "on makes a call, so nothing shows what information is missing"
            yield Flaw(LIKELY, f"no turn from {turn + 1} {evidence}")
            continue
        calls: list[Call] = []
        # ``unmakeable`` reports a text that is no call; the calls behind it are ignored here.
        with suppress(Undecodable):
            for text in truth[after]:
                calls += python.parse_corrected(text)
        late_functions = entry.late_functions.items()
        late = [doc.name for at, docs in late_functions if turn < at <= after for doc in docs]
        calls_text, user_text = format_value(list(truth[after])), standardize_turns(entry.turns[: turn + 1])
        if late:
            # The calls after a missing function arrives have to use it.
            if not any(f"{name}(" in text for name in late for text in truth[after]):
                evidence = f"waits for {format_value(late)}, which turn {after + 1} does not call"
                yield Flaw(LIKELY, f"turn {turn + 1} {evidence}: {calls_text}")
        elif calls and all(is_said(value, user_text) for call in calls for value in call.arguments.values()):
            yield Flaw(HINT, f"turn {turn + 1} already says every value of turn {after + 1}: {calls_text}")


@entry_check("off_schema")
def find_calls_off_schema(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find golden calls that violate the schema of their function: officially such a call cannot be right."""
    docs = {doc.name: doc for doc in entry.functions}
    for number, step in enumerate(list_steps(entry), 1):
        for call in step:
            # ComplexFuncBench checks the format of a call by names, required parameters and plain types only;
            # a flaw in an enum or inside of a value cannot end a conversation.
            why, severity = describe_misfit(call.name, call.arguments, docs), CERTAIN
            if why is None:
                why, severity = describe_misfit(call.name, call.arguments, docs, conforms_to_schema), LIKELY
            if why:
                arguments_text = format_value(dict(call.arguments))
                yield Flaw(severity, f"step {number}: {why} The call gives {arguments_text}")
