"""Decisions about findings, and the ledgers that follow from them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
import yaml

from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.domain.explanation import Severity
from pytest_fcbench.execution.rest_performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.kinds.execution.verdict import list_recorded_replies
from pytest_fcbench.suites import bfcl, core
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.tools.audit import checks, review
from pytest_fcbench.tools.audit.findings import Finding, SuiteFacts
from pytest_fcbench.tools.audit.review import Decision
from tests.cases import each_case

TEXT = """\
suite: mine
version: "1"
package: my-suite
decisions:
  - finding: malformed
    entries: [b, a]
    confirmed: Read.
    decision: set_aside
    reason: "no value: at all"
  - finding: mistyped
    entries: [a, c]
    confirmed: Tried.
    decision: keep
    reason: it passes
"""


def make_finding(check: str, entry: str, severity: Severity = Severity.CERTAIN) -> Finding:
    return Finding(check, entry, severity, "so it is", "do something")


@pytest.fixture
def review_file(tmp_path: Path) -> Path:
    path = tmp_path / "review.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_review_is_read(review_file: Path) -> None:
    read = review.read_review(review_file)
    assert (read.suite, read.version, read.package) == ("mine", "1", "my-suite")
    assert [item.decision for item in read.decisions] == [Decision.SET_ASIDE, Decision.KEEP]
    assert read.decisions[0].entries == ["b", "a"]


def test_the_ledger_has_what_was_decided_and_is_found(review_file: Path) -> None:
    read = review.read_review(review_file)
    findings = [make_finding("malformed", "a"), make_finding("mistyped", "c"), make_finding("mistyped", "b")]
    assert review.build_ledger(read, findings) == {"a": "no value: at all"}
    assert review.build_ledger(read, []) == {}


def test_what_was_read_needs_no_check_that_finds_it(review_file: Path) -> None:
    text = TEXT.replace("finding: malformed", "finding: read").replace(
        "reason: it", "source: an issue\n    reason: it"
    )
    review_file.write_text(text)
    read = review.read_review(review_file)
    assert review.build_ledger(read, []) == dict.fromkeys("ba", "no value: at all")
    assert list(review.find_vanished(read, [])) == [("mistyped", "a"), ("mistyped", "c")]
    assert [item.source for item in read.decisions] == [None, "an issue"]


def test_the_ledger_is_in_the_order_of_the_review_and_reads_back(review_file: Path) -> None:
    read = review.read_review(review_file)
    text = review.write_ledger(read, [make_finding("malformed", "a"), make_finding("malformed", "b")])
    assert text == (
        "# Entries of my-suite 1 that the corrected profile sets aside, and why.\n"
        'b: "no value: at all"\n'
        'a: "no value: at all"\n'
    )
    assert yaml.safe_load(text) == {"a": "no value: at all", "b": "no value: at all"}


@pytest.mark.parametrize(
    "text", ["plain words", "yes", "a: b", "x #y", "- z", "tab\there", "'q'", " pad", "7", "é"]
)
def test_any_text_of_a_ledger_reads_back(review_file: Path, text: str) -> None:
    review_file.write_text(
        TEXT.replace('"no value: at all"', yaml.safe_dump(text, default_style='"').strip())
    )
    ledger = review.write_ledger(review.read_review(review_file), [make_finding("malformed", "a")])
    assert yaml.safe_load(ledger) == {"a": text}


def test_what_is_no_longer_found_and_what_is_not_decided(review_file: Path) -> None:
    read = review.read_review(review_file)
    findings = [
        make_finding("malformed", "b"),
        make_finding("malformed", "a"),
        make_finding("shape", "d"),
        make_finding("shape", "e", Severity.HINT),
        make_finding("mistyped", "a"),
    ]
    assert list(review.find_vanished(read, findings)) == [("mistyped", "c")]
    assert review.find_undecided(read, findings) == [make_finding("shape", "d")]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("finding: mistyped", "finding: mistypd", "unknown finding 'mistypd'. Did you mean 'mistyped'?"),
        ("decision: keep", "decision: kept", "unknown decision 'kept'. Did you mean 'keep'?"),
        ("decision: keep", "decision: set_aside", "a is already set aside by a decision above"),
        ("    reason: it passes\n", "", "has no 'reason'"),
        ("entries: [a, c]", "entries: [1]", "must be text, not int 1; put it in quotes"),
    ],
)
def test_a_review_that_is_wrong_says_where(review_file: Path, old: str, new: str, says: str) -> None:
    review_file.write_text(TEXT.replace(old, new))
    with pytest.raises(SuiteError, match=r"review\.yaml:\d+: ") as caught:
        review.read_review(review_file)
    assert says in str(caught.value)


# The official suite


@pytest.fixture(scope="module")
def bfcl_review() -> review.Review:
    path = review.find_packaged_review("bfcl")
    assert path
    return review.read_review(path)


# A check that has changed is noticed by what was decided; what it finds in another entry, nightly.
@pytest.fixture(
    scope="module",
    params=[False, pytest.param(True, marks=pytest.mark.nightly)],
    ids=["decided entries", "all entries"],
)
def findings(
    request: pytest.FixtureRequest, pack_cache: Path, bfcl_review: review.Review, pool: Pool
) -> list[Finding]:
    """Return what the checks find that the review names."""
    suite = open_suite("bfcl", pack_cache)
    entries = [e for c in suite.categories if not c.varies_others for e in suite.load(c)]
    names = {item.finding for item in bfcl_review.decisions} - {review.READ}
    decided = {entry for item in bfcl_review.decisions for entry in item.entries}
    chosen = entries if request.param else [entry for entry in entries if entry.id in decided]
    compared = {"duplicate", "idle"}  # these look at several entries
    expected = [each for e in chosen for each in list_recorded_replies(e)]
    with closing(Performer(expected)) as performer:
        return [
            *checks.run_checks(SuiteFacts(suite, chosen, pool, performer), sorted(names - compared)),
            *checks.run_checks(SuiteFacts(suite, entries, pool, performer), sorted(compared)),
        ]


@pytest.mark.nightly
def test_the_ledger_of_bfcl_is_that_of_its_review(
    bfcl_review: review.Review, findings: list[Finding]
) -> None:
    ledger = Path(bfcl.__file__).with_name("ledger.yaml")
    assert review.write_ledger(bfcl_review, findings) == ledger.read_text(encoding="utf-8")


@pytest.mark.nightly
def test_every_decision_about_bfcl_is_about_a_finding(
    bfcl_review: review.Review, findings: list[Finding]
) -> None:
    assert list(review.find_vanished(bfcl_review, findings)) == []


@pytest.mark.nightly
def test_every_certain_finding_in_bfcl_is_decided(
    bfcl_review: review.Review, findings: list[Finding]
) -> None:
    assert review.find_undecided(bfcl_review, findings) == []


def test_each_entry_of_core_was_read_and_decided_once() -> None:
    path = review.find_packaged_review("core")
    assert path
    read = review.read_review(path)
    opened = core.open_suite(Path())
    entries = [e.id for c in opened.categories if not c.varies_others for e in opened.load(c)]
    decided = [entry for item in read.decisions for entry in item.entries]
    assert sorted(decided) == sorted(entries)
    assert read.version == opened.version
    assert {(item.finding, item.decision) for item in read.decisions} == {(review.READ, Decision.KEEP)}


KNOWN = {
    "live_simple_106-63-0": "malformed",
    "live_simple_112-68-0": "malformed",
    "live_multiple_862-181-3": "uncallable",
    "live_multiple_964-207-0": "uncallable",
    "live_multiple_507-149-4": "malformed",
    "parallel_multiple_12": "uncallable",
    "parallel_multiple_26": "uncallable",
    "simple_java_36": "refused",
    "simple_java_65": "refused",
    "parallel_96": "greedy_trap",
    "parallel_178": "greedy_trap",
    "parallel_180": "greedy_trap",
}
"""Entries of BFCL that were known to be bad before there was an audit, and what finds them. In
``parallel_158`` two expected calls are the same, so no order of an answer can go wrong."""


@pytest.mark.nightly
@each_case(("entry", "check"), KNOWN.items())
def test_known_bad_entries_of_bfcl_are_found(findings: list[Finding], entry: str, check: str) -> None:
    assert check in {finding.check for finding in findings if finding.entry == entry}
