"""Choose the conversations that are held out, and the entries of a sample."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from heapq import nsmallest

from pytest_fcbench.tools.importing.logged import LoggedConversation


def hash_users(conversation: LoggedConversation) -> bytes:
    """Return a hash of what the users of a conversation say."""
    user_text = "\n".join(
        " ".join(each.text.lower().split()) for each in conversation.messages if each.role == "user"
    )
    return hashlib.blake2b(user_text.encode(errors="replace"), digest_size=8).digest()


def is_held_out(conversation: LoggedConversation, share: float) -> bool:
    """Tell whether a conversation is held out; whether it is follows from what its users say."""
    digest = hash_users(conversation)
    return int.from_bytes(digest, "big") < share * (1 << 8 * len(digest))


def draw_evenly(strata: Iterable[Hashable], orders: Sequence[int], most: int) -> Sequence[int]:
    """Draw at most this many places in turn from each stratum, lowest orders first; return them in order."""
    of_place = list(strata)
    draw_counts: Counter[Hashable] = Counter()

    def rank_places() -> Iterator[tuple[int, int, int]]:
        for at in sorted(range(len(orders)), key=orders.__getitem__):
            draw_counts[of_place[at]] += 1
            yield draw_counts[of_place[at]], orders[at], at

    return sorted(at for _, _, at in nsmallest(most, rank_places()))
