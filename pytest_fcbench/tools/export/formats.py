"""The formats of ``fcbench run export``, and what a user orders in one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from pkgutil import resolve_name

from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.tables import read_table
from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.two_models import describe_early_end
from pytest_fcbench.scorecard.aggregate.pressure import group_by_pressure
from pytest_fcbench.scorecard.aggregate.scores import ALL, Score, score_metric
from pytest_fcbench.scorecard.aggregate.secondary_scores import count_trials
from pytest_fcbench.scorecard.scorecard_files import Scorecard

FOLDER = ""
"""Stands for the ending of a format that is a folder."""


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The scorecards to export and what the user chose; a format looks at what concerns it."""

    cards: Sequence[Scorecard]
    profile: Profile
    """The profile whose verdicts and scores are shown."""
    ending: str = ""
    """How the file ends, where a format has several forms."""
    per: str = "entry"
    """Rows for each ``entry`` or for each ``score``."""
    chart: str = "forest"
    """The name of a chart."""
    metric: str | None = None
    """The score that is shown; None for the one that stands for the run."""
    name: str | None = None
    """A name for the result: of the model, the project, the experiment or the badge."""
    baseline: Scorecard | None = None
    """The run to compare with."""
    dataset: str = ""
    """The dataset of the Hub on whose leaderboard the result belongs."""
    task: str = ""
    """The name of that leaderboard, as the dataset's eval.yaml has it."""
    organization: str = ""
    """The organization that ran the evaluation."""
    relationship: str = ""
    """What that organization is to the maker of the model."""

    @property
    def card(self) -> Scorecard:
        """The scorecard, where a format takes one."""
        return self.cards[0]

    def find_metric(self) -> str:
        """Return the name of the score to show. Raises ``UsageError`` where no scorecard has it."""
        all_scores = [card.scores(self.profile) for card in self.cards]
        if self.metric is None:
            names = {scores.main for scores in all_scores}
            return names.pop() if len(names) == 1 else ALL
        if not any(scores.find_score(self.metric) for scores in all_scores):
            # A scorecard can come from others, with names of any characters.
            known_names = dict.fromkeys(
                put_on_one_line(name)
                for scores in all_scores
                for name in ("overall", ALL, *scores.groups, *scores.categories)
            )
            raise UsageError(
                f"--metric={self.metric}: {describe_unknown_name('metric', self.metric, known_names)}"
            )
        return self.metric

    def label_metric(self) -> str:
        """Label the score; the label says where parts of its formula were not run."""
        metric = self.find_metric()
        scores = [self.find_score(card, metric) for card in self.cards]
        is_partial = any(score and score.missing for score in scores)
        return f"{metric}, parts not run count as 0" if is_partial else metric

    def find_score(self, card: Scorecard, metric: str) -> Score | None:
        """Return a score of a scorecard; None where nothing of it was scored."""
        is_asked_for = self.metric is not None
        score = score_metric(metric, card.records, self.profile, card.size_of, partial=is_asked_for)
        return score if score and score.accuracy is not None else None


def find_end(card: Scorecard) -> datetime | None:
    """Return the time at which a run ended; None where its file states none, like a baseline."""
    try:
        return None if card.created_s is None else datetime.fromtimestamp(card.created_s, UTC)
    # A file can state a year that the platform's clock does not have.
    except (OverflowError, ValueError, OSError):
        return None


def require_end(card: Scorecard) -> datetime:
    """Return the time at which a run ended. Raises ``UsageError`` where its file states none."""
    if end := find_end(card):
        return end
    raise UsageError(f"{card.path}: states no time, like a baseline; give the scorecard of the run")


def describe_conditions(card: Scorecard) -> list[str]:
    """Say what sets the scores of a run apart from those of its suites as they are."""
    facts, trials = card.facts, count_trials(card.records)
    early_end = describe_early_end(facts) or ""
    parts = facts.narrowed_by, facts.shard and f"shard {facts.shard}"
    conditions = {
        **{f"only the entries selected by {part}": part for part in parts},
        f"{trials} trials of each entry": trials > 1,
        **{f"over all levels of the pressure {kind}": True for kind in group_by_pressure(card.records)},
        f"prompts with up to {facts.most_shots} answered entries": facts.most_shots,
        f"asked as {facts.asked_as}": facts.asked_as,
        early_end: early_end,
    }
    return [put_on_one_line(text) for text, holds in conditions.items() if holds]


def refuse_unscored(card: Scorecard) -> UsageError:
    """Return an error about a scorecard without a score."""
    return UsageError(f"{card.path}: nothing was scored; give the scorecard of a run that was scored")


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format: what it is for, how its files end, and what it needs."""

    purpose: str
    function: str
    """The module and the function that write it, as ``rows:render_csv``; the module is imported when it is
    used. The function yields text, where the format has endings of texts."""
    name: str = ""
    texts: tuple[str, ...] = ()
    """Endings of its text files; the first is the form that is printed without a file."""
    files: tuple[str, ...] = ()
    """Endings of its other files; ``FOLDER`` where it is a folder."""
    extras: Mapping[str, str] = field(default_factory=dict)
    """The extra that an ending needs."""
    options: tuple[str, ...] = ()
    """Options that it takes beside the common ones."""
    takes_several: bool = True
    """False where it holds one run."""
    file_function: str = ""
    """The function that writes its other files, where it also has texts."""
    has_answers: bool = False
    """True where it holds the answers of the model."""
    meaning_of_name: str = ""
    """The help of the option ``name``, where it takes that."""

    def render_text(self, order: ExportRequest) -> Iterator[str]:
        """Yield the text of the format in pieces."""
        pieces: Iterator[str] = resolve_name(f"{__package__}.{self.function}")(order)
        return pieces

    def write_path(self, order: ExportRequest, path: Path) -> list[str]:
        """Write a file or a folder, and return what was written as sentences."""
        function = self.file_function or self.function
        sentences: list[str] = resolve_name(f"{__package__}.{function}")(order, path)
        return sentences


FORMATS: Mapping[str, ExportFormat] = {
    name: replace(form, name=name)
    for name, form in read_table(dict[str, ExportFormat], __file__, "formats.toml").items()
}
"""Formats by name, in the order of the help."""
