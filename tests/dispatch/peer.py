"""The other end of a link in a process of its own.

python -m tests.dispatch.peer ask OFFER ID...   asks for these entries, writes what came as a pickle
python -m tests.dispatch.peer serve           writes its offer as JSON; answers ``core:…_0`` at
                                              once, any other entry never
"""

from __future__ import annotations

import json
import pickle
import sys
from concurrent.futures import Future

from pytest_fcbench.dispatch.worker_link import Link, LinkOffer, LinkServer
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import Transcript
from tests.factories import make_entry, make_transcript


def offer_from_json(text: str) -> LinkOffer:
    """Read the offer that ``offer_to_json`` wrote."""
    address, key = json.loads(text)
    return {"address": tuple(address), "key": bytes.fromhex(key)}


def offer_to_json(offer: LinkOffer) -> str:
    """Write an offer as text for a command line."""
    return json.dumps([offer["address"], offer["key"].hex()])


def _ask_server(offer: LinkOffer, ids: list[str]) -> None:
    link = Link.connect(offer)
    assert link is not None
    outcomes: list[Transcript | NotScoredError] = []
    for entry_id in ids:
        try:
            outcomes.append(link.transcript(make_entry(entry_id=entry_id)))
        except NotScoredError as error:
            outcomes.append(error)
    sys.stdout.buffer.write(pickle.dumps(outcomes))


def _serve_transcripts() -> None:
    def give_transcript(entry: Entry) -> Future[Transcript]:
        future: Future[Transcript] = Future()
        if entry.id.endswith("_0"):
            future.set_result(make_transcript("from another process", entry=entry.key))
        return future

    def find_entry(item_id: str) -> Entry:
        return make_entry(entry_id=item_id.partition(":")[2])

    print(offer_to_json(LinkServer(find_entry, give_transcript).offer), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        _ask_server(offer_from_json(sys.argv[2]), sys.argv[3:])
    else:
        _serve_transcripts()
