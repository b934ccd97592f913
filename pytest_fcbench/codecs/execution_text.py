"""Read an answer as the Python texts that are carried out (the official ``decode_execute``)."""

from __future__ import annotations

from pytest_fcbench.codecs.call_texts import write_joined
from pytest_fcbench.codecs.decoders.outcome import Undecodable, Unreadable, WrongFormat, refuse_faults
from pytest_fcbench.codecs.decoders.registry import SYNTAXES, read_official
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.transcript import Completion


def list_calls_to_make(completion: Completion, syntax: str) -> tuple[str, ...]:
    """Return the calls of an answer as texts; none for an answer without readable calls."""
    try:
        return read_call_texts(completion, syntax)
    except Undecodable:
        return ()


def read_call_texts(completion: Completion, syntax: str) -> tuple[str, ...]:
    """Read the calls of an answer as texts, as the official handler does. Raises ``Undecodable``."""
    reader = SYNTAXES[syntax]
    try:
        with refuse_faults():
            if reader and reader.carried_out and completion.text is not None and not completion.in_parts:
                return reader.carried_out(completion.text)
            if reader and reader.carried_out_parts and completion.tool_calls:
                return reader.carried_out_parts(completion.tool_calls)
            reading = read_official(completion, syntax, Language.PYTHON, is_executed=True)
            if isinstance(reading, Unreadable):
                raise Undecodable(reading.reason)
            return (reader.write if reader else write_joined)(reading.calls)
    except WrongFormat as error:
        raise Undecodable(str(error)) from None
