"""A suite's own file: what reads well, and what each kind of broken record is told."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

from pytest_fcbench.domain.entry import CATEGORIES, DatabaseTable, Entry, Message
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.kinds.entry_files import generate_entry_schema, read_entries
from pytest_fcbench.kinds.relevance import AnyCall, NoCall
from pytest_fcbench.suites import core
from pytest_fcbench.suites.custom import open_own
from tests.cases import each_case
from tests.suites.test_custom import LINES

GOOD = """\
category: multiple
functions:
  - name: tide.high
    description: Time of high tide.
    parameters:
      type: dict
      properties:
        port: {type: string, description: Port.}
        unit: {type: string, description: Clock., enum: [utc, local], default: utc}
      required: [port]
  - name: tide.range
    description: Range of the tide on a day.
    parameters:
      type: dict
      properties:
        port: {type: string, description: Port.}
        day: {type: string, description: Day.}
      required: [port, day]
    response: {type: float}
entries:
  - id: multiple_0
    query: When is high tide in Brest?
    functions: [tide.high, tide.range]
    expect:
      - tide.high:
          port: [Brest, port of Brest]
          unit: [utc, ""]
  - id: multiple_1
    messages:
      - {role: system, content: Be brief.}
      - {role: user, content: How much does the sea rise in Brest today.}
    functions: [tide.range]
    expect:
      - tide.range:
          port: [Brest]
          day: [today]
"""

HIGH = FunctionDoc(
    "tide.high",
    "Time of high tide.",
    {
        "type": "dict",
        "properties": {
            "port": {"type": "string", "description": "Port."},
            "unit": {"type": "string", "description": "Clock.", "enum": ["utc", "local"], "default": "utc"},
        },
        "required": ["port"],
    },
)
RANGE = FunctionDoc(
    "tide.range",
    "Range of the tide on a day.",
    {
        "type": "dict",
        "properties": {
            "port": {"type": "string", "description": "Port."},
            "day": {"type": "string", "description": "Day."},
        },
        "required": ["port", "day"],
    },
    {"response": {"type": "float"}},
)


def _write_file(folder: Path, text: str = GOOD, old: str = "", new: str = "") -> Path:
    """Write GOOD, or another text, in which ``old`` (there exactly once) is replaced."""
    assert not old or text.count(old) == 1
    path = folder / "entries.yaml"
    path.write_text(text.replace(old, new) if old else text, encoding="utf-8")
    return path


def test_entries_are_read_whole_and_in_order(tmp_path: Path) -> None:
    assert read_entries(_write_file(tmp_path), "mine") == (
        Entry(
            suite="mine",
            id="multiple_0",
            category=CATEGORIES["multiple"],
            turns=((Message("user", "When is high tide in Brest?"),),),
            functions=(HIGH, RANGE),
            expectation=ExpectedCalls(
                (ExpectedCall("tide.high", {"port": ["Brest", "port of Brest"], "unit": ["utc", ""]}),)
            ),
        ),
        Entry(
            suite="mine",
            id="multiple_1",
            category=CATEGORIES["multiple"],
            turns=(
                (
                    Message("system", "Be brief."),
                    Message("user", "How much does the sea rise in Brest today."),
                ),
            ),
            functions=(RANGE,),
            expectation=ExpectedCalls((ExpectedCall("tide.range", {"port": ["Brest"], "day": ["today"]}),)),
        ),
    )


SMALL = """\
category: {category}
functions:
  - name: lamp.off
    description: Switch a lamp off.
    parameters: {{type: dict, properties: {{}}, required: []}}
entries:
  - id: {category}_0
    query: Lights out
    functions: [lamp.off]
"""


@pytest.mark.parametrize(
    ("category", "expectation"),
    [
        ("irrelevance", NoCall()),
        ("live_irrelevance", NoCall()),
        ("live_relevance", AnyCall()),
    ],
)
def test_categories_without_a_truth_take_no_expect(
    tmp_path: Path, category: str, expectation: NoCall | AnyCall
) -> None:
    (entry,) = read_entries(_write_file(tmp_path, SMALL.format(category=category)), "mine")
    assert entry.expectation == expectation


def test_parallel_takes_several_calls_also_of_one_function(tmp_path: Path) -> None:
    text = SMALL.format(category="parallel") + "    expect:\n      - lamp.off:\n      - lamp.off: {}\n"
    (entry,) = read_entries(_write_file(tmp_path, text), "mine")
    assert entry.expectation == ExpectedCalls((ExpectedCall("lamp.off", {}), ExpectedCall("lamp.off", {})))


BROKEN = [
    (
        "unknown category",
        ("category: multiple", "category: mulitple"),
        "1: category: unknown category 'mulitple'. Did you mean 'multiple' or ",
    ),
    ("category is no text", ("category: multiple", "category: 7"), "1: category: must be text, not int 7"),
    ("no category", ("category: multiple\n", ""), "1: file: has no 'category'"),
    (
        "unknown key of the file",
        ("entries:", "entrys:"),
        "20: entrys: unknown key 'entrys'. Did you mean 'entries'?",
    ),
    (
        "function without description",
        ("    description: Time of high tide.\n", ""),
        "3: functions.0: has no 'description'",
    ),
    (
        "unknown key of a function",
        ("description: Time of high tide.", "descripton: Time of high tide."),
        "4: functions.0.descripton: unknown key 'descripton'. Did you mean 'description'?",
    ),
    (
        "function described twice",
        ("name: tide.range", "name: tide.high"),
        "11: functions.1: the function 'tide.high' is defined twice",
    ),
    (
        "parameters without required",
        ("      required: [port]\n", ""),
        "5: functions.0.parameters: has no 'required'",
    ),
    (
        "parameter without type",
        (
            "port: {type: string, description: Port.}\n        unit",
            "port: {description: Port.}\n        unit",
        ),
        "8: functions.0.parameters.properties.port: has no 'type'",
    ),
    (
        "unknown key of a parameter",
        ("enum: [utc, local]", "enmu: [utc, local]"),
        "9: functions.0.parameters.properties.unit.enmu: unknown key 'enmu'. Did you mean 'enum'?",
    ),
    (
        "required parameter that is not declared",
        ("required: [port]", "required: [prot]"),
        "10: functions.0.parameters.required.0: unknown parameter 'prot'. Did you mean 'port'? "
        "Valid: port, unit.",
    ),
    ("entry without id", ("  - id: multiple_0\n    query", "  - query"), "21: entries.0: has no 'id'"),
    (
        "id that turns the direction of a text",
        ("id: multiple_0", 'id: "a\\u202eb"'),
        r"21: entries.0.id: the id 'a\u202eb' has characters that cannot be printed; leave them out",
    ),
    (
        "id that is no text",
        ("id: multiple_0", "id: 0"),
        "21: entries.0.id: must be text, not int 0; put it in quotes",
    ),
    (
        "id taken",
        ("id: multiple_1", "id: multiple_0"),
        "28: entries.1: the id 'multiple_0' is already used by an entry above",
    ),
    (
        "unknown key of an entry",
        ("query: When", "question: When"),
        "22: entries.0.question: unknown key 'question'.",
    ),
    (
        "neither query nor messages",
        ("    query: When is high tide in Brest?\n", ""),
        "21: entries.0: needs either 'query' or 'messages'",
    ),
    (
        "query and messages",
        ("    messages:\n", "    query: Well?\n    messages:\n"),
        "28: entries.1: needs either 'query' or 'messages'",
    ),
    (
        "unknown role",
        ("role: system", "role: sytem"),
        "30: entries.1.messages.0.role: unknown role 'sytem'. Did you mean 'system'? "
        "Valid: system, user, assistant.",
    ),
    (
        "message without content",
        ("{role: system, content: Be brief.}", "{role: system}"),
        "30: entries.1.messages.0: has no 'content'",
    ),
    (
        "unknown function offered",
        ("[tide.high, tide.range]", "[tide.high, tide.rage]"),
        "23: entries.0.functions.1: unknown function 'tide.rage'. Did you mean 'tide.range' or 'tide.high'? "
        "Valid: tide.high, tide.range.",
    ),
    (
        "no expect",
        ("    expect:\n      - tide.range:\n          port: [Brest]\n          day: [today]\n", ""),
        "28: entries.1: has no 'expect'",
    ),
    (
        "two calls where one belongs",
        ("      - tide.high:\n", "      - tide.range: {port: [Brest], day: [today]}\n      - tide.high:\n"),
        "24: entries.0.expect: has 2 calls; entries of multiple have exactly one",
    ),
    (
        "a call with two names",
        ("      - tide.high:\n", "      - tide.range:\n        tide.high:\n"),
        "25: entries.0.expect.0: must have exactly one name, not 2",
    ),
    (
        "a call of a function that is not offered",
        ("functions: [tide.range]", "functions: [tide.high]"),
        "34: entries.1.expect.0.tide.range: unknown function 'tide.range'. Did you mean 'tide.high'? "
        "Valid: tide.high.",
    ),
    (
        "an expected parameter that the function does not have",
        ("unit: [utc, ", "units: [utc, "),
        "27: entries.0.expect.0.tide.high.units: unknown parameter 'units'. Did you mean 'unit'? "
        "Valid: port, unit.",
    ),
    (
        "no accepted value",
        ("day: [today]", "day: []"),
        "36: entries.1.expect.0.tide.range.day: must have at least one element",
    ),
    (
        "a required parameter without accepted values",
        ("          day: [today]\n", ""),
        "34: entries.1.expect.0.tide.range: has no accepted values for the required parameter 'day'",
    ),
]


@each_case(("change", "says"), [pytest.param(change, says, id=name) for name, change, says in BROKEN])
def test_a_broken_record_is_told_with_line_field_and_rule(
    tmp_path: Path, change: tuple[str, str], says: str
) -> None:
    path = _write_file(tmp_path, GOOD, *change)
    with pytest.raises(SuiteError) as caught:
        read_entries(path, "mine")
    assert str(caught.value).startswith(f"{path}:{says}")


@each_case(
    ("text", "says"),
    [
        pytest.param("", "1: file: must be a mapping, not empty", id="empty file"),
        pytest.param("- a\n", "1: file: must be a mapping, not list ['a']", id="a list"),
        pytest.param(
            "category: parallel\nfunctions: {}\nentries: []\n",
            "2: functions: must be a list, not dict {}",
            id="functions are no list",
        ),
        pytest.param(
            "category: parallel\nfunctions: []\nentries:\n",
            "3: entries: must be a list, not empty",
            id="entries are empty",
        ),
        pytest.param(
            SMALL.format(category="irrelevance") + "    expect: []\n",
            "10: entries.0.expect: unknown key 'expect'. "
            "Valid: id, functions, cluster, parents, check, forbidden, query, messages.",
            id="expect where no call is right",
        ),
        pytest.param(
            SMALL.format(category="parallel") + "    expect: []\n",
            "10: entries.0.expect: must have at least one element",
            id="parallel without a call",
        ),
        pytest.param(
            SMALL.format(category="simple_python") + "    expect: []\n",
            "10: entries.0.expect: must have at least one element",
            id="simple without a call",
        ),
    ],
)
def test_a_wrong_file_is_told_with_line_field_and_rule(tmp_path: Path, text: str, says: str) -> None:
    path = _write_file(tmp_path, text)
    with pytest.raises(SuiteError) as caught:
        read_entries(path, "mine")
    assert str(caught.value) == f"{path}:{says}"


@each_case(
    ("old", "new", "place"),
    [
        pytest.param(
            "day: {type: string, ",
            "day: {type: strnig, ",
            "17: functions.1.parameters.properties.day.type",
            id="unknown type",
        ),
        pytest.param(
            "day: {type: string, ",
            "day: {type: array, items: {typ: string}, ",
            "17: functions.1.parameters.properties.day.items.typ",
            id="nested schema",
        ),
        pytest.param(
            "enum: [utc, local]",
            "enum: utc",
            "9: functions.0.parameters.properties.unit.enum",
            id="enum that is no list",
        ),
        pytest.param(
            "day: [today]",
            "day: [5]",
            "36: entries.1.expect.0.tide.range.day.0",
            id="accepted value of another type",
        ),
        pytest.param(
            "unit: [utc, ",
            "unit: [gmt, ",
            "27: entries.0.expect.0.tide.high.unit.0",
            id="accepted value outside the enum",
        ),
        pytest.param(
            "    query: When is high tide in Brest?\n",
            "    messages: []\n",
            "22: entries.0.messages",
            id="no message",
        ),
    ],
)
def test_a_record_that_no_answer_can_match_is_refused(tmp_path: Path, old: str, new: str, place: str) -> None:
    path = _write_file(tmp_path, GOOD, old, new)
    with pytest.raises(SuiteError, match=f"^{re.escape(f'{path}:{place}')}: "):
        read_entries(path, "mine")


def test_relevance_without_a_function_is_refused(tmp_path: Path) -> None:
    path = _write_file(
        tmp_path, SMALL.format(category="live_relevance"), "functions: [lamp.off]", "functions: []"
    )
    with pytest.raises(SuiteError, match=r"entries\.yaml:9: entries\.0\.functions: "):
        read_entries(path, "mine")


CHAT = """\
category: chatable
entries:
  - id: chatable_0
    query: How are you?
"""
SQL = """\
category: sql
functions:
  - name: db.run
    description: Run a statement.
    parameters:
      type: dict
      properties:
        sql_keyword: {type: string, description: What to do.}
        table_name: {type: string, description: Where.}
      required: [sql_keyword, table_name]
tables:
  boats:
    columns: {id: INTEGER, name: TEXT}
    rows:
      - [1, Petrel]
entries:
  - id: sql_0
    query: Which boats are there?
    functions: [db.run]
    expect:
      - db.run: {sql_keyword: [SELECT], table_name: [boats]}
"""


def test_where_words_are_the_answer_there_is_nothing_but_a_question(tmp_path: Path) -> None:
    (tmp_path / "chat.yaml").write_text(CHAT, encoding="utf-8")
    (entry,) = read_entries(tmp_path / "chat.yaml", "own")
    assert (entry.functions, entry.expectation, entry.tables) == ((), NoCall(), ())
    (tmp_path / "more.yaml").write_text(CHAT + "    functions: []\n", encoding="utf-8")
    with pytest.raises(SuiteError, match="functions"):
        read_entries(tmp_path / "more.yaml", "own")


def test_entries_of_sql_share_the_tables_of_their_file(tmp_path: Path) -> None:
    (tmp_path / "sql.yaml").write_text(SQL, encoding="utf-8")
    (entry,) = read_entries(tmp_path / "sql.yaml", "own")
    assert entry.tables == (DatabaseTable("boats", {"id": "INTEGER", "name": "TEXT"}, ((1, "Petrel"),)),)
    without = SQL[: SQL.index("tables:")] + SQL[SQL.index("entries:") :]
    (tmp_path / "without.yaml").write_text(without, encoding="utf-8")
    with pytest.raises(SuiteError, match="has no 'tables'"):
        read_entries(tmp_path / "without.yaml", "own")


def test_others_have_no_tables(tmp_path: Path) -> None:
    (tmp_path / "odd.yaml").write_text(GOOD + "tables: {}\n", encoding="utf-8")
    with pytest.raises(SuiteError, match="unknown key 'tables'"):
        read_entries(tmp_path / "odd.yaml", "own")


MANY = """\
category: multiple
functions:
  - name: stock
    inputSchema: {properties: {item: {type: string}, count: {type: integer}}, required: [item]}
  - name: price
    inputSchema: {properties: {item: {type: text}}}
  - {name: count, description: C., parameters: {type: dict, properties: {n: {type: real, description: N.}}}}
entries:
  - {id: multiple_0, query: "?", functions: [stock], expect: [stock: {itme: tea}]}
  - {id: multiple_1, query: "?", functions: [stock], expect: [stock: {item: tea}]}
  - {id: multiple_2, query: 12, functions: [stock], expect: [stock: {item: tea}], expects: 1}
  - {id: multiple_3, query: "?", functions: [stock, price], expect: [price: {item: tea}]}
  - {id: multiple_4, query: "?", functions: [stock], expect: [stock(item="tea", count=2)]}
  - {id: multiple_1, query: "?", functions: [stock], expect: ['stock(item="tea", count=2)']}
  - {id: multiple_5, query: "?", functions: [stok], expect: [stock: {item: tea}]}
"""


def test_all_errors_of_a_file_are_told_in_reading_order(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(MANY, "utf-8")
    with pytest.raises(SuiteError) as caught:
        read_entries(path, "mine")

    told = [line.removeprefix(f"{path}:") for line in str(caught.value).splitlines()]
    assert [line.partition(": ")[0] for line in told] == ["5", "7", "9", "11", "11", "13", "14", "15"]
    rest = iter(told)
    for says in (
        "functions.1: not a valid JSON Schema",
        "functions.2.parameters: has no 'required'",
        "entries.0.expect.0.stock.itme: unknown parameter 'itme'. Did you mean 'item'?",
        "entries.2.expects: unknown key 'expects'. Did you mean 'expect'?",
        "entries.2.query: must be text, not int 12; put it in quotes",
        "entries.4.expect.0: 'stock(item=\"tea\"' is a part of a call: between [ and ] YAML splits",
        "entries.5: the id 'multiple_1' is already used by an entry above",
        "entries.6.functions.0: unknown function 'stok'. Did you mean 'stock'?",
    ):
        assert says in next(rest)


def test_an_empty_list_in_a_mapping_is_a_value(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    doc = "{name: f, inputSchema: {properties: {a: {type: object, properties: {kids: {type: array}}}}}}"
    entry = "{id: s, query: '?', functions: [f], expect: [f: {a: {kids: []}}]}"
    path.write_text(f"category: simple_python\nfunctions: [{doc}]\nentries: [{entry}]\n", "utf-8")
    (read,) = read_entries(path, "mine")
    assert read.expectation == ExpectedCalls((ExpectedCall("f", {"a": [{"kids": [[]]}]}),))


@each_case(
    "text, accepted",
    [
        *(("f(x=[1, 2])", [[1, 2]]), ("f(x=(1, 2))", [[1, 2]]), ("f(x=[])", [[]]), ("f(x=1)", None)),
        # A list in a mapping is no list of accepted values.
        ('f(y={"a": [1, 2], "b": []})', {"a": [[1, 2]], "b": [[]]}),
    ],
)
def test_the_value_in_a_written_call_is_the_only_one(tmp_path: Path, text: str, accepted: object) -> None:
    path = tmp_path / "mine.yaml"
    properties = "{x: {type: array, items: {type: integer}}, y: {type: object}}"
    doc = f"{{name: f, inputSchema: {{properties: {properties}}}}}"
    entry = f"{{id: s, query: '?', functions: [f], expect: ['{text}']}}"
    path.write_text(f"category: simple_python\nfunctions: [{doc}]\nentries: [{entry}]\n", "utf-8")
    if accepted is None:
        with pytest.raises(SuiteError, match="is not what the schema of x allows: 1 is not of type 'array'"):
            read_entries(path, "mine")
        return
    (read,) = read_entries(path, "mine")
    arguments = {"y": [accepted]} if isinstance(accepted, dict) else {"x": accepted}
    assert read.expectation == ExpectedCalls((ExpectedCall("f", arguments),))


SEVERAL = """\
category: parallel
check: nowhere
sort: yes
functions:
  - name: stock
    inputSchema: {properties: {item: {type: string}, count: {type: integer}}, required: [item]}
entries:
  - id: parallel_0
    query: "?"
    querry: "?"
    check: nothing
    functions: [stock]
    forbidden:
      - sell
      - buy
    judged: {stock: [size]}
    expect:
      - stock:
          itme: tea
          count: two
      - stok: {item: tea}
  - {id: parallel_1, functions: [stock], expect: [stock: {item: tea}], check: nobody}
"""


def test_one_error_hides_no_other_of_the_same_entry_or_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(SEVERAL, "utf-8")
    with pytest.raises(SuiteError) as caught:
        read_entries(path, "mine")
    told = [line.removeprefix(f"{path}:") for line in str(caught.value).splitlines()]
    assert [line.partition(": ")[0] for line in told] == [
        *map(str, (2, 3, 10, 11, 14, 15, 16, 19, 20, 21, 22))
    ]
    assert told[-1] == "22: entries.1: needs either 'query' or 'messages'"


@pytest.mark.parametrize(("key", "is_told"), [("check", True), ("checks", False)])
def test_a_category_without_checks_says_how_to_check_it(tmp_path: Path, key: str, is_told: bool) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"category: multi_turn_base\n{key}: a:b\nentries: []\n", "utf-8")
    with pytest.raises(SuiteError, match=f"unknown key '{key}'") as caught:
        read_entries(path, "mine")
    assert ("A test with the fixture 'answer' can check it instead." in str(caught.value)) is is_told


def test_what_follows_from_an_error_is_no_other_error(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    entries = (
        "entries:\n  - {id: own_check_0, query: '?'}\n  - {id: own_check_1, query: '?', check: nobody}\n"
        "  - {id: own_check_2, query: '?', forbidden: f}\n"
    )
    path.write_text(f"category: own_check\ncheck: nobody\n{entries}", "utf-8")
    with pytest.raises(SuiteError) as caught:
        read_entries(path, "mine")
    assert re.findall(r"yaml:(\d): (\S+): ", str(caught.value)) == [
        ("2", "check"),
        ("5", "entries.1.check"),
        ("6", "entries.2.forbidden"),
    ]


def test_each_error_alone_is_told_as_among_others(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(MANY, "utf-8")
    with pytest.raises(SuiteError) as caught:
        read_entries(path, "mine")
    lines = MANY.splitlines()
    for told in str(caught.value).splitlines():
        number = int(told.removeprefix(f"{path}:").partition(":")[0])
        # Blank lines keep the numbers of the others.
        alone = [text if n in (*range(1, 5), 8, 10, number) else "" for n, text in enumerate(lines, 1)]
        if number in (5, 7):
            alone[4:6] = lines[4:6] if number == 5 else ["", ""]
            del alone[8:]
            alone[7] = "entries: []"
        path.write_text("\n".join(alone), "utf-8")
        with pytest.raises(SuiteError) as only:
            read_entries(path, "mine")
        rule = told.partition(": ")[2].partition(": ")[2]
        assert rule in str(only.value)


def test_no_more_than_twenty_errors_are_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    entries = "".join(f"  - {{id: chatable_{n}, query: {n}}}\n" for n in range(40))
    path.write_text(f"category: chatable\nentries:\n{entries}", "utf-8")
    with pytest.raises(SuiteError) as caught:
        read_entries(path, "mine")
    *told, last = str(caught.value).splitlines()
    assert [line.split(":")[1] for line in told] == [str(n) for n in range(3, 23)]
    assert last == "there are more errors; correct these first"


TURNS = """\
category: multi_turn_base
functions:
  - {name: mkdir, description: M., parameters: {type: dict, properties: {}, required: [name]}}
  - {name: cd, description: C., parameters: {type: dict, properties: {}, required: [path]}}
entries:
  - {id: multi_turn_base_0, domains: {file_system: {}}, turns: [{user: Go., calls: []}]}
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (TURNS, ["3", "4"]),
        (SQL.replace("[1, Petrel]", "[1]").replace("[db.run]", "[db.walk]"), ["15", "19"]),
    ],
    ids=["function docs", "tables and entries"],
)
def test_errors_in_two_parts_of_a_file_are_both_told(tmp_path: Path, text: str, lines: list[str]) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(SuiteError) as caught:
        read_entries(path, "mine")
    assert re.findall(r"yaml:(\d+): ", str(caught.value)) == lines


def test_a_function_is_no_error_where_its_only_entry_has_one(tmp_path: Path) -> None:
    """The file is read again without the entry, so that no entry has the function's domain."""
    path = tmp_path / "mine.yaml"
    doc = "{name: mkdir, description: M., parameters: {type: dict, properties: {}, required: []}}"
    entry = "{id: multi_turn_base_0, domains: {file_system: {}}, turns: [{user: Go., calls: [nothing()]}]}"
    path.write_text(f"category: multi_turn_base\nfunctions: [{doc}]\nentries: [{entry}]\n", "utf-8")
    with pytest.raises(SuiteError) as caught:
        read_entries(path, "mine")
    assert str(caught.value).count("\n") == 0
    assert "unknown function 'nothing'" in str(caught.value)


FOLDER = Path(core.__file__).parent
WRITTEN = sorted(path for path in FOLDER.glob("*.yaml") if b"\nentries:" in path.read_bytes())
VALIDATOR = jsonschema.Draft202012Validator(generate_entry_schema())
LINE = jsonschema.Draft202012Validator(generate_entry_schema(lines=True))


def test_it_is_a_schema() -> None:
    VALIDATOR.check_schema(generate_entry_schema())
    LINE.check_schema(generate_entry_schema(lines=True))


@each_case("path", WRITTEN, ids=lambda path: path.stem)
def test_everything_of_ours_is_valid(path: Path) -> None:
    VALIDATOR.validate(read_yaml(path))


def test_every_category_is_among_ours_or_made() -> None:
    def read_category(path: Path) -> str:
        value = read_yaml(path)
        assert isinstance(value, dict)
        return str(value["category"])

    left = set(entry_files.file_categories()) - {read_category(path) for path in WRITTEN}
    assert left == {
        *("multi_turn_miss_func", "multi_turn_long_context", "multi_turn_composite"),
        # Of a team's own suites only.
        *("next_call", "next_reply", "own_check", "mcp", "server_check"),
    }


def shorten_file(path: Path) -> dict[str, Any]:
    """Read the file with its first entries alone."""
    value = read_yaml(path)
    assert isinstance(value, dict)
    return {**value, "entries": value["entries"][:4]}


_FREE = ("domains", "reply", "call", "expect", "rows", "default", "enum", "response", "where")
"""Below these a file says what nobody but the reader can know."""


def _list_places(value: object, way: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path to every value, as far as a schema describes it."""
    yield way
    if way and way[-1] in _FREE:
        return
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _list_places(member, (*way, key))
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from _list_places(element, (*way, index))


def _spoil_value(value: Any, way: tuple[str | int, ...], draw: Random) -> object:
    """Make a mistake at a place: something is gone, misspelt, doubled or of another type."""
    if not way:
        return draw.choice([None, 7, "text", [], {}, True, 2.5])
    value = copy.copy(value)
    assert isinstance(value, (dict, list))
    here: Any = way[0]
    rest, kind = way[1:], draw.randrange(4)
    member = value[here]
    if rest or kind == 0:
        value[here] = _spoil_value(member, rest, draw)
    elif isinstance(value, dict) and kind == 1:
        value[f"{here}x"] = value.pop(str(here))
    elif isinstance(value, dict):
        value[f"{here}_more"] = member
    else:
        del value[here]
    return value


def _read_entries(value: object, folder: Path) -> None:
    path = folder / "changed.yaml"
    path.write_text(json.dumps(value))
    entry_files.read_entries(path, "mine", core.make_world())


@pytest.mark.few(4)
@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_what_the_schema_refuses_the_reader_refuses_too(path: Path, tmp_path: Path) -> None:
    for used in FOLDER.glob("booking_*.yaml"):
        (tmp_path / used.name).write_bytes(used.read_bytes())
    whole, draw = shorten_file(path), Random(path.stem)
    places = [place for place in _list_places(whole) if place]
    refused = 0
    for place in draw.sample(places, min(len(places), 60)):
        changed = _spoil_value(whole, place, draw)
        if VALIDATOR.is_valid(changed):
            continue
        refused += 1
        with pytest.raises(SuiteError, match=r"/changed\.yaml(:\d+)?: \w"):
            _read_entries(changed, tmp_path)
    assert refused


MISTAKES: dict[str, tuple[str, str, object, str]] = {
    "no category": ("simple_python", "category", None, "file: has no 'category'"),
    "another category": (
        "simple_python",
        "category",
        "simple_pyton",
        "category: unknown category 'simple_pyton'. Did you mean 'simple_python'",
    ),
    "no id": ("simple_python", "entries.0.id", None, "entries.0: has no 'id'"),
    "an id that is a number": (
        "simple_python",
        "entries.0.id",
        7,
        "entries.0.id: must be text, not int 7; put it in quotes",
    ),
    "no question": ("multiple", "entries.1.query", None, "entries.1: needs either 'query' or 'messages'"),
    "an unknown key": (
        "parallel",
        "entries.0.hint",
        "x",
        "entries.0.hint: unknown key 'hint'. Valid: id, functions, expect, ",
    ),
    "two calls in one": (
        "parallel",
        "entries.0.expect.0",
        {"a": {}, "b": {}},
        "entries.0.expect.0: must have exactly one name, not 2",
    ),
    "no turns": ("multi_turn_base", "entries.0.turns", [], "entries.0.turns: must have at least one element"),
    "no calls": ("multi_turn_base", "entries.0.turns.0.calls", None, "entries.0.turns.0: has no 'calls'"),
    "a turn before the first": (
        "multi_turn_base",
        "entries.0.withhold",
        {"turn": -1, "functions": ["cp"]},
        "entries.0.withhold.turn: must be the index of a turn, from 0",
    ),
    "no tables": ("sql", "tables", None, "file: has no 'tables'"),
    "functions for words": (
        "chatable",
        "functions",
        [],
        "functions: unknown key 'functions'. Valid: category, entries, check.",
    ),
    "no steps": ("hotels", "entries.0.steps", [], "entries.0.steps: must have at least one element"),
    "a step without reply": (
        "hotels",
        "entries.0.steps.0.0.reply",
        None,
        "entries.0.steps.0.0: has no 'reply'",
    ),
    "an unknown way of comparing": (
        "exec_simple",
        "entries.0.expect.0",
        {"call": "a()", "kind": "exact"},
        "entries.0.expect.0.kind: unknown kind 'exact'. Did you mean 'exact_match'? "
        "Valid: exact_match, real_time_match, structural_match.",
    ),
    "no endpoint": ("rest", "entries.0.endpoint", None, "entries.0: has no 'endpoint'"),
    "an id without its kind": (
        "memory_flat",
        "entries.0.id",
        "flat",
        "entries.0.id: 'flat' must begin with 'memory_', for which each kind of memory stands",
    ),
    "nobody said it": (
        "memory_flat",
        "entries.0.questions.0.said",
        [],
        "entries.0.questions.0.said: must have at least one element",
    ),
    "no answer": ("web_search", "entries.0.answers", [], "entries.0.answers: must have at least one element"),
    "a trail of nothing": (
        "web_search",
        "entries.0.trail",
        [],
        "entries.0.trail: must have at least one element",
    ),
}


MISTAKES_OF_VALUES: dict[str, tuple[str, str, object, str]] = {
    "no accepted value": (
        "simple_python",
        "entries.0.expect.0",
        {"set_timer": {"minutes": []}},
        "entries.0.expect.0.set_timer.minutes: must have at least one element",
    ),
    "an unknown type": (
        "simple_python",
        "functions.0.parameters.type",
        "dictionary",
        "functions.0: not a valid JSON Schema: type: 'dictionary' is not valid under any",
    ),
}
"""Mistakes that the schema cannot see: a value may have any form, and a doc may be a tool of an interface."""


@each_case(("name", "place", "value", "reason"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_seen_by_both(name: str, place: str, value: object, reason: str, tmp_path: Path) -> None:
    assert not VALIDATOR.is_valid(_read_changed(name, place, value, reason, tmp_path))


@pytest.mark.parametrize(
    ("name", "place", "value", "reason"), MISTAKES_OF_VALUES.values(), ids=MISTAKES_OF_VALUES
)
def test_mistakes_of_values_are_seen_by_the_reader(
    name: str, place: str, value: object, reason: str, tmp_path: Path
) -> None:
    _read_changed(name, place, value, reason, tmp_path)


def _read_changed(name: str, place: str, value: object, reason: str, tmp_path: Path) -> object:
    """Read a file of ours with a mistake, which is refused for a reason, and return its content."""
    for used in FOLDER.glob("booking_*.yaml"):
        (tmp_path / used.name).write_bytes(used.read_bytes())
    whole = copy.deepcopy(shorten_file(FOLDER / f"{name}.yaml"))
    VALIDATOR.validate(whole)
    _read_entries(whole, tmp_path)
    here: Any = whole
    *way, last = place.split(".")
    for key in way:
        here = here[int(key) if isinstance(here, list) else key]
    if value is None:
        del here[last]
    else:
        here[int(last) if isinstance(here, list) else last] = value
    with pytest.raises(SuiteError, match=re.escape(f"changed.yaml:1: {reason}")):
        _read_entries(whole, tmp_path)
    return whole


def test_a_line_has_all_in_one_object(tmp_path: Path) -> None:
    for line in LINES:
        LINE.validate(line)
        assert not VALIDATOR.is_valid(line)
        (tmp_path / "lines.jsonl").write_text(json.dumps({**line, "id": 7}))
        assert not LINE.is_valid({**line, "id": 7})
        with pytest.raises(
            SuiteError, match=r"lines\.jsonl:1: entries\.0\.id: must be text, not int 7; put it in quotes"
        ):
            _load_suite(tmp_path / "lines.jsonl")
        assert not LINE.is_valid({key: value for key, value in line.items() if key != "id"})


@each_case("path", WRITTEN, ids=lambda path: path.stem)
def test_our_entries_are_valid_as_lines(path: Path, tmp_path: Path) -> None:
    value = shorten_file(path)
    for used in FOLDER.glob("booking_*.yaml"):
        (tmp_path / used.name).write_bytes(used.read_bytes())
    entries, functions = value.pop("entries"), value.pop("functions", [])
    if path.stem in ("hotels", "flights", "car_rental", "attraction", "cross") and functions:
        (tmp_path / "own.yaml").write_text(json.dumps({"functions": functions}))
        value["uses"] = [*value.get("uses", []), "own.yaml"]
        functions = []
    docs = {doc["name"]: doc for doc in functions}
    lines = []
    for entry in entries:
        if docs:
            entry = {**entry, "functions": [docs.get(str(name), name) for name in entry["functions"]]}
        lines.append({**value, **entry})
        LINE.validate(lines[-1])
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, lines)))
    _load_suite(tmp_path / "lines.jsonl")


def _load_suite(path: Path) -> None:
    suite = open_own("mine", path)
    for category in suite.categories:
        suite.load(category)
