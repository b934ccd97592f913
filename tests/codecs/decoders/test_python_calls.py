"""The syntax of prompting mode, and those that wrap it in something else."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_fcbench.codecs.decoders.python_calls import PYTHON, read_unwrapped
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call


def _unwrap_behind_arrow(text: str) -> str | None:
    """Return what stands behind an arrow, None where there is none."""
    _, arrow, rest = text.partition("->")
    return rest if arrow else None


IN_EACH_LANGUAGE: Mapping[Language, tuple[str, Mapping[str, object], Mapping[str, object]]] = {
    # language: (text, official, corrected); each shows the language and the profile
    Language.PYTHON: ("[f(x=+1)]", {"x": -1}, {"x": 1}),
    Language.JAVA: ('f(x="a");', {"x": "a"}, {"x": '"a"'}),
    Language.JAVASCRIPT: ("f(x='a')", {"x": "a"}, {"x": "'a'"}),
}


@pytest.mark.parametrize("language", Language)
def test_what_is_unwrapped_is_read_in_its_language(language: Language) -> None:
    text, official, corrected = IN_EACH_LANGUAGE[language]
    syntax, wrapped = read_unwrapped(_unwrap_behind_arrow), f"[f(x=0)]->{text}"
    assert syntax.official[language](wrapped) == (Call("f", official),)
    assert syntax.corrected[language](wrapped) == (Call("f", corrected),)


@pytest.mark.parametrize("language", Language)
def test_where_nothing_can_be_unwrapped_there_are_no_calls(language: Language) -> None:
    text, *_ = IN_EACH_LANGUAGE[language]
    syntax = read_unwrapped(_unwrap_behind_arrow)
    assert syntax.official[language](text) == syntax.corrected[language](text) == ()


def test_an_unwrapped_syntax_is_of_prompting_mode_and_never_guessed() -> None:
    """Unlike plain Python, whose look is known."""
    syntax = read_unwrapped(_unwrap_behind_arrow)
    assert (syntax.mode, syntax.looks_so) == (Mode.PROMPT, None)
    assert PYTHON.looks_so


def test_an_unwrapped_syntax_may_have_a_mode_and_a_look_of_its_own() -> None:
    made = read_unwrapped(_unwrap_behind_arrow, Mode.FC, lambda text: text.startswith("->"))
    assert made.mode is Mode.FC
    assert made.looks_so
    assert [made.looks_so(text) for text in ("->f()", "[f()]")] == [True, False]
