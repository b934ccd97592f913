"""``fcbench suite functions``, ``draft``, ``augment`` and ``sample``: write function docs and entries."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import yaml

from pytest_fcbench.cli.options import describe_no_entry, find_openers, open_suite_at
from pytest_fcbench.cli.output import print_lines
from pytest_fcbench.cli.sessions import load_entries, load_writer
from pytest_fcbench.config.loading import find_cache_folder
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import FcbenchError, UsageError
from pytest_fcbench.domain.registry import require_extra
from pytest_fcbench.domain.text import copy_into_lists
from pytest_fcbench.environments import execution as environments
from pytest_fcbench.kinds.calls.truth import expects_several_calls
from pytest_fcbench.mcp_servers.open_server import PREFIX, ToolListing, list_tools, read_source
from pytest_fcbench.run.output_files import write_new_files
from pytest_fcbench.tools.authoring.entry_writing import (
    Example,
    describe_gaps,
    draft_entries,
    find_examples,
    format_entries,
    read_functions,
    write_walks,
)
from pytest_fcbench.tools.authoring.generalization import KINDS, augment_entries
from pytest_fcbench.tools.authoring.question_writing import merge_questions, word_walks, write_questions
from pytest_fcbench.tools.authoring.sampling import draw_walks


def run_augment(arguments: argparse.Namespace) -> int:
    kinds = list(dict.fromkeys(arguments.kind or KINDS))
    writer = load_writer(arguments)
    suite, folder = open_suite_at(arguments, arguments.suite), arguments.to.resolve()
    sources = [
        entry
        for entry in load_entries([suite], lambda category: category.single_turn).values()
        # Without what an earlier run wrote to the folder: made entries are not material again.
        if not entry.parents or (suite.file_of and folder not in suite.file_of(entry).resolve().parents)
    ]
    entries: list[Entry] = []
    try:
        for kind, group in augment_entries(
            sources, kinds, arguments.count, arguments.seed, arguments.to.name
        ):
            entries += group
            less = "" if len(group) == arguments.count else f" of {arguments.count}: no more are possible"
            print(f"{kind:<18} {len(group)}{less}")
    except ValueError as error:
        raise FcbenchError(f"{arguments.suite}: {error}") from None
    # Only parallel entries have a question that was joined from several.
    if writer:
        parallel = [entry for entry in entries if expects_several_calls(entry)]
        reworded_entries, notes = merge_questions(writer, parallel)
        by_id = {entry.id: entry for entry in reworded_entries}
        entries = [by_id.get(entry.id, entry) for entry in entries]
        print_lines(notes)
    write_entries(arguments, entries)
    return 0


def run_sample(arguments: argparse.Namespace) -> int:
    writer = load_writer(arguments)
    suite_name, _, name = arguments.start.partition(":")
    openers = find_openers(arguments)
    if not name or suite_name not in openers:
        raise UsageError(describe_no_entry(arguments.start, suite_name, openers))
    suite = openers[suite_name](find_cache_folder())
    entry = load_entries([suite], lambda category: not category.single_turn).get(arguments.start)
    if entry is None or entry.scene is None:
        raise UsageError(
            f"{suite.name} {suite.version} has no multi-turn entry {name!r}; "
            "give one of a multi-turn category, e.g. core:multi_turn_base_0"
        )
    start = environments.open_environments(entry, suite.world)
    draw = Random(arguments.seed)  # noqa: S311 - chance that can be repeated
    walks = list(draw_walks(start, entry.functions, draw, arguments.count, arguments.turns))
    questions, notes = word_walks(writer, walks) if writer else ({}, [])
    for number, walk in enumerate(walks):
        print(f"walk {number}")
        print_lines(f"  turn {turn}  {call.text}" for turn, calls in enumerate(walk.turns) for call in calls)
    if len(walks) < arguments.count:
        print(f"{len(walks)} of {arguments.count} walks were found; all others repeat these or lead nowhere")
    # How often a result of one call was used by another.
    edges = Counter(edge for walk in walks for edge in walk.edges)
    print_lines(f"  {source} -> {target}  {times}" for (source, target), times in sorted(edges.items()))
    print_lines(notes)
    if arguments.to:
        text = write_walks(entry.scene, walks, entry.key, arguments.first, questions)
        write_new_files({arguments.to: text}, force=arguments.force)
        missing_count = sum(len(walk.turns) for walk in walks) - len(questions)
        print(f"{arguments.to}: {len(walks)} entries, {missing_count} turns still without a question")
    return 0 if walks else 1


def write_entries(arguments: argparse.Namespace, entries: Sequence[Entry]) -> None:
    """Write entries to the folder and print how many are in each file. Raises ``FcbenchError``."""
    texts = {arguments.to / f"{category}.yaml": text for category, text in format_entries(entries).items()}
    write_new_files(texts, force=arguments.force)
    for path in texts:
        size = sum(entry.category.name == path.stem for entry in entries)
        print(f"{path}: {size} {'entry' if size == 1 else 'entries'}")


def run_draft(arguments: argparse.Namespace) -> int:
    if bool(arguments.examples) == bool(arguments.writer):
        raise UsageError(
            "give either --examples, with questions and calls, or --writer, a model that writes them"
        )
    docs = tuple(read_functions(arguments.sources).values())
    if writer := load_writer(arguments):
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


def run_functions(arguments: argparse.Namespace) -> int:
    servers = _ask_servers(arguments)
    docs = read_functions(arguments.sources, servers)
    # YAML's safe dump takes no mappings and sequences but dicts and lists.
    functions = [
        {"name": doc.name, "description": doc.description, "parameters": copy_into_lists(doc.shown_schema)}
        for doc in docs.values()
    ]
    # One server: several have no place in a file whose calls act on one.
    server_facts: dict[str, object] = {}
    if len(servers) == 1:
        ((source, listing),) = servers.items()
        server_facts["server"] = {
            "source": source,
            "name": listing.name,
            "version": listing.version,
            "tools": listing.digest,
        }
    content = {**server_facts, "functions": functions}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    if arguments.to:
        write_new_files({arguments.to: text}, force=arguments.force)
        print(f"{arguments.to}: {len(docs)} function{'s' * (len(docs) != 1)}")
    else:
        print(text, end="")
    # On stderr, because the docs themselves may go to stdout.
    for doc in docs.values():
        for gap in describe_gaps(doc):
            print(f"note: {doc.name}: {gap}", file=sys.stderr)
    return 0


def _ask_servers(arguments: argparse.Namespace) -> Mapping[str, ToolListing]:
    """Ask the MCP servers among the sources for their tools. Raises ``FcbenchError``."""
    if arguments.timeout <= 0:
        raise UsageError(f"--timeout {arguments.timeout:g}: must be above 0")
    headers: dict[str, str] = {}
    for header in arguments.header:
        name, _, variable = header.partition("=")
        if not name or not variable:
            raise UsageError(f"--header={header}: must be a header and an environment variable, HEADER=NAME")
        headers[name] = variable
    listings: dict[str, ToolListing] = {}
    for source in arguments.sources:
        if source.startswith(PREFIX):
            require_extra("mcp", source)
            listings[source] = list_tools(
                read_source(source, arguments.variable, headers, arguments.timeout), Path.cwd()
            )
    return listings
