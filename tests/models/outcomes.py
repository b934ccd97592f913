"""Whole categories put to a model that needs no network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import NamedTuple

from pytest_fcbench.dispatch.dispatcher import Dispatcher
from pytest_fcbench.domain.entry import Category, Entry
from pytest_fcbench.domain.prompting import ModelPresentation
from pytest_fcbench.domain.transcript import Conversation, Party, PathSettings
from pytest_fcbench.domain.verdict import Judgement, Profile
from pytest_fcbench.environments.execution import Environments, open_environments
from pytest_fcbench.execution.rest_performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.kinds.execution.verdict import list_recorded_replies
from pytest_fcbench.kinds.kind import ConversationContext, Memories, Resources
from pytest_fcbench.kinds.table import converse, judge
from pytest_fcbench.models.protocol import Model, RoutedModel
from pytest_fcbench.suites.suite import Suite
from tests.server.asking import WEB


class Outcome(NamedTuple):
    id: str
    judgement: Judgement


def judge_entries(
    model: Model, manner: ModelPresentation, suite: Suite, categories: Iterable[Category], pool: Pool
) -> Iterator[Outcome]:
    """Put every entry of these categories to a model and yield both verdicts on its answer."""

    def open_entry(entry: Entry) -> Environments:
        return open_environments(entry, suite.world)

    memories: Memories = {}

    def start_conversation(entry: Entry) -> Conversation:
        return converse(entry, ConversationContext(manner, suite, PathSettings(Profile.OFFICIAL), memories))

    dispatcher = Dispatcher(RoutedModel(model, {Party.OWN_WEB: WEB}), start_conversation)
    entries = [entry for category in categories for entry in suite.load(category)]
    recorded = (each for entry in entries for each in list_recorded_replies(entry))
    with closing(Performer(recorded)) as perform:
        for entry in entries:
            yield Outcome(
                entry.id, judge(entry, dispatcher.transcript(entry), Resources(open_entry, pool, perform))
            )
    dispatcher.close()
