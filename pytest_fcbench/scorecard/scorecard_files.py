"""Files of scorecards: those that a run wrote, and baselines made from them.

A baseline is a scorecard without answers, small enough to be committed and with a line for each entry, so
that a diff of two shows which entries changed:

    {"schema": "fcbench-baseline/1", "fcbench": {the section without scores},
     "entries": {"parallel": {"core:parallel_0": "passed",
                              "core:parallel_1": ["failed wrong_count", "passed"], ...}, ...}}

Each entry has its verdict, or those of the official and the corrected profile where they differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from pydantic import TypeAdapter

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.json_values import read_json as read_json
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile, Verdict, Verdicts
from pytest_fcbench.scorecard.aggregate.intervals import Interval
from pytest_fcbench.scorecard.aggregate.scores import ProfileScores, aggregate_scores
from pytest_fcbench.scorecard.aggregate.secondary_scores import count_trials
from pytest_fcbench.scorecard.outlines import Outliner
from pytest_fcbench.scorecard.record import Record, from_json, read_answer, sort_records
from pytest_fcbench.scorecard.run_facts import SCHEMA, RuleOutcome, RunFacts, make_facts_adapter

_TESTS = b'"tests": ['
"""The end of the first line of a report that this project wrote; behind it each test has its own line."""


class ByteRange(NamedTuple):
    """The place of a test in the file of its report, in bytes."""

    offset: int
    length: int


Place: TypeAlias = ByteRange | str
"""The place of a test, or its text where the file has another layout than ours."""


def _make_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make an object of its members. Raises ``ValueError`` for a key that is there twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is used twice")
    return members


def read_report_head(path: Path) -> dict[str, Any]:
    """Read the members that a report has before its tests; other layouts than ours are read as a whole."""
    with path.open("rb") as file:
        line = file.readline().rstrip()
        report: dict[str, Any] = read_json_text(line + b"]}" if line.endswith(_TESTS) else line + file.read())
    return report


def read_report(path: Path, take_test: Callable[[object, Place], object]) -> dict[str, object]:
    """Read a report; hand each of its tests to ``take_test``, and return its members without them.

    So a large one is never in memory as a whole, unless its layout is not ours. Raises ``OSError`` where the
    file cannot be read, ``ValueError`` or ``RecursionError`` where it is no JSON: some tests may have been
    taken by then.
    """
    with path.open("rb") as file:
        line = file.readline()
        if not line.rstrip().endswith(_TESTS):
            report: Any = read_json_text(line + file.read(), object_pairs_hook=_make_members)
            tests = report.get("tests") if isinstance(report, dict) else None
            if isinstance(tests, list):
                report["tests"] = []
                for test in tests:
                    take_test(test, json.dumps(test))
            document: dict[str, object] = report
            return document
        beginning, offset = line, len(line)
        for line in file:
            if line.startswith(b"]"):
                break
            text = line.rstrip().removesuffix(b",")
            take_test(read_json_text(text), ByteRange(offset, len(text)))
            offset += len(line)
        rest = beginning + line + file.read()
        members: dict[str, object] = read_json_text(rest, object_pairs_hook=_make_members)
        return members


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run that was kept, as far as its list shows it."""

    path: Path
    model: str
    profile: str
    suites: tuple[str, ...]
    labels: Mapping[str, str]
    commit: str | None
    narrowed_by: str | None
    """The options that selected a part of the entries; None for a whole run."""
    passed: int
    failed: int
    not_scored: int
    overall: float | None
    """The score by the official formula, or of all entries of a team's own suites; None without all parts."""
    low: float | None
    high: float | None
    """The limits of 95 % confidence of ``overall``."""
    gate: str | None
    """The worst outcome of the gate's rules; None for a run without a gate."""

    @property
    def name(self) -> str:
        """The name of its file without the ending."""
        return self.path.stem

    @property
    def ended(self) -> str:
        """Date and time (UTC) of its end, as people write them; a dash for a file with a name of its own."""
        match = re.match(r"(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)", self.name)
        return "{}-{}-{} {}:{}:{}".format(*match.groups()) if match else "-"

    @property
    def share(self) -> float | None:
        """The share of the scored entries that passed."""
        scored_count = self.passed + self.failed
        return self.passed / scored_count if scored_count else None

    @property
    def interval(self) -> Interval | None:
        """The limits of ``overall``."""
        return None if self.low is None or self.high is None else Interval(self.low, self.high, "")

    @property
    def label_text(self) -> str:
        """Its labels in a line."""
        return ", ".join(f"{key}={value}" for key, value in self.labels.items())


@contextmanager
def open_places(path: Path) -> Iterator[Callable[[Place], str]]:
    """Open a file for reading the text at places in it, as long as the block lasts."""
    with path.open("rb") as file:

        def read_place(place: Place) -> str:
            if isinstance(place, str):
                return place
            file.seek(place.offset)
            return file.read(place.length).decode()

        yield read_place


BASELINE = "fcbench-baseline/1"


@dataclass(frozen=True, slots=True)
class Scorecard:
    """A finished run, read from its file."""

    path: Path
    facts: RunFacts
    records: tuple[Record, ...]
    """Records by category and entry; those of a baseline have no answers, and verdicts without reasons."""
    sizes: Mapping[str, int]
    nodeids: Mapping[str, str] = field(default_factory=dict)
    """The test of each Record by item id; none in a baseline."""
    created_s: float | None = None
    """The end of the run in seconds since 1970; None in a baseline."""
    gate: tuple[RuleOutcome, ...] = ()
    """Outcomes of the gate's rules; empty in a baseline."""
    read_whole: Callable[[Record], Record] = field(default=lambda record: record, compare=False, repr=False)
    """Returns the Record with its answers, where ``records`` are outlines."""
    duration_s: float | None = None
    """The duration of the run in seconds; None in a baseline."""
    exit_code: int | None = None
    """The code with which the run ended; None in a baseline."""

    def size_of(self, category: str) -> int:
        """Return the number of tests of a category in the suites of the run, where that counts."""
        return self.sizes.get(category, 0)

    def scores(self, profile: Profile) -> ProfileScores:
        """Compute the scores under one profile."""
        return aggregate_scores(self.records, profile, self.size_of)


def load_scorecard(path: Path) -> Scorecard:
    """Load a scorecard or a baseline. Raises ``UsageError`` with the file and the fault."""
    return read_scorecard(path, parse_file(path))


TakeTest: TypeAlias = Callable[[Mapping[str, Any], Record | None, Place], object]
"""Takes a test of a report, its whole Record if it has one, and its place in the file."""


def load_outlines(path: Path, take_test: TakeTest = lambda test, record, place: None) -> Scorecard:
    """Load a scorecard with outlines of its Records, or a baseline. Raises ``UsageError``.

    The file is read test by test, so that a large one is never in memory as a whole.
    """
    return load_parted(path, take_test)[0]


def load_parted(path: Path, take_test: TakeTest) -> tuple[Scorecard, Mapping[str, object]]:
    """Load a scorecard as ``load_outlines``; return also the members of its report, without tests."""
    outliner = Outliner()
    test_records: list[tuple[str, Record]] = []

    def take_any_test(test: object, place: Place) -> None:
        if not isinstance(test, Mapping):
            raise TypeError("a test must be an object")
        record_json = test.get("metadata", {}).get("fcbench")
        record = None if record_json is None else from_json(record_json)
        if record is not None:
            test_records.append((str(test["nodeid"]), outliner.outline_record(record)))
        take_test(test, record, place)

    try:
        report = read_report(path, take_any_test)
        return read_scorecard(path, report, test_records), report
    except OSError as error:
        raise _refuse_unreadable(path, error) from None
    except _FAULTS as error:
        # Read at once, a file is refused with a message that names its fault.
        load_scorecard(path)
        # A test may be missing between two commas, which is no fault of JSON as a whole.
        raise UsageError(f"{path}: invalid scorecard: {error}; {_WAY_OUT}") from None


def open_scorecard(path: Path, opened: ExitStack) -> Scorecard:
    """Load outlines of a scorecard whose answers are read from its file as long as ``opened`` is open.

    Raises ``UsageError``, also where an answer cannot be read, before anything is rendered.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        # A pipe can be read once only.
        card = load_scorecard(path)
        for record in card.records:
            _check_answers(path, record)
        return card
    places: dict[str, Place] = {}

    def take_test(test: Mapping[str, Any], record: Record | None, place: Place) -> None:
        if record is not None:
            _check_answers(path, record)
            places[record.item_id] = place

    card = load_outlines(path, take_test)
    read_place = opened.enter_context(open_places(path))

    def read_whole(record: Record) -> Record:
        # A baseline has no answers.
        place = places.get(record.item_id)
        return from_json(read_json_text(read_place(place))["metadata"]["fcbench"]) if place else record

    return replace(card, read_whole=read_whole)


def _check_answers(path: Path, record: Record) -> None:
    """Raise ``UsageError`` where an answer cannot be read."""
    try:
        for answer in record.answers:
            read_answer(answer)
    except (KeyError, TypeError, ValueError) as error:
        trouble = f"an answer of {record.item_id}: {error!r}"
        raise UsageError(f"{path}: invalid scorecard: {trouble}; {_WAY_OUT}") from None


_FAULTS = (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
"""Any file can be given by mistake. What broken ones raise was found by fuzzing."""
_WAY_OUT = "give the scorecard.json of a benchmark run"


def read_scorecard(
    path: Path, document: object, test_records: Iterable[tuple[str, Record]] | None = None
) -> Scorecard:
    """Read the scorecard of a parsed file. Raises ``UsageError``.

    ``test_records`` has the node ids and Records of the tests, where they were read before.
    """
    try:
        if not isinstance(document, Mapping) or not isinstance(document.get("fcbench"), Mapping):
            raise UsageError(f"{path}: not a scorecard: section 'fcbench' is missing; {_WAY_OUT}")
        section = document["fcbench"]
        nodeids: dict[str, str] = {}
        # The section of a baseline has no schema of its own, so the file's own is read first.
        if document.get("schema") == BASELINE:
            records = list(_read_baseline(section, document["entries"]))
        elif section.get("schema") == SCHEMA:
            # Tests of the user's own stand in the same report and carry no record.
            pairs = [(test["nodeid"], test.get("metadata", {}).get("fcbench")) for test in document["tests"]]
            if test_records is None:
                test_records = [(str(name), from_json(each)) for name, each in pairs if each is not None]
            nodeids = {record.item_id: name for name, record in test_records}
            records = [record for _, record in test_records]
        else:
            version = document.get("schema", section.get("schema"))
            raise UsageError(
                f"{path}: unknown schema {version!r}; this version reads {SCHEMA!r} and {BASELINE!r}, "
                "so use the version of fcbench that wrote the file"
            )
        facts = read_json(make_facts_adapter(), section)
        section_sizes = section.get("sizes", {})
        sizes = {name: size for name, size in section_sizes.items() if isinstance(size, int) and size >= 0}
        if len(sizes) < len(section_sizes):
            raise TypeError("'sizes' must be an object that maps categories to numbers of tests")
        creation_time, duration, code = map(document.get, ("created", "duration", "exitcode"))
        outcome_adapter = TypeAdapter(RuleOutcome)
        return Scorecard(
            path,
            facts,
            # Records are looked up by item id later on, so each id stands once.
            tuple(sort_records({record.item_id: record for record in records}.values())),
            sizes,
            nodeids,
            float(creation_time) if isinstance(creation_time, (int, float)) else None,
            tuple(read_json(outcome_adapter, outcome) for outcome in section.get("gate", [])),
            duration_s=float(duration)
            if isinstance(duration, (int, float)) and 0 <= duration < 1e9
            else None,
            exit_code=code if isinstance(code, int) and 0 <= code < 256 else None,
        )
    except _FAULTS as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise UsageError(f"{path}: invalid scorecard: {what}; {_WAY_OUT}") from None


def parse_file(path: Path) -> object:
    """Parse a file as JSON. Raises ``UsageError``."""
    try:
        # As bytes, of which json finds out the encoding: some editors begin a file with a mark.
        document: object = read_json_text(path.read_bytes(), object_pairs_hook=_make_members)
    except OSError as error:
        raise _refuse_unreadable(path, error) from None
    # Deep nesting ends json's recursion; texts that are not UTF-8 and numbers too long are ValueErrors.
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON: {error}") from None
    return document


def _refuse_unreadable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path}: cannot be read: {error.strerror}; give the path of a readable file")


def write_baseline(scorecard: Scorecard) -> str:
    """Write the text of a baseline."""
    plain_facts = replace(scorecard.facts, notes=(), earlier=(), against=None, noise=None)
    facts = make_facts_adapter().dump_python(plain_facts, warnings=False)
    trials, entries = count_trials(scorecard.records), dict[str, dict[str, object]]()
    for record in scorecard.records:
        both = [name_verdict(record.verdict(profile)) for profile in Profile]
        # Of several trials a run that was cut short may have the first one only.
        name = record.item_id if trials > 1 else record.entry
        entries.setdefault(record.category, {})[name] = both[0] if both[0] == both[1] else both
    document = {
        "schema": BASELINE,
        "fcbench": facts | {"trials": trials, "sizes": dict(scorecard.sizes)},
        "entries": entries,
    }
    # json cannot indent only the outer levels, and a diff should show one entry a line.
    return _PAIR.sub(r"[\1, \2]", json.dumps(document, indent=1)) + "\n"


_PAIR = re.compile(r'\[\s+("[^"\\]*"),\s+("[^"\\]*")\s+\]')
"""Two texts in a list, which the writer puts on lines of their own."""


def name_verdict(verdict: Verdict) -> str:
    """Write a verdict without its reason: ``passed``, ``failed wrong_count``, ``not_scored timeout``."""
    match verdict:
        case Passed():
            return verdict.status
        case Failed(code=code):
            return f"{verdict.status} {code}"
        case NotScored(cause=cause):
            return f"{verdict.status} {cause}"


def _read_baseline(
    section: Mapping[str, object], entries: Mapping[str, Mapping[str, object]]
) -> Iterator[Record]:
    """Read the Records of a baseline."""
    several = section["trials"] != 1
    for category, verdicts in entries.items():
        group = CATEGORIES[category].group.value if category in CATEGORIES else category
        for item_id, words in verdicts.items():
            # Without trials an id may well end in "-t2" by itself.
            entry, _, trial = item_id.rpartition("-t") if several else (item_id, "", "")
            official_word, corrected_word = words if isinstance(words, list) else (words, words)
            yield Record(
                entry=entry,
                suite=entry.partition(":")[0],
                category=category,
                group=group,
                model=str(section["model"]),
                mode=str(section["mode"]),
                names=str(section["names"]),
                syntax=str(section["syntax"]),
                verdicts=Verdicts(_read_verdict(official_word), _read_verdict(corrected_word)),
                trial=int(trial) if several else None,
            )


def _read_verdict(word: object) -> Verdict:
    status, _, code = str(word).partition(" ")
    match status:
        case "passed":
            return Passed()
        case "failed":
            return Failed(code, "")
        case "not_scored":
            return NotScored(code, "")
    raise ValueError(f"unknown verdict {word!r}")
