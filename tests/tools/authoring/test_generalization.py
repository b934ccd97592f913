from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.function_docs.json_schema import describe_function
from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.verdict import Passed, Profile
from pytest_fcbench.kinds import entry_files, relevance
from pytest_fcbench.kinds.calls import verdict as ast
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.kinds.relevance import AnyCall, NoCall
from pytest_fcbench.kinds.state.derived_entries import join_clusters
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.suites import core
from pytest_fcbench.tools.authoring.entry_writing import format_entries
from pytest_fcbench.tools.authoring.generalization import KINDS, augment_entries, build_variants
from tests.cases import each_case
from tests.factories import ask_model, make_doc, make_entry, make_transcript


def _make_question(question: str, **accepted: list[object]) -> Entry:
    doc = make_doc("f", {name: {"type": "any"} for name in accepted}, list(accepted))
    entry = make_entry(functions=[doc], expect=[{"f": accepted}])
    return replace(entry, suite="own", id="simple_python_0", turns=((Message("user", question),),))


def _list_accepted(entry: Entry) -> dict[str, object]:
    assert isinstance(entry.expectation, ExpectedCalls)
    return dict(entry.expectation.calls[0].accepted)


def test_what_only_looks_like_a_date_is_none() -> None:
    entry = _make_question("Send 12 of article 2024-19-07", article=["2024-19-07"], count=[12])
    assert {variant.turns[0][0].content[-10:] for variant in build_variants(entry, Random(1))} == {
        "2024-19-07"
    }


def test_numbers_are_swapped_in_question_and_truth() -> None:
    entry = _make_question("Boil 12 eggs for 240 seconds, please", eggs=[12], seconds=[240], soft=[True, ""])

    made = build_variants(entry, Random(1))

    assert len(made) == 10
    for variant in made:
        found = re.fullmatch(r"Boil (\d\d) eggs for (\d\d0) seconds, please", variant.turns[0][0].content)
        assert found is not None
        assert _list_accepted(variant) == {
            "eggs": [int(found[1])],
            "seconds": [int(found[2])],
            "soft": [True, ""],
        }
        assert (variant.parents, variant.cluster) == (("own:simple_python_0",), "simple_python_0")
    assert len({variant.turns for variant in (entry, *made)}) == 11


@each_case(
    ("question", "accepted", "shape"),
    [
        (
            "A loan of 240,000 at 3.75 %",
            {"sum": [240000.0], "rate": [3.75]},
            r"A loan of \d\d0,000 at \d\.\d\d %",
        ),
        ("볼륨 30으로", {"volume": [30]}, r"볼륨 \d0으로"),
        ("Fly to Vienna", {"to": ["Vienna", "Wien"]}, r"Fly to [A-Z]\w+"),
        ("Sell 250 USD", {"currency": ["USD"], "amount": [250.0]}, r"Sell \d\d0 [A-Z]{3}"),
        ("Noon in Asia/Tokyo", {"zone": ["Asia/Tokyo"]}, r"Noon in [A-Z]\w+/[A-Z]\w+"),
        ("Where is LX-4471?", {"parcel": ["LX-4471"]}, r"Where is LX-[1-9]\d{3}\?"),
        ("order 00713 came", {"order": ["00713"]}, r"order 0\d{4} came"),
        ("A race of 26.2 miles", {"miles": [26.2]}, r"A race of [1-3]\d\.[1-9] miles"),
        ("The next 2 trams", {"count": [2], "days": [7, ""]}, r"The next [34] trams"),
        ("Write to Greta now", {"to": ["Greta"]}, r"Write to [A-Z]\w+ now"),
        ("Come on 2025-06-14", {"day": ["2025-06-14"]}, r"Come on 2025-\d\d-\d\d"),
        ("Come on 14 June 2025", {"day": ["2025-06-14"]}, r"Come on \d\d? \w+ 2025"),
        ("On June 14, 2025 then", {"day": ["2025-06-14"]}, r"On \w+ \d\d?, 2025 then"),
    ],
)
def test_each_kind_of_value_keeps_its_form(
    question: str, accepted: dict[str, list[object]], shape: str
) -> None:
    made = build_variants(_make_question(question, **accepted), Random(2), 5)

    assert made
    for variant in made:
        assert re.fullmatch(shape, variant.turns[0][0].content)
        assert _list_accepted(variant) != accepted
        assert {name: "" in values for name, values in accepted.items()} == {
            name: "" in values for name, values in _list_accepted(variant).items() if isinstance(values, list)
        }


@each_case(
    ("question", "accepted"),
    [
        ("Convert 5 % of it", {"share": [0.05]}),  # worked out
        ("Two nights from 9 to 11 May", {"nights": [2]}),  # worked out, and said in words
        ("12 eggs in 12 minutes", {"eggs": [12], "minutes": [12]}),  # which is which?
        ("12 eggs, I said 12", {"eggs": [12]}),
        ("3 eggs until 2025-06-14, a Saturday", {"eggs": [3], "day": ["2025-06-14"]}),
        ("From 2025-06-14 to 2025-06-16", {"start": ["2025-06-14"], "end": ["2025-06-16"]}),
        ("Fly to Vienna, Virginia", {"to": ["Vienna"]}),
        ("Fly to Vienna in Austria", {"to": ["Vienna"]}),
        ("Fly to Oz", {"to": ["Oz"]}),
        ("Keep tea for Oscar. He comes later", {"name": ["Oscar"]}),  # another might be a she
        ("It was built in 1998", {"year": [1998]}),
        ("Warm it to 0 degrees", {"to": [0]}),
        ("Twelve or 12", {"eggs": [12, "12"]}),
        ("Room 12b, 12 guests", {"guests": [12]}),
        ("Play FM 93.1", {"frequency": [93.1]}),  # a name
        ("Fly to Vienna", {"to": ["Vienna", "Wien", ""]}),  # where one flies who says nothing
        ("Pay 3 PLN or 7", {"currency": ["PLN", ""], "sums": [[3, 7]]}),
        ("Since 1718041200000", {"since": [1718041200000]}),  # an instant, not a quantity
        ("Built in 1998", {"year": ["1998"]}),
    ],
)
def test_what_could_become_wrong_is_left_alone(question: str, accepted: dict[str, list[object]]) -> None:
    assert build_variants(_make_question(question, **accepted), Random(3)) == []


def test_a_word_of_an_enum_is_left_alone() -> None:
    doc = make_doc("f", {"city": {"type": "string", "enum": ["Oslo", "Bergen"]}}, ["city"])
    entry = make_entry(functions=[doc], expect=[{"f": {"city": ["Oslo"]}}])

    assert build_variants(replace(entry, turns=((Message("user", "Fly to Oslo"),),)), Random(3)) == []


def test_what_has_a_default_is_left_alone() -> None:
    """The value drawn could be the default, which may be left out."""
    doc = make_doc("f", {"days": {"type": "integer", "default": 7}}, ["days"])
    entry = make_entry(functions=[doc], expect=[{"f": {"days": [3]}}])

    assert build_variants(replace(entry, turns=((Message("user", "Rain in 3 days?"),),)), Random(3)) == []


def test_values_of_several_calls_are_swapped() -> None:
    doc = make_doc("f", {"train": {"type": "string"}}, ["train"])
    asked = make_entry(
        "parallel", functions=[doc], expect=[{"f": {"train": [n]}} for n in ("20417", "20963")]
    )
    entry = replace(asked, turns=((Message("user", "Trains 20417 and 20963?"),),))

    for variant in build_variants(entry, Random(1)):
        found = re.fullmatch(r"Trains (\d{5}) and (\d{5})\?", variant.turns[0][0].content)
        assert found is not None
        assert isinstance(variant.expectation, ExpectedCalls)
        assert [call.accepted for call in variant.expectation.calls] == [
            {"train": [n]} for n in found.groups()
        ]


@each_case("seed", range(5))
def test_a_number_of_more_than_one_digit_stays_near(seed: int) -> None:
    """A room stays warm, a loan dear."""
    for variant in build_variants(_make_question("Heat to 20.5 degrees", to=[20.5]), Random(seed)):
        degrees = float(variant.turns[0][0].content.split()[2])
        assert 14 <= degrees <= 27


def test_cities_of_one_question_stay_different() -> None:
    entry = _make_question("From Oslo to Lyon", origin=["Oslo"], to=["Lyon"])

    for variant in build_variants(entry, Random(4), 40):
        assert _list_accepted(variant)["origin"] != _list_accepted(variant)["to"]


def test_an_entry_without_a_call_has_no_variants() -> None:
    assert (
        build_variants(replace(_make_question("12 eggs", eggs=[12]), expectation=NoCall()), Random(1)) == []
    )


@given(st.integers(1, 10**9), st.integers(0, 3), st.integers())
def test_a_swapped_number_is_the_one_that_is_asked_for(whole: int, decimals: int, seed: int) -> None:
    text = f"{whole / 10**decimals:.{decimals}f}"
    value = float(text) if decimals else int(text)

    for variant in build_variants(_make_question(f"Give me {text} of it", n=[value]), Random(seed), 3):
        said = variant.turns[0][0].content.removeprefix("Give me ").removesuffix(" of it")
        assert _list_accepted(variant) == {"n": [type(value)(said)]}
        assert len(said) == len(text)


CORE = core.open_suite(Path())
ENTRIES = [entry for category in CORE.categories if category.single_turn for entry in CORE.load(category)]
GROWN = [entry for entry in ENTRIES if entry.parents and not entry.variation]


@pytest.fixture(scope="module")
def entries_by_kind() -> dict[str, list[Entry]]:
    return dict(augment_entries(ENTRIES, list(KINDS), 40, 7, "grown"))


def _write_files(seed: int, count: int) -> Mapping[str, str]:
    """Return the files that are made of what is written by hand in ``core``."""
    by_hand = [entry for entry in ENTRIES if not entry.parents]
    return format_entries(
        [e for _, group in augment_entries(by_hand, list(KINDS), count, seed, "grown") for e in group]
    )


def _judge_right_answer(entry: Entry, mode: Mode, *, of: Entry | None = None) -> set[bool]:
    """Tell whether the right answer to an entry, or that ``of`` another, passes in each profile."""
    names = Names.UNDERSCORED if mode is Mode.FC else Names.DOTTED
    transcript = make_transcript(
        ask_model(OracleModel(Prompting.make_default(mode, names)), of or entry), mode=mode, names=names
    )
    room = relevance if entry.kind == "irrelevance" else ast
    judgement = room.judge(entry, transcript)
    return {isinstance(judgement.select_profile(profile), Passed) for profile in Profile}


def _ask_something_else(entry: Entry, draw: Random) -> Entry:
    """Return the entry with another value in its truth, or a call where none is right."""
    if not isinstance(entry.expectation, ExpectedCalls):
        return replace(entry, expectation=AnyCall())
    calls = list(entry.expectation.calls)
    at = draw.randrange(len(calls))
    accepted = dict(calls[at].accepted)
    name = draw.choice([name for name, options in accepted.items() if "" not in _check_list(options)])
    accepted[name] = [_change_value(_check_list(accepted[name])[0])]
    calls[at] = ExpectedCall(calls[at].name, accepted)
    return replace(entry, expectation=ExpectedCalls(tuple(calls)))


def _change_value(value: object) -> object:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
        case list() | tuple():
            return [*value, *value]
    return {}


def _check_list(options: object) -> Sequence[object]:
    assert isinstance(options, list)
    return options


@pytest.mark.nightly
def test_every_kind_is_made_and_only_from_what_was_not_made(entries_by_kind: dict[str, list[Entry]]) -> None:
    keys = {entry.key for entry in ENTRIES if not entry.parents}
    counts = {kind: len(entries) for kind, entries in entries_by_kind.items()}
    assert counts == dict.fromkeys(KINDS, 40)
    assert all(
        entry.parents and set(entry.parents) <= keys
        for entries in entries_by_kind.values()
        for entry in entries
    )
    ids = [entry.id for entries in entries_by_kind.values() for entry in entries]
    assert len(set(ids)) == len(ids)
    assert not {f"core:{entry_id}" for entry_id in ids} & keys


def test_few_entries_of_a_kind_have_the_same_parents(entries_by_kind: dict[str, list[Entry]]) -> None:
    most = [max(Counter(entry.parents for entry in entries).values()) for entries in entries_by_kind.values()]
    assert max(most) == 3


def test_the_same_calls_in_another_order_are_no_new_entry() -> None:
    two = [entry for entry in ENTRIES if entry.key in ("core:simple_python_0", "core:multiple_0")]
    (_, parallel), *_ = augment_entries(two, ["parallel_multiple"], 20, 1, "grown")
    asked = [frozenset(call.name for call in _list_calls(entry)) for entry in parallel]
    values = [frozenset(repr(call) for call in _list_calls(entry)) for entry in parallel]
    assert len(asked) > 1
    assert len(set(values)) == len(values)


def _list_calls(entry: Entry) -> Sequence[ExpectedCall]:
    assert isinstance(entry.expectation, ExpectedCalls)
    return entry.expectation.calls


def test_functions_that_take_any_question_or_have_no_python_name_are_no_distractors(
    entries_by_kind: dict[str, list[Entry]],
) -> None:
    entries = [*entries_by_kind["multiple"], *entries_by_kind["irrelevance"]]
    offered = {doc.name for entry in entries for doc in entry.functions}

    assert "light.set" in offered
    assert not {"web.search", "requests.get", "rental_db.run", "orders.return"} & offered


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_the_oracle_passes_and_another_value_fails(
    entries_by_kind: dict[str, list[Entry]], mode: Mode
) -> None:
    entries = [*GROWN, *(entry for group in entries_by_kind.values() for entry in group)]
    assert [entry.id for entry in entries if _judge_right_answer(entry, mode) != {True}] == []
    draw = Random(1)
    wrong = [(entry, _ask_something_else(entry, draw)) for entry in entries]
    assert [entry.id for entry, other in wrong if _judge_right_answer(entry, mode, of=other) != {False}] == []


@pytest.mark.nightly
def test_a_seed_makes_the_same_files_again_and_another_seed_others() -> None:
    made = _write_files(1, 8)
    assert _write_files(1, 8) == made
    assert _write_files(2, 8) != made


def test_what_was_made_for_core_has_parents_in_core() -> None:
    """It was made by code and has been read and mended by hand since."""
    keys = {entry.key for entry in ENTRIES if not entry.parents}
    assert len(GROWN) >= 100
    assert [entry.id for entry in GROWN if not set(entry.parents) <= keys] == []


def test_an_entry_is_in_the_cluster_that_is_named_after_it() -> None:
    parent, other = make_entry(entry_id="simple_python_0"), make_entry(entry_id="simple_python_1")
    variant = replace(other, id="simple_python_2", cluster="simple_python_0")

    assert [entry.cluster for entry in join_clusters([parent, other, variant])] == [
        parent.id,
        None,
        parent.id,
    ]


def test_what_is_made_reads_back_as_it_was(entries_by_kind: dict[str, list[Entry]], tmp_path: Path) -> None:
    entries = [entry for group in entries_by_kind.values() for entry in group]
    for name, text in format_entries(entries).items():
        path = tmp_path / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")

        assert entry_files.read_entries(path, "grown") == tuple(e for e in entries if e.category.name == name)


def test_a_tool_is_written_with_its_schema(tmp_path: Path) -> None:
    schema = {
        "properties": {"city": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        "required": ["city"],
    }
    doc = describe_function("weather.forecast", "", schema)
    entry = make_entry(functions=[doc], expect=[{doc.name: {"city": ["Bergen", 5003]}}], suite="grown")
    ((_, text),) = format_entries([entry]).items()
    (tmp_path / "tool.yaml").write_text(text, encoding="utf-8")

    (read,) = entry_files.read_entries(tmp_path / "tool.yaml", "grown")

    assert read.functions == (doc,)
    assert read.functions[0].given == schema


def test_nothing_comes_of_entries_that_cannot_be_used() -> None:
    with pytest.raises(ValueError, match="no entry has a single question"):
        list(augment_entries([make_entry("irrelevance")], ["multiple"], 1, 1, "grown"))
