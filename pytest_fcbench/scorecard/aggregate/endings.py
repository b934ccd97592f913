"""Counts of answers that the model did not end itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from pytest_fcbench.domain.transcript import Ending
from pytest_fcbench.scorecard.record import Record

_TOLD: Mapping[Ending, str] = {
    Ending.CUT: "cut at the limit of tokens; raise --fcbench-max-tokens if the model can say more",
    Ending.FILTERED: "stopped by the provider's content filter; fcbench show names it for an entry",
    Ending.REFUSED: "in the field for refusals; fcbench show has its words for an entry",
    Ending.FUNCTION_CALL: "in the legacy field function_call, which is not read; have tool_calls sent",
    Ending.MALFORMED: "with a call that the server could not read; look at its tool parser",
}


def describe_endings(records: Iterable[Record]) -> list[str]:
    """Describe how many answers ended in each way that was not the model's own."""
    counts = Counter(
        Ending(str(ending))
        for record in records
        for turn in record.turns
        for answer in turn
        if (ending := answer.get("ending"))
    )
    return [
        f"{counts[ending]:,} answer{'s' * (counts[ending] > 1)} {phrase}"
        for ending, phrase in _TOLD.items()
        if counts[ending]
    ]
