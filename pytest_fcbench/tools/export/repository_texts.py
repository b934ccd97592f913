"""What stands in a repository or beside a model: a badge, a model card, a comment on a pull request.

The JSON of a badge is that of https://shields.io/badges/endpoint-badge, the form of a model card that of
https://huggingface.co/docs/hub/model-cards.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import yaml

from pytest_fcbench.domain.text import put_on_one_line, shorten_text
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.charts.drawing import Drawing, Label, estimate_width, make_box, render_file
from pytest_fcbench.present.run_end import write_step_summary
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.rows import list_scores
from pytest_fcbench.tools.export.formats import ExportRequest, describe_conditions

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
