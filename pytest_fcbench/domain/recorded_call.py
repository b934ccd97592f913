"""A call and the reply that was recorded for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.text import escape_surrogates


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call, and the reply that was recorded for it."""

    name: str
    arguments: Mapping[str, object]
    reply: str
    """JSON text, as a model is shown it; parsed, the thousands of replies of a suite take more memory."""

    @classmethod
    def with_reply(cls, name: str, arguments: Mapping[str, object], reply: object) -> RecordedCall:
        """Make a recorded call of a JSON reply. Raises RecursionError where it is nested too deeply."""
        return cls(name, arguments, write_reply(reply))

    @property
    def reply_value(self) -> object:
        """The reply as a JSON value, parsed each time."""
        value: object = read_json_text(self.reply)
        return value


def write_reply(reply: object) -> str:
    """Write a JSON value as the reply that a model is shown: lone surrogates escaped, other scripts not."""
    # ComplexFuncBench leaves other scripts as they are in its replies (``ensure_ascii=False``).
    return escape_surrogates(json.dumps(reply, ensure_ascii=False))
