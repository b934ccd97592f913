"""A distribution that adds a suite, a model, a kind of entry, a call syntax and a model family.

pytest --fcbench-suite=example --fcbench-model=example:please --fcbench-syntax=arrow
pytest --fcbench-suite=example --fcbench-model=mine --fcbench-api-base=URL --fcbench-as=bell
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_fcbench.codecs.decoders.syntax import Undecodable, as_call, from_json, read_every_language
from pytest_fcbench.codecs.dialogues.families import OwnFamily
from pytest_fcbench.codecs.dialogues.written_prompt import WrittenPrompt
from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry, Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import AskModel, Call, Completion, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, Passed
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.kinds.kind import Kind, Resources
from pytest_fcbench.kinds.relevance import NoCall
from pytest_fcbench.models.provider import Chosen, Provider, choose_manner
from pytest_fcbench.suites import core
from pytest_fcbench.suites.suite import Suite

# A call syntax: the name of the function, an arrow, its arguments as JSON


def read_arrow(text: str) -> tuple[Call, ...]:
    """Read a call such as ``ring -> {"bell": 1}``."""
    name, arrow, arguments = text.partition(" -> ")
    if not arrow:
        raise Undecodable("there is no arrow")
    return (as_call(name, from_json(arguments)),)


ARROW = read_every_language(Mode.FC, official=read_arrow, corrected=read_arrow)


# A model family: its prompt, which ``templates/bell.jinja`` writes, and its way to write calls

BELL = OwnFamily(WrittenPrompt("bell", package="fcbench_example", parameters={"stop": ["<end>"]}), "arrow")


# A kind of entry: an answer in words must be polite


class Polite(Kind):
    """Entries whose answers must say please."""

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Pass an answer that says please, in both profiles."""
        if "please" in (transcript.last.text or "").casefold():
            return Judgement.same_in_both(Passed())
        return Judgement.same_in_both(Failed("example:impolite", "the answer does not say please"))


POLITE = Polite()


# A suite: an entry that is judged by the kind of its category, and one by ours

_RING = FunctionDoc(
    name="ring",
    description="Ring a bell.",
    parameters={
        "type": "dict",
        "properties": {"bell": {"type": "integer", "description": "Its number."}},
        "required": ["bell"],
    },
)


def _make_entry(
    category: str, question: str, expectation: ExpectedCalls | NoCall, other_kind: str = ""
) -> Entry:
    return Entry(
        suite="example",
        id=f"{category}_0",
        category=CATEGORIES[category],
        turns=((Message("user", question),),),
        functions=(_RING,),
        expectation=expectation,
        other_kind=other_kind,
    )


_ENTRIES = (
    _make_entry("simple_python", "Ring bell 1.", ExpectedCalls((ExpectedCall("ring", {"bell": [1]}),))),
    _make_entry("irrelevance", "Paint the bell red.", NoCall(), other_kind="polite"),
)


def load_entries(category: Category) -> tuple[Entry, ...]:
    """Return the entries of a category."""
    return tuple(entry for entry in _ENTRIES if entry.category == category)


def open_suite(cache: Path) -> Suite:
    """Open the suite; ``cache`` is the folder for what has to be downloaded."""
    ours = core.open_suite(cache)
    return Suite(
        name="example",
        version="1",
        pack_sha256=None,
        categories=tuple(dict.fromkeys(entry.category for entry in _ENTRIES)),
        wording=ours.wording,
        world=ours.world,
        load=load_entries,
    )


# A model provider: ``example:WORD`` makes a model that rings the bell, and ends what it says with the word


@dataclass(frozen=True, slots=True)
class BellRinger:
    """Rings bell 1 when it is asked to ring; else it apologizes."""

    word: str
    immediate: bool = True
    notes: tuple[str, ...] = ()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Answer the last message of a request."""
        if "Ring" in str(request.messages[-1]["content"]):
            return Completion(text='ring -> {"bell": 1}')
        return Completion(text=f"I have no paint; ask somebody else, {self.word}.")


def open_model(word: str, settings: Settings) -> Chosen:
    """Make the model of ``example:WORD``."""
    return Chosen(BellRinger(word), choose_manner(settings))


PROVIDER = Provider(open_model, "WORD", "rings bell 1 and says a word", needs_network=False)
