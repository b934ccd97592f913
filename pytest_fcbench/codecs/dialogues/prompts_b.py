"""Written prompts of model families, by the official class."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.codecs.dialogues.written_prompt import WrittenPrompt

PROMPTS_B: Mapping[str, WrittenPrompt] = {}
