"""The interface of a kind of entry, and the conversation that most kinds hold.

A conversation is a generator without I/O, the same for one turn and for many. It yields ``AskModel`` and is
sent the ``Completion``, yields ``CallFunctions`` and is sent the ``CallResults``, and returns the
``Transcript``. Any driver can run it; a test steps it by hand. Function calling and prompting differ by how
the model is asked, not by the loop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeAlias

from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, list_calls_to_make, read_corrected
from pytest_fcbench.codecs.decoders.syntax import Reading
from pytest_fcbench.codecs.dialogues.dialogue import Opening
from pytest_fcbench.codecs.dialogues.families import open_dialogue
from pytest_fcbench.codecs.presenting import Wording
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import CallPair, Divergence, FailedEntry, Flaw, ShownTruth
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import ModelPresentation, PromptFormat
from pytest_fcbench.domain.transcript import (
    MOST_CALLS,
    AskModel,
    AuxiliaryCall,
    Call,
    CallFunctions,
    CallingConversation,
    CallResults,
    Completion,
    Conversation,
    Fault,
    Inquiry,
    PathSettings,
    Step,
    Transcript,
    relay_conversation,
)
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, Judgement, NotScored, PathScore
from pytest_fcbench.environments import execution as environments
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.environments.world import World
from pytest_fcbench.execution.outcomes import Execute, Perform
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow, classify_answer

RightCalls: TypeAlias = Sequence[Sequence[Sequence[Call]]]
"""The calls of a right answer, by turn and step."""

ABSTENTION = "None of the offered functions can serve this request."
DONE = "All of this is done."


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources that some kinds need to judge, beside the entry and its transcript."""

    fresh: Callable[[Entry], Environments]
    """Makes the environments of an entry in their initial state."""
    execute: Execute
    """Carries calls out, each by itself."""
    perform: Perform
    """Sends the request of a call."""


@dataclass(frozen=True, slots=True)
class RightAnswer:
    """A right answer to a request: calls, or else words."""

    calls: Sequence[Call] = ()
    words: str = ABSTENTION


class Kind(ABC):
    """How entries of a kind are read, asked, judged, explained, answered and shown."""

    file_format: str = ""
    """The model of its files as ``module:Model`` below ``kinds``; empty where no such file is read."""

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model. Usually its calls act on fresh environments, if it has any."""
        return converse(entry, context)

    @abstractmethod
    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge a transcript in both profiles. Raises TypeError for an entry of another kind."""

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the calls of a right answer; none where any call will do, or none is right.

        A text of a ground truth that is no call is left out.
        """
        return ()

    def answer_rightly(self, entry: Entry, request: AskModel) -> RightAnswer:
        """Answer a request from the ground truth."""
        calls_by_turn = self.list_right_calls(entry)
        steps = calls_by_turn[request.turn] if request.turn < len(calls_by_turn) else ()
        calls = steps[request.step] if request.step < len(steps) else ()
        return RightAnswer(calls, DONE if request.step else ABSTENTION)

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Describe what a right answer is; nothing where only a check knows it."""
        return ShownTruth()

    def pair_calls(self, failure: FailedEntry, path: PathScore | None) -> tuple[CallPair, ...]:
        """Pair the calls of a wrong answer with the expected ones, as the verdict paired them.

        Empty where calls are not compared, or are compared by what they do.
        """
        return ()

    def shorten_answer(self, text: str) -> str:
        """Leave out of an answer in words what an explanation has no room for."""
        return text

    def find_flaws(self, entry: Entry) -> Iterator[Flaw]:
        """Find what contradicts itself in the shape of an entry."""
        yield from ()

    def describe_official_failure(self, answer: AnsweredEntry, resources: Resources) -> OfficialRow | None:
        """Describe a wrong answer for a score file, which its category must have; None for a right one."""
        raise TypeError(f"{answer.entry.key} is in no score file")

    def classify_failure(self, failure: FailedEntry, resources: Resources) -> Divergence:
        """Find the class of a failure and its place. Usually the answer and the code of its verdict tell."""
        return classify_answer(failure)


MOST_STEPS = 20
"""A conversation ends after more steps than this in one turn (official)."""


def converse(entry: Entry, context: ConversationContext) -> Conversation:
    """Put an entry to a model and carry its calls out in fresh environments, if it has any."""
    conversation = put_turns(entry, context.manner, context.suite.wording)
    if entry.scene is None:
        return carry_out_calls(conversation, lambda calls: ())
    entry_environments = environments.open_environments(entry, context.suite.world)
    # Where a model is shown the official sentences, it is shown official results.
    for environment in entry_environments.by_domain.values() if context.suite.world.sentences else ():
        environment.share_defaults(environment)
    return carry_out_calls(conversation, entry_environments.perform_calls)


def put_turns(
    entry: Entry, manner: ModelPresentation, wording: Wording, preamble: str = ""
) -> CallingConversation:
    """Put every turn of an entry to a model. Official: ``base_handler.inference_multi_turn_*``.

    ``preamble`` is system text ahead of everything else.

    A turn goes on while the answers are calls that can be read; each gets its results. A single-turn entry
    has nothing to carry out, so its only answer ends it. Under pressure a result is longer, or an error.
    """
    prompting = manner.prompting
    dialogue = open_dialogue(Opening(entry, manner, wording, preamble))
    turns: list[tuple[Step, ...]] = []
    call_count, result_count, errors, pressure = 0, 0, 0, entry.pressure
    for number, messages in enumerate(entry.turns):
        if number:
            dialogue.add_user_turn(messages)
        # Officially a turn that brings functions has no message of its own; a team's suite may give one.
        if late := entry.late_functions.get(number):
            dialogue.add_functions(late)
        steps: list[Step] = []
        turns.append(())
        repeated = 0
        while True:
            request = dialogue.build_request(number, len(steps))
            # To models that know the truth, a step whose calls got an error is still the same step.
            answer = yield replace(request, step=len(steps) - repeated) if repeated else request
            assert isinstance(answer, Completion), "a driver answers a question with a completion"
            completion = dialogue.add_answer(answer)
            has_calls = entry.scene and not completion.fault
            calls = list_calls_to_make(completion, prompting.syntax) if has_calls else ()
            call_count += len(calls)
            # Every request repeats all results before it, so that a model in a loop would fill the memory.
            if call_count > MOST_CALLS:
                completion, calls = replace(completion, fault=Fault.TOO_LARGE), ()
            if calls and pressure and (error := pressure.write_error(errors)):
                errors, repeated = errors + 1, repeated + 1
                # Without the calls, which were not carried out.
                steps.append(Step(completion))
                turns[-1] = tuple(steps)
                dialogue.add_results(calls, (error,) * len(calls))
                continue
            results: tuple[str, ...] = ()
            if calls:
                reply = yield CallFunctions(calls)
                assert isinstance(reply, CallResults), "a driver answers calls with results"
                results = reply.texts
            steps.append(Step(completion, calls, results))
            turns[-1] = tuple(steps)
            shown_results: Sequence[str] = results
            if pressure:
                shown_results = [pressure.lengthen_result(t, n) for n, t in enumerate(results, result_count)]
            result_count += len(results)
            dialogue.add_results(calls, shown_results)
            if not calls:
                break
            # As officially: the count is compared after the step, so that 21 steps are made, and the turns
            # that would follow are dropped.
            if len(steps) > MOST_STEPS:
                return Transcript(entry.key, manner.model, prompting, tuple(turns))
        if completion.fault:
            break
    return Transcript(entry.key, manner.model, prompting, tuple(turns))


def ask_once(request: AskModel, asides: dict[str, AuxiliaryCall]) -> Inquiry[Completion]:
    """Ask another party each question only once, so that judging again gives the same verdict.

    ``asides`` are the answers so far, by the digest of the question.
    """
    if request.digest not in asides:
        asides[request.digest] = AuxiliaryCall(request.party, request.digest, (yield request))
    return asides[request.digest].completion


def carry_out_calls(
    conversation: CallingConversation, perform: Callable[[Sequence[str]], tuple[str, ...]]
) -> Conversation:
    """Run a conversation and let ``perform`` carry out its calls, so that only model requests are left."""

    def respond(demand: AskModel | CallFunctions) -> Inquiry[Completion | CallResults]:
        return CallResults(perform(demand.calls)) if isinstance(demand, CallFunctions) else (yield demand)

    return relay_conversation(conversation, respond)


Memories: TypeAlias = MutableMapping[str, Mapping[str, Mapping[str, object]]]
"""The state that finished conversations left in their memories, by entry key and domain."""


class EntrySource(Protocol):
    """A suite, as far as conversations need to know it."""

    @property
    def wording(self) -> Wording:
        """The texts that a model is shown."""

    @property
    def world(self) -> World:
        """The tables that the environments of its entries share."""

    @property
    def web(self) -> Path | None:
        """The folder with the pages of its own small web, if it has one."""


@dataclass(frozen=True, slots=True)
class ConversationContext:
    """The settings under which the entries of one suite are put to one model."""

    manner: ModelPresentation
    suite: EntrySource
    driven: PathSettings
    """The settings of golden paths, and the judge that rates replies in words."""
    # Not stored on disk: it follows from the stored answers, which are replayed.
    memories: Memories = field(default_factory=dict)
    """The memories that later conversations continue."""
    shared: MutableMapping[str, AuxiliaryCall] = field(default_factory=dict)
    """Answers of the endpoint that hold for all entries of a run, by the digest of their question."""

    def use_format(self, prompt_format: PromptFormat) -> ConversationContext:
        """Return the context of an entry that brings a prompt format of its own."""
        prompting = self.manner.prompting.use_format(prompt_format)
        return replace(self, manner=replace(self.manner, prompting=prompting))


class VariationKind(Kind):
    """The kind of entries that repeat another category's in other prompt formats; that one's kind judges."""

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Refuse: the kind of the repeated category judges."""
        raise TypeError(f"{entry.key} repeats no entry of another category")


VARIATION = VariationKind()


_OWN_FAULTS = {
    Fault.OVERFLOW: Failed(Fault.OVERFLOW, "the request did not fit into the model's context"),
    Fault.TOO_LARGE: Failed(
        Fault.TOO_LARGE,
        "the answer is longer than --fcbench-max-answer allows, a gateway ended it because it repeats "
        f"itself, or its conversation has more than {MOST_CALLS:,} calls",
    ),
    Fault.UNREADABLE_CALL: Failed(
        Fault.UNREADABLE_CALL, "the server could not read a call that the model wrote"
    ),
}
"""The verdicts on faults that are the model's own."""


def find_early_verdict(entry: Entry, transcript: Transcript) -> Failed | NotScored | None:
    """Return the corrected verdict where the calls and words of the last answer do not matter, or None."""
    return find_unscored_cause(entry, transcript) or judge_fault(transcript.last)


def read_last_answer(entry: Entry, transcript: Transcript, language: Language | None = None) -> Reading:
    """Read the last answer leniently, with the functions that the entry offers."""
    offer = OfferedFunctions(entry.functions, transcript.prompting.names)
    syntax = transcript.prompting.syntax
    return read_corrected(transcript.last, syntax, language or entry.category.language, offer)


def judge_fault(completion: Completion) -> Failed | None:
    """Return the corrected verdict on an answer whose fault is the model's own, None for any other."""
    return _OWN_FAULTS.get(completion.fault) if completion.fault else None


def find_unscored_cause(entry: Entry, transcript: Transcript) -> NotScored | None:
    """Return why the corrected profile does not score this answer, or None.

    The official code judges the text of an error, an overflow of the context included, like any answer, so it
    passes irrelevance.
    """
    # A known-bad entry is set aside whatever was answered.
    if entry.set_aside:
        return NotScored(SET_ASIDE, entry.set_aside)
    if transcript.last.fault is Fault.INFERENCE_ERROR:
        return NotScored(Fault.INFERENCE_ERROR, f"the result is an error: {transcript.last.text}")
    return None
