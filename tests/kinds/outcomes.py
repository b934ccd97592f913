"""Verdicts in a word, for tables of tests."""

from __future__ import annotations

from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Verdict


def name_outcome(verdict: Verdict) -> str | None:
    """Name a verdict: None for a pass, the code of a failure, ``not scored: cause`` otherwise."""
    match verdict:
        case Failed(code=code):
            return code
        case NotScored(cause=cause):
            return f"not scored: {cause}"
    return None


def name_outcomes(judgement: Judgement) -> tuple[str | None, str | None]:
    """Name the verdicts of the official and the corrected profile."""
    return name_outcome(judgement.official), name_outcome(judgement.corrected)
