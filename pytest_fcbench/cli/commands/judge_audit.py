"""``fcbench judge-audit``: how far two judges agree on calls that rules could not decide.

The pairs are those that a judge decided in a run along golden paths. Both judges are asked the same, anew:
the dialogue before a call is the golden path up to the step that the expected call belongs to, with its
recorded replies. In the run it may have been another, the one that the model held; to bring that back takes
its answers and all others, and what a call means hardly depends on it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.cli.held_conversations import entries_of, suites_of
from pytest_fcbench.cli.judge_options import ENDPOINT, LIMITS, agreed, asked, judge_of
from pytest_fcbench.cli.run_options import declare, require_at_least, settings_of, suites_known
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.entry import Entry, GoldenPath
from pytest_fcbench.domain.errors import FcbenchError, UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.text import cut, printable
from pytest_fcbench.domain.transcript import BUILTIN
from pytest_fcbench.domain.verdict import CallVerdict, NotScored, Profile
from pytest_fcbench.matchers.equivalence import builtin
from pytest_fcbench.matchers.golden_path.questions import Equivalence, equivalence
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.output_files import write
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.suites import core
from pytest_fcbench.tools.diagnosis.agreement import Agreement

SCHEMA = "fcbench-judge-audit/1"

_LONGEST = 160
"""Characters of a call that the terminal shows."""


HELP = "how far two judges agree on the calls of a scorecard"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.description = (
        "--judge-api-base and --judge-api-key-env are those of the first judge that is not builtin; where "
        "both have an endpoint, describe them as model profiles in fcbench.yaml."
    )
    parser.add_argument("scorecard", type=Path, metavar="SCORECARD", help="scorecard.json of a run")
    parser.add_argument(
        "--judge",
        action="append",
        dest="judges",
        default=[],
        metavar="JUDGE",
        help="builtin, a model profile of fcbench.yaml or any litellm id; give two",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="look at the first N pairs only")
    parser.add_argument("--to", type=Path, metavar="FILE", help="write all answers as JSON")
    declare(parser, ("profile", "failures", "config", *ENDPOINT, *LIMITS))


def run_command(chosen: argparse.Namespace) -> int:
    if len(chosen.judges) != 2 or chosen.judges[0] == chosen.judges[1]:
        raise UsageError("name two different judges, as in --judge builtin --judge openai/gpt-4o")
    require_at_least(1, chosen, "limit")
    for line in _audited(chosen):
        print(printable(line), flush=True)
    return 0


_Answer: TypeAlias = Equivalence | NotScored


@dataclass(frozen=True, slots=True)
class _Pair:
    """A call and the expected one that a judge held it against, after the dialogue so far."""

    name: str
    entry: Entry
    """Under an id of its own, so that each pair is a question of its own."""
    verdict: CallVerdict
    expected: Mapping[str, object]
    history: Sequence[Mapping[str, object]]


def _audited(chosen: argparse.Namespace) -> Iterator[str]:
    card = scorecard_files.load(chosen.scorecard)
    judges = _judges(chosen)
    settings = settings_of(chosen, core.NAME)
    profile = settings.profile if chosen.profile else card.facts.profile
    judged = list(_judged(card.records, profile))
    yield f"{card.path}: {card.facts.model}, {profile} profile, pairs left to a judge: {len(judged)}"
    if not judged:
        return
    pairs = _pairs(chosen, card, judged[: chosen.limit])
    answers: dict[str, Sequence[_Answer]] = {}
    notes: list[str] = []
    for label, judge in judges.items():
        if judge is None:
            answers[label] = [_by_rules(pair) for pair in pairs]
            continue
        questions = [equivalence(p.entry, p.verdict.made, p.expected, p.history) for p in pairs]
        answers[label], told = asked(judge, questions)
        notes += told
    agreement = Agreement(*(_labels(pairs, given) for given in answers.values()))
    yield f"{len(agreement.both)} of {len(pairs)} pairs have an answer of both judges"
    for label, given in answers.items():
        yield from _left_out(label, given)
    if agreement.share is not None:
        one, other = answers
        yield from agreed(agreement, one, other, ("same", "different"))
        yield from _differences(agreement, pairs, answers, settings.failures)
    yield from notes
    if chosen.to is not None:
        document = _document(card, profile, pairs, answers, agreement)
        write(chosen.to, json.dumps(document, indent=1))
        yield f"written to {chosen.to}"
    if agreement.share is None:
        raise FcbenchError("there is nothing to compare: no pair has an answer of both judges")


def _judges(chosen: argparse.Namespace) -> Mapping[str, Settings | None]:
    """The settings of both judges by their label, None for ``builtin``."""
    found: dict[str, Settings | None] = {}
    for name in chosen.judges:
        if name == BUILTIN:
            found[name] = None
            continue
        others = dict.fromkeys(ENDPOINT) if any(found.values()) else {}
        judge = judge_of(chosen, judge=name, **others)
        if judge is None:
            raise UsageError(f"--judge={name}: give builtin, a model profile or a litellm id")
        found[judge.label] = judge
    return found


# Pairs


def _judged(records: Sequence[Record], profile: Profile) -> Iterator[tuple[Record, int, CallVerdict]]:
    """The calls that a judge decided, with their place among those of their step."""
    for record in records:
        path = record.path(profile)
        calls: Counter[int] = Counter()
        for verdict in path.verdicts if path else ():
            calls[verdict.step] += 1
            if verdict.stage in (BUILTIN, "judge") and verdict.expected is not None:
                yield record, calls[verdict.step], verdict


def _pairs(
    chosen: argparse.Namespace, card: Scorecard, judged: Sequence[tuple[Record, int, CallVerdict]]
) -> list[_Pair]:
    records = [record for record, _, _ in judged]
    suites = suites_of(card, records, suites_known(chosen))
    context = RunContext(replace(settings_of(chosen, suites[0]), suites=tuple(suites)))
    entries = entries_of(context, records)
    pairs: list[_Pair] = []
    for record, call, verdict in judged:
        entry, expected = entries.get(record.entry), verdict.expected or {}
        history = _before(entry, expected) if entry else None
        if entry is None or history is None:
            version = context.suites[record.suite].version
            what = "the expected call on the golden path of" if entry else "entry"
            raise UsageError(f"{card.path}: {record.suite} {version} does not have {what} {record.entry}")
        own = replace(entry, id=f"{entry.id}/{verdict.step}.{call}", trial=record.trial)
        name = f"{record.item_id}, step {verdict.step}, call {call}"
        pairs.append(_Pair(name, own, verdict, expected, history))
    return pairs


def _before(entry: Entry, expected: Mapping[str, object]) -> Sequence[Mapping[str, object]] | None:
    """The golden path before the step of a call, in the form of a record; None where no step has it."""
    dialogue: list[Mapping[str, object]] = []
    for step in entry.expectation.steps if isinstance(entry.expectation, GoldenPath) else ():
        calls = [{"name": call.name, "arguments": call.arguments} for call in step]
        if expected in calls:
            return dialogue
        dialogue.append({"role": "assistant", "function_call": calls})
        dialogue.append({"role": "observation", "content": [call.reply for call in step]})
    return None


# Answers


def _by_rules(pair: _Pair) -> Equivalence:
    made, expected = pair.verdict.made, pair.expected
    name = str(expected.get("name"))
    if made.get("name") != name:
        return Equivalence(False, f"the function is {made.get('name')}, not {name}")
    doc = pair.entry.function(name) or FunctionDoc(name, "", {})
    found = builtin.compare(doc, _arguments(made), _arguments(expected))
    return Equivalence(found.same, found.reason)


def _arguments(call: Mapping[str, object]) -> Mapping[str, object]:
    arguments = call.get("arguments")
    return arguments if isinstance(arguments, Mapping) else {}


def _labels(pairs: Sequence[_Pair], answers: Sequence[_Answer]) -> Mapping[str, str]:
    return {
        pair.name: _label(answer)
        for pair, answer in zip(pairs, answers, strict=True)
        if isinstance(answer, Equivalence)
    }


def _label(answer: Equivalence) -> str:
    return "same" if answer.same else "different"


# What is told


def _left_out(label: str, answers: Sequence[_Answer]) -> Iterator[str]:
    failed = [answer for answer in answers if isinstance(answer, NotScored)]
    if failed:
        causes = ", ".join(f"{cause} {times}" for cause, times in Counter(f.cause for f in failed).items())
        yield f"left out: {len(failed)} without an answer of {label} ({causes}); first: {failed[0].reason}"


def _differences(
    agreement: Agreement, pairs: Sequence[_Pair], answers: Mapping[str, Sequence[_Answer]], most: int
) -> Iterator[str]:
    different = set(agreement.different)
    shown = [at for at, pair in enumerate(pairs) if pair.name in different]
    for at in shown[:most]:
        pair = pairs[at]
        yield f"  {pair.name}"
        yield f"    made      {_short(pair.verdict.made)}"
        yield f"    expected  {_short(pair.expected)}"
        for label, given in answers.items():
            answer = given[at]
            if isinstance(answer, Equivalence):
                yield f"    {label}: {_label(answer)}: {' '.join(answer.reason.split())}"
    if len(shown) > most:
        yield f"and {len(shown) - most} more; --to FILE has all, --failures=N shows N here"


def _short(call: Mapping[str, object]) -> str:
    text = f"{call.get('name')} {json.dumps(call.get('arguments'), ensure_ascii=False)}"
    return cut(text, _LONGEST)


def _document(
    card: Scorecard,
    profile: Profile,
    pairs: Sequence[_Pair],
    answers: Mapping[str, Sequence[_Answer]],
    agreement: Agreement,
) -> dict[str, object]:
    """All answers as JSON values."""
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
                "answers": {label: asdict(given[at]) for label, given in answers.items()},
            }
            for at, pair in enumerate(pairs)
        ],
    }
