"""What tests of several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from pytest_fcbench.cli import main

Refusal: TypeAlias = Callable[..., str]


@pytest.fixture
def refusal(capfd: pytest.CaptureFixture[str]) -> Refusal:
    """Runs a command that is refused; gives what it says."""

    def refused(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main.main(words)
        assert ended.value.code == 2
        said = capfd.readouterr().err
        assert "Traceback" not in said
        return " ".join(said.split("error: ", 1)[1].split())

    return refused
