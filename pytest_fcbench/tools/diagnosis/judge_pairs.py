"""Calls that a judge decided, put to two judges: their answers, and how far they agree."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.text import as_mapping, cut_text
from pytest_fcbench.domain.verdict import CallVerdict, NotScored, Profile
from pytest_fcbench.judging import builtin
from pytest_fcbench.judging.questions import Equivalence
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.tools.diagnosis.root_causes import Agreement, render_agreement

SCHEMA = "fcbench-judge-audit/1"
_LONGEST = 160
"""The longest call that the terminal shows, in characters."""


Answer: TypeAlias = Equivalence | NotScored


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A call, the expected call that a judge compared it with, and the dialogue before them."""

    name: str
    entry: Entry
    """The entry under an id of its own, because a question is known by the id of its entry."""
    verdict: CallVerdict
    expected: Mapping[str, object]
    history: Sequence[Mapping[str, object]]


def apply_rules(pair: JudgedPair) -> Equivalence:
    """Compare the calls of a pair as the judge ``builtin`` does."""
    made_call, expected_call = pair.verdict.made, pair.expected
    name = str(expected_call.get("name"))
    if made_call.get("name") != name:
        return Equivalence(False, f"the called function is {made_call.get('name')}, not {name}")
    doc = pair.entry.find_function(name) or FunctionDoc(name, "", {})
    made, expected = (as_mapping(call.get("arguments")) for call in (made_call, expected_call))
    comparison = builtin.compare_arguments(doc, made, expected)
    return Equivalence(comparison.same, comparison.reason)


def name_label(answer: Equivalence) -> str:
    return "same" if answer.same else "different"


def describe_answers(
    agreement: Agreement, pairs: Sequence[JudgedPair], answers: Mapping[str, Sequence[Answer]], most: int
) -> Iterator[str]:
    """Describe missing answers, the agreement of the others, and the first ``most`` differences."""
    yield f"{len(agreement.both)} of {len(pairs)} pairs have an answer from both judges"
    for label, judge_answers in answers.items():
        if failures := [answer for answer in judge_answers if isinstance(answer, NotScored)]:
            counts = Counter(answer.cause for answer in failures)
            causes = ", ".join(f"{cause} {times}" for cause, times in counts.items())
            missing = f"{len(failures)} without an answer from {label} ({causes})"
            yield f"left out: {missing}; first: {failures[0].reason}"
    if agreement.share is None:
        return
    one, other = answers
    yield from render_agreement(agreement, one, other, ("same", "different"))
    different = set(agreement.different)
    positions = [at for at, pair in enumerate(pairs) if pair.name in different]
    for at in positions[:most]:
        pair = pairs[at]
        yield f"  {pair.name}"
        yield f"    made      {_render_call(pair.verdict.made)}"
        yield f"    expected  {_render_call(pair.expected)}"
        for label, judge_answers in answers.items():
            answer = judge_answers[at]
            if isinstance(answer, Equivalence):
                yield f"    {label}: {name_label(answer)}: {' '.join(answer.reason.split())}"
    if len(positions) > most:
        yield f"and {len(positions) - most} more; --to=FILE writes all, --failures=N shows N here"


def _render_call(call: Mapping[str, object]) -> str:
    text = f"{call.get('name')} {json.dumps(call.get('arguments'), ensure_ascii=False)}"
    return cut_text(text, _LONGEST)


def build_audit_document(
    card: Scorecard,
    profile: Profile,
    pairs: Sequence[JudgedPair],
    answers: Mapping[str, Sequence[Answer]],
    agreement: Agreement,
) -> dict[str, object]:
    """Return all answers as JSON values."""
    return {
        "schema": SCHEMA,
        "model": card.facts.model,
        "profile": profile.value,
        "judges": list(answers),
        "pairs_with_both": len(agreement.both),
        "agreement": agreement.share,
        "kappa": agreement.kappa,
        "pairs": [
            {
                "pair": pair.name,
                "made": pair.verdict.made,
                "expected": pair.expected,
                "stage": pair.verdict.stage,
                "right": pair.verdict.right,
                "answers": {label: asdict(judge_answers[at]) for label, judge_answers in answers.items()},
            }
            for at, pair in enumerate(pairs)
        ],
    }
