"""Test whether a model has seen one set of entries in training rather than another.

A text that a model was trained on surprises it less. So the probabilities that the model gives to the
texts of two sets are compared: one that was public when it was trained, and one that was not (BFCL, Patil
et al. 2025, section 5.5: perplexity, and negative log-likelihood of the characters).

Means have intervals of 95 % by the percentile bootstrap, which assumes nothing about the distribution (that
of perplexities has a long tail): 2,000 draws from a fixed seed. A rank test shows whether one set has the
lower values, so that a few very strange texts count no more than others (Mann & Whitney 1947, two-sided,
normal approximation corrected for ties and continuity).

The text of an entry is what its user says: the messages with the role ``user``, turn by turn, a line break
between them; with function docs, these stand before it as JSON, one a line. It is put to the model as it
is, without a chat template.

Two measures are taken from the log-probabilities (natural logarithms) of its tokens:

- *perplexity*: e to the mean negative log-likelihood of a token. Only models with the same tokenizer can be
  compared by it;
- *nats per character*: the negative log-likelihood of the whole text by the number of its characters
  (Unicode code points). How a text is cut into tokens does not matter to it, so it compares across
  tokenizers. Divided by ln 2 it is bits per character.

Nothing precedes the first token, so it has no probability: it does not count in the mean, and its characters
count as predicted. A tokenizer that puts a token of its own in front gives the first token of the text a
probability, too.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from statistics import fmean, median, quantiles

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.present import table_formats, tables
from pytest_fcbench.present.charts.plots import draw_perplexities
from pytest_fcbench.present.tables import Table

_DRAWS = 2_000
SIGNIFICANT = 0.05

MEASURES: Mapping[str, Callable[[TextMeasure], float]] = {
    "perplexity": lambda found: found.perplexity,
    "nats per character": lambda found: found.nats_per_character,
}
"""The measures by which two sets are compared."""

LIMITS = (
    "Sets also differ in length, subject, language and style, and each of these changes "
    "both measures; a newer or larger model finds all texts less surprising.",
    "So a lower value is a sign, not a proof: compare with a model that cannot have seen "
    "either set, and check whether it shows the difference too.",
    "The absence of a difference proves nothing either: the model may have seen both sets, or neither.",
)


@dataclass(frozen=True, slots=True)
class Summary:
    """A measure over a set. The limits are those of 95 % confidence for the mean; None for fewer than two."""

    n: int
    mean: float
    median: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class MeasureComparison:
    """A measure over both sets."""

    measure: str
    a: Summary
    b: Summary
    difference: float
    """The mean of a minus that of b: below 0 where a surprises less."""
    low: float | None
    high: float | None
    share: float
    """The share of pairs of a text of a and one of b in which that of a is lower; ties count half."""
    p: float
    """Probability of so uneven a share in either direction, if both sets are alike."""

    @property
    def lower(self) -> str | None:
        """``a`` or ``b``, whichever surprises less; None where chance can explain the difference."""
        if self.p >= SIGNIFICANT:
            return None
        return "a" if self.share > 0.5 else "b"


def compare_sets(a: Sequence[TextMeasure], b: Sequence[TextMeasure]) -> tuple[MeasureComparison, ...]:
    """Compare two sets, neither of them empty, by each measure. The order of the texts does not matter."""
    comparisons = []
    for name, value in MEASURES.items():
        # Sorted, because the draws of the bootstrap and float sums depend on the order.
        values_a, values_b = sorted(map(value, a)), sorted(map(value, b))
        means_a, means_b = _bootstrap_means(values_a, seed=0), _bootstrap_means(values_b, seed=1)
        summary_a, summary_b = _summarize(values_a, means_a), _summarize(values_b, means_b)
        differences = [one - other for one, other in zip(means_a, means_b, strict=True)]
        low, high = _compute_interval(differences, min(len(a), len(b)))
        difference = summary_a.mean - summary_b.mean
        share, p = rank_test(values_a, values_b)
        comparisons.append(MeasureComparison(name, summary_a, summary_b, difference, low, high, share, p))
    return tuple(comparisons)


def _summarize(values: Sequence[float], means: Sequence[float]) -> Summary:
    return Summary(len(values), fmean(values), median(values), *_compute_interval(means, len(values)))


def _bootstrap_means(values: Sequence[float], seed: int) -> list[float]:
    """Resample the values with replacement many times and return the means."""
    chance, n = Random(seed), len(values)  # noqa: S311 - no secret
    return [sum(chance.choices(values, k=n)) / n for _ in range(_DRAWS)]


def _compute_interval(means: Sequence[float], n: int) -> tuple[float | None, float | None]:
    if n < 2:
        return None, None
    cuts = quantiles(means, n=40, method="inclusive")
    return cuts[0], cuts[-1]


def rank_test(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Compute the share of pairs in which the value of ``a`` is the lower one, and its two-sided p."""
    sorted_b = sorted(b)
    lower = sum(len(b) - (bisect_left(sorted_b, value) + bisect_right(sorted_b, value)) / 2 for value in a)
    pairs, total = len(a) * len(b), len(a) + len(b)
    ties = Counter([*a, *b]).values()
    # If all values are equal, nothing varies.
    spread = total + 1 - sum(tie**3 - tie for tie in ties) / (total * max(1, total - 1))
    if spread <= 0:
        return lower / pairs, 1.0
    # The correction for continuity must not change the sign.
    z = max(0.0, abs(lower - pairs / 2) - 0.5) / math.sqrt(pairs * spread / 12)
    return lower / pairs, math.erfc(z / math.sqrt(2))


def describe_finding(comparisons: Sequence[MeasureComparison], a: str, b: str) -> str:
    """Describe the result of all measures together in a sentence or two."""
    ps = "by ranks, " + ", ".join(
        f"{each.measure} {'p < 0.0001' if each.p < 1e-4 else f'p = {each.p:.2g}'}" for each in comparisons
    )
    lower = {comparison.lower for comparison in comparisons}
    if lower == {None}:
        return (
            f"Chance can explain the difference between {a} and {b} ({ps}): there is no sign that "
            f"the model knows one better."
        )
    if len(lower) > 1:
        return f"The two measures disagree ({ps}), so nothing can be concluded."
    known_set, other = (a, b) if lower == {"a"} else (b, a)
    return (
        f"{known_set} surprises the model less than {other} does, by both measures and by more "
        f"than chance ({ps}). Training on {known_set} would explain this, but other causes are "
        f"possible."
    )


_LEAST = -700.0
"""About the least log-probability of a number that a float can hold. Lower ones stand for *impossible*: vLLM
writes -9999 for minus infinity."""

_ROUNDING = 1e-3


@dataclass(frozen=True, slots=True)
class TextMeasure:
    """The measures of one text."""

    entry: str
    """``suite:id`` of the entry, the first one where several have the same text."""
    category: str
    characters: int
    tokens: int
    """Tokens with a probability."""
    nats: float
    """Negative log-likelihood of the text."""

    @property
    def perplexity(self) -> float:
        """e to the mean negative log-likelihood of a token."""
        return math.exp(self.nats / self.tokens)

    @property
    def nats_per_character(self) -> float:
        """Negative log-likelihood by the number of characters."""
        return self.nats / self.characters


def build_text(entry: Entry, *, functions: bool = False) -> str:
    """Build the measured text of an entry; empty where the user says nothing."""
    user_texts = entry.user_texts
    docs = [
        json.dumps(
            {"name": doc.name, "description": doc.description, "parameters": doc.shown_schema},
            ensure_ascii=False,
        )
        for doc in entry.functions
    ]
    return "\n".join([*docs, *user_texts] if functions and any(user_texts) else user_texts)


def collect_distinct_texts(entries: Iterable[Entry], *, functions: bool = False) -> dict[str, Entry]:
    """Map each text to the first entry that has it, because a repeated text adds no information."""
    entries_by_text: dict[str, Entry] = {}
    for entry in entries:
        if (text := build_text(entry, functions=functions)).strip():
            entries_by_text.setdefault(text, entry)
    return entries_by_text


def measure_text(entry: Entry, text: str, logprobs: Sequence[float | None]) -> TextMeasure:
    """Measure a text by the log-probabilities of its tokens, the first of which may have none.

    Raises ``NotScoredError`` where they are no log-probabilities or too few.
    """
    # Some endpoints write 0 for the first token instead of null.
    known_logprobs = logprobs[1:] if logprobs and not logprobs[0] else logprobs
    if not known_logprobs:
        raise NotScoredError("too_short", "no token has a probability")
    values: list[float] = []
    for place, value in enumerate(known_logprobs, 1 + len(logprobs) - len(known_logprobs)):
        if value is None:
            raise NotScoredError("no_logprobs", f"token {place} of {len(logprobs)} has no probability")
        if not _LEAST <= value <= _ROUNDING:
            raise NotScoredError(
                "no_number", f"the log-probability of token {place} of {len(logprobs)} is {value:g}"
            )
        values.append(value)
    return TextMeasure(entry.key, entry.category.name, len(text), len(values), max(0.0, -math.fsum(values)))


FORMATS = (".html", ".csv", ".json")


@dataclass(frozen=True, slots=True)
class Study:
    """A study of two sets: measures, texts without measures, and the comparison."""

    model: str
    endpoint: str
    what: str
    """The part of an entry that was measured, for a sentence."""
    sets: Mapping[str, Sequence[TextMeasure]]
    unmeasured: Mapping[str, NotScoredError]
    """The errors of texts without measures, by entry."""
    compared: tuple[MeasureComparison, ...]
    """The comparisons of both sets, one for each measure."""

    @property
    def title(self) -> str:
        """The title of tables and files."""
        return make_printable(f"How surprising {self.what} are to {self.model}")


def tabulate_study(study: Study) -> Table:
    """Tabulate the comparison, with notes on what it shows and what it does not."""
    a, b = study.sets
    rows: list[tuple[str, ...]] = []
    for comparison in study.compared:
        for name, summary in ((a, comparison.a), (b, comparison.b)):
            interval = _format_interval(summary.low, summary.high)
            numbers = (f"{summary.n}", f"{summary.mean:.3f}", interval, f"{summary.median:.3f}")
            rows.append((comparison.measure, name, *numbers))
        interval = _format_interval(comparison.low, comparison.high)
        rows.append((comparison.measure, "difference", "", f"{comparison.difference:.3f}", interval, ""))
    shares = ", ".join(f"{comparison.share:.1%} by {comparison.measure}" for comparison in study.compared)
    columns = ("measure", "set", "texts", "mean", "95% interval", "median")
    notes = (
        "A text that occurs in several entries of a set counts once.",
        f"Of all pairs of a text of {a} and a text of {b}, the model finds that of {a} less surprising in "
        f"{shares}.",
        describe_finding(study.compared, a, b),
        *LIMITS,
    )
    return Table(study.title, columns, tuple(rows), notes, frozenset({"set"}))


def _format_interval(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def tabulate_texts(study: Study) -> Table:
    """Tabulate the measures of each text."""
    columns = ("set", "entry", "category", "characters", "tokens", "perplexity", "nats per character")
    rows = tuple(
        (
            *(name, each.entry, each.category, str(each.characters), str(each.tokens)),
            *(f"{each.perplexity:.6g}", f"{each.nats_per_character:.6g}"),
        )
        for name, measures in study.sets.items()
        for each in measures
    )
    return Table("", columns, rows)


def render_study(study: Study, path: Path) -> str:
    """Render the study in the format of ``FORMATS`` that the ending of the path names."""
    if path.suffix == ".csv":
        return "".join(f"{line}\n" for line in tables.render_csv(tabulate_texts(study)))
    if path.suffix == ".json":
        document = {
            "schema": "fcbench-contamination/1",
            "model": study.model,
            "endpoint": study.endpoint,
            "text": study.what,
            "sets": list(study.sets),
            "comparisons": [asdict(each) | {"lower": each.lower} for each in study.compared],
            "finding": describe_finding(study.compared, *study.sets),
            "limits": list(LIMITS),
            "texts": {
                name: [
                    asdict(each)
                    | {"perplexity": each.perplexity, "nats_per_character": each.nats_per_character}
                    for each in measures
                ]
                for name, measures in study.sets.items()
            },
            "unmeasured": {
                entry: {"cause": error.cause, "reason": error.reason}
                for entry, error in study.unmeasured.items()
            },
        }
        return json.dumps(document, indent=1)
    places = {
        name: [(measure.nats_per_character, measure.perplexity) for measure in measures]
        for name, measures in study.sets.items()
    }
    caption = f"Perplexity against nats per character, {' and '.join(places)}; a mark for each text."
    chart = draw_perplexities(places, caption)
    page = table_formats.render_page(study.title, [replace(tabulate_study(study), title="")], [chart])
    return "".join(f"{line}\n" for line in page)


_SHOWN = 3
"""The most entries that are named for each cause of a missing measurement."""


def describe_unmeasured(errors: Mapping[str, NotScoredError]) -> Iterator[str]:
    """Describe the texts that could not be measured, by cause."""
    for cause, number in Counter(error.cause for error in errors.values()).items():
        yield f"not measured ({cause}): {number}"
        examples = [(entry, error) for entry, error in errors.items() if error.cause == cause][:_SHOWN]
        yield from (f"  {entry}: {error.reason}" for entry, error in examples)
