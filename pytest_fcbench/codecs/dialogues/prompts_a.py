"""Written prompts of model families, by the official class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcbench.codecs.dialogues.written_prompt import ChatMessage, ReadAnswer, WrittenPrompt


def write_ipython_messages(
    answer: ReadAnswer, calls: Sequence[str], texts: Sequence[str]
) -> list[ChatMessage]:
    """Write a message of the role that Llama knows for what an environment prints, for each result."""
    return [{"role": "ipython", "content": text} for text in texts]


PROMPTS_A: Mapping[str, WrittenPrompt] = {
    "LlamaHandler": WrittenPrompt("llama", is_prompted=True, write_results=write_ipython_messages),
}
