"""What a model is shown along a golden path, in both modes."""

from __future__ import annotations

import ast
import itertools
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders.registry import SYNTAXES
from pytest_fcbench.codecs.presenting import sanitise_name
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting, Reasoning
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    Fault,
    PathSettings,
    RecordedCall,
    Step,
    ToolCall,
)
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile
from pytest_fcbench.kinds.golden_path.kind import judge
from pytest_fcbench.kinds.golden_path.walk import get_golden_path
from pytest_fcbench.scorecard.record import build_record, from_json, to_json
from tests.cases import each_case
from tests.factories import tool_calls
from tests.kinds.golden_path.cases import make_path_entry
from tests.kinds.golden_path.talking import (
    CORRECTED,
    FC,
    OFFICIAL,
    PROMPT,
    hold_conversation,
    write_call,
)

BOTH = pytest.mark.parametrize("driven", [OFFICIAL, CORRECTED], ids=lambda driven: driven.profile)

REPLY = {"navn": "Tromsø", "ids": [1, 2]}
ENTRY = make_path_entry(
    [
        [RecordedCall.with_reply("Search_Hotel_Destination", {"query": "Tromsø"}, REPLY)],
        [
            RecordedCall.with_reply("Get_Hotel_Reviews(Tips)", {"hotel_id": "101"}, "fine"),
            RecordedCall.with_reply("Get_Hotel_Details", {"hotel_id": "1", "arrival_date": "d"}, None),
        ],
    ]
)
FIRST = [write_call("Search_Hotel_Destination", query="Tromsø")]
SECOND = [
    write_call("Get_Hotel_Details", hotel_id="1", arrival_date="d"),
    write_call("Get_Hotel_Reviews-Tips-", hotel_id="101"),
]


@each_case(
    ("name", "shown"),
    [
        ("Get_Hotel_Reviews(Tips)", "Get_Hotel_Reviews-Tips-"),
        ("a.b/ç", "a-b--"),
        ("x" * 70, "x" * 64),
        ("ok_1-2", "ok_1-2"),
    ],
)
def test_names_are_made_fit_for_interfaces(name: str, shown: str) -> None:
    assert sanitise_name(name, Mode.FC) == shown
    assert sanitise_name(name, Mode.PROMPT).isidentifier()


def test_the_first_request_has_the_question_and_every_function_as_a_tool() -> None:
    requests: list[AskModel] = []
    hold_conversation(ENTRY, [], requests=requests)
    (first,) = requests
    assert first.messages == ({"role": "user", "content": "Find me a bed."},)
    assert [tool["type"] for tool in first.tools] == ["function"] * 9
    shown = [tool["function"] for tool in first.tools]
    assert [doc["name"] for doc in shown if isinstance(doc, dict)] == [
        "Search_Hotel_Destination",
        "Search_Flight_Location",
        "Location_to_Lat_Long",
        "Taxi_Search_Location",
        "Search_Hotels",
        "Get_Hotel_Details",
        "Get_Hotel_Reviews-Tips-",
        "Get_Currency",
        "Search_Flights",
    ]
    assert [(doc["description"], doc["parameters"]) for doc in shown if isinstance(doc, dict)] == [
        (doc.description, doc.parameters) for doc in ENTRY.functions
    ]


@BOTH
def test_a_path_is_walked_by_tool_calls(driven: PathSettings) -> None:
    requests: list[AskModel] = []
    transcript = hold_conversation(ENTRY, [FIRST, SECOND], driven, requests=requests)
    assert [(request.turn, request.step) for request in requests] == [(0, 0), (0, 1), (0, 2)]
    assert (transcript.entry, transcript.model) == (ENTRY.key, "test")
    first, _, last = requests
    assert last.tools == first.tools
    _, called, replied, called_twice, *replies = last.messages
    assert called["role"] == called_twice["role"] == "assistant"
    assert replied["content"] == '{"navn": "Tromsø", "ids": [1, 2]}'
    assert [(reply["role"], reply["content"]) for reply in replies] == [("tool", "null"), ("tool", '"fine"')]
    made = called_twice["tool_calls"]
    assert isinstance(made, list)
    assert [reply["tool_call_id"] for reply in replies] == [one["id"] for one in made]
    assert transcript.turns[0][1] == Step(
        transcript.turns[0][1].completion,
        ("Get_Hotel_Details(hotel_id='1', arrival_date='d')", "Get_Hotel_Reviews_Tips_(hotel_id='101')"),
        ("null", '"fine"'),
    )
    assert transcript.driven == driven
    judgement = judge(ENTRY, transcript)
    assert judgement.official == judgement.corrected == Passed()


# What each official runner sends


BY_RUNNER = replace(ENTRY, expectation=replace(get_golden_path(ENTRY), by_runner=True))


def hold_by_runner(
    runner: str, text: str | None, manner: ModelPresentation = FC
) -> tuple[AskModel, AskModel]:
    """Return the first two requests of a runner; the first answer is this text beside a call."""
    requests: list[AskModel] = []
    calls = (ToolCall(*FIRST[0]),) if manner is FC else None
    answers = [Completion(text=text, tool_calls=calls)]
    hold_conversation(
        BY_RUNNER, answers, PathSettings(Profile.OFFICIAL, runner=runner), manner=manner, requests=requests
    )
    return requests[0], requests[1]


@each_case(
    ("runner", "text", "content"),
    [
        ("gpt", "I look.", None),
        ("qwen", "I look.", "I look."),
        ("qwen", None, ""),
        ("mistral", "I look.", "I look."),
        ("mistral", None, None),
    ],
)
def test_words_beside_calls_are_sent_back_as_the_runner_does(
    runner: str, text: str | None, content: str | None
) -> None:
    _, second = hold_by_runner(runner, text)
    called = second.messages[1]
    assert (called["role"], called["content"]) == ("assistant", content)
    assert called["tool_calls"]


@pytest.mark.parametrize(
    ("path_settings", "reasoning", "said"),
    [
        (OFFICIAL, Reasoning.KEEP, {"content": "I look.", "reasoning_content": "Hm."}),
        (CORRECTED, Reasoning.KEEP, {"content": "I look.", "reasoning_content": "Hm."}),
        (CORRECTED, Reasoning.STRIP, {"content": "I look."}),
        (replace(OFFICIAL, runner="gpt"), Reasoning.KEEP, {"content": None, "reasoning_content": "Hm."}),
    ],
)
def test_the_message_of_a_server_is_repeated_with_its_ids_and_signatures(
    path_settings: PathSettings, reasoning: Reasoning, said: Mapping[str, object]
) -> None:
    name, arguments = FIRST[0]
    call = {"id": "c7", "type": "function", "function": {"name": name, "arguments": arguments}, "sign": "s"}
    message = {"role": "assistant", "content": "I look.", "reasoning_content": "Hm.", "tool_calls": [call]}
    answer = Completion(text="I look.", tool_calls=(ToolCall(name, arguments, "c7"),), message=message)
    requests: list[AskModel] = []
    manner = replace(FC, reasoning=reasoning)
    hold_conversation(BY_RUNNER, [answer], path_settings, manner=manner, requests=requests)
    _, repeated, result = requests[1].messages
    assert repeated == {"role": "assistant", **said, "tool_calls": [call]}
    assert result["tool_call_id"] == "c7"


@pytest.mark.parametrize(
    ("runner", "members"),
    [
        ("gpt", {"role", "tool_call_id", "name", "content"}),
        ("claude", {"role", "tool_call_id", "content"}),
        ("qwen", {"role", "name", "content"}),
    ],
)
def test_results_have_the_members_that_the_runner_gives_them(runner: str, members: set[str]) -> None:
    _, second = hold_by_runner(runner, None)
    result = second.messages[-1]
    assert set(result) == members
    assert result.get("name", "Search_Hotel_Destination") == "Search_Hotel_Destination"
    assert result["content"] == '{"navn": "Tromsø", "ids": [1, 2]}'


@pytest.mark.parametrize(("runner", "most"), [("gpt", 2048), ("llama", 4096)])
def test_requests_have_the_parameters_of_the_runner(runner: str, most: int) -> None:
    for request in hold_by_runner(runner, None):
        assert request.defaults == {"temperature": 0.0, "max_tokens": most, "tool_choice": "auto"}


def test_where_calls_are_text_there_are_no_tools_to_choose() -> None:
    text = '[Search_Hotel_Destination(query="Tromsø")]'
    for request in hold_by_runner("gpt", text, PROMPT):
        assert request.defaults == {"temperature": 0.0, "max_tokens": 2048}


def test_own_suites_have_no_runner() -> None:
    requests: list[AskModel] = []
    hold_conversation(ENTRY, [FIRST], PathSettings(Profile.OFFICIAL, runner="gpt"), requests=requests)
    assert requests[0].defaults == {}
    assert set(requests[1].messages[-1]) == {"role", "tool_call_id", "content"}


@BOTH
def test_a_path_is_walked_by_calls_in_text(driven: PathSettings) -> None:
    requests: list[AskModel] = []
    answers = [
        '[Search_Hotel_Destination(query="Tromsø")]',
        "[Get_Hotel_Reviews_Tips_(hotel_id='101'), Get_Hotel_Details(hotel_id='1', arrival_date='d')]",
    ]
    transcript = hold_conversation(ENTRY, answers, driven, manner=PROMPT, requests=requests)
    system, user = requests[0].messages
    assert system["role"] == "system"
    assert '[\n    {\n        "name": "Search_Hotel_Destination",\n' in str(system["content"])
    assert str(system["content"]).startswith("You answer requests by calling functions. ")
    assert "Get_Hotel_Reviews_Tips_" in str(system["content"])
    assert user == {"role": "user", "content": "Find me a bed."}
    assert not requests[0].tools
    told = requests[1].messages[-1]
    assert told["role"] == "user"
    assert ast.literal_eval(str(told["content"])) == [
        {
            "role": "tool",
            "name": "Search_Hotel_Destination(query='Tromsø')",
            "content": '{"navn": "Tromsø", "ids": [1, 2]}',
        }
    ]
    assert len(transcript.turns[0]) == 3
    judgement = judge(ENTRY, transcript)
    assert judgement.official == judgement.corrected == Passed()


def test_text_that_tries_to_call_is_told_so() -> None:
    requests: list[AskModel] = []
    answers = ['[Search_Hotel_Destination(query="Tromsø"', '[Search_Hotel_Destination(query="Tromsø")]']
    transcript = hold_conversation(ENTRY, answers, CORRECTED, manner=PROMPT, requests=requests)
    told = requests[1].messages[-1]
    assert told["role"] == "user"
    assert "cannot be read" in str(told["content"])
    assert [len(step.calls) for step in transcript.turns[0]] == [0, 1, 0]
    score = judge(ENTRY, transcript).corrected_path
    assert score is not None
    assert [verdict.stage for verdict in score.verdicts] == ["format", "exact"]


def test_where_calls_are_text_tool_calls_are_no_part_of_the_conversation() -> None:
    requests: list[AskModel] = []
    text = '[Search_Hotel_Destination(query="Tromsø")]'
    both = replace(tool_calls(("Get_Currency", "{}")), text=text)
    hold_conversation(ENTRY, [both], manner=PROMPT, requests=requests)
    answer, reply = requests[1].messages[-2:]
    assert answer == {"role": "assistant", "content": text}
    assert reply["role"] == "user"


@pytest.mark.parametrize(("driven", "calls"), [(OFFICIAL, 0), (CORRECTED, 1)])
def test_calls_are_read_by_the_profile_that_drives(driven: PathSettings, calls: int) -> None:
    fenced = '```python\n[Search_Hotel_Destination(query="Tromsø")]\n```'
    transcript = hold_conversation(ENTRY, [fenced], driven, manner=PROMPT)
    assert len(transcript.turns[0][0].calls) == calls


def test_officially_such_text_is_a_response() -> None:
    transcript = hold_conversation(
        ENTRY, ['[Search_Hotel_Destination(query="Tromsø"'], OFFICIAL, manner=PROMPT
    )
    assert len(transcript.turns[0]) == 1
    verdict = judge(ENTRY, transcript).official
    assert isinstance(verdict, Failed)
    assert verdict.code == "stop_early"


def test_the_same_is_asked_once() -> None:
    """Else an API that is there the second time would make another verdict of the same answers."""
    replies = iter([Completion(text="down", fault=Fault.INFERENCE_ERROR)])
    again = [write_call("Search_Hotel_Destination", query="tromso")]
    transcript = hold_conversation(
        ENTRY,
        [again, again],
        replace(CORRECTED, live=True),
        aside=lambda _: next(replies, Completion(text="1")),
    )
    assert [aside.completion.fault for aside in transcript.asides] == [Fault.INFERENCE_ERROR]
    judgement = judge(ENTRY, transcript)
    assert isinstance(judgement.corrected, Failed)


@BOTH
def test_what_a_judge_is_told_was_said(driven: PathSettings) -> None:
    """Officially a final answer is held against the golden dialogue, whatever was called."""
    asked: list[str] = []

    def answer_as_judge(request: AskModel) -> Completion:
        asked.append(str(request.messages[1]["content"]))
        text = '{"same": true, "reason": "."}' if len(asked) < 3 else '{"score": %d, "reason": "."}'
        return Completion(text=text.replace("%d", str(5 - len(asked))))

    nearly = write_call("Get_Hotel_Reviews-Tips-", hotel_id="101", sort_option_id="NEW")
    answers = [[write_call("Search_Hotel_Destination", query="in tromso")], [SECOND[0], nearly]]
    transcript = hold_conversation(ENTRY, answers, replace(driven, judge="a judge"), aside=answer_as_judge)
    first, second, completeness, correctness = asked
    assert '"earlier steps": []' in first
    assert "in tromso" in second.partition("call that was made")[0]
    assert "in tromso" not in completeness
    assert ("in tromso" in correctness) is (driven is CORRECTED)
    score = judge(ENTRY, transcript).select_path_score(driven.profile)
    assert score is not None
    assert (score.right, score.completeness, score.correctness) == (3, 2, 1)


@BOTH
@each_case("answer", [None, "", " \n"])
def test_no_judge_is_asked_about_nothing(driven: PathSettings, answer: str | None) -> None:
    transcript = hold_conversation(ENTRY, [FIRST, SECOND, answer], replace(driven, judge="a judge"))
    assert transcript.asides == ()


_CALLED = [
    '[Search_Hotel_Destination(query="Oslo")]',
    '<tool_call>\n{"name": "Get_Hotel_Details", "arguments": {"hotel_id": "1"}}\n</tool_call>',
    '{"tool_calls": [{"name": "Get_Hotel_Details", "arguments": {"hotel_id": "1", "arrival_date": "d"}}]}',
    'Search_Hotel_Destination\n{"query": "Tromsø"}',
]
_TEXTS = st.text() | st.sampled_from([*_CALLED, "[]", "[f()]", "<tool_call>", "{}", "\ud800"])
_ARGUMENTS = _TEXTS | st.sampled_from(
    ['{"query": "Tromsø"}', '{"query": 1e999}', '{"hotel_id": "1", "arrival_date": "e"}', "[" * 5000, "null"]
)
_NAMES = ["Search_Hotel_Destination", "Get_Hotel_Reviews-Tips-", "Get_Hotel_Details", "\x00"]
_CALLS = st.tuples(st.sampled_from(_NAMES) | st.text(), _ARGUMENTS)
ANSWERS = st.lists(
    st.builds(Completion, text=_TEXTS | st.none())
    | st.lists(_CALLS, max_size=3).map(tuple).map(lambda calls: tool_calls(*calls)),
    max_size=4,
)
ASIDES = st.sampled_from(
    [
        *map(
            Completion,
            (
                '{"same": true, "reason": "."}',
                '{"same": false, "reason": "."}',
                '{"score": 1, "reason": "."}',
            ),
        ),
        *map(Completion, ("[[0.5, 1]]", "[[NaN]]", "", "null", "[" * 5000)),
        Completion(text="down", fault=Fault.INFERENCE_ERROR),
    ]
)


@pytest.mark.few(12)
@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("syntax", SYNTAXES)
@given(answers=ANSWERS, replies=st.lists(ASIDES, min_size=1, max_size=3), asks=st.booleans())
def test_no_answer_breaks_it(
    driven: PathSettings, syntax: str, answers: list[Completion], replies: list[Completion], asks: bool
) -> None:
    """The verdict of the profile that drove is found again from what was answered, however often."""
    reader = SYNTAXES[syntax]
    manner = ModelPresentation(
        "test", Prompting(reader.mode if reader else Mode.FC, Names.UNDERSCORED, syntax)
    )
    if asks:
        driven = replace(driven, judge="a judge", similarity="a model", live=True)
    others = itertools.cycle(replies)
    requests: list[AskModel] = []
    transcript = hold_conversation(
        ENTRY, answers, driven, manner=manner, requests=requests, aside=lambda _: next(others)
    )
    judgement = judge(ENTRY, transcript)
    assert judge(ENTRY, transcript) == judgement
    own = judgement.select_profile(driven.profile)
    assert not isinstance(own, NotScored) or (asks and own.cause in ("judge", "similarity"))
    for request in requests:
        json.dumps([request.messages, request.tools])
    kept = json.dumps(to_json(build_record(ENTRY, manner, judgement, transcript)))
    assert json.dumps(to_json(from_json(json.loads(kept)))) == kept
