"""``fcbench audit``: whether the entries of a suite are sound, and how it is spread.

Exit code 0 where nothing certain was found, 1 where something was, 4 where it could not be done.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from pytest_fcbench.cli.command import without_prefix
from pytest_fcbench.cli.commands.show import printable_line
from pytest_fcbench.cli.run_options import declare, require_at_least, settings_of
from pytest_fcbench.cli.table_output import split
from pytest_fcbench.domain import extras
from pytest_fcbench.domain.entry import Category, Entry
from pytest_fcbench.domain.errors import FcbenchError, SuiteError, UsageError, unknown
from pytest_fcbench.models import sentence_vectors
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.model_stack import open_own_web
from pytest_fcbench.run.output_files import write
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard.render import tables
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.tools.audit import checks, distributions, report, review
from pytest_fcbench.tools.audit.checks import CHECKS
from pytest_fcbench.tools.audit.facts import Facts
from pytest_fcbench.tools.audit.findings import Severity
from pytest_fcbench.tools.audit.report import Audit

_SHOWN = 5
_THRESHOLD = 0.8
_USAGE = 4


HELP = "whether the entries of a suite are sound, and how it is spread"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add("suite", metavar="SUITE", help="a suite by name or path")
    add("--check", action="append", metavar="NAME,…", help=f"only these: {', '.join(CHECKS)}")
    add("--weak", action="store_true", help="also the checks whose findings are mostly fine")
    add("--against", metavar="SUITE", help="another suite, whose questions must not occur here")
    add(
        "--threshold",
        type=float,
        default=_THRESHOLD,
        metavar="R",
        help=f"how alike two questions are that are told, ROUGE-L from 0 to 1 (default: {_THRESHOLD})",
    )
    add(
        "--show",
        type=int,
        default=_SHOWN,
        metavar="N",
        help=f"findings to show of each check and severity (default: {_SHOWN})",
    )
    add("--json", type=Path, metavar="FILE", help="write every finding and the distributions there")
    add("--html", type=Path, metavar="FILE", help="write them there as a page")
    add(
        "--review",
        type=Path,
        metavar="FILE",
        help="what people decided about findings (default: ours, if any)",
    )
    add("--ledger", type=Path, metavar="FILE", help="write the entries that the review sets aside there")
    add(
        "--embedding",
        metavar="NAME",
        help="also find questions that mean the same in other words: minilm (with the extra 'vector') or "
        "the folder of such a model",
    )
    declare(parser, ("category", "config"))


def run_command(chosen: argparse.Namespace) -> int:
    try:
        return _audited(chosen)
    except FcbenchError as error:
        told = without_prefix(error) if isinstance(error, UsageError) else error
        print(f"fcbench audit: {told}", file=sys.stderr)
        return _USAGE


def _audited(chosen: argparse.Namespace) -> int:
    names = _checks(chosen)
    path = chosen.review or review.own_review(chosen.suite)
    reviewed = review.read(path) if path else None
    _refuse(chosen, reviewed)
    context = RunContext(settings_of(chosen, chosen.suite, "oracle"))
    with closing(Session(context)) as session, open_own_web(context) as own_web:
        (suite,) = context.suites.values()
        if reviewed and (reviewed.suite, reviewed.version) != (suite.name, suite.version):
            told = f"{reviewed.suite} {reviewed.version}, not of {suite.name} {suite.version}"
            raise UsageError(f"{path} is the review of {told}")
        categories = [
            c
            for c in suite.categories
            if not c.rule.varies_others  # the same entries in other words
            and (not chosen.category or c in context.settings.categories)
        ]
        entries, unread = _entries(suite, categories)
        against: Sequence[Entry] = ()
        if chosen.against:
            other = RunContext(
                settings_of(argparse.Namespace(config=chosen.config), chosen.against, "oracle")
            )
            (other_suite,) = other.suites.values()
            against, _ = _entries(other_suite, other_suite.categories)
        model = sentence_vectors.load(context.settings.embedding)
        facts = Facts(
            suite,
            entries,
            session.execute,
            session.perform,
            own_web,
            unread,
            against,
            threshold=chosen.threshold,
            embed=model.embed if model else None,
        )
        findings = tuple(checks.audit(facts, names))
    audit = Audit(suite.name, suite.version, len(entries), names, findings, distributions.spreads(entries))
    for line in _lines(audit, chosen.show):
        print(printable_line(line))
    if reviewed:
        for line in _told(reviewed, audit):
            print(printable_line(line))
    for file, text in ((chosen.json, report.document), (chosen.html, report.page)):
        if file:
            write(file, f"{text(audit)}\n")
            print(f"written to {file}")
    if chosen.ledger and reviewed:
        write(chosen.ledger, review.written(reviewed, findings))
        print(f"written to {chosen.ledger}")
    return int(audit.count(Severity.CERTAIN) > 0)


def _checks(chosen: argparse.Namespace) -> tuple[str, ...]:
    """The checks that were asked for. Raises ``UsageError``."""
    named = split(chosen.check)
    for name in named:
        if name not in CHECKS:
            raise UsageError(f"--check: {unknown('check', name, CHECKS)}")
    return tuple(
        name
        for name, check in CHECKS.items()
        if (name in named if named else chosen.weak or not check.weak)
        and (check.needs is None or getattr(chosen, check.needs) or named)
    )


def _refuse(chosen: argparse.Namespace, reviewed: review.Review | None) -> None:
    """Find wrong words before anything is read. Raises ``UsageError``."""
    if not 0 < chosen.threshold <= 1:
        raise UsageError(f"--threshold {chosen.threshold:g}: must be above 0 and at most 1")
    require_at_least(0, chosen, "show")
    if chosen.html:
        extras.need("report", "--html")
    if chosen.check and "overlap" in split(chosen.check) and not chosen.against:
        raise UsageError("--check overlap: name the other suite with --against")
    if chosen.embedding == "lexical":
        raise UsageError("--embedding lexical: words are compared anyway; name minilm or the folder of one")
    if chosen.check and "paraphrase" in split(chosen.check) and not chosen.embedding:
        raise UsageError("--check paraphrase: name what says what a text means with --embedding")
    if chosen.against == chosen.suite:
        raise UsageError(f"--against {chosen.against}: is the suite itself; name another one")
    if chosen.ledger and not reviewed:
        raise UsageError("--ledger: there is no review of this suite; name one with --review")
    if chosen.ledger and (chosen.check or chosen.category):
        raise UsageError("--ledger: is made of all checks and categories; leave out --check and --category")


def _entries(suite: Suite, categories: Sequence[Category]) -> tuple[Sequence[Entry], dict[str, str]]:
    """The entries, and by category why others cannot be read."""
    entries: list[Entry] = []
    unread: dict[str, str] = {}
    for category in categories:
        try:
            entries += suite.load(category)
        except SuiteError as error:
            unread[category.name] = str(error)
    return entries, unread


def _lines(audit: Audit, most: int) -> Sequence[str]:
    lines = list(report.lines(audit, most))
    for table in report.spread_tables(audit.spreads):
        lines += ["", *tables.text(table)]
    return lines


def _told(reviewed: review.Review, audit: Audit) -> Sequence[str]:
    """What the review says of the certain findings, and of what is no longer found."""
    left = review.undecided(reviewed, audit.findings)
    gone = [item for item in review.vanished(reviewed, audit.findings) if item[0] in audit.checks]
    aside = review.ledger(reviewed, audit.findings)
    lines = ["", f"review: {len(aside)} entries set aside; {len(left)} certain findings not decided"]
    lines += [f"  not decided: {finding.check} {finding.entry}" for finding in left[:_SHOWN]]
    lines += [f"  decided, but not found: {check} {entry}" for check, entry in gone[:_SHOWN]]
    return lines
