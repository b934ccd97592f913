"""``fcbench parsers``: examine the tool parsers of an engine that is installed in this environment.

The exit code is 0 if every right call comes back from every parser in every way, else 1.
"""

from __future__ import annotations

import argparse
import sys

from pytest_fcbench.cli.options import open_suite_at
from pytest_fcbench.cli.output import choose_format, print_or_write, render_tables, split_names
from pytest_fcbench.domain.registry import require_extra
from pytest_fcbench.tools.parsers.engine import require_engine
from pytest_fcbench.tools.parsers.matrix import Way, examine_parser, tabulate_examinations
from pytest_fcbench.tools.parsers.truths import draw_truths


def run_parsers(arguments: argparse.Namespace) -> int:
    form = choose_format(arguments)
    require_engine(arguments.engine)
    require_extra("parsers", f"fcbench parsers {arguments.engine}")
    # Imported late: these import packages of the engine and of the extra.
    from pytest_fcbench.tools.parsers.examining import open_parsers
    from pytest_fcbench.tools.parsers.shrinking import shrink_calls

    suites = [open_suite_at(arguments, name) for name in split_names(arguments.suite) or ["core"]]
    truths = draw_truths(suites, arguments.limit)
    opened = open_parsers(arguments.engine, truths, split_names(arguments.parser), arguments.tokenizer)
    examinations = []
    for number, ((parser, _), examiner) in enumerate(opened.examiners.items(), 1):
        print(f"{number} of {len(opened.examiners)}: {parser}", file=sys.stderr, flush=True)
        examination = examine_parser(parser, examiner, truths, tuple(Way), shrink_calls)
        exponents = map(examiner.measure_growth, (Way.WHOLE, Way.TOKENS))
        examination.growth = max(filter(None, exponents), default=None)
        examinations.append(examination)
    title = f"{arguments.engine} {opened.version}"
    tables = tuple(tabulate_examinations(title, examinations, opened.untested))
    print_or_write(arguments, render_tables(arguments, form, title, tables), ())
    return int(not all(each.is_exact for each in examinations))
