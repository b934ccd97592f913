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
    unmatched = failure.verdict.details.get("left")
    calls = unmatched if isinstance(unmatched, Sequence) else ()
    missing_calls = [call for call in calls if isinstance(call, Mapping)]
    for verdict in path.verdicts:
        if verdict.right:
            continue
        made, wanted = verdict.made, verdict.expected
        fault = find_form_fault(made, docs, failure.profile)
        # A call whose form is wrong was compared with none, or with what was left by others.
        if wanted is None or (fault and wanted.get("name") != made.get("name")):
            wanted = next((call for call in missing_calls if call.get("name") == made.get("name")), wanted)
        right = {name: show_value(value) for name, value in _read_arguments(wanted).items()}
        differing = {difference.parameter for difference in verdict.differences}
        if fault:
            differing.update(fault.parameters)
        yield CallPair(
            str(made.get("name")),
            None if wanted is None else str(wanted.get("name")),
            wanted is None or made.get("name") != wanted.get("name"),
            pair_arguments(_read_arguments(made), right, differing),
        )


def _read_arguments(call: Mapping[str, object] | None) -> Mapping[str, object]:
    arguments = call.get("arguments") if call else None
    return arguments if isinstance(arguments, Mapping) else {}
