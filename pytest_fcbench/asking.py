"""The conversation about an entry and the verdicts on it, whatever its shape."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench import environments
from pytest_fcbench.answers import Driven, Mode, Transcript
from pytest_fcbench.complexeval import conversation as along_a_path
from pytest_fcbench.complexeval import verdict
from pytest_fcbench.conversation import Asking, Manner, converse, performed
from pytest_fcbench.entries import Entry, Rule
from pytest_fcbench.errors import NotScoredError
from pytest_fcbench.executables.outcomes import Execute, Perform
from pytest_fcbench.judges import questions
from pytest_fcbench.matchers import ast, chat, execution, relevance, rest, sql, state
from pytest_fcbench.matchers.state import Fresh
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.verdicts import Judgement, Passed


def asking(entry: Entry, manner: Manner, suite: Suite, driven: Driven) -> Asking:
    """The conversation about an entry, in environments of its own.

    ``driven`` matters along golden paths; and its judge, if that is a model, rates replies in words. Raises
    ``NotScoredError`` where the manner has no place for what the entry is about.
    """
    if entry.variation and manner.mode is not Mode.PROMPT:
        raise NotScoredError("prompting_only", "prompt formats are for models that are asked by prompting")
    if entry.category.rule is Rule.PATH:
        return along_a_path.converse(entry, manner, suite.wording, driven)
    talk = performed(converse(entry, manner, suite.wording), environments.opened(entry, suite.world).perform)
    rated = entry.category.rule is Rule.CHAT and driven.judge != "builtin"
    return _rated(talk, entry, driven.judge) if rated else talk


def _rated(talk: Asking, entry: Entry, judge: str) -> Asking:
    """The same conversation; then the judge is asked about a reply that is one."""
    transcript = yield from talk
    if not isinstance(chat.judge(entry, transcript).corrected, Passed):
        return transcript
    asides = yield from questions.noted(chat.question(entry, transcript), judge)
    return replace(transcript, asides=asides)


def judge(
    entry: Entry, transcript: Transcript, fresh: Fresh, execute: Execute, perform: Perform
) -> Judgement:
    """Both verdicts of the matcher that the entry's category names."""
    match entry.category.rule:
        case Rule.STATE:
            return state.judge(entry, transcript, fresh)
        case Rule.PATH:
            return verdict.judge(entry, transcript)
        case Rule.EXECUTION:
            return execution.judge(entry, transcript, execute)
        case Rule.REST:
            return rest.judge(entry, transcript, perform)
        case Rule.IRRELEVANCE | Rule.RELEVANCE:
            return relevance.judge(entry, transcript)
        case Rule.SQL:
            return sql.judge(entry, transcript)
        case Rule.CHAT:
            return chat.judge(entry, transcript)
    return ast.judge(entry, transcript)
