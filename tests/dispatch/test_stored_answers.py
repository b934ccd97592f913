"""A model is not asked again for what is stored, and its answers are stored before anybody sees them."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from pytest_fcbench.dispatch.answer_store import AnswerStore, Kept
from pytest_fcbench.dispatch.dispatcher import Dispatcher
from pytest_fcbench.dispatch.stored_answers import AnswerKeys
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.prompting import Api, Mode, ModelPresentation, Names, Prompting, WireRequest
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    Conversation,
    Fault,
    ToolCall,
    Transcript,
    drive_conversation,
)
from pytest_fcbench.kinds.kind import carry_out_calls, put_turns
from pytest_fcbench.suites import core
from tests.dispatch.clock import Attempt, Stuck
from tests.dispatch.pipelines import StoredModel
from tests.dispatch.stores import MESSAGE, hash_text, hold_lock, make_key, write_old_row
from tests.factories import make_doc, make_entry, make_multi_turn

REQUEST = AskModel(({"role": "user", "content": "Grüße"},), ({"type": "function"},))
ENTRY = make_entry()
WORDING = core.open_suite(Path()).wording
IDENTITY = {"model": "openai/x", "api_base": None, "parameters": {"temperature": 0.0}}
TALK = make_multi_turn(("Go.", []), ("On.", []), functions=[make_doc("f", {})])


def test_the_value_of_a_header_is_part_of_the_key() -> None:
    routes = [{"parameters": {"extra_headers": {"X-Route": route}}} for route in ("a", "b")]
    assert make_key(routes[0], ENTRY, REQUEST) != make_key(routes[1], ENTRY, REQUEST)


@pytest.mark.parametrize(
    "parameters", [{"headers": "X-Api-Key: y"}, {"extra_body": {"token": "y"}}], ids=repr
)
def test_what_is_no_object_of_headers_is_part_of_the_key_as_it_is(parameters: dict[str, object]) -> None:
    assert make_key({"parameters": parameters}, ENTRY, AskModel(())) == hash_text(
        json.dumps([{"parameters": parameters}, ["core:simple_python_0", 1], [], []])
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AnswerStore]:
    with closing(AnswerStore(tmp_path / "deep" / "answers.sqlite")) as store:
        yield store


@dataclass
class CountingModel:
    """Gives its answers one after the other."""

    answers: list[Completion]
    immediate: bool = False
    notes: tuple[str, ...] = ("a note",)
    asked: list[str] = field(default_factory=list)
    requests: list[AskModel] = field(default_factory=list)

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        self.asked.append(entry.key)
        self.requests.append(request)
        return self.answers[len(self.asked) - 1]


def ask_model(model: StoredModel, request: AskModel = REQUEST) -> Completion:
    return asyncio.run(model.complete(make_entry(), request))


def test_a_store_that_cannot_be_written_is_noticed_before_anything_is_asked(store: AnswerStore) -> None:
    answers = [Completion(text="stored"), Completion(text="lost")]
    model = StoredModel(CountingModel(answers), store, IDENTITY)
    assert ask_model(model) == answers[0]
    store._database.execute("PRAGMA query_only = 1")
    again = StoredModel(fake := CountingModel(answers), store, IDENTITY)
    assert ask_model(again) == answers[0], "what is stored is read"
    with pytest.raises(NotScoredError, match="readonly") as caught:
        ask_model(again, AskModel(({"role": "user", "content": "another"},)))
    assert (caught.value.cause, fake.asked) == ("store", [])


def test_a_conversation_of_the_first_version_is_not_bought_again(store: AnswerStore) -> None:
    """Its later requests hold ids of our own, and an error for calls that cannot be read."""
    made: list[Mapping[str, object]] = []
    for call_id, arguments in (("t00s00c00", "{}"), ("t00s01c00", "{")):
        call = {"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}
        made.append({"role": "assistant", "content": None, "tool_calls": [call]})
    unread = "Error: the calls of this message cannot be read, so none was carried out."
    talk: tuple[Mapping[str, object], ...] = (
        {"role": "user", "content": "Go."},
        made[0],
        {"role": "tool", "tool_call_id": "t00s00c00", "content": "did f()"},
        made[1],
        {"role": "tool", "tool_call_id": "t00s01c00", "content": unread},
        {"role": "user", "content": "On."},
    )
    manner = ModelPresentation("x", Prompting.make_default(Mode.FC))
    first = next(put_turns(TALK, manner, WORDING))
    assert isinstance(first, AskModel)
    for length, text, calls in ((1, None, [{"f": "{}"}]), (3, None, [{"f": "{"}]), (6, "Done.", [])):
        write_old_row(store, make_key(IDENTITY, TALK, replace(first, messages=talk[:length])), text, *calls)
    stored = StoredModel(CountingModel([]), store, IDENTITY)
    transcript = hold_conversation(stored, manner)
    assert [len(turn) for turn in transcript.turns] == [2, 1]
    assert transcript.last == Completion(text="Done.", latency_s=1.5, input_tokens=7)
    assert stored.reused == 3


def hold_conversation(model: StoredModel, manner: ModelPresentation) -> Transcript:
    talk = carry_out_calls(put_turns(TALK, manner, WORDING), lambda calls: tuple(f"did {c}" for c in calls))
    return drive_conversation(talk, lambda request: asyncio.run(model.complete(TALK, request)))


def test_a_stored_message_is_what_later_requests_repeat(store: AnswerStore) -> None:
    """A provider may invent other ids each time: of a stored answer they are known."""
    calling = Completion(tool_calls=(ToolCall("f", "{}", "theirs"),), message=MESSAGE)
    manner = ModelPresentation("x", Prompting.make_default(Mode.FC))
    model = CountingModel([calling, Completion(text="So."), Completion(text="Done.")])
    for _ in range(2):
        stored = StoredModel(model, store, IDENTITY)
        hold_conversation(stored, manner)
    assert (len(model.asked), stored.reused) == (3, 3)
    second = model.requests[1].messages
    assert second[1:] == (MESSAGE, {"role": "tool", "tool_call_id": "theirs", "content": "did f()"})


def test_the_same_is_asked_once(store: AnswerStore) -> None:
    model = CountingModel([Completion(text="a")])
    for _ in range(3):
        stored = StoredModel(model, store, IDENTITY)
        assert ask_model(stored) == Completion(text="a")
    assert len(model.asked) == 1
    assert stored.notes == ("a note", "1 answer was reused from answers.sqlite")


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_every_step_of_a_conversation_is_asked_once(store: AnswerStore, mode: Mode) -> None:
    call = Completion(tool_calls=(ToolCall("f", '{"a": 1}', "theirs"), ToolCall("f", {}, "other")))
    if mode is Mode.PROMPT:
        call = Completion(text="[f(a=1), f()]")
    model = CountingModel([call, call, Completion(text=""), call, Completion(text="Done.")])
    manner = ModelPresentation("x", Prompting.make_default(mode, Names.DOTTED))

    def start_conversation(entry: Entry) -> Conversation:
        return carry_out_calls(
            put_turns(entry, manner, WORDING), lambda calls: tuple(f"did {c}" for c in calls)
        )

    held = []
    for _ in range(2):
        stored = StoredModel(model, store, IDENTITY)
        with closing(Dispatcher(stored, start_conversation)) as dispatcher:
            held.append(dispatcher.transcript(TALK))
    first, again = held
    assert [len(turn) for turn in first.turns] == [3, 2]
    assert [step.results for turn in again.turns for step in turn] == [
        step.results for turn in first.turns for step in turn
    ]
    assert (len(model.asked), stored.reused) == (5, 5)


def test_what_is_kept_needs_not_be_asked(store: AnswerStore) -> None:
    stored = StoredModel(CountingModel([Completion(text="a")]), store, IDENTITY)
    assert stored.kept(ENTRY, REQUEST) is None
    ask_model(stored)
    assert stored.kept(ENTRY, REQUEST) == Completion(text="a")
    assert stored.reused == 0
    assert StoredModel(stored.model, store, IDENTITY, refresh=True).kept(ENTRY, REQUEST) is None


def test_refresh_asks_again_and_keeps_the_new_answer(store: AnswerStore) -> None:
    model = CountingModel([Completion(text="old"), Completion(text="new")])
    ask_model(StoredModel(model, store, IDENTITY))
    assert ask_model(StoredModel(model, store, IDENTITY, refresh=True)).text == "new"
    assert ask_model(StoredModel(model, store, IDENTITY)).text == "new"


def test_offline_asks_nothing(store: AnswerStore) -> None:
    model = CountingModel([Completion(text="a")])
    with pytest.raises(NotScoredError) as caught:
        ask_model(StoredModel(model, store, IDENTITY, offline=True))
    assert caught.value.cause == "offline"
    assert caught.value.reason == (
        "answers.sqlite has no answer for core:simple_python_0, and an offline run sends no requests"
    )
    assert model.asked == []
    ask_model(StoredModel(model, store, IDENTITY))
    assert ask_model(StoredModel(model, store, IDENTITY, offline=True)).text == "a"


@pytest.mark.parametrize("fault", [Fault.OVERFLOW, Fault.UNREADABLE_CALL])
def test_a_fault_is_not_kept(store: AnswerStore, fault: Fault) -> None:
    model = CountingModel([Completion(fault=fault), Completion(text="a")])
    assert ask_model(StoredModel(model, store, IDENTITY)).fault is fault
    assert ask_model(StoredModel(model, store, IDENTITY)).text == "a"


def test_that_an_answer_was_too_long_is_kept(store: AnswerStore) -> None:
    """It was paid for, and would be as long again."""
    model = CountingModel([Completion(text="9 characters", fault=Fault.TOO_LARGE)])
    for _ in range(2):
        assert ask_model(StoredModel(model, store, IDENTITY)).fault is Fault.TOO_LARGE
    assert len(model.asked) == 1


def test_after_an_answer_that_cannot_be_kept_nothing_is_asked_any_more(store: AnswerStore) -> None:
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("DROP TABLE answers")
        database.execute("CREATE VIEW answers AS SELECT 1 AS key, 2 AS answer, 3 AS entry, 4 AS written")
    model = CountingModel([Completion(text="a"), Completion(text="b")])
    stored = StoredModel(model, store, IDENTITY)
    for _ in range(2):
        with pytest.raises(NotScoredError) as caught:
            ask_model(stored)
        assert caught.value.cause == "store"
        assert caught.value.reason == (
            f"{store.path}: cannot modify answers because it is a view; move it away, or name another file "
            "with --fcbench-store ('none' stores no answers)"
        )
    assert len(model.asked) == 1


def test_after_a_full_disk_nothing_is_asked_any_more(store: AnswerStore) -> None:
    (pages,) = store._database.execute("PRAGMA page_count").fetchone()
    store._database.execute(f"PRAGMA max_page_count = {pages}")
    model = CountingModel([Completion(text="x" * 100_000)])
    stored = StoredModel(model, store, IDENTITY)
    for request in (REQUEST, AskModel(REQUEST.messages)):
        with pytest.raises(NotScoredError) as caught:
            ask_model(stored, request)
        assert caught.value.cause == "store"
        assert caught.value.reason.startswith(f"{store.path}: database or disk is full; move it away")
    assert model.requests == [REQUEST]


def test_a_store_that_is_closed_scores_nothing(store: AnswerStore) -> None:
    """Python's own errors of SQLite have no code."""
    store._database.close()
    model = CountingModel([Completion(text="a")], immediate=True)
    with pytest.raises(NotScoredError, match="Cannot operate on a closed database"):
        ask_model(StoredModel(model, store, IDENTITY, immediate=True))


@pytest.mark.parametrize("immediate", [False, True])
def test_an_answer_is_stored_with_its_entry_and_model(
    store: AnswerStore, immediate: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: 1000.5)
    answer = Completion(text="a", input_tokens=3)
    model = CountingModel([answer], immediate=immediate)
    stored = StoredModel(model, store, IDENTITY, immediate=immediate)
    assert ask_model(stored) == answer
    assert list(store.kept()) == [Kept("core:simple_python_0", "openai/x", 3, None, 1000.5)]
    assert store.get(make_key(IDENTITY, ENTRY, REQUEST)) == answer


def test_no_key_in_an_address_is_stored_with_an_answer(store: AnswerStore) -> None:
    identity = {**IDENTITY, "api_base": "http://reader:pw@office.example/v1?code=ab12cd34ef"}
    ask_model(StoredModel(CountingModel([Completion(text="a")]), store, identity))
    assert [kept.model for kept in store.kept()] == ["openai/x at http://***@office.example/v1?code=***"]


@pytest.mark.parametrize(
    "other",
    [
        {**IDENTITY, "model": "openai/y"},
        {**IDENTITY, "api_base": "http://localhost:8000/v1"},
        {**IDENTITY, "parameters": {"temperature": 1.0}},
    ],
    ids=["model", "endpoint", "parameters"],
)
def test_what_can_change_an_answer_changes_the_key(other: dict[str, object]) -> None:
    assert make_key(other, ENTRY, REQUEST) != make_key(IDENTITY, ENTRY, REQUEST)


@pytest.mark.parametrize(
    "request_",
    [
        AskModel(({"role": "system", "content": "Grüße"},), REQUEST.tools),
        AskModel(REQUEST.messages),
        AskModel((*REQUEST.messages, *REQUEST.messages), REQUEST.tools),
    ],
    ids=["role", "tools", "messages"],
)
def test_what_is_asked_changes_the_key(request_: AskModel) -> None:
    assert make_key(IDENTITY, ENTRY, request_) != make_key(IDENTITY, ENTRY, REQUEST)


def test_turn_and_step_are_no_part_of_the_key() -> None:
    """They say nothing that the messages do not say."""
    assert make_key(IDENTITY, ENTRY, replace(REQUEST, turn=1, step=2)) == make_key(IDENTITY, ENTRY, REQUEST)


def test_entry_and_trial_are_draws_of_their_own() -> None:
    once = make_key(IDENTITY, ENTRY, REQUEST)
    assert make_key(IDENTITY, make_entry(entry_id="simple_python_1"), REQUEST) != once
    assert make_key(IDENTITY, replace(ENTRY, trial=2), REQUEST) != once
    assert make_key(IDENTITY, replace(ENTRY, trial=1), REQUEST) == once


def test_a_key_is_no_part_of_the_key() -> None:
    """Another api key is the same question, and no digest of it is kept."""
    parameters = {"temperature": 0.0, "api_key": "sk-1", "extra_headers": {"X-Api-Key": "y"}}
    assert make_key({**IDENTITY, "parameters": parameters}, ENTRY, REQUEST) == make_key(
        IDENTITY, ENTRY, REQUEST
    )


def test_an_answer_is_reused_with_another_api_key(store: AnswerStore) -> None:
    first, second = ({**IDENTITY, "parameters": {"api_key": key}} for key in ("sk-1", "sk-2"))
    assert ask_model(StoredModel(CountingModel([Completion(text="a")]), store, first)).text == "a"
    assert ask_model(StoredModel(CountingModel([]), store, second)).text == "a"


def test_an_offline_run_takes_no_lock(store: AnswerStore) -> None:
    with pytest.raises(NotScoredError, match="an offline run sends no requests"):
        ask_model(StoredModel(CountingModel([]), store, IDENTITY, offline=True))
    assert not store.path.with_name(f"{store.path.name}-asking").exists()


def test_a_header_that_is_no_secret_is_part_of_the_key() -> None:
    headers = {"Authorization": "Bearer a", "X-Route": "b"}
    plain, routed, keyed = (
        make_key({"parameters": {"extra_headers": sent}}, ENTRY, REQUEST)
        for sent in ({}, headers, {**headers, "Authorization": "Bearer c"})
    )
    assert plain != routed == keyed


def test_tools_that_are_equal_but_not_the_same_json_are_told_apart() -> None:
    keys = AnswerKeys(IDENTITY)
    tools: list[dict[str, object]] = [{"default": 1}, {"default": 1.0}, {"default": True}]
    found = [keys.make_key(ENTRY, replace(REQUEST, tools=(tool,))) for tool in tools]
    assert len(set(found)) == 3
    assert found == [make_key(IDENTITY, ENTRY, replace(REQUEST, tools=(tool,))) for tool in tools]


def test_the_key_is_a_hash_of_sorted_json() -> None:
    """Stores that exist are found by it."""
    assert make_key(IDENTITY, ENTRY, REQUEST) == hash_text(
        '[{"api_base": null, "model": "openai/x", "parameters": {"temperature": 0.0}}, '
        '["core:simple_python_0", 1], [{"content": "Gr\\u00fc\\u00dfe", "role": "user"}], '
        '[{"type": "function"}]]'
    )


def test_a_parameter_that_json_cannot_write_is_written_as_python_does() -> None:
    parameters = {"stop": {1}}
    assert make_key({"parameters": parameters}, ENTRY, AskModel(())) == hash_text(
        '[{"parameters": {"stop": "{1}"}}, ["core:simple_python_0", 1], [], []]'
    )


def test_the_order_of_keys_does_not_matter() -> None:
    turned = AskModel(({"content": "Grüße", "role": "user"},), REQUEST.tools)
    assert make_key(IDENTITY, ENTRY, turned) == make_key(IDENTITY, ENTRY, REQUEST)


def test_a_request_in_another_form_is_another_question() -> None:
    plain = AskModel(({"role": "user", "content": "hi"},))
    forms = [
        plain,
        replace(plain, wire=WireRequest(Api.CHAT, {"messages": []})),
        replace(plain, wire=WireRequest(Api.MESSAGES, {"messages": []})),
        replace(plain, wire=WireRequest(Api.CHAT, {"messages": [], "store": False})),
    ]
    assert len({make_key({}, make_entry(), each) for each in forms}) == len(forms)
    assert len({each.digest for each in forms}) == len(forms)
    same = replace(plain, messages=(), wire=forms[1].wire)
    assert make_key({}, make_entry(), same) == make_key({}, make_entry(), forms[1])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
@pytest.mark.parametrize("end", ["answer", "nothing"])
def test_what_another_run_is_asking_for_is_waited_for(store: AnswerStore, end: str) -> None:
    """Where the other run ends without an answer, this one asks."""
    request = AskModel(({"role": "user", "content": "asked twice"},))
    key = make_key(IDENTITY, ENTRY, request)
    model = CountingModel([Completion(text="ours")])
    with hold_lock(store, key) as other:
        asking = Attempt(lambda: ask_model(StoredModel(model, store, IDENTITY), request))
        with pytest.raises(Stuck, match="no end"):
            asking.result(0.5)
        if end == "answer":
            with closing(AnswerStore(store.path)) as theirs:
                theirs.put(key, ENTRY.key, "m", Completion(text="theirs"))
        else:
            other.kill()
        answer = asking.result()
    assert isinstance(answer, Completion)
    assert answer.text == ("theirs" if end == "answer" else "ours")
    assert len(model.asked) == (0 if end == "answer" else 1)


def test_an_answer_that_another_run_stored_before_it_released_the_lock_is_reused(
    store: AnswerStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def store_and_take(key: str) -> bool:
        store.put(key, ENTRY.key, "m", Completion(text="theirs"))
        return True

    monkeypatch.setattr(store.locks, "take", store_and_take)
    model = CountingModel([Completion(text="ours")])
    stored = StoredModel(model, store, IDENTITY)
    assert ask_model(stored).text == "theirs"
    assert (len(model.asked), stored.reused) == (0, 1)


def test_a_lock_is_released_when_the_answer_is_stored(store: AnswerStore) -> None:
    model = CountingModel([Completion(text="a"), Completion(fault=Fault.OVERFLOW)])
    for number in range(2):
        request = AskModel(({"role": "user", "content": str(number)},))
        ask_model(StoredModel(model, store, IDENTITY), request)
        with hold_lock(store, make_key(IDENTITY, ENTRY, request)):
            pass  # which fails where the lock is taken


@pytest.mark.parametrize(("refresh", "immediate"), [(True, False), (False, True)])
def test_a_run_that_reuses_nothing_or_never_waits_needs_no_lock(
    store: AnswerStore, refresh: bool, immediate: bool
) -> None:
    model = CountingModel([Completion(text="a")])
    with hold_lock(store, make_key(IDENTITY, ENTRY, REQUEST)):
        stored = StoredModel(model, store, IDENTITY, refresh=refresh, immediate=immediate)
        assert ask_model(stored).text == "a"
