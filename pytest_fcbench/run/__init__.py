"""One benchmark run: its entries, its models and the Records that it makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, Passed
from pytest_fcbench.kinds.own_check import Answer, read_answer

__all__ = ["Answer", "Ask", "Judge", "Score", "read_answer"]

Ask: TypeAlias = Callable[[Entry], Transcript]
"""The fixture ``ask``: puts an entry to the model."""

Judge: TypeAlias = Callable[[Entry, Transcript], Judgement]
"""The fixture ``judge``: judges a transcript in both profiles."""

Score: TypeAlias = Callable[[Judgement], Passed | Failed]
"""The fixture ``score``: records a judgement and returns the selected profile's verdict."""
