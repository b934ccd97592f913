"""Scores as other places take them: records of other evaluation tools, a badge, a model card, a comment.

The JSON of a badge is that of https://shields.io/badges/endpoint-badge, the form of a model card that of
https://huggingface.co/docs/hub/model-cards.

Each record has what the run states and leaves out what it does not know. An entry that was not scored is in
no denominator; where a record has no place for their number, it is in a note.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import yaml

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.text import put_on_one_line, shorten_text
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.charts.drawing import Drawing, Label, estimate_width, make_box, render_file
from pytest_fcbench.present.run_end import write_step_summary
from pytest_fcbench.scorecard.aggregate.intervals import CONFIDENCE, Z
from pytest_fcbench.scorecard.aggregate.scores import GROUPS, OVERALL, Score
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.rows import list_scores
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.tools.export.formats import (
    ExportRequest,
    describe_conditions,
    find_end,
    refuse_unscored,
    require_end,
)

EEE_SCHEMA = "0.3.0"
"""The version of Every Eval Ever's schema that a record follows."""
RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
"""What an evaluator can be to the maker of a model, in the words of Every Eval Ever."""


def render_lm_eval(order: ExportRequest) -> Iterator[str]:
    """Yield results as lm-evaluation-harness writes them: a task for each score of one profile."""
    card, end = order.card, find_end(order.card)
    facts, scores = card.facts, card.scores(order.profile)
    suites = _name_suites(card)
    version = "; ".join(str(each.get("version")) for each in facts.suites.values())
    shown_scores = {
        name: (kind, score) for kind, name, score in list_scores(scores) if score.accuracy is not None
    }
    if not shown_scores:
        raise refuse_unscored(card)
    names = {name: f"{suites}_{name}" for name in shown_scores}
    parts = {name: formula.parts for name, formula in GROUPS.items()} | {"overall": tuple(OVERALL)}
    results = {names[name]: _describe_task(name, score) for name, (_, score) in shown_scores.items()}
    label, shots = put_on_one_line(order.name or facts.model), facts.most_shots
    about = {"version": version, "profile": order.profile, "conditions": describe_conditions(card)}
    report = {
        "results": results,
        "groups": {
            names[name]: results[names[name]]
            for name, (kind, _) in shown_scores.items()
            if kind != "category"
        },
        "group_subtasks": {
            names[name]: [names[part] for part in parts[name] if part in names]
            for name in shown_scores
            if name in parts and name not in scores.categories
        },
        "configs": {task: {"task": task, "num_fewshot": shots, "metadata": about} for task in names.values()},
        "versions": dict.fromkeys(names.values(), version),
        "n-shot": dict.fromkeys(names.values(), shots),
        "higher_is_better": {task: {"acc": True} for task in names.values()},
        "n-samples": {
            names[name]: {"original": score.n, "effective": score.scored}
            for name, (_, score) in shown_scores.items()
        },
        "config": {"model": "fcbench", "model_args": {"model": label, "mode": facts.mode}},
        **({"date": card.created_s} if end else {}),
        "model_source": "fcbench",
        "model_name": label,
        "model_name_sanitized": label.replace("/", "__"),
        **({"total_evaluation_time_seconds": str(card.duration_s)} if card.duration_s is not None else {}),
    }
    yield f"{json.dumps(report, indent=2)}\n"


def _describe_task(name: str, score: Score) -> Mapping[str, object]:
    limits = score.interval
    # The standard error whose normal interval is as wide as ours.
    error = (limits.high - limits.low) / (2 * Z) if limits else "N/A"
    alias = put_on_one_line(name)
    return {"alias": alias, "sample_len": score.scored, "acc,none": score.accuracy, "acc_stderr,none": error}


def render_hub_result(order: ExportRequest) -> Iterator[str]:
    """Yield a file for the folder ``.eval_results`` of a model, with one score for one leaderboard."""
    card, metric, end = order.card, order.find_metric(), find_end(order.card)
    score = order.find_score(card, metric)
    if score is None:
        raise UsageError(
            f"{card.path}: nothing of {metric} was scored; choose another score with --metric=NAME"
        )
    facts, limits = card.facts, score.interval
    suites = ", ".join(f"{name} {about.get('version')}" for name, about in facts.suites.items())
    notes = [
        f"pytest-fcbench {facts.fcbench}: {order.label_metric()} of {suites}, {facts.mode} mode",
        f"{order.profile} profile",
        *describe_conditions(card),
        f"{score.scored} entries scored, {score.not_scored} not scored",
        *([f"{CONFIDENCE:.0%} interval {limits.low:.4f} to {limits.high:.4f}"] if limits else []),
    ]
    result = {
        "dataset": {"id": order.dataset, "task_id": order.task},
        "value": score.accuracy,
        **({"date": end.isoformat()} if end else {}),
        "notes": put_on_one_line("; ".join(notes)),
    }
    yield yaml.safe_dump([result], sort_keys=False, allow_unicode=True, width=1000)


def render_eee(order: ExportRequest) -> Iterator[str]:
    """Yield a record of Every Eval Ever with the scores of both profiles."""
    card, end = order.card, require_end(order.card)
    facts, model = card.facts, put_on_one_line(order.name or card.facts.model)
    time = str(int(end.timestamp()))
    suites = {
        put_on_one_line(key): put_on_one_line(str(value))
        for about in facts.suites.values()
        for key, value in about.items()
        if value is not None and len(facts.suites) == 1
    }
    source = {"dataset_name": _name_suites(card), "source_type": "other", "additional_details": suites}
    manner = {
        "mode": facts.mode,
        "names": facts.names,
        "syntax": facts.syntax,
        "shots": str(facts.most_shots),
    }
    if conditions := describe_conditions(card):
        manner["conditions"] = "; ".join(conditions)
    results = [
        {
            "evaluation_result_id": f"{profile}/{put_on_one_line(name)}",
            "evaluation_name": put_on_one_line(name),
            "source_data": source,
            "evaluation_timestamp": time,
            "metric_config": {
                "metric_id": "accuracy",
                "metric_name": "Accuracy",
                "metric_kind": "accuracy",
                "metric_unit": "proportion",
                "lower_is_better": False,
                "score_type": "continuous",
                "min_score": 0,
                "max_score": 1,
                "additional_details": {"profile": profile},
            },
            "score_details": _describe_eee_score(score),
            "generation_config": {"additional_details": manner},
        }
        for profile in Profile
        for _, name, score in list_scores(card.scores(profile))
        if score.accuracy is not None
    ]
    if not results:
        raise refuse_unscored(card)
    record = {
        "schema_version": EEE_SCHEMA,
        "evaluation_id": f"{_name_suites(card)}/{model}/{time}",
        "evaluation_timestamp": time,
        "retrieved_timestamp": time,
        "source_metadata": {
            "source_name": "pytest-fcbench",
            "source_type": "evaluation_run",
            "source_organization_name": order.organization,
            "evaluator_relationship": order.relationship,
        },
        "eval_library": {"name": "pytest-fcbench", "version": facts.fcbench},
        "model_info": {
            "name": model,
            "id": model,
            # A scorecard does not tell, and the schema has a word for that.
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": results,
    }
    yield f"{json.dumps(record, indent=2)}\n"


def _describe_eee_score(score: Score) -> Mapping[str, object]:
    counts = {"passed": score.passed, "scored": score.scored, "not_scored": score.not_scored}
    uncertainty: dict[str, object] = {"num_samples": score.scored}
    if limits := score.interval:
        uncertainty["confidence_interval"] = {
            "lower": limits.low,
            "upper": limits.high,
            "confidence_level": CONFIDENCE,
            "method": limits.method,
        }
    details = {name: str(count) for name, count in counts.items()}
    return {"score": score.accuracy, "details": details, "uncertainty": uncertainty}


def _name_suites(card: Scorecard) -> str:
    return put_on_one_line("+".join(card.facts.suites))


_LONGEST_LABEL = 40
"""Characters of a label."""
_GREY, _BLUE, _UNKNOWN = "#3d3d3d", "#0b5fa5", "#6e6e6e"
_SIZE = 11
_BESIDE = 7
"""Units of room beside a text."""


def render_badge(order: ExportRequest) -> Iterator[str]:
    """Yield the badge as SVG or as JSON."""
    metric = order.find_metric()
    score = order.find_score(order.card, metric)
    suites = " + ".join(order.card.facts.suites)
    label = shorten_text(put_on_one_line(order.name or f"{suites} {order.label_metric()}"), _LONGEST_LABEL)
    message = f"{score.accuracy:.1%}" if score and score.accuracy is not None else "not scored"
    colour = _BLUE if score else _UNKNOWN
    if order.ending == ".json":
        badge = {"schemaVersion": 1, "label": label, "message": message, "color": colour}
        yield f"{json.dumps(badge)}\n"
        return
    left_width, right_width = (estimate_width(text, _SIZE) + 2 * _BESIDE for text in (label, message))
    shapes = (
        make_box(0, 0, left_width, 20, _GREY),
        make_box(left_width, 0, right_width, 20, colour),
        Label(left_width / 2, 14, label, "middle", _SIZE, "#ffffff"),
        Label(left_width + right_width / 2, 14, message, "middle", _SIZE, "#ffffff"),
    )
    yield render_file(Drawing(left_width + right_width, 20, f"{label}: {message}", shapes))


def render_model_index(order: ExportRequest) -> Iterator[str]:
    """Yield a front matter whose index has one model, with the scores of both profiles."""
    models = {card.facts.model for card in order.cards}
    if len(models) > 1 and not order.name:
        raise UsageError(
            f"{len(models)} models: a card is about one; give its scorecards, or its name with --name"
        )
    results: list[dict[str, object]] = []
    for card in order.cards:
        suites = {put_on_one_line(name): about.get("version") for name, about in card.facts.suites.items()}
        # The hub shows metrics of one data set beside each other, so both profiles stand in one result.
        both = {profile: card.scores(profile) for profile in Profile}
        conditions = describe_conditions(card)
        for _, name, _ in list_scores(both[Profile.OFFICIAL]):
            metrics = [
                {
                    "type": "accuracy",
                    "name": f"accuracy, {profile} profile",
                    "value": score.accuracy,
                    # The hub has no place of its own for counts and intervals.
                    "args": {
                        "scored": score.scored,
                        "not_scored": score.not_scored,
                        **({"interval_95": [limits.low, limits.high]} if (limits := score.interval) else {}),
                        **({"conditions": [*conditions]} if conditions else {}),
                    },
                }
                for profile, scores in both.items()
                if (score := scores.find_score(name)) and score.accuracy is not None
            ]
            dataset = {
                "type": ", ".join(suites),
                "name": ", ".join(f"{suite} {version}" for suite, version in suites.items()),
                # The card reader joins results of the same data set and configuration.
                "config": f"{put_on_one_line(name)} ({card.facts.mode})",
            }
            task = {"type": "text-generation", "name": "Function calling"}
            results += [{"task": task, "dataset": dataset, "metrics": metrics}] if metrics else []
    if not results:
        raise refuse_unscored(order.card)
    index = {
        "model-index": [{"name": put_on_one_line(order.name or order.card.facts.model), "results": results}]
    }
    yield f"---\n{yaml.safe_dump(index, sort_keys=False, allow_unicode=True)}---\n"


MARK = "<!-- fcbench -->"
"""The first line, by which a workflow finds the comment to update."""
LONGEST_COMMENT = 65_536
"""Characters of a comment that GitHub takes at most."""
_CUT = "\nThe rest is too long for a comment; the scorecard has it.\n"


def render_comment(order: ExportRequest) -> Iterator[str]:
    """Yield the comment line by line."""
    facts = order.card.facts
    evidence = Evidence(
        *(order.card.records, facts.profile, order.card.size_of, facts.suites, order.baseline),
        *(facts.asked_as, facts.earlier),
    )
    yield f"{MARK}\n"
    # GitHub refuses a comment that is too long, in place of cutting it.
    room = LONGEST_COMMENT - len(MARK) - 1 - len(_CUT)
    for line in write_step_summary(facts, evidence, order.card.gate):
        room -= len(line) + 1
        if room < 0:
            yield _CUT
            return
        yield f"{line}\n"
