"""In which way a request differs from the nearest one of an entry."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.server.body import Body
from pytest_fcbench.server.nearest import Expected, Questions, choose_nearest, describe_difference
from tests.cases import each_case
from tests.factories import make_entry, make_multi_turn
from tests.server.asking import Sent, read_sent

QUERY = "Convert 250 USD to JPY at the rate of today, please, and tell me the fee."
USER = {"role": "user", "content": QUERY}
SYSTEM = {"role": "system", "content": "Call functions: [convert, list_rates]"}
CALLED = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "convert"}}]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "37,000"}


def _make_tool(name: str, description: str = "Do it.", **parameters: str) -> Sent:
    properties = {each: {"type": kind} for each, kind in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": schema},
    }


CONVERT = _make_tool("convert", amount="number", to="string")
LIST_RATES = _make_tool("list_rates")
TOOLS = [CONVERT, LIST_RATES]


def _make_body(messages: Sequence[object] = (USER,), tools: object = TOOLS) -> Body:
    return read_sent({"messages": list(messages), "tools": tools})


FC = Expected("core:a", _make_body(), Mode.FC)
LATER = Expected("core:a", _make_body([USER, CALLED, RESULT]), Mode.FC)
PROMPT = Expected("core:a", _make_body([SYSTEM, USER], []), Mode.PROMPT)


# Messages


@each_case(
    ("messages", "says"),
    [
        (
            [{**USER, "content": QUERY.replace("fee", "cost")}],
            "messages[0].content is '...se, and tell me the cost.' where the entry has "
            "'...se, and tell me the fee.'",
        ),
        (
            [{**USER, "content": [{"type": "text", "text": "Hi"}]}],
            """messages[0].content is '[{"type": "text", "text": "Hi"}]' where the entry has """
            "'Convert 250 USD to JPY at the rate of today, please, and tel...'",
        ),
        ([{**USER, "name": "Ann"}], "messages[0].name is 'Ann' where the entry has nothing"),
        (
            [],
            "messages[0] is nothing where the entry has "
            """'{"role": "user", "content": "Convert 250 USD to JPY at the r...'""",
        ),
        (
            [USER, CALLED],
            """messages[1] is '{"role": "assistant", "tool_calls": [{"id": "call 1", "funct...' """
            "where the entry has nothing",
        ),
        (
            ["Hi"],
            "messages[0] is 'Hi' where the entry has "
            """'{"role": "user", "content": "Convert 250 USD to JPY at the r...'""",
        ),
    ],
)
def test_the_first_message_that_differs_is_shown(messages: Sequence[object], says: str) -> None:
    assert describe_difference(_make_body(messages), FC) == says


# Tools


@each_case(
    ("tools", "says"),
    [
        (
            [],
            "the request has no tools; the entry offers them in function-calling mode, "
            "and describes them in the system prompt in prompt mode",
        ),
        (
            [CONVERT],
            """tools[1] is nothing where the entry has '{"type": "function", "function": """
            """{"name": "list_rates", "des...'""",
        ),
        (
            [CONVERT, _make_tool("list_rates", "Do it now.")],
            "tools[1].function.description is 'Do it now.' where the entry has 'Do it.'",
        ),
        (
            [_make_tool("convert", amount="integer", to="string"), LIST_RATES],
            "tools[0].function.parameters.properties.amount.type is 'integer' where the entry has 'number'",
        ),
        (
            [CONVERT, {**LIST_RATES, "strict": True}],
            "tools[1].strict is 'true' where the entry has nothing",
        ),
        (
            [CONVERT, {**LIST_RATES, "strict": None}],
            "tools[1].strict is 'null' where the entry has nothing",
        ),
        ([{"name": "convert"}, LIST_RATES], "tools[0].function is nothing where the entry has "),
    ],
)
def test_the_first_difference_of_the_tools_is_told(tools: object, says: str) -> None:
    assert describe_difference(_make_body(tools=tools), FC).startswith(says)


def test_messages_are_told_before_tools() -> None:
    told = describe_difference(_make_body([{**USER, "content": "Hi"}], [CONVERT]), FC)
    assert told.startswith("messages[0].content is 'Hi' where the entry has 'Convert")
    assert "'; tools[1] is nothing where the entry has" in told


# Modes


def test_tools_beside_the_system_prompt_of_prompt_mode_are_told() -> None:
    assert describe_difference(_make_body([SYSTEM, USER]), PROMPT) == (
        "the request has tools beside the system prompt that describes them; in prompt mode leave the tools "
        "out, in function-calling mode the system prompt"
    )


def test_a_request_with_neither_tools_nor_system_prompt_is_told() -> None:
    assert describe_difference(_make_body([{**USER, "content": "Hi"}], []), PROMPT) == (
        "the request has neither the entry's tools nor, in their place, the system prompt that describes "
        "them ('Call functions: [convert, list_rates]')"
    )


def test_another_system_prompt_is_told() -> None:
    sent = _make_body([{**SYSTEM, "content": "Call functions!"}, USER], [])
    assert describe_difference(sent, PROMPT) == (
        "messages[0].content is 'Call functions!' where the entry has 'Call functions: [convert, list_rates]'"
    )


# The nearest request


@each_case(
    ("sent", "nearest"),
    [
        (_make_body([{**USER, "content": "Hi"}]), FC),
        (_make_body(tools=[]), FC),
        (_make_body([USER, CALLED, {**RESULT, "content": "1"}]), LATER),
        (_make_body([{**SYSTEM, "content": "Hi"}, USER], []), PROMPT),
        (_make_body([SYSTEM, USER]), PROMPT),
        (_make_body([{**USER, "content": "Hi"}], [CONVERT]), FC),
    ],
)
def test_the_request_with_most_in_common_is_the_nearest(sent: Body, nearest: Expected) -> None:
    assert choose_nearest(sent, [FC, LATER, PROMPT]) is nearest
    assert choose_nearest(sent, [PROMPT, LATER, FC]) is nearest


def test_of_requests_that_are_equally_near_the_first_is_chosen() -> None:
    twin = Expected("core:b", FC.body, Mode.FC)
    assert choose_nearest(_make_body([]), [twin, FC]) is twin


def test_nothing_is_nearest_among_none() -> None:
    assert choose_nearest(FC.body, []) is None


# The nearest entries

RATE, FEE = (make_entry(query=query, entry_id=query) for query in (QUERY, "What is the fee?"))
FLIGHTS = [
    make_entry(query=f"Book a flight from Bergen to Oslo on {day} May for two.", entry_id=f"flight {day}")
    for day in range(1, 9)
]
TALK = make_multi_turn((QUERY, []), ("What is the fee?", []), ("Thanks.", []), entry_id="talk")
ENTRIES = [RATE, FEE, *FLIGHTS, TALK]


def _find_nearest(*texts: object, entries: Sequence[Entry] = ENTRIES) -> list[str]:
    messages = [{"role": "user", "content": text} for text in texts]
    return [entry.id for entry in Questions(entries).find_nearest(_make_body(messages))]


@each_case(
    ("texts", "found"),
    [
        ([QUERY], [QUERY, "talk"]),
        (["What is the fee?", QUERY], ["talk"]),
        (["Thanks.", "Else"], ["talk"]),
        ([QUERY.replace("250", "260")], [QUERY, "talk"]),
        (
            ["Please book a flight from Bergen to Oslo on 7 May for two."],
            ["flight 7", "flight 1", "flight 2"],
        ),
        (["Tell me a joke."], []),
        ([""], []),
        ([[{"type": "text", "text": QUERY}]], []),
        ([], []),
    ],
)
def test_the_nearest_entries_have_the_same_or_a_similar_question(
    texts: Sequence[object], found: list[str]
) -> None:
    assert _find_nearest(*texts) == found


def test_only_the_words_of_users_count() -> None:
    questions = Questions(ENTRIES)
    assert questions.find_nearest(_make_body([{"role": "system", "content": QUERY}, "Hi"])) == []
