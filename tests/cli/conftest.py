"""What tests of several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from pytest_fcbench.cli import main

Refusal: TypeAlias = Callable[..., str]


@pytest.fixture
def run_refused(capfd: pytest.CaptureFixture[str]) -> Refusal:
    """Run a command that is refused and return what it says."""

    def run_command(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main.main(words)
        assert ended.value.code == 4
        said = capfd.readouterr().err
        assert "Traceback" not in said
        return " ".join(said.split("error: ", 1)[1].split())

    return run_command
