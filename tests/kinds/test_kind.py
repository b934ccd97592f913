"""The calls of a right answer to an entry of each kind, and the answer itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.presenting import Wording
from pytest_fcbench.domain.entry import Entry, Expectation, Message
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting, Reasoning
from pytest_fcbench.domain.transcript import (
    MOST_CALLS,
    AskModel,
    Call,
    CallFunctions,
    CallingConversation,
    CallResults,
    Completion,
    Conversation,
    Fault,
    PathSettings,
    Step,
    ToolCall,
    Transcript,
)
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.environments.world import Sentences, World
from pytest_fcbench.kinds.answers.verdict import Answers, Facts
from pytest_fcbench.kinds.execution.verdict import ExpectedResponse, ExpectedResults, ResultRule
from pytest_fcbench.kinds.kind import (
    ABSTENTION,
    DONE,
    ConversationContext,
    RightAnswer,
    RightCalls,
    carry_out_calls,
    converse,
    put_turns,
)
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.suites.registry import open_suite
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_golden_path, make_multi_turn, tool_calls
from tests.kinds.asked import collect_requests
from tests.mcp_servers.made import make_server_entry

DOC = make_doc("add", {"a": {"type": "integer"}, "b": {"type": "integer"}}, ["a"])
ADD, SEARCH = Call("add", {"a": 1, "b": 2}), Call("search_engine_query", {"keywords": "rain"})
TALK = make_multi_turn(("Add.", ["add(1, 2)", "no call"]), ("Wait.", []), functions=[DOC])


def _make_entry(category: str, truth: Expectation) -> Entry:
    return replace(make_entry(category, functions=[DOC]), expectation=truth)


@each_case(
    ("entry", "calls"),
    [
        pytest.param(
            make_entry(functions=[DOC], expect=[{"add": {"a": [1, 7], "b": [2, ""]}}]),
            [[[Call("add", {"a": 1})]]],
            id="the first accepted values",
        ),
        pytest.param(make_entry("irrelevance"), [], id="no call"),
        pytest.param(make_entry("live_relevance"), [], id="any call"),
        pytest.param(TALK, [[[ADD]], [[]]], id="texts by turn, but for those that are no calls"),
        pytest.param(
            make_server_entry(("Count.", ["put-goods(name='tea', count=2)"])),
            [[[Call("put-goods", {"name": "tea", "count": 2})]]],
            id="names of tools",
        ),
        pytest.param(
            make_golden_path([("f", {}, 0), ("g", {}, 0)], [("h", {}, 0)]),
            [[[Call("f", {}), Call("g", {})], [Call("h", {})]]],
            id="steps of a path",
        ),
        pytest.param(
            _make_entry("exec_simple", ExpectedResults(("add(1, b=2)",), (ResultRule.EXACT,))),
            [[[ADD]]],
            id="calls that are carried out",
        ),
        pytest.param(
            _make_entry("rest", ExpectedResponse("requests.get(url='u')")),
            [[[Call("requests.get", {"url": "u"})]]],
            id="a request",
        ),
        pytest.param(
            _make_entry("web_search_base", Answers(("wet",), (("search_engine_query(keywords='rain')",),))),
            [[[SEARCH]]],
            id="the trail to an answer",
        ),
        pytest.param(_make_entry("memory_kv", Answers(("wet",))), [], id="an answer without a trail"),
        pytest.param(_make_entry("memory_kv", Facts((("It is wet",),))), [], id="facts to keep"),
    ],
)
def test_right_calls_by_turn_and_step(entry: Entry, calls: RightCalls) -> None:
    assert [*find_kind(entry).list_right_calls(entry)] == calls


@each_case(
    ("turn", "step", "answer"),
    [
        (0, 0, RightAnswer([ADD])),
        (0, 1, RightAnswer((), DONE)),
        (1, 0, RightAnswer([], ABSTENTION)),
        (2, 0, RightAnswer((), ABSTENTION)),
    ],
)
def test_a_turn_is_answered_by_its_calls_and_then_by_words(turn: int, step: int, answer: RightAnswer) -> None:
    assert find_kind(TALK).answer_rightly(TALK, AskModel((), (), turn, step)) == answer


def test_facts_are_kept_before_words_are_said() -> None:
    entry = _make_entry("memory_rec_sum", Facts((("It is wet",),)))
    answers = [find_kind(entry).answer_rightly(entry, AskModel((), step=step)) for step in (0, 1)]
    assert answers == [
        RightAnswer([Call("memory_append", {"text": "It is wet\n"})], DONE),
        RightAnswer((), DONE),
    ]


FC = ModelPresentation("gpt", Prompting.make_default(Mode.FC))
PROMPT = ModelPresentation("gpt", Prompting.make_default(Mode.PROMPT))
MANNERS = pytest.mark.parametrize("manner", [FC, PROMPT], ids=["fc", "prompt"])

CARRIED_OUT = Completion(text="Done.")


@pytest.fixture(scope="module")
def wording() -> Wording:
    return open_suite("core", Path("no cache is needed")).wording


# One turn


@MANNERS
def test_it_asks_as_the_codec_shows_the_entry(wording: Wording, manner: ModelPresentation) -> None:
    entry = make_entry()
    request = next(put_turns(entry, manner, wording))
    assert request == presenting.build_first_request(entry, wording, manner.prompting)
    assert isinstance(request, AskModel)
    assert bool(request.tools) is (manner.prompting.mode is Mode.FC)
    assert request.messages[-1] == {"role": "user", "content": "What will the weather in Bergen be?"}


@MANNERS
def test_a_preamble_is_system_text_behind_the_system_prompt(
    wording: Wording, manner: ModelPresentation
) -> None:
    request = next(put_turns(make_entry(), manner, wording, "You are in Bergen."))
    assert isinstance(request, AskModel)
    first, *rest = request.messages
    text = str(first["content"])
    assert first["role"] == "system"
    if manner is FC:
        assert text == "You are in Bergen."
    else:
        assert text.endswith("\n\nYou are in Bergen.")
    assert rest == [{"role": "user", "content": "What will the weather in Bergen be?"}]


@MANNERS
@each_case(
    "completion",
    [
        Completion(text="Sunny."),
        Completion(text="[weather.forecast(city='Bergen')]"),
        Completion(tool_calls=(ToolCall("weather_forecast", "{"),)),
        Completion(tool_calls=(ToolCall("weather_forecast", "{}"),)),
        Completion(fault=Fault.OVERFLOW),
        Completion(),
    ],
    ids=["text", "call as text", "broken tool call", "tool call", "overflow", "nothing"],
)
def test_one_turn_ends_with_the_answer_whatever_that_is(
    wording: Wording, manner: ModelPresentation, completion: Completion
) -> None:
    demands, transcript = _send_replies(put_turns(make_entry(), manner, wording), completion)
    assert len(demands) == 1
    assert transcript == Transcript(
        entry="core:simple_python_0",
        model="gpt",
        prompting=manner.prompting,
        turns=((Step(completion),),),
    )
    assert transcript.last is completion
    assert transcript.completions == (completion,)


# Several turns

SHELF = make_doc("put", {"item": {"type": "string"}, "shelf": {"type": "integer"}}, ["item"])
LADDER = make_doc("climb", {}, [])
ENTRY = make_multi_turn(("Put the jar away.", ["put(item='jar')"]), ("Thank you.", []), functions=[SHELF])


def _send_replies(
    conversation: CallingConversation, *replies: Completion | CallResults
) -> tuple[list[AskModel | CallFunctions], Transcript | None]:
    """Return the demands of a conversation that is sent these replies, and its transcript if it ends."""
    demands = [next(conversation)]
    for number, reply in enumerate(replies, 1):
        try:
            demands.append(conversation.send(reply))
        except StopIteration as ended:
            assert number == len(replies), f"it ended after {number} replies"
            return demands, ended.value
    return demands, None


def _put_away(manner: ModelPresentation, *items: str) -> Completion:
    """Make an answer that puts these things away."""
    if manner.prompting.mode is Mode.FC:
        return tool_calls(*(("put", f'{{"item": "{item}"}}') for item in items))
    calls = [f"put(item='{item}')" for item in items]
    return Completion(text=f"[{', '.join(calls)}]")


def _select_requests(demands: Sequence[AskModel | CallFunctions]) -> list[AskModel]:
    return [demand for demand in demands if isinstance(demand, AskModel)]


def _list_places(demands: Sequence[AskModel | CallFunctions]) -> list[tuple[int, int]]:
    """List turn and step of each request."""
    return [(request.turn, request.step) for request in _select_requests(demands)]


@MANNERS
def test_a_turn_goes_on_while_there_are_calls(wording: Wording, manner: ModelPresentation) -> None:
    first, second = _put_away(manner, "jar"), _put_away(manner, "cup", "lid")
    replies = (
        first,
        CallResults(("on 1",)),
        second,
        CallResults(("on 2", "on 3")),
        CARRIED_OUT,
        Completion(text="Bye."),
    )
    demands, transcript = _send_replies(put_turns(ENTRY, manner, wording), *replies)
    assert [demand for demand in demands if isinstance(demand, CallFunctions)] == [
        CallFunctions(("put(item='jar')",)),
        CallFunctions(("put(item='cup')", "put(item='lid')")),
    ]
    assert _list_places(demands) == [(0, 0), (0, 1), (0, 2), (1, 0)]
    assert transcript is not None
    assert transcript.turns == (
        (
            Step(first, ("put(item='jar')",), ("on 1",)),
            Step(second, ("put(item='cup')", "put(item='lid')"), ("on 2", "on 3")),
            Step(CARRIED_OUT),
        ),
        (Step(Completion(text="Bye.")),),
    )
    assert transcript.answers == ((first, second, CARRIED_OUT), (Completion(text="Bye."),))
    assert transcript.last == Completion(text="Bye.")


@MANNERS
def test_a_model_in_a_loop_has_only_so_many_calls_carried_out(
    wording: Wording, manner: ModelPresentation
) -> None:
    half = _put_away(manner, *["jar"] * (MOST_CALLS // 2))
    done = CallResults(("on 1",) * (MOST_CALLS // 2))
    one = _put_away(manner, "cup")
    demands, transcript = _send_replies(put_turns(ENTRY, manner, wording), half, done, half, done, one)
    assert sum(len(demand.calls) for demand in demands if isinstance(demand, CallFunctions)) == MOST_CALLS
    assert transcript is not None
    assert [step.completion.fault for turn in transcript.turns for step in turn] == [
        None,
        None,
        Fault.TOO_LARGE,
    ]


def test_answers_that_no_server_sent_get_ids_of_our_own(wording: Wording) -> None:
    """Each request is the one before and more."""
    both = Completion(
        text="Both.",
        tool_calls=(ToolCall("put", '{"item":  "jar"}', "theirs"), ToolCall("put", {"item": "cup"})),
    )
    replies = (both, CallResults(("on 1", "")), _put_away(FC, "lid"), CallResults(("on 2",)), CARRIED_OUT)
    demands, transcript = _send_replies(put_turns(ENTRY, FC, wording), *replies)
    assert transcript is None
    messages: list[Mapping[str, object]] = [{"role": "user", "content": "Put the jar away."}]
    expected = [tuple(messages)]
    for more in (
        [
            _make_message("Both.", ("t00s00c00", '{"item":  "jar"}'), ("t00s00c01", '{"item": "cup"}')),
            {"role": "tool", "tool_call_id": "t00s00c00", "content": "on 1"},
            {"role": "tool", "tool_call_id": "t00s00c01", "content": ""},
        ],
        [
            _make_message(None, ("t00s01c00", '{"item": "lid"}')),
            {"role": "tool", "tool_call_id": "t00s01c00", "content": "on 2"},
        ],
        [_make_message("Done."), {"role": "user", "content": "Thank you."}],
    ):
        messages += more
        expected.append(tuple(messages))
    assert [request.messages for request in _select_requests(demands)] == expected
    first, *later = _select_requests(demands)
    assert all(request.tools == first.tools for request in later)


def _make_message(text: str | None, *calls: tuple[str, str]) -> Mapping[str, object]:
    """Make a message of the model, its calls by id and arguments."""
    message: dict[str, object] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": "put", "arguments": arguments}}
            for call_id, arguments in calls
        ]
    return message


def test_in_prompting_results_are_one_message_of_the_user(wording: Wording) -> None:
    replies = (_put_away(PROMPT, "jar", "cup"), CallResults(("it's on 1", "{}")), CARRIED_OUT)
    demands, _ = _send_replies(put_turns(ENTRY, PROMPT, wording), *replies)
    first, second, third = _select_requests(demands)
    shown = (
        """[{'role': 'tool', 'name': "put(item='jar')", 'content': "it's on 1"}, """
        """{'role': 'tool', 'name': "put(item='cup')", 'content': '{}'}]"""
    )
    assert second.messages == (
        *first.messages,
        {"role": "assistant", "content": "[put(item='jar'), put(item='cup')]"},
        {"role": "user", "content": shown},
    )
    assert third.messages == (
        *second.messages,
        _make_message("Done."),
        {"role": "user", "content": "Thank you."},
    )
    assert {request.tools for request in _select_requests(demands)} == {()}


@MANNERS
def test_all_that_is_said_in_a_later_turn_is_asked(wording: Wording, manner: ModelPresentation) -> None:
    later = (Message("system", "Be brief."), Message("user", "Well?"))
    entry = replace(ENTRY, turns=(*ENTRY.turns[:1], later))
    demands, _ = _send_replies(put_turns(entry, manner, wording), CARRIED_OUT)
    assert _select_requests(demands)[1].messages[-2:] == (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Well?"},
    )


@each_case(
    ("manner", "completion"),
    [
        pytest.param(FC, Completion(text="put(item='jar')"), id="fc-text"),
        pytest.param(FC, Completion(text=""), id="fc-empty text"),
        pytest.param(FC, Completion(tool_calls=()), id="fc-no calls"),
        pytest.param(FC, Completion(), id="fc-nothing"),
        pytest.param(PROMPT, Completion(text="It is put away."), id="prompt-text"),
        pytest.param(PROMPT, Completion(text="[]"), id="prompt-empty list"),
        pytest.param(PROMPT, Completion(text="[put(item='jar'"), id="prompt-unreadable"),
        pytest.param(PROMPT, Completion(), id="prompt-nothing"),
    ],
)
def test_an_answer_without_calls_ends_the_turn(
    wording: Wording, manner: ModelPresentation, completion: Completion
) -> None:
    demands, transcript = _send_replies(put_turns(ENTRY, manner, wording), completion, completion)
    assert demands == _select_requests(demands)
    assert _list_places(demands) == [(0, 0), (1, 0)]
    assert _select_requests(demands)[1].messages[-2:] == (
        {"role": "assistant", "content": completion.text or ""},
        {"role": "user", "content": "Thank you."},
    )
    assert transcript is not None
    assert transcript.turns == ((Step(completion),), (Step(completion),))


@each_case(
    "calls",
    [
        pytest.param((("put", "{"),), id="no JSON"),
        pytest.param((("put", "[1]"),), id="a list"),
        pytest.param((("put", ""),), id="nothing"),
        pytest.param((("put", '{"item": "jar"}'), ("put", "{")), id="the second of two"),
    ],
)
def test_tool_calls_that_cannot_be_read_are_told_so_and_end_the_turn(
    wording: Wording, calls: Sequence[tuple[str, object]]
) -> None:
    """Where no server sent them; what a server sent is not answered (the test below)."""
    broken = tool_calls(*calls)
    demands, transcript = _send_replies(put_turns(ENTRY, FC, wording), broken, broken)
    assert demands == _select_requests(demands)
    assert _list_places(demands) == [(0, 0), (1, 0)]
    first, second = _select_requests(demands)
    (made, *told, thanks) = second.messages[len(first.messages) :]
    assert made == presenting.build_assistant_message(broken, presenting.select_tool_calls(broken), 0, 0)
    assert [message["tool_call_id"] for message in told] == [f"t00s00c0{n}" for n in range(len(calls))]
    says = "Error: the calls of this message cannot be read, so none was carried out."
    assert {(message["role"], message["content"]) for message in told} == {("tool", says)}
    assert thanks == {"role": "user", "content": "Thank you."}
    assert transcript is not None
    assert transcript.turns == ((Step(broken),), (Step(broken),))


def test_calls_of_a_server_that_cannot_be_read_end_the_turn_without_an_answer(wording: Wording) -> None:
    """Officially nothing answers them, and the next turn follows at once."""
    sent = {"role": "assistant", "content": None, "tool_calls": [{"id": "theirs"}], "audio": None}
    broken = replace(tool_calls(("put", "{")), message=sent)
    demands, _ = _send_replies(put_turns(ENTRY, FC, wording), broken, broken)
    first, second = _select_requests(demands)
    assert second.messages[len(first.messages) :] == (sent, {"role": "user", "content": "Thank you."})


def test_messages_of_a_server_are_repeated_with_their_ids(wording: Wording) -> None:
    sent = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "The shelf is near.",
        "tool_calls": [{"id": "theirs", "type": "function", "function": {"name": "put", "arguments": "{}"}}],
    }
    calling = replace(tool_calls(("put", "{}")), message=sent)
    demands, _ = _send_replies(put_turns(ENTRY, FC, wording), calling, CallResults(("on 1",)))
    first, second = _select_requests(demands)
    result = {"role": "tool", "tool_call_id": "theirs", "content": "on 1"}
    assert second.messages[len(first.messages) :] == (sent, result)
    stripping = replace(FC, reasoning=Reasoning.STRIP)
    demands, _ = _send_replies(put_turns(ENTRY, stripping, wording), calling, CallResults(("on 1",)))
    _, second = _select_requests(demands)
    left = {name: value for name, value in sent.items() if name != "reasoning_content"}
    assert second.messages[len(first.messages) :] == (left, result)


@MANNERS
@each_case(
    "answer",
    [
        pytest.param(Completion(tool_calls=("So.", ToolCall("put", "{}"))), id="a text part among them"),
        pytest.param(Completion(tool_calls=("So.", "put()")), id="text parts only"),
        pytest.param(
            Completion(text="[put(), put()]", tool_calls=(ToolCall("put", "{}"),)),
            id="calls in the text beside",
        ),
        pytest.param(Completion(text="So.", tool_calls=(ToolCall("put", "{}"),)), id="prose beside"),
    ],
)
def test_each_tool_call_that_is_shown_has_its_result(
    wording: Wording, manner: ModelPresentation, answer: Completion
) -> None:
    """Whatever stands beside it; where calls are read from the text none is shown."""
    conversation = put_turns(ENTRY, manner, wording)
    next(conversation)
    demand = conversation.send(answer)
    if isinstance(demand, CallFunctions):
        demand = conversation.send(CallResults(("on 1",) * len(demand.calls)))
    assert isinstance(demand, AskModel)
    assert _list_result_ids(demand) == _list_call_ids(demand)
    shown = manner is FC and any(isinstance(part, ToolCall) for part in answer.tool_calls or ())
    assert _list_call_ids(demand) == (["t00s00c00"] if shown else [])


def _list_call_ids(request: AskModel) -> list[object]:
    made = [message.get("tool_calls", []) for message in request.messages]
    return [call["id"] for calls in made if isinstance(calls, list) for call in calls]


def _list_result_ids(request: AskModel) -> list[object]:
    return [message["tool_call_id"] for message in request.messages if message["role"] == "tool"]


def test_in_a_syntax_of_the_models_own_results_are_a_message_of_the_user(wording: Wording) -> None:
    """Tools are offered, calls are text."""
    hermes = replace(FC, prompting=replace(FC.prompting, syntax="hermes"))
    calling = Completion(text='<tool_call>\n{"name": "put", "arguments": {"item": "jar"}}\n</tool_call>')
    demands, _ = _send_replies(put_turns(ENTRY, hermes, wording), calling, CallResults(("on 1",)))
    first, called, second = demands
    assert isinstance(first, AskModel)
    assert first.tools
    assert called == CallFunctions(("put(item='jar')",))
    assert isinstance(second, AskModel)
    shown = """[{'role': 'tool', 'name': "put(item='jar')", 'content': 'on 1'}]"""
    assert second.messages[1:] == (
        {"role": "assistant", "content": calling.text},
        {"role": "user", "content": shown},
    )


# Functions that come late

LATE = make_multi_turn(
    ("Put the jar on the top shelf.", []),
    ("", ["climb()", "put(item='jar', shelf=9)"]),
    ("Thank you.", []),
    category="multi_turn_miss_func",
    functions=[SHELF],
    withheld={1: [LADDER]},
)


def test_in_function_calling_late_functions_come_as_tools(wording: Wording) -> None:
    demands, transcript = _send_replies(put_turns(LATE, FC, wording), CARRIED_OUT, CARRIED_OUT, CARRIED_OUT)
    first, second, third = _select_requests(demands)
    assert transcript is not None
    assert (
        first.tools + presenting.build_late_functions_request([LADDER], wording, FC.prompting).tools
        == second.tools
    )
    assert [_list_tool_names(request) for request in (first, second, third)] == [
        ["put"],
        *[["put", "climb"]] * 2,
    ]
    assert second.messages == (
        *first.messages,
        _make_message("Done."),
        {"role": "user", "content": wording.more_functions},
    )
    assert third.messages == (
        *second.messages,
        _make_message("Done."),
        {"role": "user", "content": "Thank you."},
    )


def _list_tool_names(request: AskModel) -> list[object]:
    functions = [tool["function"] for tool in request.tools]
    return [function["name"] for function in functions if isinstance(function, dict)]


def test_in_prompting_late_functions_are_told_by_the_user(wording: Wording) -> None:
    demands, _ = _send_replies(put_turns(LATE, PROMPT, wording), CARRIED_OUT, CARRIED_OUT)
    first, second, third = _select_requests(demands)
    assert "climb" not in str(first.messages)
    (said,) = presenting.build_late_functions_request([LADDER], wording, PROMPT.prompting).messages
    assert "climb" in str(said["content"])
    assert second.messages == (*first.messages, _make_message("Done."), said)
    assert third.messages[: len(second.messages)] == second.messages
    assert {request.tools for request in (first, second, third)} == {()}


# Conversations that end before their last turn


@MANNERS
@pytest.mark.parametrize(("steps", "goes_on"), [(20, True), (21, False)])
def test_more_than_twenty_steps_in_a_turn_end_the_conversation(
    wording: Wording, manner: ModelPresentation, steps: int, *, goes_on: bool
) -> None:
    replies = [
        reply for n in range(steps) for reply in (_put_away(manner, f"jar {n}"), CallResults((f"on {n}",)))
    ]
    more = (CARRIED_OUT, _put_away(manner, "cup"), CallResults(("on 1",)), CARRIED_OUT) if goes_on else ()
    demands, transcript = _send_replies(put_turns(ENTRY, manner, wording), *replies, *more)
    assert transcript is not None
    assert [len(turn) for turn in transcript.turns] == ([21, 2] if goes_on else [21])
    assert transcript.turns[0][19].results == ("on 19",)
    assert transcript.turns[0][20] == (
        Step(CARRIED_OUT)
        if goes_on
        else Step(_put_away(manner, "jar 20"), ("put(item='jar 20')",), ("on 20",))
    )
    assert _list_places(demands)[:21] == [(0, step) for step in range(21)]
    assert (transcript.entry, transcript.model) == (ENTRY.key, "gpt")
    assert transcript.prompting == manner.prompting


def test_a_driver_must_send_what_was_demanded(wording: Wording) -> None:
    conversation = put_turns(ENTRY, FC, wording)
    next(conversation)
    with pytest.raises(AssertionError, match=r"^a driver answers a question with a completion"):
        conversation.send(CallResults(("on 1",)))
    conversation = put_turns(ENTRY, FC, wording)
    next(conversation)
    conversation.send(_put_away(FC, "jar"))
    with pytest.raises(AssertionError, match=r"^a driver answers calls with results"):
        conversation.send(CARRIED_OUT)


@MANNERS
def test_calls_are_carried_out_in_environments_of_the_suite(manner: ModelPresentation) -> None:
    """The car of the suite ``core`` has 9.5 gallons in its tank."""
    functions = [make_doc("displayCarStatus", {"option": {"type": "string"}}, ["option"])]
    call = "displayCarStatus(option='fuel')"
    entry = make_multi_turn(("How much fuel is there?", [call]), functions=functions, domains=["vehicle"])
    suite = open_suite("core", Path("no cache is needed"))
    conversation = converse(entry, ConversationContext(manner, suite, PathSettings(Profile.OFFICIAL)))
    assert next(conversation) == presenting.build_first_request(entry, suite.wording, manner.prompting)
    answer = Completion(text=f"[{call}]")
    if manner is FC:
        answer = tool_calls(("displayCarStatus", '{"option": "fuel"}'))
    request = conversation.send(answer)
    assert '{"fuelLevel": 9.5}' in str(request.messages[-1]["content"])
    with pytest.raises(StopIteration) as ended:
        conversation.send(CARRIED_OUT)
    assert ended.value.value == Transcript(
        entry.key,
        "gpt",
        manner.prompting,
        ((Step(answer, (call,), ('{"fuelLevel": 9.5}',)), Step(CARRIED_OUT)),),
    )


@pytest.mark.parametrize(
    ("sentences", "mentioned"), [({"posting": {}}, '["@ida"]'), ({}, "[]")], ids=["official", "our own"]
)
def test_a_model_is_shown_that_tweets_share_their_mentions_only_officially(
    sentences: Mapping[str, Sentences], mentioned: str
) -> None:
    start = {"username": "ada", "password": "", "authenticated": True, "tweets": {}, "comments": {}}
    start |= {"retweets": {}, "following_list": [], "tweet_counter": 0}
    suite = open_suite("core", Path("no cache is needed"))
    suite = replace(suite, world=World(sentences=sentences, defaults={"posting": start}))
    entry = make_multi_turn(("Post it.", []), functions=[make_doc("post_tweet")], domains=["posting"])
    conversation = converse(entry, ConversationContext(PROMPT, suite, PathSettings(Profile.OFFICIAL)))
    next(conversation)
    calls = (
        "post_tweet(content='a'), mention(tweet_id=0, mentioned_usernames=['@ida']), post_tweet(content='b')"
    )
    request = conversation.send(Completion(text=f"[{calls}]"))
    shown = str(request.messages[-1]["content"]).rpartition('"content": "b"')[2]
    assert shown.startswith(f', "tags": [], "mentions": {mentioned}')


@MANNERS
@each_case("fault", Fault)
@each_case("calls_before", [0, 2])
def test_a_fault_ends_the_conversation(
    wording: Wording, manner: ModelPresentation, fault: Fault, calls_before: int
) -> None:
    """Also where its text could be read as a call."""
    replies = (_put_away(manner, "jar"), CallResults(("on 1",))) * calls_before
    broken = Completion(text="[put(item='cup')]", fault=fault)
    _, transcript = _send_replies(put_turns(ENTRY, manner, wording), *replies, broken)
    assert transcript is not None
    assert len(transcript.turns) == 1
    assert transcript.turns[0][-1] == Step(broken)
    assert len(transcript.turns[0]) == calls_before + 1


# Calls carried out by a function


@MANNERS
def test_carried_out_by_a_function_it_is_the_same_conversation(
    wording: Wording, manner: ModelPresentation
) -> None:
    answers = (_put_away(manner, "jar", "cup"), CARRIED_OUT, _put_away(manner, "lid"), CARRIED_OUT)
    replies = (
        answers[0],
        CallResults(("on 1", "on 2")),
        CARRIED_OUT,
        answers[2],
        CallResults(("on 3",)),
        CARRIED_OUT,
    )
    demands, transcript = _send_replies(put_turns(ENTRY, manner, wording), *replies)
    carried: list[Sequence[str]] = []
    shelves = count(1)

    def perform_calls(calls: Sequence[str]) -> tuple[str, ...]:
        carried.append(calls)
        return tuple(f"on {next(shelves)}" for _ in calls)

    asking = carry_out_calls(put_turns(ENTRY, manner, wording), perform_calls)
    asked = [next(asking)]
    for answer in answers[:-1]:
        asked.append(asking.send(answer))
    with pytest.raises(StopIteration) as ended:
        asking.send(answers[-1])
    assert ended.value.value == transcript
    assert asked == _select_requests(demands)
    assert carried == [demand.calls for demand in demands if isinstance(demand, CallFunctions)]


@MANNERS
def test_the_requests_of_a_conversation_with_given_answers(
    wording: Wording, manner: ModelPresentation
) -> None:
    """Where there is no answer, none."""

    def start_conversation() -> Conversation:
        return carry_out_calls(put_turns(ENTRY, manner, wording), lambda calls: ("on 1",) * len(calls))

    demands, _ = _send_replies(
        put_turns(ENTRY, manner, wording),
        _put_away(manner, "jar"),
        CallResults(("on 1",)),
        CARRIED_OUT,
        CARRIED_OUT,
    )
    answers = iter([_put_away(manner, "jar"), CARRIED_OUT, CARRIED_OUT])
    assert collect_requests(start_conversation(), lambda request: next(answers)) == _select_requests(demands)
    assert _list_places(_select_requests(demands)) == [(0, 0), (0, 1), (1, 0)]

    def refuse_answer(request: AskModel) -> Completion:
        raise NotScoredError("no_result", "nothing to say")

    with pytest.raises(NotScoredError, match=r"^nothing to say$"):
        collect_requests(start_conversation(), refuse_answer)


def test_of_a_single_turn_entry_nothing_is_carried_out(wording: Wording) -> None:
    def perform_calls(calls: Sequence[str]) -> tuple[str, ...]:
        raise AssertionError("nothing is to be carried out")

    entry = make_entry("parallel", functions=[SHELF], expect=[{"put": {"item": ["jar"]}}])
    asking = carry_out_calls(put_turns(entry, FC, wording), perform_calls)
    next(asking)
    with pytest.raises(StopIteration) as ended:
        asking.send(tool_calls(("put", '{"item": "jar"}')))
    assert [len(turn) for turn in ended.value.value.turns] == [1]
