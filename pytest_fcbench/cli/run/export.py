"""``fcbench run export FORMAT``: scorecards in the forms of other tools.

``official`` writes BFCL's result files, score files and tables.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.cli.options import declare_options, declare_rows, read_option_tables, resolve_scorecard
from pytest_fcbench.cli.output import choose_profile, print_lines, require_other_file, write_and_report
from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.domain import registry
from pytest_fcbench.domain.entry import CATEGORIES, Category, Group
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.verdict import NotScored, Passed
from pytest_fcbench.kinds.answered_entry import AnsweredEntry
from pytest_fcbench.models.baselines.result_rows import (
    find_result_path,
    read_turns,
    select_judged_text,
    write_row,
)
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.output_files import make_folder, replace_file, write_new_files
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard.aggregate.answer_statistics import measure_usage
from pytest_fcbench.scorecard.record import Record, Usage, group_by_category
from pytest_fcbench.scorecard.scorecard_files import Scorecard, load_outlines, load_scorecard, open_scorecard
from pytest_fcbench.suites import bfcl
from pytest_fcbench.suites.bfcl import official_rows
from pytest_fcbench.tools.export.formats import FOLDER, FORMATS, ExportFormat, ExportRequest
from pytest_fcbench.tools.export.official_tables import (
    EXECUTABLE,
    NA,
    TABLES,
    Header,
    ModelRow,
    build_score_row,
    write_line,
    write_table,
)


def declare_export(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    formats = parser.add_subparsers(required=True, metavar="FORMAT", title="formats")
    for form in FORMATS.values():
        _declare_format(formats.add_parser(form.name, help=form.purpose), form)
    official = formats.add_parser("official", help="BFCL's result files, score files and tables")
    declare_options(official, "run export official")
    details = official.add_argument_group(
        "details of the models", "each option once per scorecard, in the same order"
    )
    declare_rows(details, read_option_tables()["details of models"])
    official.set_defaults(export=write_official_files)


def _declare_format(parser: argparse.ArgumentParser, form: ExportFormat) -> None:
    # ``run`` is that of the command, which hands over to the format.
    parser.set_defaults(export=lambda arguments: _export_cards(form, arguments))
    endings = " or ".join((*form.texts, *form.files))
    if form.files == (FOLDER,):
        where = "folder for the runs"
    elif form.texts:
        where = f"file to write, ending in {endings} (default: print it)"
    else:
        where = f"file to write, ending in {endings}"
    rows = {
        "scorecards": {"nargs": "*" if form.takes_several else "?", "help": "{SCORECARD}; default: latest"},
        "-o --output --to": {"metavar": "PATH", "help": where, "required": not form.texts},
    }
    for flag, row in read_option_tables()["run export FORMAT"].items():
        if flag.removeprefix("--") in form.options:
            rows[flag] = {"metavar": "NAME", "help": form.meaning_of_name} if flag == "--name" else row
    declare_rows(parser, rows)


def run_export(arguments: argparse.Namespace) -> int:
    return int(arguments.export(arguments))


def _export_cards(form: ExportFormat, arguments: argparse.Namespace) -> int:
    given_paths = arguments.scorecards if form.takes_several else [arguments.scorecards]
    paths: list[Path] = [path for path in given_paths if path] or [resolve_scorecard()]
    ending = _choose_ending(form, arguments.to)
    if extra := form.extras.get(ending):
        registry.require_extra(extra, f"fcbench run export {form.name}")
    with ExitStack() as stack:
        # An outline takes a tenth of the memory of a Record with its answers, which one format holds.
        load = partial(open_scorecard, opened=stack) if form.has_answers else load_outlines
        cards = [load(path) for path in paths]
        options = {name: getattr(arguments, name) for name in form.options}
        if baseline := options.get("baseline"):
            options["baseline"] = load_outlines(baseline)
        options["profile"] = (
            choose_profile(arguments, cards) if "profile" in options else cards[0].facts.profile
        )
        order = ExportRequest(cards, ending=ending, **options)
        if order.metric:
            # Some charts show no score, which is no reason to pass over a wrong name.
            order.find_metric()
        require_other_file(arguments.to, paths)
        if ending in form.texts:
            pieces = form.render_text(order)
            if arguments.to is None:
                for piece in pieces:
                    print(piece, end="")
                return 0
            write_and_report(arguments.to, pieces)
        elif ending == FOLDER:
            make_folder(arguments.to)
            print_lines(form.write_path(order, arguments.to))
        else:
            notes: list[str] = []
            replace_file(arguments.to, lambda path: notes.extend(form.write_path(order, path)))
            print(f"written to {arguments.to}")
            print_lines(notes)
    return 0


def _choose_ending(form: ExportFormat, to: Path | None) -> str:
    """Return the ending that decides the form of the output. Raises ``UsageError`` for another."""
    if form.files == (FOLDER,):
        return FOLDER
    known_endings, ending = (*form.texts, *form.files), to.suffix.lower() if to else ""
    # A device or a pipe has no ending.
    if not ending and form.texts:
        return form.texts[0]
    if ending not in known_endings:
        raise UsageError(
            f"--output={to}: unknown ending {ending!r}; fcbench run export {form.name} writes "
            f"{' or '.join(known_endings)}"
        )
    return ending


_SUITE = bfcl.SOURCE.name
_LONGEST = 200
"""The longest name of a folder, in characters; file systems allow little more."""
_Pricing: TypeAlias = tuple[Price, int]
"""A price, and the number of calls at once among which a server's is divided."""


def parse_price(text: str) -> _Pricing:
    """Read a value of ``--price``. Raises ``ArgumentTypeError``."""
    if text == "hosted":
        # Officially a model without a price runs on eight H100 for $23.92 an hour, with 100 calls at once.
        return Price(hour=23.92), 100
    try:
        input_price, output_price = map(float, text.split(","))
    except ValueError:
        input_price = output_price = -1
    if min(input_price, output_price) < 0 or not isfinite(input_price + output_price):
        raise argparse.ArgumentTypeError(f"{text!r}: must be two prices, e.g. 0.15,0.6, or 'hosted'")
    return Price(input_price, output_price), 1


def parse_dataset(text: str) -> str:
    """Read a value of ``--dataset``. Raises ``ArgumentTypeError``."""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r}: must be a dataset of the hub, e.g. gorilla-llm/bfcl")
    return text


def write_official_files(arguments: argparse.Namespace) -> int:
    """Write the files and tables. Raises ``UsageError`` where a scorecard cannot be exported."""
    count = len(arguments.scorecards)
    keys = ("as", "price", "title", "link", "organization", "license")
    details = {key: getattr(arguments, key) or [None] * count for key in keys}
    for key, values in details.items():
        if len(values) != count:
            raise UsageError(
                f"--{key}: given {len(values)} times for {count} scorecards; give it once for each"
            )
    exports: dict[str, _Export] = {}
    models: list[ModelRow] = []
    for path, name, price, title, *facts in zip(arguments.scorecards, *details.values(), strict=True):
        export = _export_card(path, name, price)
        if export.folder in exports:
            raise UsageError(
                f"{path}: another scorecard also belongs to {export.folder!r}; give each an id with --as"
            )
        exports[export.folder] = export
        usage = measure_usage(record for record in export.records if CATEGORIES[record.category].scored)
        models.append(ModelRow(title or export.name, export.scores, usage, *(fact or NA for fact in facts)))
    texts = {arguments.to / path: text for export in exports.values() for path, text in export.texts.items()}
    scores = arguments.to / "score"
    has_executable = any(
        CATEGORIES[name].group is Group.EXECUTABLE for model in models for name in model.scores
    )
    columns_of = {**TABLES, **({"data_executable.csv": EXECUTABLE} if has_executable else {})}
    for name, columns in columns_of.items():
        texts[scores / name] = write_table(columns, models, next(iter(exports.values())).size_of)
    write_new_files(texts, force=arguments.force)
    print_lines(map(str, exports.values()))
    print(f"{scores}: {', '.join(columns_of)}")
    if any(model.usage.usd is None for model in models):
        print(f"{NA}: Total Cost, because the scorecard has no price; give one with --price")
    if any(model.usage.latency_mean_s is None for model in models):
        print(f"{NA}: latencies, because the answers have none")
    if any(NA in (model.link, model.organization, model.license) for model in models):
        print(f"{NA}: Model Link, Organization, License; give them with --link, --organization, --license")
    # Official code adds score files that are already there to its tables; these are only named.
    if others := sorted(set(scores.glob("*/**/*_score.json")) - texts.keys()):
        print(f"not in the tables: {len(others)} older score files in the folder, e.g. {others[0]}")
    return 0


@dataclass(slots=True)
class _Export:
    """A scorecard in the official formats."""

    name: str
    session: Session
    pricing: _Pricing | None
    left_out: Counter[str]
    """Numbers of answers that are not exported, by reason."""
    texts: dict[Path, str] = field(default_factory=dict)
    """Files by their path in the folder."""
    scores: dict[str, Header] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    """Records with the steps of the result files and their price."""
    unjudged: list[str] = field(default_factory=list)
    """Categories without a score file."""
    changed: list[str] = field(default_factory=list)
    """Entries whose official verdict differs from that in the scorecard."""

    @property
    def folder(self) -> str:
        """The name of the model's folders."""
        # As officially: the registry name of a model, with "_" for "/".
        return self.name.replace("/", "_")

    def add(self, category: Category, records: Sequence[Record]) -> None:
        """Add the files of a category."""
        context = self.session.context
        suite, cache = context.suites[_SUITE], context.settings.cache
        entries = {entry.key: entry for entry in suite.load(category)}
        official_questions = {f"{_SUITE}:{row[0]}": row[1:] for row in official_rows(cache, category)}
        is_judged = "score" in category.official_files
        rows: list[str] = []
        wrongs: list[str] = []
        right: dict[str, list[bool]] = {}
        for record in records:
            entry, transcript = entries.get(record.entry), None
            with suppress(NotScoredError):
                transcript = self.session.transcript(entry) if entry else None
            if entry is None or transcript is None:
                self.left_out["that do not belong to the entries"] += 1
                continue
            row = write_row(entry, select_judged_text(transcript))
            rows.append(json.dumps(row))
            answers = [answer for turn in read_turns(row) for answer in turn]
            steps = [Usage(each.latency_s, each.input_tokens, each.output_tokens) for each in answers]
            if self.pricing:
                price, calls = self.pricing
                steps = [replace(step, usd=price.compute_cost(step, calls)) for step in steps]
            self.records.append(replace(record, steps=tuple(steps)))
            if not is_judged:
                continue
            answer = AnsweredEntry(entry, transcript, row["result"], *official_questions[entry.key])
            failure = build_score_row(answer, self.folder, self.session.resources)
            wrongs += [write_line(failure)] if failure else []
            if entry.variation:
                right.setdefault(entry.variation.format.name, []).append(failure is None)
            if isinstance(record.verdicts.official, Passed) is not (failure is None):
                self.changed.append(record.entry)
        if not rows:
            return
        self._add_file(category, "result", rows)
        if is_judged:
            by_format = {name: Header(sum(answers), len(answers)) for name, answers in right.items()}
            header = self.scores[category.name] = Header(len(rows) - len(wrongs), len(rows), by_format)
            self._add_file(category, "score", [write_line(header.row), *wrongs])
        else:
            self.unjudged.append(category.name)

    def _add_file(self, category: Category, kind: str, lines: Sequence[str]) -> None:
        path = Path(kind, self.folder) / find_result_path(category, kind)
        self.texts[path] = "".join(f"{text}\n" for text in lines)

    def size_of(self, category: str) -> int:
        """Return the number of entries of a category in the suite."""
        return self.session.context.selection.size_of(category) if category in CATEGORIES else 0

    def __str__(self) -> str:
        right = sum(header.correct for header in self.scores.values())
        parts = [f"{self.folder}: {len(self.records):,} answers, {right:,} right"]
        if self.left_out:
            left_out = ", ".join(f"{n:,} {why}" for why, n in self.left_out.items())
            parts.append(f"left out: {left_out}")
        if self.unjudged:
            parts.append(f"results only, not officially judged: {', '.join(self.unjudged)}")
        if self.changed:
            parts.append(
                f"verdicts that differ from the scorecard: {len(self.changed):,}, e.g. {self.changed[0]}"
            )
        return "; ".join(parts)


def _export_card(path: Path, name: str | None, pricing: _Pricing | None) -> _Export:
    """Export the scorecard of a file. Raises ``UsageError`` if it cannot be exported."""
    card = load_scorecard(path)
    facts, suites = card.facts, card.facts.suites
    if name is None:
        kind, _, results = facts.model.partition(":")
        # A replayed run is named by a path, of which only the end can name a model.
        name = Path(results).name if kind == "replay" else facts.model
    if not name.strip("./ ") or not name.isprintable() or len(name) > _LONGEST:
        raise UsageError(f"{path}: {name!r} cannot name a folder; give the model's official id with --as")
    if _SUITE not in suites:
        raise UsageError(
            f"{path}: this is a scorecard of {', '.join(suites)}; give one of the suite "
            f"{_SUITE}, which has official formats"
        )
    if not any(record.turns for record in card.records):
        raise UsageError(f"{path}: contains no answers, like a baseline; give the scorecard of the run")
    context = RunContext(build_settings({"model": f"replay:{path}", "suite": [_SUITE]}, None))
    suite = context.suites[_SUITE]
    if suites[_SUITE].get("pack_hash") != suite.pack_sha256:
        raise UsageError(
            f"{path}: its answers are to {_SUITE} {suites[_SUITE].get('version')}, but version "
            f"{suite.version} is installed; use the suite version of the run"
        )
    records, left_out = _select_records(card)
    pricing = pricing or ((facts.price, facts.concurrency or 1) if facts.price else None)
    with closing(Session(context)) as session:
        export = _Export(name, session, pricing, left_out)
        for category, part in group_by_category(records).items():
            export.add(CATEGORIES[category], part)
    if not export.texts:
        raise UsageError(f"{path}: nothing to export ({export}); give the scorecard of a run that was scored")
    return export


def _select_records(card: Scorecard) -> tuple[list[Record], Counter[str]]:
    """Select the Records that official files can hold, and count the others by reason."""
    exportable_records: list[Record] = []
    left_out: Counter[str] = Counter()
    for record in card.records:
        category = CATEGORIES.get(record.category)
        if record.suite != _SUITE:
            left_out[f"of the suite {record.suite}"] += 1
        elif category is None or not (
            # Categories of which the leaderboard has published files.
            category.official_files
            and (category.scored or category.group in (Group.EXECUTABLE, Group.V1, Group.FORMAT))
        ):
            left_out[f"of {record.category} (no official form)"] += 1
        # An official result file has one line for each id.
        elif (record.trial or 1) > 1:
            left_out["of further trials"] += 1
        elif isinstance(record.verdicts.official, NotScored):
            left_out["not scored"] += 1
        else:
            exportable_records.append(record)
    return exportable_records, left_out
