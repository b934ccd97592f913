"""Answers from a file written by hand, for tests and for trials without a model.

    answers:
      core:simple_python_0: "[weather.forecast(city='Bergen', days=3)]"
      core:parallel_1:                 # calls, written in the run's mode
        - lamp.set: {room: kitchen, on: true}
      core:multi_turn_base_3:          # turns of steps, each a text or calls
        turns:
          - - - cd: {folder: docs}
            - I am there.
    default: I cannot help with that.  # for every other entry and step; without it they are not scored

An argument list given as text (``lamp.set: '{"room": '``) goes into the answer as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_fcbench.codecs.presenting import find_shown_name
from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError, SuiteError, UsageError
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.transcript import AskModel, Call, Completion, ToolCall
from pytest_fcbench.models.provider import Chosen, Provider, choose_plain_manner, find_file
from pytest_fcbench.suites.formats.fields import Field, read_yaml


@dataclass(frozen=True, slots=True)
class ScriptedModel:
    """A model that answers each entry as the file says."""

    path: Path
    answers: Field
    """The answers by key of the entry; of a hundred thousand, a field for each would take much memory."""
    default: Field | None
    prompting: Prompting
    immediate: bool = True
    notes: tuple[str, ...] = ()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Return the scripted answer. Raises ``NotScoredError`` where there is none."""
        whole = self.answers.at(entry.key)
        answer: Field | None = whole
        # A mapping has the answers turn by turn; the default serves turns and steps beyond them.
        if isinstance(whole.value, Mapping):
            turns = list(whole.members()["turns"].elements())
            steps = list(turns[request.turn].elements()) if request.turn < len(turns) else []
            answer = steps[request.step] if request.step < len(steps) else None
        # An answer is never empty, so nothing stands there where the file has none.
        if answer is None or answer.value is None:
            answer = self.default
        if answer is None:
            single = entry.category.single_turn
            where = "" if single else f"turn {request.turn + 1}, step {request.step + 1} of "
            reason = f"{self.path} has no answer for {where}{entry.key} and no 'default'; add one of them"
            raise NotScoredError("no_result", reason)
        if not isinstance(answer.value, list):
            return Completion(text=answer.text())
        calls = [next(iter(element.members().items())) for element in answer.elements()]
        if not any(isinstance(arguments.value, str) for _, arguments in calls):
            return render_completion(
                [_read_call(*call) for call in calls], entry, self.prompting, request.tools
            )
        # Arguments given as text are sent as they are: they can be broken on purpose.
        plain = replace(entry, variation=None)
        written = [self._write_call(name, arguments, plain, request) for name, arguments in calls]
        if self.prompting.mode is Mode.PROMPT:
            return Completion(text=f"[{', '.join(str(each.text) for each in written)}]")
        made = [call for each in written for call in each.tool_calls or () if isinstance(call, ToolCall)]
        numbered = (replace(call, id=f"call_{index}") for index, call in enumerate(made))
        return Completion(tool_calls=tuple(numbered))

    def _write_call(self, name: str, arguments: Field, entry: Entry, request: AskModel) -> Completion:
        """Write a call alone; as text without the brackets of a list."""
        if isinstance(arguments.value, str):
            shown = find_shown_name(name, entry, self.prompting, request.tools)
            call = ToolCall(shown, arguments.value)
            return Completion(text=f"{shown}({arguments.value})", tool_calls=(call,))
        made = render_completion([_read_call(name, arguments)], entry, self.prompting, request.tools)
        return replace(made, text=made.text and made.text[1:-1])


def _read_call(name: str, arguments: Field) -> Call:
    return Call(name, {key: field.value for key, field in arguments.members().items()})


def load(path: Path, prompting: Prompting) -> ScriptedModel:
    """Read the file. Raises ``UsageError`` with file, line and field."""
    try:
        top = Field(read_yaml(path), path).members(("answers",), ("default",))
        # All answers are checked here, so that a mistake in the file is found before the first entry runs.
        for answer in top["answers"].members().values():
            if isinstance(answer.value, Mapping):
                turns = answer.members(("turns",))["turns"].elements()
                steps = [step for turn in turns for step in turn.elements()]
            else:
                steps = [answer]
            for step in steps:
                _check_step(step)
        if "default" in top:
            _check_step(top["default"])
    except SuiteError as error:
        raise UsageError(f"scripted:{error}") from None
    return ScriptedModel(path, top["answers"], top.get("default"), prompting)


def _check_step(answer: Field) -> None:
    if not isinstance(answer.value, list):
        answer.text()
        return
    for element in answer.elements():
        if len(element.members()) != 1:
            raise element.error("must map one function name to its arguments")
        arguments = next(iter(element.members().values()))
        if not isinstance(arguments.value, str):
            arguments.members()


def _open_model(argument: str, settings: Settings) -> Chosen:
    manner = choose_plain_manner(settings)
    return Chosen(load(find_file(argument, settings), manner.prompting), manner)


PROVIDER = Provider(_open_model, "FILE", "answers from a YAML file", needs_network=False)
