"""The data of the page's script: two islands of JSON in the page.

The *index* is read at once: models, categories, conversations that several entries continue, and for each
entry its category and the verdicts of each scorecard as numbers, which is all that a filter needs. The
*entries* are a JSON array with a line for each entry; a line is searched as text and parsed only when its row
is shown. Values of arguments are text already, because JavaScript would write many of them otherwise (1.0,
NaN, long integers).

Texts of models are cut to one length, the longest with which the page stays within ``_ALL`` characters.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol, TypeAlias

from pytest_fcbench.domain.entry import Entry, Group
from pytest_fcbench.domain.explanation import Explanation, ShownParameter, ShownTruth
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.text import put_on_one_line, write_value
from pytest_fcbench.domain.transcript import BUILTIN, ToolCall, completion_from_json
from pytest_fcbench.domain.verdict import (
    OTHER_RULES,
    SKIPPED,
    CallVerdict,
    Failed,
    NotScored,
    Passed,
    Profile,
    Verdict,
)
from pytest_fcbench.present.explanations import ComparisonRow, list_differences, list_pairs
from pytest_fcbench.present.failure_codes import find_failure_code, name_cause
from pytest_fcbench.present.score_tables import describe_difference
from pytest_fcbench.scorecard.aggregate.secondary_scores import count_trials
from pytest_fcbench.scorecard.record import Record, Usage
from pytest_fcbench.scorecard.scorecard_files import Scorecard

Done: TypeAlias = Sequence[Sequence[Sequence[tuple[str, str]]]]
"""The executed calls of a conversation, by turn and step: each call as text, and its result."""

Json: TypeAlias = dict[str, object]

Found: TypeAlias = Sequence[tuple[int, Record]]
"""Records of an entry, each with the place of its scorecard."""

_Turns: TypeAlias = Sequence[Sequence[Mapping[str, object]]]
"""The completions of each turn as JSON values."""

LONGEST = 20_000
"""The most characters that are shown of a model's text."""
_ALL = 32_000_000
"""The most characters of all texts of models together."""
_RESULT, _DESCRIPTION = 2_000, 300
"""The most characters of a call's result, and of a parameter's description."""


@dataclass(frozen=True, slots=True)
class SuiteInfo:
    """The knowledge of suites about the entries of scorecards."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    """Entries by key, without those that no suite here has."""
    done: Mapping[tuple[int, str], Done] = field(default_factory=dict)
    """Executed calls by the place of the scorecard and the item id, for conversations that execute calls."""
    notes: tuple[str, ...] = ()
    """The missing parts, with reasons."""
    explanations: Mapping[tuple[int, str], tuple[Profile, Explanation]] = field(default_factory=dict)
    """Explanations of failures with the profile that they are of, under the same keys as ``done``."""
    truths: Mapping[str, ShownTruth] = field(default_factory=dict)
    """The right answers of the entries."""

    def describe_entry(self, key: str, records: Found) -> SuiteInfo:
        """Return the knowledge about an entry and its Records: all of it."""
        return self


class Knowledge(Protocol):
    """The knowledge of suites about any entry: ``SuiteInfo``, or what finds it when it is asked."""

    @property
    def notes(self) -> Sequence[str]:
        """The missing parts, with reasons; complete once all entries were asked for."""

    def describe_entry(self, key: str, records: Found) -> SuiteInfo:
        """Return what is known about an entry and its whole Records."""


@dataclass(slots=True)
class Cause:
    """Why entries failed or have no verdict, in plain words, with the first of them."""

    name: str
    status: str
    code: str
    item_id: str
    count: int = 0

    def write_command(self, scorecard: Scorecard) -> str:
        """Write the command that shows the first entry; empty where its name cannot be pasted safely."""
        command = ["fcbench", "run", "show", self.item_id, "--scorecard", str(scorecard.path)]
        return text if put_on_one_line(text := shlex.join(command)) == text else ""


@dataclass(frozen=True, slots=True)
class Islands:
    """Both islands as text that can stand in a script element, and the causes of failures."""

    index: str
    lines: Sequence[str]
    """The elements of the array of entries."""
    causes: Sequence[Sequence[Cause]] = ()
    """The causes of each scorecard in the profile of the page, the most frequent first."""


def build_islands(
    scorecards: Sequence[Scorecard],
    labels: Sequence[str],
    knowledge: Knowledge,
    profile: Profile,
    against: Scorecard | None = None,
) -> Islands:
    """Build the islands of these scorecards, named by ``labels``; the page opens with one profile.

    ``against`` is the run that a single one is compared with.
    """
    items: dict[str, list[tuple[int, Record]]] = {}
    for place, scorecard in enumerate(scorecards):
        for record in scorecard.records:
            items.setdefault(record.entry, []).append((place, record))
    shared_texts = _Shared()
    conversations = chain(
        (card.read_whole(record).turns for card in scorecards for record in card.records),
        (held.turns for card in scorecards for held in card.facts.earlier),
    )
    longest = find_fair_length(map(len, _iterate_texts(conversations)), LONGEST, _ALL)
    held = {each.entry for card in scorecards for each in card.facts.earlier}
    asked_earlier: dict[str, Entry] = {}
    earlier: dict[str, list[int]] = {}
    for record in against.records if against else ():
        earlier.setdefault(record.entry, []).extend(_number_verdicts(record, shared_texts))
    rows, lines = [], []
    usage: list[list[list[float | None]]] = []
    causes: list[dict[str, Cause]] = [{} for _ in scorecards]
    for key, outlines in items.items():
        placed_records = [(place, scorecards[place].read_whole(record)) for place, record in outlines]
        suite_info = knowledge.describe_entry(key, placed_records)
        verdicts: list[list[int]] = [[] for _ in scorecards]
        for place, record in placed_records:
            verdicts[place] += _number_verdicts(record, shared_texts)
            _count_cause(causes[place], record, profile)
        usage.append([_sum_usage([r for at, r in placed_records if at == n]) for n in range(len(scorecards))])
        rows.append([_number(shared_texts.categories, placed_records[0][1].category), *verdicts])
        answers = [
            _describe_answer(place, record, scorecards[place], suite_info, shared_texts, longest)
            for place, record in placed_records
        ]
        # The entry may be of a suite that is not here.
        entry = suite_info.entries.get(key)
        truth = suite_info.truths.get(key, ShownTruth())
        entry_json = _describe_entry(entry, truth, shared_texts) if entry else {}
        before = {each.item_id: each for each in entry.earlier} if entry else {}
        asked_earlier |= before
        after = [item_id for item_id in before if item_id in held]
        # Text takes a small part of the memory of what it is made of.
        lines.append(
            write_inert_json(
                {"id": key, **entry_json, "answers": answers} | ({"after": after} if after else {})
            )
        )
    index = {
        "labels": list(labels),
        "options": [_write_options(scorecard) for scorecard in scorecards],
        "files": [shlex.quote(str(scorecard.path)) for scorecard in scorecards],
        "profile": profile.value,
        "categories": list(shared_texts.categories),
        "words": list(shared_texts.words),
        "tests": list(shared_texts.tests),
        "codes": {
            code: list(find_failure_code(code))
            for status, code, _ in shared_texts.words
            if status == "failed" and code
        },
        "functions": shared_texts.functions,
        "earlier": _describe_earlier(scorecards, asked_earlier, longest),
        "rows": rows,
        "usage": usage if any(number is not None for row in usage for of in row for number in of) else None,
        "before": [earlier.get(key, []) for key in items] if against else None,
    }
    ranked_causes = [sorted(each.values(), key=lambda cause: -cause.count) for each in causes]
    return Islands(write_inert_json(index), lines, ranked_causes)


_UNSAFE = re.compile(
    "[<>&\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
"""Characters that could end the script, or that are displayed otherwise than they are written."""


def write_inert_json(value: object) -> str:
    """Write a value as JSON on one line that can stand in a script element of a page."""
    # Only what is unsafe is escaped: ensure_ascii would make other scripts up to six times as long.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def find_fair_length(lengths: Iterable[int], longest: int, budget: int) -> int:
    """Find the length, at most ``longest``, to which texts are cut so that all keep to the budget."""
    sorted_lengths = sorted(lengths)
    # Shortest first: what a short text leaves of its share goes to the longer ones.
    for place, length in enumerate(sorted_lengths):
        share = budget // (len(sorted_lengths) - place)
        if length > share:
            return min(longest, share)
        budget -= length
    return longest


@dataclass(frozen=True, slots=True)
class _Shared:
    """Values that many entries share, each stored once under a number."""

    categories: dict[str, int] = field(default_factory=dict)
    words: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """Status, code and cause of a verdict."""
    tests: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    functions: list[list[object]] = field(default_factory=list)
    """Name and description of each function; name, type and description of its parameters."""

    def function(self, doc: FunctionDoc) -> int:
        """Return the number of a function; a new one is described."""
        key = f"{doc.name}\n{doc.description}\n{doc.parameters}"
        if key not in self.numbers:
            parameters = []
            for name, schema in doc.properties.items():
                kind = write_value(schema["enum"]) if "enum" in schema else str(schema.get("type", "any"))
                default = f", default {write_value(schema['default'])}" if "default" in schema else ""
                optional = "" if name in doc.required else ", optional"
                description = cut_text(str(schema.get("description", "")), _DESCRIPTION)
                parameters.append([name, cut_text(f"{kind}{default}{optional}", _DESCRIPTION), description])
            self.functions.append([doc.name, cut_text(doc.description, _RESULT), parameters])
        return _number(self.numbers, key)


def _number(numbers: dict[str, int], text: str) -> int:
    """Return the number of a text, the next one if it is new."""
    return numbers.setdefault(text, len(numbers))


def _number_verdicts(record: Record, shared_texts: _Shared) -> list[int]:
    """Return the numbers of the verdicts in each profile."""
    words = (_describe_outcome(record, profile) for profile in Profile)
    return [shared_texts.words.setdefault(word, len(shared_texts.words)) for word in words]


def _describe_outcome(record: Record, profile: Profile) -> tuple[str, str, str]:
    """Describe a verdict by its status, its code and its cause in plain words."""
    match verdict := record.verdict(profile):
        case Failed(code=code):
            return verdict.status, code, name_cause(record.verdicts, profile)
        case NotScored(cause=cause):
            return verdict.status, cause, cause.replace("_", " ")
    return verdict.status, "", ""


def _count_cause(causes: dict[str, Cause], record: Record, profile: Profile) -> None:
    """Count why a Record did not pass, unless nobody wanted its verdict."""
    status, code, name = _describe_outcome(record, profile)
    if name and (status == "failed" or code not in (*SKIPPED, OTHER_RULES)):
        causes.setdefault(name, Cause(name, status, code, record.item_id)).count += 1


def _sum_usage(records: Sequence[Record]) -> list[float | None]:
    """Sum the seconds, tokens and dollars of an entry in one run; None for what is not known."""
    spent = [record.usage for record in records]
    known = (
        [each.latency_s for each in spent if each.latency_s is not None],
        [each.input_tokens + (each.output_tokens or 0) for each in spent if each.input_tokens is not None],
        [each.usd for each in spent if each.usd is not None],
    )
    return [round(sum(numbers), 6) if numbers else None for numbers in known]


def _write_options(scorecard: Scorecard) -> str:
    """Write the options with which pytest asks the same model about the same suites, for a shell.

    Along golden paths also those by which conversations go on.
    """
    facts, trials = scorecard.facts, count_trials(scorecard.records)
    options = [f"--fcbench-model={facts.model}", f"--fcbench-mode={facts.mode}"]
    options += [f"--fcbench-suite={suite}" for suite in facts.suites]
    options += [f"--fcbench-trials={trials}"] if trials > 1 else []
    # core is the default, so it needs no option.
    options += [f"--fcbench-search={facts.search}"] if facts.search not in (None, "core") else []
    if means := facts.driven:
        options.append(f"--fcbench-profile={means.profile}")
        options += [f"--fcbench-judge={means.judge}"] if means.judge != BUILTIN else []
        options += [f"--fcbench-similarity={means.similarity}"] if means.similarity != "structured" else []
        options += ["--fcbench-responses=live"] if means.live else []
        options += [f"--fcbench-runner={means.runner}"] if means.runner else []
    return shlex.join(options)


def _describe_entry(entry: Entry, truth: ShownTruth, shared_texts: _Shared) -> Json:
    """Describe the questions and the expectation of an entry."""
    withheld = entry.late_functions
    turns = []
    for number, messages in enumerate(entry.turns):
        turn: Json = {"said": [[message.role, cut_text(message.shown_text, LONGEST)] for message in messages]}
        if number in withheld:
            turn["new"] = [shared_texts.function(doc) for doc in withheld[number]]
        turns.append(turn)
    description: Json = {"turns": turns, "functions": [shared_texts.function(doc) for doc in entry.functions]}
    # The requests of a check say less in the list than the property.
    if entry.category.group is Group.SERVER and not entry.functions and truth.rule:
        description["title"] = truth.rule
    for turn, calls in zip(turns, truth.turns, strict=False):
        turn["truth"] = list(calls)
    if truth.results:
        turns[0]["truth"] = [result.call for result in truth.results]
    if truth.calls:
        description["expected"] = [
            [call.name, [_describe_parameter(parameter) for parameter in call.parameters]]
            for call in truth.calls
        ]
    if rule := f"an answer that says {' or '.join(truth.texts)}" if truth.texts else truth.rule:
        description["rule"] = cut_text(rule, _RESULT)
    # Calls that lead to an answer in words are only one way to it.
    elif truth.steps:
        description["steps"] = [[cut_text(call, _RESULT) for call in step] for step in truth.steps]
    return description | ({"aside": entry.set_aside} if entry.set_aside else {})


def _describe_earlier(
    scorecards: Sequence[Scorecard], entries: Mapping[str, Entry], longest: int
) -> dict[str, Json]:
    """Describe the conversations that were held before those of entries, by item id."""
    lines: dict[str, Json] = {}
    for place, scorecard in enumerate(scorecards):
        for conversation in scorecard.facts.earlier:
            line = lines.setdefault(conversation.entry, {"id": conversation.entry, "answers": []})
            if entry := entries.get(conversation.entry):
                texts = [[[message.role, message.shown_text] for message in turn] for turn in entry.turns]
                line["turns"] = [{"said": messages} for messages in texts]
            answers = line["answers"]
            assert isinstance(answers, list)
            turns = _describe_turns(conversation.turns, conversation.steps, None, longest)
            answers.append({"of": place, "turns": turns})
    return lines


def _describe_parameter(parameter: ShownParameter) -> list[object]:
    """Describe a parameter by its name, the accepted values, and whether it may be left out."""
    shown = [cut_text(write_value(value), _RESULT) for value in parameter.values]
    return [parameter.name, shown, parameter.may_be_left_out]


def _describe_answer(
    place: int,
    record: Record,
    scorecard: Scorecard,
    suite_info: SuiteInfo,
    shared_texts: _Shared,
    longest: int,
) -> Json:
    key = (place, record.item_id)
    verdicts = [_describe_verdict(record.verdict(profile)) for profile in Profile]
    answer: Json = {"of": place, "verdicts": verdicts[:1] if verdicts[0] == verdicts[1] else verdicts}
    turns = _describe_turns(record.turns, record.steps, suite_info.done.get(key), longest)
    name, _, rest = scorecard.nodeids.get(record.item_id, "").partition("[")
    # The calls along a golden path, once where both profiles judged them alike.
    rows = {p: list(map(_describe_call_verdict, path.verdicts)) for p in Profile if (path := record.path(p))}
    paths: list[object] = [[f"{profile} profile", found] for profile, found in rows.items()]
    if len(rows) == len(Profile) and rows[Profile.OFFICIAL] == rows[Profile.CORRECTED]:
        paths = [["both profiles", rows[Profile.OFFICIAL]]]
    why: Json | None = None
    if key in suite_info.explanations:
        judged_by, explanation = suite_info.explanations[key]
        pairs = list(list_pairs(explanation.calls))
        if not pairs:
            found, expected = "\n".join(explanation.found or ("no answer",)), "\n".join(explanation.expected)
            pairs = [ComparisonRow("", "", found, expected, wrong=True)]
        differences = list(list_differences(explanation))
        why = {"profile": judged_by.value, "turn": explanation.turn, "rows": pairs, "state": differences}
    optional = {
        "trial": record.trial,
        "paths": paths,
        "why": why,
        "turns": turns,
        "took": format_usage(record.usage),
        # The script puts the node id together again; one that pytest named otherwise would come out wrong.
        "test": _number(shared_texts.tests, name) if rest == f"{record.item_id}]" else None,
    }
    return answer | {key: value for key, value in optional.items() if value not in (None, "", [])}


def _describe_turns(
    turns: _Turns, steps: Sequence[Usage], turn_results: Done | None, longest: int
) -> list[list[Json]]:
    # Steps are listed flat, turns are nested.
    usage = iter(steps)
    descriptions: list[list[Json]] = []
    for turn, answers in enumerate(turns):
        descriptions.append([])
        for number, completion in enumerate(map(completion_from_json, answers)):
            calls = [
                ["", cut_text(part, longest)]
                if isinstance(part, str)
                else [cut_text(part.name, longest), cut_text(_format_arguments(part), longest)]
                for part in completion.tool_calls or ()
            ]
            results = turn_results[turn][number] if turn_results else ()
            limit = min(longest, _RESULT)
            step: Json = {
                "fault": completion.fault,
                "reasoning": cut_text(completion.reasoning or "", longest),
                "text": cut_text(completion.text or "", longest),
                # The executed calls are the tool calls again, with their results.
                "calls": [] if results else calls,
                "done": [[cut_text(call, longest), cut_text(result, limit)] for call, result in results],
                "took": format_usage(next(usage, Usage())),
            }
            descriptions[-1].append({key: value for key, value in step.items() if value})
    return descriptions


def _describe_call_verdict(verdict: CallVerdict) -> list[str]:
    """Describe a call along a golden path: step, outcome, call, expected call, differences and reason."""
    outcome = "right" if verdict.right else verdict.code or "wrong"
    why = [
        describe_difference(one, lambda value: cut_text(write_value(value), _RESULT))
        for one in verdict.differences
    ]
    return [
        str(verdict.step),
        f"{outcome} ({verdict.stage})",
        _format_call(verdict.made),
        "" if verdict.expected is None else _format_call(verdict.expected),
        "\n".join([*why, *([cut_text(verdict.reason, _RESULT)] if verdict.reason else [])]),
    ]


def _format_call(call: Mapping[str, object]) -> str:
    return cut_text(f"{call.get('name')} {write_value(call.get('arguments'))}", _RESULT)


_KEYS = (
    *("turn", "function", "parameter", "at", "call", "calls"),
    *("found", "accepted", "expected", "code", "reason"),
)
"""Details of a failure in the order of their columns; others follow by name."""


def _describe_verdict(verdict: Verdict) -> list[object]:
    """Describe a verdict by status, code and reason; details of a failure follow as columns and rows."""
    if isinstance(verdict, Passed):
        return [verdict.status]
    if isinstance(verdict, NotScored):
        return [verdict.status, verdict.cause, verdict.reason]
    description: list[object] = [verdict.status, verdict.code, verdict.reason]
    rows: list[Mapping[str, object]] = [verdict.details]
    for key in ("differences", "misses"):
        if isinstance(detail_rows := verdict.details.get(key), list):
            rows = [row for row in detail_rows if isinstance(row, Mapping)]
    columns = [key for key in _KEYS if any(row.get(key) is not None for row in rows)]
    columns += sorted({str(key) for row in rows for key in row} - {*_KEYS, "differences", "misses"})
    if columns:
        values = [[row.get(key) for key in columns] for row in rows]
        texts = [
            ["" if v is None else cut_text(v if isinstance(v, str) else write_value(v), _RESULT) for v in row]
            for row in values
        ]
        description.append({"columns": columns, "rows": texts})
    return description


def _format_arguments(call: ToolCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else write_value(call.arguments)


def _iterate_texts(conversations: Iterable[_Turns]) -> Iterator[str]:
    """Yield all texts of models that are subject to the limit."""
    for turns in conversations:
        for turn in turns:
            for completion in map(completion_from_json, turn):
                yield completion.text or ""
                yield completion.reasoning or ""
                for part in completion.tool_calls or ():
                    yield part if isinstance(part, str) else _format_arguments(part)


def format_usage(usage: Usage) -> str:
    """Write the known seconds, tokens and dollars of a step or a conversation."""
    parts = (
        None if usage.latency_s is None else f"{usage.latency_s:.2f} s",
        None if usage.input_tokens is None else f"{usage.input_tokens:,} tokens in",
        None if usage.output_tokens is None else f"{usage.output_tokens:,} out",
        None if usage.usd is None else f"${usage.usd:.6f}",
    )
    return ", ".join(part for part in parts if part)


def cut_text(text: str, longest: int) -> str:
    """Shorten a text to its beginning and state its full length."""
    return text if len(text) <= longest else f"{text[:longest]}… (cut: {len(text):,} characters)"
