"""Put the turns of an entry to a model: a generator without I/O, the same for one turn and for many.

A conversation yields ``AskModel`` and is sent the ``Completion``, yields ``CallFunctions`` and is sent the
``CallResults``, and returns the ``Transcript``. Any driver can run it; a test steps it by hand. Function
calling and prompting differ by how the model is asked, not by the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

from pytest_fcbench import environments
from pytest_fcbench.codecs.dialogues.dialogue import Opening
from pytest_fcbench.codecs.dialogues.families import open_dialogue
from pytest_fcbench.codecs.execution_text import list_calls_to_make
from pytest_fcbench.codecs.wording import Wording
from pytest_fcbench.domain.driving import relay_conversation
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import ModelPresentation
from pytest_fcbench.domain.transcript import (
    MOST_CALLS,
    AskModel,
    CallFunctions,
    CallingConversation,
    CallResults,
    Completion,
    Conversation,
    Fault,
    Step,
    Transcript,
)
from pytest_fcbench.kinds.context import ConversationContext

MOST_STEPS = 20
"""A conversation ends after more steps than this in one turn (official)."""


def converse(entry: Entry, context: ConversationContext) -> Conversation:
    """Put an entry to a model and carry its calls out in fresh environments."""
    entry_environments = environments.open_environments(entry, context.suite.world)
    # Where a model is shown the official sentences, it is shown official results.
    for environment in entry_environments.by_domain.values() if context.suite.world.sentences else ():
        environment.share_defaults(environment)
    conversation = put_turns(entry, context.manner, context.suite.wording)
    return carry_out_calls(conversation, entry_environments.perform_calls)


def put_turns(
    entry: Entry, manner: ModelPresentation, wording: Wording, preamble: str = ""
) -> CallingConversation:
    """Put every turn of an entry to a model. Official: ``base_handler.inference_multi_turn_*``.

    ``preamble`` is system text ahead of everything else.

    A turn goes on while the answers are calls that can be read; each gets its results. A single-turn entry
    has nothing to carry out, so its only answer ends it.
    """
    prompting = manner.prompting
    dialogue = open_dialogue(Opening(entry, manner, wording, preamble))
    turns: list[tuple[Step, ...]] = []
    call_count = 0
    for number, messages in enumerate(entry.turns):
        if number:
            dialogue.add_user_turn(messages)
        # Officially a turn that brings functions has no message of its own; a team's suite may give one.
        if late := entry.scene.withheld.get(number) if entry.scene else None:
            dialogue.add_functions(late)
        steps: list[Step] = []
        turns.append(())
        while True:
            answer = yield dialogue.build_request(number, len(steps))
            assert isinstance(answer, Completion), "a driver answers a question with a completion"
            completion = dialogue.add_answer(answer)
            has_calls = entry.scene and not completion.fault
            calls = list_calls_to_make(completion, prompting.syntax) if has_calls else ()
            call_count += len(calls)
            # Every request repeats all results before it, so that a model in a loop would fill the memory.
            if call_count > MOST_CALLS:
                completion, calls = replace(completion, fault=Fault.TOO_LARGE), ()
            results: tuple[str, ...] = ()
            if calls:
                reply = yield CallFunctions(calls)
                assert isinstance(reply, CallResults), "a driver answers calls with results"
                results = reply.texts
            steps.append(Step(completion, calls, results))
            turns[-1] = tuple(steps)
            dialogue.add_results(calls, results)
            if not calls:
                break
            # As officially: the count is compared after the step, so that 21 steps are made, and the turns
            # that would follow are dropped.
            if len(steps) > MOST_STEPS:
                return Transcript(entry.key, manner.model, prompting, tuple(turns))
        if completion.fault:
            break
    return Transcript(entry.key, manner.model, prompting, tuple(turns))


def carry_out_calls(
    conversation: CallingConversation, perform: Callable[[Sequence[str]], tuple[str, ...]]
) -> Conversation:
    """Run a conversation and let ``perform`` carry out its calls, so that only model requests are left."""

    def respond(
        demand: AskModel | CallFunctions,
    ) -> Generator[AskModel, Completion, Completion | CallResults]:
        return CallResults(perform(demand.calls)) if isinstance(demand, CallFunctions) else (yield demand)

    return relay_conversation(conversation, respond)
