"""A file of answers answers as it is written, and is refused where it is broken."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import Entry, Variation
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.prompting import AnswerNotation, Mode, Names, PromptFormat, Prompting
from pytest_fcbench.domain.transcript import Completion, ToolCall
from pytest_fcbench.models.baselines import scripted
from tests.cases import each_case
from tests.factories import ask_model, make_doc, make_entry, make_golden_path, make_multi_turn

FILE = """\
answers:
  core:simple_python_0: "[lamp.set(room='hall')]"
  core:parallel_0:
    - lamp.set: {room: hall, bright: true}
    - lamp.set: {room: attic}
  core:multiple_0:
    - lamp.set: '{"room": '
"""

LAMP = make_doc("lamp.set", {"room": {"type": "string"}, "bright": {"type": "boolean"}}, ["room"])


def _make_lamp_entry(category: str = "simple_python", number: int = 0) -> Entry:
    return make_entry(category, functions=[LAMP], expect=[{"lamp.set": {}}], entry_id=f"{category}_{number}")


def _load_model(
    folder: Path, text: str = FILE, mode: Mode = Mode.FC, names: Names = Names.UNDERSCORED
) -> scripted.ScriptedModel:
    path = folder / "answers.yaml"
    path.write_text(text, encoding="utf-8")
    return scripted.load(path, Prompting.make_default(mode, names))


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_text_is_given_as_it_stands(tmp_path: Path, mode: Mode) -> None:
    assert ask_model(_load_model(tmp_path, mode=mode), _make_lamp_entry()) == Completion(
        text="[lamp.set(room='hall')]"
    )


def test_calls_become_tool_calls_with_names_as_shown(tmp_path: Path) -> None:
    assert ask_model(_load_model(tmp_path), _make_lamp_entry("parallel")) == Completion(
        tool_calls=(
            ToolCall("lamp_set", '{"room": "hall", "bright": true}', "call_0"),
            ToolCall("lamp_set", '{"room": "attic"}', "call_1"),
        )
    )


def test_calls_become_text_in_prompting_mode(tmp_path: Path) -> None:
    model = _load_model(tmp_path, mode=Mode.PROMPT, names=Names.DOTTED)
    assert ask_model(model, _make_lamp_entry("parallel")) == Completion(
        text="[lamp.set(room='hall', bright=True), lamp.set(room='attic')]"
    )


def test_arguments_given_as_text_stay_as_they_are(tmp_path: Path) -> None:
    answer = ask_model(_load_model(tmp_path, names=Names.DOTTED), _make_lamp_entry("multiple"))
    assert answer == Completion(tool_calls=(ToolCall("lamp.set", '{"room": ', "call_0"),))


def test_an_empty_list_is_a_reply_without_calls(tmp_path: Path) -> None:
    model = _load_model(tmp_path, "answers:\n  core:irrelevance_0: []\n")
    assert ask_model(model, _make_lamp_entry("irrelevance")) == Completion(tool_calls=())


def test_the_default_answers_every_other_entry(tmp_path: Path) -> None:
    model = _load_model(tmp_path, FILE + "default: No.\n")
    assert ask_model(model, _make_lamp_entry(number=7)) == Completion(text="No.")
    assert ask_model(model, _make_lamp_entry(number=0)) != Completion(text="No.")


def test_without_answer_and_default_an_entry_is_not_scored(tmp_path: Path) -> None:
    model = _load_model(tmp_path)
    with pytest.raises(NotScoredError) as caught:
        ask_model(model, _make_lamp_entry(number=7))
    assert caught.value.cause == "no_result"
    assert (
        caught.value.reason
        == f"{model.path} has no answer for core:simple_python_7 and no 'default'; add one of "
        f"them"
    )


@each_case(
    ("text", "says"),
    [
        pytest.param("default: No.\n", "1: file: has no 'answers'", id="no answers"),
        pytest.param(
            "answers: {}\ndefualt: No.\n",
            "2: defualt: unknown key 'defualt'. Did you mean 'default'? Valid: answers, default.",
            id="unknown key",
        ),
        pytest.param("answers: No.\n", "1: answers: must be a mapping, not str 'No.'", id="answers are text"),
        pytest.param(
            "answers:\n  core:a_0: yes\n  core:a_1: No.\n",
            "2: answers.core:a_0: must be text, not bool True; put it in quotes",
            id="answer of another kind",
        ),
        pytest.param(
            "answers:\n  core:a_0:\n  core:a_1: No.\n",
            "2: answers.core:a_0: must be text, not empty; put it in quotes",
            id="empty answer",
        ),
        pytest.param(
            "answers: {}\ndefault: 5\n",
            "2: default: must be text, not int 5; put it in quotes",
            id="default of another kind",
        ),
        pytest.param(
            "answers: {}\ndefault:\n  turns: [[No.]]\n",
            "2: default: must be text, not dict {'turns': [['No.']]}; put it in quotes",
            id="turns for a default",
        ),
        pytest.param(
            "answers:\n  core:a_0:\n    - f: {}\n      g: {}\n",
            "3: answers.core:a_0.0: must map one function name to its arguments",
            id="two names in a call",
        ),
        pytest.param(
            "answers:\n  core:a_0:\n    - f\n",
            "3: answers.core:a_0.0: must be a mapping, not str 'f'",
            id="a call without arguments",
        ),
        pytest.param(
            "answers:\n  core:a_0:\n    turn: []\n",
            "3: answers.core:a_0.turn: unknown key 'turn'. Did you mean 'turns'? Valid: turns.",
            id="neither text nor calls nor turns",
        ),
        pytest.param(
            "answers:\n  core:a_0:\n    turns: No.\n",
            "3: answers.core:a_0.turns: must be a list, not str 'No.'",
            id="turns are text",
        ),
        pytest.param(
            "answers:\n  core:a_0:\n    turns:\n      - No.\n",
            "4: answers.core:a_0.turns.0: must be a list, not str 'No.'",
            id="a turn is text",
        ),
        pytest.param(
            "answers:\n  core:a_0:\n    turns:\n      - [No., 5]\n",
            "4: answers.core:a_0.turns.0.1: must be text, not int 5; put it in quotes",
            id="step of another kind",
        ),
        pytest.param(
            "answers:\n  core:a_0:\n    turns:\n      - []\n      - - - f: 5\n",
            "5: answers.core:a_0.turns.1.0.0.f: must be a mapping, not int 5",
            id="arguments of another kind in a step",
        ),
        pytest.param(
            "answers:\n  core:a_0:\n    turns:\n      - - turns: []\n",
            "4: answers.core:a_0.turns.0.0: must be text, not dict {'turns': []}; put it in quotes",
            id="turns in a step",
        ),
    ],
)
def test_a_broken_file_is_told_with_line_and_field(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        _load_model(tmp_path, text)
    assert str(caught.value) == f"scripted:{tmp_path / 'answers.yaml'}:{says}"


def test_a_file_that_is_not_yaml_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^scripted:.*answers\.yaml:2: not valid YAML: "):
        _load_model(tmp_path, "answers: [")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("answers:\n  core:a_0:\n    - f: 5\n", id="arguments"),
        pytest.param("answers:\n  core:a_0:\n    - f: [1, 2]\n", id="list of arguments"),
    ],
)
def test_what_could_not_be_used_is_refused_at_once(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"answers\.yaml:3: answers\.core:a_0\.0\.f: must be a mapping"):
        _load_model(tmp_path, text)


def test_names_are_shown_as_in_the_run_where_arguments_are_text(tmp_path: Path) -> None:
    answer = ask_model(_load_model(tmp_path), _make_lamp_entry("multiple"))
    assert answer == Completion(tool_calls=(ToolCall("lamp_set", '{"room": ', "call_0"),))


def test_arguments_as_text_can_be_given_in_prompting_mode(tmp_path: Path) -> None:
    model = _load_model(tmp_path, mode=Mode.PROMPT, names=Names.DOTTED)
    assert "lamp.set" in (ask_model(model, _make_lamp_entry("multiple")).text or "")


@pytest.mark.parametrize(
    ("mode", "answer"),
    [
        (
            Mode.FC,
            Completion(
                tool_calls=(
                    ToolCall("lamp_set", '{"room": "hall", "on": true}', "call_0"),
                    ToolCall("lamp_set", '{"room": ', "call_1"),
                )
            ),
        ),
        (Mode.PROMPT, Completion(text="""[lamp_set(room='hall', on=True), lamp_set({"room": )]""")),
    ],
)
def test_arguments_beside_those_given_as_text_are_written_as_ever(
    mode: Mode, answer: Completion, tmp_path: Path
) -> None:
    calls = """    - lamp.set: {room: hall, on: true}\n    - lamp.set: '{"room": '\n"""
    model = _load_model(tmp_path, f"answers:\n  core:parallel_0:\n{calls}", mode)
    entry = _make_lamp_entry("parallel")
    assert ask_model(model, entry) == answer
    # Such arguments have no form in other prompt formats.
    varied = replace(entry, variation=Variation(entry.category, PromptFormat(AnswerNotation.CONCISE_XML)))
    assert ask_model(model, varied) == answer


def test_the_documented_example_names_its_arguments(tmp_path: Path) -> None:
    model = _load_model(
        tmp_path,
        "answers:\n  core:parallel_1:\n    - lamp.set: {room: kitchen, on: true}\n",
        Mode.PROMPT,
        Names.DOTTED,
    )
    answer = ask_model(model, _make_lamp_entry("parallel", 1))
    assert answer == Completion(text="[lamp.set(room='kitchen', on=True)]")


# Several turns

TALK = make_multi_turn(("Light.", []), ("More.", []), ("Enough.", []), functions=[LAMP])
TURNS = """\
answers:
  core:multi_turn_base_0:
    turns:
      - - - lamp.set: {room: hall}
          - lamp.set: {room: attic}
        - It is light.
      - []
      - - []
        - - lamp.set: '{"room": '
"""


def test_each_step_has_its_answer(tmp_path: Path) -> None:
    model = _load_model(tmp_path, TURNS)
    assert ask_model(model, TALK) == Completion(
        tool_calls=(
            ToolCall("lamp_set", '{"room": "hall"}', "call_0"),
            ToolCall("lamp_set", '{"room": "attic"}', "call_1"),
        )
    )
    assert ask_model(model, TALK, step=1) == Completion(text="It is light.")
    assert ask_model(model, TALK, turn=2) == Completion(tool_calls=())
    assert ask_model(model, TALK, turn=2, step=1) == Completion(
        tool_calls=(ToolCall("lamp_set", '{"room": ', "call_0"),)
    )


def test_each_step_is_written_in_the_mode_of_the_run(tmp_path: Path) -> None:
    model = _load_model(tmp_path, TURNS, Mode.PROMPT, Names.DOTTED)
    assert ask_model(model, TALK).text == "[lamp.set(room='hall'), lamp.set(room='attic')]"
    assert ask_model(model, TALK, step=1).text == "It is light."
    assert ask_model(model, TALK, turn=2).text == "[]"
    assert ask_model(model, TALK, turn=2, step=1).text == """[lamp.set({"room": )]"""


@each_case(("turn", "step"), [(0, 2), (1, 0), (2, 2), (3, 0)])
def test_a_step_without_answer_gets_the_default_or_is_not_scored(
    tmp_path: Path, turn: int, step: int
) -> None:
    model = _load_model(tmp_path, TURNS)
    with pytest.raises(NotScoredError) as caught:
        ask_model(model, TALK, turn, step)
    assert caught.value.cause == "no_result"
    assert caught.value.reason == (
        f"{model.path} has no answer for turn {turn + 1}, step {step + 1} of core:multi_turn_base_0 "
        "and no 'default'; add one of them"
    )
    model = _load_model(tmp_path, TURNS + "default: Done.\n")
    assert ask_model(model, TALK, turn, step) == Completion(text="Done.")


def test_an_answer_without_turns_is_given_at_every_step(tmp_path: Path) -> None:
    model = _load_model(tmp_path, "answers:\n  core:multi_turn_base_0: No.\n")
    assert ask_model(model, TALK, 2, 1) == Completion(text="No.")


# A golden path

PATH = make_golden_path([("lamp.set", {"room": "hall"}, {})], [("lamp.set", {"room": "attic"}, {})])
STEPS = """\
answers:
  core:cross_0:
    turns:
      - - - lamp.set: {room: hall}
        - - lamp.set: '{"room": '
        - It is light.
"""


@pytest.mark.parametrize("names", Names)
def test_each_step_of_a_golden_path_has_its_answer(tmp_path: Path, names: Names) -> None:
    model = _load_model(tmp_path, STEPS, Mode.FC, names)
    assert ask_model(model, PATH) == Completion(
        tool_calls=(ToolCall("lamp-set", '{"room": "hall"}', "call_0"),)
    )
    assert ask_model(model, PATH, step=1) == Completion(
        tool_calls=(ToolCall("lamp-set", '{"room": ', "call_0"),)
    )
    assert ask_model(model, PATH, step=2) == Completion(text="It is light.")


def test_a_step_of_a_golden_path_without_answer_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        NotScoredError, match=r"no answer for turn 1, step 4 of core:cross_0 and no 'default'; add one"
    ):
        ask_model(_load_model(tmp_path, STEPS), PATH, step=3)
