"""Calls along a golden path beside the expected ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import CallPair, ShownTruth
from pytest_fcbench.domain.failure import FailedEntry
from pytest_fcbench.domain.text import write_value
from pytest_fcbench.domain.verdict import PathScore
from pytest_fcbench.kinds.calls.official import show_value
from pytest_fcbench.kinds.calls.pairing import pair_arguments
from pytest_fcbench.kinds.golden_path.call_format import find_form_fault
from pytest_fcbench.kinds.golden_path.truth import list_steps


def describe_truth(entry: Entry) -> ShownTruth:
    """Describe the steps of the golden path of an entry."""
    steps = (
        (f"{call.name} {write_value(dict(call.arguments))}" for call in step) for step in list_steps(entry)
    )
    return ShownTruth(steps=tuple(map(tuple, steps)))


def pair_wrong_calls(failure: FailedEntry, path: PathScore) -> Iterator[CallPair]:
    """Pair each call along a golden path that is wrong with the expected one."""
    docs = {doc.name: doc for doc in failure.entry.functions}
    raw_calls = failure.verdict.details.get("left")
    calls = raw_calls if isinstance(raw_calls, Sequence) else ()
    missing_calls = [call for call in calls if isinstance(call, Mapping)]
    for verdict in path.verdicts:
        if verdict.right:
            continue
        made_call, expected_call = verdict.made, verdict.expected
        fault = find_form_fault(made_call, docs, failure.profile)
        # A call whose form is wrong was compared with none, or with what was left by others.
        if expected_call is None or (fault and expected_call.get("name") != made_call.get("name")):
            expected_call = next(
                (call for call in missing_calls if call.get("name") == made_call.get("name")), expected_call
            )
        expected_texts = {name: show_value(value) for name, value in _read_arguments(expected_call).items()}
        wrong_names = {difference.parameter for difference in verdict.differences}
        if fault:
            wrong_names.update(fault.parameters)
        yield CallPair(
            str(made_call.get("name")),
            None if expected_call is None else str(expected_call.get("name")),
            expected_call is None or made_call.get("name") != expected_call.get("name"),
            pair_arguments(_read_arguments(made_call), expected_texts, wrong_names),
        )


def _read_arguments(call: Mapping[str, object] | None) -> Mapping[str, object]:
    arguments = call.get("arguments") if call else None
    return arguments if isinstance(arguments, Mapping) else {}
