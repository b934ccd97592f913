"""Our official verdicts beside recorded ones, record by record.

Reads files of the oracle's formats (one gzip'd JSON object a line): ``v4_<category>`` holds decoded
answers and their verdicts, ``v4dec_<category>`` raw text that goes through our own decoder first.
"""

from __future__ import annotations

import ast as python_ast
import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_fcbench.codecs.decoders.registry import read_official
from pytest_fcbench.codecs.decoders.syntax import WRONG_FORMAT, Calls, Unreadable
from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call, Completion, part_from_json
from pytest_fcbench.domain.verdict import Failed, Verdict
from pytest_fcbench.kinds import relevance
from pytest_fcbench.kinds.calls import official
from pytest_fcbench.kinds.calls.truth import ExpectedCalls
from pytest_fcbench.kinds.relevance import NoCall
from pytest_fcbench.suites.suite import Suite

_VENDOR_SYNTAX = {"other:HermesHandler": "hermes", "other:xLAMHandler": "xlam", "other:GLMHandler": "glm"}


@dataclass(frozen=True)
class Comparison:
    """What became of one file."""

    name: str
    records: int
    without_verdict: int
    """Records on which the official checker crashed: there is nothing to be equal to."""
    read_from_raw: int
    """Records whose raw answer we read ourselves, with the recorded calls or failure as the result."""
    different: tuple[str, ...]

    @property
    def equal(self) -> int:
        return self.records - self.without_verdict - len(self.different)


def read_records(path: Path) -> Iterator[Mapping[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def compare_file(path: Path, suite: Suite) -> Comparison:
    """Judge every record of a file; each difference is a sentence with model and id."""
    kind, _, category = path.name.removesuffix(".jsonl.gz").partition("_")
    entries = {entry.id: entry for entry in suite.load(CATEGORIES[category])}
    total = without = raw = 0
    different = []
    for record in read_records(path):
        total += 1
        entry = entries[str(record["id"])]
        where = f"{record['model']} {record['id']}"
        recorded = _read_recorded(record)
        reads_raw = kind == "v4dec" or record["decode"] != "prompt"
        reading = _read_raw(record, entry) if reads_raw else recorded
        raw += reads_raw
        if reads_raw and not _is_same_reading(reading, recorded, record):
            different.append(f"{where}: read as {reading!r:.200}, officially as {recorded!r:.200}")
        elif record["valid"] is None:
            without += 1
        elif (ours := _describe_outcome(_judge_reading(entry, reading, record))) != _read_official_outcome(
            record
        ):
            different.append(f"{where}: ours {ours}, official {_read_official_outcome(record)}")
    return Comparison(path.name, total, without, raw, tuple(different))


def _read_official_outcome(record: Mapping[str, object]) -> tuple[object, object]:
    return record["valid"], record["error_type"]


def _describe_outcome(verdict: Verdict) -> tuple[object, object]:
    return (False, verdict.code) if isinstance(verdict, Failed) else (True, None)


def _judge_reading(entry: Entry, reading: Calls | Unreadable, record: Mapping[str, object]) -> Verdict:
    names = Names.UNDERSCORED if record["underscore_to_dot"] else Names.DOTTED
    if isinstance(entry.expectation, ExpectedCalls):
        return official.match_calls(entry, reading, names)
    return relevance.judge_reading(reading, forbidden=isinstance(entry.expectation, NoCall))


def _read_raw(record: Mapping[str, object], entry: Entry) -> Calls | Unreadable:
    raw = record["raw"]
    syntax = {"fc": "tool_calls", "prompt": "python"}.get(str(record["decode"])) or _VENDOR_SYNTAX[
        str(record["decode"])
    ]
    if isinstance(raw, list):
        completion = Completion(tool_calls=tuple(part_from_json(part) for part in raw))
    else:
        completion = Completion(text=str(raw))
    language = entry.category.language if entry.category.expects_calls else Language.PYTHON
    return read_official(completion, syntax, language)


def _read_recorded(record: Mapping[str, object]) -> Calls | Unreadable:
    """Return the recorded decoder's result; a record without a decoder's error has a decoded value."""
    if "decode_error" in record:
        return Unreadable(str(record["decode_error"]))
    decoded = (
        python_ast.literal_eval(str(record["decoded_py"])) if "decoded_py" in record else record["decoded"]
    )
    if not isinstance(decoded, list) or not all(map(_is_call, decoded)):
        return Unreadable("not a list of calls", WRONG_FORMAT)
    return Calls(
        tuple(
            Call(name, {"**" if key is None else key: value for key, value in arguments.items()})
            for item in decoded
            for name, arguments in item.items()
        )
    )


def _is_call(item: object) -> bool:
    return isinstance(item, dict) and len(item) == 1 and isinstance(next(iter(item.values())), dict)


def _is_same_reading(
    ours: Calls | Unreadable, recorded: Calls | Unreadable, record: Mapping[str, object]
) -> bool:
    if isinstance(ours, Unreadable) and isinstance(recorded, Unreadable):
        return ours.code == recorded.code or record["error_type"] == ours.code
    return ours == recorded
