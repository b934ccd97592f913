"""The Berkeley Function-Calling Leaderboard, from its pack."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache, partial
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.codecs.presenting import Notes, Prompts, Sentences, Wording
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Category, Entry, Expectation, Group, Scene
from pytest_fcbench.domain.errors import PackMissing, SuiteError, describe_unknown_name
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.prompting import FORMATS, AnswerNotation, Docs, Layout, Style
from pytest_fcbench.domain.text import as_list, as_mapping, list_objects, read_json_text
from pytest_fcbench.domain.transcript import RecordedCall
from pytest_fcbench.environments.world import world_from_json
from pytest_fcbench.execution import lookups
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.kinds.execution.verdict import ExpectedResponse, ExpectedResults, ResultRule
from pytest_fcbench.kinds.relevance import AnyCall, NoCall
from pytest_fcbench.kinds.state.derived_entries import make_variation_id, vary_format
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.suites.bfcl import rows
from pytest_fcbench.suites.bfcl.official_sources import (
    CLASSES,
    DOMAIN_FILES,
    SOURCES,
    SPEAKING,
    read_constants,
)
from pytest_fcbench.suites.bfcl.rows import make_doc, make_turns, name_file, read_rows
from pytest_fcbench.suites.packs import CONSTANTS, Pack, WheelSource, open_pack
from pytest_fcbench.suites.suite import Suite

Row: TypeAlias = Mapping[str, object]
"""A record of an official file."""

SOURCE = WheelSource(
    name="bfcl",
    package="bfcl-eval",
    version="2026.3.23",
    wheel_sha256="3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a",
    content_sha256="7d193896402602d9e9eea6edc8b82d5166d45f02c57a8fde7de575085b566992",
    data="bfcl_eval/data",
    sources=SOURCES,
    read_constants=read_constants,
)


def open_suite(cache: Path) -> Suite:
    """Open the suite. Raises ``PackMissing`` where its pack is not in the cache."""
    pack = open_pack(SOURCE, cache)
    path = Path(__file__).with_name("ledger.yaml")
    ledger = {key: reason.text() for key, reason in Field(read_yaml(path), path).members().items()}
    constants: object = read_json_text(pack.read(CONSTANTS))
    wording = _read_wording(constants)

    def load(category: Category) -> tuple[Entry, ...]:
        if category.varies_others:
            hint = wording.notes[category.language].hint
            return tuple(vary_format(_read_varied(pack, category, ledger, hint), category))
        if category.group is Group.AGENTIC:
            with _describe_broken_file(name_file(category)):
                if category.name in SELECTIONS["memory"]:
                    personas = _text_table(constants, "default_prompts", "MEMORY_AGENT_SETTINGS")
                    return tuple(rows.memory_entries(pack, category, personas, ledger))
                return tuple(rows.web_entries(pack, category, ledger))
        return tuple(_read_entries(pack, category, ledger))

    @lru_cache
    def count(category: Category) -> int:
        if category.varies_others:
            return len(load(category))
        return sum(map(bool, map(bytes.strip, BytesIO(pack.read(_find_question_file(category))))))

    return Suite(
        name=SOURCE.name,
        version=pack.version,
        pack_sha256=pack.content_sha256,
        categories=tuple(category for category in CATEGORIES.values() if category.on_leaderboard),
        wording=wording,
        world=world_from_json(as_mapping(as_mapping(constants).get("world"))),
        load=load,
        count=count,
    )


def _find_answer_file(category: Category) -> str:
    # Categories that official runs leave out have a folder of their own.
    return f"{'' if category.scored else 'unused_datasets/'}possible_answer/{name_file(category)}"


def _find_question_file(category: Category) -> str:
    return f"{'' if category.scored else 'unused_datasets/question/'}{name_file(category)}"


def _read_questions(pack: Pack, category: Category) -> Iterator[Row]:
    file = _find_question_file(category)
    if category.group is not Group.V1:
        yield from read_rows(pack, file)
        return
    # In the first version a question was a text or a list of messages, and without functions it had no id.
    for number, row in enumerate(read_rows(pack, file, key="question")):
        question = row["question"]
        messages = [{"role": "user", "content": question}] if isinstance(question, str) else question
        yield {"id": f"chatable_{number}", **row, "question": [messages]}


def _read_entries(pack: Pack, category: Category, ledger: Mapping[str, str]) -> Iterator[Entry]:
    file = name_file(category)
    with _describe_broken_file(file):
        make_entry = _choose_reader(pack, category)
        answers: Mapping[str, Row] = {}
        if category.expects_calls:
            answers = {str(row["id"]): row for row in read_rows(pack, _find_answer_file(category))}
        # Officially answers are paired by position (eval_runner.py, _subset_entries_by_model_ids), where
        # a missing one would go unnoticed.
        for row in _read_questions(pack, category):
            entry_id = str(row["id"])
            if category.expects_calls and entry_id not in answers:
                raise SuiteError(f"{file}: the answer of {entry_id!r} is missing; run 'fcbench pull bfcl'")
            entry = make_entry(row, category, answers.get(entry_id, {}))
            yield replace(entry, set_aside=entry.set_aside or ledger.get(entry_id))


@contextmanager
def _describe_broken_file(file: str) -> Iterator[None]:
    """Raise ``SuiteError`` in place of the errors that a file of another form causes."""
    try:
        yield
    except (ValueError, KeyError, TypeError) as error:
        raise SuiteError(f"{file}: not a valid file of BFCL ({error!r}); run 'fcbench pull bfcl'") from None


def _read_varied(pack: Pack, category: Category, ledger: Mapping[str, str], hint: str) -> Iterator[Entry]:
    """Yield the entries of other categories that are repeated in every format.

    Their docs get the hint on the language here, and once more when they are shown: officially they are
    prepared twice.
    """
    for of, ids in _read_chosen_ids(pack, category):
        for entry in _read_entries(pack, of, ledger):
            # In the order of the data set, not of the list of ids, as officially.
            if entry.id in ids:
                # Once here and once when a prompt is built, because two official loaders add it.
                functions = tuple(replace(doc, description=doc.description + hint) for doc in entry.functions)
                yield replace(entry, functions=functions)


def _read_chosen_ids(pack: Pack, category: Category) -> Iterator[tuple[Category, Container[str]]]:
    """Yield the categories that entries are taken from, each with their ids. Raises ``SuiteError``."""
    file = name_file(category)
    ids_by_category: object = read_json_text(pack.read(file))
    for name, ids in as_mapping(ids_by_category).items():
        if name not in CATEGORIES:
            raise SuiteError(f"{file}: {describe_unknown_name('category', name, CATEGORIES)}")
        yield CATEGORIES[name], frozenset(map(str, as_list(ids)))


def _choose_reader(pack: Pack, category: Category) -> Callable[[Row, Category, Row], Entry]:
    """Return the function that makes an entry of a question, its category and its answer."""
    match category.group:
        case Group.MULTI_TURN:
            return partial(_make_multi_turn, cache(partial(rows.read_docs, pack)))
        case Group.EXECUTABLE if category.kind == "execution":
            # Replies of web APIs from BFCL's check of whether they still answer.
            replies = f"{_SANITY_CHECK}_executable.json"
            recorded_calls = tuple(
                lookups.record_reply(str(call), reply)
                for row in read_rows(pack, replies, key="ground_truth")
                for call, reply in zip(
                    as_list(row["ground_truth"]), as_list(row["execution_result"]), strict=True
                )
            )
            return partial(_make_executable, recorded_calls)
        case Group.EXECUTABLE:
            # The calls whose answers the truths are, by the numbers of the entries.
            check_rows = read_rows(pack, f"{_SANITY_CHECK}_rest.json", key="idx")
            # Truths of REST entries have the reply alone, so the call comes from BFCL's check of its APIs.
            calls = {f"rest_{row['idx']}": str(row["ground_truth"]) for row in check_rows}
            return lambda row, category, answer: _make_single_turn(
                row, category, ExpectedResponse(calls[str(row["id"])], str(answer["ground_truth"]))
            )
    return lambda row, category, answer: _make_single_turn(row, category, _read_expectation(category, answer))


_SANITY_CHECK = "unused_datasets/executable_eval_sanity_check/api_status_check_ground_truth"


def _make_single_turn(row: Row, category: Category, expectation: Expectation) -> Entry:
    return Entry(
        suite=SOURCE.name,
        id=str(row["id"]),
        category=category,
        turns=make_turns(row),
        functions=tuple(map(make_doc, as_list(row["function"]))),
        expectation=expectation,
    )


def _read_expectation(category: Category, answer: Row) -> Expectation:
    if not category.expects_calls:
        return AnyCall() if category.kind == "relevance" else NoCall()
    calls = [item for item in as_list(answer["ground_truth"]) if isinstance(item, Mapping)]
    if category.kind == "sql":
        # One truth has a second call, which the official checker never looked at.
        calls = calls[:1]
    return ExpectedCalls(
        tuple(ExpectedCall(name, accepted_values) for item in calls for name, accepted_values in item.items())
    )


def _make_executable(
    recorded_calls: tuple[RecordedCall, ...], row: Row, category: Category, answer: Row
) -> Entry:
    calls = tuple(map(str, as_list(answer["ground_truth"])))
    # One entry says of three results how they are compared, but has two calls.
    kinds = as_list(answer.get("execution_result_type"))[: len(calls)]
    rules = tuple(ResultRule(str(kind)) for kind in kinds)
    entry = _make_single_turn(row, category, ExpectedResults(calls, rules, recorded_calls))
    if unanswered_call := lookups.find_unanswered(calls, recorded_calls):
        return replace(entry, set_aside=f"live_only: no answer was recorded for {unanswered_call}")
    return entry


def _make_multi_turn(
    docs_of: Callable[[str], tuple[FunctionDoc, ...]], row: Row, category: Category, answer: Row
) -> Entry:
    domains = tuple(CLASSES[str(name)] for name in as_list(row["involved_classes"]))
    # Docs are concatenated in the order of involved_classes, as officially.
    functions = [doc for domain in domains for doc in docs_of(domain)]
    withheld = {
        int(turn): tuple(doc for name in as_list(names) for doc in functions if doc.name == name)
        for turn, names in as_mapping(row.get("missed_function")).items()
    }
    # The docs of late functions leave the offer until their turn, as in the official loader.
    late = {doc.name for late_docs in withheld.values() for doc in late_docs}
    # excluded_function, which some entries have, is read by no official code.
    start_config = as_mapping(row["initial_config"])
    config = {ours: as_mapping(start_config[name]) for name, ours in CLASSES.items() if name in start_config}
    return Entry(
        suite=SOURCE.name,
        id=str(row["id"]),
        category=category,
        turns=make_turns(row),
        functions=tuple(doc for doc in functions if doc.name not in late),
        expectation=Trajectory(
            tuple(tuple(map(str, as_list(turn))) for turn in as_list(answer["ground_truth"]))
        ),
        scene=Scene(domains, config, withheld),
    )


def official_rows(cache: Path, category: Category) -> Iterator[tuple[str, Row, object]]:
    """Yield id, question and truth of each entry in the form of official score files.

    A multi-turn question has no functions but those that come late, with their docs. An agentic one begins
    with the instruction on the form of the answer.
    Raises ``PackError``.
    """
    pack = open_pack(SOURCE, cache)
    if category.varies_others:
        yield from _official_varied_rows(cache, pack, category)
        return
    if category.group is Group.AGENTIC:
        answer_format = _read_wording(read_json_text(pack.read(CONSTANTS))).answer_format
        yield from rows.list_agentic_rows(pack, category, answer_format)
        return
    truths: Mapping[object, object] = {}
    if category.expects_calls:
        truths = {row["id"]: row["ground_truth"] for row in read_rows(pack, _find_answer_file(category))}
    docs: Mapping[object, object] = {}
    if not category.single_turn:
        # No function name occurs in two of the classes.
        docs = {doc["name"]: doc for domain in DOMAIN_FILES for doc in rows.read_doc_rows(pack, domain)}
    for row in _read_questions(pack, category):
        if missed_functions := as_mapping(row.get("missed_function")):
            late = {turn: [docs[name] for name in as_list(names)] for turn, names in missed_functions.items()}
            row = {**row, "missed_function": late}
        yield str(row["id"]), row, truths.get(row["id"])


def _official_varied_rows(cache: Path, pack: Pack, category: Category) -> Iterator[tuple[str, Row, object]]:
    # Score files have the hint on the language once, models were shown it twice (``_read_varied``).
    hint = _read_wording(read_json_text(pack.read(CONSTANTS))).notes[category.language].hint
    original_rows = (
        official_row
        for of, ids in _read_chosen_ids(pack, category)
        for official_row in official_rows(cache, of)
        if official_row[0] in ids
    )
    for number, (entry_id, row, truth) in enumerate(original_rows):
        docs = [
            {**doc, "description": f"{doc['description']}{hint}"} for doc in list_objects(row["function"])
        ]
        for index, prompt_format in enumerate(FORMATS, number * len(FORMATS)):
            name = make_variation_id(category, index, prompt_format, entry_id)
            yield name, {**row, "id": name, "function": docs}, truth


def read_family_sentences(cache: Path, handler: str) -> Mapping[str, tuple[str, ...]]:
    """Return the sentences of official handlers by class, from the pack.

    Raises ``PackMissing`` without a pack, if this handler has sentences of its own.
    """
    try:
        pack = open_pack(SOURCE, cache)
    except PackMissing:
        if handler in SPEAKING:
            raise
        return {}
    return _read_wording(read_json_text(pack.read(CONSTANTS))).family_texts


def _read_wording(constants: object) -> Wording:
    texts_of = partial(_text_table, constants, "default_prompts")
    texts, layouts = texts_of(), texts_of("PROMPT_TEMPLATE_MAPPING")
    examples, types = texts_of("OUTPUT_FORMAT_MAPPING"), texts_of("PARAM_TYPE_MAPPING")
    return Wording(
        prompts=Prompts(
            layouts={layout: layouts[layout] for layout in Layout},
            styles={style: Sentences(**texts_of("PROMPT_STYLE_TEMPLATES", style)) for style in Style},
            output_formats={notation: examples[notation] for notation in AnswerNotation},
            param_types={notation: types[notation] for notation in AnswerNotation},
            docs={docs: docs for docs in Docs},
        ),
        notes={
            language: Notes(**_text_table(constants, "hints", "languages", language)) for language in Language
        },
        float_note=_text_table(constants, "hints")["float"],
        # The one for prompting is the same sentence behind the docs.
        more_functions=texts["DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC"],
        answer_format=texts["ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT"],
        memory={
            f"memory_{kind}": texts[f"MEMORY_BACKEND_INSTRUCTION_{name}"]
            # Official templates name their places otherwise than our wording does.
            .replace("{scenario_setting}", "{persona}")
            .replace("{memory_content}", "{memory}")
            for kind, name in {"kv": "CORE_ARCHIVAL", "vector": "CORE_ARCHIVAL", "rec_sum": "UNIFIED"}.items()
        },
        empty_memory=_text_table(constants, "empty_memory"),
        family_texts={
            handler: tuple(map(str, as_list(texts)))
            for handler, texts in as_mapping(as_mapping(constants).get("families")).items()
        },
    )


def _text_table(constants: object, *keys: str) -> Mapping[str, str]:
    """Return the texts of one table of the constants."""
    for key in keys:
        constants = as_mapping(constants).get(key)
    return {name: text for name, text in as_mapping(constants).items() if isinstance(text, str)}
