"""``fcbench draft``: write the first entries of a suite, from examples or by a model from the docs alone."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fcbench.cli.commands.functions import read_functions
from pytest_fcbench.cli.judge_options import JUDGE_OPTIONS, load_judge_settings
from pytest_fcbench.cli.new_entries import declare_folder_options, write_entries
from pytest_fcbench.cli.question_writing import write_questions
from pytest_fcbench.cli.run_options import declare_run_options, require_at_least
from pytest_fcbench.domain.errors import FcbenchError, UsageError
from pytest_fcbench.tools.authoring.drafting import Example, draft_entries, find_examples

HELP = "write the first entries of a suite from examples, or have a model write them"
PAGE = "own-suites"
EXAMPLES = (
    "fcbench draft my_tools --examples=examples.md -o my_suite",
    "fcbench draft functions.yaml --writer=gpt-4o -o my_suite",
)


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="where the functions are: module:function, module:Class, module, or a JSON or YAML file",
    )
    add(
        "--examples",
        type=Path,
        action="append",
        metavar="FILE",
        help="text file with questions, each followed by '>>> ' and the call that answers it (repeatable)",
    )
    add(
        "--writer",
        metavar="MODEL",
        help="model that writes questions from the docs and solves each again; --judge-api-base and the "
        "options below say how to call it",
    )
    add("--count", type=int, default=2, metavar="N", help="questions per function (default: 2)")
    add(
        "--pairs",
        type=int,
        metavar="N",
        help="pairs of functions with a question that needs both (default: as many as functions)",
    )
    add("--seed", type=int, default=1, metavar="N", help="seed of the choice of pairs (default: 1)")
    declare_folder_options(parser)
    declare_run_options(parser, ("config", *JUDGE_OPTIONS))


def run_command(arguments: argparse.Namespace) -> int:
    if bool(arguments.examples) == bool(arguments.writer):
        raise UsageError(
            "give either --examples, with questions and calls, or --writer, a model that writes them"
        )
    docs = tuple(read_functions(arguments.sources).values())
    if arguments.writer:
        require_at_least(1, arguments, "count")
        writer = load_judge_settings(arguments, judge=arguments.writer)
        assert writer, "a writer was named"
        pairs = len(docs) if arguments.pairs is None else max(0, arguments.pairs)
        drafts = write_questions(writer, docs, arguments.count, pairs, arguments.seed, arguments.to.name)
        for note in drafts.notes:
            print(note)
        kept_count, entries = len(drafts.entries), drafts.entries
        print(f"written {drafts.written}, kept {kept_count}, left out {drafts.written - kept_count}")
        missing = "no question was kept; look at the notes above, or name another --writer"
    else:
        all_examples: list[Example] = []
        for path in arguments.examples:
            try:
                all_examples += find_examples(path.read_text(encoding="utf-8"), str(path))
            except (OSError, ValueError) as error:
                raise UsageError(f"{path}: cannot be read: {error}; give a text file in UTF-8") from None
        entries = list(draft_entries(all_examples, docs, arguments.to.name))
        missing = (
            f"{', '.join(map(str, arguments.examples))}: no examples; write a question and, on the "
            f"next line, '>>> ' with the call that answers it, e.g. >>> {docs[0].name}(...)"
        )
    if not entries:
        raise FcbenchError(missing)
    write_entries(arguments, entries)
    used_names = {doc.name for entry in entries for doc in entry.functions}
    for doc in docs:
        if doc.name not in used_names:
            print(f"note: no {'entry' if arguments.writer else 'example'} uses {doc.name}")
    return 0
