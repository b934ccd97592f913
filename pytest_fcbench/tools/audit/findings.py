"""Facts about a suite, checks and their findings. A check is declared by a decorator of its function:

    @entry_check("refused")
    def find_refused_truths(facts: Facts, entry: Entry) -> Iterator[Flaw]: ...

``checks.toml`` says what each finds and advises; ``checks.CHECKS`` collects those of all modules.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path

from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.explanation import Flaw, Severity
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting
from pytest_fcbench.domain.tables import read_table
from pytest_fcbench.domain.text import make_printable, shorten_text
from pytest_fcbench.domain.transcript import Party, PathSettings, Transcript, drive_conversation
from pytest_fcbench.domain.verdict import Judgement, NotScored, Profile
from pytest_fcbench.environments import execution as environments
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.environments.world import Embed
from pytest_fcbench.execution.outcomes import Execute, Perform
from pytest_fcbench.judging.text_normalization import standardize
from pytest_fcbench.kinds.kind import ConversationContext, Memories, Resources
from pytest_fcbench.kinds.table import converse, judge
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import Responder, RoutedModel, run_through
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.suites.suite import Suite


@dataclass(frozen=True, slots=True)
class Finding:
    """A single finding of a check."""

    check: str
    """A name of ``checks.CHECKS``."""
    entry: str
    """The id within the suite; the name of a category that cannot be read."""
    severity: Severity
    evidence: str
    """A sentence with the values themselves."""
    advice: str
    """The way to correct it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "evidence", format_on_one_line(self.evidence))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDescription:
    """A row of ``checks.toml``: the words about a check, and when it runs."""

    says: str
    """The common sentence of its findings."""
    advice: str
    weak: bool = False
    """True where most findings are no mistakes, so that the check runs only on request."""
    needs: str | None = None
    """The option of ``fcbench suite audit`` without which there is nothing to compare with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(CheckDescription):
    """A check; calling it yields its findings."""

    name: str
    find: Callable[[SuiteFacts], Iterable[tuple[str, Flaw]]]
    """Yields the id of an entry with each flaw."""

    def __call__(self, facts: SuiteFacts) -> Iterator[Finding]:
        for entry, (severity, evidence, advice) in self.find(facts):
            yield Finding(self.name, entry, severity, evidence, advice or self.advice)


_ROWS = {
    name: row
    for rows in read_table(dict[str, dict[str, CheckDescription]], __file__, "checks.toml").values()
    for name, row in rows.items()
}


def check(name: str) -> Callable[[Callable[[SuiteFacts], Iterable[tuple[str, Flaw]]]], Check]:
    """Declare a check that looks at all entries together."""
    return lambda find: Check(name=name, find=find, **asdict(_ROWS[name]))


def entry_check(name: str) -> Callable[[Callable[[SuiteFacts, Entry], Iterable[Flaw]]], Check]:
    """Declare a check that looks at each entry by itself."""

    def declare(find: Callable[[SuiteFacts, Entry], Iterable[Flaw]]) -> Check:
        def find_all(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
            return ((entry.id, flaw) for entry in facts.entries for flaw in find(facts, entry))

        return check(name)(find_all)

    return declare


def format_on_one_line(text: str) -> str:
    """Make a text from a suite safe for any terminal and page, on one line."""
    return make_printable(text).replace("\n", "\\n")


def format_value(value: object, longest: int = 160) -> str:
    """Format a value for a sentence, cut to so many characters."""
    # Cut before repr, which would write all of a text of megabytes.
    text = repr(value[: longest + 1] if isinstance(value, str) else value)
    return shorten_text(text, longest)


MANNERS = tuple(ModelPresentation("oracle", Prompting.make_default(mode)) for mode in (Mode.FC, Mode.PROMPT))
"""The two manners in which entries are put to models."""


@dataclass(frozen=True)
class SuiteFacts:
    """The facts about a suite that checks look at."""

    suite: Suite
    entries: Sequence[Entry]
    execute: Execute
    perform: Perform
    web: Responder | None = None
    """The tool that answers requests to the suite's own web."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """The reason why a category cannot be read, by its name."""
    against: Sequence[Entry] = ()
    """Entries of another suite."""
    training: Path | None = None
    """A file of training data."""
    threshold: float = 0.8
    """The least ROUGE-L, from 0 to 1, of similar questions."""
    embed: Embed | None = None
    """The embedding of texts as vectors of length 1, if a model for that was named."""
    results: Sequence[RunVerdicts] = ()
    """The verdicts of real runs on the entries."""
    servers: Responder | None = None
    """The tool that carries calls out on MCP servers; None where none may be started."""
    _memories: Mapping[ModelPresentation, Memories] = field(
        default_factory=lambda: {manner: {} for manner in MANNERS}, init=False, repr=False, compare=False
    )
    """The memories that earlier conversations filled, by manner."""

    @cached_property
    def oracle(self) -> Mapping[str, tuple[Judgement, ...]]:
        """The verdicts on the oracle's answers in each manner, by id of the entry."""
        return {
            entry.id: tuple(self.judge_oracle(entry, entry, manner) for manner in MANNERS)
            for entry in self.entries
        }

    def judge_oracle(self, entry: Entry, truth: Entry, manner: ModelPresentation) -> Judgement:
        """Judge an entry by the oracle's answers to another one, whose ground truth is narrower.

        The entry is not scored where it raises an error anywhere. Entries set aside are judged, too.
        """
        try:
            transcript = self._ask_oracle(truth, manner)
            resources = Resources(self.open_environments, self.execute, self.perform)
            return judge(replace(entry, set_aside=None), transcript, resources)
        except Exception as error:  # noqa: BLE001 - what somebody wrote into a suite can break anything
            reason = f"the conversation cannot be replayed: {type(error).__name__}: {error}"
            return Judgement.same_in_both(NotScored("broken", reason))

    def open_environments(self, entry: Entry) -> Environments:
        """Open the environments of an entry in their initial state."""
        return environments.open_environments(entry, self.suite.world)

    def _ask_oracle(self, entry: Entry, manner: ModelPresentation) -> Transcript:
        memories = self._memories[manner]
        # Questions about a memory need the earlier conversations that fill it.
        for earlier in entry.earlier:
            if earlier.key not in memories:
                self._ask_oracle(earlier, manner)
        parties = {Party.OWN_WEB: self.web, Party.SERVER: self.servers}
        others = {party: model for party, model in parties.items() if model}
        oracle = RoutedModel(OracleModel(manner.prompting), others)
        conversation = converse(
            entry, ConversationContext(manner, self.suite, PathSettings(Profile.OFFICIAL), memories)
        )
        return drive_conversation(conversation, lambda request: run_through(oracle.complete(entry, request)))


def standardize_turns(turns: Sequence[Sequence[Message]]) -> str:
    """Join all messages of turns into one text in the matcher's normal form."""
    return standardize(" ".join(message.shown_text for turn in turns for message in turn))


def join_user_messages(entry: Entry) -> str:
    """Join the user's messages in an entry, with line breaks between them."""
    return "\n".join(entry.user_texts)


@dataclass(frozen=True, slots=True)
class RunVerdicts:
    """The verdicts of one run: whether it passed each entry, by id."""

    name: str
    passed: Mapping[str, bool]


def read_verdict_matrix(path: Path) -> list[RunVerdicts]:
    """Read a table of verdicts as CSV, ``.gz`` or not: a row for each entry, a column for each run.

    The first column, ``entry``, has the ids; a cell is 1 (passed), 0 (failed) or empty (not answered).
    Raises ``UsageError`` with the line of any other cell.
    """
    try:
        # Spreadsheets write a byte order mark, and some a blank line at the end.
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig") as file:
            rows = [(number, row) for number, row in enumerate(csv.reader(file), 1) if row]
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: cannot be read as a table of verdicts: {error}; give a CSV file") from None
    _, head = rows[0] if rows else (1, [])
    if head[:1] != ["entry"] or len(head) < 2:
        raise UsageError(f"{path}: the first line must be entry,RUN,… with a name for each run")
    verdicts: list[dict[str, bool]] = [{} for _ in head[1:]]
    for number, (entry, *cells) in rows[1:]:
        if len(cells) != len(verdicts):
            raise UsageError(
                f"{path}:{number}: {len(cells)} verdicts for {len(verdicts)} runs; write a comma for each run"
            )
        for of, cell in zip(verdicts, cells, strict=True):
            if cell not in ("0", "1", ""):
                raise UsageError(f"{path}:{number}: {cell!r} must be 1, 0 or empty")
            if cell:
                of[entry] = cell == "1"
    return [RunVerdicts(name, of) for name, of in zip(head[1:], verdicts, strict=True)]


def read_scorecard_verdicts(card: Scorecard, suite: str) -> RunVerdicts:
    """Read the official verdicts on the entries of a suite; of several trials the last counts."""
    return RunVerdicts(
        card.facts.model,
        {
            record.entry.partition(":")[2]: verdict.passed
            for record in card.records
            if record.suite == suite and not isinstance(verdict := record.verdicts.official, NotScored)
        },
    )
