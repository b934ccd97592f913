"""The ``fcbench`` section of the JSON report.

The section is the facts of a run and its ``ReportResults``. The classes of both, and of what they hold, are
the objects of the JSON: their fields are its keys, in their order, and its JSON Schema is made of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import Field, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from pytest_fcbench.domain.entry import Stratum
from pytest_fcbench.domain.json_values import EXTENDED, Count, StrictSchema
from pytest_fcbench.domain.pressure import PressureKind
from pytest_fcbench.domain.transcript import CallCounts
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.run_verdict import describe_share
from pytest_fcbench.scorecard import record
from pytest_fcbench.scorecard.aggregate import golden_paths, secondary_scores
from pytest_fcbench.scorecard.aggregate.answer_statistics import (
    CostLatency,
    measure_beside_records,
    measure_bill,
    measure_usage,
)
from pytest_fcbench.scorecard.aggregate.call_counts import (
    StreamDifferences,
    count_stream_differences,
    sum_calls_by_category,
)
from pytest_fcbench.scorecard.aggregate.format_sensitivity import Sensitivity, measure_sensitivity
from pytest_fcbench.scorecard.aggregate.pressure import PressureCurve, measure_pressure
from pytest_fcbench.scorecard.aggregate.scores import (
    Score,
    list_sized_categories,
    score_strata,
    score_untrained,
)
from pytest_fcbench.scorecard.aggregate.server_checks import CheckCounts, count_checks
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import group_by_category
from pytest_fcbench.scorecard.run_facts import SCHEMA, RuleOutcome, RunFacts, make_facts_adapter

Value = TypeVar("Value")


class _Absent:
    """Leave null out of the JSON Schema of a key that is left out where it would be null."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        # pydantic writes an optional type as anyOf with null last.
        present: JsonSchemaValue = handler(schema)["anyOf"][0]
        return present


@dataclass(frozen=True, slots=True)
class RunUsage:
    """Cost and latency over all steps; null where nothing is known."""

    __pydantic_config__ = EXTENDED

    run: CostLatency
    categories: Mapping[str, CostLatency]
    others: Annotated[Mapping[str, CostLatency] | None, _Absent()] = None
    """Of earlier conversations, the judge and the embedding model, which ``run`` does not contain; only where
    there are any."""
    bill: Annotated[CostLatency | None, _Absent()] = None
    """Tokens and dollars of ``run`` and ``others`` together, which is what the run cost. Its latencies are
    those of ``run``, and its dollars per 1,000 calls are by calls of the model. Older scorecards lack it."""


@dataclass(frozen=True, slots=True)
class RunTrials:
    """Scores over the trials of each entry."""

    categories: Mapping[str, secondary_scores.TrialScores]
    all: secondary_scores.TrialScores


_WITH_ALL = Field(json_schema_extra={"required": ["all"]})


@dataclass(frozen=True, slots=True)
class ProfileResults:
    """The results under one profile; parts that were not run are left out."""

    __pydantic_config__ = EXTENDED

    categories: Mapping[str, Score]
    groups: Mapping[str, Score]
    overall: Score
    all: Score
    """Every entry that was run, each alike."""
    complex: Annotated[Mapping[str, golden_paths.PathScores] | None, _Absent(), _WITH_ALL] = None
    """By category and for ``all``; only where entries with golden paths were run."""
    executable: Annotated[Mapping[str, secondary_scores.Sides] | None, _Absent(), _WITH_ALL] = None
    """Entries by the verdicts on their calls as written and as executed, by category and for ``all``; only
    where calls were executed."""
    format_sensitivity: Annotated[Sensitivity | None, _Absent()] = None
    """Only where entries were put to the model in all prompt formats."""
    pressure: Annotated[Mapping[PressureKind, PressureCurve] | None, _Absent()] = None
    """Scores by level of each kind of pressure; only where entries were put under pressure."""
    untrained: Annotated[Score | None, _Absent()] = None
    """The score of the run without entries that are in the training data of the model; only where such were
    run."""
    right_turns: Annotated[Mapping[str, secondary_scores.RightTurns] | None, _Absent(), _WITH_ALL] = None
    """Turns of conversations, by category and for ``all``; only where such were run."""
    trials: Annotated[RunTrials | None, _Absent()] = None
    """Only where each entry was put to the model several times."""
    strata: Annotated[Mapping[Stratum, Score] | None, _Absent()] = None
    """Entries by stratum of difficulty; only where the suite says what makes an entry hard."""


@dataclass(frozen=True, slots=True)
class ReportResults:
    """The results of a run, which stand beside its facts in the section."""

    ratings: Mapping[str, secondary_scores.Ratings]
    """Ratings of replies in words, by category."""
    trials: Annotated[int, Field(ge=1)]
    """Number of times that each entry was put to the model."""
    sizes: Mapping[str, Count]
    """Number of tests of each category that was run, and of those that count by size in a group with it."""
    usage: RunUsage
    headline: str
    """How many passed of which entries in the profile of the run, in words."""
    profiles: Annotated[Mapping[Profile, ProfileResults], Field(json_schema_extra={"required": [*Profile]})]
    gate: tuple[RuleOutcome, ...]
    server_checks: Annotated[Mapping[str, CheckCounts] | None, _Absent()] = None
    """Checks of the server by severity, which count in no score; only where there were any."""
    stream_differences: Annotated[Mapping[str, StreamDifferences] | None, _Absent()] = None
    """Replies whose stream says something else, by part; only where streams were compared."""
    calls: Annotated[Mapping[str, CallCounts] | None, _Absent(), _WITH_ALL] = None
    """Calls of the model, right or not, by category and for ``all``; only where it called."""


@cache
def _results_adapter() -> TypeAdapter[ReportResults]:
    return TypeAdapter(ReportResults)


def _join(facts: Mapping[str, Value], results: Mapping[str, Value]) -> dict[str, Value]:
    """Join the keys of facts and results; ratings stand beside the judge that gave them."""
    order = [key for name in facts for key in ((name, "ratings") if name == "rated_by" else (name,))]
    return {key: {**facts, **results}[key] for key in (*order, *results)}


_LATER = ("ratings", "headline")
"""Keys that older sections lack."""


def json_schema() -> dict[str, Any]:
    """Generate the JSON Schema of the section and of the Records."""
    adapters = (make_facts_adapter(), _results_adapter())
    facts, results = (
        each.json_schema(schema_generator=StrictSchema, mode="serialization") for each in adapters
    )
    section = {
        "type": "object",
        "additionalProperties": False,
        "required": [
            "schema",
            *facts["required"],
            *(each for each in results["required"] if each not in _LATER),
        ],
        "properties": {"schema": {"const": SCHEMA}, **_join(facts["properties"], results["properties"])},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fcbench scorecard: the parts of a pytest-json-report file that describe a benchmark run",
        "description": "The report's top-level key 'fcbench' is a section; "
        "tests[].metadata.fcbench is a record.",
        "$defs": {"section": section, **facts["$defs"], **results["$defs"], **record.json_schema()},
    }


def write_section(facts: RunFacts, evidence: Evidence, outcomes: Sequence[RuleOutcome]) -> dict[str, object]:
    """Write the section as JSON values."""
    records, parts = evidence.records, group_by_category(evidence.records)
    results = ReportResults(
        ratings=secondary_scores.summarise_ratings_by_category(records),
        trials=secondary_scores.count_trials(records),
        sizes={name: evidence.size_of(name) for name in list_sized_categories(parts)},
        usage=RunUsage(
            run=measure_usage(records),
            categories={name: measure_usage(part) for name, part in parts.items()},
            others=measure_beside_records(records, facts.earlier) or None,
            bill=measure_bill(records, facts.earlier),
        ),
        headline=describe_share(records, facts.profile, evidence.scores[facts.profile]),
        profiles={profile: _summarise_profile(evidence, profile) for profile in Profile},
        gate=tuple(outcomes),
        server_checks=count_checks(records) or None,
        stream_differences=count_stream_differences(records) or None,
        calls=sum_calls_by_category(records) or None,
    )
    results_json = _results_adapter().dump_python(results, warnings=False)
    # Not exclude_none, which would also drop the nulls within, which the schema promises.
    for part in (results_json, *results_json["profiles"].values(), results_json["usage"]):
        for key in [key for key, value in part.items() if value is None]:
            del part[key]
    return {"schema": SCHEMA, **_join(make_facts_adapter().dump_python(facts, warnings=False), results_json)}


def _summarise_profile(evidence: Evidence, profile: Profile) -> ProfileResults:
    """Summarise the verdicts of one profile."""
    records, scores = evidence.records, evidence.scores[profile]
    without = score_untrained(records, profile, evidence.size_of)
    trial_scores = secondary_scores.score_trials_by_category(records, profile)
    all_trials = trial_scores.pop("all", None)
    return ProfileResults(
        categories=scores.categories,
        groups=scores.groups,
        overall=scores.overall,
        all=scores.all,
        complex=golden_paths.score_paths_by_category(records, profile) or None,
        executable=secondary_scores.count_sides_by_category(records, profile) or None,
        format_sensitivity=measure_sensitivity(records, profile),
        pressure=measure_pressure(records, profile) or None,
        untrained=without.find_score(scores.main) if without else None,
        right_turns=secondary_scores.count_right_turns_by_category(records, profile) or None,
        trials=RunTrials(trial_scores, all_trials) if all_trials else None,
        strata=score_strata(records, profile) or None,
    )
