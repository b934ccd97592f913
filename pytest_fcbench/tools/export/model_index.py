"""Scores as the ``model-index`` of a model card on the Hugging Face hub.

The form is that of the hub's model cards: https://huggingface.co/docs/hub/model-cards.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.rows import list_scores
from pytest_fcbench.tools.export.order import ExportRequest


def render_text(order: ExportRequest) -> Iterator[str]:
    """Yield a front matter whose index has one model, with the scores of both profiles."""
    results: list[dict[str, object]] = []
    for card in order.cards:
        suites = {put_on_one_line(name): about.get("version") for name, about in card.facts.suites.items()}
        # The hub shows metrics of one data set beside each other, so both profiles stand in one result.
        both = {profile: card.scores(profile) for profile in Profile}
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
