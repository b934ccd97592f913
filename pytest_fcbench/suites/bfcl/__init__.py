"""The Berkeley Function-Calling Leaderboard, from its pack."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.codecs.wording import Notes, Wording
from pytest_fcbench.entries import (
    CATEGORIES,
    SELECTIONS,
    Answers,
    AnyCall,
    Category,
    Comparison,
    Entry,
    Expectation,
    ExpectedCall,
    ExpectedCalls,
    ExpectedResults,
    FunctionDoc,
    Group,
    Language,
    Message,
    NoCall,
    PathCall,
    Rule,
    Scene,
    Trajectory,
)
from pytest_fcbench.environments.world import World, world_from_json
from pytest_fcbench.errors import SuiteError
from pytest_fcbench.executables import lookups
from pytest_fcbench.suites import web_questions
from pytest_fcbench.suites.bfcl.constants import SOURCES, read_constants
from pytest_fcbench.suites.bfcl.world import CLASSES
from pytest_fcbench.suites.fields import Field, yaml_value
from pytest_fcbench.suites.packs import Pack, installed
from pytest_fcbench.suites.packs.wheel import CONSTANTS, WheelSource
from pytest_fcbench.suites.suite import Suite

SOURCE = WheelSource(
    name="bfcl",
    package="bfcl-eval",
    version="2026.3.23",
    wheel_sha256="3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a",
    content_sha256="e89009913b21bc52777486bc67514cd6879ed26f73e86d19d8cd37e8cd8491ba",
    data="bfcl_eval/data",
    sources=SOURCES,
    read_constants=read_constants,
)


def open_suite(cache: Path) -> Suite:
    """The suite. Raises ``PackMissing`` where its pack is not in the cache."""
    pack = installed(SOURCE, cache)
    ledger = _ledger()
    constants: object = json.loads(pack.read(CONSTANTS))
    return Suite(
        name=SOURCE.name,
        version=pack.version,
        pack_sha256=pack.content_sha256,
        categories=tuple(
            c for c in CATEGORIES.values() if c.rule is not Rule.PATH and c.name not in SELECTIONS["memory"]
        ),
        wording=_wording(constants),
        world=_world(constants),
        load=lambda category: tuple(_entries(pack, category, ledger)),
    )


def _ledger() -> Mapping[str, str]:
    """Entries that the corrected profile sets aside, with the reason."""
    path = Path(__file__).with_name("ledger.yaml")
    return {key: reason.text() for key, reason in Field(yaml_value(path), path).members().items()}


_UNUSED = ("unused_datasets/question/", "unused_datasets/possible_answer/")
"""Folders of the questions and answers of categories that official runs leave out."""


def _entries(pack: Pack, category: Category, ledger: Mapping[str, str]) -> Iterator[Entry]:
    if category.name in SELECTIONS["web_search"]:
        yield from _web_search(pack, category, ledger)
        return
    file = f"BFCL_v4_{category.name}.json"
    questions, answers = ("", "possible_answer/") if category.scored else _UNUSED
    read = _readers(pack).get(category.rule, _single_turn)
    rows = _of_v1(pack, questions + file) if category.group is Group.V1 else _rows(pack, questions + file)
    try:
        truths: Mapping[str, object] = {}
        if category.expects_calls:
            truths = {str(row["id"]): _truth(row) for row in _rows(pack, answers + file)}
        for row in rows:
            entry_id = str(row["id"])
            if category.expects_calls and entry_id not in truths:
                raise SuiteError(f"{file}: the answer of {entry_id!r} is missing; run 'fcbench pull bfcl'")
            yield read(row, category, truths.get(entry_id), ledger.get(entry_id))
    except (ValueError, KeyError, TypeError) as error:
        raise SuiteError(f"{file}: not a file of BFCL ({error!r}); run 'fcbench pull bfcl'") from None


def _truth(row: Mapping[str, object]) -> object:
    """The calls; of executable entries with the way in which the result of each is compared."""
    if "execution_result_type" in row:
        return row["ground_truth"], row["execution_result_type"]
    return row["ground_truth"]


Reader: TypeAlias = Callable[[Mapping[str, object], Category, object, str | None], Entry]
"""Makes an entry of a question, its category, its truth, and why it is set aside."""


def _readers(pack: Pack) -> Mapping[Rule, Reader]:
    return {Rule.STATE: _multi_turn(pack), Rule.EXECUTION: _executable(pack)}


def _of_v1(pack: Pack, file: str) -> Iterator[Mapping[str, object]]:
    """Rows of the first version in the form of later ones: a question was a text or a list of messages, and
    what has no functions has no id either."""
    for number, row in enumerate(_rows(pack, file, key="question")):
        question = row["question"]
        messages = [{"role": "user", "content": question}] if isinstance(question, str) else question
        yield {"id": f"chatable_{number}", **row, "question": [messages]}


def _single_turn(
    row: Mapping[str, object], category: Category, truth: object, set_aside: str | None
) -> Entry:
    return Entry(
        suite=SOURCE.name,
        id=str(row["id"]),
        category=category,
        turns=_turns(row),
        functions=tuple(_doc(doc) for doc in _list(row["function"])),
        expectation=_expectation(category, truth),
        set_aside=set_aside,
    )


_RECORDED = "unused_datasets/executable_eval_sanity_check/api_status_check_ground_truth_executable.json"
"""What web APIs answered when BFCL checked whether they still do."""


def _executable(pack: Pack) -> Reader:
    @cache
    def recorded() -> tuple[PathCall, ...]:
        return tuple(
            lookups.recording(str(call), reply)
            for row in _rows(pack, _RECORDED, key="ground_truth")
            for call, reply in zip(_list(row["ground_truth"]), _list(row["execution_result"]), strict=True)
        )

    def read(row: Mapping[str, object], category: Category, truth: object, set_aside: str | None) -> Entry:
        texts, kinds = truth if isinstance(truth, tuple) else (None, None)
        calls = tuple(map(str, _list(texts)))
        if unknown := lookups.unanswered(calls, recorded()):
            set_aside = f"live_only: no answer was recorded for {unknown}"
        # One entry says of three results how they are compared, but has two calls.
        compared = tuple(Comparison(str(kind)) for kind in _list(kinds)[: len(calls)])
        entry = _single_turn(row, category, truth, set_aside)
        return replace(entry, expectation=ExpectedResults(calls, compared, recorded()))

    return read


_DOCS = {
    "file_system": "gorilla_file_system",
    "math": "math_api",
    "messages": "message_api",
    "posting": "posting_api",
    "tickets": "ticket_api",
    "trading": "trading_bot",
    "travel": "travel_booking",
    "vehicle": "vehicle_control",
    "web_search": "web_search",
}
"""File of the function docs of a domain."""


_WEB_SEARCH = "BFCL_v4_web_search.json"
"""The questions, which are the same with and without snippets."""


def _web_search(pack: Pack, category: Category, ledger: Mapping[str, str]) -> Iterator[Entry]:
    try:
        docs = tuple(
            map(_doc, _rows(pack, f"multi_turn_func_doc/{_DOCS[web_questions.DOMAIN]}.json", key="name"))
        )
        truths = {row["id"]: row["ground_truth"] for row in _rows(pack, f"possible_answer/{_WEB_SEARCH}")}
        for row in _rows(pack, _WEB_SEARCH):
            entry_id = str(row["id"]).replace("web_search", category.name, 1)
            yield Entry(
                suite=SOURCE.name,
                id=entry_id,
                category=category,
                turns=_turns(row),
                functions=docs,
                expectation=Answers(tuple(map(str, _list(truths[row["id"]])))),
                scene=web_questions.scene(category),
                set_aside=ledger.get(entry_id),
            )
    except (ValueError, KeyError, TypeError) as error:
        raise SuiteError(f"{_WEB_SEARCH}: not a file of BFCL ({error!r}); run 'fcbench pull bfcl'") from None


def _multi_turn(pack: Pack) -> Reader:
    docs: dict[str, tuple[FunctionDoc, ...]] = {}

    def read(row: Mapping[str, object], category: Category, truth: object, set_aside: str | None) -> Entry:
        domains = tuple(CLASSES[str(name)] for name in _list(row["involved_classes"]))
        for domain in domains:
            if domain not in docs:
                rows = _rows(pack, f"multi_turn_func_doc/{_DOCS[domain]}.json", key="name")
                docs[domain] = tuple(map(_doc, rows))
        functions = [doc for domain in domains for doc in docs[domain]]
        missed = _mapping(row.get("missed_function"))
        withheld = {
            int(turn): tuple(doc for name in _list(names) for doc in functions if doc.name == name)
            for turn, names in missed.items()
        }
        late = {doc.name for found in withheld.values() for doc in found}
        given = _mapping(row["initial_config"])
        config = {ours: _mapping(given[name]) for name, ours in CLASSES.items() if name in given}
        calls = tuple(tuple(map(str, _list(turn))) for turn in _list(truth))
        return Entry(
            suite=SOURCE.name,
            id=str(row["id"]),
            category=category,
            turns=_turns(row),
            functions=tuple(doc for doc in functions if doc.name not in late),
            expectation=Trajectory(calls),
            scene=Scene(domains, config, withheld),
            set_aside=set_aside,
        )

    return read


def official_rows(cache: Path, category: Category) -> Iterator[tuple[str, Mapping[str, object], object]]:
    """Id, question and truth of each entry as official score files hold them.

    A multi-turn question is without its functions, and those that come late stand there with their docs.
    Raises ``PackError``.
    """
    pack, file = installed(SOURCE, cache), f"BFCL_v4_{category.name}.json"
    truths: Mapping[object, object] = {}
    if category.expects_calls:
        truths = {row["id"]: row["ground_truth"] for row in _rows(pack, f"possible_answer/{file}")}
    docs: Mapping[object, object] = {}
    if not category.single_turn:
        paths = (f"multi_turn_func_doc/{name}.json" for name in _DOCS.values())
        docs = {doc["name"]: doc for path in paths for doc in _rows(pack, path, key="name")}
    for row in _rows(pack, file):
        if missed := _mapping(row.get("missed_function")):
            late = {turn: [docs[name] for name in _list(names)] for turn, names in missed.items()}
            row = {**row, "missed_function": late}
        yield str(row["id"]), row, truths.get(row["id"])


def _turns(row: Mapping[str, object]) -> tuple[tuple[Message, ...], ...]:
    return tuple(tuple(map(_message, _list(turn))) for turn in _list(row["question"]))


def _rows(pack: Pack, file: str, key: str = "id") -> Iterator[Mapping[str, object]]:
    for number, line in enumerate(pack.read(file).splitlines(), 1):
        if line.strip():
            row: object = json.loads(line)
            if not isinstance(row, Mapping) or key not in row:
                raise SuiteError(f"{file}:{number}: not a record with the key {key!r}")
            yield row


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _message(value: object) -> Message:
    message = _mapping(value)
    return Message(str(message["role"]), str(message["content"]))


def _doc(value: object) -> FunctionDoc:
    doc = dict(_mapping(value))
    name, description, parameters = doc.pop("name"), doc.pop("description"), doc.pop("parameters")
    return FunctionDoc(str(name), str(description), _mapping(parameters), doc)


def _expectation(category: Category, truth: object) -> Expectation:
    if not category.expects_calls:
        return AnyCall() if category.rule is Rule.RELEVANCE else NoCall()
    calls = [item for item in _list(truth) if isinstance(item, Mapping)]
    if category.rule is Rule.SQL:
        calls = calls[:1]  # one truth has a second, at which nothing looked
    return ExpectedCalls(
        tuple(ExpectedCall(name, accepted) for item in calls for name, accepted in item.items())
    )


_ANSWER_FORMAT = "ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT"
_MORE_FUNCTIONS = "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC"
"""The prompting one is the same sentence behind the docs."""


def _world(constants: object) -> World:
    """Default states, tables and filler of the API domains."""
    return world_from_json(_mapping(_mapping(constants).get("world")))


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
        more_functions=_text_table(constants, "default_prompts")[_MORE_FUNCTIONS],
        answer_format=_text_table(constants, "default_prompts")[_ANSWER_FORMAT],
    )


def _text_table(constants: object, *keys: str) -> Mapping[str, str]:
    """The texts of one table of the constants."""
    for key in keys:
        constants = constants[key] if isinstance(constants, Mapping) else None
    table = constants if isinstance(constants, Mapping) else {}
    return {name: text for name, text in table.items() if isinstance(text, str)}
