"""``fcbench completion``: a shell that was told completes commands and options."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_fcbench.cli.help import SHELLS
from pytest_fcbench.cli.main import main


def _complete_words(script: Path, *words: str) -> list[str]:
    """Return what bash offers for the last word."""
    line = f"""
    source {script}
    COMP_WORDS=({" ".join(f"'{word}'" for word in words)})
    COMP_CWORD={len(words) - 1}
    $(complete -p fcbench | sed -E 's/.*-F ([^ ]+) .*/\\1/')
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_commands_and_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "fcbench.bash"
    script.write_text(capsys.readouterr().out)
    assert _complete_words(script, "fcbench", "run", "me") == ["merge"]
    assert _complete_words(script, "fcbench", "run", "merge", "--pa") == ["--partial"]
    assert _complete_words(script, "fcbench", "completion", "z") == ["zsh"]
    assert _complete_words(script, "fcbench", "nothing") == []


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_is_told_of_each_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    # fish writes options without their dashes.
    assert all(command in script for command in ("merge", "doctor", "contamination", "partial"))
