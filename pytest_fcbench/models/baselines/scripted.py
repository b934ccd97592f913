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
from functools import partial
from pathlib import Path

from pytest_fcbench.codecs.presenting import find_shown_name, select_tool_calls
from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError, SuiteError, UsageError
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.transcript import AskModel, Call, Completion
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.models.provider import Chosen, Provider, find_file, open_plain_model


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
        # Arguments given as text are sent as they are: they can be broken on purpose.
        texts = [field.value if isinstance(field.value, str) else None for _, field in calls]
        read = [
            Call(name, {key: each.value for key, each in field.members().items()} if text is None else {})
            for (name, field), text in zip(calls, texts, strict=True)
        ]
        completion = render_completion(read, entry, self.prompting, request.tools)
        if all(text is None for text in texts):
            return completion
        if self.prompting.mode is Mode.FC:
            pairs = zip(select_tool_calls(completion), texts, strict=True)
            made_calls = [call if text is None else replace(call, arguments=text) for call, text in pairs]
            return Completion(tool_calls=tuple(made_calls))
        plain = replace(entry, variation=None)
        call_texts = [
            str(render_completion([call], plain, self.prompting).text)[1:-1]
            if text is None
            else f"{find_shown_name(call.name, entry, self.prompting)}({text})"
            for call, text in zip(read, texts, strict=True)
        ]
        return Completion(text=f"[{', '.join(call_texts)}]")


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
    return open_plain_model(partial(load, find_file(argument, settings)), argument, settings)


PROVIDER = Provider(_open_model, "FILE", "answers from a YAML file", needs_network=False)
