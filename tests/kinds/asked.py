"""What a conversation asks when it is answered."""

from __future__ import annotations

from collections.abc import Callable

from pytest_fcbench.domain.transcript import AskModel, Completion, Conversation, drive_conversation


def collect_requests(asking: Conversation, answer: Callable[[AskModel], Completion]) -> list[AskModel]:
    """Drive a conversation with these answers and return every request that it comes to."""
    found: list[AskModel] = []

    def note_request(request: AskModel) -> Completion:
        found.append(request)
        return answer(request)

    drive_conversation(asking, note_request)
    return found
