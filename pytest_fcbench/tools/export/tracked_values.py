"""Settings and numbers of a run by name, as experiment trackers keep them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict

from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.wording import format_time
from pytest_fcbench.scorecard.aggregate.usage import measure_bill
from pytest_fcbench.scorecard.rows import list_scores
from pytest_fcbench.scorecard.scorecard_files import Scorecard


def collect_settings(card: Scorecard) -> Mapping[str, str]:
    """Collect the settings of a run as texts."""
    facts = card.facts
    settings = {
        "model": facts.model,
        "mode": facts.mode,
        "names": facts.names,
        "syntax": facts.syntax,
        "profile": facts.profile,
        "fcbench": facts.fcbench,
        "commit": facts.commit or "",
        "ended": "" if card.created_s is None else format_time(card.created_s),
        **{f"suite.{name}": str(about.get("version")) for name, about in facts.suites.items()},
        **{f"label.{name}": value for name, value in facts.labels.items()},
    }
    return {name_value(name): put_on_one_line(value) for name, value in settings.items()}


def collect_numbers(card: Scorecard) -> Mapping[str, float]:
    """Collect the scores of both profiles with intervals and counts, and cost and latency."""
    numbers: dict[str, float | None] = {}
    for profile in Profile:
        for kind, name, score in list_scores(card.scores(profile)):
            limits = score.interval
            # Both trackers draw names with a common first part beside each other.
            at = "/".join(map(name_value, (profile, *((kind,) if kind != "overall" else ()), name)))
            numbers[f"{at}/accuracy"] = score.accuracy
            numbers[f"{at}/low"] = limits.low if limits else None
            numbers[f"{at}/high"] = limits.high if limits else None
            numbers[f"{at}/scored"] = score.scored
            numbers[f"{at}/not_scored"] = score.not_scored
    usage = asdict(measure_bill(card.records, card.facts.earlier))
    numbers |= {f"usage/{name}": value for name, value in usage.items()}
    return {name: float(value) for name, value in numbers.items() if value is not None}


def name_value(name: str) -> str:
    """Name a value as every tracker takes it: by letters, digits and ``._-``, and by no two names alike."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)[:100]
    # A dot alone would be a folder.
    if plain == name and plain.strip("."):
        return plain
    return f"{plain.strip('.')}_{hashlib.sha256(name.encode(errors='backslashreplace')).hexdigest()[:8]}"
