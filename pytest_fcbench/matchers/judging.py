"""An entry judged as its category asks."""

from __future__ import annotations

from pytest_fcbench.answers import Transcript
from pytest_fcbench.entries import Entry, Rule
from pytest_fcbench.matchers import ast, relevance, state
from pytest_fcbench.matchers.state import Fresh
from pytest_fcbench.verdicts import Judgement


def judge(entry: Entry, transcript: Transcript, fresh: Fresh) -> Judgement:
    """Both verdicts of the matcher that the entry's category names."""
    match entry.category.rule:
        case Rule.STATE:
            return state.judge(entry, transcript, fresh)
        case Rule.IRRELEVANCE | Rule.RELEVANCE:
            return relevance.judge(entry, transcript)
    return ast.judge(entry, transcript)
