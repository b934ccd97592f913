"""The Berkeley Function-Calling Leaderboard, from its pack."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_fcbench.codecs.wording import Notes, Wording
from pytest_fcbench.entries import (
    CATEGORIES,
    AnyCall,
    Category,
    Entry,
    Expectation,
    ExpectedCall,
    ExpectedCalls,
    FunctionDoc,
    Language,
    Message,
    NoCall,
    Rule,
)
from pytest_fcbench.errors import SuiteError
from pytest_fcbench.suites.bfcl.constants import SOURCES, read_constants
from pytest_fcbench.suites.fields import Field, yaml_value
from pytest_fcbench.suites.packs import CONSTANTS, Pack, PackSource, installed
from pytest_fcbench.suites.suite import Suite

SOURCE = PackSource(
    name="bfcl",
    package="bfcl-eval",
    version="2026.3.23",
    wheel_sha256="3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a",
    content_sha256="cc599fae097f36570788d3b018ceeb18dc934aab8411e1e7643db2677e532c85",
    data="bfcl_eval/data",
    sources=SOURCES,
    read_constants=read_constants,
)


def open_suite(cache: Path) -> Suite:
    """The suite. Raises ``PackMissing`` where its pack is not in the cache."""
    pack = installed(SOURCE, cache)
    ledger = _ledger()
    return Suite(
        name=SOURCE.name,
        version=pack.version,
        pack_sha256=pack.content_sha256,
        categories=tuple(CATEGORIES.values()),
        wording=_wording(json.loads(pack.read(CONSTANTS))),
        load=lambda category: tuple(_entries(pack, category, ledger)),
    )


def _ledger() -> Mapping[str, str]:
    """Entries that the corrected profile sets aside, with the reason."""
    path = Path(__file__).with_name("ledger.yaml")
    return {key: reason.text() for key, reason in Field(yaml_value(path), path).members().items()}


def _entries(pack: Pack, category: Category, ledger: Mapping[str, str]) -> Iterator[Entry]:
    file = f"BFCL_v4_{category.name}.json"
    try:
        yield from _joined(pack, category, file, ledger)
    except (ValueError, KeyError, TypeError) as error:
        raise SuiteError(f"{file}: not a file of BFCL ({error!r}); run 'fcbench pull bfcl'") from None


def _joined(pack: Pack, category: Category, file: str, ledger: Mapping[str, str]) -> Iterator[Entry]:
    """Entries with their answers, joined by id."""
    answers: Mapping[str, object] = {}
    if category.expects_calls:
        answers = {str(row["id"]): row["ground_truth"] for row in _rows(pack, f"possible_answer/{file}")}
    for row in _rows(pack, file):
        entry_id = str(row["id"])
        if category.expects_calls and entry_id not in answers:
            raise SuiteError(f"{file}: the answer of {entry_id!r} is missing; run 'fcbench pull bfcl'")
        yield Entry(
            suite=SOURCE.name,
            id=entry_id,
            category=category,
            turns=tuple(
                tuple(_message(message) for message in _list(turn)) for turn in _list(row["question"])
            ),
            functions=tuple(_doc(doc) for doc in _list(row["function"])),
            expectation=_expectation(category, answers.get(entry_id)),
            set_aside=ledger.get(entry_id),
        )


def _rows(pack: Pack, file: str) -> Iterator[Mapping[str, object]]:
    for number, line in enumerate(pack.read(file).splitlines(), 1):
        if line.strip():
            row: object = json.loads(line)
            if not isinstance(row, Mapping) or "id" not in row:
                raise SuiteError(f"{file}:{number}: not a record with an id")
            yield row


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _message(value: object) -> Message:
    message = value if isinstance(value, Mapping) else {}
    return Message(str(message["role"]), str(message["content"]))


def _doc(value: object) -> FunctionDoc:
    doc = dict(value) if isinstance(value, Mapping) else {}
    name, description, parameters = doc.pop("name"), doc.pop("description"), doc.pop("parameters")
    return FunctionDoc(str(name), str(description), parameters, doc)


def _expectation(category: Category, truth: object) -> Expectation:
    if not category.expects_calls:
        return NoCall() if category.rule is Rule.IRRELEVANCE else AnyCall()
    calls = [item for item in _list(truth) if isinstance(item, Mapping)]
    return ExpectedCalls(
        tuple(ExpectedCall(name, accepted) for item in calls for name, accepted in item.items())
    )


def _wording(constants: object) -> Wording:
    """The default prompt format: Python calls, no tag, JSON docs, plain text, classic wording."""
    style = _text_table(constants, "default_prompts", "PROMPT_STYLE_TEMPLATES", "classic")
    call_format = style["tool_call_no_tag"].format(
        output_format=_text_table(constants, "default_prompts", "OUTPUT_FORMAT_MAPPING")["python"],
        param_types=_text_table(constants, "default_prompts", "PARAM_TYPE_MAPPING")["python"],
    )
    template = _text_table(constants, "default_prompts", "PROMPT_TEMPLATE_MAPPING")["plaintext"]
    return Wording(
        system_prompt=template.format(
            persona=style["persona"],
            task=style["task"],
            tool_call_format=call_format,
            multiturn_behavior=style["multiturn_behavior"],
            available_tools=style["available_tools"].replace("{format}", "json"),
        ),
        notes={
            language: Notes(**_text_table(constants, "hints", "languages", language)) for language in Language
        },
        float_note=_text_table(constants, "hints")["float"],
    )


def _text_table(constants: object, *keys: str) -> Mapping[str, str]:
    """The texts of one table of the constants."""
    for key in keys:
        constants = constants[key] if isinstance(constants, Mapping) else None
    table = constants if isinstance(constants, Mapping) else {}
    return {name: text for name, text in table.items() if isinstance(text, str)}
