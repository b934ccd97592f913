"""``fcbench export official``: scorecards as result files, score files and tables of the leaderboard."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

from pytest_fcbench.config.loading import load
from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry, Group
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.text import printable
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import NotScored, Passed
from pytest_fcbench.models.baselines.official_results import as_judged, path_of, row_of, turns_of
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.output_files import write_new
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.aggregate.usage import cost_latency
from pytest_fcbench.scorecard.record import Record, Usage, by_category
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.suites import bfcl
from pytest_fcbench.suites.bfcl import official_rows
from pytest_fcbench.tools.official_export.scores import Answered, Header, line, wrong
from pytest_fcbench.tools.official_export.tables import EXECUTABLE, NA, TABLES, Model, table

_SUITE = bfcl.SOURCE.name
_LONGEST = 200
"""Characters of the name of a folder; file systems take little more."""


HELP = "scorecards in the formats of the official leaderboard"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    formats = parser.add_subparsers(required=True, metavar="FORMAT")
    official = formats.add_parser("official", help="BFCL's result files, score files and tables")
    official.add_argument(
        "scorecards", nargs="+", type=Path, metavar="SCORECARD", help=f"of the suite {_SUITE}"
    )
    official.add_argument(
        "--to", required=True, type=Path, metavar="FOLDER", help="gets result/ID/, score/ID/ and the tables"
    )
    official.add_argument("--force", action="store_true", help="replace what is already there")
    about = official.add_argument_group("about the models", "each once for every scorecard, in their order")
    for flag, metavar, what in (
        ("--as", "ID", "its official id"),
        (
            "--price",
            "IN,OUT",
            "dollars per million tokens; or 'hosted', the official cost of one's own server",
        ),
        ("--title", "TEXT", "its name in the tables"),
        ("--link", "URL", "its page"),
        ("--organization", "TEXT", "who made it"),
        ("--license", "TEXT", "its license"),
    ):
        read = _price if flag == "--price" else str
        about.add_argument(flag, action="append", type=read, metavar=metavar, help=what)


_Pricing: TypeAlias = Callable[[Usage], float | None]
"""What a step costs; None where that is not known."""


def _pricing(price: Price | None, concurrency: int) -> _Pricing:
    if price is None:
        return lambda step: None
    return lambda step: price.of(step.input_tokens, step.output_tokens, step.latency_s, concurrency)


def _price(text: str) -> _Pricing:
    if text == "hosted":
        # Officially a model without a price runs on eight H100 and is asked a hundred things at once.
        return _pricing(Price(hour=23.92), 100)
    try:
        asked, answered = map(float, text.split(","))
    except ValueError:
        asked = answered = -1
    if min(asked, answered) < 0 or not isfinite(asked + answered):
        raise argparse.ArgumentTypeError(f"{text!r} is neither two prices, such as 0.15,0.6, nor 'hosted'")
    return _pricing(Price(asked, answered), 1)


def run_command(chosen: argparse.Namespace) -> int:
    given = [_each(chosen, key) for key in ("as", "price", "title", "link", "organization", "license")]
    exports: dict[str, _Export] = {}
    models: list[Model] = []
    for path, name, price, title, *facts in zip(chosen.scorecards, *given, strict=True):
        export = _export(path, name, price)
        if export.folder in exports:
            raise UsageError(
                f"{path}: another scorecard is of {export.folder!r} too; tell them apart with --as"
            )
        exports[export.folder] = export
        usage = cost_latency(record for record in export.records if CATEGORIES[record.category].scored)
        models.append(Model(title or export.name, export.scores, usage, *(fact or NA for fact in facts)))
    texts = {chosen.to / path: text for export in exports.values() for path, text in export.texts.items()}
    scores = chosen.to / "score"
    executed = any(CATEGORIES[name].group is Group.EXECUTABLE for model in models for name in model.scores)
    columns_of = {**TABLES, **({"data_executable.csv": EXECUTABLE} if executed else {})}
    for name, columns in columns_of.items():
        texts[scores / name] = table(columns, models, next(iter(exports.values())).size_of)
    write_new(texts, force=chosen.force)
    for export in exports.values():
        print(printable(str(export)))
    print(f"{scores}: {', '.join(columns_of)}")
    for note in _notes(models):
        print(note)
    if others := sorted(set(scores.glob("*/**/*_score.json")) - texts.keys()):
        print(f"not in the tables: {len(others)} score files that were there before, such as {others[0]}")
    return 0


def _each(chosen: argparse.Namespace, key: str) -> Sequence[Any]:
    """The values of an option, one for each scorecard."""
    count, given = len(chosen.scorecards), getattr(chosen, key)
    if given and len(given) != count:
        raise UsageError(f"--{key}: given {len(given)} times for {count} scorecards; give it once for each")
    return given or [None] * count


def _notes(models: Sequence[Model]) -> Iterator[str]:
    """Which columns cannot be filled, and what fills them."""
    if any(model.usage.usd is None for model in models):
        yield f"{NA}: Total Cost; neither the scorecard nor --price has a price"
    if any(model.usage.latency_mean_s is None for model in models):
        yield f"{NA}: latencies, which the answers do not have"
    if any(NA in (model.link, model.organization, model.license) for model in models):
        yield f"{NA}: Model Link, Organization, License; give them with --link, --organization, --license"


@dataclass(slots=True)
class _Export:
    """A scorecard in the official formats."""

    name: str
    session: Session
    price: _Pricing
    left_out: Counter[str]
    """How many answers are not exported, by reason."""
    texts: dict[Path, str] = field(default_factory=dict)
    """Files by their path in the folder."""
    scores: dict[str, Header] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    """With the steps that the result files have, and their price."""
    unjudged: list[str] = field(default_factory=list)
    """Categories that have no score file."""
    changed: list[str] = field(default_factory=list)
    """Entries on which the scorecard has another official verdict."""

    @property
    def folder(self) -> str:
        """The name of the model's folders."""
        return self.name.replace("/", "_")

    def add(self, category: Category, records: Sequence[Record]) -> None:
        """Write the files of a category."""
        context = self.session.context
        suite, cache = context.suites[_SUITE], context.settings.cache
        entries = {entry.key: entry for entry in suite.load(category)}
        asked = {f"{_SUITE}:{row[0]}": row[1:] for row in official_rows(cache, category)}
        judged = category.rule.in_score_files
        rows: list[str] = []
        wrongs: list[str] = []
        right: dict[str, list[bool]] = {}
        for record in records:
            entry = entries.get(record.entry)
            transcript = self._transcript(entry)
            if entry is None or transcript is None:
                self.left_out["that do not belong to the entries"] += 1
                continue
            row = row_of(entry, as_judged(transcript))
            rows.append(json.dumps(row))
            self.records.append(replace(record, steps=tuple(self._used(row))))
            if not judged:
                continue
            answered = Answered(entry, transcript, row["result"], *asked[entry.key])
            failure = wrong(answered, self.folder, self.session.environments, self.session.execute)
            wrongs += [line(failure)] if failure else []
            if entry.variation:
                right.setdefault(entry.variation.format.name, []).append(failure is None)
            if isinstance(record.verdicts.official, Passed) is not (failure is None):
                self.changed.append(record.entry)
        if not rows:
            return
        self._write(category, "result", rows)
        if judged:
            header = self.scores[category.name] = Header(len(rows) - len(wrongs), len(rows), _formats(right))
            self._write(category, "score", [line(header.row), *wrongs])
        else:
            self.unjudged.append(category.name)

    def _write(self, category: Category, kind: str, lines: Sequence[str]) -> None:
        path = Path(kind, self.folder) / path_of(category, kind)
        self.texts[path] = "".join(f"{text}\n" for text in lines)

    def _transcript(self, entry: Entry | None) -> Transcript | None:
        try:
            return self.session.transcript(entry) if entry else None
        except NotScoredError:
            return None

    def _used(self, row: Mapping[str, object]) -> Iterator[Usage]:
        for answer in (answer for turn in turns_of(row) for answer in turn):
            used = Usage(answer.latency_s, answer.input_tokens, answer.output_tokens)
            yield replace(used, usd=self.price(used))

    def size_of(self, category: str) -> int:
        """Number of entries of a category in the suite."""
        return self.session.context.selection.size_of(category) if category in CATEGORIES else 0

    def __str__(self) -> str:
        right = sum(header.correct for header in self.scores.values())
        parts = [f"{self.folder}: {len(self.records):,} answers, {right:,} right"]
        if self.left_out:
            parts.append("left out: " + ", ".join(f"{n:,} {why}" for why, n in self.left_out.items()))
        if self.unjudged:
            parts.append(f"results only, officially nobody judged them: {', '.join(self.unjudged)}")
        if self.changed:
            parts.append(
                f"other verdicts than the scorecard's: {len(self.changed):,}, first {self.changed[0]}"
            )
        return "; ".join(parts)


def _formats(right: Mapping[str, Sequence[bool]]) -> Mapping[str, Header]:
    return {name: Header(sum(answers), len(answers)) for name, answers in right.items()}


def _export(path: Path, name: str | None, price: _Pricing | None) -> _Export:
    scorecard = scorecard_files.load(path)
    name = name or _id(scorecard.facts.model)
    if not name.strip("./ ") or not name.isprintable() or len(name) > _LONGEST:
        raise UsageError(f"{path}: {name!r} cannot name a folder; give the model's official id with --as")
    records, left_out = _counted(scorecard)
    facts = scorecard.facts
    export = _Export(
        name, _open_session(scorecard), price or _pricing(facts.price, facts.concurrency or 1), left_out
    )
    for category, part in by_category(records).items():
        export.add(CATEGORIES[category], part)
    if not export.texts:
        raise UsageError(f"{path}: has nothing to export ({export})")
    return export


def _id(label: str) -> str:
    """The id of a model; that of replayed results is the name of their folder."""
    kind, _, path = label.partition(":")
    return Path(path).name if kind == "replay" else label


def _open_session(scorecard: Scorecard) -> Session:
    """The run that gives the answers of a scorecard again. Raises ``UsageError`` where it cannot be one."""
    path, told = scorecard.path, scorecard.facts.suites
    if _SUITE not in told:
        raise UsageError(
            f"{path}: a scorecard of {', '.join(told)}; official formats exist for the suite {_SUITE} only"
        )
    if not any(record.turns for record in scorecard.records):
        raise UsageError(f"{path}: holds no answers, as a baseline does; give the scorecard of the run")
    context = RunContext(load({"model": f"replay:{path}", "suite": [_SUITE]}, None))
    if told[_SUITE].get("pack_hash") != context.suites[_SUITE].pack_sha256:
        version = context.suites[_SUITE].version
        raise UsageError(f"{path}: answers to {_SUITE} {told[_SUITE].get('version')}; here is {version}")
    return Session(context)


def _exported(category: Category) -> bool:
    """Whether a category had official files once."""
    known = category.rule.in_score_files or category.rule.asks_judge
    return known and (category.scored or category.group in (Group.EXECUTABLE, Group.V1, Group.FORMAT))


def _counted(scorecard: Scorecard) -> tuple[list[Record], Counter[str]]:
    """The Records that official files can hold, and how many of the others there are."""
    counted: list[Record] = []
    left_out: Counter[str] = Counter()
    for record in scorecard.records:
        category = CATEGORIES.get(record.category)
        if record.suite != _SUITE:
            left_out[f"of the suite {record.suite}"] += 1
        elif category is None or not _exported(category):
            left_out[f"of {record.category} (no official form)"] += 1
        elif (record.trial or 1) > 1:
            left_out["of further trials"] += 1
        elif isinstance(record.verdicts.official, NotScored):
            left_out["not scored"] += 1
        else:
            counted.append(record)
    return counted, left_out
