"""``fcbench audit``: check whether the entries of a suite are sound, and show its distributions.

The exit code is 0 without certain findings, 1 with any, and 4 if the audit could not be done.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from pytest_fcbench.cli.command import OUTPUT, drop_option_prefix
from pytest_fcbench.cli.output import (
    declare_json,
    find_width,
    print_long_lines,
    require_known_endings,
    split_names,
    write_and_report,
)
from pytest_fcbench.cli.run_options import declare_run_options, load_settings, require_at_least
from pytest_fcbench.domain.categories import Category
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import (
    FcbenchError,
    NotScoredError,
    SuiteError,
    UsageError,
    describe_unknown_name,
)
from pytest_fcbench.domain.extras import require_extra
from pytest_fcbench.domain.flaw import Severity
from pytest_fcbench.domain.verdict import NotScored
from pytest_fcbench.mcp_servers.server_pool import ServerPool
from pytest_fcbench.models import sentence_vectors
from pytest_fcbench.present import tables
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.run.run_models import open_own_web
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard.scorecard_files import load_scorecard
from pytest_fcbench.suites import custom
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.tools.audit import checks, distributions, duplicates, page, report, review
from pytest_fcbench.tools.audit.checks import CHECKS
from pytest_fcbench.tools.audit.facts import SuiteFacts
from pytest_fcbench.tools.audit.report import Audit, find_uncounted
from pytest_fcbench.tools.audit.run_verdicts import RunVerdicts, read_scorecard_verdicts, read_verdict_matrix
from pytest_fcbench.tools.audit.training_data import describe_reading

HELP = "find errors in the entries of a suite, and show how they are distributed"
PAGE = "after-a-run"
EXAMPLES = (
    "fcbench audit my_suite",
    "fcbench audit core --weak -o audit.html",
)
_SHOWN = 5
_THRESHOLD = 0.8
# Another code than 1, so that a CI job can tell an audit that failed from one with findings.
_EXIT_NOT_DONE = 4

_RENDER: Mapping[str, Callable[[Audit], str]] = {".json": report.render_json, ".html": page.render_page}


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add("suite", metavar="SUITE", help="name or path of a suite")
    add("--check", action="append", metavar="NAME,…", help=f"run only these checks: {', '.join(CHECKS)}")
    add("--weak", action="store_true", help="also run the checks whose findings are mostly harmless")
    add(
        "--against",
        metavar="SUITE|FILE",
        help="another suite, or training data in JSON Lines, whose questions must not occur in this one",
    )
    add("--mcp", action="store_true", help="start the MCP servers that entries name, and check them too")
    alike = f"report questions that are at least this similar, as ROUGE-L from 0 to 1 (default: {_THRESHOLD})"
    add("--threshold", type=float, default=_THRESHOLD, metavar="R", help=alike)
    shown = f"number of findings to show of each check and severity (default: {_SHOWN})"
    add("--show", type=int, default=_SHOWN, metavar="N", help=shown)
    declare_json(parser)
    add(
        *OUTPUT,
        dest="to",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="write every finding and the distributions as a page (.html) or as data (.json); repeatable",
    )
    add(
        "--results",
        action="extend",
        nargs="+",
        default=[],
        type=Path,
        metavar="PATH",
        help="results of real runs, which show entries that no model passes: folders of published results, "
        "scorecards (.json), tables of verdicts (.csv, .csv.gz)",
    )
    decisions = "file with decisions about findings (default: the review that comes with the package, if any)"
    add("--review", type=Path, metavar="FILE", help=decisions)
    add(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="write the entries that the review sets aside to this file",
    )
    add(
        "--embedding",
        metavar="NAME",
        help="also find questions with the same meaning in other words: minilm (with the extra "
        "'vector') or the folder of such a model",
    )
    declare_run_options(parser, ("category", "config"))


def run_command(chosen: argparse.Namespace) -> int:
    try:
        given = Path(chosen.against or "")
        chosen.training = given if given.suffix == ".jsonl" and not custom.is_suite(given) else None
        if chosen.training:
            chosen.against = None
            print(describe_reading(chosen.training), file=sys.stderr)
        return _audit_suite(chosen)
    except FcbenchError as error:
        text = drop_option_prefix(str(error)) if isinstance(error, UsageError) else error
        print(f"fcbench audit: {text}", file=sys.stderr)
        return _EXIT_NOT_DONE


def _audit_suite(chosen: argparse.Namespace) -> int:
    """Run the checks, print and write what they find, and return the exit code."""
    path = chosen.review or review.find_packaged_review(chosen.suite)
    reviewed = review.read_review(path) if path else None
    unfit = ""
    names = _choose_checks(chosen, reviewed)
    # Checks judge the oracle's answers, which need neither a network nor a key.
    context = RunContext(load_settings(chosen, chosen.suite, "oracle"))
    with ExitStack() as opened:
        session = opened.enter_context(closing(Session(context)))
        own_web = opened.enter_context(open_own_web(context))
        (suite,) = context.suites.values()
        if reviewed and (reviewed.suite, reviewed.version) != (suite.name, suite.version):
            other = f"{reviewed.suite} {reviewed.version}, not of {suite.name} {suite.version}"
            if chosen.review:
                raise UsageError(f"{path} is the review of {other}; give the review of this suite")
            unfit, reviewed = f"review: none; the one of the package is of {other}", None
            _require_review(chosen, reviewed)
        categories = [
            category
            for category in suite.categories
            # Variations repeat the entries of other categories in other formats.
            if not category.varies_others and (not chosen.category or category in context.settings.categories)
        ]
        entries, unread = _load_readable(suite, categories)
        uncounted = find_uncounted(suite.name, entries, unread)
        against: Sequence[Entry] = ()
        if chosen.against:
            # --category narrows only the suite that is audited.
            plain = argparse.Namespace(config=chosen.config)
            (other_suite,) = RunContext(load_settings(plain, chosen.against, "oracle")).suites.values()
            against, missing = _load_readable(other_suite, other_suite.categories)
            unread |= {f"{other_suite.name}:{name}": error for name, error in missing.items()}
        # An audit compares meanings only where it is told by which model.
        vectors = sentence_vectors.load_model(chosen.embedding) if chosen.embedding else None
        servers: ServerPool | None = None
        if chosen.mcp:
            require_extra("mcp", "--mcp")
            servers = opened.enter_context(closing(ServerPool(True, suite.find_folder, immediate=True)))
        facts = SuiteFacts(
            suite,
            entries,
            session.execute,
            session.perform,
            own_web,
            unread,
            against,
            chosen.training,
            threshold=chosen.threshold,
            embed=vectors.embed if vectors else None,
            results=_gather_results(chosen, entries),
            servers=servers,
        )
        # The other checks find nothing where nothing was read, whichever were asked for.
        names = tuple(name for name in CHECKS if name in names or (name == "unreadable" and unread))
        findings = tuple(checks.run_checks(facts, names))
    audit = Audit(
        *(suite.name, suite.version, len(entries), names, findings),
        distributions.count_by_category(entries),
        uncounted,
        duplicates.count_distinct_tasks(entries),
    )
    _report(chosen, audit, reviewed)
    if unfit:
        print(unfit)
    return int(audit.count(Severity.CERTAIN) > 0)


def _choose_checks(chosen: argparse.Namespace, reviewed: review.Review | None) -> tuple[str, ...]:
    """Return the checks that were asked for. Raises ``UsageError`` for any wrong option of the command."""
    named = split_names(chosen.check)
    for name in named:
        if name not in CHECKS:
            raise UsageError(f"--check: {describe_unknown_name('check', name, CHECKS)}")
    if not 0 < chosen.threshold <= 1:
        raise UsageError(f"--threshold {chosen.threshold:g}: must be above 0 and at most 1")
    require_at_least(0, chosen, "show")
    # Missing packages are reported before an audit of minutes, not after it.
    require_known_endings("--output", chosen.to, _RENDER)
    for name in named:
        if (option := CHECKS[name].needs) and not getattr(chosen, option):
            raise UsageError(f"--check {name}: needs {_NEEDED[option]}")
    for path in chosen.results:
        if not path.exists():
            raise UsageError(f"--results {path}: there is no such file or folder")
    if chosen.embedding == "lexical":
        raise UsageError(
            "--embedding lexical: compares words, which every audit does; use minilm or the "
            "folder of such a model"
        )
    if chosen.against == chosen.suite:
        raise UsageError(f"--against {chosen.against}: this is the audited suite itself; name another one")
    _require_review(chosen, reviewed)
    if chosen.ledger and (named or chosen.category):
        raise UsageError(
            "--ledger: needs the findings of all checks and categories; leave out --check and --category"
        )
    return tuple(
        name
        for name, check in CHECKS.items()
        if (name in named if named else chosen.weak or not check.weak)
        and (check.needs is None or getattr(chosen, check.needs) or named)
    )


def _gather_results(chosen: argparse.Namespace, entries: Sequence[Entry]) -> Sequence[RunVerdicts]:
    """Read all runs. Raises ``UsageError`` for one that has no verdict on any of these entries."""
    known = {entry.id for entry in entries}
    found: list[RunVerdicts] = []
    for path in chosen.results:
        runs = _read_results(chosen, path, entries)
        if not any(known & run.passed.keys() for run in runs):
            raise UsageError(
                f"--results {path}: has no verdict on an entry of {chosen.suite} that is audited"
            )
        found += runs
    return found


def _read_results(chosen: argparse.Namespace, path: Path, entries: Sequence[Entry]) -> Sequence[RunVerdicts]:
    """Read the official verdicts of one run or several; a folder of results is judged for them."""
    match path.suffixes:
        case [*_, ".csv"] | [*_, ".csv", ".gz"]:
            return read_verdict_matrix(path)
        case [*_, ".json"]:
            return [read_scorecard_verdicts(load_scorecard(path), entries[0].suite if entries else "")]
    # --category narrows the entries, not the answers.
    plain = argparse.Namespace(config=chosen.config)
    context = RunContext(load_settings(plain, chosen.suite, f"replay:{path}"))
    recorded = context.chosen.recorded
    with closing(Session(context)) as session:
        answered = [entry for entry in entries if recorded and entry.item_id in recorded.answered]
        session.expect(answered)
        passed: dict[str, bool] = {}
        for entry in answered:
            # An answer that cannot be judged says nothing about its entry.
            with suppress(NotScoredError):
                verdict = session.judge(entry, session.transcript(entry)).official
                if not isinstance(verdict, NotScored):
                    passed[entry.id] = verdict.passed
    return [RunVerdicts(path.name, passed)]


_NEEDED = {
    "against": "another suite to compare with; name it with --against",
    "mcp": "leave to start the MCP servers that entries name; give it with --mcp",
    "embedding": "an embedding model; name it with --embedding, e.g. --embedding minilm",
    "results": "results of real runs; name them with --results",
    "training": "training data to compare with; name a .jsonl file with --against",
}
"""The way out where a check lacks what it needs, by the name of its option."""


def _load_readable(suite: Suite, categories: Sequence[Category]) -> tuple[Sequence[Entry], dict[str, str]]:
    """Load the entries of all readable categories; also return the error of each other category."""
    entries: list[Entry] = []
    unread: dict[str, str] = {}
    for category in categories:
        try:
            entries += suite.load(category)
        except SuiteError as error:
            # The check ``unreadable`` reports it, and the other categories are still audited.
            unread[category.name] = str(error)
    return entries, unread


def _require_review(chosen: argparse.Namespace, reviewed: review.Review | None) -> None:
    """Raise ``UsageError`` where a ledger is asked for and no review can give it."""
    if chosen.ledger and not reviewed:
        raise UsageError("--ledger: this suite has no review; name one with --review")


def _report(chosen: argparse.Namespace, audit: Audit, reviewed: review.Review | None) -> None:
    """Print the findings and write the files that were asked for."""
    if chosen.json:
        print(report.render_json(audit))
    else:
        print_long_lines(report.render_lines(audit, chosen.show, find_width()))
        for table in report.tabulate_distributions(audit):
            print_long_lines(("", *tables.render_text(table, find_width())))
        if reviewed:
            left = review.find_undecided(reviewed, audit.findings)
            vanished = review.find_vanished(reviewed, audit.findings)
            # A check that was not run found nothing, which says nothing about decisions on its findings.
            gone = [item for item in vanished if item[0] in audit.checks]
            aside = len(review.build_ledger(reviewed, audit.findings))
            print_long_lines(
                [
                    "",
                    f"review: {aside} entries set aside; {len(left)} certain findings without a decision",
                    *(f"  no decision: {finding.check} {finding.entry}" for finding in left[:_SHOWN]),
                    *(f"  decision without a finding: {check} {entry}" for check, entry in gone[:_SHOWN]),
                ]
            )
    for file in chosen.to:
        write_file(file, f"{_RENDER[file.suffix](audit)}\n")
        if not chosen.json:
            print(f"written to {file}")
    if chosen.ledger and reviewed:
        write_and_report(chosen.ledger, review.write_ledger(reviewed, audit.findings))
