"""Recorded answers: a folder in the official result layout, or a scorecard of ours.

Official files (``BFCL_v4_<category>_result.json``, JSON lines) answer entries of the suite ``bfcl``.
Their mode and syntax are guessed from the results as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from pytest_fcbench.domain.entry import Entry, Group
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import DEFAULT_SYNTAX, Mode, Names
from pytest_fcbench.domain.text import read_reply_text
from pytest_fcbench.domain.transcript import WEBS, AskModel, Completion, Fault, Party, Turns
from pytest_fcbench.models.baselines.result_rows import read_turns
from pytest_fcbench.models.official_models import find_folder_family
from pytest_fcbench.models.provider import Chosen, Provider, RecordedSettings, choose_manner, find_file
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.record import restore_completion

_NOT_KEPT = Completion(text='{"error": "the answer was not kept"}')
"""A stand-in for answers of the web, which official files leave out; no verdict depends on it."""
_DOTTED_SHARE = 0.02
"""With more calls whose name has a dot, the model was shown dotted names. Of real models that saw such names,
12 to 42 % of calls have one; of the others at most 0.1 %."""
_RENAMED = {"simple": "simple_python", "java": "simple_java", "javascript": "simple_javascript"}
"""The categories that had other names until version 3 of the leaderboard."""


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
            reason = f"{self.path} has no answer from the {request.party} for {name}"
            raise NotScoredError("no_result", reason)
        turns = self.answers.get(name)
        if turns is None:
            raise NotScoredError("no_result", f"{self.path} has no result for {name}")
        if len(turns) == len(turns[-1]) == 1 and turns[0][0].fault:
            # The error of a whole conversation.
            return turns[0][0]
        if native := self.native:
            turns = tuple(tuple(read_answer(step, native, request.tools) for step in turn) for turn in turns)
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
    answers, repeats = _read_files(files)
    recorded_settings, reading_notes = _recognise_manner(path, answers)
    notes = list(reading_notes)
    if repeats:
        notes.append(
            "entries with more than one result in a file, of which the last one counts: "
            f"{len(repeats):,} ({', '.join(repeats[:3])}{', ...' if len(repeats) > 3 else ''})"
        )
    return ReplayModel(path, answers, recorded_settings, notes=tuple(notes), from_results=True)


def _read_files(files: Sequence[Path]) -> tuple[dict[str, Turns], list[str]]:
    """Read result files; return answers by entry key, and the keys that a file answers again."""
    answers: dict[str, Turns] = {}
    origin: dict[str, Path] = {}
    repeats: list[str] = []
    for file in files:
        for number, line in enumerate(file.read_bytes().splitlines(), 1):
            if not line.strip():
                continue
            try:
                # What is nested too deeply is left out, as in replies of an endpoint.
                row: object = read_reply_text(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{file}:{number}: not JSON: {error}") from None
            if not isinstance(row, Mapping) or not isinstance(row.get("id"), str) or "result" not in row:
                raise UsageError(f"{file}:{number}: a result must have 'id' and 'result'")
            entry_id = row["id"]
            category, _, entry_number = entry_id.rpartition("_")
            if category in _RENAMED and entry_number.isdecimal():
                entry_id = f"{_RENAMED[category]}_{entry_number}"
            key = f"bfcl:{entry_id}"
            if origin.get(key) == file:
                repeats.append(key)
            elif key in answers:
                raise UsageError(
                    f"{key} has results in both {origin[key]} and {file}; give the folder of a single model"
                )
            answers[key], origin[key] = read_turns(row), file
    return answers, list(dict.fromkeys(repeats))


def _recognise_manner(path: Path, answers: Mapping[str, Turns]) -> tuple[RecordedSettings, list[str]]:
    """Recognise mode, syntax and names by the folder's name, else by the answers; return notes, too."""
    if folder_family := find_folder_family(path.name):
        model, family = folder_family
        manner = RecordedSettings(answers.keys(), family.mode, family.syntax, family.names)
        if family.syntax in DEFAULT_SYNTAX.values():
            return manner, []
        return manner, [f"answers are read as those of {model} ({family.syntax}, {family.names} names)"]
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
    recorded_settings = RecordedSettings(
        answers.keys(), mode, syntax, names, facts.driven, facts.rated_by, facts.most_shots or None
    )
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
