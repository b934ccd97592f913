"""The kind of entries of other categories in other prompt formats."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.kind import Kind, Resources


class VariationKind(Kind):
    """Stands for entries that another category lends; the kind of that category judges them."""

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Refuse: the kind of the repeated category judges."""
        raise TypeError(f"{entry.key} repeats no entry of another category")


VARIATION = VariationKind()
