"""Ask a judge for the root cause of a failed conversation, and compare the labels of two judges.

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

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.explanation import Divergence
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.text import cut_counting
from pytest_fcbench.domain.transcript import Step, ToolCall, Transcript
from pytest_fcbench.domain.verdict import Failed, NotScored, Profile
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit, read_members
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.scorecard.scorecard_files import parse_file


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
        cause, subject, turn, explanation = read_members(
            reply, "class", "misunderstood", "turn", "explanation"
        )
        if cause not in list(RootCause):
            raise Unfit(f"must have as class one of: {', '.join(RootCause)}")
        if subject not in list(Misunderstanding):
            raise Unfit(f"must have as misunderstood one of: {', '.join(Misunderstanding)}")
        # ``true`` would pass as turn 1.
        if isinstance(turn, bool) or not isinstance(turn, int) or not 1 <= turn <= len(entry.turns):
            raise Unfit(f"must have as turn a whole number from 1 to {len(entry.turns)}")
        if not isinstance(explanation, str) or not explanation.strip():
            raise Unfit("must have as explanation a text")
        return Diagnosis(RootCause(str(cause)), Misunderstanding(str(subject)), turn, explanation.strip())

    return JudgeQuestion(entry, TASK, material, read)


def _build_material(
    entry: Entry, transcript: Transcript, verdict: Failed, fresh: Environments, longest: int
) -> Mapping[str, object]:
    truth = find_kind(entry).describe_truth(entry).turns
    late = entry.scene.withheld if entry.scene else {}
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


@dataclass(frozen=True, slots=True)
class Labels:
    """The root causes in a file, by item id."""

    path: Path
    model: str | None
    by_entry: Mapping[str, str]


def read_labels(path: Path) -> Labels:
    """Read the labels of a file; entries without a root cause are skipped. Raises ``UsageError``."""
    document = parse_file(path)
    if (
        not isinstance(document, dict)
        or document.get("schema") != SCHEMA
        or not isinstance(document.get("entries"), list)
    ):
        raise UsageError(
            f"{path}: not a file of diagnoses: it must have 'schema': {SCHEMA!r} and a list 'entries'"
        )
    by_entry: dict[str, str] = {}
    for number, row in enumerate(document["entries"], 1):
        name, cause = (row.get("entry"), row.get("root_cause")) if isinstance(row, dict) else (None, None)
        if not isinstance(name, str) or name in by_entry:
            raise UsageError(f"{path}: entry {number} must have a name under 'entry' that no other entry has")
        if cause is None:
            continue
        label = cause.get("class") if isinstance(cause, dict) else None
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
