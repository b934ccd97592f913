"""Prompts for judges, by the name of their file in the folder ``wording``."""

from __future__ import annotations

from pathlib import Path


def read_prompt(name: str) -> str:
    """Return the text of a prompt."""
    path = Path(__file__).with_name("wording") / f"{name}.md"
    return path.read_text(encoding="utf-8").rstrip()
