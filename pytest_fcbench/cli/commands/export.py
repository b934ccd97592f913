"""``fcbench export FORMAT``: write scorecards in the forms of other tools."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from pytest_fcbench.cli import official_files
from pytest_fcbench.cli.command import OUTPUT
from pytest_fcbench.cli.output import choose_profile, print_lines, require_other_file
from pytest_fcbench.cli.scorecard_arguments import (
    SCORECARD,
    SCORECARD_OR_LATEST,
    find_latest_scorecard,
    find_scorecard,
)
from pytest_fcbench.domain import extras
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.run.output_files import make_folder, replace_file, write_file
from pytest_fcbench.scorecard.scorecard_files import load_outlines, open_scorecard
from pytest_fcbench.tools.export.formats import FOLDER, FORMATS, ExportFormat
from pytest_fcbench.tools.export.order import ExportRequest
from pytest_fcbench.tools.export.ordered_rows import ROWS
from pytest_fcbench.tools.export.plots.charts import CHARTS

HELP = "write scorecards as data, tables, charts, model cards and runs of trackers"
PAGE = "export"
EXAMPLES = (
    "fcbench export csv latest -o entries.csv",
    "fcbench export plot previous latest -o scores.svg",
    "fcbench export official latest -o official",
)
_NAMES = {
    "model-index": "name of the model in the card (default: the model of the run)",
    "mlflow": "name of the experiment (default: fcbench)",
    "wandb": "name of the project (default: fcbench)",
    "badge": "label of the badge (default: the suite and the score)",
}
"""The help of ``--name`` by format."""


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    formats = parser.add_subparsers(required=True, metavar="FORMAT", title="formats")
    for form in FORMATS.values():
        _declare_format(formats.add_parser(form.name, help=form.purpose), form)
    official = formats.add_parser("official", help="BFCL's result files, score files and tables")
    official_files.declare_options(official)
    official.set_defaults(export=official_files.write_official_files)


def _declare_format(parser: argparse.ArgumentParser, form: ExportFormat) -> None:
    # ``run`` is that of the command, which hands over to the format.
    parser.set_defaults(export=lambda arguments: _export_cards(form, arguments))
    add = parser.add_argument
    number = "*" if form.takes_several else "?"
    add("scorecards", nargs=number, type=find_scorecard, metavar="SCORECARD", help=SCORECARD_OR_LATEST)
    endings = " or ".join((*form.texts, *form.files))
    if form.files == (FOLDER,):
        where = "folder for the runs"
    elif form.texts:
        where = f"file to write, ending in {endings} (default: print it)"
    else:
        where = f"file to write, ending in {endings}"
    add(*OUTPUT, dest="to", type=Path, required=not form.texts, metavar="PATH", help=where)
    if "per" in form.options:
        add(
            "--per",
            choices=list(ROWS),
            default="entry",
            help="write a row for each entry or for each score (default: entry)",
        )
    if "chart" in form.options:
        add("--chart", choices=list(CHARTS), default="forest", help="the kind of chart (default: forest)")
    if "metric" in form.options:
        metric = "score to show, such as parallel (default: the main score of the run)"
        add("--metric", metavar="NAME", help=metric)
    if "profile" in form.options:
        profile = "whose verdicts to use (default: the profile of the runs, else official)"
        add("--profile", choices=list(Profile), help=profile)
    if "name" in form.options:
        add("--name", metavar="NAME", help=_NAMES[form.name])
    if "baseline" in form.options:
        add("--baseline", type=find_scorecard, metavar="SCORECARD", help=f"run to compare with: {SCORECARD}")


def run_command(arguments: argparse.Namespace) -> int:
    code: int = arguments.export(arguments)
    return code


def _export_cards(form: ExportFormat, arguments: argparse.Namespace) -> int:
    given_paths = arguments.scorecards if form.takes_several else [arguments.scorecards]
    paths: list[Path] = [path for path in given_paths if path] or [find_latest_scorecard()]
    ending = _choose_ending(form, arguments.to)
    if extra := form.extras.get(ending):
        extras.require_extra(extra, f"fcbench export {form.name}")
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
        if ending in form.texts:
            pieces = form.load_text_format().render_text(order)
            if arguments.to is None:
                for piece in pieces:
                    print(piece, end="")
                return 0
            require_other_file(arguments.to, paths)
            write_file(arguments.to, pieces)
            print(f"written to {arguments.to}")
        elif ending == FOLDER:
            make_folder(arguments.to)
            print_lines(form.load_file_format().write_path(order, arguments.to))
        else:
            require_other_file(arguments.to, paths)
            notes: list[str] = []
            writer = form.load_file_format()
            replace_file(arguments.to, lambda path: notes.extend(writer.write_path(order, path)))
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
            f"--output={to}: unknown ending {ending!r}; fcbench export {form.name} writes "
            f"{' or '.join(known_endings)}"
        )
    return ending
