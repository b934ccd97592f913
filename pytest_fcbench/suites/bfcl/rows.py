"""Records of the official files, and the values that entries are made of.

Agentic entries are questions to each kind of memory, and questions about the web. The files hold each
question once. It is asked in several categories, and in its id the name of the category replaces that of the
file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from pytest_fcbench.domain.entry import SELECTIONS, Category, Entry, Message
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.text import as_list, as_mapping, list_objects, read_json_text
from pytest_fcbench.kinds.answers import entries as web_questions
from pytest_fcbench.kinds.answers.entries import MemoryQuestion, Scenario, locate_quotes
from pytest_fcbench.kinds.answers.verdict import Answers
from pytest_fcbench.suites.bfcl.official_sources import DOMAIN_FILES
from pytest_fcbench.suites.packs import Pack


def read_rows(pack: Pack, file: str, key: str = "id") -> Iterator[Mapping[str, object]]:
    """Yield the records of a file, each of which has the key. Raises ``SuiteError``."""
    for number, line in enumerate(pack.read(file).splitlines(), 1):
        if line.strip():
            row: object = None
            with suppress(ValueError):
                row = read_json_text(line)
            if not isinstance(row, Mapping) or key not in row:
                raise SuiteError(f"{file}:{number}: not a record with the key {key!r}; pull the pack again")
            yield row


def read_doc_rows(pack: Pack, domain: str) -> Iterator[Mapping[str, object]]:
    """Yield the function docs of a domain in their official form."""
    return read_rows(pack, f"multi_turn_func_doc/{DOMAIN_FILES[domain]}.json", key="name")


def read_docs(pack: Pack, domain: str) -> tuple[FunctionDoc, ...]:
    """Return the function docs of a domain."""
    return tuple(map(make_doc, read_doc_rows(pack, domain)))


def make_doc(value: object) -> FunctionDoc:
    """Convert an official function doc."""
    # What is left after the three, such as ``response``, is kept: some formats of prompts show it.
    doc = dict(as_mapping(value))
    name, description, parameters = doc.pop("name"), doc.pop("description"), doc.pop("parameters")
    return FunctionDoc(str(name), str(description), as_mapping(parameters), doc)


def make_turns(row: Mapping[str, object]) -> tuple[tuple[Message, ...], ...]:
    """Return the messages of each turn of a record."""
    return tuple(
        tuple(Message(str(message["role"]), str(message["content"])) for message in list_objects(turn))
        for turn in as_list(row["question"])
    )


def name_file(category: Category) -> str:
    """Return the name of the files of a category: its questions, and in another folder its answers."""
    return f"BFCL_v4_{category.file_word}.json"


def memory_entries(
    pack: Pack, category: Category, personas: Mapping[str, str], ledger: Mapping[str, str]
) -> Iterator[Entry]:
    """Yield the questions in their order. Raises KeyError and ValueError for other data than BFCL's."""
    functions, answers = read_docs(pack, category.name), _read_answers(pack, category)
    rows = list(read_rows(pack, name_file(category)))
    entries_by_id: dict[str, Entry] = {}
    for name in dict.fromkeys(str(row["scenario"]) for row in rows):
        conversations = tuple((str(row["id"]), make_turns(row)) for row in _read_conversations(pack, name))
        turn_texts = [[" ".join(m.content for m in turn) for turn in turns] for _, turns in conversations]
        last = len(turn_texts) - 1, len(turn_texts[-1]) - 1
        questions = []
        for row in rows:
            if row["scenario"] == name:
                answer = answers[row["id"]]
                # A source joins quotes with "..."; those of a few questions are paraphrased.
                quotes = re.split(r"\.\.\.|…", str(answer["source"]))
                place, query = locate_quotes(quotes, turn_texts) or last, make_turns(row)[0]
                questions.append(MemoryQuestion(str(row["id"]), query, _accepted(answer), place))
        scenario = Scenario(personas[name], conversations, tuple(questions))
        for question, entry in zip(
            questions, scenario.build_entries("bfcl", category, functions), strict=True
        ):
            entries_by_id[question.id] = replace(entry, set_aside=ledger.get(entry.id))
    # Entries keep the order of the file, whatever the order of scenarios.
    for row in rows:
        yield entries_by_id[str(row["id"])]


def web_entries(pack: Pack, category: Category, ledger: Mapping[str, str]) -> Iterator[Entry]:
    """Yield the questions in their order. Raises KeyError and ValueError for other data than BFCL's."""
    functions, answers = read_docs(pack, web_questions.DOMAIN), _read_answers(pack, category)
    for row in read_rows(pack, name_file(category)):
        entry_id = _entry_id(category, row)
        yield Entry(
            suite="bfcl",
            id=entry_id,
            category=category,
            turns=make_turns(row),
            functions=functions,
            expectation=Answers(_accepted(answers[row["id"]])),
            scene=web_questions.make_scene(category),
            set_aside=ledger.get(entry_id),
        )


def list_agentic_rows(
    pack: Pack, category: Category, answer_format: str
) -> Iterator[tuple[str, Mapping[str, object], object]]:
    """Yield id, question and answers of each entry in the form of official score files."""
    answers = _read_answers(pack, category)
    instruction = {"role": "system", "content": answer_format}
    for row in read_rows(pack, name_file(category)):
        entry_id = _entry_id(category, row)
        first, *others = as_list(row["question"])
        new = {**row, "id": entry_id, "question": [[instruction, *as_list(first)], *others]}
        if category.name in SELECTIONS["memory"]:
            # Official score files name the memory by its class and list the earlier conversations.
            conversations = _read_conversations(pack, str(row["scenario"]))
            new["involved_classes"] = [f"MemoryAPI_{category.name.removeprefix('memory_')}"]
            new["depends_on"] = [_entry_id(category, before) for before in conversations]
        yield entry_id, new, answers[row["id"]]["ground_truth"]


def _entry_id(category: Category, row: Mapping[str, object]) -> str:
    # Officially replaced too (``utils.load_dataset_entry``), so ids are those of official result files.
    return str(row["id"]).replace(category.file_word, category.name, 1)


def _read_answers(pack: Pack, category: Category) -> Mapping[object, Mapping[str, object]]:
    return {row["id"]: row for row in read_rows(pack, f"possible_answer/{name_file(category)}")}


def _read_conversations(pack: Pack, scenario: str) -> Iterator[Mapping[str, object]]:
    return read_rows(pack, f"memory_prereq_conversation/memory_{scenario}.json")


def _accepted(answer: Mapping[str, object]) -> tuple[str, ...]:
    answers = answer["ground_truth"]
    if not isinstance(answers, list) or not answers:
        raise ValueError(f"{answer['id']} has no answers")
    return tuple(map(str, answers))
