"""Both verdicts on calls of SQL, from an answer on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.transcript import Completion, Fault
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, Judgement, NotScored, Passed
from pytest_fcbench.kinds.calls.truth import ExpectedCalls
from pytest_fcbench.kinds.sql import kind as sql
from pytest_fcbench.suites.registry import open_suite
from tests.cases import each_case
from tests.factories import make_transcript, tool_calls
from tests.kinds.outcomes import name_outcomes
from tests.kinds.sql.shop import DOC, make_accepting_entry, make_arguments, make_sql_entry


def judge_arguments(entry: Entry, arguments: Mapping[str, object]) -> Judgement:
    """Judge a call of the entry's function."""
    (doc,) = entry.functions
    return sql.judge(entry, make_transcript(tool_calls((doc.name.replace(".", "_"), arguments))))


SALE = make_arguments(columns=["name"], conditions=["price < 10", "shelf = 1"])
PRICES = make_arguments(columns=["name", "price"], conditions=["shelf = 1"])
MOVE = make_arguments("UPDATE", columns=["shelf"], update_values=[2], conditions=["name = 'saw'"])
NEW = make_arguments("INSERT", columns=["id", "name"], insert_values=[[5, "axe"], [6, "rasp"]])
GONE = make_arguments("DELETE", conditions=["shelf IN (SELECT id FROM shelves WHERE room = 'shed')"])
SORTED = make_arguments(columns=["name"], order_by=["price DESC"], limit=2)
CRATES = make_arguments("CREATE", "crates", columns=["id INTEGER", "label TEXT"])

RIGHT = {
    # what: (truth, answer) that are not written alike
    "order of conditions": (SALE, {**SALE, "conditions": ["shelf = 1", "price < 10"]}),
    "one condition": (SALE, {**SALE, "conditions": ["price < 10 AND shelf = 1"]}),
    "turned around": (SALE, {**SALE, "conditions": ["10 > price", "shelf = 1"]}),
    "negated": (SALE, {**SALE, "conditions": ["NOT (price >= 10 OR shelf <> 1)"]}),
    "lists in a list": (SALE, {**SALE, "conditions": [["price < 10"], ["shelf = 1"]]}),
    "one text for several columns": (PRICES, {**PRICES, "columns": "name, price"}),
    "another name for a column": (SALE, {**SALE, "columns": ["tools.name AS tool"]}),
    "a query instead of a value": (
        SALE,
        {**SALE, "conditions": ["price < 10", "shelf = (SELECT id FROM shelves WHERE room = 'shed')"]},
    ),
    "another keyword": (NEW, {**NEW, "sql_keyword": "INSERT INTO"}),
    "another order of columns": (
        NEW,
        {**NEW, "columns": ["name", "id"], "insert_values": [["rasp", 6], ["axe", "5"]]},
    ),
    "a number as text": (MOVE, {**MOVE, "update_values": ["2"]}),
    "a calculation": (MOVE, {**MOVE, "update_values": ["shelf + 1"]}),
    "without quotes": (MOVE, {**MOVE, "conditions": ["name = saw"]}),
    "by another column": (MOVE, {**MOVE, "conditions": ["id IN (1)"]}),
    "listed": (GONE, {**GONE, "conditions": ["shelf = 1"]}),
    "joined": (
        make_arguments(
            columns=["tools.name"], conditions=["shelf IN (SELECT id FROM shelves WHERE room = 'attic')"]
        ),
        make_arguments(
            columns=["t.name"],
            table="tools AS t",
            joins=["JOIN shelves AS s ON s.id = t.shelf"],
            conditions=["s.room = 'attic'"],
        ),
    ),
    "sorted further": (SORTED, {**SORTED, "order_by": ["price DESC", "name"]}),
    "sorted where no order is asked for": (SALE, {**SALE, "order_by": ["name"]}),
    "other words for types": (CRATES, {**CRATES, "columns": ["id INT", "label VARCHAR(20)"]}),
}


@each_case("what", RIGHT)
def test_what_does_the_same_passes_however_it_is_written(what: str) -> None:
    truth, answer = RIGHT[what]
    official, corrected = name_outcomes(judge_arguments(make_sql_entry(truth), answer))
    assert official is not None
    assert corrected is None


WRONG = {
    # what: (truth, answer, end of the code)
    "another bound": (SALE, {**SALE, "conditions": ["price < 4", "shelf = 1"]}, "wrong_result"),
    "a condition less": (SALE, {**SALE, "conditions": ["price < 10"]}, "wrong_result"),
    "a condition too many": (
        SALE,
        {**SALE, "conditions": ["price < 10", "shelf = 1", "id = 1"]},
        "wrong_result",
    ),
    "another column": (SALE, {**SALE, "columns": ["id"]}, "wrong_result"),
    "a column too many": (SALE, {**SALE, "columns": ["name", "id"]}, "wrong_result"),
    "a column too many in one text": (SALE, {**SALE, "columns": "name, id"}, "wrong_result"),
    "one text with other columns": (PRICES, {**PRICES, "columns": "price, name"}, "wrong_result"),
    "another order": (SORTED, {**SORTED, "order_by": ["price DESC", "id DESC"], "limit": 3}, "wrong_result"),
    "no order": (
        {**SORTED, "limit": 4},
        {**SORTED, "limit": 4, "order_by": ["price"]},
        "wrong_result",
    ),
    "a row less": (NEW, {**NEW, "insert_values": [[5, "axe"]]}, "wrong_state"),
    "another value": (MOVE, {**MOVE, "update_values": [3]}, "wrong_state"),
    "every row": (MOVE, {key: MOVE[key] for key in MOVE if key != "conditions"}, "wrong_state"),
    "another table": (GONE, make_arguments("DELETE", "shelves", conditions=["room = 'shed'"]), "wrong_state"),
    "a query instead of a change": (GONE, {**GONE, "sql_keyword": "SELECT"}, "wrong_state"),
    "a change instead of a query": (SALE, make_arguments("DELETE"), "wrong_state"),
    "another type": (CRATES, {**CRATES, "columns": ["id TEXT", "label TEXT"]}, "wrong_state"),
    "no type": (CRATES, {**CRATES, "columns": ["id", "label"]}, "wrong_state"),
    "an unknown table": (SALE, {**SALE, "table_name": "spoons"}, "unknown_name"),
    "an unknown column": (SALE, {**SALE, "columns": ["colour"]}, "unknown_name"),
    "not SQL": (SALE, {**SALE, "conditions": ["price is less than 10 please"]}, "cannot_translate"),
    "an attack": (SALE, {**SALE, "conditions": ["name = 'x'; DROP TABLE tools; --"]}, "cannot_translate"),
    "a refused function": (SALE, {**SALE, "columns": ["load_extension('x')"]}, "refused"),
    "an error": (SALE, {**SALE, "conditions": ["COUNT(*) > 1"]}, "error"),
    "endless": (
        SALE,
        make_arguments(table=", ".join(f"tools t{n}" for n in range(12)), columns=["COUNT(*)"]),
        "too_much",
    ),
}


@each_case("what", WRONG)
def test_what_does_something_else_fails_with_a_code(what: str) -> None:
    truth, answer, code = WRONG[what]
    official, corrected = name_outcomes(judge_arguments(make_sql_entry(truth), answer))
    assert official is not None
    assert corrected == f"sql:{code}"


@each_case("truth", [SALE, MOVE, NEW, GONE, SORTED, CRATES], ids=lambda t: t["sql_keyword"])
def test_the_truth_itself_passes_with_and_without_tables(truth: dict[str, object]) -> None:
    assert name_outcomes(judge_arguments(make_sql_entry(truth), truth)) == (None, None)
    assert name_outcomes(judge_arguments(make_sql_entry(truth, ()), truth)) == (None, None)


BARE = make_arguments(
    "UPDATE", columns=["grade"], update_values=["95"], conditions=["pupil = 'Ida'", "year > 2020"]
)


@each_case(
    ("change", "code"),
    [
        ({"update_values": [95]}, None),
        ({"conditions": [["year > 2020 AND pupil = Ida"]]}, None),
        ({"conditions": ["2020 < year", "pupil IN ('Ida')"]}, None),
        ({"conditions": ["year >= 2020", "pupil = 'Ida'"]}, "sql:wrong_state"),
        ({"conditions": ["pupil = 'Ida'"]}, "sql:wrong_state"),
        ({"conditions": ["pupil LIKE 'Ida%'", "year > 2020"]}, "sql:wrong_state"),
        ({"conditions": ["pupil = 'Ida'", "year > 2020", "year < 3000"]}, "sql:wrong_state"),
        ({"conditions": ["pupil = 'Ida'", "year > 2020", "grade <> 7"]}, "sql:wrong_state"),
        ({"update_values": ["59"]}, "sql:wrong_state"),
        ({"table_name": "Tools"}, None),
        ({"columns": ["GRADE"]}, None),
        ({"columns": ["mark"]}, "sql:unknown_name"),
    ],
)
def test_without_tables_they_follow_from_the_truth(change: dict[str, object], code: str | None) -> None:
    assert name_outcomes(judge_arguments(make_sql_entry(BARE, ()), {**BARE, **change}))[1] == code


def test_where_something_is_created_there_is_nothing_before() -> None:
    for answer in (make_arguments(table="crates", columns=["id"]), make_arguments("DELETE", "crates")):
        assert name_outcomes(judge_arguments(make_sql_entry(CRATES, ()), answer))[1] == "sql:unknown_name"


def test_all_columns_are_not_those_that_happen_to_be_named() -> None:
    truth = make_arguments(columns=["*"], conditions=["age > 30"])
    assert (
        name_outcomes(judge_arguments(make_sql_entry(truth, ()), {**truth, "columns": ["age"]}))[1]
        == "sql:wrong_result"
    )


def test_each_accepted_call_is_right() -> None:
    accepted: dict[str, object] = {
        "sql_keyword": ["INSERT"],
        "table_name": ["days"],
        "columns": [["day"], ""],
        "insert_values": [["2026-05-01"], ["1 May 2026"]],
    }
    entry = make_accepting_entry(accepted, ())
    for day in ("2026-05-01", "1 May 2026"):
        assert (
            name_outcomes(judge_arguments(entry, make_arguments("INSERT", "days", insert_values=[[day]])))[1]
            is None
        )
    wrong = judge_arguments(entry, make_arguments("INSERT", "days", insert_values=[["2 May 2026"]])).corrected
    assert isinstance(wrong, Failed)
    assert wrong.code == "sql:wrong_state"
    assert "2026-05-01" in str(wrong.details["expected"])
    assert "2 May 2026" in str(wrong.details["found"])


def test_where_no_truth_can_be_carried_out_what_is_written_decides() -> None:
    broken = make_arguments(columns=["name"], conditions=["name = 'saw"])
    assert name_outcomes(judge_arguments(make_sql_entry(broken, ()), broken)) == (None, None)
    failed = judge_arguments(
        make_sql_entry(broken, ()), make_arguments(columns=["name"], conditions=["name = 'saw'"])
    ).corrected
    assert isinstance(failed, Failed)
    assert failed.code.startswith("value_error")
    assert "not SQL" in str(failed.details["not_carried_out"])


@each_case(
    ("answer", "official", "corrected"),
    [
        (Completion(text="I will not."), "ast_decoder:decoder_failed", "no_call"),
        (tool_calls(), "simple_function_checker:wrong_count", "no_call"),
        (
            tool_calls(("sql_execute", SALE), ("sql_execute", SALE)),
            "simple_function_checker:wrong_count",
            "wrong_count",
        ),
        (tool_calls(("drop", SALE)), *["simple_function_checker:wrong_func_name"] * 2),
        (tool_calls(("sql_execute", "{")), "ast_decoder:decoder_failed", "unreadable"),
    ],
)
def test_what_is_not_one_call_is_judged_as_any_answer(
    answer: Completion, official: str, corrected: str
) -> None:
    transcript = make_transcript(replace(answer, tool_calls=answer.tool_calls or ()))
    found = sql.judge(make_sql_entry(SALE), transcript)
    assert name_outcomes(found)[1] == corrected


def test_a_fault_and_bad_data_are_no_verdict_on_a_call() -> None:
    entry, right = make_sql_entry(SALE), tool_calls(("sql_execute", SALE))
    told = Completion(text="Error during inference: context length", fault=Fault.OVERFLOW)
    overflow = sql.judge(entry, make_transcript(told))
    assert {verdict.status for verdict in (overflow.official, overflow.corrected)} == {"failed"}
    aside = sql.judge(replace(entry, set_aside="bad"), make_transcript(right))
    assert aside == Judgement(Passed(), NotScored(SET_ASIDE, "bad"))


def test_in_prompting_mode_too() -> None:
    arguments = ", ".join(
        f"{name}={value!r}" for name, value in {**SALE, "conditions": ["10>price AND shelf=1"]}.items()
    )
    text = f"[{DOC.name}({arguments})]"
    assert name_outcomes(sql.judge(make_sql_entry(SALE), make_transcript(text)))[1] is None


# Of the suites

CORE = open_suite("core", Path()).load(CATEGORIES["sql"])

ALIKE: Mapping[str, Mapping[str, object]] = {
    "sql_0": {"columns": "model, price_per_day"},
    "sql_1": {"conditions": ["station_id = 2 AND kind LIKE 'city'"]},
    "sql_2": {"columns": ["stations.*"]},
    "sql_3": {"order_by": ["-price_per_day"]},
    "sql_4": {"columns": ["COUNT(id) AS cargo_bikes"]},
    "sql_6": {"table_name": "bikes", "joins": ["INNER JOIN rentals ON rentals.bike_id = bikes.id"]},
    "sql_7": {"conditions": ["NOT EXISTS (SELECT 1 FROM rentals WHERE rentals.bike_id = bikes.id)"]},
    "sql_9": {"conditions": ["start_day > '2026-04-30' AND start_day < '2026-06-01'"]},
    "sql_10": {"conditions": ["NOT (kind <> 'road' AND kind <> 'folding')"]},
    "sql_11": {"columns": ["DISTINCT rider"], "group_by": ["rider"], "having": ["COUNT(id) >= 2"]},
    "sql_12": {"joins": [], "conditions": ["id NOT IN (SELECT station_id FROM bikes)"]},
    "sql_13": {"columns": [], "insert_values": [["10", "Kestrel", "road", 26.0, 4]]},
    "sql_16": {"update_values": ["2 + price_per_day"]},
    "sql_17": {"conditions": ["NOT (start_day >= '2026-05-01' AND days < 7)"]},
    "sql_18": {"conditions": ["bike_id = 3 OR bike_id = 6"]},
    "sql_19": {"columns": ["id INT PRIMARY KEY", "bike_id INT NOT NULL", "fault VARCHAR(80)", "cost FLOAT"]},
}


def _read_truth(entry: Entry) -> dict[str, object]:
    assert isinstance(entry.expectation, ExpectedCalls)
    (wanted,) = entry.expectation.calls
    return {name: values[0] for name, values in wanted.accepted.items() if isinstance(values, list)}


@each_case("name", ALIKE)
def test_core_takes_what_does_the_same(name: str) -> None:
    entry = next(entry for entry in CORE if entry.id == name)
    official, corrected = name_outcomes(judge_arguments(entry, {**_read_truth(entry), **ALIKE[name]}))
    assert official is not None
    assert corrected is None


@each_case(
    ("conditions", "right"),
    [
        (["kind = 'city'", "station_id = 2"], True),
        (["station_id = 2", "kind = 'city'"], True),
        (["kind = 'city' AND station_id = 2"], True),
        (["station_id = 2 AND kind='city'"], True),
        (["kind = 'city' OR station_id = 2"], False),
    ],
)
def test_core_takes_conditions_joined_or_not(conditions: Sequence[str], right: bool) -> None:
    entry = next(entry for entry in CORE if entry.id == "sql_1")
    verdicts = judge_arguments(entry, {**_read_truth(entry), "conditions": conditions})
    assert [outcome is None for outcome in name_outcomes(verdicts)] == [right, right]


@each_case("entry", CORE, ids=lambda entry: entry.id)
def test_core_tells_its_entries_apart(entry: Entry) -> None:
    """No truth is right for another entry."""
    passing = [
        other.id for other in CORE if name_outcomes(judge_arguments(entry, _read_truth(other)))[1] is None
    ]
    assert passing == [entry.id]
