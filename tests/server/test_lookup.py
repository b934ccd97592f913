"""Which entry a request is about."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.codecs.dialogues.vendor_forms import read_family_reply
from pytest_fcbench.domain.entry import CATEGORIES, Entry, Group, Message
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.prompting import (
    FamilyMember,
    Mode,
    ModelPresentation,
    Names,
    Prompting,
    WireRequest,
)
from pytest_fcbench.domain.transcript import AskModel, Completion, Party, PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path.script import list_path_settings
from pytest_fcbench.kinds.golden_path.walk import get_golden_path
from pytest_fcbench.kinds.kind import ConversationContext
from pytest_fcbench.kinds.table import converse
from pytest_fcbench.mcp_servers.server_requests import read_request
from pytest_fcbench.models.baselines.lexical import LexicalModel
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.official_models import find_family, name_at_server
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.server.body import RefusedRequestError, estimate_tokens, read_body
from pytest_fcbench.server.lookup import (
    MANNERS,
    EntryIndex,
    FamilyLookup,
    Models,
    add_texts,
    list_requests,
)
from pytest_fcbench.server.replies import write_reply
from pytest_fcbench.suites.registry import open_suite
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_golden_path, make_multi_turn, tool_calls
from tests.kinds.asked import collect_requests
from tests.mcp_servers.made import make_server_entry, play_shelf
from tests.server.asking import CORE, Sent, hold_conversation, list_entries, make_body, make_suite, read_sent

DOTTED = make_entry()
FIRST = make_entry(functions=[make_doc("now")], query="What time is it?", entry_id="first")
SECOND = make_entry(functions=[make_doc("now")], query="What time is it?", entry_id="second")
BARE = make_entry("irrelevance", functions=[], query="Tell me a joke.")


def _make_lookup(*entries: Entry, models: Models = OracleModel) -> EntryIndex:
    return EntryIndex([make_suite(*(entries or (DOTTED, FIRST, SECOND, BARE)))], models)


def _find_refusal(body: Sent, name: str | None = None, entries: Sequence[Entry] = ()) -> tuple[int, str, str]:
    with pytest.raises(RefusedRequestError) as caught:
        _make_lookup(*entries).find_request(read_sent(body), name)
    return caught.value.status, caught.value.code, str(caught.value)


# Found


@pytest.mark.parametrize("named", [False, True], ids=["by what it asks", "by name"])
@pytest.mark.parametrize("prompting", MANNERS)
def test_an_entry_and_its_manner_are_found(prompting: Prompting, *, named: bool) -> None:
    asked = _make_lookup().find_request(
        read_sent(make_body(DOTTED, prompting.mode, prompting.names)), DOTTED.key if named else None
    )
    assert (asked.entry, asked.prompting) == (DOTTED, prompting)


def test_an_entry_that_is_put_alike_in_two_manners_is_found_in_the_usual_one() -> None:
    lookup = _make_lookup()
    with pytest.raises(
        RefusedRequestError, match="no entry of these suites has these messages and tools: core"
    ):
        lookup.find_request(read_sent({"messages": []}))
    assert (
        lookup.find_request(read_sent(make_body(FIRST, Mode.FC, Names.DOTTED))).prompting.names
        is Names.UNDERSCORED
    )
    assert (
        lookup.find_request(read_sent(make_body(FIRST, Mode.PROMPT, Names.UNDERSCORED))).prompting.names
        is Names.DOTTED
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("prompting", MANNERS[:2])
# All are in the lookup; every fifth is looked up.
@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.nightly)])
def test_every_entry_of_core_is_found_at_each_step_in_one_lookup(prompting: Prompting, step: int) -> None:
    """By what it asks; multi-turn entries, some of which begin alike, by name too, and so those that ask in
    the usual prompt format what another asks. Each request repeats a text of its entry, which leads there."""
    lookup = EntryIndex([CORE], OracleModel)
    for entry in list_entries(CORE)[::step]:
        if entry.variation and prompting.mode is Mode.FC:
            continue
        for request, body in hold_conversation(
            OracleModel(prompting), entry, prompting.mode, prompting.names
        ):
            by_name = entry.variation or not entry.category.single_turn
            texts = {message.content for turn in entry.turns for message in turn if message.role == "user"}
            assert not texts.isdisjoint(str(message.get("content")) for message in request.messages)
            asked = lookup.find_request(read_sent(body), entry.key if by_name else None)
            assert (asked.entry, asked.prompting) == (entry, prompting)
            assert (asked.turn, asked.step) == (request.turn, request.step)
            if entry.category.single_turn:
                break


@each_case(
    ("name", "found"),
    [(None, FIRST), (FIRST.key, FIRST), (SECOND.key, SECOND), (f"{SECOND.key}-t12", SECOND)],
)
def test_of_entries_that_ask_the_same_the_named_one_is_meant_or_the_first(
    name: str | None, found: object
) -> None:
    lookup = _make_lookup()
    lookup.find_request(read_sent(make_body(FIRST)))
    assert lookup.find_request(read_sent(make_body(SECOND)), name).entry is found


def test_the_first_of_those_that_ask_the_same_is_meant_whichever_was_named_before() -> None:
    lookup = _make_lookup()
    assert lookup.find_request(read_sent(make_body(SECOND)), SECOND.key).entry is SECOND
    assert lookup.find_request(read_sent(make_body(SECOND))).entry is FIRST


def test_only_entries_with_the_texts_of_a_request_are_put_to_the_model() -> None:
    asked: list[Prompting] = []

    def open_model(prompting: Prompting) -> OracleModel:
        asked.append(prompting)
        return OracleModel(prompting)

    lookup = _make_lookup(models=open_model)
    assert lookup.find_request(read_sent(make_body(BARE, Mode.PROMPT, Names.DOTTED))).entry is BARE
    assert asked == list(MANNERS[:2])
    asked.clear()
    assert lookup.find_request(read_sent(make_body(SECOND, Mode.FC, Names.DOTTED))).entry is FIRST
    assert asked == [MANNERS[0], MANNERS[0]]
    asked.clear()
    assert lookup.find_request(read_sent(make_body(DOTTED, Mode.FC, Names.DOTTED))).entry is DOTTED
    assert asked == [MANNERS[0], MANNERS[2]], "with tools it is no request in prompting mode"


def test_an_entry_without_texts_of_a_user_is_found() -> None:
    silent = replace(DOTTED, id="silent", turns=((Message("system", "Say something."),),))
    assert _make_lookup(FIRST, silent).find_request(read_sent(make_body(silent))).entry is silent


def test_suites_are_searched_in_their_order() -> None:
    twin = make_entry(suite="twin")
    suites = [make_suite(twin, name="twin"), make_suite(DOTTED)]
    assert EntryIndex(suites, OracleModel).find_request(read_sent(make_body(DOTTED))).entry is twin
    assert EntryIndex(suites[::-1], OracleModel).find_request(read_sent(make_body(DOTTED))).entry is DOTTED


def test_an_entry_whose_name_ends_like_a_trial_is_found_under_it() -> None:
    entry = make_entry(entry_id="core-t2")
    assert _make_lookup(entry).find_request(read_sent(make_body(entry)), "core:core-t2").entry is entry


def test_only_messages_and_tools_count_and_as_values() -> None:
    functions = [make_doc("scale", {"by": {"type": "float", "default": 1.0, "enum": [1.5, 2.0]}})]
    entry = make_entry(functions=functions)
    body = {key: value for key, value in sorted(make_body(entry).items(), reverse=True) if key != "model"}
    text = json.dumps({**body, "temperature": 1, "user": "me"}, indent=1)
    written_by_javascript = text.replace("1.0", "1").replace("2.0", "2")
    assert written_by_javascript != text
    assert _make_lookup(entry).find_request(read_body(written_by_javascript)).entry is entry


@pytest.mark.parametrize("tools", [[], None])
def test_no_tools_can_be_said_in_several_ways(tools: object) -> None:
    assert (
        _make_lookup()
        .find_request(read_sent({**make_body(DOTTED, Mode.PROMPT), "tools": tools}))
        .prompting.mode
        is Mode.PROMPT
    )
    assert (
        _make_lookup().find_request(read_sent({**make_body(BARE), "tools": tools})).prompting.mode is Mode.FC
    )


# Conversations

NUMBERS = {"a": {"type": "float"}, "b": {"type": "float"}}
ADD, SUBTRACT = (make_doc(name, NUMBERS, ["a", "b"]) for name in ("add", "subtract"))


def _make_talk(second: str = "subtract(a=5.0, b=1.0)", entry_id: str = "talk") -> Entry:
    return make_multi_turn(
        ("Add two and three.", ["add(a=2.0, b=3.0)", "add(a=2.0, b=3.0)"]),
        ("Now subtract one from it.", []),
        ("", [second]),
        category="multi_turn_miss_func",
        functions=[ADD],
        domains=["math"],
        withheld={2: [SUBTRACT]},
        entry_id=entry_id,
    )


TALK, TWIN = _make_talk(), _make_talk("subtract(a=5, b=2)", "twin")
STEPS = [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1)]


def _list_bodies(entry: Entry, mode: Mode) -> list[Sent]:
    return [
        body
        for _, body in hold_conversation(OracleModel(Prompting.make_default(mode, Names.DOTTED)), entry, mode)
    ]


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_a_conversation_is_found_at_each_step(mode: Mode) -> None:
    lookup = _make_lookup(DOTTED, TALK)
    found = [lookup.find_request(read_sent(body)) for body in _list_bodies(TALK, mode)]
    assert {(asked.entry.key, asked.prompting.mode) for asked in found} == {(TALK.key, mode)}
    assert [(asked.turn, asked.step) for asked in found] == STEPS
    tokens = [asked.prompt_tokens for asked in found]
    assert tokens == sorted(set(tokens))


@pytest.mark.parametrize("prompting", MANNERS[:2])
def test_a_conversation_on_an_mcp_server_is_found_whatever_its_results(prompting: Prompting) -> None:
    entry = make_server_entry()
    oracle, suite = OracleModel(prompting), make_suite(entry)

    def answer(request: AskModel) -> Completion:
        if request.party is Party.SERVER:
            return play_shelf(read_request(request))
        return run_through(oracle.complete(entry, request))

    talk = converse(
        entry, ConversationContext(ModelPresentation("x", prompting), suite, PathSettings(Profile.OFFICIAL))
    )
    asked = [request for request in collect_requests(talk, answer) if request.party is Party.MODEL]
    lookup = _make_lookup(DOTTED, entry)
    for request in asked:
        body: Sent = {"messages": list(request.messages), "tools": request.tools}
        found = lookup.find_request(read_sent(body))
        assert (found.entry, found.turn, found.step) == (entry, request.turn, request.step)
    said = [*asked[-1].messages[:-1], {**asked[-1].messages[-1], "role": "system"}]
    with pytest.raises(RefusedRequestError, match="no entry of these suites has these messages and tools"):
        lookup.find_request(read_sent({"messages": said, "tools": asked[-1].tools}))
    assert {request.turn for request in asked} == {0, 1}
    assert max(request.step for request in asked) == 1


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_conversations_that_begin_alike_are_told_apart_where_they_differ(mode: Mode) -> None:
    lookup = _make_lookup(TALK, TWIN)
    unnamed = [lookup.find_request(read_sent(body)).entry for body in _list_bodies(TWIN, mode)]
    assert unnamed == [TALK] * 4 + [TWIN]
    assert [lookup.find_request(read_sent(body), TWIN.key).entry for body in _list_bodies(TWIN, mode)] == [
        TWIN
    ] * 5


@each_case("mode", [Mode.FC, Mode.PROMPT])
@each_case("at", range(2, 5))
def test_a_conversation_that_goes_otherwise_is_refused(mode: Mode, at: int) -> None:
    """Where the client made another answer, or another result, of what came before."""
    lookup = _make_lookup(TALK)
    messages = _list_bodies(TALK, mode)[-1]["messages"]
    assert isinstance(messages, list)
    changed = [*messages[:at], {**messages[at], "content": "Else."}, *messages[at + 1 :]]
    with pytest.raises(RefusedRequestError) as caught:
        lookup.find_request(read_sent({**_list_bodies(TALK, mode)[-1], "messages": changed}))
    assert caught.value.code == "unknown_request"
    with pytest.raises(RefusedRequestError) as caught:
        lookup.find_request(read_sent({**_list_bodies(TALK, mode)[-1], "messages": messages[:-1]}), TALK.key)
    assert caught.value.code == "other_request"


def test_the_conversation_is_that_with_the_model_which_is_served() -> None:
    lookup = _make_lookup(TALK, models=LexicalModel)
    served = hold_conversation(LexicalModel(Prompting.make_default(Mode.FC)), TALK, Mode.FC)
    assert {lookup.find_request(read_sent(body)).entry.key for _, body in served} == {TALK.key}
    with pytest.raises(
        RefusedRequestError, match="no entry of these suites has these messages and tools: core"
    ):
        lookup.find_request(read_sent(_list_bodies(TALK, Mode.FC)[-1]))


class Silent:
    """A model that has one answer, or none."""

    immediate = True
    notes = ()

    def __init__(self, *answers: Completion) -> None:
        self.answers = list(answers)

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        if not self.answers:
            raise NotScoredError("no_result", "nothing to say")
        return self.answers.pop()


@each_case(
    ("entry", "model", "steps"),
    [
        pytest.param(TALK, Silent(), [(0, 0)], id="none"),
        pytest.param(TALK, Silent(tool_calls(("add", "{}"))), [(0, 0), (0, 1)], id="one"),
        pytest.param(TALK, Silent(Completion(text="No.")), [(0, 0), (1, 0)], id="one that ends the turn"),
        pytest.param(DOTTED, Silent(), [(0, 0)], id="single turn"),
        pytest.param(DOTTED, Silent(tool_calls(("add", "{}"))), [(0, 0)], id="single turn with calls"),
    ],
)
def test_a_conversation_ends_where_the_model_has_no_answer(
    entry: Entry, model: Silent, steps: list[tuple[int, int]]
) -> None:
    asked = list_requests(
        entry,
        ConversationContext(
            ModelPresentation("x", MANNERS[2]), make_suite(entry), PathSettings(Profile.OFFICIAL)
        ),
        lambda _: model,
    )
    assert [(request.turn, request.step) for request in asked] == steps


# Golden paths, which each runner puts otherwise

PATH = make_golden_path([("find(tips)", {"query": "Bergen"}, {"id": 7})], [("book", {"id": 7}, "done")])
BY_RUNNER = replace(PATH, expectation=replace(get_golden_path(PATH), by_runner=True))


@each_case("mode", [Mode.FC, Mode.PROMPT])
@each_case("entry", [PATH, BY_RUNNER], ids=["own", "by runner"])
def test_a_golden_path_is_found_at_each_step_under_all_settings(entry: Entry, mode: Mode) -> None:
    model, lookup = OracleModel(Prompting.make_default(mode)), _make_lookup(DOTTED, entry)
    for driven in list_path_settings(entry):
        held = list(hold_conversation(model, entry, mode, driven=driven))
        found = [lookup.find_request(read_sent(body)) for _, body in held]
        assert [(asked.entry, asked.step) for asked in found] == [(entry, 0), (entry, 1), (entry, 2)]
        answers = [run_through(model.complete(entry, request)) for request, _ in held]
        assert [asked.answer for asked in found] == answers


def test_a_golden_path_is_found_only_as_a_runner_asks_about_it() -> None:
    model = OracleModel(Prompting.make_default(Mode.FC))
    qwen = PathSettings(Profile.OFFICIAL, runner="qwen")
    _, sent, _ = (body for _, body in hold_conversation(model, BY_RUNNER, Mode.FC, driven=qwen))
    messages: Any = sent["messages"]
    messages[-1]["name"] = "found"
    says = "messages[2].name is 'found' where the entry has 'find(tips)'"
    assert _find_refusal(sent, entries=[BY_RUNNER])[2].endswith(says)


# Tokens


@each_case(("text", "tokens"), [("", 1), ("abc", 1), ("abcdefgh", 2), ("åååå", 2), ("\ud800", 1)])
def test_a_token_is_four_bytes(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_the_tokens_of_a_prompt_are_those_of_messages_and_tools() -> None:
    body = make_body(DOTTED)
    text = json.dumps({"messages": body["messages"], "tools": body["tools"]})
    assert _make_lookup().find_request(read_sent(body)).prompt_tokens == len(text) // 4


def test_letters_beyond_ascii_count_as_their_bytes() -> None:
    plain, accented = (make_entry(query=letter * 400, entry_id=letter) for letter in "aå")
    lookup = _make_lookup(plain, accented)
    few, more = (
        lookup.find_request(read_sent(make_body(entry))).prompt_tokens for entry in (plain, accented)
    )
    assert more - few == 100


# Refused


UNKNOWN = "no entry of these suites has these messages and tools: core"
LIKE_NONE = ", nor a question like theirs; name the suite of the request with --suite"


@each_case(
    ("change", "says"),
    [
        ({"messages": []}, LIKE_NONE),
        ({"messages": [{"role": "user", "content": "Else?"}]}, LIKE_NONE),
        (
            {"tools": []},
            f". The nearest is {DOTTED.key}: the request has no tools; the entry offers them "
            "in function-calling mode, and describes them in the system prompt in prompt mode",
        ),
        (
            {"tools": True},
            f". The nearest is {DOTTED.key}: tools is 'true' where the entry has "
            """'[{"type": "function", "function": {"name": "weather_forecast...'""",
        ),
    ],
)
def test_a_request_of_no_entry_is_refused_with_the_nearest_one(change: Sent, says: str) -> None:
    assert _find_refusal(make_body(DOTTED) | change) == (404, "unknown_request", UNKNOWN + says)


def test_a_named_entry_must_ask_what_was_sent() -> None:
    messages = [{"role": "user", "content": "What time was it?"}]
    says = (
        f"{FIRST.key} does not have these messages and tools: messages[0].content is 'What time was it?' "
        "where the entry has 'What time is it?'; use the same suite version and options as the server"
    )
    sent = make_body(FIRST) | {"messages": messages}
    assert _find_refusal(sent, FIRST.key) == (400, "other_request", says)


def test_the_entry_that_was_meant_is_told_where_another_one_is_named() -> None:
    says = (
        f"{FIRST.key} does not have these messages and tools, {DOTTED.key} has them; use the same suite "
        "version and options as the server"
    )
    assert _find_refusal(make_body(DOTTED), FIRST.key) == (400, "other_request", says)


def test_of_entries_with_the_same_question_the_nearest_is_the_one_with_the_tools() -> None:
    entries = [
        make_entry(functions=[make_doc(name)], query="Now?", entry_id=name) for name in ("a", "b", "c")
    ]
    sent = make_body(entries[1])
    messages: Any = sent["messages"]
    sent["messages"] = [*messages, {"role": "user", "content": "Please."}]
    assert _find_refusal(sent, entries=entries)[2].endswith(
        """. The nearest is core:b: messages[1] is '{"role": "user", "content": "Please."}' """
        "where the entry has nothing"
    )


def test_a_conversation_is_compared_at_its_nearest_step() -> None:
    sent = _list_bodies(TALK, Mode.FC)[2]
    messages: Any = sent["messages"]
    messages[-1]["content"] += " Please."
    assert _find_refusal(sent, entries=[TALK])[2].endswith(
        "messages[5].content is '...ubtract one from it. Please.' where the entry has "
        "'...ubtract one from it.'"
    )


def test_a_question_about_a_memory_is_compared_after_the_earlier_conversations() -> None:
    entry = next(entry for entry in list_entries(CORE) if entry.category.name == "memory_kv")
    sent = next(body for _, body in hold_conversation(OracleModel(MANNERS[0]), entry, Mode.FC))
    messages: Any = sent["messages"]
    messages[-1]["content"] += " Please."
    suite = replace(CORE, categories=(entry.category,))
    with pytest.raises(
        RefusedRequestError, match=r"messages\[\d+\]\.content is .* Please\.' where the entry has "
    ):
        EntryIndex([suite], OracleModel).find_request(read_sent(sent), entry.key)


@each_case("name", ["core:third", "first", "", f"{FIRST.key}-t0", f"{FIRST.key}-t1-t2"])
def test_a_name_must_be_that_of_an_entry(name: str) -> None:
    says = f"these suites have no entry {name!r}: core"
    assert _find_refusal(make_body(FIRST), name) == (404, "unknown_entry", says)


def test_a_message_of_tool_calls_can_leave_out_its_content() -> None:
    bodies = _list_bodies(TALK, Mode.FC)
    messages = bodies[1]["messages"]
    assert isinstance(messages, list)
    made = next(message for message in messages if "tool_calls" in message)
    assert made.pop("content") is None
    assert (_make_lookup(TALK).find_request(read_sent(bodies[1]))).step == 1


@pytest.mark.parametrize("make_id", [lambda index: f"call_{index % 2}", lambda index: f"own-{index}"])
def test_a_client_can_have_ids_of_its_own_for_tool_calls(make_id: Callable[[int], str]) -> None:
    """The server's own ids begin anew in each reply."""
    lookup = _make_lookup(TALK)
    for sent in _list_bodies(TALK, Mode.FC):
        messages: Any = sent["messages"]
        calls = [call for message in messages for call in message.get("tool_calls", ())]
        replies = [message for message in messages if message["role"] == "tool"]
        for index, (call, reply) in enumerate(zip(calls, replies, strict=True)):
            call["id"] = reply["tool_call_id"] = make_id(index)
        assert lookup.find_request(read_sent(sent)).entry is TALK


def test_a_result_must_belong_to_its_call() -> None:
    sent = _list_bodies(TALK, Mode.FC)[1]
    messages: Any = sent["messages"]
    messages[2]["tool_call_id"] = "another"
    assert _find_refusal(sent, entries=[TALK])[2].endswith(
        "messages[2].tool_call_id is 'another' where the entry has 'call 1'"
    )


# The official suite


@pytest.mark.nightly
@pytest.mark.parametrize("prompting", MANNERS[:2])
def test_six_requests_of_bfcl_are_shared_and_names_tell_their_entries_apart(
    prompting: Prompting, pack_cache: Path
) -> None:
    """Of the single-turn ones; multi-turn entries of several categories begin alike."""
    whole = open_suite("bfcl", pack_cache)
    chosen = [c for c in whole.categories if c.single_turn and c.group is not Group.FORMAT]
    suite = replace(whole, categories=tuple(chosen))
    lookup = EntryIndex([suite], OracleModel)
    bodies = {
        entry.key: read_sent(make_body(entry, prompting.mode, prompting.names, suite))
        for entry in list_entries(suite)
    }
    found = {key: lookup.find_request(body).entry.key for key, body in bodies.items()}
    shared = {key: first for key, first in found.items() if key != first}
    assert len(shared) == 6
    assert {key: lookup.find_request(bodies[key], key).entry.key for key in bodies} == {
        key: key for key in bodies
    }


# Families

FEW = replace(CORE, categories=tuple(CATEGORIES[name] for name in ("simple_python", "multi_turn_base")))


def make_manner(model: str) -> ModelPresentation:
    family = find_family(model)
    member = FamilyMember(model, family.handler, name_at_server(model))
    return ModelPresentation("m", Prompting(family.mode, family.names, family.syntax), member=member)


def find_entry(category: str) -> Entry:
    return CORE.load(CATEGORIES[category])[0]


def list_right_requests(entry: Entry, manner: ModelPresentation, lookup: FamilyLookup) -> list[WireRequest]:
    """Hold a conversation with the replies that the lookup finds, and return its requests."""
    talk = converse(entry, ConversationContext(manner, CORE, PathSettings(Profile.OFFICIAL)))
    sent: list[WireRequest] = []
    asked = next(talk)
    while True:
        assert asked.wire
        sent.append(asked.wire)
        key, reply = lookup.find_reply(json.dumps(asked.wire.body).encode(), entry.key)
        assert key == entry.key
        try:
            asked = talk.send(read_family_reply(asked.wire.api, write_reply(asked.wire.api, reply)))
        except StopIteration:
            return sent


@pytest.mark.parametrize(
    "model",
    ["gpt-4o-2024-11-20-FC", "claude-haiku-4-5-20251001-FC", "meta-llama/Llama-3.3-70B-Instruct-FC"],
)
def test_a_conversation_is_answered_to_its_end(model: str) -> None:
    entry, manner = find_entry("multi_turn_base"), make_manner(model)
    lookup = FamilyLookup([FEW], OracleModel, manner)
    assert len(list_right_requests(entry, manner, lookup)) > len(entry.turns)


def make_first_body(entry: Entry, manner: ModelPresentation, changed: Mapping[str, Any]) -> bytes:
    asked = next(converse(entry, ConversationContext(manner, CORE, PathSettings(Profile.OFFICIAL))))
    assert asked.wire
    return json.dumps({**asked.wire.body, **changed}).encode()


def test_parameters_are_the_clients() -> None:
    manner = make_manner("gpt-4o-2024-11-20-FC")
    body = make_first_body(find_entry("simple_python"), manner, {"temperature": 1, "model": "mine"})
    key, _ = FamilyLookup([FEW], OracleModel, manner).find_reply(body)
    assert key == find_entry("simple_python").key


@pytest.mark.parametrize(
    ("changed", "name", "says"),
    [
        (
            {"input": [{"role": "user", "content": "Other."}]},
            None,
            "no entry of core has a request like this",
        ),
        ({"tools": []}, "core:simple_python_0", "core:simple_python_0 has no request like this"),
    ],
)
def test_a_changed_request_is_refused(changed: Mapping[str, Any], name: str | None, says: str) -> None:
    manner = make_manner("gpt-4o-2024-11-20-FC")
    body = make_first_body(find_entry("simple_python"), manner, changed)
    with pytest.raises(RefusedRequestError, match=says):
        FamilyLookup([FEW], OracleModel, manner).find_reply(body, name)


@pytest.mark.parametrize("content", [b"no JSON", b"[1]", b"[" * 100_000])
def test_what_is_no_request_is_refused(content: bytes) -> None:
    lookup = FamilyLookup([FEW], OracleModel, make_manner("gpt-4o-2024-11-20-FC"))
    with pytest.raises(RefusedRequestError, match="JSON"):
        lookup.find_reply(content)


def test_sentences_of_a_suite_are_kept() -> None:
    own = replace(CORE, wording=replace(CORE.wording, family_texts={"x": ("own",)}))
    given = add_texts([own, CORE], {"x": ("given",)})
    assert [suite.wording.family_texts["x"] for suite in given] == [("own",), ("given",)]
