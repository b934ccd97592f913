"""Ask a judge for the root cause of a failed conversation, and show and write what was found.

The classes are those of BFCL's error analysis of multi-turn conversations (blog "BFCL V3: Multi-Turn &
Multi-Step Function Calling", 2024, section on results and errors; the leaderboard's paper is Patil et al.,
ICML 2025), and one for all other causes. Beside the class the judge names what was misunderstood: the three
causes of the paper's own error analysis, which divide the same failures in another way, or none of them.
Their wording to the judge is ours.

Diagnoses are written as JSON. A person can label the same failures in a file of this form:

    {"schema": "fcbench-diagnosis/1", "model": "gpt-4o", "profile": "official", "judge": "openai/x",
     "entries": [{"entry": "core:multi_turn_base_0", ...,
                  "root_cause": {"class": "current_state", "misunderstood": "environment_state",
                                 "turn": 2, "explanation": "..."}}, ...]}

In a file with a person's labels each entry needs only its name and the class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.explanation import AnswerClass, Divergence, FailureClass
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.text import cut_counting, make_printable
from pytest_fcbench.domain.transcript import Step, ToolCall, Transcript
from pytest_fcbench.domain.verdict import Failed, NotScored, Profile
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit, read_members
from pytest_fcbench.kinds.table import find_kind


class RootCause(StrEnum):
    """The root cause that a judge gives a failure."""

    IMPLICIT_ACTION = "implicit_action"
    """An action that the request needs without naming it was not done."""
    CURRENT_STATE = "current_state"
    """The model acted on a wrong picture of how things stood."""
    NEEDLESS_PLANNING = "needless_planning"
    """The model planned, asked or did more than was needed."""
    OTHER = "other"
    """None of these, or it cannot be told."""


class Misunderstanding(StrEnum):
    """The thing that the model misunderstood, in the judge's opinion."""

    ENVIRONMENT_STATE = "environment_state"
    """The state of the environment: what is there, what calls have changed, where the model is in it."""
    USER_REQUEST = "user_request"
    """The user's request: what is asked for, with which values, and whether it can be served yet."""
    FUNCTION_DOCUMENTATION = "function_documentation"
    """The functions' documentation: what each does, what it needs first, what its parameters take."""
    NOTHING = "nothing"
    """None of these: a slip in writing, an answer that cannot be read, or it cannot be told."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A judge's answer. ``turn`` counts from 1."""

    cause: RootCause
    misunderstood: Misunderstanding
    turn: int
    explanation: str


TASK = Path(__file__).with_name("root_causes.md").read_text(encoding="utf-8").rstrip()

LENGTHS = (600, 200, 60)
"""The most characters that are shown of each result, call and answer: the first number with which the
material has at most ``LONGEST`` characters, else the last."""
LONGEST = 60_000
_STEPS, _CALLS = 12, 8
"""The most steps of a turn and calls of a step that are shown; the first are kept."""
_SAID, _DESCRIPTION, _STATE = 2_000, 400, 400
"""The most characters of a message of the user, a function's description, and a part of the state."""


def build_question(
    entry: Entry, transcript: Transcript, verdict: Failed, fresh: Environments
) -> JudgeQuestion[Diagnosis]:
    """Ask why a conversation failed; ``fresh`` are its environments in their initial state."""
    material: Mapping[str, object] = {}
    # Every turn can hold the cause, so all are shortened evenly and none is left out.
    for longest in LENGTHS:
        material = _build_material(entry, transcript, verdict, fresh, longest)
        if len(repr(material)) <= LONGEST:
            break

    def read(reply: Mapping[str, object]) -> Diagnosis:
        cause, subject, turn, words = read_members(reply, "class", "misunderstood", "turn", "explanation")
        if cause not in list(RootCause):
            raise Unfit(f"must have as class one of: {', '.join(RootCause)}")
        if subject not in list(Misunderstanding):
            raise Unfit(f"must have as misunderstood one of: {', '.join(Misunderstanding)}")
        # ``true`` would pass as turn 1.
        if isinstance(turn, bool) or not isinstance(turn, int) or not 1 <= turn <= len(entry.turns):
            raise Unfit(f"must have as turn a whole number from 1 to {len(entry.turns)}")
        if not isinstance(words, str) or not words.strip():
            raise Unfit("must have as explanation a text")
        return Diagnosis(RootCause(str(cause)), Misunderstanding(str(subject)), turn, words.strip())

    return JudgeQuestion(entry, TASK, material, read)


def _build_material(
    entry: Entry, transcript: Transcript, verdict: Failed, fresh: Environments, longest: int
) -> Mapping[str, object]:
    truth = find_kind(entry).describe_truth(entry).turns
    late = entry.late_functions
    turns: list[Mapping[str, object]] = []
    for at, messages in enumerate(entry.turns):
        steps = transcript.turns[at] if at < len(transcript.turns) else ()
        turns.append(
            {
                "turn": at + 1,
                "messages": [
                    f"{message.role}: {cut_counting(message.content, _SAID)}" for message in messages
                ],
                **({"functions from now on": _describe_functions(late[at])} if at in late else {}),
                "what the model did": list(_show_actions(steps, longest)) or "the conversation was over",
                "right calls": [cut_counting(call, longest) for call in truth[at]] if at < len(truth) else [],
            }
        )
    return {
        "state at the start": {
            f"{name}.{attribute}": cut_counting(str(value), _STATE)
            for name, environment in fresh.by_domain.items()
            for attribute, value in environment.get_full_state().items()
        },
        "functions": _describe_functions(entry.functions),
        "turns": turns,
        "what was found wrong": cut_counting(verdict.reason, _SAID),
    }


def _describe_functions(docs: tuple[FunctionDoc, ...]) -> Mapping[str, str]:
    return {doc.name: cut_counting(doc.description, _DESCRIPTION) for doc in docs}


def _show_actions(steps: tuple[Step, ...], longest: int) -> Iterator[object]:
    for step in steps[:_STEPS]:
        if step.calls:
            yield [
                {"call": cut_counting(call, longest), "result": cut_counting(result, longest)}
                for call, result in zip(step.calls[:_CALLS], step.results, strict=False)
            ]
            if len(step.calls) > _CALLS:
                yield f"… ({len(step.calls) - _CALLS} more calls)"
            continue
        parts = [
            f"{part.name} {part.arguments}" if isinstance(part, ToolCall) else part
            for part in step.completion.tool_calls or ()
        ]
        answer = " ".join([step.completion.text or "", *parts]).strip()
        yield {"answer": cut_counting(answer, longest)}
    if len(steps) > _STEPS:
        yield f"… ({len(steps) - _STEPS} more steps)"


SCHEMA = "fcbench-diagnosis/1"


@dataclass(frozen=True, slots=True)
class DiagnosedFailure:
    """A failed conversation or answer. ``diagnosis`` is None where no judge was asked."""

    item_id: str
    category: str
    verdict: Failed
    divergence: Divergence
    diagnosis: Diagnosis | NotScored | None = None


def build_document(
    findings: Sequence[DiagnosedFailure], *, model: str, profile: Profile, judge: str | None
) -> dict[str, object]:
    """Convert all findings to JSON values."""
    entries: list[dict[str, object]] = []
    for finding in findings:
        divergence = asdict(finding.divergence)
        entry: dict[str, object] = {
            "entry": finding.item_id,
            "category": finding.category,
            "code": finding.verdict.code,
            "reason": finding.verdict.reason,
            "class": divergence.pop("failure"),
            "divergence": divergence,
        }
        match finding.diagnosis:
            case Diagnosis() as diagnosis:
                members = asdict(diagnosis)
                entry["root_cause"] = {"class": members.pop("cause"), **members}
            case NotScored(cause=why, reason=reason):
                entry["not_diagnosed"] = {"cause": str(why), "reason": reason}
        entries.append(entry)
    return {"schema": SCHEMA, "model": model, "profile": profile, "judge": judge, "entries": entries}


_NOT_DIAGNOSED = "not diagnosed"


def render_findings(findings: Sequence[DiagnosedFailure], most: int, *, with_causes: bool) -> Iterator[str]:
    """Render the first ``most`` findings, and the counts of classes and root causes in all of them."""
    for finding in findings[:most]:
        # Of a single answer the reason of the verdict already says all.
        where = finding.verdict.reason if finding.divergence.turn is None else finding.divergence
        yield f"  {finding.item_id:<32}  {finding.divergence.failure:<22}  {make_printable(str(where)):.320}"
        match finding.diagnosis:
            case Diagnosis(cause=cause, misunderstood=subject, turn=turn, explanation=explanation):
                yield f"    {cause}, {subject}, turn {turn}: {' '.join(explanation.split())}"
            case NotScored(cause=why, reason=reason):
                yield f"    {_NOT_DIAGNOSED}: {why}: {reason}"
    if len(findings) > most:
        yield f"and {len(findings) - most} more; --to=FILE writes all, --failures=N shows N here"
    conversations = [f for f in findings if not CATEGORIES[f.category].single_turn]
    answers = [f for f in findings if CATEGORIES[f.category].single_turn]
    for kind, members in (FailureClass, conversations), (AnswerClass, answers):
        if members:
            yield ""
            classes = [(f.divergence.failure, _name_column(f)) for f in members]
            yield from _render_counts("class", list(kind), classes)
    if with_causes and conversations:
        diagnoses = [f.diagnosis if isinstance(f.diagnosis, Diagnosis) else None for f in conversations]
        for head, member, kinds in (
            ("root cause", "cause", RootCause),
            ("misunderstood", "misunderstood", Misunderstanding),
        ):
            labels = [getattr(each, member, _NOT_DIAGNOSED) for each in diagnoses]
            pairs = list(zip(labels, map(_name_column, conversations), strict=True))
            yield ""
            yield from _render_counts(head, [*kinds, _NOT_DIAGNOSED], pairs)


def _name_column(finding: DiagnosedFailure) -> str:
    """Name the column of a failure: the category of a conversation, the group of an answer."""
    category = CATEGORIES[finding.category]
    return category.group if category.single_turn else category.name.removeprefix("multi_turn_")


def _render_counts(head: str, rows: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Render the counts of classes by column, classes in the order given, without zero rows."""
    counts = Counter(pairs)
    columns = list(dict.fromkeys(column for _, column in pairs))
    cells = {row: [counts[row, column] for column in columns] for row in rows}
    cells = {row: numbers for row, numbers in cells.items() if any(numbers)}
    cells["all"] = [sum(column) for column in zip(*cells.values(), strict=True)]
    yield f"{head:<24}{''.join(f'{name:>14}' for name in columns)}{'all':>8}"
    for row, numbers in cells.items():
        yield f"{row:<24}{''.join(f'{number:>14}' for number in numbers)}{sum(numbers):>8}"
