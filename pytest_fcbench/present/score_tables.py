"""Tables of a run: scores, cost, trials, calls along golden paths, prompt formats, and other figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_fcbench.domain.text import name_few
from pytest_fcbench.domain.verdict import OTHER_RULES, Difference, NotScored, Profile
from pytest_fcbench.present.tables import Table
from pytest_fcbench.present.wording import (
    describe_bill,
    format_dollars,
    format_limits,
    format_number,
    select_outermost,
)
from pytest_fcbench.scorecard.aggregate import golden_paths, secondary_scores
from pytest_fcbench.scorecard.aggregate.answer_statistics import (
    CostLatency,
    measure_beside_records,
    measure_bill,
    measure_usage,
)
from pytest_fcbench.scorecard.aggregate.call_counts import count_stream_differences, sum_calls_by_category
from pytest_fcbench.scorecard.aggregate.format_sensitivity import Sensitivity, measure_sensitivity
from pytest_fcbench.scorecard.aggregate.pressure import measure_pressure
from pytest_fcbench.scorecard.aggregate.scores import (
    ALL,
    TRAINED,
    ProfileScores,
    SizeOf,
    aggregate_scores,
    score_strata,
    score_untrained,
)
from pytest_fcbench.scorecard.aggregate.server_checks import SERVER_CHECKS, count_checks, is_check
from pytest_fcbench.scorecard.record import EarlierConversation, Record, group_by_category
from pytest_fcbench.scorecard.run_facts import RunFacts

_MANY = 12
"""The most categories of which each has a row where a table is folded."""
_NAME = 23
"""The width of the column of names in the first tables of a run: that of the longest category."""


def tabulate_scores(
    facts: RunFacts,
    scores: Mapping[Profile, ProfileScores],
    describe_change: Callable[[str], str] | None = None,
    *,
    is_folded: bool = False,
) -> Table:
    """Tabulate accuracies of both profiles, with counts and intervals; ``describe_change`` adds a column.

    Where ``is_folded`` and there are many categories, those that count in a group are left to it.
    """
    # Conversations follow one profile's rules; under the other, entries may have no verdict.
    counts, own = facts.driven.profile if facts.driven else facts.profile, scores[facts.profile]
    # Checks of the server have a table of their own.
    names = [name for name in dict.fromkeys((*own.categories, *own.names)) if name not in SERVER_CHECKS]
    if is_folded and len(own.categories) > _MANY:
        names = select_outermost(names)
    rows: list[tuple[str, ...]] = []
    breaks = set()
    for name in names:
        counted, *both = (scores[each].find_score(name) for each in (counts, *Profile))
        measured = own.find_score(name)
        if name in ("overall", ALL) or (
            rows and rows[-1][0] in own.categories and name not in own.categories
        ):
            breaks.add(len(rows))
        limits = measured.interval if measured else None
        numbers = [getattr(counted, each, None) for each in ("n", "passed", "failed", "not_scored")]
        rows.append(
            (
                *(name, *map(format_number, numbers)),
                *(format_number(score.accuracy if score else None, ".2%") for score in both),
                format_limits(limits and replace(limits, clusters=None)),
                *((describe_change(name),) if describe_change else ()),
            )
        )
    few = [
        f"{name} {score.interval.clusters}"
        for name in names
        if (score := own.find_score(name)) and score.interval and score.interval.clusters
    ]
    whose = f"counts are of the {counts} profile, intervals of the {facts.profile} profile"
    columns = ("entries", "passed", "failed", "not scored", *Profile, "95% interval")
    return Table(
        f"{facts.model} ({facts.mode})",
        ("", *columns, *(("change",) if describe_change else ())),
        tuple(rows),
        (
            *((f"wide intervals, because the entries are in few clusters: {', '.join(few)}",) if few else ()),
            f"counts and intervals are of the {counts} profile" if counts is facts.profile else whose,
        ),
        # Shares and what was not scored stay longest.
        optional=("passed", "failed", "corrected", "not scored"),
        breaks=frozenset(breaks),
        least=_NAME,
    )


USAGE: Mapping[str, Callable[[CostLatency], str]] = {
    "calls": lambda used: format_number(used.steps, ",d"),
    "tokens in": lambda used: format_number(used.input_tokens, ",d"),
    "tokens out": lambda used: format_number(used.output_tokens, ",d"),
    "$": lambda used: format_dollars(used.usd),
    "$/1,000": lambda used: format_dollars(used.usd_per_1000_calls),
    "mean s": lambda used: format_number(used.latency_mean_s, ".2f"),
    "std s": lambda used: format_number(used.latency_std_s, ".2f"),
    "p50 s": lambda used: format_number(used.latency_p50_s, ".2f"),
    "p95 s": lambda used: format_number(used.latency_p95_s, ".2f"),
}
"""The cells of tables of cost and latency, by column."""


def tabulate_usage(title: str, rows: Mapping[str, CostLatency], notes: Iterable[str] = ()) -> Table:
    """Tabulate calls, tokens, dollars (also of 1,000 calls) and seconds of a call."""
    cells = tuple((name, *(cell(used) for cell in USAGE.values())) for name, used in rows.items())
    optional = ("$/1,000", "std s", "p50 s", "tokens in", "mean s")
    return Table(title, ("", *USAGE), cells, tuple(notes), optional=optional, least=_NAME, is_detail=True)


def tabulate_run_usage(records: Sequence[Record], earlier: Sequence[EarlierConversation]) -> Table | None:
    """Tabulate cost and latency by category, of the run and of its other parties; None without a call."""
    bill = measure_bill(records, earlier)
    others = measure_beside_records(records, earlier)
    if not bill.steps:
        return None
    parts = group_by_category(record for record in records if not is_check(record))
    rows = {name: measure_usage(part) for name, part in parts.items()}
    # A run of checks asks nothing but its endpoint.
    if (own := measure_usage(records)).steps:
        rows["run"] = own
    rows |= others
    return tabulate_usage("cost and latency of calls", rows, describe_bill(bill, others))


def describe_usage(records: Sequence[Record], earlier: Sequence[EarlierConversation]) -> Iterator[str]:
    """Describe in lines what the calls of a run cost and how long they took; nothing where none is known."""
    bill = measure_bill(records, earlier)
    if bill.steps:
        forms = {"calls": "{} calls", "$": "${}", "p50 s": "p50 {} s", "p95 s": "p95 {} s"}
        cells = {form: USAGE[name](bill) for name, form in forms.items()}
        yield ", ".join(form.format(cell) for form, cell in cells.items() if cell != "-")
        yield from describe_bill(bill, measure_beside_records(records, earlier))


_FEW = 10
"""The most entries that a note names."""


def tabulate_trials(records: Sequence[Record], profile: Profile) -> Table | None:
    """Tabulate the trials of each entry by category and of all; None for one trial."""
    trials = secondary_scores.score_trials_by_category(records, profile)
    if not trials:
        return None
    k, whole = trials["all"].k, trials["all"]
    left_out = f"left out, because a trial was not scored or not run: {name_few(whole.left_out, _FEW)}"
    return Table(
        f"trials ({k} of each entry, each counted above; {profile} profile)",
        ("", "entries", "mean", f"pass@{k}", f"pass@{k} 95%", f"pass^{k}", f"pass^{k} 95%", "flip"),
        tuple(
            (
                *(name, str(of.entries), format_number(of.mean, ".2%")),
                format_number(of.pass_at[-1] if of.pass_at else None, ".2%"),
                format_limits(of.pass_at_intervals[-1] if of.pass_at_intervals else None),
                format_number(of.pass_hat[-1] if of.pass_hat else None, ".2%"),
                format_limits(of.pass_hat_intervals[-1] if of.pass_hat_intervals else None),
                format_number(of.flip, ".2%"),
            )
            for name, of in trials.items()
        ),
        (left_out,) if whole.left_out else (),
        legend={
            f"pass@{k}": f"at least one of {k} trials passes",
            f"pass^{k}": f"all {k} trials pass",
            "flip": "trials with different verdicts",
        },
        optional=(f"pass@{k} 95%", f"pass^{k} 95%"),
        least=_NAME,
    )


def tabulate_beside_scores(
    facts: RunFacts, records: Sequence[Record], profile: Profile, size_of: SizeOf
) -> Iterator[Table]:
    """Tabulate what stands beside the scores: checks of the server, strata, turns, ratings and others."""
    tables = (
        tabulate_checks(records),
        tabulate_stream_differences(records),
        tabulate_call_schemas(records),
        tabulate_strata(records, profile),
        tabulate_pressure(records, profile),
        tabulate_untrained(records, profile, size_of),
        tabulate_right_turns(records, profile),
        tabulate_sides(records, profile),
        tabulate_ratings(records, facts.rated_by),
    )
    yield from filter(None, tables)


def tabulate_causes(causes: Mapping[str, Sequence[Record]]) -> Table:
    """Tabulate the failed entries by cause, with an example of each."""
    count = sum(map(len, causes.values()))
    counts = [(cause, len(group), group[0].item_id) for cause, group in causes.items()]
    rows = tuple((cause, f"{n:,}", f"{n / count:.0%}", example) for cause, n, example in counts)
    columns = ("cause", "entries", "share", "for example")
    return Table(f"What failed ({count:,}), by cause", columns, rows, left=frozenset(columns[-1:]))


def tabulate_checks(records: Sequence[Record]) -> Table:
    """Tabulate the checks of the server by severity."""
    return Table(
        "checks of the server (no part of the model's score)",
        ("", "checks", "kept", "broken", "undecided"),
        tuple(
            (name, f"{of.checks:,}", f"{of.kept:,}", f"{of.broken:,}", f"{of.undecided:,}")
            for name, of in count_checks(records).items()
        ),
        legend={"undecided": "the replies do not show what the server does, or none came"},
        least=_NAME,
    )


def tabulate_call_schemas(records: Sequence[Record], *others: Sequence[Record]) -> Table:
    """Tabulate how many calls keep their schemas, of all and of categories, where not all do in each run."""
    counts, *other_counts = map(sum_calls_by_category, (records, *others))
    shown_names = {
        name for each in (counts, *other_counts) for name, of in each.items() if of.valid < of.calls
    }
    return Table(
        "calls that keep their schemas (right or not)",
        ("", "calls", "valid JSON", "known function", "required given", "schema valid"),
        tuple(
            (
                *(name, f"{of.calls:,}"),
                *(f"{each / of.calls:.1%}" for each in (of.valid_json, of.known, of.complete, of.valid)),
            )
            for name, of in counts.items()
            if name in shown_names
        ),
        ("categories whose calls are all valid have no line of their own",),
        optional=("valid JSON", "known function", "required given"),
        least=_NAME,
        is_detail=True,
    )


def tabulate_stream_differences(records: Sequence[Record]) -> Table:
    """Tabulate by part of a reply how often its stream differs, where streams were compared."""
    counts = count_stream_differences(records)
    return Table(
        "streams beside whole replies",
        ("", "replies", "different", "noise"),
        tuple((part, f"{of.replies:,}", f"{of.different:,}", f"{of.noise:,}") for part, of in counts.items()),
        legend={"noise": "equal requests, both whole or both streamed, got different replies too"},
        least=_NAME,
    )


def tabulate_sides(records: Sequence[Record], profile: Profile) -> Table:
    """Tabulate each category and all, where entries have both verdicts."""
    sides = secondary_scores.count_sides_by_category(records, profile)
    return Table(
        f"calls as written (AST) and carried out ({profile} profile)",
        ("", "entries", "both", "AST only", "exec only", "neither", "AST", "execution", "agree"),
        tuple(
            (
                *(name, f"{of.n:,}", f"{of.both:,}", f"{of.ast_only:,}"),
                *(f"{of.execution_only:,}", f"{of.neither:,}"),
                *(format_number(share, ".2%") for share in (of.ast, of.execution, of.agreement)),
            )
            for name, of in sides.items()
        ),
        is_detail=True,
        legend={"AST": "the calls equal the expected ones, argument by argument; this affects no verdict"},
    )


def tabulate_right_turns(records: Sequence[Record], profile: Profile) -> Table:
    """Tabulate each category of conversations."""
    right_turns = secondary_scores.count_right_turns_by_category(records, profile)
    return Table(
        f"turns of conversations ({profile} profile)",
        ("", "conversations", "turns", "right", "share"),
        tuple(
            (name, f"{of.conversations:,}", f"{of.turns:,}", f"{of.right:,}", format_number(of.share, ".1%"))
            for name, of in right_turns.items()
        ),
        is_detail=True,
        legend={
            "right": "the turn's own calls were right, whatever went wrong before; this affects no verdict"
        },
    )


def tabulate_ratings(records: Sequence[Record], judge: str | None) -> Table:
    """Tabulate each category in which a judge was asked."""
    ratings = secondary_scores.summarise_ratings_by_category(records)
    return Table(
        f"replies rated by {judge or 'a judge'} (0 to {secondary_scores.MOST})",
        ("", "rated", "not rated", "mean", "95%", *map(str, range(secondary_scores.MOST + 1))),
        tuple(
            (
                *(name, f"{of.rated:,}", f"{of.not_rated:,}", format_number(of.mean, ".2f")),
                f"{of.interval.low:.2f}-{of.interval.high:.2f}" if of.interval else "-",
                *map(str, of.counts),
            )
            for name, of in ratings.items()
        ),
        ("ratings affect no verdict; the mean leaves out replies that were not rated",),
    )


def tabulate_untrained(records: Sequence[Record], profile: Profile, size_of: SizeOf) -> Table | None:
    """Tabulate both scores of each category that has such entries, and of the run; None without any."""
    without = score_untrained(records, profile, size_of)
    if without is None:
        return None
    whole = aggregate_scores(records, profile, size_of)
    trained_categories = (record.category for record in records if TRAINED in record.marks)
    names = dict.fromkeys((*trained_categories, whole.main))
    return Table(
        f"without entries of the training data ({profile} profile)",
        ("", "entries", "trained", "as run", "without", "95% interval"),
        tuple(
            (
                *(name, f"{score.n:,}", f"{score.n - (rest.n if rest else 0):,}"),
                *(format_number(one.accuracy if one else None, ".2%") for one in (score, rest)),
                format_limits(rest.interval if rest else None),
            )
            for name in names
            if (score := whole.find_score(name))
            for rest in [without.find_score(name)]
        ),
    )


def tabulate_pressure(records: Sequence[Record], profile: Profile) -> Table:
    """Tabulate the scores at each level of pressure, and where they break."""
    rows: list[tuple[str, ...]] = []
    breaks, reasons = set(), []
    for kind, curve in measure_pressure(records, profile).items():
        breaks.add(len(rows))
        for level, of in curve.levels.items():
            counts = f"{of.scored:,}", f"{of.passed:,}", format_number(of.accuracy, ".1%")
            rows.append((f"{kind} {int(level):,}", *counts, format_limits(of.interval)))
        point = curve.breaking_point
        rows.append((f"{kind} breaks at", "", "", point.place, point.limits))
        reasons += [f"{kind}: {point}"] if point.reason else []
    notes = (
        *reasons,
        "a score breaks at the level at which a fitted curve has fallen to half of its value at level 0",
        "the other scores of this run are over all levels",
    )
    columns = ("", "scored", "passed", "share", "95% interval")
    title = f"scores under pressure ({profile} profile)"
    return Table(title, columns, tuple(rows), notes, breaks=frozenset(breaks), least=_NAME)


def tabulate_strata(records: Sequence[Record], profile: Profile) -> Table:
    """Tabulate each stratum of difficulty that an entry has."""
    return Table(
        f"strata of difficulty ({profile} profile)",
        ("", "entries", "scored", "passed", "share", "95% interval"),
        tuple(
            (
                *(name.value, f"{of.n:,}", f"{of.scored:,}", f"{of.passed:,}"),
                *(format_number(of.accuracy, ".1%"), format_limits(of.interval)),
            )
            for name, of in score_strata(records, profile).items()
        ),
        ("an entry is easy with 0 or 1 features that make it hard, medium with 2, hard with 3 or more",),
        is_detail=True,
    )


LEGEND = {
    **dict.fromkeys(("completeness", "correctness"), "mean rating from 0 to 2 (number of ratings)"),
    "beyond": "mean number of steps more than the golden path has, in successful entries",
}
"""The meanings of the columns of golden paths."""


def describe_difference(difference: Difference, format_value: Callable[[object], str]) -> str:
    """Describe how an argument differs from the expected one, its values written by ``format_value``."""
    name = difference.parameter + (f" ({difference.type})" if difference.type else "")
    match difference.kind:
        case "param_missing":
            return f"{name} is missing, expected {format_value(difference.expected)}"
        case "param_hallucination":
            return f"{name} is {format_value(difference.found)}, expected none"
    return f"{name} is {format_value(difference.found)}, expected {format_value(difference.expected)}"


def _format_counts(counts: Mapping[str, int]) -> str:
    """Write classes of errors with their counts."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"


def describe_other_rules(records: Iterable[Record], profile: Profile) -> str | None:
    """Say of how many entries a profile has no verdict, because the other one drove them, or return None."""
    paths = golden_paths.select_golden_paths(records)
    verdicts = [record.verdict(profile) for record in paths]
    other = sum(isinstance(verdict, NotScored) and verdict.cause == OTHER_RULES for verdict in verdicts)
    if not other:
        return None
    return (
        f"no complex score in the {profile} profile: {other:,} of {len(paths):,} conversations were "
        "continued by the other profile's rules; under its own the model would have seen other replies"
    )


def tabulate_calls(records: Sequence[Record], profile: Profile) -> Table | None:
    """Tabulate each category and all of them.

    None where no entry with a golden path was scored, or only a part, because the conversations followed the
    rules of the other profile.
    """
    if describe_other_rules(records, profile):
        return None
    rows = {
        name: path_scores
        for name, path_scores in golden_paths.score_paths_by_category(records, profile).items()
        if path_scores.scored
    }
    if not rows:
        return None
    of = rows["all"]
    notes = [f"failed entries: {_format_counts(of.failures)}; wrong calls: {_format_counts(of.errors)}"]
    # Officially the denominators are fixed, so figures of a part cannot be set beside published ones.
    if golden_paths.is_scored_in_part(golden_paths.select_golden_paths(records), profile):
        notes.append(
            "ComplexFuncBench was scored in part: shares refer to the scored entries; officially "
            "there are 150 entries in each domain, 400 in cross and 1,000 in all"
        )
    return Table(
        f"complex calls ({profile} profile)",
        ("", *PATHS),
        tuple((name, *(cell(found) for cell in PATHS.values())) for name, found in rows.items()),
        tuple(notes),
        legend=LEGEND,
        is_detail=True,
    )


def tabulate_call_details(records: Sequence[Record], profile: Profile) -> Iterator[Table]:
    """Tabulate errors by class, parameters by role, and steps beyond the golden path, where there are any."""
    scores_by_category = golden_paths.score_paths_by_category(records, profile)
    if not scores_by_category:
        return
    of = scores_by_category["all"]
    # Judges and plugins can name errors that the paper does not have.
    classes = (*golden_paths.CLASSES, *sorted({*of.failures, *of.errors} - {*golden_paths.CLASSES}))
    tables = (
        Table(
            f"Errors ({profile} profile)",
            ("error", "failed entries", "share", "wrong calls", "share"),
            tuple(
                (name, *_format_share(of.failures, name), *_format_share(of.errors, name))
                for name in classes
                if name in of.failures or name in of.errors
            ),
        ),
        Table(
            f"Arguments of paired calls by purpose ({profile} profile)",
            ("argument", "wrong", "of", "error rate"),
            tuple(
                (name, f"{wrong.wrong:,}", f"{wrong.of:,}", f"{wrong.rate:.2%}")
                for name, wrong in of.parameters.items()
            ),
        ),
        Table(
            f"Steps beyond the golden path, successful entries ({profile} profile)",
            ("", *golden_paths.BEYOND),
            tuple(
                (name, *(f"{scores.beyond.get(steps, 0):,}" for steps in golden_paths.BEYOND))
                for name, scores in scores_by_category.items()
                if scores.beyond
            ),
        ),
    )
    yield from (table for table in tables if table.rows)


def _format_share(counts: Mapping[str, int], name: str) -> tuple[str, str]:
    count, every = counts.get(name, 0), sum(counts.values())
    return f"{count:,}", format_number(count / every if every else None, ".1%")


def _format_rating(rating: golden_paths.MeanRating) -> str:
    return "-" if rating.mean is None else f"{rating.mean:.2f} ({rating.judged:,})"


CALLS: Mapping[str, Callable[[golden_paths.PathScores], str]] = {
    "right calls": lambda found: f"{found.right:,} of {found.calls:,}",
    "call acc.": lambda found: format_number(found.accuracy, ".2%"),
    "calls 95%": lambda found: format_limits(found.interval and replace(found.interval, clusters=None)),
    "completeness": lambda found: _format_rating(found.completeness),
    "correctness": lambda found: _format_rating(found.correctness),
    "beyond": lambda found: format_number(found.beyond_mean, "+.2f"),
}
"""The cells about calls, by column."""
PATHS: Mapping[str, Callable[[golden_paths.PathScores], str]] = {
    "entries": lambda found: f"{found.scored:,}",
    "success": lambda found: format_number(found.success, ".2%"),
    **CALLS,
}
"""The cells of a table of golden paths, by column."""


_DIMENSIONS = {
    "returned": "return format",
    "tagged": "tool-call tag",
    "docs": "function docs",
    "layout": "prompt",
    "style": "wording",
}


def tabulate_formats(records: Sequence[Record], profile: Profile) -> Iterator[Table]:
    """Tabulate accuracies by format, their spread and the cost of each dimension, if entries were varied.

    Both profiles stand side by side; intervals are those of ``profile``.
    """
    measures = {each: value for each in Profile if (value := measure_sensitivity(records, each))}
    if profile not in measures:
        return
    rows = []
    for prompt_format, own in measures[profile].formats.items():
        # The other profile may have scored nothing in this format, or nothing at all.
        scores = [measures[each].formats.get(prompt_format) if each in measures else None for each in Profile]
        accuracies = (format_number(score.accuracy if score else None, ".2%") for score in scores)
        counts = (f"{own.scored:,}", f"{own.passed:,}")
        rows.append((prompt_format.short, *counts, *accuracies, format_limits(own.interval)))
    yield Table(
        f"format sensitivity: accuracy by prompt format (counts and intervals of the {profile} profile)",
        ("calls as", "scored", "passed", *Profile, "95% interval"),
        tuple(rows),
    )
    yield _tabulate_spread(measures, profile)
    if costs := measures[profile].costs:
        costly = tuple(
            (
                *(_DIMENSIONS[cost.dimension], cost.value, cost.usual),
                *(f"{count:,}" for count in (cost.pairs, cost.gained, cost.lost)),
                f"{100 * cost.difference:+.2f}",
                f"{100 * cost.interval.low:+.2f} to {100 * cost.interval.high:+.2f}",
            )
            for cost in costs
        )
        yield Table(
            f"accuracy that a format costs on the same entries, largest loss first ({profile} profile)",
            ("dimension", "value", "instead of", "pairs", "gained", "lost", "points", "95% interval"),
            costly,
            left=frozenset(("value", "instead of")),
        )


def _tabulate_spread(sensitivities: dict[Profile, Sensitivity], profile: Profile) -> Table:
    own = sensitivities[profile]
    # The variance has no interval of its own: it is the square of the deviation.
    rows = [
        (
            kind,
            *(
                f"{getattr(sensitivities[each], name):.2f}" if each in sensitivities else "-"
                for each in Profile
            ),
            "{:.2f} to {:.2f}".format(*limits) if (limits := getattr(own.intervals, name, None)) else "-",
        )
        for kind, name in (
            ("maximum delta", "max_delta"),
            ("standard deviation", "std"),
            ("variance", "variance"),
        )
    ]
    chance = (
        f"if the format had no influence, the maximum delta would be below "
        f"{format_number(own.max_delta_by_chance, '.2f')} points in 95% of such runs"
    )
    return Table(
        f"differences between formats, in points (intervals of the {profile} profile)",
        ("measure", *Profile, "95% interval"),
        tuple(rows),
        (
            *([f"no intervals: {own.intervals.reason}"] if own.intervals.reason else []),
            *([chance] if own.max_delta_by_chance is not None else []),
        ),
    )
