"""Which matcher judges an entry: one for each rule, and those that other distributions add.

A distribution adds a matcher under a name of its own by an entry point of the group ``fcbench.matchers``;
entries whose ``matcher`` is that name are judged by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from pytest_fcbench.domain.entry import Entry, Rule
from pytest_fcbench.domain.registry import Registry
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.execution.outcomes import Execute, Perform
from pytest_fcbench.matchers import answer, ast, chat, execution, relevance, rest, sql, state
from pytest_fcbench.matchers.golden_path import verdict
from pytest_fcbench.matchers.state import Fresh


@dataclass(frozen=True, slots=True)
class Resources:
    """What some matchers need beside the entry and its transcript."""

    fresh: Fresh
    """Makes the environments of an entry in their initial state."""
    execute: Execute
    """Carries calls out, each by itself."""
    perform: Perform
    """Sends the request of a call."""


class Matcher(Protocol):
    """Judges what a model answered to an entry, in both profiles."""

    def __call__(self, entry: Entry, transcript: Transcript, resources: Resources, /) -> Judgement:
        """Return both verdicts. Raises TypeError for an entry whose expectation is of another kind."""


_Plain: TypeAlias = Callable[[Entry, Transcript], Judgement]


def _without_resources(judge: _Plain) -> Matcher:
    return lambda entry, transcript, _: judge(entry, transcript)


MATCHERS: Registry[Matcher] = Registry(
    "matcher",
    "fcbench.matchers",
    {
        **dict.fromkeys((Rule.SIMPLE, Rule.MULTIPLE, Rule.PARALLEL), _without_resources(ast.judge)),
        **dict.fromkeys((Rule.IRRELEVANCE, Rule.RELEVANCE), _without_resources(relevance.judge)),
        Rule.STATE: lambda entry, transcript, given: state.judge(entry, transcript, given.fresh),
        Rule.ANSWER: _without_resources(answer.judge),
        Rule.PATH: _without_resources(verdict.judge),
        Rule.EXECUTION: lambda entry, transcript, given: execution.judge(entry, transcript, given.execute),
        Rule.REST: lambda entry, transcript, given: rest.judge(entry, transcript, given.perform),
        Rule.SQL: _without_resources(sql.judge),
        Rule.CHAT: _without_resources(chat.judge),
    },
)
"""Every matcher by the name of its rule, or by the name that another distribution gave it."""


def judge(entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
    """Judge a transcript in both profiles by the matcher of its entry. Raises ``UsageError`` without one."""
    return MATCHERS.find(entry.matcher or entry.rule)(entry, transcript, resources)
