"""The words that a shell completes behind an option of a run.

pytest lets argcomplete complete its options, which takes the words from an attribute of each argument.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from pytest_fcbench.config.loading import find_config_file, find_own_suites
from pytest_fcbench.config.options import Option
from pytest_fcbench.config.values import read_file_layers
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.prompting import Mode, Names, Reasoning
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.suites.registry import SUITES

_ENUMS = {each.__name__: each for each in (Mode, Names, Reasoning, Profile)}


def make_completing_action(option: Option) -> type[argparse.Action]:
    """Make the action of an argument whose values are completed; in such a process nothing is run."""

    class CompletingAction(argparse.Action):
        def __call__(self, parser: object, namespace: object, values: object, *_: object) -> None:
            setattr(namespace, self.dest, values)

    if words := tuple(_list_words(option)):
        # Otherwise argcomplete completes paths.
        setattr(CompletingAction, "completer", staticmethod(lambda **_: words))  # noqa: B010
    return CompletingAction


def _list_words(option: Option) -> Iterable[str]:
    try:
        file = find_config_file(Path(), None)
        if option.key == "suite":
            return [*SUITES, *find_own_suites(file)]
        if option.key in ("model", "against", "judge"):
            return ["oracle", "careless", "lexical", *read_file_layers(file)[1]]
    except UsageError:  # a mistake in fcbench.yaml, which the run names
        return ()
    if option.key == "category":
        return [*CATEGORIES, *SELECTIONS]
    return _ENUMS.get(option.type, option.choices)
