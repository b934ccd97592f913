"""``fcbench suite audit``: check whether the entries of a suite are sound, and show its distributions.

The exit code is 0 without certain findings, 1 with any, and 4 if the audit could not be done.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from pytest_fcbench.cli.options import load_settings
from pytest_fcbench.cli.output import (
    find_width,
    print_long_lines,
    require_known_endings,
    split_names,
    write_and_report,
)
from pytest_fcbench.cli.sessions import load_replay_settings
from pytest_fcbench.domain.entry import Category, Entry
from pytest_fcbench.domain.errors import (
    FcbenchError,
    NotScoredError,
    SuiteError,
    UsageError,
    describe_unknown_name,
)
from pytest_fcbench.domain.explanation import Severity
from pytest_fcbench.domain.registry import require_extra
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
from pytest_fcbench.tools.audit import checks, duplicates, report, review
from pytest_fcbench.tools.audit import strata as distributions
from pytest_fcbench.tools.audit.checks import CHECKS
from pytest_fcbench.tools.audit.findings import (
    RunVerdicts,
    SuiteFacts,
    read_scorecard_verdicts,
    read_verdict_matrix,
)
from pytest_fcbench.tools.audit.report import Audit, find_uncounted
from pytest_fcbench.tools.audit.training_data import describe_reading

_RENDER: Mapping[str, Callable[[Audit], str]] = {".json": report.render_json, ".html": report.render_page}


def run_audit(arguments: argparse.Namespace) -> int:
    try:
        path = Path(arguments.against or "")
        arguments.training = path if path.suffix == ".jsonl" and not custom.is_suite(path) else None
        if arguments.training:
            arguments.against = None
            print(describe_reading(arguments.training), file=sys.stderr)
        return _audit_suite(arguments)
    except FcbenchError as error:
        # An exit code of 1 would mean that there are findings.
        raise UsageError(str(error)) from None


def _audit_suite(arguments: argparse.Namespace) -> int:
    """Run the checks, print and write what they find, and return the exit code."""
    path = arguments.review or review.find_packaged_review(arguments.suite)
    suite_review = review.read_review(path) if path else None
    unfit = ""
    names = _choose_checks(arguments, suite_review)
    # Checks judge the oracle's answers, which need neither a network nor a key.
    context = RunContext(load_settings(arguments, arguments.suite, "oracle"))
    with ExitStack() as stack:
        session = stack.enter_context(closing(Session(context)))
        own_web = stack.enter_context(open_own_web(context))
        (suite,) = context.suites.values()
        if suite_review and (suite_review.suite, suite_review.version) != (suite.name, suite.version):
            other = f"{suite_review.suite} {suite_review.version}, not of {suite.name} {suite.version}"
            if arguments.review:
                raise UsageError(f"{path} is the review of {other}; give the review of this suite")
            unfit, suite_review = f"review: none; the one of the package is of {other}", None
            _require_review(arguments, suite_review)
        categories = [
            category
            for category in suite.categories
            # Variations repeat the entries of other categories in other formats.
            if not category.varies_others
            and (not arguments.category or category in context.settings.categories)
        ]
        entries, unread = _load_readable(suite, categories)
        uncounted_entries = find_uncounted(suite.name, entries, unread)
        against: Sequence[Entry] = ()
        if arguments.against:
            # --category narrows only the suite that is audited.
            plain = argparse.Namespace(config=arguments.config)
            (other_suite,) = RunContext(load_settings(plain, arguments.against, "oracle")).suites.values()
            against, missing = _load_readable(other_suite, other_suite.categories)
            unread |= {f"{other_suite.name}:{name}": error for name, error in missing.items()}
        # An audit compares meanings only where it is told by which model.
        vectors = sentence_vectors.load_model(arguments.embedding) if arguments.embedding else None
        servers: ServerPool | None = None
        if arguments.mcp:
            require_extra("mcp", "--mcp")
            servers = stack.enter_context(closing(ServerPool(True, suite.find_folder, immediate=True)))
        facts = SuiteFacts(
            suite,
            entries,
            session.execute,
            session.perform,
            own_web,
            unread,
            against,
            arguments.training,
            threshold=arguments.threshold,
            embed=vectors.embed if vectors else None,
            results=_gather_results(arguments, entries),
            servers=servers,
        )
        # The other checks find nothing where nothing was read, whichever were asked for.
        names = tuple(name for name in CHECKS if name in names or (name == "unreadable" and unread))
        findings = tuple(checks.run_checks(facts, names))
    audit = Audit(
        *(suite.name, suite.version, len(entries), names, findings),
        distributions.count_by_category(entries),
        uncounted_entries,
        duplicates.count_distinct_tasks(entries),
    )
    _report(arguments, audit, suite_review)
    if unfit:
        print(unfit)
    return int(audit.count(Severity.CERTAIN) > 0)


def _choose_checks(arguments: argparse.Namespace, suite_review: review.Review | None) -> tuple[str, ...]:
    """Return the checks that were asked for. Raises ``UsageError`` for any wrong option of the command."""
    names = split_names(arguments.check)
    for name in names:
        if name not in CHECKS:
            raise UsageError(f"--check: {describe_unknown_name('check', name, CHECKS)}")
    if not 0 < arguments.threshold <= 1:
        raise UsageError(f"--threshold {arguments.threshold:g}: must be above 0 and at most 1")
    # Missing packages are reported before an audit of minutes, not after it.
    require_known_endings("--output", arguments.to, _RENDER)
    for name in names:
        if (option := CHECKS[name].needs) and not getattr(arguments, option):
            raise UsageError(f"--check {name}: needs {_NEEDED[option]}")
    for path in arguments.results:
        if not path.exists():
            raise UsageError(f"--results {path}: there is no such file or folder")
    if arguments.embedding == "lexical":
        raise UsageError(
            "--embedding lexical: compares words, which every audit does; use minilm or the "
            "folder of such a model"
        )
    if arguments.against == arguments.suite:
        raise UsageError(f"--against {arguments.against}: this is the audited suite itself; name another one")
    _require_review(arguments, suite_review)
    if arguments.ledger and (names or arguments.category):
        raise UsageError(
            "--ledger: needs the findings of all checks and categories; leave out --check and --category"
        )
    return tuple(
        name
        for name, check in CHECKS.items()
        if (name in names if names else arguments.weak or not check.weak)
        and (check.needs is None or getattr(arguments, check.needs) or names)
    )


def _gather_results(arguments: argparse.Namespace, entries: Sequence[Entry]) -> Sequence[RunVerdicts]:
    """Read all runs. Raises ``UsageError`` for one that has no verdict on any of these entries."""
    entry_ids = {entry.id for entry in entries}
    all_runs: list[RunVerdicts] = []
    for path in arguments.results:
        runs = _read_results(arguments, path, entries)
        if not any(entry_ids & run.passed.keys() for run in runs):
            raise UsageError(
                f"--results {path}: has no verdict on an entry of {arguments.suite} that is audited"
            )
        all_runs += runs
    return all_runs


def _read_results(
    arguments: argparse.Namespace, path: Path, entries: Sequence[Entry]
) -> Sequence[RunVerdicts]:
    """Read the official verdicts of one run or several; a folder of results is judged for them."""
    match path.suffixes:
        case [*_, ".csv"] | [*_, ".csv", ".gz"]:
            return read_verdict_matrix(path)
        case [*_, ".json"]:
            return [read_scorecard_verdicts(load_scorecard(path), entries[0].suite if entries else "")]
    # --category narrows the entries, not the answers.
    plain = argparse.Namespace(config=arguments.config)
    context = RunContext(load_replay_settings(plain, arguments.suite, path))
    recording = context.chosen.recorded
    with closing(Session(context)) as session:
        answered_entries = [entry for entry in entries if recording and entry.item_id in recording.answered]
        session.expect(answered_entries)
        outcomes: dict[str, bool] = {}
        for entry in answered_entries:
            # An answer that cannot be judged says nothing about its entry.
            with suppress(NotScoredError):
                verdict = session.judge(entry, session.transcript(entry)).official
                if not isinstance(verdict, NotScored):
                    outcomes[entry.id] = verdict.passed
    return [RunVerdicts(path.name, outcomes)]


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


def _require_review(arguments: argparse.Namespace, suite_review: review.Review | None) -> None:
    """Raise ``UsageError`` where a ledger is asked for and no review can give it."""
    if arguments.ledger and not suite_review:
        raise UsageError("--ledger: this suite has no review; name one with --review")


def _report(arguments: argparse.Namespace, audit: Audit, suite_review: review.Review | None) -> None:
    """Print the findings and write the files that were asked for."""
    if arguments.json:
        print(report.render_json(audit))
    else:
        print_long_lines(report.render_lines(audit, arguments.show, find_width()))
        for table in report.tabulate_distributions(audit):
            print_long_lines(("", *tables.render_text(table, find_width())))
        if suite_review:
            print_long_lines(("", *review.describe_review(suite_review, audit.findings, audit.checks)))
    for file in arguments.to:
        write_file(file, f"{_RENDER[file.suffix](audit)}\n")
        if not arguments.json:
            print(f"written to {file}")
    if arguments.ledger and suite_review:
        write_and_report(arguments.ledger, review.write_ledger(suite_review, audit.findings))
