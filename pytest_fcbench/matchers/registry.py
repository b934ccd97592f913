"""Registry of matchers: those of the rules, and those that other distributions add.

The matcher of a rule is the function ``judge`` of the module of this room that the rule names. It is imported
when the first entry is judged by it, and gets, beside entry and transcript, those resources that its further
parameters are named after.

A distribution adds a matcher under a name of its own by an entry point of the group ``fcbench.matchers``;
entries whose ``matcher`` is that name are judged by it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Protocol

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.registry import Registry
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.execution.outcomes import Execute, Perform
from pytest_fcbench.matchers.endings import judge_ending
from pytest_fcbench.matchers.own_check import add_own_checks


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources that some matchers need beside the entry and its transcript."""

    fresh: Callable[[Entry], Environments]
    """Makes the environments of an entry in their initial state."""
    execute: Execute
    """Carries calls out, each by itself."""
    perform: Perform
    """Sends the request of a call."""


class Matcher(Protocol):
    """A judge of transcripts in both profiles."""

    def __call__(self, entry: Entry, transcript: Transcript, resources: Resources, /) -> Judgement:
        """Return both verdicts. Raises TypeError for an entry whose expectation is of another kind."""


def _matcher_in(module_name: str) -> Matcher:
    """Return the matcher in a module, which is imported when it first judges."""

    @cache
    def load() -> tuple[Callable[..., Judgement], Sequence[str]]:
        judge = import_module(f"pytest_fcbench.matchers.{module_name}").judge
        return judge, list(inspect.signature(judge).parameters)[2:]

    def match(entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        judge, needed = load()
        return judge(entry, transcript, *(getattr(resources, name) for name in needed))

    return match


MATCHERS: Registry[Matcher] = Registry(
    "matcher",
    "fcbench.matchers",
    {each.rule.name: _matcher_in(each.rule.matcher) for each in CATEGORIES.values() if each.rule.matcher},
)
"""Every matcher by the name of its rule, or by the name that another distribution gave it."""


def judge(entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
    """Judge a transcript in both profiles by the matcher of its entry. Raises ``UsageError`` without one."""
    judgement = MATCHERS.find(entry.matcher or entry.rule.name)(entry, transcript, resources)
    return add_own_checks(entry, transcript, judge_ending(entry, transcript, judgement))
