"""``fcbench suite judge``: measure how far two judges agree on calls that rules could not decide.

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
from dataclasses import replace

from pytest_fcbench.cli.options import find_openers, load_settings
from pytest_fcbench.cli.output import print_lines, require_other_file
from pytest_fcbench.cli.sessions import ask_judge, find_suites, load_judge_settings, require_entries
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.errors import FcbenchError, UsageError
from pytest_fcbench.domain.transcript import BUILTIN
from pytest_fcbench.domain.verdict import CallVerdict
from pytest_fcbench.judging.questions import Equivalence
from pytest_fcbench.kinds.golden_path.questions import ask_equivalence
from pytest_fcbench.kinds.golden_path.truth import list_steps
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.scorecard_files import Scorecard, load_scorecard
from pytest_fcbench.suites import core
from pytest_fcbench.tools.diagnosis.agreement import (
    Agreement,
    Answer,
    JudgedPair,
    apply_rules,
    build_audit_document,
    describe_answers,
    name_label,
)


def run_judge(arguments: argparse.Namespace) -> int:
    if len(arguments.judges) != 2 or arguments.judges[0] == arguments.judges[1]:
        raise UsageError("name two different judges, e.g. --judge builtin --judge openai/gpt-4o")
    print_lines(_audit_judges(arguments), flush=True)
    return 0


def _audit_judges(arguments: argparse.Namespace) -> Iterator[str]:
    """Ask both judges about each pair, describe their agreement, and write all answers to ``--to``."""
    card = load_scorecard(arguments.scorecard)
    require_other_file(arguments.to, [card.path])
    judges = _load_judges(arguments)
    settings = load_settings(arguments, core.NAME)
    profile = settings.profile if arguments.profile else card.facts.profile
    judged_calls: list[tuple[Record, int, CallVerdict]] = []
    for record in card.records:
        path = record.path(profile)
        calls: Counter[int] = Counter()
        for verdict in path.verdicts if path else ():
            # Every call of a step is counted, so that a call has one number whoever decided the others.
            calls[verdict.step] += 1
            if verdict.stage in (BUILTIN, "judge") and verdict.expected is not None:
                judged_calls.append((record, calls[verdict.step], verdict))
    yield (
        f"{card.path}: {card.facts.model}, {profile} profile, pairs that rules leave to a "
        f"judge: {len(judged_calls)}"
    )
    if not judged_calls:
        return
    pairs = _make_pairs(arguments, card, judged_calls[: arguments.limit])
    answers: dict[str, Sequence[Answer]] = {}
    notes: list[str] = []
    for label, judge in judges.items():
        if judge is None:
            answers[label] = list(map(apply_rules, pairs))
        else:
            questions = [ask_equivalence(p.entry, p.verdict.made, p.expected, p.history) for p in pairs]
            answers[label], judge_notes = ask_judge(judge, questions)
            notes += judge_notes
    labels = (
        {
            pair.name: name_label(answer)
            for pair, answer in zip(pairs, judge_answers, strict=True)
            if isinstance(answer, Equivalence)
        }
        for judge_answers in answers.values()
    )
    agreement = Agreement(*labels)
    yield from describe_answers(agreement, pairs, answers, settings.failures)
    yield from notes
    if arguments.to is not None:
        document = build_audit_document(card, profile, pairs, answers, agreement)
        write_file(arguments.to, json.dumps(document, indent=1))
        yield f"written to {arguments.to}"
    # The file with the reasons is written before the command fails.
    if agreement.share is None:
        raise FcbenchError(
            "nothing to compare: no pair has an answer from both judges; the causes are listed above"
        )


def _load_judges(arguments: argparse.Namespace) -> Mapping[str, Settings | None]:
    """Load the settings of both judges by their label, None for ``builtin``."""
    settings_by_label: dict[str, Settings | None] = {}
    for name in arguments.judges:
        if name == BUILTIN:
            settings_by_label[name] = None
            continue
        # The endpoint options are those of the first judge that has one; the second has its profile's.
        endpoint = ("judge_api_base", "judge_api_key_env") if any(settings_by_label.values()) else ()
        judge = load_judge_settings(arguments, judge=name, **dict.fromkeys(endpoint))
        if judge is None:
            raise UsageError(f"--judge={name}: give builtin, a model profile or a litellm id")
        settings_by_label[judge.label] = judge
    return settings_by_label


def _make_pairs(
    cli_arguments: argparse.Namespace,
    card: Scorecard,
    judged_calls: Sequence[tuple[Record, int, CallVerdict]],
) -> list[JudgedPair]:
    """Return each judged call with the golden path before it. Raises ``UsageError`` if a suite lacks it."""
    records = [record for record, _, _ in judged_calls]
    suites = find_suites(card, records, find_openers(cli_arguments))
    context = RunContext(replace(load_settings(cli_arguments, suites[0]), suites=tuple(suites)))
    entries = require_entries(context, records, card.path)
    pairs: list[JudgedPair] = []
    for record, number, verdict in judged_calls:
        entry, expected_call = entries[record.entry], verdict.expected or {}
        # The golden path before the step of the expected call, in a Record's form.
        history: list[Mapping[str, object]] = []
        for step in list_steps(entry):
            calls = [{"name": call.name, "arguments": call.arguments} for call in step]
            if expected_call in calls:
                break
            history.append({"role": "assistant", "function_call": calls})
            history.append({"role": "observation", "content": [call.reply for call in step]})
        else:
            raise UsageError(
                f"{card.path}: {record.suite} {context.suites[record.suite].version} does not have the "
                f"expected call on the golden path of {record.entry}; use the suite version of the run"
            )
        own = replace(entry, id=f"{entry.id}/{verdict.step}.{number}", trial=record.trial)
        name = f"{record.item_id}, step {verdict.step}, call {number}"
        pairs.append(JudgedPair(name, own, verdict, expected_call, history))
    return pairs
