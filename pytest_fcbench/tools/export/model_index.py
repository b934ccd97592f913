"""Scores as the ``model-index`` of a model card on the Hugging Face hub.

The form is that of the hub's model cards: https://huggingface.co/docs/hub/model-cards.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.rows import list_scores
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.tools.export.order import Order


def render_text(order: Order) -> Iterator[str]:
    """Yield a front matter whose index has one model."""
    name = put_on_one_line(order.name or order.card.facts.model)
    results = [result for card in order.cards for result in _list_results(card)]
    index = {"model-index": [{"name": name, "results": results}]}
    yield f"---\n{yaml.safe_dump(index, sort_keys=False, allow_unicode=True)}---\n"


def _list_results(card: Scorecard) -> Iterator[dict[str, object]]:
    """List the scores of a run, each with the accuracies of both profiles."""
    suites = {put_on_one_line(name): str(about.get("version")) for name, about in card.facts.suites.items()}
    both = {profile: card.scores(profile) for profile in Profile}
    for _, name, _ in list_scores(both[Profile.OFFICIAL]):
        metrics = [
            {
                "type": "accuracy",
                "name": f"accuracy, {profile} profile",
                "value": score.accuracy,
                "args": {
                    "scored": score.scored,
                    "not_scored": score.not_scored,
                    **({"interval_95": [limits.low, limits.high]} if (limits := score.interval) else {}),
                },
            }
            for profile, scores in both.items()
            if (score := scores.find_score(name)) and score.accuracy is not None
        ]
        if metrics:
            yield {
                "task": {"type": "text-generation", "name": "Function calling"},
                "dataset": {
                    "type": ", ".join(suites),
                    "name": ", ".join(f"{suite} {version}" for suite, version in suites.items()),
                    "config": f"{put_on_one_line(name)} ({card.facts.mode})",
                },
                "metrics": metrics,
            }
