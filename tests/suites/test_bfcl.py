"""The official suite: read from its pack, answers joined by id, constants read without running anything."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.codecs.presenting import Notes
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Entry, Group, Message
from pytest_fcbench.domain.errors import PackError, PackMissing, SuiteError
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.prompting import (
    FORMATS,
    AnswerNotation,
    Docs,
    Layout,
    PromptFormat,
    parse_format_id,
)
from pytest_fcbench.execution.rest_apis import APIS, read_request
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.kinds.execution.verdict import ExpectedResponse, ExpectedResults, ResultRule
from pytest_fcbench.kinds.relevance import AnyCall, NoCall
from pytest_fcbench.suites import bfcl, packs
from pytest_fcbench.suites.bfcl.official_sources import SOURCES, read_constants
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.web.addresses import parse_url
from tests.cases import each_case
from tests.factories import pin_source, write_tree
from tests.suites.world_sources import WORLD_TEXTS

PROMPTS, DOCS, TOOLS, *_ = SOURCES
KEYED, WRITTEN = (
    next(path for path in SOURCES if path.endswith(f"/{name}.py")) for name in ("memory_kv", "memory_rec_sum")
)

TEXTS: Mapping[str, str] = {
    **dict.fromkeys(SOURCES, ""),
    **WORLD_TEXTS,
    PROMPTS: """
DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC = "There is more now."
ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT = "Answer {briefly}."
MEMORY_AGENT_SETTINGS = {"sailor": "You sail."}
MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL = "{scenario_setting} You know: {memory_content}"
MEMORY_BACKEND_INSTRUCTION_UNIFIED = "{scenario_setting} In short: {memory_content}"
import nothing_like_this
GIVEN = "Functions as "
PROMPT_STYLE_TEMPLATES = {
    "classic": {
        "persona": "You are brief.",
        "task": "Call functions.",
        "tool_call_no_tag": "Write {output_format} with {param_types}.",
        "tool_call_with_tag": "Write <T>{output_format}</T> with {param_types}.",
        "multiturn_behavior": "Go on.",
        "available_tools": GIVEN + "{format}: {functions}",
    },
    "experimental": {
        "persona": "You are long.",
        "task": "Do call functions.",
        "tool_call_no_tag": "Do write {output_format}.",
        "tool_call_with_tag": "Do write <T>{output_format}</T>.",
        "multiturn_behavior": "Do go on.",
        "available_tools": "{functions}",
    },
}
OUTPUT_FORMAT_MAPPING = {"python": "[f(a=1)]", "json": "{}", "verbose_xml": "<v/>", "concise_xml": "<c/>"}
PARAM_TYPE_MAPPING = {"python": "literals", "json": "", "verbose_xml": "types", "concise_xml": "types"}
PROMPT_TEMPLATE_MAPPING = {
    "markdown": "# {persona}\\n{task} {tool_call_format} {multiturn_behavior} {available_tools}",
    "plaintext": "{persona} {task} {tool_call_format} {multiturn_behavior} {available_tools}",
}
COMPUTED = len(GIVEN)
""",
    DOCS: """
def _get_language_specific_hint(category):
    if category == "java":
        return " In Java."
    elif category == "javascript":
        return " In JavaScript."
    else:
        return " In Python."

def _func_doc_language_specific_pre_processing(docs, category):
    for doc in docs:
        doc["description"] += hint(category)
        if category == "java":
            doc["a"] += " Any Java object."
            doc["b"] += f" A Java {doc} as {{text}}."
            doc["c"] += f" Of {doc}s."
        else:
            doc["d"] += " Anything."
            doc["e"] += f" A JavaScript {doc}."
            doc["f"] += f" Each a {doc}."
            doc["g"] += f" With {doc}."
    return docs
""",
    TOOLS: """
def _cast_to_openai_type(schema):
    schema["description"] += " A fraction."
""",
    **{
        path: f"""
class Memory:
    def _dump_core_memory_to_context(self) -> str:
        if not self.held:
            return "{sentence}"
        return str(self.held)
"""
        for path, sentence in ((KEYED, "No names."), (WRITTEN, "No words."))
    },
}
"""Sources of the shape that the official ones have, in our own words."""

DOC = {
    "name": "tide.high",
    "description": "Time of high tide.",
    "parameters": {"type": "dict", "properties": {"port": {"type": "string"}}, "required": ["port"]},
    "response": {"type": "string"},
}


def _make_question(entry_id: str, text: str) -> Mapping[str, object]:
    return {"id": entry_id, "question": [[{"role": "user", "content": text}]], "function": [DOC]}


def _make_truth(entry_id: str, *ports: str) -> Mapping[str, object]:
    return {"id": entry_id, "ground_truth": [{"tide.high": {"port": [port]}} for port in ports]}


def _open_suite_of(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    category: str,
    questions: Sequence[object],
    answers: Sequence[object] = (),
) -> Suite:
    """Open the suite on a pack of one category."""
    file = f"BFCL_v4_{category}.json"
    data = {file: questions, f"possible_answer/{file}": answers}
    lines = {
        f"bfcl_eval/data/{name}": "".join(f"{json.dumps(row)}\n" for row in rows)
        for name, rows in data.items()
    }
    origin = write_tree(folder / "origin", {**TEXTS, **lines})
    source = pin_source(bfcl.SOURCE, origin, folder / "scratch")
    monkeypatch.setattr(bfcl, "SOURCE", source)
    packs.pull(source, folder / "cache", origin)
    return open_suite("bfcl", folder / "cache")


# Entries


def test_answers_are_joined_by_id_not_by_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = ["live_simple_0-0-0", "live_simple_2-1-0", "live_simple_10-2-0"]
    suite = _open_suite_of(
        tmp_path,
        monkeypatch,
        "live_simple",
        [_make_question(entry_id, f"When, {entry_id}?") for entry_id in ids],
        [
            _make_truth(entry_id, f"port of {entry_id}")
            for entry_id in [ids[2], ids[0], "of no entry", ids[1]]
        ],
    )
    entries = suite.load(CATEGORIES["live_simple"])
    assert [entry.id for entry in entries] == ids
    assert [entry.expectation for entry in entries] == [
        ExpectedCalls((ExpectedCall("tide.high", {"port": [f"port of {entry_id}"]}),)) for entry_id in ids
    ]


def test_an_entry_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Both tides?"}]
    row = {**_make_question("parallel_0", ""), "question": [turn]}
    suite = _open_suite_of(
        tmp_path, monkeypatch, "parallel", [row], [_make_truth("parallel_0", "Brest", "Nantes")]
    )
    assert suite.load(CATEGORIES["parallel"]) == (
        Entry(
            suite="bfcl",
            id="parallel_0",
            category=CATEGORIES["parallel"],
            turns=((Message("system", "Be brief."), Message("user", "Both tides?")),),
            functions=(
                FunctionDoc(
                    "tide.high",
                    "Time of high tide.",
                    {"type": "dict", "properties": {"port": {"type": "string"}}, "required": ["port"]},
                    {"response": {"type": "string"}},
                ),
            ),
            expectation=ExpectedCalls(
                (
                    ExpectedCall("tide.high", {"port": ["Brest"]}),
                    ExpectedCall("tide.high", {"port": ["Nantes"]}),
                )
            ),
        ),
    )


@pytest.mark.parametrize(
    ("category", "expectation"), [("irrelevance", NoCall()), ("live_relevance", AnyCall())]
)
def test_categories_without_a_truth_need_no_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, category: str, expectation: NoCall | AnyCall
) -> None:
    suite = _open_suite_of(tmp_path, monkeypatch, category, [_make_question(f"{category}_0", "Hello?")])
    assert [entry.expectation for entry in suite.load(CATEGORIES[category])] == [expectation]


def test_entries_of_the_ledger_carry_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = ["simple_java_63", "simple_java_64"]
    rows, truths = [_make_question(i, "?") for i in ids], [_make_truth(i, "Brest") for i in ids]
    suite = _open_suite_of(tmp_path, monkeypatch, "simple_java", rows, truths)
    fine, known_bad = suite.load(CATEGORIES["simple_java"])
    assert fine.set_aside is None
    assert known_bad.set_aside == _read_ledger()["simple_java_64"]


def test_an_answer_that_is_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [_make_question("multiple_0", "?"), _make_question("multiple_1", "?")]
    suite = _open_suite_of(tmp_path, monkeypatch, "multiple", rows, [_make_truth("multiple_0", "Brest")])
    with pytest.raises(SuiteError) as caught:
        suite.load(CATEGORIES["multiple"])
    assert str(caught.value) == (
        "BFCL_v4_multiple.json: the answer of 'multiple_1' is missing; run 'fcbench pull bfcl'"
    )


@pytest.mark.parametrize("row", [{"question": []}, ["irrelevance_1"], "irrelevance_1"])
def test_a_row_without_id_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: object
) -> None:
    suite = _open_suite_of(tmp_path, monkeypatch, "irrelevance", [_make_question("irrelevance_0", "?"), row])
    with pytest.raises(SuiteError) as caught:
        suite.load(CATEGORIES["irrelevance"])
    assert (
        str(caught.value) == "BFCL_v4_irrelevance.json:2: not a record with the key 'id'; pull the pack again"
    )


def test_a_data_file_changed_in_the_cache_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = _open_suite_of(tmp_path, monkeypatch, "irrelevance", [_make_question("irrelevance_0", "?")])
    file = next((tmp_path / "cache").rglob("*/BFCL_v4_irrelevance.json"))
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(PackError, match=r"BFCL_v4_irrelevance\.json was changed after it was fetched"):
        suite.load(CATEGORIES["irrelevance"])


def test_without_its_pack_it_says_what_gets_it(tmp_path: Path) -> None:
    with pytest.raises(PackMissing) as caught:
        open_suite("bfcl", tmp_path)
    assert str(caught.value) == (
        "suite 'bfcl' needs the pack bfcl-eval 2026.3.23: run 'fcbench pull bfcl' "
        "(or 'fcbench pull bfcl --from PATH' without a network)"
    )


# Constants


def test_the_wording_is_put_together_from_the_constants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wording = _open_suite_of(tmp_path, monkeypatch, "irrelevance", []).wording
    assert wording.system_prompt == (
        "You are brief. Call functions. Write [f(a=1)] with literals. Go on. Functions as json: {functions}"
    )
    markdown = PromptFormat(AnswerNotation.CONCISE_XML, tagged=True, docs=Docs.XML, layout=Layout.MARKDOWN)
    assert wording.prompts.build_system_prompt(markdown) == (
        "# You are brief.\nCall functions. Write <T><c/></T> with types. Go on. Functions as xml: {functions}"
    )
    assert wording.float_note == " A fraction."
    assert wording.more_functions == "There is more now."
    assert wording.answer_format == "Answer {briefly}."
    assert wording.memory["memory_kv"] == wording.memory["memory_vector"] == "{persona} You know: {memory}"
    assert wording.memory["memory_rec_sum"] == "{persona} In short: {memory}"
    assert wording.empty_memory == {"memory_kv": "No names.", "memory_rec_sum": "No words."}
    assert wording.notes == {
        Language.PYTHON: Notes(" In Python."),
        Language.JAVA: Notes(" In Java.", " Any Java object.", " A Java {} as {{text}}.", " Of {}s."),
        Language.JAVASCRIPT: Notes(
            " In JavaScript.", " Anything.", " A JavaScript {}.", " Each a {}.", " With {}."
        ),
    }


def test_sources_are_not_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    effect = f"open({str(trace)!r}, 'w').close()\n"
    constants = read_constants({path: effect + text + effect for path, text in TEXTS.items()})
    assert constants == read_constants(TEXTS)
    assert not trace.exists()


CHANGED = "the package has changed, so pull the pinned version"


@each_case("path", SOURCES)
def test_a_source_that_is_missing_is_told(path: str) -> None:
    with pytest.raises(PackError) as caught:
        read_constants({name: text for name, text in TEXTS.items() if name != path})
    assert str(caught.value) == f"{path} is missing; {CHANGED}"


@each_case(
    ("path", "old", "new", "says"),
    [
        pytest.param(
            DOCS,
            "def _get_language_specific_hint",
            "def _hint",
            f"the function _get_language_specific_hint is not where it was; {CHANGED}",
            id="function renamed",
        ),
        pytest.param(
            DOCS,
            '        return " In JavaScript."',
            "        pass",
            f"{DOCS}: expected 3 texts, found 2; {CHANGED}",
            id="hint gone",
        ),
        pytest.param(
            DOCS,
            '            doc["d"] += " Anything."\n',
            "",
            f"{DOCS}: expected 7 texts, found 6; {CHANGED}",
            id="note gone",
        ),
        pytest.param(
            TOOLS,
            '    schema["description"] += " A fraction."\n',
            '    schema["description"] += " A fraction."\n    schema["description"] += " Or not."\n',
            f"{TOOLS}: expected 1 texts, found 2; {CHANGED}",
            id="second note",
        ),
        pytest.param(
            KEYED,
            '            return "No names."',
            "            return None or str()",
            f"_dump_core_memory_to_context: expected 1 texts, found 0; {CHANGED}",
            id="sentence gone",
        ),
    ],
)
def test_sources_of_another_shape_are_refused(path: str, old: str, new: str, says: str) -> None:
    assert TEXTS[path].count(old) == 1
    with pytest.raises(PackError) as caught:
        read_constants({**TEXTS, path: TEXTS[path].replace(old, new)})
    assert str(caught.value) == says


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("def (", "invalid syntax", id="SyntaxError"),
        pytest.param("X = '\0'", "source code string cannot contain null bytes", id="ValueError"),
    ],
)
def test_sources_that_cannot_be_read_are_refused(text: str, why: str) -> None:
    with pytest.raises(PackError, match=why):
        read_constants({**TEXTS, PROMPTS: text})


# The official pack


def _read_ledger() -> Mapping[str, str]:
    ledger = read_yaml(Path(bfcl.__file__).with_name("ledger.yaml"))
    assert isinstance(ledger, dict)
    return ledger


@pytest.fixture(scope="module")
def official(pack_cache: Path) -> Suite:
    return open_suite("bfcl", pack_cache)


@pytest.fixture(scope="module")
def entries(official: Suite) -> tuple[Entry, ...]:
    return tuple(entry for category in official.categories for entry in official.load(category))


def test_the_pack_is_named_by_version_and_content(official: Suite) -> None:
    assert (official.name, official.version) == ("bfcl", bfcl.SOURCE.version)
    assert official.pack_sha256 == bfcl.SOURCE.content_sha256


def test_every_category_has_its_official_number_of_entries(entries: tuple[Entry, ...]) -> None:
    assert Counter(entry.category.name for entry in entries) == {
        "simple_python": 400,
        "simple_java": 100,
        "simple_javascript": 50,
        "multiple": 200,
        "parallel": 200,
        "parallel_multiple": 200,
        "irrelevance": 240,
        "live_simple": 258,
        "live_multiple": 1053,
        "live_parallel": 16,
        "live_parallel_multiple": 24,
        "live_irrelevance": 884,
        "live_relevance": 16,
        "multi_turn_base": 200,
        "multi_turn_miss_func": 200,
        "multi_turn_miss_param": 200,
        "multi_turn_long_context": 200,
        "multi_turn_composite": 200,
        "exec_simple": 100,
        "exec_multiple": 50,
        "exec_parallel": 50,
        "exec_parallel_multiple": 40,
        "rest": 70,
        "sql": 100,
        "chatable": 200,
        "format_sensitivity": 200 * 26,
        **dict.fromkeys(SELECTIONS["memory"], 155),
        **dict.fromkeys(SELECTIONS["web_search"], 100),
    }
    assert len(entries) == 4941 + 310 + 5200 + 465 + 200


def test_categories_are_counted_without_making_their_entries(
    official: Suite, entries: tuple[Entry, ...]
) -> None:
    made = Counter(entry.category for entry in entries)
    assert official.count is not None
    assert {category: official.count(category) for category in made} == made


def test_official_ids_are_unique_and_name_their_category(entries: tuple[Entry, ...]) -> None:
    assert len({entry.id for entry in entries}) == len(entries)
    assert not [entry.id for entry in entries if not entry.id.startswith(f"{entry.category.name}_")]


def test_official_rows_are_those_of_the_entries(official: Suite, pack_cache: Path) -> None:
    for category in filter(lambda category: category.scored, official.categories):
        rows = {entry_id: (row, truth) for entry_id, row, truth in bfcl.official_rows(pack_cache, category)}
        entries = {entry.id: entry for entry in official.load(category)}
        assert list(rows) == list(entries)
        for entry_id, (row, truth) in rows.items():
            assert isinstance(row["question"], list)
            assert len(row["question"]) == len(entries[entry_id].turns)
            assert (truth is not None) is (category.expects_calls or category.group is Group.AGENTIC)
            assert ("function" in row) is category.single_turn


def test_chosen_entries_are_put_in_every_format_in_the_order_of_the_data(official: Suite) -> None:
    entries = official.load(CATEGORIES["format_sensitivity"])
    told = [parse_format_id(entry.id) for entry in entries]
    assert [found and found[0] for found in told] == list(FORMATS) * 200
    assert [entry.id.partition(":")[0] for entry in entries[-1:]] == ["format_sensitivity_5199"]
    originals = {entry.id: entry for entry in official.load(CATEGORIES["simple_python"])}
    hint = official.wording.notes[Language.PYTHON].hint
    clusters = dict.fromkeys(str(entry.cluster) for entry in entries[: 30 * 26])
    assert list(clusters) == [entry_id for entry_id in originals if entry_id in clusters]
    for entry in entries[: 30 * 26]:
        own = originals[str(entry.cluster)]
        assert entry.expectation == own.expectation
        descriptions = [f"{doc.description}{hint}" for doc in own.functions]
        assert [doc.description for doc in entry.functions] == descriptions


def test_every_id_of_the_ledger_exists_and_has_a_reason(entries: tuple[Entry, ...]) -> None:
    counted = [entry for entry in entries if entry.category.group is not Group.EXECUTABLE]
    aside = {entry.id: entry.set_aside for entry in counted if entry.set_aside}
    # Each of an entry's prompt formats goes with it.
    own = {entry_id: reason for entry_id, reason in aside.items() if not entry_id.startswith("format_")}
    assert own == _read_ledger()
    varied = {
        (entry_id.rpartition(":")[2], reason) for entry_id, reason in aside.items() if entry_id not in own
    }
    assert varied
    assert varied <= own.items()
    assert all(len(reason) > 20 for reason in _read_ledger().values())


def test_what_only_a_web_api_knows_is_set_aside(entries: tuple[Entry, ...]) -> None:
    executable = [entry for entry in entries if entry.category.group is Group.EXECUTABLE]
    reasons = [entry.set_aside for entry in executable if entry.set_aside]
    assert (len(executable), len(reasons)) == (310, 54)
    assert all(reason.startswith("live_only: no answer was recorded for ") for reason in reasons)


def test_every_call_of_an_executable_truth_has_its_way_of_comparison(entries: tuple[Entry, ...]) -> None:
    truths = [e.expectation for e in entries if isinstance(e.expectation, ExpectedResults)]
    assert {len(truth.calls) - len(truth.kinds) for truth in truths} == {0}
    assert Counter(kind for truth in truths for kind in truth.kinds) == {
        ResultRule.EXACT: 383,
        ResultRule.REAL_TIME: 47,
        ResultRule.STRUCTURAL: 20,
    }
    assert {len(truth.recorded) for truth in truths} == {28}


def test_every_rest_truth_has_its_call_and_its_recorded_answer(entries: tuple[Entry, ...]) -> None:
    truths = {e.id: e.expectation for e in entries if isinstance(e.expectation, ExpectedResponse)}
    assert list(truths) == [f"rest_{number}" for number in range(70)]
    assert {type(json.loads(truth.recorded or "")) for truth in truths.values()} == {dict, list}
    hosts = Counter(parse_url(read_request(truth.call).url).host for truth in truths.values())
    assert hosts.keys() == APIS.keys()
    assert sorted(hosts.values()) == [5, 5, 6, 6, 6, 7, 7, 8, 10, 10]


def test_every_official_entry_asks_something(entries: tuple[Entry, ...]) -> None:
    assert not [entry.id for entry in entries if not any(turn for turn in entry.turns)]
    assert not [e.id for e in entries if isinstance(e.expectation, ExpectedCalls) and not e.expectation.calls]


def test_entries_of_the_first_version_have_the_form_of_later_ones(official: Suite) -> None:
    for name in SELECTIONS["v1"]:
        for number, entry in enumerate(official.load(CATEGORIES[name])):
            (messages,) = entry.turns
            assert entry.id == f"{name}_{number}"
            assert [message.role for message in messages] == ["user"]
            assert len(entry.functions) == (name == "sql")
            assert not isinstance(entry.expectation, ExpectedCalls) or len(entry.expectation.calls) == 1


def test_the_official_system_prompt_has_one_place_for_functions(official: Suite) -> None:
    assert official.wording.system_prompt.count("{functions}") == 1


def test_the_official_notes_say_the_language(official: Suite) -> None:
    assert official.wording.float_note == " This is a float type value."
    assert {language: notes.hint for language, notes in official.wording.notes.items()} == {
        Language.PYTHON: " Note that the provided function is in Python 3 syntax.",
        Language.JAVA: " Note that the provided function is in Java 8 SDK syntax.",
        Language.JAVASCRIPT: " Note that the provided function is in JavaScript syntax.",
    }


@pytest.mark.parametrize(("language", "name"), [(Language.JAVA, "Java"), (Language.JAVASCRIPT, "JavaScript")])
def test_the_official_notes_explain_values_in_string_representation(
    official: Suite, language: Language, name: str
) -> None:
    notes = official.wording.notes[language]
    assert notes.any_type == f" This parameter can be of any type of {name} object in string representation."
    assert notes.typed == f" This is {name} {{}} type parameter in string representation."
    assert notes.elements == " The list elements are of type {}; they are not in string representation."


def test_the_official_note_on_members_has_a_place_for_their_schema(official: Suite) -> None:
    members = official.wording.notes[Language.JAVASCRIPT].members
    assert members is not None
    assert members.startswith(" The dictionary entries have the following schema; ")
    assert members.count("{}") == 1


def test_the_official_wording_covers_all_memory_categories(official: Suite) -> None:
    wording = official.wording
    assert wording.answer_format is not None
    assert wording.answer_format.startswith(
        "For your final answer to the user, you must respond in this format"
    )
    assert all(text.count("{persona}") == text.count("{memory}") == 1 for text in wording.memory.values())
    assert set(wording.memory) == set(SELECTIONS["memory"])
    assert wording.empty_memory == {
        "memory_kv": "There is no content in the core memory at this point.",
        "memory_rec_sum": "There is no content in the memory at this point.",
    }


def test_another_content_hash_than_the_pinned_is_not_opened(
    pack_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bfcl, "SOURCE", replace(bfcl.SOURCE, content_sha256="0" * 64))
    with pytest.raises(
        PackError, match=r"^pack bfcl was written by another version of fcbench: run 'fcbench"
    ):
        open_suite("bfcl", pack_cache)
