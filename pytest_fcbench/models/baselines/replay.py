"""Recorded answers: a folder in the official result layout, or a scorecard of ours.

Official files (``BFCL_v4_<category>_result.json``, JSON lines) answer entries of the suite ``bfcl``.
Their mode and syntax are guessed from the results as a whole.

A row of such a file is ``{id, result, input_token_count, output_token_count, latency}``, with
``reasoning_content`` where there is one. The result is text, or a list of ``{name: arguments}`` and text
parts. In a multi-turn row it, the counts and the reasoning are lists of turns, each a list of steps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path

from pytest_fcbench.codecs.decoders.native_syntaxes import NativeSyntax, read_answer
from pytest_fcbench.codecs.decoders.registry import (
    SYNTAXES,
    find_native_syntax,
    guess_syntax,
    list_calls_to_make,
    read_official,
)
from pytest_fcbench.codecs.decoders.syntax import Calls
from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.entry import SELECTIONS, Category, Entry, Group
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import DEFAULT_SYNTAX, Mode, Names
from pytest_fcbench.domain.text import read_reply_text
from pytest_fcbench.domain.transcript import (
    WEBS,
    AskModel,
    Completion,
    Fault,
    Party,
    Transcript,
    Turns,
    completion_to_json,
    part_from_json,
)
from pytest_fcbench.models.official_models import find_folder_family
from pytest_fcbench.models.provider import Chosen, Provider, RecordedSettings, choose_manner, find_file
from pytest_fcbench.models.providers.failures import diagnose_failure
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.record import restore_completion


@dataclass(frozen=True, slots=True)
class ReplayModel:
    """A model that gives recorded completions by entry key (``suite:id``)."""

    path: Path
    answers: Mapping[str, Turns]
    """By item id; the first of several trials goes by the plain key."""
    recorded: RecordedSettings
    immediate: bool = True
    notes: tuple[str, ...] = ()
    asides: Mapping[str, Mapping[str, Completion]] = field(default_factory=dict)
    """Answers of other parties by item id and digest of the question."""
    from_results: bool = False
    """True where the answers come from official result files."""
    native: NativeSyntax | None = None
    """The syntax of calls in texts, which no server read."""

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Return the recorded completion. Raises ``NotScoredError`` where there is none."""
        # A recording of a single run also serves as the first of several trials.
        name = entry.key if entry.trial == 1 else entry.item_id
        if request.party is not Party.MODEL:
            if answer := self.asides.get(name, {}).get(request.digest):
                return answer
            if request.party in WEBS:
                return _NOT_KEPT
            raise NotScoredError(
                "no_result", f"{self.path} has no answer from the {request.party} for {name}"
            )
        turns = self.answers.get(name)
        if turns is None:
            raise NotScoredError("no_result", f"{self.path} has no result for {name}")
        if len(turns) == len(turns[-1]) == 1 and turns[0][0].fault:
            # The error of a whole conversation.
            return turns[0][0]
        if self.native:
            turns = tuple(
                tuple(read_answer(step, self.native, request.tools) for step in turn) for turn in turns
            )
        if self.from_results and entry.category.group is Group.MULTI_TURN:
            return self._end_turn_as_officially(turns, request, len(entry.turns))
        if request.turn >= len(turns) or request.step >= len(turns[request.turn]):
            where = f"turn {request.turn + 1}, step {request.step + 1}"
            raise NotScoredError("no_result", f"{self.path} has no result for {where} of {name}")
        return turns[request.turn][request.step]

    def _end_turn_as_officially(self, turns: Turns, request: AskModel, turn_count: int) -> Completion:
        """Return the recorded completion, or one that ends a turn or conversation where the recording does.

        Official: a turn is over behind its last step, be that a call; a result with another number of turns
        than the truth was ended by force (``multi_turn_checker``).
        """
        steps = turns[request.turn] if request.turn < len(turns) else ()
        completion = steps[request.step] if request.step < len(steps) else Completion(text="")
        if len(turns) == turn_count or request.turn < min(len(turns), turn_count - 1) or completion.fault:
            return completion
        # Only the step that ends the turn says so, so that all steps are in the record.
        goes_on = request.step < len(steps) - 1 and list_calls_to_make(
            completion, (DEFAULT_SYNTAX[Mode.FC] if self.native else self.recorded.syntax) or "python"
        )
        return completion if goes_on else replace(completion, fault=Fault.OTHER_TURNS)


_NOT_KEPT = Completion(text='{"error": "the answer was not kept"}')
"""A stand-in for answers of the web, which official files leave out; no verdict depends on it."""


def load(path: Path) -> ReplayModel:
    """Read all results below a folder, or one file. Raises ``UsageError`` with file and line."""
    if path.is_file() and not path.name.endswith("_result.json"):
        return _load_scorecard(path)
    files = [path] if path.is_file() else sorted(path.rglob("*_result.json"))
    if not files:
        raise UsageError(
            f"replay:{path}: there is no *_result.json below it; give the folder of one model's results "
            "(result/<model>) or a scorecard.json"
        )
    answers: dict[str, Turns] = {}
    origin: dict[str, Path] = {}
    repeats: list[str] = []
    for file in files:
        for number, line in enumerate(file.read_bytes().splitlines(), 1):
            if not line.strip():
                continue
            try:
                # As of an endpoint, what is deep in it is left out.
                row: object = read_reply_text(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{file}:{number}: not JSON: {error}") from None
            if not isinstance(row, Mapping) or not isinstance(row.get("id"), str) or "result" not in row:
                raise UsageError(f"{file}:{number}: a result must have 'id' and 'result'")
            key = f"bfcl:{_rename_to_today(row['id'])}"
            if origin.get(key) == file:
                repeats.append(key)
            elif key in answers:
                raise UsageError(
                    f"{key} has results in both {origin[key]} and {file}; give the folder of a single model"
                )
            answers[key], origin[key] = read_turns(row), file
    recorded_settings, reading_notes = _recognise_manner(path, answers)
    notes = list(reading_notes)
    if repeats:
        notes.append(
            "entries with more than one result in a file, of which the last one counts: "
            f"{len(repeats):,} ({', '.join(repeats[:3])}{', ...' if len(repeats) > 3 else ''})"
        )
    return ReplayModel(path, answers, recorded_settings, notes=tuple(notes), from_results=True)


_DOTTED_SHARE = 0.02
"""The share of calls with a dot in their name from which on dotted names were shown: of real models that saw
them, 12 to 42 % of calls have one, of the others 0.1 % at most."""


def _recognise_manner(path: Path, answers: Mapping[str, Turns]) -> tuple[RecordedSettings, list[str]]:
    """Recognise mode, syntax and names of answers: by the folder's name, else by their look; with notes."""
    if folder_family := find_folder_family(path.name):
        model, family = folder_family
        family_notes = [f"answers are read as those of {model} ({family.syntax}, {family.names} names)"]
        plain = family.syntax in DEFAULT_SYNTAX.values()
        return RecordedSettings(
            answers.keys(), family.mode, family.syntax, family.names
        ), [] if plain else family_notes
    steps = [step for turns in answers.values() for turn in turns for step in turn]
    mode, syntax, names = Mode.PROMPT, DEFAULT_SYNTAX[Mode.PROMPT], None
    # A single tool call settles it: a row of prompting mode has text only.
    if any(step.tool_calls for step in steps):
        mode, syntax = Mode.FC, DEFAULT_SYNTAX[Mode.FC]
    elif guess := guess_syntax([step.text for step in steps if step.text and not step.in_parts]):
        native = find_native_syntax(guess)
        reader = None if native else SYNTAXES[guess]
        mode, syntax = reader.mode if reader else Mode.FC, guess
        steps = [read_answer(step, native, ()) for step in steps] if native else steps
    if mode is Mode.FC:
        own_syntax = DEFAULT_SYNTAX[Mode.FC] if find_native_syntax(syntax) else syntax
        readings = (read_official(step, own_syntax, Language.PYTHON) for step in steps)
        calls = [call for reading in readings if isinstance(reading, Calls) for call in reading.calls]
        dotted_count = sum("." in call.name for call in calls)
        names = Names.DOTTED if dotted_count > _DOTTED_SHARE * len(calls) else Names.UNDERSCORED
    notes = []
    if syntax not in DEFAULT_SYNTAX.values() or names is Names.DOTTED:
        notes.append(
            f"answers look like {syntax} with {names} names; --fcbench-as=OFFICIAL_ID, --fcbench-syntax "
            "and --fcbench-names say otherwise"
        )
    return RecordedSettings(answers.keys(), mode, syntax, names), notes


_RENAMED = {"simple": "simple_python", "java": "simple_java", "javascript": "simple_javascript"}
"""The categories that had other names until version 3 of the leaderboard."""


def _rename_to_today(entry_id: str) -> str:
    """Return the id that an entry has today; until version 3 ids of three categories had other beginnings."""
    category, _, number = entry_id.rpartition("_")
    return f"{_RENAMED[category]}_{number}" if category in _RENAMED and number.isdecimal() else entry_id


def _load_scorecard(path: Path) -> ReplayModel:
    """Load the answers of a scorecard of ours. Raises ``UsageError``."""
    answers: dict[str, Turns] = {}
    asides: dict[str, Mapping[str, Completion]] = {}
    try:
        card = scorecard_files.load_scorecard(path)
        for record in card.records:
            # The first of several trials also answers for a run of a single one.
            name = record.entry if record.trial == 1 else record.item_id
            if record.turns:
                if sum(map(len, record.turns)) != len(record.steps):
                    raise TypeError(f"{record.item_id}: each step has a completion")
                steps = iter(record.steps)
                answers[name] = tuple(
                    tuple(
                        replace(restore_completion(each, next(steps)), served=record.served) for each in turn
                    )
                    for turn in record.turns
                )
            if record.asides:
                asides[name] = {aside.digest: aside.completion for aside in record.asides}
        manners = {(Mode(r.mode), r.syntax, Names(r.names)) for r in card.records}
    except UsageError as error:
        raise UsageError(f"replay:{path}: must be a *_result.json or a scorecard: {error}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"replay:{path}: invalid scorecard: {error}; give the scorecard.json of a benchmark run"
        ) from None
    if not answers:
        raise UsageError(f"replay:{path}: contains no answers; give the scorecard of a benchmark run")
    if len(manners) != 1:
        raise UsageError(
            f"replay:{path}: its answers were requested in {len(manners)} different ways (mode, "
            f"names, syntax); replay one of them"
        )
    mode, syntax, names = manners.pop()
    facts = card.facts
    recorded_settings = RecordedSettings(answers.keys(), mode, syntax, names, facts.driven, facts.rated_by)
    return ReplayModel(path, answers, recorded_settings, asides=asides)


def _open_model(argument: str, settings: Settings) -> Chosen:
    model = load(find_file(argument, settings))
    if not (settings.mode or settings.syntax or settings.read_as):
        model = replace(model, native=find_native_syntax(model.recorded.syntax))
    return Chosen(model, choose_manner(settings, model.recorded), model.recorded)


PROVIDER = Provider(
    _open_model,
    "PATH",
    "answers of an earlier run, from a scorecard or official result files",
    needs_network=False,
    answers_questions=False,
)


# The official generator writes it as the result of an entry for which a call failed.
_ERROR = "Error during inference:"
_OVERFLOW = re.compile(
    r"context length|context ?window|maximum context|context_length_exceeded", re.IGNORECASE
)


def find_result_path(category: Category, kind: str = "result") -> Path:
    """Return the path of a category's results, or of its scores (``kind``), within a model's folder."""
    # Officially each kind of memory has a folder of its own.
    in_memory = category.name in SELECTIONS["memory"]
    folders = ("memory", category.name.removeprefix("memory_")) if in_memory else ()
    return Path(category.group, *folders, f"BFCL_v4_{category.name}_{kind}.json")


_VENDOR_KEYS = ({"tool_name", "parameters"}, {"name", "arguments"})
_MANY_TURNS = "multi_turn"
"""The beginning of the ids of conversations that are judged by states."""
_PER_STEP = ("result", "input_token_count", "output_token_count", "latency", "reasoning_content")


def read_turns(row: Mapping[str, object]) -> Turns:
    """Return the completions of a row by turn and step."""
    result = row["result"]
    if not isinstance(result, list) or not result:
        return ((_read_step(row),),)
    if str(row.get("id")).startswith(_MANY_TURNS) and all(isinstance(turn, str) for turn in result):
        # Official: the characters of a text are taken for its steps, none of which is a call.
        return tuple((Completion(text=turn, in_parts=True),) for turn in result)
    if not all(isinstance(turn, list) for turn in result):
        return ((_read_step(row),),)
    return tuple(
        tuple(
            _read_step({key: _find_element(_find_element(row.get(key), turn), step) for key in _PER_STEP})
            for step in range(len(steps))
        )
        for turn, steps in enumerate(result)
    )


def _find_element(value: object, index: int) -> object:
    return value[index] if isinstance(value, list) and index < len(value) else None


def _read_step(row: Mapping[str, object]) -> Completion:
    """Read the completion of a step. Counts of any other shape than a number are unknown."""
    result = row["result"]
    text, tool_calls, fault = None, None, None
    if isinstance(result, list):
        # Objects of vendors with a key for the name stay as they are: which key that is, the syntax knows.
        tool_calls = tuple(
            json.dumps(item)
            if isinstance(item, dict) and any(keys <= item.keys() for keys in _VENDOR_KEYS)
            else part_from_json(item)
            for item in result
        )
    elif isinstance(result, str):
        text = result
        if text.startswith(_ERROR):
            known_fault = Fault.OVERFLOW if _OVERFLOW.search(text) else diagnose_failure(200, text).fault
            fault = known_fault or Fault.INFERENCE_ERROR
    elif result is not None:
        text = json.dumps(result)
    reasoning = row.get("reasoning_content")
    return Completion(
        text=text,
        tool_calls=tool_calls,
        reasoning=reasoning if isinstance(reasoning, str) else None,
        input_tokens=_read_count(row.get("input_token_count")),
        output_tokens=_read_count(row.get("output_token_count")),
        latency_s=_read_number(row.get("latency")),
        fault=fault,
    )


def select_judged_text(transcript: Transcript) -> Turns:
    """Return completions as rows store them: without tool calls where calls are written as text."""
    if transcript.prompting.syntax == "tool_calls":
        return transcript.answers
    return tuple(tuple(replace(answer, tool_calls=None) for answer in turn) for turn in transcript.answers)


def write_row(entry: Entry, turns: Turns) -> dict[str, object]:
    """Write the row of an entry's completions; unknown values are left out.

    The text of a fault says that it is one, as the official generator writes it. A row cannot hold a text
    beside tool calls, nor ids of tool calls.
    """
    if turns[-1][-1].fault is Fault.OTHER_TURNS:
        # So that the row has another number of turns than the entry again: one less, or an empty one more.
        whole = replace(turns[-1][-1], fault=None)
        turns = turns[:-1] if whole == Completion(text="") else (*turns[:-1], (*turns[-1][:-1], whole), ())
    steps: list[list[Mapping[str, object]]] = []
    for turn in turns:
        steps.append([])
        for completion in turn:
            text, calls = completion.text, completion_to_json(completion)["tool_calls"]
            if completion.fault and not (text or "").startswith(_ERROR):
                text = f"{_ERROR} {text}"
            steps[-1].append(
                {
                    "result": text if calls is None else calls,
                    "input_token_count": completion.input_tokens,
                    "output_token_count": completion.output_tokens,
                    "latency": completion.latency_s,
                    "reasoning_content": completion.reasoning,
                }
            )
    row: dict[str, object] = {"id": entry.id}
    for name in _PER_STEP:
        values = [[step[name] for step in turn_steps] for turn_steps in steps]
        if entry.category.single_turn or (turns[-1] and turns[-1][-1].fault):
            value = values[-1][-1]
            is_known = value is not None or name == "result"
        else:
            value = [_join_text(turn, parts) for turn, parts in zip(turns, values, strict=True)]
            is_known = name == "result" or any(part is not None for parts in values for part in parts)
        if is_known:
            row[name] = value
    return row


def _join_text(turn: Sequence[Completion], values: list[object]) -> object:
    """Return the values of a turn's steps; the text of a turn that was a text is not put into a list."""
    return values[0] if len(turn) == 1 and turn[0].in_parts and values[0] is not None else values


def _read_number(value: object) -> float | None:
    """Return a finite number, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        # JSON can have a whole number that is too large for a float.
        return None
    return number if isfinite(number) else None


def _read_count(value: object) -> int | None:
    """Return a number cut to a whole one, None for anything else."""
    number = _read_number(value)
    return None if number is None else int(number)
