"""Environment variables that hold the keys of providers, and the sentence about the key of a model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

_COHERE = ("COHERE_API_KEY", "CO_API_KEY")
_OPENAI = ("OPENAI_API_KEY",)

KEY_VARIABLES: Mapping[str, Sequence[str]] = {
    "ai21_chat": ("AI21_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "baseten": ("BASETEN_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "codestral": ("CODESTRAL_API_KEY",),
    "cohere": _COHERE,
    "cohere_chat": _COHERE,
    "dashscope": ("DASHSCOPE_API_KEY",),
    "deepinfra": ("DEEPINFRA_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "featherless_ai": ("FEATHERLESS_AI_API_KEY",),
    "fireworks_ai": (
        "FIREWORKS_API_KEY",
        "FIREWORKS_AI_API_KEY",
        "FIREWORKSAI_API_KEY",
        "FIREWORKS_AI_TOKEN",
    ),
    "friendliai": ("FRIENDLIAI_API_KEY", "FRIENDLI_TOKEN"),
    "gemini": ("GOOGLE_API_KEY", "GEMINI_API_KEY", "PALM_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "hyperbolic": ("HYPERBOLIC_API_KEY",),
    "lambda_ai": ("LAMBDA_API_KEY",),
    "minimax": ("MINIMAX_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "nebius": ("NEBIUS_API_KEY",),
    "novita": ("NOVITA_API_KEY",),
    "nvidia_nim": ("NVIDIA_NIM_API_KEY",),
    "openai": _OPENAI,
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "sambanova": ("SAMBANOVA_API_KEY",),
    "text-completion-openai": _OPENAI,
    "together_ai": (
        "TOGETHER_API_KEY",
        "TOGETHER_AI_API_KEY",
        "TOGETHERAI_API_KEY",
        "TOGETHER_AI_TOKEN",
    ),
    "xai": ("XAI_API_KEY",),
    "zai": ("ZAI_API_KEY",),
}
"""Variables of the keys of providers, by litellm's names of these and in the order in which it reads them.

Only providers that take nothing but a key are here: those of clouds (azure, bedrock, vertex_ai ...) know the
machine or a login too, and a server of one's own may need no key.
"""


def find_variable(names: Iterable[str]) -> str | None:
    """Return the first of these environment variables that holds something; None where none does."""
    return next((name for name in names if os.environ.get(name, "").strip()), None)


def describe_key(model: str, variables: Sequence[str]) -> str:
    """Say which of these variables a model's key came from, or that none of them holds one."""
    if variable := find_variable(variables):
        return f"the key came from {variable}"
    explanation = f"no API key is set in {' or '.join(variables)}"
    # The key that most people have set, and expect to be read for any server of OpenAI's interface.
    if other := find_variable(set(_OPENAI) - set(variables)):
        explanation += f" ({other} is set, but not read for {model})"
    return explanation
