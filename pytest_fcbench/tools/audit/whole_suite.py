"""Checks of a suite as a whole: its files, its ids and servers, and what real runs made of its entries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from statistics import fmean

from pytest_fcbench.codecs.function_docs import openapi
from pytest_fcbench.domain.errors import FcbenchError
from pytest_fcbench.domain.explanation import CERTAIN, HINT, LIKELY, Flaw
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.mcp_servers.open_server import list_tools
from pytest_fcbench.scorecard.aggregate.intervals import correlate_pairs
from pytest_fcbench.tools.audit.findings import SuiteFacts, check


@check("unreadable")
def find_unreadable_categories(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find categories that cannot be read at all, so that no other check looks at them."""
    # Categories of one file have its errors in common.
    first: dict[str, str] = {}
    for category, error_text in facts.unread.items():
        for line in error_text.splitlines():
            first.setdefault(line, category)
    return ((category, Flaw(CERTAIN, line)) for line, category in first.items())


@check("shape")
def find_misshapen_entries(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find entries with too few or too many calls, functions or turns for the rule they are judged by."""
    id_counts: Counter[str] = Counter()
    for entry in facts.entries:
        if id_counts[entry.id]:
            yield entry.id, Flaw(CERTAIN, "the id is used twice", "give each entry an id of its own")
        id_counts[entry.id] += 1
        for flaw in find_kind(entry).find_flaws(entry):
            yield entry.id, flaw


@check("changed_tool")
def find_changed_tools(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find tools that their server offers no longer, or with another description or schema."""
    docs_by_server: dict[str, Mapping[str, FunctionDoc]] = {}
    reported_tools: set[tuple[str, str]] = set()
    for entry in facts.entries:
        if entry.scene is None or entry.scene.server is None:
            continue
        program = entry.scene.server.program.enter_suite(str(facts.suite.find_folder(entry)))
        # Many entries name one server: it is started once, and a flaw is reported at the first entry.
        server = repr(program)
        if server not in docs_by_server:
            docs_by_server[server] = {}
            try:
                tools: list[object] = [*list_tools(program).tools]
                docs_by_server[server] = {doc.name: doc for doc in openapi.read_tools(tools, "its list")}
            except FcbenchError as error:
                yield entry.id, Flaw(CERTAIN, str(error), "correct the server's program, or what it needs")
        for doc in entry.functions if docs_by_server[server] else ():
            now = docs_by_server[server].get(doc.name)
            if (server, doc.name) in reported_tools or now == doc:
                continue
            reported_tools.add((server, doc.name))
            if now is None:
                flaw = Flaw(CERTAIN, f"{doc.name} is not offered any more")
            elif now.given != doc.given:
                flaw = Flaw(CERTAIN, f"{doc.name} has other parameters by now")
            else:
                flaw = Flaw(LIKELY, f"{doc.name} has another description by now")
            yield entry.id, flaw


FEWEST_RUNS = 3
"""The fewest runs by which an entry can count as never passed."""
_PER_EXCEPTION = 50
"""So many runs allow one that passed by chance."""
_FEWEST_CORRELATED, _FEWEST_EACH = 10, 3
"""The fewest runs of a correlation, and of each outcome among them."""
_WEAKEST = -0.15
"""An entry with a lower correlation is reported: over 64 models 11 of 3,770 entries of BFCL."""


@check("never_passed")
def find_entries_never_passed(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find entries that no run passes, one run in fifty excepted."""
    for entry in facts.entries:
        verdicts = [run.passed[entry.id] for run in facts.results if entry.id in run.passed]
        passing_count = sum(verdicts)
        if len(verdicts) >= FEWEST_RUNS and passing_count <= len(verdicts) // _PER_EXCEPTION:
            yield entry.id, Flaw(HINT, f"{passing_count} of {len(verdicts)} runs pass")


@check("inverted")
def find_inverted_entries(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find entries that are passed more often by runs that pass less of the rest of the category."""
    of_category: defaultdict[str, list[str]] = defaultdict(list)
    for entry in facts.entries:
        of_category[entry.category.name].append(entry.id)
    # By place, because two runs can be of one model.
    totals = [
        {
            category: Counter(run.passed[entry] for entry in ids if entry in run.passed)
            for category, ids in of_category.items()
        }
        for run in facts.results
    ]
    for entry in facts.entries:
        points: list[tuple[float, float]] = []
        for run, counts_by_category in zip(facts.results, totals, strict=True):
            counts = counts_by_category[entry.category.name]
            if entry.id in run.passed and counts.total() > 1:
                is_pass = run.passed[entry.id]
                points.append((is_pass, (counts[True] - is_pass) / (counts.total() - 1)))
        with_it, without = ([rest for is_pass, rest in points if is_pass == side] for side in (True, False))
        # Too few points correlate by chance.
        if len(points) < _FEWEST_CORRELATED or min(len(with_it), len(without)) < _FEWEST_EACH:
            continue
        r = correlate_pairs(points).pearson
        if r is not None and r <= _WEAKEST:
            evidence = (
                f"{len(with_it)} of {len(points)} runs pass; they pass {fmean(with_it):.0%} of the rest of "
                f"{entry.category.name}, those that fail {fmean(without):.0%}"
            )
            yield entry.id, Flaw(HINT, evidence)
