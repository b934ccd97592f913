"""Classes of failed answers whose calls are judged by what they return: arguments are not compared."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcbench.domain.failure import AnswerClass, Divergence, FailedEntry
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.kinds.answer_failure import classify_answer
from pytest_fcbench.kinds.kind import RightCalls


def classify_results(failure: FailedEntry, right: RightCalls) -> Divergence:
    """Find the class of an answer, given the calls of a right one."""
    functions = [call.name for steps in right for calls in steps for call in calls]

    def compare_functions(calls: Sequence[Call], names: Names) -> Divergence:
        is_right = sorted(map(names.show_name, functions)) == sorted(call.name for call in calls)
        return Divergence(AnswerClass.WRONG_RESULT if is_right else AnswerClass.WRONG_FUNCTION)

    return classify_answer(failure, len(functions), compare_functions)
