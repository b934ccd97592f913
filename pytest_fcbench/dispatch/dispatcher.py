"""Runs conversations on one event loop that lives as long as the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pytest_fcbench.answers import Transcript
from pytest_fcbench.conversation import Conversation
from pytest_fcbench.entries import Entry
from pytest_fcbench.errors import NotScoredError
from pytest_fcbench.models.model import Model
from pytest_fcbench.redaction import redacted


class Dispatcher:
    """Drives one conversation at a time.

    ``converse`` makes an entry's conversation. One loop serves all of them, because HTTP clients keep
    connections that belong to a loop.
    """

    def __init__(self, model: Model, converse: Callable[[Entry], Conversation]) -> None:
        self._model = model
        self._converse = converse
        self._runner = asyncio.Runner()

    def transcript(self, entry: Entry) -> Transcript:
        """The finished conversation about an entry. Raises ``NotScoredError``."""
        # Not Runner.run, which installs a signal handler each time.
        return self._runner.get_loop().run_until_complete(self._run(entry))

    async def _run(self, entry: Entry) -> Transcript:
        conversation = self._converse(entry)
        request = next(conversation)
        while True:
            try:
                completion = await self._model.complete(entry, request)
            except NotScoredError:
                raise
            except Exception as error:
                raise NotScoredError("model_error", redacted(f"{type(error).__name__}: {error}")) from error
            try:
                request = conversation.send(completion)
            except StopIteration as done:
                transcript: Transcript = done.value
                return transcript

    def close(self) -> None:
        """End the loop and what still runs on it."""
        self._runner.close()
