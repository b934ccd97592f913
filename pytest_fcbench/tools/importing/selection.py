"""Choose the conversations that are held out, and the entries of a sample."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from typing import Protocol, TypeVar

from pytest_fcbench.tools.importing.logged import LoggedConversation


class Drawable(Protocol):
    """A candidate for a sample."""

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions that it calls."""

    @property
    def order(self) -> bytes:
        """A hash by which it is drawn."""


D = TypeVar("D", bound=Drawable)


def hash_users(logged: LoggedConversation) -> bytes:
    """Return a hash of what the users of a conversation say."""
    said = "\n".join(" ".join(each.text.lower().split()) for each in logged.messages if each.role == "user")
    return hashlib.blake2b(said.encode(errors="replace"), digest_size=8).digest()


def is_held_out(logged: LoggedConversation, share: float) -> bool:
    """Tell whether a conversation is held out; whether it is follows from what its users say."""
    digest = hash_users(logged)
    return int.from_bytes(digest, "big") < share * (1 << 8 * len(digest))


def draw_evenly(candidates: Sequence[D], most: int) -> Sequence[D]:
    """Draw at most this many in turn from those with the same functions; their order stays."""
    strata: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, each in enumerate(candidates):
        strata[each.functions].append(at)
    ranked = sorted(
        (rank, candidates[at].order, at)
        for stratum in strata.values()
        for rank, at in enumerate(sorted(stratum, key=lambda at: candidates[at].order))
    )
    return [candidates[at] for at in sorted(at for _, _, at in ranked[:most])]
