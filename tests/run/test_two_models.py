"""The order of entries in a run that may end early, and when it may."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.dispatch.dispatcher import Dispatcher
from pytest_fcbench.domain.entry import Entry, name_cluster
from pytest_fcbench.domain.errors import RunStoppedError
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Conversation, Transcript
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.two_models import ComparingSession, keep_step, may_stop_early, order_by_lot
from pytest_fcbench.suites import core
from tests.dispatch.clock import wait_until
from tests.factories import make_entry


def list_entries() -> list[Entry]:
    suite = core.open_suite(Path())
    entries = [entry for category in suite.categories if category.scored for entry in suite.load(category)]
    return [replace(entry, trial=trial) for entry in entries for trial in (1, 2)]


def test_clusters_trials_and_continued_conversations_stay_together() -> None:
    entries = list_entries()
    lots = order_by_lot(entries)
    ordered = sorted(entries, key=lambda entry: lots[entry.item_id])
    for group_of in (
        lambda entry: name_cluster(entry.suite, entry.id, entry.cluster),
        lambda entry: (*entry.earlier, entry)[0].key,
    ):
        groups = [key for key, _ in groupby(ordered, group_of)]
        shared = [key for key, _ in groupby(sorted(groups))]
        assert len(groups) == len(shared)


def test_the_beginning_of_the_order_is_a_fair_sample() -> None:
    """As far as clusters are small: all questions about a memory come together."""
    entries = list_entries()
    lots = order_by_lot(entries)
    assert lots == order_by_lot(list(reversed(entries)))
    ordered = sorted(entries, key=lambda entry: lots[entry.item_id])
    shares = []
    for part in (entries, ordered[: len(ordered) // 4], ordered[len(ordered) // 2 :]):
        groups = [entry.category.group for entry in part]
        shares.append({group: groups.count(group) / len(part) for group in set(groups)})
    for share in shares[1:]:
        assert share == pytest.approx(shares[0], abs=0.08)


@pytest.mark.parametrize(
    ("options", "early"),
    [
        ({}, True),
        ({"gate": ["not-worse(95%)", "not-worse(99%)"]}, True),
        ({"gate": ["not-worse(live, 95%)"]}, False),
        ({"gate": ["not-worse(95%)", "parallel>=80%"]}, False),
        ({"against_whole": True}, False),
        ({"shard": "1/2"}, False),
        ({"against": None}, False),
    ],
)
def test_a_run_ends_early_where_no_rule_needs_all_entries(options: dict[str, object], early: bool) -> None:
    settings = build_settings({"model": "oracle", "against": "lexical", **options}, None)
    assert may_stop_early(settings) is early


class WaitingModel:
    """Answers nothing at once."""

    immediate = False
    notes: tuple[str, ...] = ()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        await asyncio.sleep(0)
        return Completion(text="none")


def test_neither_of_two_models_begins_an_entry_before_the_other_began_the_one_before() -> None:
    begun: list[str] = []

    def converse_as(name: str) -> Callable[[Entry], Conversation]:
        def converse(entry: Entry) -> Conversation:
            begun.append(name)
            yield AskModel(())
            return Transcript(entry.key, name, Prompting.make_default(Mode.FC), ())

        return converse

    entries = [make_entry(entry_id=f"simple_python_{number}") for number in range(20)]
    with (
        closing(Dispatcher(WaitingModel(), converse_as("one"), 4)) as one,
        closing(Dispatcher(WaitingModel(), converse_as("other"), 4, beside=one)) as other,
    ):
        keep_step(one, other)
        for each in (one, other):
            each.expect(entries)
        wait_until(lambda: one.finished() == other.finished() == (20, 0))
    turns = [set(begun[place : place + 2]) for place in range(0, 40, 2)]
    assert turns == [{"one", "other"}] * 20
    assert set(begun[::2]) == {"one", "other"}, "either is first somewhere"


def test_a_signal_ends_the_conversations_of_both_models_at_once() -> None:
    options = {"model": "hosted_vllm/one", "api_base": "http://127.0.0.1:9/v1", "store": "none"}
    context = RunContext(build_settings({**options, "against": "hosted_vllm/other"}, None))
    with closing(ComparingSession(context)) as session:
        assert session.second
        sessions = (session, session.second.session)
        assert len({each.dispatcher for each in sessions}) == 2, "both are open"
        session.halt()
        for each in sessions:
            with pytest.raises(RunStoppedError, match="the run ended"):
                each.request(make_entry())
