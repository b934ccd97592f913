"""The ``fcbench`` section of the JSON report; ``schema.json`` beside this file describes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard import record
from pytest_fcbench.scorecard.aggregate import execution, golden_paths, ratings
from pytest_fcbench.scorecard.aggregate.format_sensitivity import Sensitivity, sensitivity
from pytest_fcbench.scorecard.aggregate.golden_paths import PathScores
from pytest_fcbench.scorecard.aggregate.ratings import Ratings
from pytest_fcbench.scorecard.aggregate.scores import ProfileScores, Score, aggregate, counted
from pytest_fcbench.scorecard.aggregate.trials import TrialScores, trial_scores, trials_of
from pytest_fcbench.scorecard.aggregate.usage import cost_latency
from pytest_fcbench.scorecard.gate.gate import Outcome
from pytest_fcbench.scorecard.record import Record, by_category
from pytest_fcbench.scorecard.run_facts import SCHEMA, RunFacts


def json_schema() -> dict[str, dict[str, dict[str, Any]]]:
    """The JSON Schema of the section and of the Records."""
    schema: dict[str, dict[str, dict[str, Any]]] = json.loads(
        Path(__file__).with_name("schema.json").read_text(encoding="utf-8")
    )
    schema["$defs"] |= record.json_schema()
    return schema


def section(
    facts: RunFacts, records: Sequence[Record], size_of: Callable[[str], int], gate: Sequence[Outcome]
) -> dict[str, object]:
    """The section as JSON values."""
    trials, parts = trials_of(records), by_category(records)
    return {
        "schema": SCHEMA,
        "fcbench": facts.fcbench,
        "model": facts.model,
        "mode": facts.mode,
        "names": facts.names,
        "syntax": facts.syntax,
        "profile": facts.profile.value,
        "suites": {name: dict(suite) for name, suite in facts.suites.items()},
        "notes": list(facts.notes),
        "price": asdict(facts.price) if facts.price else None,
        "concurrency": facts.concurrency,
        "driven": asdict(facts.driven) if facts.driven else None,
        "rated_by": facts.rated_by,
        "ratings": {name: _ratings(found) for name, found in ratings.parts(records).items()},
        "search": facts.search,
        "shard": facts.shard,
        "trials": trials,
        "sizes": {name: size_of(name) for name in counted(parts)},
        "usage": {
            "run": asdict(cost_latency(records)),
            "categories": {name: asdict(cost_latency(part)) for name, part in parts.items()},
        },
        "profiles": {
            profile.value: _profile(aggregate(records, profile, size_of))
            | ({"complex": complex_calls} if (complex_calls := _complex(records, profile)) else {})
            | ({"executable": executable} if (executable := _executable(records, profile)) else {})
            | ({"format_sensitivity": _formats(told)} if (told := sensitivity(records, profile)) else {})
            | ({"trials": _trials(records, parts, profile, trials)} if trials > 1 else {})
            for profile in Profile
        },
        "gate": [
            {"rule": outcome.rule.text, "outcome": outcome.word, "sentence": outcome.sentence}
            for outcome in gate
        ],
    }


def _profile(scores: ProfileScores) -> dict[str, object]:
    return {
        "categories": {name: _score(score) for name, score in scores.categories.items()},
        "groups": {name: _score(score) for name, score in scores.groups.items()},
        "overall": _score(scores.overall),
    }


def _complex(records: Sequence[Record], profile: Profile) -> dict[str, object]:
    return {name: _path_scores(found) for name, found in golden_paths.parts(records, profile).items()}


def _executable(records: Sequence[Record], profile: Profile) -> dict[str, object]:
    return {
        name: {
            "both": of.both,
            "ast_only": of.written,
            "execution_only": of.executed,
            "neither": of.neither,
            **dict(zip(("ast", "execution"), of.shares or (None, None), strict=True)),
            "agreement": of.agreement,
        }
        for name, of in execution.parts(records, profile).items()
    }


def _ratings(found: Ratings) -> dict[str, object]:
    return {
        "rated": found.rated,
        "not_rated": found.unrated,
        "counts": list(found.counts),
        "mean": found.mean,
        "interval": asdict(found.interval) if found.interval else None,
    }


def _path_scores(found: PathScores) -> dict[str, object]:
    return {
        "scored": found.scored,
        "passed": found.passed,
        "success": found.success,
        "calls": found.calls,
        "right": found.right,
        "accuracy": found.accuracy,
        "interval": asdict(found.interval) if found.interval else None,
        "completeness": asdict(found.completeness),
        "correctness": asdict(found.correctness),
        "failures": dict(found.failures),
        "errors": dict(found.errors),
        "parameters": {
            role: {"wrong": of.wrong, "of": of.of, "rate": of.rate} for role, of in found.parameters.items()
        },
        "beyond": dict(found.beyond),
        "beyond_mean": found.beyond_mean,
    }


def _formats(told: Sensitivity) -> dict[str, object]:
    return {
        "formats": {chosen.name: _score(score) for chosen, score in told.formats.items()},
        **asdict(told.spread),
        "intervals": {"max_delta": told.max_delta, "std": told.std},
        "max_delta_by_chance": told.by_chance,
        "costs": [asdict(cost) | {"difference": cost.difference} for cost in told.costs],
    }


def _trials(
    records: Sequence[Record], parts: Mapping[str, Sequence[Record]], profile: Profile, k: int
) -> dict[str, object]:
    return {
        "categories": {name: _trial_scores(trial_scores(part, profile, k)) for name, part in parts.items()},
        "all": _trial_scores(trial_scores(records, profile, k)),
    }


def _trial_scores(scores: TrialScores) -> dict[str, object]:
    return {
        "k": scores.k,
        "entries": scores.entries,
        "left_out": len(scores.left_out),
        "mean": scores.mean,
        "pass_at": list(scores.pass_at),
        "pass_hat": list(scores.pass_hat),
        "flip": scores.flip,
    }


def _score(score: Score) -> dict[str, object]:
    return {
        "n": score.n,
        "passed": score.passed,
        "failed": score.failed,
        "not_scored": score.not_scored,
        "set_aside": score.set_aside,
        "unknown": score.unknown,
        "accuracy": score.accuracy,
        "interval": asdict(score.interval) if score.interval else None,
        "missing": list(score.missing),
    }
