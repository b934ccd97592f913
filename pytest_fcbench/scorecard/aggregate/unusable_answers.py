"""Signs that not the model but the way it is served or asked is wrong: no answer of many can be used."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_fcbench.domain.categories import CATEGORIES
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Fault
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.scorecard.record import Record

_ENOUGH = 20
"""Answers below which a model may have given none that can be used by chance."""
_UNREADABLE = ("decoder_failed", "unreadable_call")
"""Endings of the failure codes of answers that cannot be read as calls."""

TOOL_SWITCHES = (
    "vLLM: --enable-auto-tool-choice and --tool-call-parser; llama.cpp: --jinja; llama-cpp-python: "
    "--chat_format chatml-function-calling and the parameter tool_choice=auto"
)
"""What makes servers read tool calls out of what a model writes."""
_CONTEXT_SWITCHES = "vLLM: --max-model-len; llama.cpp: -c; llama-cpp-python: --n_ctx"
_OFTEN = 0.1
"""The share of entries that outgrow the context from which on the context is more likely set too short."""


def describe_unusable_answers(records: Iterable[Record]) -> str | None:
    """Describe what keeps the answers from being of use, and what to do; None where nothing does.

    That is a context too short for a tenth of the entries, or that all entries which expect calls lack the
    same in their answers; of at least twenty entries.
    """
    records = list(records)
    overflows = sum(
        any(answer["fault"] == Fault.OVERFLOW for turn in record.turns for answer in turn)
        for record in records
    )
    if len(records) >= _ENOUGH and overflows >= _OFTEN * len(records):
        return (
            f"{overflows:,} of {len(records):,} entries outgrew the context and count as wrong; if the "
            f"model can read more, start the server with a longer context ({_CONTEXT_SWITCHES})"
        )
    call_records = [
        record for record in records if record.turns and CATEGORIES[record.category].expects_calls
    ]
    if len(call_records) < _ENOUGH:
        return None
    answers = [answer for record in call_records for turn in record.turns for answer in turn]
    all_of_them = f"of {len(call_records):,} entries that expect calls"
    if not any(answer["tool_calls"] or str(answer["text"] or "").strip() for answer in answers):
        return (
            f"every answer {all_of_them} is empty; raise --fcbench-max-tokens if the model reasons first, "
            f"or look at what the server logs"
        )
    by_tools = all(record.mode == Mode.FC and record.syntax == "tool_calls" for record in call_records)
    if by_tools and not any(answer["tool_calls"] for answer in answers):
        return (
            f"no answer {all_of_them} contains a tool call; let the server read them ({TOOL_SWITCHES}), or "
            f"ask in words with --fcbench-mode=prompt"
        )
    verdicts = [record.verdicts.official for record in call_records]
    if all(isinstance(each, Failed) and each.code.endswith(_UNREADABLE) for each in verdicts):
        return (
            f"no answer {all_of_them} can be read as calls; choose the syntax in which the model writes them "
            f"with --fcbench-syntax, or another --fcbench-mode"
        )
    return None
