"""The conversation about an entry and the verdicts on it, whatever its shape."""

from __future__ import annotations

from pytest_fcbench import environments, searching
from pytest_fcbench.answers import Driven, Party, Transcript
from pytest_fcbench.complexeval import conversation as along_a_path
from pytest_fcbench.complexeval import verdict
from pytest_fcbench.conversation import Asking, Manner, converse, performed
from pytest_fcbench.entries import Entry, Rule
from pytest_fcbench.executables.outcomes import Execute
from pytest_fcbench.matchers import answer, ast, chat, execution, relevance, sql, state
from pytest_fcbench.matchers.state import Fresh
from pytest_fcbench.suites import web_questions
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.verdicts import Judgement


def asking(entry: Entry, manner: Manner, suite: Suite, driven: Driven) -> Asking:
    """The conversation about an entry, in environments of its own; ``driven`` matters along golden paths."""
    if entry.category.rule is Rule.PATH:
        return along_a_path.converse(entry, manner, suite.wording, driven)
    talk = converse(entry, manner, suite.wording)
    if entry.scene and web_questions.DOMAIN in entry.scene.domains:
        return searching.searched(talk, entry, suite.world, Party.OWN_WEB if suite.web else Party.WEB)
    return performed(talk, environments.opened(entry, suite.world).perform)


def judge(entry: Entry, transcript: Transcript, fresh: Fresh, execute: Execute) -> Judgement:
    """Both verdicts of the matcher that the entry's category names."""
    match entry.category.rule:
        case Rule.STATE:
            return state.judge(entry, transcript, fresh)
        case Rule.PATH:
            return verdict.judge(entry, transcript)
        case Rule.ANSWER:
            return answer.judge(entry, transcript)
        case Rule.EXECUTION:
            return execution.judge(entry, transcript, execute)
        case Rule.IRRELEVANCE | Rule.RELEVANCE:
            return relevance.judge(entry, transcript)
        case Rule.SQL:
            return sql.judge(entry, transcript)
        case Rule.CHAT:
            return chat.judge(entry, transcript)
    return ast.judge(entry, transcript)
