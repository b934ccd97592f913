"""Classes of failed answers whose calls are compared as they are written.

Several calls are paired with the expected ones so that as much as possible fits, and the first pair that
does not fit decides. Of one call the first check that fails decides, as in its verdict: a missing required
argument goes before a wrong value, and of two wrong values the one given first counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_fcbench.domain.failure import AnswerClass, Divergence, FailedEntry
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.kinds.answer_failure import classify_answer, classify_code
from pytest_fcbench.kinds.calls.pairing import CallComparison
from pytest_fcbench.kinds.calls.truth import list_expected_calls


def classify_calls(failure: FailedEntry) -> Divergence:
    """Find the class of an answer. The entry must expect calls."""
    right_calls = list_expected_calls(failure.entry)

    def blame_first_misfit(calls: Sequence[Call], names: Names) -> Divergence:
        comparison = CallComparison(failure.entry, names, failure.profile)
        partner = comparison.find_partners(right_calls, calls)
        for place, right_call in enumerate(right_calls):
            call = calls[partner[place]]
            verdict = comparison.match_call(right_call, call)
            if isinstance(verdict, Failed):
                misfit = classify_code(verdict)
                name = misfit.parameter or ""
                # A parameter whose only accepted value is "" has to be left out.
                if name in call.arguments and right_call.accepted.get(name) == [""]:
                    return replace(misfit, failure=AnswerClass.INVENTED_ARGUMENT)
                return misfit
        return Divergence(AnswerClass.UNEXPLAINED)

    return classify_answer(failure, len(right_calls), blame_first_misfit)
