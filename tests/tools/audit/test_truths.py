"""Possible answers that cannot be answered are found, others are not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.execution.rest_performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.kinds.execution.verdict import ExpectedResults, ResultRule
from pytest_fcbench.tools.audit import truths
from pytest_fcbench.tools.audit.findings import SuiteFacts
from tests.cases import each_case
from tests.factories import make_doc, make_entry
from tests.tools.audit.made import list_findings, make_facts

BOOK = make_doc(
    "hotel.book",
    {
        "city": {"type": "string"},
        "rooms": {"type": "integer"},
        "board": {"type": "string", "enum": ["none", "half", "full"], "default": "none"},
        "guests": {"type": "array", "items": {"type": "string"}},
        "card": {"type": "dict", "properties": {"number": {"type": "string"}}},
    },
    required=["city"],
)


def make_booking(**accepted: object) -> Entry:
    """Make an entry that expects a booking."""
    given = {"city": ["Bergen"], **accepted}
    return make_entry(functions=[BOOK], expect=[{"hotel.book": given}])


def test_a_sound_truth_has_no_finding() -> None:
    sound = make_facts(
        make_booking(rooms=[2, ""], board=["Half"], guests=[["Ann", "Bo"]], card=[{"number": ["12"]}])
    )
    for check in (
        truths.find_uncallable_calls,
        truths.find_malformed_alternatives,
        truths.find_mistyped_values,
        truths.find_refused_truths,
        truths.find_defaults_to_give,
        truths.find_refused_defaults,
        truths.find_broken_sql,
    ):
        assert list_findings(check, sound) == []


@each_case(
    ("entry", "evidence", "severity"),
    [
        pytest.param(
            make_entry(functions=[BOOK], expect=[{"hotel.rent": {}}]),
            "hotel.rent is expected, but only ['hotel.book'] are offered",
            "certain",
            id="unknown function",
        ),
        pytest.param(
            make_entry(functions=[BOOK], expect=[{"hotel.book": {"rooms": [1]}}]),
            "hotel.book requires city, for which the truth has no value",
            "certain",
            id="missing required",
        ),
        pytest.param(
            make_booking(pets=[1]),
            "hotel.book has no parameter pets, but the truth demands [1]",
            "certain",
            id="unknown parameter",
        ),
        pytest.param(
            make_booking(pets=[1, ""]),
            "hotel.book has no parameter pets; accepted: [1, '']",
            "likely",
            id="unknown parameter that may be left out",
        ),
        pytest.param(
            make_booking(card=[{"owner": ["Ann"]}]),
            "hotel.book.card has no key owner; the keys are ['number']",
            "likely",
            id="unknown key",
        ),
    ],
)
def test_calls_that_the_doc_forbids(entry: Entry, evidence: str, severity: str) -> None:
    assert list_findings(truths.find_uncallable_calls, make_facts(entry)) == [
        ("simple_python_0", severity, evidence)
    ]


@each_case(
    ("accepted", "severity", "evidence"),
    [
        ({"rooms": 2}, "certain", "hotel.book.rooms: 2 is not a list of accepted values"),
        (
            {"rooms": []},
            "certain",
            "hotel.book.rooms: no value is accepted, and the parameter must not be omitted",
        ),
        ({"city": [""]}, "likely", "hotel.book.city: is required, and only an empty text is accepted"),
        (
            {"city": ["Bergen", ""]},
            "hint",
            "hotel.book.city: is required, so it cannot be omitted as ['Bergen', ''] allows",
        ),
        (
            {"card": [{"number": "12"}]},
            "certain",
            "hotel.book.card: number accepts '12', a text instead of a list of values",
        ),
        (
            {"guests": ["Ann", "Bo"]},
            "likely",
            "hotel.book.guests: ['Ann', 'Bo'] are alternatives; a single array of them would not match",
        ),
    ],
)
def test_values_that_are_no_lists_of_alternatives(
    accepted: dict[str, object], severity: str, evidence: str
) -> None:
    assert list_findings(truths.find_malformed_alternatives, make_facts(make_booking(**accepted))) == [
        ("simple_python_0", severity, evidence)
    ]


def test_alternatives_of_the_right_depth_are_fine() -> None:
    assert (
        list_findings(
            truths.find_malformed_alternatives,
            make_facts(make_booking(guests=[["Ann", "Bo"], ["Bo", "Ann"]])),
        )
        == []
    )


@each_case(
    ("accepted", "severity", "evidence"),
    [
        (
            {"rooms": ["two"]},
            "certain",
            "hotel.book.rooms: 'two' is not of type integer; no accepted value fits",
        ),
        (
            {"rooms": [True, ""]},
            "likely",
            "hotel.book.rooms: True is not of type integer; it can only be omitted",
        ),
        (
            {"rooms": [2, "two"]},
            "hint",
            "hotel.book.rooms: 'two' is not of type integer; other accepted values fit",
        ),
        (
            {"board": ["all"]},
            "certain",
            "hotel.book.board: 'all' is not in the enum ['none', 'half', 'full']; no accepted value fits",
        ),
        (
            {"guests": [["Ann", 2]]},
            "certain",
            "hotel.book.guests: 2 is not of type string; no accepted value fits",
        ),
        (
            {"card": [{"number": [12]}]},
            "certain",
            "hotel.book.card: number: [12] does not match its type 'string'; no accepted value fits",
        ),
    ],
)
def test_values_that_the_doc_does_not_declare(
    accepted: dict[str, object], severity: str, evidence: str
) -> None:
    assert list_findings(truths.find_mistyped_values, make_facts(make_booking(**accepted))) == [
        ("simple_python_0", severity, evidence)
    ]


def test_source_text_stands_for_any_type() -> None:
    """In Java and JavaScript a text can be the name of a variable."""
    doc = make_doc("f", {"n": {"type": "integer"}, "x": {"type": "any"}}, required=["n"])
    entry = make_entry("simple_java", functions=[doc], expect=[{"f": {"n": ["count"], "x": [3]}}])
    assert list_findings(truths.find_mistyped_values, make_facts(entry)) == []
    python = make_entry(functions=[doc], expect=[{"f": {"n": ["count"], "x": [3]}}])
    assert len(list_findings(truths.find_mistyped_values, make_facts(python))) == 1


def test_what_the_matcher_refuses_whatever_is_answered() -> None:
    ((entry, severity, evidence),) = list_findings(
        truths.find_refused_truths, make_facts(make_booking(rooms=[], board=["half", "full"]))
    )
    assert (entry, severity) == ("simple_python_0", "certain")
    assert evidence == (
        "official and corrected rules: type_error:simple: hotel.book: rooms is [], accepted: []; "
        "no other accepted answer passes"
    )


def test_an_entry_of_which_only_its_check_knows_what_is_right_has_no_truth() -> None:
    facts = make_facts(make_booking(rooms=[]))
    (entry,) = facts.entries
    judged_by_check = replace(entry, category=CATEGORIES["own_check"])
    assert list_findings(truths.find_refused_truths, replace(facts, entries=(judged_by_check,))) == []


def test_a_first_value_that_only_another_can_stand_for() -> None:
    """The official rules take the type of the first value; the second is right in both profiles."""
    entry = make_entry(
        functions=[make_doc("f", {"d": {"type": "dict"}}, required=["d"])],
        expect=[{"f": {"d": [{"a": "xy"}, {"a": ["xy"]}]}}],
    )
    # The oracle makes no member of a text, so its first answer lacks the key.
    severities = {severity for _, severity, _ in list_findings(truths.find_refused_truths, make_facts(entry))}
    assert severities == {"hint"}


def test_a_default_that_must_be_given() -> None:
    ((entry, severity, evidence),) = list_findings(
        truths.find_defaults_to_give, make_facts(make_booking(board=["half", "None"]))
    )
    assert (entry, severity) == ("simple_python_0", "certain")
    told = "hotel.book.board: the default of the doc is accepted, 'none', and leaving it out is not"
    assert evidence == told


@pytest.mark.parametrize("board", [["half"], ["none", ""]], ids=["another value", "it may be left out"])
def test_no_default_must_be_given(board: list[str]) -> None:
    assert list_findings(truths.find_defaults_to_give, make_facts(make_booking(board=board))) == []


def test_an_entry_that_both_profiles_refuse_for_their_own_reasons_is_told_once() -> None:
    facts = make_facts(make_bookings({"city": ["Oslo"], "rooms": [1]}, {"city": ["Oslo"], "rooms": []}))
    ((_, severity, evidence),) = list_findings(truths.find_refused_truths, facts)
    assert severity == "certain"
    assert evidence.startswith("official rules: parallel_function_checker_no_order:cannot_find_match: ")
    assert "; corrected rules: cannot_find_match: " in evidence


def test_an_entry_that_breaks_whoever_looks_at_it_is_refused() -> None:
    """The oracle calls the first function of a relevance entry, and there is none."""
    entry = make_entry("live_relevance", functions=[])
    ((_, severity, evidence),) = list_findings(truths.find_refused_truths, make_facts(entry))
    assert severity == "certain"
    assert "the conversation cannot be replayed: IndexError" in evidence


def test_what_only_an_api_knows_is_a_hint(pool: Pool, performer: Performer) -> None:
    text = "get_stock_price_by_stock_name(stock_name='AAPL')"
    doc = make_doc(
        "get_stock_price_by_stock_name", {"stock_name": {"type": "string"}}, required=["stock_name"]
    )
    entry = replace(
        make_entry("exec_simple", functions=[doc], expect=[]),
        expectation=ExpectedResults((text,), (ResultRule.EXACT,)),
    )
    plain = make_facts(entry)
    facts = SuiteFacts(plain.suite, plain.entries, pool, performer)
    ((_, severity, evidence),) = list_findings(truths.find_refused_truths, facts)
    assert severity == "hint"
    assert "nobody recorded what get_stock_price_by_stock_name returned" in evidence


SQL = make_doc(
    "sql.execute",
    {
        "sql_keyword": {"type": "string", "enum": ["SELECT"]},
        "table_name": {"type": "string"},
        "columns": {"type": "array", "items": {"type": "string"}},
        "conditions": {"type": "array", "items": {"type": "string"}},
    },
    required=["sql_keyword", "table_name"],
)


@pytest.mark.parametrize(("condition", "finds"), [("city = 'Oslo'", False), ("city = 'Oslo", True)])
def test_sql_that_cannot_be_carried_out(condition: str, finds: bool) -> None:
    truth = {
        "sql_keyword": ["SELECT"],
        "table_name": ["towns"],
        "columns": [["city"]],
        "conditions": [[condition]],
    }
    entry = make_entry("sql", functions=[SQL], expect=[{"sql.execute": truth}])
    evidence = [text for _, _, text in list_findings(truths.find_broken_sql, make_facts(entry))]
    assert len(evidence) == finds
    assert all("not SQL" in text for text in evidence)


def make_bookings(*calls: dict[str, object]) -> Entry:
    """Make an entry that expects several bookings."""
    return make_entry("parallel", functions=[BOOK], expect=[{"hotel.book": call} for call in calls])


def test_a_greedy_trap_is_found() -> None:
    """Without rooms a call fits both; taken for the first, it leaves one that does not fit the second."""
    facts = make_facts(
        make_bookings({"city": ["Oslo"], "rooms": [2, ""]}, {"city": ["Oslo"], "rooms": ["", 1]})
    )
    ((entry, severity, evidence),) = list_findings(truths.find_greedy_traps, facts)
    assert (entry, severity) == ("parallel_0", "certain")
    assert evidence == (
        "hotel.book(city='Oslo') also fits the expected call 1; if it comes before "
        "hotel.book(city='Oslo', rooms=2), the answer fails officially: "
        "parallel_function_checker_no_order:cannot_find_match"
    )


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param(({"city": ["Oslo"]}, {"city": ["Oslo"]}), id="the same call twice"),
        pytest.param(({"city": ["Oslo", "Bergen"]}, {"city": ["Moss", "Voss"]}), id="nothing in common"),
    ],
)
def test_calls_in_parallel_that_cannot_be_mistaken(calls: tuple[dict[str, object], ...]) -> None:
    assert list_findings(truths.find_greedy_traps, make_facts(make_bookings(*calls))) == []


@pytest.mark.parametrize(("board", "finds"), [(["half", ""], 1), (["NONE", ""], 0), (["half"], 0)])
def test_leaving_out_must_mean_what_is_accepted(board: list[str], finds: int) -> None:
    evidence = list_findings(truths.find_refused_defaults, make_facts(make_booking(board=board)))
    assert len(evidence) == finds
    if finds:
        assert evidence[0][2] == (
            "hotel.book.board: may be omitted, which means 'none', but only ['half'] are accepted"
        )


def test_a_truth_of_another_kind_is_left_alone() -> None:
    assert list(truths.iterate_accepted_values(make_entry("irrelevance"))) == []
    assert [accepted.label for accepted in truths.iterate_accepted_values(make_booking())] == [
        "hotel.book.city"
    ]
