"""Ask entries of a finished run again in other ways: each way is a run whose settings differ in one thing.

So its answers are stored like those of any run, and none is bought twice.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace

from pytest_fcbench.config.loading import Settings
from pytest_fcbench.dispatch.answer_store import OldReads
from pytest_fcbench.dispatch.progress import show_progress
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Verdict
from pytest_fcbench.kinds.forced.entries import FORCED, force_truth
from pytest_fcbench.kinds.forced.exchange import BROKEN, KEPT
from pytest_fcbench.kinds.forced.ways import GUESSED
from pytest_fcbench.models.providers.openai_compatible import name_server
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session
from pytest_fcbench.suites import embedded

PROMPT_CHECKS = (TOOLS, RESULTS) = "prompt_tools", "prompt_result"
"""The checks of ``wire`` that tell by the tokens of prompts whether tools and results reach them."""


@dataclass(frozen=True, slots=True)
class HeldConversation:
    """A conversation that was held again, and what it is worth."""

    transcript: Transcript | None
    """None where no answer came."""
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class KeptTruth:
    """Whether a server keeps the right calls of an entry in whole replies, and in streams."""

    whole: Verdict
    streamed: Verdict
    syntax: str = ""
    """The native syntax of the calls that were put through; empty where it is not known."""
    is_guessed: bool = False
    """True where it is the first one that the server's parser reads."""


def hold_conversations(
    settings: Settings, entries: Sequence[Entry], old_reads: OldReads | None = None
) -> Mapping[str, HeldConversation]:
    """Hold the conversations about entries, by item id; ``old_reads`` counts stored answers among theirs.

    Raises ``UsageError`` where these settings want the first call to succeed, and it fails.
    """
    held: dict[str, HeldConversation] = {}
    with closing(Session(RunContext(settings))) as session:
        session.start(entries)
        # A page or a program that reads what is printed has no use for it.
        with show_progress(session.progress) if sys.stdout.isatty() else nullcontext():
            for entry in entries:
                try:
                    transcript = session.transcript(entry)
                    held[entry.item_id] = HeldConversation(transcript, session.judge(entry, transcript))
                except NotScoredError as error:
                    missing = NotScored(error.cause, error.reason)
                    held[entry.item_id] = HeldConversation(None, Judgement.same_in_both(missing))
        if old_reads is not None:
            old_reads.add(session.open_models().old_reads)
    return held


def ask_streamed(settings: Settings, *, streams: bool) -> Settings:
    """Return settings under which answers come as streams, or whole."""
    chosen = settings.chosen_parameters | {"stream"}
    return replace(settings, stream=streams, chosen_parameters=chosen, compares_streams=False)


def ask_by_prompting(settings: Settings, syntax: str | None) -> Settings:
    """Return settings under which the functions stand in the prompt, and no server reads the answers.

    Calls are asked for in a native syntax, or as Python where it is None.
    """
    way = replace(settings, syntax=None, read_as=None)
    return replace(way, prompt_syntax=syntax) if syntax else replace(way, mode=Mode.PROMPT, names=None)


def put_truths_through(
    settings: Settings, entries: Iterable[Entry], old_reads: OldReads | None = None
) -> Mapping[str, KeptTruth]:
    """Put the right calls of entries through the server; return by key what it keeps, where there are any."""
    server = name_server(settings)
    forced = [each for entry in entries if (each := force_truth(entry, "auto", settings.syntax, server))]
    way = replace(settings, forced="auto", forced_categories=settings.categories, categories=(FORCED,))
    held = hold_conversations(way, forced, old_reads) if forced else {}
    return {entry.key: _read_truth(held[entry.item_id]) for entry in forced}


def _read_truth(held: HeldConversation) -> KeptTruth:
    verdicts: dict[bool, Verdict] = {}
    syntax, is_guessed = "", False
    if held.transcript is None or isinstance(held.judgement.official, NotScored):
        return KeptTruth(held.judgement.official, held.judgement.official)
    for completion in held.transcript.completions:
        facts = dict(each.partition("=")[::2] for each in completion.served)
        is_guessed = facts.get("forced", "").endswith(GUESSED)
        syntax = facts.get("syntax", syntax)
        first, _, rest = (completion.text or "").partition("\n")
        outcome, _, where = first.partition(": ")
        streams = where.rpartition(", ")[2].startswith("streamed")
        reason = f"{where}: {rest.partition(chr(10))[0]}"
        if outcome == BROKEN:
            verdicts[streams] = Failed("server:forced", reason)
        elif streams in verdicts and isinstance(verdicts[streams], Failed):
            continue
        elif outcome == KEPT and not is_guessed:
            verdicts.setdefault(streams, Passed())
        else:
            verdicts[streams] = NotScored("undecided", reason)
    untested = NotScored("undecided", "not put through in this way")
    return KeptTruth(verdicts.get(False, untested), verdicts.get(True, untested), syntax, is_guessed)


def check_prompt(settings: Settings, old_reads: OldReads | None = None) -> Mapping[str, Verdict]:
    """Check whether tools and results of calls reach the prompt; return the verdicts by check."""
    suite = embedded.open_wire(settings.cache)
    checks = [
        entry for category in suite.categories for entry in suite.load(category) if entry.id in PROMPT_CHECKS
    ]
    categories = tuple({entry.category for entry in checks})
    way = replace(settings, suites=(embedded.WIRE,), categories=categories, forced=None)
    held = hold_conversations(way, checks, old_reads)
    return {entry.id: held[entry.item_id].judgement.official for entry in checks}
