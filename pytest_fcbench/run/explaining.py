"""What was asked about an entry and why it failed: the conversation repeated with stored answers."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace

from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.explanation import Explanation, FailedEntry
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Conversation, Party, Step, Transcript
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.kinds.explanation import explain_failure
from pytest_fcbench.kinds.kind import Memories
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard.record import Record, read_answer


def explain_record(entry: Entry, record: Record, profile: Profile) -> Explanation | None:
    """Explain why an entry failed in a profile; None where it did not fail."""
    verdict = record.verdict(profile)
    if not isinstance(verdict, Failed):
        return None
    prompting = Prompting(Mode(record.mode), Names(record.names), record.syntax)
    if entry.variation:
        prompting = prompting.use_format(entry.variation.format)
    turns = tuple(tuple(Step(read_answer(step)) for step in turn) for turn in record.turns)
    transcript = Transcript(record.item_id, record.model, prompting, turns, record.asides)
    return explain_failure(FailedEntry(entry, transcript, verdict, profile), record.path(profile))


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request to the model under test and its stored answer; ``answer`` is None where none is stored."""

    request: AskModel
    answer: Completion | None = None


@dataclass(frozen=True)
class _WatchedContext(RunContext):
    """A run whose conversations write down what is exchanged, by the id of the item."""

    exchanges: dict[str, list[Exchange]] = field(default_factory=dict)

    def converse(
        self, entry: Entry, memories: Memories, manner: ModelPresentation | None = None
    ) -> Conversation:
        exchange_list = self.exchanges[entry.item_id] = []
        return _watch_conversation(super().converse(entry, memories, manner), exchange_list)


def _watch_conversation(
    conversation: Conversation, exchange_list: list[Exchange]
) -> Generator[AskModel, Completion, Transcript]:
    """Run a conversation and write down each request to the model before its answer is waited for."""
    try:
        request = next(conversation)
        while True:
            if is_to_model := request.party is Party.MODEL:
                exchange_list.append(Exchange(request))
            answer = yield request
            if is_to_model:
                exchange_list[-1] = Exchange(request, answer)
            request = conversation.send(answer)
    except StopIteration as done:
        transcript: Transcript = done.value
        return transcript


def list_exchanges(settings: Settings, entry: Entry) -> Iterator[Exchange]:
    """Yield what is exchanged about an entry, as far as its answers are stored; nothing is asked anew.

    The last one has no answer where the conversation goes on and no answer is stored, so that there always is
    the first request. Raises ``FcbenchError``.
    """
    context = _WatchedContext(replace(settings, offline=True))
    with closing(Session(context)) as session:
        context.check()
        with suppress(NotScoredError):
            session.transcript(entry)
    yield from context.exchanges.get(entry.item_id, ())
