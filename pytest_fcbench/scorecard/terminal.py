"""The scorecard as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import wrap

from pytest_fcbench.scorecard.aggregate import ProfileScores, Score, aggregate
from pytest_fcbench.scorecard.document import RunFacts
from pytest_fcbench.scorecard.formulas import OVERALL
from pytest_fcbench.scorecard.gate import Outcome
from pytest_fcbench.scorecard.records import Record
from pytest_fcbench.verdicts import SET_ASIDE, Failed, NotScored, Profile


def summary(
    facts: RunFacts,
    records: Sequence[Record],
    size_of: Callable[[str], int],
    *,
    width: int,
    most: int,
) -> Iterator[str]:
    """All lines: what was run, the table in both profiles, at most ``most`` failures, what was not scored."""
    scores = {profile: aggregate(records, profile, size_of) for profile in Profile}
    yield from _facts(facts)
    yield ""
    yield from _table(scores)
    yield from _overall(scores[facts.profile], width)
    yield from _failures(records, facts.profile, width=width, most=most)
    yield from _not_scored(records, facts.profile, width=width)


def _facts(facts: RunFacts) -> Iterator[str]:
    yield f"model {facts.model} ({facts.mode}, {facts.names} names), profile {facts.profile}"
    for name, suite in facts.suites.items():
        pack = suite["pack_hash"]
        yield f"suite {name} {suite['version']}" + (f", content sha256 {pack[:12]}" if pack else "")
    for note in facts.notes:
        yield f"note: {note}"


_FEW = 10
"""Up to so many failures are told in full, more in a line each."""

_HEAD = f"{'':<24}{'entries':>8}{'passed':>8}{'failed':>8}{'not scored':>12}{'official':>10}{'corrected':>11}"


def _table(scores: Mapping[Profile, ProfileScores]) -> Iterator[str]:
    official, corrected = scores[Profile.OFFICIAL], scores[Profile.CORRECTED]
    yield _HEAD
    for name, score in official.categories.items():
        yield _row(name, score, corrected.categories[name])
    if official.groups:
        yield "-" * len(_HEAD)
    for name, score in official.groups.items():
        yield _row(name, score, corrected.groups[name])
    yield "-" * len(_HEAD)
    yield _row("overall", official.overall, corrected.overall)


def _row(name: str, official: Score, corrected: Score) -> str:
    partial = "*" if official.missing else ""
    return (
        f"{name + partial:<24}"
        f"{official.n:>8}{official.passed:>8}{official.failed:>8}{official.not_scored:>12}"
        f"{_percent(official.accuracy):>10}{_percent(corrected.accuracy):>11}"
    )


def _percent(accuracy: float | None) -> str:
    return "-" if accuracy is None else f"{accuracy:.2%}"


def _overall(scores: ProfileScores, width: int) -> Iterator[str]:
    yield "counts are those of the official profile"
    if scores.overall.missing:
        whole = [name for name, score in scores.groups.items() if not score.missing]
        weight = sum(share for name, share in OVERALL.items() if name in whole)
        yield f"* official formula: what was not run counts as 0; run in full: {weight:.0%} of the weight"
        yield from _wrapped(f"not run: {', '.join(scores.overall.missing)}", width)


def _failures(records: Sequence[Record], profile: Profile, *, width: int, most: int) -> Iterator[str]:
    failed = [
        (record, verdict) for record in records if isinstance(verdict := record.verdict(profile), Failed)
    ]
    if not failed:
        return
    yield ""
    yield f"failed ({len(failed)}, {profile} profile)"
    codes = Counter(verdict.code for _, verdict in failed)
    yield from _wrapped(", ".join(f"{code} {count}" for code, count in codes.most_common()), width)
    if not most:
        return
    longest = min(max(len(record.entry) for record, _ in failed[:most]), 34)
    for record, verdict in failed[:most]:
        line = f"  {record.entry:<{longest}}  {verdict.reason}"
        if len(failed) > _FEW:
            yield _cut(line, width)
        else:
            yield from wrap(line, width, subsequent_indent=" " * (longest + 4))
    if len(failed) > most:
        yield f"  and {len(failed) - most} more; the JSON report has all, --fcbench-failures=N shows N here"


def _not_scored(records: Sequence[Record], profile: Profile, *, width: int) -> Iterator[str]:
    unscored = [(record, v) for record in records if isinstance(v := record.verdict(profile), NotScored)]
    if not unscored:
        return
    yield ""
    yield f"not scored ({len(unscored)} of {len(records)}, {len(unscored) / len(records):.1%})"
    by_cause: dict[str, list[tuple[Record, NotScored]]] = {}
    for record, verdict in unscored:
        by_cause.setdefault(verdict.cause, []).append((record, verdict))
    for cause, group in by_cause.items():
        shown = group if cause == SET_ASIDE else group[:3]
        yield f"  {cause}: {len(group)}"
        for record, verdict in shown:
            yield _cut(f"    {record.entry}: {verdict.reason}", width)
        if len(group) > len(shown):
            yield f"    and {len(group) - len(shown)} more"


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width, initial_indent="  ", subsequent_indent="  ")


def _cut(line: str, width: int) -> str:
    line = " ".join(line.splitlines())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def gate_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """One line for each rule."""
    for outcome in outcomes:
        yield f"gate {outcome.rule.text}: {outcome.word}: {outcome.sentence}"
