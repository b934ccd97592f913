"""The embedded suite holds together: every entry can be answered, and only in the declared types."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Entry, Group, Variation
from pytest_fcbench.domain.function_doc import FunctionDoc, Language, Schema
from pytest_fcbench.domain.prompting import FORMATS, PromptFormat, parse_format_id
from pytest_fcbench.execution.everyday import EVERYDAY
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.kinds.execution.verdict import ExpectedResults, ResultRule
from pytest_fcbench.kinds.state.derived_entries import MADE_OF
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.tools.audit.duplicates import ALIKE, count_distinct_tasks, find_pairs, read_question
from pytest_fcbench.tools.authoring.combination import UNKNOWN, guess_language
from tests.cases import each_case


@pytest.fixture(scope="module")
def suite() -> Suite:
    return open_suite("core", Path("no cache is needed"))


@pytest.fixture(scope="module")
def entries(suite: Suite) -> tuple[Entry, ...]:
    return tuple(entry for category in suite.categories for entry in suite.load(category))


def _iter_expected_calls(entries: tuple[Entry, ...]) -> Iterator[tuple[Entry, ExpectedCall, FunctionDoc]]:
    """Yield every expected call with its entry and its function."""
    for entry in entries:
        if isinstance(entry.expectation, ExpectedCalls):
            for call in entry.expectation.calls:
                doc = entry.find_function(call.name)
                assert doc is not None
                yield entry, call, doc


def test_it_names_itself_and_the_hash_of_its_files(suite: Suite) -> None:
    assert (suite.name, suite.version) == ("core", "12")
    assert suite.pack_sha256 is not None
    assert re.fullmatch(r"[0-9a-f]{64}", suite.pack_sha256)


def _list_loose_calls(entries: Sequence[Entry]) -> list[str]:
    """List the calls of embedded functions whose results need not be equal; each always returns the same."""
    return [
        f"{entry.id}: {call}"
        for entry in entries
        if isinstance(entry.expectation, ExpectedResults)
        for call, kind in zip(entry.expectation.calls, entry.expectation.kinds, strict=True)
        if kind is not ResultRule.EXACT and call.partition("(")[0] in EVERYDAY
    ]


def test_results_of_embedded_functions_must_be_equal(suite: Suite, entries: tuple[Entry, ...]) -> None:
    assert _list_loose_calls(entries) == []
    entry = suite.load(CATEGORIES["exec_simple"])[0]
    assert isinstance(entry.expectation, ExpectedResults)
    loose = replace(entry.expectation, kinds=(ResultRule.STRUCTURAL,))
    assert _list_loose_calls([replace(entry, expectation=loose)]) == [f"{entry.id}: {loose.calls[0]}"]


def test_its_hash_is_the_same_every_time(suite: Suite, tmp_path: Path) -> None:
    assert open_suite("core", tmp_path).pack_sha256 == suite.pack_sha256


def test_every_category_has_a_file(suite: Suite) -> None:
    assert suite.categories == tuple(
        c for c in CATEGORIES.values() if c.group not in {Group.NEXT_STEP, Group.MCP, Group.SERVER}
    )


def test_every_category_has_enough_entries(suite: Suite, entries: tuple[Entry, ...]) -> None:
    counts = Counter(entry.category for entry in entries)
    least = {
        Group.NON_LIVE: 10,
        Group.LIVE: 5,
        Group.MULTI_TURN: 12,
        Group.AGENTIC: 20,
        Group.COMPLEX: 6,
        Group.EXECUTABLE: 12,
        Group.V1: 12,
        Group.FORMAT: 20 * 26,
    }
    assert not {c.name: counts[c] for c in suite.categories if counts[c] < least[c.group]}


def test_ids_are_unique_over_the_suite(entries: tuple[Entry, ...]) -> None:
    counts = Counter(entry.id for entry in entries)
    assert not [entry_id for entry_id, count in counts.items() if count > 1]


def test_ids_are_the_category_and_a_running_number(suite: Suite) -> None:
    for category in suite.categories:
        ids = [entry.id.partition(":")[0] for entry in suite.load(category)]
        if category.name in SELECTIONS["memory"]:
            continue  # in which each scenario counts for itself
        assert ids == [f"{category.name}_{number}" for number in range(len(ids))]


def test_no_entry_is_set_aside(entries: tuple[Entry, ...]) -> None:
    assert not [entry.key for entry in entries if entry.set_aside]


def test_every_question_ends_with_words_of_the_user(entries: tuple[Entry, ...]) -> None:
    """Where functions come late, the words are the suite's."""
    for entry in entries:
        late = entry.scene.withheld if entry.scene else {}
        for number, turn in enumerate(entry.turns):
            assert (number in late) is (not turn), entry.key
            assert all(message.content.strip() for message in turn), entry.key
            assert not turn or turn[-1].role == "user", entry.key


def test_no_question_is_asked_twice_with_the_same_functions(entries: tuple[Entry, ...]) -> None:
    """But for the kinds that are made of others, and those that are put to several memories or webs."""
    again = (*MADE_OF, "memory_vector", "memory_rec_sum", "web_search_no_snippet")
    written = [e for e in entries if e.category.name not in again and not e.variation]
    counts = Counter((entry.turns, tuple(sorted(doc.name for doc in entry.functions))) for entry in written)
    assert not [turns for (turns, _), count in counts.items() if count > 1]


def test_only_what_is_made_of_an_entry_asks_the_same(entries: tuple[Entry, ...]) -> None:
    written = [entry for entry in entries if entry.category.single_turn and not entry.parents]
    counts = Counter(entry.turns for entry in written if not entry.variation)
    assert not [turns for turns, count in counts.items() if count > 1]


def test_a_thousand_tasks_are_distinct(entries: tuple[Entry, ...]) -> None:
    assert count_distinct_tasks([entry for entry in entries if not entry.variation]) >= 1000


def test_what_is_written_by_hand_is_about_many_things_in_many_languages(entries: tuple[Entry, ...]) -> None:
    by_hand = [entry for entry in entries if not entry.parents and not entry.variation]
    read = [entry for entry in by_hand if entry.category.single_turn and entry.category.group is not Group.V1]
    assert len(read) >= 60
    assert sum(entry.category.name == "multi_turn_base" for entry in by_hand) >= 20
    families = {doc.name.partition(".")[0] for entry in read for doc in entry.functions}
    assert len(families) >= 25
    assert len({guess_language(entry.turns[0][-1].content) for entry in read} - {UNKNOWN}) >= 8


def test_twenty_entries_are_put_in_every_prompt_format(suite: Suite, entries: tuple[Entry, ...]) -> None:
    """As they stand in their own category, format after format."""
    originals = {entry.id: entry for entry in entries if not entry.variation}
    varied = suite.load(CATEGORIES["format_sensitivity"])
    found = [told for entry in varied if (told := parse_format_id(entry.key))]
    assert [chosen for chosen, _ in found] == list(FORMATS) * 20
    assert len({original for _, original in found}) == 20
    for entry, (chosen, original) in zip(varied, found, strict=True):
        own = originals[original]
        assert entry.variation == Variation(own.category, chosen)
        assert (entry.turns, entry.functions) == (own.turns, own.functions)
        assert entry.expectation == own.expectation
        assert (entry.kind, entry.cluster) == (own.category.kind, original)


@each_case("chosen", FORMATS, ids=lambda chosen: chosen.name)
def test_each_prompt_format_has_its_words(suite: Suite, chosen: PromptFormat) -> None:
    prompt = suite.wording.prompts.build_system_prompt(chosen)
    assert re.findall(r"\{\w+\}", prompt) == ["{functions}"]
    assert ("<TOOLCALL>" in prompt) is chosen.tagged
    assert ("<functions>" in prompt) is ("xml" in chosen.returned)
    assert suite.wording.prompts.docs[chosen.docs] in prompt


def test_no_two_prompt_formats_have_the_same_words(suite: Suite) -> None:
    assert len({suite.wording.prompts.build_system_prompt(chosen) for chosen in FORMATS}) == len(FORMATS)


@each_case("rule", sorted({each.kind for each in CATEGORIES.values()}))
def test_as_many_functions_are_offered_as_the_category_says(entries: tuple[Entry, ...], rule: str) -> None:
    """One for simple, several for multiple, as named for parallel; only irrelevance may offer none."""
    for entry in entries:
        if entry.category.kind != rule:
            continue
        several = rule == "multiple" or entry.category.name.endswith("parallel_multiple")
        one = rule in ("simple", "sql") or entry.category.name.endswith("parallel")
        offered = len({doc.name for doc in entry.functions})
        assert offered == len(entry.functions), entry.key
        assert offered or rule in ("irrelevance", "chat"), entry.key
        assert not offered or rule != "chat", entry.key
        assert not one or offered == 1, entry.key
        assert not several or offered > 1, entry.key


def test_parallel_entries_expect_several_calls(entries: tuple[Entry, ...]) -> None:
    for entry in entries:
        if entry.category.kind == "parallel":
            assert isinstance(entry.expectation, ExpectedCalls)
            assert len(entry.expectation.calls) > 1, entry.key


def test_parameter_names_are_text(entries: tuple[Entry, ...]) -> None:
    """YAML reads ``on``, ``off``, ``yes`` and ``no`` as booleans, as keys too."""
    for entry in entries:
        for doc in entry.functions:
            assert all(isinstance(name, str) for name in doc.properties), doc.name


def test_accepted_values_conform_to_the_declared_type(entries: tuple[Entry, ...]) -> None:
    wrong = [
        f"{entry.key} {name}: {value!r} is not {doc.properties[name].get('type')}"
        for entry, call, doc in _iter_expected_calls(entries)
        for name, accepted in call.accepted.items()
        for value in _as_list(accepted)
        if not (value == "" and name not in doc.required)
        and not _is_of_type(value, doc.properties[name], entry.category.language)
    ]
    assert not wrong


def test_accepted_values_are_members_of_the_enum(entries: tuple[Entry, ...]) -> None:
    wrong = [
        f"{entry.key} {name}: {value!r}"
        for entry, call, doc in _iter_expected_calls(entries)
        for name, accepted in call.accepted.items()
        for value in _as_list(accepted)
        if (options := _list_options(doc.properties[name])) and value not in (*options, "")
    ]
    assert not wrong


def test_no_accepted_value_stands_twice(entries: tuple[Entry, ...]) -> None:
    for entry, call, _ in _iter_expected_calls(entries):
        for name, accepted in call.accepted.items():
            shown = [repr(value) for value in _as_list(accepted)]
            assert len(shown) == len(set(shown)), f"{entry.key} {name}"


def test_defaults_are_of_the_declared_type_and_in_the_enum(entries: tuple[Entry, ...]) -> None:
    for entry in entries:
        for doc in entry.functions:
            for name, schema in doc.properties.items():
                if "default" in schema:
                    default, options = schema["default"], _list_options(schema)
                    assert _is_of_type(default, schema, entry.category.language), f"{entry.key} {name}"
                    assert not options or default in options, f"{entry.key} {name}"


def test_no_two_questions_written_by_hand_are_alike(suite: Suite) -> None:
    """In one turn and of one kind of entry; memories and webs put the same questions by design."""
    for category in suite.categories:
        if category.single_turn and not category.varies_others:
            questions = [read_question(e) for e in suite.load(category) if not e.parents]
            alike = [
                (p.question.source.id, p.other.source.id) for p in find_pairs(questions, questions, ALIKE)
            ]
            assert not alike


def test_live_categories_are_in_five_languages_beside_english(suite: Suite) -> None:
    for name in set(SELECTIONS["live"]) - {"live_relevance"}:
        counts = Counter(
            guess_language(e.turns[0][-1].content) for e in suite.load(CATEGORIES[name]) if not e.parents
        )
        assert len(counts.keys() - {"English", UNKNOWN}) >= 5, name


def test_words_for_every_language_are_there(suite: Suite) -> None:
    assert suite.wording.notes.keys() == set(Language)
    assert suite.wording.system_prompt.count("{functions}") == 1
    assert suite.wording.float_note.strip()


_WORDS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("string", "String", "char"), (str,)),
    **dict.fromkeys(("integer", "long", "Bigint"), (int,)),
    **dict.fromkeys(("float", "double"), (float, int)),
    **dict.fromkeys(("boolean", "Boolean"), (bool,)),
    **dict.fromkeys(("array", "tuple", "Array", "ArrayList"), (list,)),
    **dict.fromkeys(("dict", "HashMap"), (dict,)),
}


def _is_of_type(value: object, schema: Schema, language: Language) -> bool:
    """Whether an accepted value has its declared type; ``any`` is source text in Java and JavaScript."""
    kind = str(schema["type"])
    if kind == "any":
        return language is Language.PYTHON or isinstance(value, str)
    types = _WORDS[kind]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        return False
    items, members = schema.get("items"), schema.get("properties")
    if isinstance(value, list):
        assert isinstance(items, Mapping)
        return all(_is_of_type(item, items, language) for item in value)
    if isinstance(value, dict) and isinstance(members, Mapping):
        return value.keys() <= members.keys() and all(
            _is_of_type(option, members[key], language)
            for key, accepted in value.items()
            for option in _as_list(accepted)
            if option != ""
        )
    return True


def _as_list(accepted: object) -> list[object]:
    assert isinstance(accepted, list)
    return accepted


def _list_options(schema: Schema) -> list[object]:
    options = schema.get("enum", [])
    assert isinstance(options, list)
    return options
