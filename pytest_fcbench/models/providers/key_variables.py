"""Environment variables that hold the keys of providers, and the sentence about the key of a model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from pytest_fcbench.domain.tables import read_table


@cache
def read_key_variables() -> Mapping[str, Sequence[str]]:
    """Return the variables of the keys of providers, by litellm's names of these."""
    return read_table(dict[str, Sequence[str]], __file__, "key_variables.toml")


def find_variable(names: Iterable[str]) -> str | None:
    """Return the first of these environment variables that holds something; None where none does."""
    return next((name for name in names if os.environ.get(name, "").strip()), None)


def describe_key(model: str, variables: Sequence[str]) -> str:
    """Say which of these variables a model's key came from, or that none of them holds one."""
    if variable := find_variable(variables):
        return f"the key came from {variable}"
    explanation = f"no API key is set in {' or '.join(variables)}"
    # The key that most people have set, and expect to be read for any server of OpenAI's interface.
    if other := find_variable(set(read_key_variables()["openai"]) - set(variables)):
        explanation += f" ({other} is set, but not read for {model})"
    return explanation
