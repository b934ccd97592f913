"""``fcbench judge-audit``: measure how far two judges agree on calls that rules could not decide.

The pairs of calls are those that a judge decided in a run along golden paths. Both judges are asked about
each pair anew. The dialogue before a call is the golden path up to the step of the expected call, with its
recorded replies. In the run it was the model's own dialogue, which only all answers of the run could restore;
the meaning of a call hardly depends on it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.cli.command import OUTPUT
from pytest_fcbench.cli.judge_options import (
    JUDGE_ENDPOINT,
    JUDGE_OPTIONS,
    ask_judge,
    load_judge_settings,
    render_agreement,
)
from pytest_fcbench.cli.output import print_lines
from pytest_fcbench.cli.replay import find_suites, load_entries_of
from pytest_fcbench.cli.run_options import (
    declare_run_options,
    find_openers,
    load_settings,
    require_at_least,
)
from pytest_fcbench.cli.scorecard_arguments import declare_scorecard
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import FcbenchError, UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.text import cut_text
from pytest_fcbench.domain.transcript import BUILTIN
from pytest_fcbench.domain.verdict import CallVerdict, NotScored, Profile
from pytest_fcbench.judging.equivalence import builtin
from pytest_fcbench.judging.opinions import Equivalence
from pytest_fcbench.kinds.golden_path.questions import ask_equivalence
from pytest_fcbench.kinds.golden_path.truth import list_steps
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.suites import core
from pytest_fcbench.tools.diagnosis.agreement import Agreement

HELP = "compare the verdicts of two judges on the calls of a scorecard"
PAGE = "after-a-run"
EXAMPLES = ("fcbench judge-audit latest --judge=builtin --judge=gpt-4o",)
SCHEMA = "fcbench-judge-audit/1"
_LONGEST = 160
"""The longest call that the terminal shows, in characters."""
_Answer: TypeAlias = Equivalence | NotScored


@dataclass(frozen=True, slots=True)
class _Pair:
    """A call, the expected call that a judge compared it with, and the dialogue before them."""

    name: str
    entry: Entry
    """The entry under an id of its own, because a question is known by the id of its entry."""
    verdict: CallVerdict
    expected: Mapping[str, object]
    history: Sequence[Mapping[str, object]]


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.description = (
        "--judge-api-base and --judge-api-key-env belong to the first judge that is not "
        "builtin; if both judges have an endpoint, describe them as model profiles in "
        "fcbench.yaml."
    )
    add = parser.add_argument
    declare_scorecard(parser)
    add(
        "--judge",
        action="append",
        dest="judges",
        default=[],
        metavar="JUDGE",
        help="builtin, a model profile or any litellm id; give the option twice",
    )
    add("--limit", type=int, metavar="N", help="compare only the first N pairs")
    add(
        *OUTPUT,
        dest="to",
        type=Path,
        metavar="FILE",
        help="write all answers to this file as JSON",
    )
    declare_run_options(parser, ("profile", "failures", "config", *JUDGE_OPTIONS))


def run_command(chosen: argparse.Namespace) -> int:
    if len(chosen.judges) != 2 or chosen.judges[0] == chosen.judges[1]:
        raise UsageError("name two different judges, e.g. --judge builtin --judge openai/gpt-4o")
    require_at_least(1, chosen, "limit")
    print_lines(_audit_judges(chosen), flush=True)
    return 0


def _audit_judges(chosen: argparse.Namespace) -> Iterator[str]:
    """Ask both judges about each pair, describe their agreement, and write all answers to ``--to``."""
    card = scorecard_files.load_scorecard(chosen.scorecard)
    judges = _load_judges(chosen)
    settings = load_settings(chosen, core.NAME)
    profile = settings.profile if chosen.profile else card.facts.profile
    judged: list[tuple[Record, int, CallVerdict]] = []
    for record in card.records:
        path = record.path(profile)
        calls: Counter[int] = Counter()
        for verdict in path.verdicts if path else ():
            # Every call of a step is counted, so that a call has one number whoever decided the others.
            calls[verdict.step] += 1
            if verdict.stage in (BUILTIN, "judge") and verdict.expected is not None:
                judged.append((record, calls[verdict.step], verdict))
    yield (
        f"{card.path}: {card.facts.model}, {profile} profile, pairs that rules leave to a "
        f"judge: {len(judged)}"
    )
    if not judged:
        return
    pairs = _make_pairs(chosen, card, judged[: chosen.limit])
    answers: dict[str, Sequence[_Answer]] = {}
    notes: list[str] = []
    for label, judge in judges.items():
        if judge is None:
            answers[label] = list(map(_apply_rules, pairs))
        else:
            questions = [ask_equivalence(p.entry, p.verdict.made, p.expected, p.history) for p in pairs]
            answers[label], judge_notes = ask_judge(judge, questions)
            notes += judge_notes
    labels = (
        {
            pair.name: _name_label(answer)
            for pair, answer in zip(pairs, given, strict=True)
            if isinstance(answer, Equivalence)
        }
        for given in answers.values()
    )
    agreement = Agreement(*labels)
    yield from _describe_answers(agreement, pairs, answers, settings.failures)
    yield from notes
    if chosen.to is not None:
        document = _make_document(card, profile, pairs, answers, agreement)
        write_file(chosen.to, json.dumps(document, indent=1))
        yield f"written to {chosen.to}"
    # The file with the reasons is written before the command fails.
    if agreement.share is None:
        raise FcbenchError(
            "nothing to compare: no pair has an answer from both judges; the causes are listed above"
        )


def _load_judges(chosen: argparse.Namespace) -> Mapping[str, Settings | None]:
    """Load the settings of both judges by their label, None for ``builtin``."""
    found: dict[str, Settings | None] = {}
    for name in chosen.judges:
        if name == BUILTIN:
            found[name] = None
            continue
        # The endpoint options are those of the first judge that has one; the second has its profile's.
        others = dict.fromkeys(JUDGE_ENDPOINT) if any(found.values()) else {}
        judge = load_judge_settings(chosen, judge=name, **others)
        if judge is None:
            raise UsageError(f"--judge={name}: give builtin, a model profile or a litellm id")
        found[judge.label] = judge
    return found


# Pairs


def _make_pairs(
    chosen: argparse.Namespace, card: Scorecard, judged: Sequence[tuple[Record, int, CallVerdict]]
) -> list[_Pair]:
    """Return each judged call with the golden path before it. Raises ``UsageError`` if a suite lacks it."""
    records = [record for record, _, _ in judged]
    suites = find_suites(card, records, find_openers(chosen))
    context = RunContext(replace(load_settings(chosen, suites[0]), suites=tuple(suites)))
    entries = load_entries_of(context, records)
    pairs: list[_Pair] = []
    for record, number, verdict in judged:
        entry, expected = entries.get(record.entry), verdict.expected or {}
        lacks = f"{card.path}: {record.suite} {context.suites[record.suite].version} does not have"
        if entry is None:
            raise UsageError(f"{lacks} entry {record.entry}; use the suite version of the run")
        # The golden path before the step of the expected call, in a Record's form.
        history: list[Mapping[str, object]] = []
        for step in list_steps(entry):
            calls = [{"name": call.name, "arguments": call.arguments} for call in step]
            if expected in calls:
                break
            history.append({"role": "assistant", "function_call": calls})
            history.append({"role": "observation", "content": [call.reply for call in step]})
        else:
            raise UsageError(
                f"{lacks} the expected call on the golden path of {record.entry}; "
                "use the suite version of the run"
            )
        own = replace(entry, id=f"{entry.id}/{verdict.step}.{number}", trial=record.trial)
        name = f"{record.item_id}, step {verdict.step}, call {number}"
        pairs.append(_Pair(name, own, verdict, expected, history))
    return pairs


# Answers


def _apply_rules(pair: _Pair) -> Equivalence:
    """Compare the calls of a pair as the judge ``builtin`` does."""
    made, expected = pair.verdict.made, pair.expected
    name = str(expected.get("name"))
    if made.get("name") != name:
        return Equivalence(False, f"the called function is {made.get('name')}, not {name}")
    doc = pair.entry.find_function(name) or FunctionDoc(name, "", {})
    found = builtin.compare_arguments(doc, _get_arguments(made), _get_arguments(expected))
    return Equivalence(found.same, found.reason)


def _get_arguments(call: Mapping[str, object]) -> Mapping[str, object]:
    arguments = call.get("arguments")
    return arguments if isinstance(arguments, Mapping) else {}


def _name_label(answer: Equivalence) -> str:
    return "same" if answer.same else "different"


# Output


def _describe_answers(
    agreement: Agreement, pairs: Sequence[_Pair], answers: Mapping[str, Sequence[_Answer]], most: int
) -> Iterator[str]:
    """Describe missing answers, the agreement of the others, and the first ``most`` differences."""
    yield f"{len(agreement.both)} of {len(pairs)} pairs have an answer from both judges"
    for label, given in answers.items():
        if failed := [answer for answer in given if isinstance(answer, NotScored)]:
            counts = Counter(answer.cause for answer in failed)
            causes = ", ".join(f"{cause} {times}" for cause, times in counts.items())
            missing = f"{len(failed)} without an answer from {label} ({causes})"
            yield f"left out: {missing}; first: {failed[0].reason}"
    if agreement.share is None:
        return
    one, other = answers
    yield from render_agreement(agreement, one, other, ("same", "different"))
    different = set(agreement.different)
    shown = [at for at, pair in enumerate(pairs) if pair.name in different]
    for at in shown[:most]:
        pair = pairs[at]
        yield f"  {pair.name}"
        yield f"    made      {_render_call(pair.verdict.made)}"
        yield f"    expected  {_render_call(pair.expected)}"
        for label, given in answers.items():
            answer = given[at]
            if isinstance(answer, Equivalence):
                yield f"    {label}: {_name_label(answer)}: {' '.join(answer.reason.split())}"
    if len(shown) > most:
        yield f"and {len(shown) - most} more; --to=FILE writes all, --failures=N shows N here"


def _render_call(call: Mapping[str, object]) -> str:
    text = f"{call.get('name')} {json.dumps(call.get('arguments'), ensure_ascii=False)}"
    return cut_text(text, _LONGEST)


def _make_document(
    card: Scorecard,
    profile: Profile,
    pairs: Sequence[_Pair],
    answers: Mapping[str, Sequence[_Answer]],
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
                "answers": {label: asdict(given[at]) for label, given in answers.items()},
            }
            for at, pair in enumerate(pairs)
        ],
    }
