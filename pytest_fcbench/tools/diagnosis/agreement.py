"""How far two judges agree: on the root causes of failed conversations, and on calls that a judge decided."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.text import as_mapping, cut_text, list_objects
from pytest_fcbench.domain.verdict import CallVerdict, NotScored, Profile
from pytest_fcbench.judging import builtin
from pytest_fcbench.judging.questions import Equivalence
from pytest_fcbench.scorecard.scorecard_files import Scorecard, parse_file
from pytest_fcbench.tools.diagnosis.root_causes import SCHEMA, RootCause


@dataclass(frozen=True, slots=True)
class Labels:
    """The root causes in a file, by item id."""

    path: Path
    model: str | None
    by_entry: Mapping[str, str]


def read_labels(path: Path) -> Labels:
    """Read the labels of a file; entries without a root cause are skipped. Raises ``UsageError``."""
    document = as_mapping(parse_file(path))
    rows = document.get("entries")
    if document.get("schema") != SCHEMA or not isinstance(rows, list):
        rule = f"it must have 'schema': {SCHEMA!r} and a list 'entries'"
        raise UsageError(f"{path}: not a file of diagnoses: {rule}")
    by_entry: dict[str, str] = {}
    for number, row in enumerate(list_objects(rows), 1):
        name, cause = row.get("entry"), row.get("root_cause")
        if not isinstance(name, str) or name in by_entry:
            raise UsageError(f"{path}: entry {number} must have a name under 'entry' that no other entry has")
        if cause is None:
            continue
        label = as_mapping(cause).get("class")
        if label not in list(RootCause):
            raise UsageError(f"{path}: {name}: {describe_unknown_name('class', str(label), RootCause)}")
        by_entry[name] = str(label)
    if not by_entry:
        raise UsageError(f"{path}: no entry has a root cause; add the diagnoses of a judge or a person")
    model = document.get("model")
    return Labels(path, model if isinstance(model, str) else None, by_entry)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Labels of two judges by the name of the question; only questions that both labelled count."""

    one: Mapping[str, str]
    other: Mapping[str, str]

    @property
    def both(self) -> list[str]:
        """Questions that both labelled, in the order of the first."""
        return [name for name in self.one if name in self.other]

    @property
    def table(self) -> Mapping[tuple[str, str], int]:
        """Counts of each pair of labels."""
        return Counter((self.one[name], self.other[name]) for name in self.both)

    @property
    def different(self) -> list[str]:
        """Questions that they labelled differently."""
        return [name for name in self.both if self.one[name] != self.other[name]]

    @property
    def share(self) -> float | None:
        """The share of questions on which they agree; None without a question that both labelled."""
        return 1 - len(self.different) / len(self.both) if self.both else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa (1960): the agreement beyond chance, as a share of the greatest possible one.

        Chance is that of two judges who give labels as often as these do, but at random. None where they
        would then always agree, because both gave the same label to everything.
        """
        if self.share is None:
            return None
        n = len(self.both)
        ones = Counter(self.one[name] for name in self.both)
        others = Counter(self.other[name] for name in self.both)
        by_chance = sum(times * others[label] for label, times in ones.items())
        # Compared as whole numbers, so that agreement by chance of exactly 1 is recognised.
        return None if by_chance == n * n else (self.share - by_chance / n**2) / (1 - by_chance / n**2)


def render_agreement(agreement: Agreement, one: str, other: str, labels: Sequence[str]) -> Iterator[str]:
    """Render the agreement of two judges, with a table of the labels that they used in the order given."""
    kappa = agreement.kappa
    beyond = "not defined (both gave the same label to all of them)" if kappa is None else f"{kappa:.2f}"
    yield f"agreement {agreement.share or 0:.1%}, Cohen's kappa {beyond}"
    yield ""
    table = agreement.table
    used_labels = [label for label in labels if any(label in pair for pair in table)]
    yield f"{one} down, {other} across"
    yield f"{'':<24}{''.join(f'{label:>20}' for label in used_labels)}"
    for row in used_labels:
        yield f"{row:<24}{''.join(f'{table.get((row, column), 0):>20}' for column in used_labels)}"
    if agreement.different:
        yield ""
        yield f"different ({len(agreement.different)})"


def compare_diagnoses(one: Path, other: Path) -> Iterator[str]:
    """Describe how far the root causes of two files of diagnoses agree."""
    first, second = read_labels(one), read_labels(other)
    if first.model and second.model and first.model != second.model:
        raise UsageError(
            f"{one} is about {first.model}, {other} about {second.model}; give two files about the same run"
        )
    agreement = Agreement(first.by_entry, second.by_entry)
    if agreement.share is None:
        raise UsageError(
            f"{one} and {other} have no entry in common with a root cause in both files; give two "
            f"files about the same entries"
        )
    both = agreement.both
    yield f"{len(both)} conversations have a root cause in both files"
    for labels in (first, second):
        if alone := len(labels.by_entry) - len(both):
            yield f"{alone} have one in {labels.path} only"
    yield from render_agreement(agreement, str(one), str(other), list(RootCause))
    for name in agreement.different:
        yield f"  {name:<32}  {first.by_entry[name]} / {second.by_entry[name]}"


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
        "schema": "fcbench-judge-audit/1",
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
