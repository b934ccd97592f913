"""Make a suite of a log: row by row, with memory for a few numbers of each entry.

Find texts that were seen before, word for word or nearly so, with a few numbers of memory for each.

MinHash (Broder 1997) over runs of three words, in bands: two texts are alike where one of five bands of
twelve smallest hashes is the same. That is likely where nine of ten runs are the same, and unlikely below
seven.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import islice
from random import Random
from typing import BinaryIO

from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected
from pytest_fcbench.codecs.decoders.syntax import Calls, Prose, Unreadable
from pytest_fcbench.domain.entry import Entry, PastCall
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import Call, Step, Transcript
from pytest_fcbench.tools.authoring.entry_writing import convert_doc
from pytest_fcbench.tools.importing.log_forms import read_conversations
from pytest_fcbench.tools.importing.masks import Masks, mask_conversation
from pytest_fcbench.tools.importing.next_steps import (
    LeftOut,
    NextStep,
    Parameter,
    ValueStatistics,
    draw_evenly,
    find_flaw,
    hash_users,
    is_held_out,
    mark_free_texts,
    split_conversation,
    write_entry,
)
from pytest_fcbench.tools.importing.offered_tools import (
    LoggedConversation,
    NoConversationError,
    UnreadableLogError,
)


class FreeTexts(StrEnum):
    """The ways to treat calls with free text among their arguments."""

    JUDGED = "judged"
    """Entries in which these arguments are marked for a judge."""
    NO = "no"
    """Nothing."""
    EXACT = "exact"
    """Entries that only the same words pass."""


@dataclass(frozen=True, slots=True)
class LogSelection:
    """The part of a log that becomes entries."""

    functions: tuple[str, ...] = ()
    """Patterns; only calls of functions with such names become entries. Without any, all do."""
    replies: bool = True
    """True where answers without calls become entries too."""
    most: int | None = None
    """The number of entries at most, in equal parts for the functions that are called."""
    held_out: float = 1.0
    """The share of conversations that become entries, by a hash of what their users say."""
    free_texts: FreeTexts = FreeTexts.JUDGED
    """How calls with free text are treated."""
    masked: bool = True
    """True where what belongs to people is masked."""


@dataclass(slots=True)
class ImportCounts:
    """The numbers of lines, conversations and answers that were read, kept and left out."""

    lines: int = 0
    conversations: int = 0
    answers: int = 0
    """Answers of the assistant in them; each is kept or left out."""
    kept: Counter[str] = field(default_factory=Counter)
    """Entries by category."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Answers by the reason why they are no entries."""
    unread: int = 0
    """Lines that cannot be read."""
    empty: int = 0
    """Lines that can be read and have no conversation, such as spans of other kinds."""
    first_empty: str = ""
    """The place of the first of them, and why it has none."""
    unanswered: int = 0
    """Conversations in which the assistant says nothing."""
    masked: Counter[str] = field(default_factory=Counter)
    """Masked values by kind."""
    writings: dict[str, str] = field(default_factory=dict)
    """The first values that were masked, as they were written, with their masks."""
    rest: int = 0
    """Lines without a conversation that was held out."""
    free_texts: Mapping[Parameter, int] = field(default_factory=dict)
    """Parameters with free text, each with the number of its values."""
    judged: int = 0
    """Arguments that are marked for a judge."""
    flaws: dict[str, str] = field(default_factory=dict)
    """The first case of each reason that has to do with function docs or with what looks like a call."""


_SAID = ("messages", "functions", "expect")
"""The parts of an entry that come from the log."""

_FLAWS: Mapping[str, str] = {
    "expect": "arguments that the function doc does not allow",
    "functions": "a function doc that cannot be read",
    "": "a conversation that a suite cannot have",
}
"""Reasons by the part of an entry that is wrong."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """The facts about an entry that many others share."""

    category: str
    functions: tuple[str, ...]
    texts: tuple[Parameter, ...]
    """The parameters of its calls whose values are texts."""


def import_log(
    lines: Iterable[tuple[str, bytes]],
    choice: LogSelection,
    spool: BinaryIO,
    tell: Callable[[str], None],
    keep_rest: Callable[[bytes], object] | None = None,
) -> tuple[Iterator[str], ImportCounts]:
    """Read a log to its end; return the lines of the suite and the counts.

    ``lines`` has each line with its place; entries wait in ``spool``, an empty file; ``tell`` is told of each
    line that cannot be read; ``keep_rest`` gets the lines from which nothing was held out.
    """
    counts = ImportCounts()
    reader = _LogReader(choice, counts, spool)
    for place, line in lines:
        counts.lines += 1
        try:
            # Read to its end first, so that a line whose second half is broken leaves no entries.
            conversations = list(read_conversations(line))
        except NoConversationError as error:
            counts.empty += 1
            counts.first_empty = counts.first_empty or f"{place}: {error}"
            conversations = []
        except UnreadableLogError as error:
            counts.unread += 1
            tell(f"{place}: {error}")
            continue
        held_out = [is_held_out(each, choice.held_out) for each in conversations]
        if not any(held_out):
            counts.rest += 1
            if keep_rest:
                # The last line of a file may have no end, and another file may follow.
                keep_rest(line.removesuffix(b"\n") + b"\n")
        for conversation, is_chosen in zip(conversations, held_out, strict=True):
            reader.add_conversation(conversation, held_out=is_chosen)
    return reader.copy_lines(reader.choose_entries()), counts


class _LogReader:
    """Writes the entries of a log to a temporary file, and chooses among them at its end."""

    def __init__(self, choice: LogSelection, counts: ImportCounts, spool: BinaryIO) -> None:
        self._choice, self._counts, self._spool = choice, counts, spool
        self._seen = SeenTexts()
        self._ids: set[int] = set()
        self._statistics = ValueStatistics()
        # Arrays, because objects for each entry would take most of the memory.
        self._offsets, self._orders = array("Q"), array("Q")
        """The offset of the line of each entry, and the hash that decides whether it is drawn."""
        self._kinds = array("I")
        self._numbers: dict[_Kind, int] = {}
        self._size = 0

    def add_conversation(self, conversation: LoggedConversation, *, held_out: bool) -> None:
        """Add the entries of a conversation."""
        counts = self._counts
        counts.conversations += 1
        counts.unanswered += all(message.role != "assistant" for message in conversation.messages)
        cluster = f"chat_{hash_users(conversation).hex()}"
        masks = Masks({})
        if held_out and self._choice.masked:
            conversation, masks = mask_conversation(conversation)
            counts.masked.update(masks.counts)
            if len(counts.writings) < _MOST_SHOWN:
                counts.writings |= masks.writings
        for step in split_conversation(conversation):
            counts.answers += 1
            if not held_out:
                counts.left_out["not held out"] += 1
            elif isinstance(step, LeftOut):
                counts.left_out[step.reason] += 1
                if step.text:
                    counts.flaws.setdefault(step.reason, repr(step.text))
            elif reason := self.add_step(step, cluster, masks):
                counts.left_out[reason] += 1

    def add_step(self, step: NextStep, cluster: str, masks: Masks) -> str:
        """Write the entry of a step, or return why there is none."""
        names = tuple(sorted({call.name for call in step.calls}))
        if not names and not self._choice.replies:
            return "an answer in words"
        patterns = self._choice.functions
        if patterns and not any(fnmatchcase(name, each) for name in names for each in patterns):
            return "a call of other functions"
        entry = write_entry(step, cluster)
        # By another rule than that of the masks, so that nothing depends on theirs alone.
        text = json.dumps([entry.get(key) for key in _SAID], ensure_ascii=False) if masks.numbers else ""
        if kind_left := masks.find_survivor(text):
            return f"personal data that no mask reaches ({kind_left})"
        if flaw := find_flaw(entry):
            part, _, detail = flaw.partition(".")
            reason = _FLAWS.get(part, _FLAWS[""])
            self._counts.flaws.setdefault(reason, f"{names[0] if names else ''} {detail}".strip())
            return reason
        # Both sets are filled by steps that become entries only, so that none is lost to one that does not.
        digest = hashlib.blake2b(str(entry["id"]).encode(), digest_size=8).digest()
        order = int.from_bytes(digest, "big")
        # The calls that one question leads to have most words in common, so they are of several kinds.
        words = (" ".join(names), len(step.since_question))
        if self._seen.add_text(step.new_text, words) or order in self._ids:
            return "a duplicate"
        self._ids.add(order)
        kind = _Kind(step.category, names, self._statistics.add_step(step))
        self._kinds.append(self._numbers.setdefault(kind, len(self._numbers)))
        self._orders.append(order)
        self._offsets.append(self._size)
        self._size += self._spool.write(f"{json.dumps(entry, ensure_ascii=True)}\n".encode())
        return ""

    def choose_entries(self) -> Sequence[int]:
        """Choose the entries of the suite by their place in the log, and count what is kept."""
        counts, choice = self._counts, self._choice
        kinds = list(self._numbers)
        free_parameters = counts.free_texts = self._statistics.find_free_texts()
        places: Sequence[int] = range(len(self._kinds))
        if choice.free_texts is FreeTexts.NO:
            are_free = [not free_parameters.keys().isdisjoint(kind.texts) for kind in kinds]
            places = array("Q", (at for at in places if not are_free[self._kinds[at]]))
            if without := len(self._kinds) - len(places):
                counts.left_out["free text among the arguments"] = without
        if choice.most is not None and len(places) > choice.most:
            counts.left_out["more than asked for"] += len(places) - choice.most
            strata = (kinds[self._kinds[at]].functions for at in places)
            indices = draw_evenly(strata, [self._orders[at] for at in places], choice.most)
            places = [places[at] for at in indices]
        for number, times in Counter(self._kinds[at] for at in places).items():
            counts.kept[kinds[number].category] += times
            if choice.free_texts is FreeTexts.JUDGED:
                counts.judged += times * sum(text in free_parameters for text in kinds[number].texts)
        return places

    def copy_lines(self, places: Iterable[int]) -> Iterator[str]:
        """Yield the lines of entries from the temporary file, with what is known of free texts at its end."""
        kinds = list(self._numbers)
        # What is free text shows only when the whole log was read.
        free_parameters = self._counts.free_texts if self._counts.judged else {}
        for at in places:
            self._spool.seek(self._offsets[at])
            line = self._spool.readline().decode()
            texts = sorted(free_parameters.keys() & set(kinds[self._kinds[at]].texts))
            yield mark_free_texts(line, texts) if texts else line


MOST_TOLD = 20
"""Lines that cannot be read and are told; the rest is counted."""


_MOST_SHOWN = 5
_LONGEST_SHOWN = 200
"""Entries and masks that --dry-run shows, and the longest text of them."""


def describe_counts(counts: ImportCounts) -> Iterator[str]:
    """Say what was read, kept and left out, and why."""
    if counts.unread > MOST_TOLD:
        yield f"{counts.unread - MOST_TOLD} more lines could not be read"
    for (function, parameter), times in counts.free_texts.items():
        yield f"free text: {parameter} of {function}, {times} values"
    if counts.judged:
        yield (
            f"marked for a judge: {counts.judged} arguments (most values of such a parameter have five words "
            "or more, differ from each other, and do not occur in the conversation)"
        )
    if counts.masked:
        kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(counts.masked.items()))
        yield f"masked: {kinds}"
    unread = f", {counts.unread} of them unreadable" if counts.unread else ""
    unread += f", {counts.empty} without a conversation" if counts.empty else ""
    if counts.first_empty:
        yield f"without a conversation: {counts.first_empty}"
    if counts.unanswered:
        yield f"without an answer of the assistant: {counts.unanswered} conversations"
    yield (
        f"read: {counts.lines} lines{unread}, {counts.conversations} conversations, "
        f"{counts.answers} answers of the assistant"
    )
    categories = ", ".join(f"{category} {number}" for category, number in sorted(counts.kept.items()))
    yield f"kept: {counts.kept.total()} entries{f' ({categories})' if categories else ''}"
    yield f"left out: {counts.left_out.total()} answers{':' if counts.left_out else ''}"
    for reason, number in counts.left_out.most_common():
        first = f" (first: {counts.flaws[reason]})" if reason in counts.flaws else ""
        yield f"  {number}  {reason}{first}"


def describe_sample(lines: Iterable[str], counts: ImportCounts) -> Iterator[str]:
    """Show the first entries, and what was masked before and after."""
    for line in islice(lines, _MOST_SHOWN):
        entry = read_json_text(line)
        *before, last = entry["messages"]
        message_text = json.dumps(last["content"] if last.get("content") else last, ensure_ascii=False)
        right = json.dumps(entry.get("expect", "no call"), ensure_ascii=False)
        yield f"{entry['id']}, after {len(before)} earlier messages"
        yield f"  {last['role']}: {message_text[:_LONGEST_SHOWN]}"
        yield f"  right: {right[:_LONGEST_SHOWN]}"
    for original, mask in islice(counts.writings.items(), _MOST_SHOWN):
        yield f"mask: {original} -> {mask}"


_BANDS, _ROWS = 5, 12
_RUN = 3
_WORD = re.compile(r"\w+")
_MASK = (1 << 64) - 1
_MOST_WORDS = 500
"""Longer texts are compared by their beginnings."""


class SeenTexts:
    """The texts that were seen so far, each as the hashes of its bands."""

    def __init__(self) -> None:
        chance = Random(0)  # noqa: S311 - no secret
        # Multiplied by odd factors modulo 2**64, of which the upper half is kept: a family of hash functions.
        self._families = [(chance.getrandbits(64) | 1, chance.getrandbits(64)) for _ in range(_BANDS * _ROWS)]
        self._bands: set[int] = set()

    def add_text(self, text: str, kind: tuple[str, int] = ("", 0)) -> bool:
        """Add a text unless one like it is there among those of its kind; tell whether one was."""
        words = _WORD.findall(text.lower())[:_MOST_WORDS]
        runs = {" ".join(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1))}
        hashes = [zlib.crc32(run.encode(errors="replace")) for run in runs]
        smallest = [
            min([(each * factor + term & _MASK) >> 32 for each in hashes]) for factor, term in self._families
        ]
        rows = range(0, len(smallest), _ROWS)
        bands = {hash((start, kind, *smallest[start : start + _ROWS])) for start in rows}
        if not bands.isdisjoint(self._bands):
            return True
        self._bands |= bands
        return False


def find_obstacle(entry: Entry) -> str:
    """Return why the conversation about an entry cannot be a line of a log, or an empty text."""
    if entry.category.language is not Language.PYTHON:
        return "values of Java or JavaScript"
    if entry.scene and entry.scene.persona:
        return "a memory, which the messages do not show"
    return ""


def write_chat(entry: Entry, transcript: Transcript) -> Mapping[str, object]:
    """Write the messages of a conversation, and the functions that were offered, in OpenAI's form for chats.

    It ends before the turn that brings further functions, since a line has the same functions throughout.
    """
    offer = OfferedFunctions(entry.functions, transcript.prompting.names)
    messages: list[Mapping[str, object]] = []
    for turn, steps in zip(
        entry.turns[: min(entry.late_functions, default=None)], transcript.turns, strict=False
    ):
        for message in turn:
            messages.append({"role": message.role, "content": message.content})
            if message.calls:
                messages[-1] = {**messages[-1], "tool_calls": _write_calls(message.calls)}
        for step in steps:
            messages += _write_step(step, transcript.prompting.syntax, offer)
    return {"messages": messages, "tools": list(map(convert_doc, entry.functions))}


def _write_step(step: Step, syntax: str, offer: OfferedFunctions) -> Iterator[Mapping[str, object]]:
    """Yield an answer and the results of its calls, which follow in their order."""
    reading = read_corrected(step.completion, syntax, Language.PYTHON, offer)
    if isinstance(reading, Calls) and reading.calls:
        yield {"role": "assistant", "content": None, "tool_calls": _write_calls(reading.calls)}
    else:
        text = reading.text if isinstance(reading, Prose) else step.completion.text or ""
        # Words that try to call are no example of an answer in words.
        yield {"role": "assistant", "content": text, "weight": int(not isinstance(reading, Unreadable))}
    for result in step.results:
        yield {"role": "tool", "content": result}


def _write_calls(calls: Sequence[Call | PastCall]) -> Sequence[Mapping[str, object]]:
    tool_calls = []
    for call in calls:
        # Values without a parameter make a list, which no reader of a log takes for arguments.
        arguments = [*call.positional] if isinstance(call, Call) and call.positional else call.arguments
        function = {"name": call.name, "arguments": json.dumps(arguments, default=repr)}
        tool_calls.append({"type": "function", "function": function})
    return tool_calls
