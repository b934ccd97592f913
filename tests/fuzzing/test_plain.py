"""The plain generator draws what its targets hold for, and the same for the same number."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzzing.plain import GRAMMARS, draw_stream, try_grammar, try_input


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_drawn_inputs_hold(grammar: str) -> None:
    for number in range(30):
        try_input(grammar, 0, number)


def test_a_number_draws_the_same_again() -> None:
    assert draw_stream(Random("1")) == draw_stream(Random("1")) != draw_stream(Random("2"))


def test_a_broken_law_is_a_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target, _ = GRAMMARS["streams"]
    monkeypatch.setitem(GRAMMARS, "streams", (target, lambda random: {"body": None}))
    assert try_grammar("streams", 0, 5, 60) == 1
    assert "streams: 5 inputs, 1 findings" in capsys.readouterr().out
