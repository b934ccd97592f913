"""The Berkeley Function-Calling Leaderboard, from its pack."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.codecs.wording import Notes, Prompts, Sentences, Wording
from pytest_fcbench.domain.entry import (
    CATEGORIES,
    SELECTIONS,
    AnyCall,
    Category,
    Comparison,
    Entry,
    Expectation,
    ExpectedCall,
    ExpectedCalls,
    ExpectedResponse,
    ExpectedResults,
    Group,
    Message,
    NoCall,
    PathCall,
    Rule,
    Scene,
    Trajectory,
)
from pytest_fcbench.domain.errors import SuiteError, unknown
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.prompt_format import FORMATS, Docs, Layout, Returned, Style
from pytest_fcbench.environments.world import World, world_from_json
from pytest_fcbench.execution.functions import lookups
from pytest_fcbench.suites.bfcl import memory, web_search
from pytest_fcbench.suites.bfcl.constants import SOURCES, read_constants
from pytest_fcbench.suites.bfcl.world import CLASSES
from pytest_fcbench.suites.formats import web_questions
from pytest_fcbench.suites.formats.fields import Field, yaml_value
from pytest_fcbench.suites.packs import Pack, installed
from pytest_fcbench.suites.packs.wheel import CONSTANTS, WheelSource
from pytest_fcbench.suites.prompt_variations import in_every_format, variation_id
from pytest_fcbench.suites.suite import Suite

SOURCE = WheelSource(
    name="bfcl",
    package="bfcl-eval",
    version="2026.3.23",
    wheel_sha256="3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a",
    content_sha256="ef383319ee6d2227174c9d1abff32e9a5c74e441abba1a3b49509ffa09076121",
    data="bfcl_eval/data",
    sources=SOURCES,
    read_constants=read_constants,
)


def open_suite(cache: Path) -> Suite:
    """The suite. Raises ``PackMissing`` where its pack is not in the cache."""
    pack = installed(SOURCE, cache)
    ledger = _ledger()
    constants: object = json.loads(pack.read(CONSTANTS))
    wording = _wording(constants)

    def load(category: Category) -> tuple[Entry, ...]:
        if category.rule is Rule.VARIATION:
            return tuple(in_every_format(_varied(pack, category, ledger, wording), category))
        if category.rule is Rule.ANSWER:
            return tuple(_agentic(pack, category, ledger, constants))
        return tuple(_entries(pack, category, ledger))

    return Suite(
        name=SOURCE.name,
        version=pack.version,
        pack_sha256=pack.content_sha256,
        categories=tuple(c for c in CATEGORIES.values() if c.rule is not Rule.PATH),
        wording=wording,
        world=_world(constants),
        load=load,
    )


def _ledger() -> Mapping[str, str]:
    """Entries that the corrected profile sets aside, with the reason."""
    path = Path(__file__).with_name("ledger.yaml")
    return {key: reason.text() for key, reason in Field(yaml_value(path), path).members().items()}


_UNUSED = ("unused_datasets/question/", "unused_datasets/possible_answer/")
"""Folders of the questions and answers of categories that official runs leave out."""


def _folders(category: Category) -> tuple[str, str]:
    return ("", "possible_answer/") if category.scored else _UNUSED


def _category_rows(pack: Pack, category: Category, file: str) -> Iterator[Mapping[str, object]]:
    return _of_v1(pack, file) if category.group is Group.V1 else _rows(pack, file)


def _entries(pack: Pack, category: Category, ledger: Mapping[str, str]) -> Iterator[Entry]:
    file = f"BFCL_v4_{category.name}.json"
    questions, answers = _folders(category)
    read = _readers(pack).get(category.rule, _single_turn)
    rows = _category_rows(pack, category, questions + file)
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


def _varied(pack: Pack, category: Category, ledger: Mapping[str, str], wording: Wording) -> Iterator[Entry]:
    """The entries of other categories that are put in every format.

    Their docs get the hint on the language here, and once more when they are shown: officially they are
    prepared twice.
    """
    hint = wording.notes[category.language].hint
    for of, ids in _chosen(pack, category):
        for entry in _entries(pack, of, ledger):
            if entry.id in ids:
                functions = tuple(replace(doc, description=doc.description + hint) for doc in entry.functions)
                yield replace(entry, functions=functions)


def _chosen(pack: Pack, category: Category) -> Iterator[tuple[Category, Container[str]]]:
    """From which categories the entries are taken, and which. Raises ``SuiteError``."""
    file = f"BFCL_v4_{category.name}.json"
    chosen: object = json.loads(pack.read(file))
    for name, ids in _mapping(chosen).items():
        if name not in CATEGORIES:
            raise SuiteError(f"{file}: {unknown('category', name, CATEGORIES)}")
        yield CATEGORIES[name], frozenset(map(str, _list(ids)))


def _truth(row: Mapping[str, object]) -> object:
    """The calls; of executable entries with the way in which the result of each is compared."""
    if "execution_result_type" in row:
        return row["ground_truth"], row["execution_result_type"]
    return row["ground_truth"]


Reader: TypeAlias = Callable[[Mapping[str, object], Category, object, str | None], Entry]
"""Makes an entry of a question, its category, its truth, and why it is set aside."""


def _readers(pack: Pack) -> Mapping[Rule, Reader]:
    return {Rule.STATE: _multi_turn(pack), Rule.EXECUTION: _executable(pack), Rule.REST: _rest(pack)}


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


_SENT = "unused_datasets/executable_eval_sanity_check/api_status_check_ground_truth_rest.json"
"""The calls whose answers the truths are, by the numbers of the entries."""


def _rest(pack: Pack) -> Reader:
    @cache
    def sent() -> Mapping[str, str]:
        rows = _rows(pack, _SENT, key="idx")
        return {f"rest_{row['idx']}": str(row["ground_truth"]) for row in rows}

    def read(row: Mapping[str, object], category: Category, truth: object, set_aside: str | None) -> Entry:
        entry = _single_turn(row, category, None, set_aside)
        return replace(entry, expectation=ExpectedResponse(sent()[entry.id], str(truth)))

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
    "memory_kv": "memory_kv",
    "memory_vector": "memory_vector",
    "memory_rec_sum": "memory_rec_sum",
    "web_search": "web_search",
}
"""File of the function docs of a domain."""


def _docs_of(pack: Pack, domain: str) -> tuple[FunctionDoc, ...]:
    return tuple(map(_doc, _rows(pack, f"multi_turn_func_doc/{_DOCS[domain]}.json", key="name")))


def _agentic(pack: Pack, category: Category, ledger: Mapping[str, str], constants: object) -> Iterator[Entry]:
    rows = partial(_rows, pack)
    try:
        if category.name in SELECTIONS["memory"]:
            personas = _text_table(constants, "default_prompts", "MEMORY_AGENT_SETTINGS")
            docs = _docs_of(pack, category.name)
            yield from memory.entries(rows, _turns, category, docs, personas, ledger)
        else:
            docs = _docs_of(pack, web_questions.DOMAIN)
            yield from web_search.entries(rows, _turns, category, docs, ledger)
    except (ValueError, KeyError, TypeError) as error:
        file = memory.QUESTIONS if category.name in SELECTIONS["memory"] else web_search.QUESTIONS
        raise SuiteError(f"{file}: not a file of BFCL ({error!r}); run 'fcbench pull bfcl'") from None


def _multi_turn(pack: Pack) -> Reader:
    docs: dict[str, tuple[FunctionDoc, ...]] = {}

    def read(row: Mapping[str, object], category: Category, truth: object, set_aside: str | None) -> Entry:
        domains = tuple(CLASSES[str(name)] for name in _list(row["involved_classes"]))
        for domain in domains:
            if domain not in docs:
                docs[domain] = _docs_of(pack, domain)
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

    A multi-turn question is without its functions, and those that come late stand there with their docs. An
    agentic one has the form of the answer in front.
    Raises ``PackError``.
    """
    if category.rule is Rule.VARIATION:
        yield from _varied_rows(cache, category)
        return
    pack, file = installed(SOURCE, cache), f"BFCL_v4_{category.name}.json"
    questions, answers = _folders(category)
    if category.rule is Rule.ANSWER:
        told = {"role": "system", "content": _wording(json.loads(pack.read(CONSTANTS))).answer_format}
        kind = memory if category.name in SELECTIONS["memory"] else web_search
        yield from kind.official_rows(partial(_rows, pack), category, told)
        return
    truths: Mapping[object, object] = {}
    if category.expects_calls:
        truths = {row["id"]: row["ground_truth"] for row in _rows(pack, answers + file)}
    docs: Mapping[object, object] = {}
    if not category.single_turn:
        paths = (f"multi_turn_func_doc/{name}.json" for name in _DOCS.values())
        docs = {doc["name"]: doc for path in paths for doc in _rows(pack, path, key="name")}
    for row in _category_rows(pack, category, questions + file):
        if missed := _mapping(row.get("missed_function")):
            late = {turn: [docs[name] for name in _list(names)] for turn, names in missed.items()}
            row = {**row, "missed_function": late}
        yield str(row["id"]), row, truths.get(row["id"])


def _varied_rows(cache: Path, category: Category) -> Iterator[tuple[str, Mapping[str, object], object]]:
    """Docs have the hint on the language once (``_varied``)."""
    pack = installed(SOURCE, cache)
    constants: object = json.loads(pack.read(CONSTANTS))
    hint = _wording(constants).notes[category.language].hint
    rows = (
        found for of, ids in _chosen(pack, category) for found in official_rows(cache, of) if found[0] in ids
    )
    for number, (entry_id, row, truth) in enumerate(rows):
        docs = [
            {**_mapping(doc), "description": f"{_mapping(doc)['description']}{hint}"}
            for doc in _list(row["function"])
        ]
        for index, chosen in enumerate(FORMATS, number * len(FORMATS)):
            name = variation_id(category, index, chosen, entry_id)
            yield name, {**row, "id": name, "function": docs}, truth


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
_MEMORY = {
    "memory_kv": "MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL",
    "memory_vector": "MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL",
    "memory_rec_sum": "MEMORY_BACKEND_INSTRUCTION_UNIFIED",
}
_MORE_FUNCTIONS = "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC"
"""The prompting one is the same sentence behind the docs."""


def _world(constants: object) -> World:
    """Default states, tables and filler of the API domains."""
    return world_from_json(_mapping(_mapping(constants).get("world")))


def _wording(constants: object) -> Wording:
    texts = _text_table(constants, "default_prompts")
    return Wording(
        prompts=_prompts(_mapping(_mapping(constants).get("default_prompts"))),
        notes={
            language: Notes(**_text_table(constants, "hints", "languages", language)) for language in Language
        },
        float_note=_text_table(constants, "hints")["float"],
        more_functions=texts[_MORE_FUNCTIONS],
        answer_format=texts[_ANSWER_FORMAT],
        memory={
            domain: texts[name]
            .replace("{scenario_setting}", "{persona}")
            .replace("{memory_content}", "{memory}")
            for domain, name in _MEMORY.items()
        },
        empty_memory=_text_table(constants, "empty_memory"),
    )


def _prompts(constants: Mapping[str, object]) -> Prompts:
    layouts = _text_table(constants, "PROMPT_TEMPLATE_MAPPING")
    examples = _text_table(constants, "OUTPUT_FORMAT_MAPPING")
    types = _text_table(constants, "PARAM_TYPE_MAPPING")
    return Prompts(
        layouts={layout: layouts[layout] for layout in Layout},
        styles={
            style: Sentences(**_text_table(constants, "PROMPT_STYLE_TEMPLATES", style)) for style in Style
        },
        output_formats={returned: examples[returned] for returned in Returned},
        param_types={returned: types[returned] for returned in Returned},
        docs={docs: docs for docs in Docs},
    )


def _text_table(constants: object, *keys: str) -> Mapping[str, str]:
    """The texts of one table of the constants."""
    for key in keys:
        constants = constants[key] if isinstance(constants, Mapping) else None
    table = constants if isinstance(constants, Mapping) else {}
    return {name: text for name, text in table.items() if isinstance(text, str)}
