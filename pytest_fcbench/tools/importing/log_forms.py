"""Read a line of a log, or of training data, as conversations, in the form of whoever wrote it.

The forms are told apart by their keys:

- ``messages``: OpenAI's form for chats and fine-tuning, with ``tools`` and ``tool_calls``;
- ``conversations``: ShareGPT's form and that of Hermes, with calls between ``<tool_call>`` tags, as JSON, or
  in messages of ``function_call``;
- ``query`` and ``answers``: xLAM's form;
- ``resourceSpans``: spans of OpenTelemetry as JSON (OTLP) with the attributes of generative AI.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.tools.importing.chat_form import read_chat
from pytest_fcbench.tools.importing.logged import LoggedConversation, UnreadableLogError
from pytest_fcbench.tools.importing.otel_spans import read_span, read_spans
from pytest_fcbench.tools.importing.sharegpt_form import read_sharegpt
from pytest_fcbench.tools.importing.xlam_form import read_xlam


def read_conversations(line: bytes | str) -> Iterator[LoggedConversation]:
    """Read the conversations of a line. Raises ``UnreadableLogError``."""
    try:
        value = as_mapping(json.loads(line))
        if isinstance(messages := value.get("messages"), list):
            yield read_chat(value, messages)
        elif isinstance(messages := value.get("conversations"), list):
            yield read_sharegpt(value, messages)
        elif isinstance(query := value.get("query"), str):
            yield read_xlam(value, query)
        elif isinstance(value.get("resourceSpans"), list):
            yield from map(read_span, read_spans(value))
        else:
            raise UnreadableLogError("has neither 'messages', 'conversations', 'query' nor 'resourceSpans'")
    except (ValueError, RecursionError) as error:
        raise UnreadableLogError(f"not valid JSON: {getattr(error, 'msg', error)}") from None
