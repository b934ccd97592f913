"""``fcbench suite augment``: extend a suite by entries made from its own.
``fcbench suite sample``: draft multi-turn entries by random walks through environments.
The folder of entries that a command writes, a file for each category.
Wording of questions by a model: the messages of a user who needs certain calls."""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TypeVar

from pytest_fcbench import environments
from pytest_fcbench.cli.judge_options import JUDGE_OPTIONS, ask_judge, load_judge_settings
from pytest_fcbench.cli.options import (
    declare_run_options,
    find_openers,
    open_suite_at,
    parse_suite_name,
    require_at_least,
)
from pytest_fcbench.cli.output import declare_output, print_lines
from pytest_fcbench.config.loading import Settings, find_cache_folder
from pytest_fcbench.domain.entry import CATEGORIES, Entry, Message
from pytest_fcbench.domain.errors import FcbenchError, UsageError, describe_unknown_name
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.verdict import NotScored
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit
from pytest_fcbench.kinds.calls.truth import find_shape, list_expected_calls
from pytest_fcbench.kinds.relevance import NoCall
from pytest_fcbench.run.output_files import write_new_files
from pytest_fcbench.tools.authoring.entry_writing import format_entries, write_walks
from pytest_fcbench.tools.authoring.generalization import KINDS, augment_entries
from pytest_fcbench.tools.authoring.sampling import Walk, draw_walks

# from commands/augment


def declare_augment(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``augment``."""
    add = parser.add_argument
    add(
        "suite",
        metavar="SUITE",
        help="name or path of a suite; used are its original entries with a single question that "
        "calls answer",
    )
    declare_folder_options(parser)
    add(
        "--kind",
        action="append",
        metavar="KIND",
        help=f"kind of entries to make: {', '.join(KINDS)} (repeatable; default: all)",
    )
    add("--count", type=int, default=20, metavar="N", help="number of entries of each kind (default: 20)")
    add(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="seed of the random choices; the same seed makes the same entries (default: 1)",
    )
    add(
        "--writer",
        metavar="MODEL",
        help="model that rewrites questions which were joined from several; --judge-api-base and "
        "the options below say how to call it",
    )
    declare_run_options(parser, ("config", *JUDGE_OPTIONS))


def run_augment(arguments: argparse.Namespace) -> int:
    require_at_least(1, arguments, "count")
    kinds = list(dict.fromkeys(arguments.kind or KINDS))
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(describe_unknown_name("kind", kind, KINDS))
    writer = load_judge_settings(arguments, judge=arguments.writer) if arguments.writer else None
    suite, folder = open_suite_at(arguments, arguments.suite), arguments.to.resolve()
    sources = [
        entry
        for category in suite.categories
        if category.single_turn
        for entry in suite.load(category)
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
        parallel = [entry for entry in entries if find_shape(entry).parallel]
        reworded_entries, notes = merge_questions(writer, parallel)
        by_id = {entry.id: entry for entry in reworded_entries}
        entries = [by_id.get(entry.id, entry) for entry in entries]
        print_lines(notes)
    write_entries(arguments, entries)
    return 0


# from commands/sample


def declare_sample(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``sample``."""
    add = parser.add_argument
    add("start", metavar="SUITE:ID", help="multi-turn entry whose environments to walk through")
    add("--count", type=int, default=5, metavar="N", help="number of walks (default: 5)")
    add("--turns", type=int, default=3, metavar="N", help="number of turns per walk (default: 3)")
    add(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="seed of the random choices; the same seed makes the same walks (default: 1)",
    )
    add("--first", type=int, default=0, metavar="N", help="number of the first entry (default: 0)")
    declare_output(parser, "FILE", "write the entries to this file")
    add("--force", action="store_true", help="replace FILE if it exists")
    add(
        "--writer",
        metavar="MODEL",
        help="model that writes the questions; --judge-api-base and the options below say how to call it",
    )
    declare_run_options(parser, ("config", *JUDGE_OPTIONS))


def run_sample(arguments: argparse.Namespace) -> int:
    require_at_least(1, arguments, "count", "turns")
    writer = load_judge_settings(arguments, judge=arguments.writer) if arguments.writer else None
    suite = find_openers(arguments)[parse_suite_name(arguments)](find_cache_folder())
    found_entries = (
        entry
        for category in suite.categories
        if not category.single_turn
        for entry in suite.load(category)
        if entry.key == arguments.start and entry.scene is not None
    )
    entry = next(found_entries, None)
    if entry is None or entry.scene is None:
        name = arguments.start.partition(":")[2]
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


# from new_entries


def declare_folder_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the folder that entries are written to."""
    declare_output(parser, "FOLDER", "write one file per category to this folder", required=True)
    parser.add_argument("--force", action="store_true", help="replace existing files")


def write_entries(arguments: argparse.Namespace, entries: Sequence[Entry]) -> None:
    """Write entries to the folder and print how many are in each file. Raises ``FcbenchError``."""
    texts = {arguments.to / f"{category}.yaml": text for category, text in format_entries(entries).items()}
    write_new_files(texts, force=arguments.force)
    for path in texts:
        size = sum(entry.category.name == path.stem for entry in entries)
        print(f"{path}: {size} {'entry' if size == 1 else 'entries'}")


# from question_wording


T = TypeVar("T")


def word_walks(writer: Settings, walks: Sequence[Walk]) -> tuple[dict[tuple[int, int], str], Sequence[str]]:
    """Have a model word the turns of walks.

    Return the questions by number of walk and turn, without walks that the writer failed to word, and notes
    on the writer.
    """
    questions = [_make_walk_question(number, walk) for number, walk in enumerate(walks)]
    answers, asking_notes = ask_judge(writer, questions, "writer")
    wordings: dict[tuple[int, int], str] = {}
    notes = list(asking_notes)
    for number, answer in enumerate(answers):
        if isinstance(answer, NotScored):
            notes.append(f"walk {number} is not worded: {answer.cause}: {answer.reason}")
        else:
            wordings |= {(number, turn): text for turn, text in enumerate(answer)}
    return wordings, notes


def _make_walk_question(number: int, walk: Walk) -> JudgeQuestion[Sequence[str]]:
    """Ask for the messages of a walk; a reply must mention what the calls of each turn need."""
    turn_mentions = [walk.list_mentions(turn) for turn in range(len(walk.turns))]
    names = {call.name for calls in walk.turns for call in calls}
    turns = [
        {"calls": [{"call": call.text, "returns": call.result[:1000]} for call in calls], "mention": mentions}
        for calls, mentions in zip(walk.turns, turn_mentions, strict=True)
    ]

    def read(reply: Mapping[str, object]) -> Sequence[str]:
        messages = reply.get("messages")
        if not isinstance(messages, list) or not all(isinstance(text, str) and text for text in messages):
            raise Unfit('must have "messages", a list of texts')
        if len(messages) != len(turn_mentions):
            raise Unfit(f"must have {len(turn_mentions)} messages, one for each turn, it has {len(messages)}")
        for turn, (text, mentions) in enumerate(zip(messages, turn_mentions, strict=True)):
            for value in mentions:
                if phrase_value(value).casefold() not in text.casefold():
                    raise Unfit(f"does not mention {value!r} in message {turn}")
            if function_name := find_name(names, text):
                raise Unfit(f"names the function {function_name} in message {turn}")
        return messages

    return make_question(f"walk_{number}", "wording_in_turns.md", {"turns": turns}, read)


def merge_questions(writer: Settings, entries: Sequence[Entry]) -> tuple[list[Entry], Sequence[str]]:
    """Have a model word the question of each entry, which asks for several calls, in one piece.

    Return the entries, with their old question where the writer failed, and notes on the writer.
    """
    answers, asking_notes = ask_judge(writer, [_make_merge_question(entry) for entry in entries], "writer")
    notes, reworded_entries = list(asking_notes), []
    for entry, answer in zip(entries, answers, strict=True):
        text = entry.turns[0][0].content if isinstance(answer, NotScored) else answer
        if isinstance(answer, NotScored):
            notes.append(f"{entry.id} stays as it was put together: {answer.cause}: {answer.reason}")
        reworded_entries.append(replace(entry, turns=((Message("user", text),),)))
    return reworded_entries, notes


def _make_merge_question(entry: Entry) -> JudgeQuestion[str]:
    """Ask for one message for an entry; a reply must mention the expected values that its question has."""
    text, calls = entry.turns[0][0].content, list_expected_calls(entry)
    forms = (
        [form for form in map(phrase_value, options) if form and form.casefold() in text.casefold()]
        for call in calls
        for options in call.accepted.values()
        if isinstance(options, list)
    )
    required_forms = [each for each in forms if each]

    def read(reply: Mapping[str, object]) -> str:
        message = reply.get("message")
        if not isinstance(message, str) or not message.strip():
            raise Unfit('must have "message", a text')
        for values in required_forms:
            if not any(value.casefold() in message.casefold() for value in values):
                raise Unfit(f"does not mention {values[0]!r}")
        if function_name := find_name({call.name for call in calls}, message):
            raise Unfit(f"names the function {function_name}")
        return message

    material = {
        "message": text,
        "calls": [{call.name: dict(call.accepted)} for call in calls],
        "mention": [values[0] for values in required_forms],
    }
    return make_question(entry.id, "wording_merged.md", material, read)


def make_question(
    name: str, task_file: str, material: object, read: Callable[[Mapping[str, object]], T]
) -> JudgeQuestion[T]:
    """Make a question to the writer, with a made-up entry to carry it."""
    # A category without functions, so that the writer is offered none.
    about = Entry("draft", name, CATEGORIES["chatable"], ((Message("user", ""),),), (), NoCall())
    task = Path(__file__).with_name(task_file).read_text(encoding="utf-8").rstrip()
    return JudgeQuestion(about, task, read_json_text(json.dumps(material, default=str)), read)


def find_name(names: Iterable[str], text: str) -> str | None:
    """Return the first function name that a text holds; plain words, such as ``cancel``, are no names."""
    return next((name for name in names if re.search("[_.]", name) and name in text), None)


def phrase_value(value: object) -> str:
    """Write a value as a sentence would; empty if it can be said in many ways."""
    # People write 3 for 3.0, and a switch in words of its own, not as True.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
