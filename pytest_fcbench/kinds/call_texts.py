"""Calls of a ground truth that are written as Python text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call


def parse_calls(
    entry: Entry,
    steps: Sequence[Sequence[str]],
    parse: Callable[[str], Sequence[Call]] = python.parse_corrected,
) -> Sequence[Sequence[Call]]:
    """Parse the calls of each step, positional arguments under the names of the function docs.

    A text that is no call is left out; entries with such a truth stand in the ledger of their suite.
    """
    late = entry.scene.withheld.values() if entry.scene else ()
    offer = OfferedFunctions(entry.functions + tuple(doc for docs in late for doc in docs), Names.DOTTED)

    def parse_step(texts: Sequence[str]) -> Iterator[Call]:
        for text in texts:
            with suppress(Undecodable):
                yield from map(offer.normalise_call, _parse_text(text, parse))

    return [[*parse_step(texts)] for texts in steps]


# The oracle is asked for the calls of a conversation at each of its steps.
@lru_cache(maxsize=4096)
def _parse_text(text: str, parse: Callable[[str], Sequence[Call]]) -> Sequence[Call]:
    return parse(text)
