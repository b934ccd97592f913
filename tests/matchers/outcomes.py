"""Verdicts in a word, for tables of tests."""

from __future__ import annotations

from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Verdict


def outcome(verdict: Verdict) -> str | None:
    """None for a pass, the code of a failure, ``not scored: cause`` else."""
    match verdict:
        case Failed(code=code):
            return code
        case NotScored(cause=cause):
            return f"not scored: {cause}"
    return None


def outcomes(judgement: Judgement) -> tuple[str | None, str | None]:
    """Of the official and the corrected profile."""
    return outcome(judgement.official), outcome(judgement.corrected)
