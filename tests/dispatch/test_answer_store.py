"""Answers are kept before anybody sees them, and never bought twice."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.dispatch import answer_store
from pytest_fcbench.dispatch.answer_store import AnswerStore, Kept, Replies, RequestLocks
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    Ending,
    ToolCall,
)
from pytest_fcbench.suites import core
from tests.cases import each_case
from tests.dispatch.stores import MESSAGE, hash_text, hold_lock, write_old_row
from tests.factories import make_doc, make_entry, make_multi_turn

REQUEST = AskModel(({"role": "user", "content": "Grüße"},), ({"type": "function"},))
ENTRY = make_entry()
WORDING = core.open_suite(Path()).wording
IDENTITY = {"model": "openai/x", "api_base": None, "parameters": {"temperature": 0.0}}
TALK = make_multi_turn(("Go.", []), ("On.", []), functions=[make_doc("f", {})])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AnswerStore]:
    with closing(AnswerStore(tmp_path / "deep" / "answers.sqlite")) as store:
        yield store


@each_case("before", range(6))
def test_two_runs_may_create_a_store_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    """The other one creates it just before one of the statements of this one."""
    path = tmp_path / "answers.sqlite"
    others: list[AnswerStore] = []
    statements: list[str] = []

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            statements.append(sql)
            if len(statements) == before + 1:
                monkeypatch.undo()
                others.append(AnswerStore(path))
            return super().execute(sql, *values)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Connection))
    with closing(AnswerStore(path)) as store, closing(others[0]):
        store.put("key", "core:a", "m", Completion(text="a"))
        assert others[0].get("key") == Completion(text="a")


def test_a_store_is_created_when_another_run_has_written_to_the_file(tmp_path: Path) -> None:
    """SQLite does not wait for a writer when it switches a file to WAL mode."""
    path = tmp_path / "answers.sqlite"
    with (
        closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as writer,
        ThreadPoolExecutor(1) as thread,
    ):
        writer.execute("BEGIN IMMEDIATE")
        opened = thread.submit(AnswerStore, path)
        with pytest.raises(TimeoutError):
            opened.result(0.3)
        writer.execute("ROLLBACK")
        with closing(opened.result(60)) as store:
            assert list(store.kept()) == []


@given(
    text=st.none() | st.text(),
    name=st.text(),
    latency=st.none() | st.floats(0, 1e6),
    tokens=st.none() | st.integers(0, 2**40),
)
def test_what_is_put_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    text: str | None,
    name: str,
    latency: float | None,
    tokens: int | None,
) -> None:
    completion = Completion(
        text=text,
        tool_calls=(ToolCall(name, '{"a": '), "a text part"),
        reasoning=text,
        input_tokens=tokens,
        latency_s=latency,
    )
    store = AnswerStore(tmp_path_factory.getbasetemp() / "property.sqlite")
    store.put("key", "core:multiple_0", "m", completion)
    assert store.get("key") == completion
    store.close()


def test_an_answer_is_stored_as_it_came(store: AnswerStore) -> None:
    completion = Completion(
        tool_calls=(ToolCall("f", "{}", "theirs"), "and", ToolCall("g", "{}")),
        finish_reason="length",
        ending=Ending.CUT,
        refusal="no",
        in_parts=True,
        message=MESSAGE,
    )
    store.put("key", "core:multiple_0", "m", completion)
    assert store.get("key") == completion


def test_rows_of_the_first_version_are_read(store: AnswerStore) -> None:
    write_old_row(store, "key", "a", {"f": '{"a": 1}'}, "b")
    calls = (ToolCall("f", '{"a": 1}'), "b")
    assert store.get("key") == Completion(text="a", tool_calls=calls, latency_s=1.5, input_tokens=7)


def test_nothing_is_stored_yet(store: AnswerStore) -> None:
    assert store.get("key") is None


def test_an_answer_is_on_disk_when_put_returns(store: AnswerStore) -> None:
    store.put("key", "core:multiple_0", "m", Completion(text="a"))
    with closing(AnswerStore(store.path)) as other:
        assert other.get("key") == Completion(text="a")


def test_all_missing_folders_above_a_file_are_made(tmp_path: Path) -> None:
    with closing(AnswerStore(tmp_path / "deep" / "deeper" / "answers.sqlite")) as made:
        made.put("key", "core:multiple_0", "m", Completion(text="a"))
    assert (tmp_path / "deep" / "deeper" / "answers.sqlite").stat().st_size > 0


def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    path.write_bytes(b"my diary, do not touch " * 100)
    with pytest.raises(UsageError, match="move it away, or name another file with --fcbench-store"):
        AnswerStore(path)
    assert path.read_bytes() == b"my diary, do not touch " * 100


def test_somebody_elses_database_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE diary (day TEXT)")
    with pytest.raises(UsageError, match="was not written as a store by this version of fcbench"):
        AnswerStore(path)
    with closing(sqlite3.connect(path)) as database, database:
        assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("diary",)]


def test_a_place_where_no_file_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="--fcbench-store"):
        AnswerStore(tmp_path / "file" / "answers.sqlite")


def test_a_missing_file_is_not_made_unasked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        AnswerStore(tmp_path / "deep" / "answers.sqlite", new=False)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    path.write_bytes(b"")
    with pytest.raises(UsageError, match="was not written as a store"):
        AnswerStore(path, new=False)
    assert path.read_bytes() == b""


def test_what_is_kept_can_be_looked_at(store: AnswerStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1000.5)
    store.put("1", "core:multiple_0", "m", Completion(text="a", input_tokens=5))
    store.put("2", "core:multiple_0-t2", "n", Completion(text="b", output_tokens=2))
    one, two = (
        Kept("core:multiple_0", "m", 5, None, 1000.5),
        Kept("core:multiple_0-t2", "n", None, 2, 1000.5),
    )
    assert list(store.kept()) == [one, two]
    assert list(store.kept("n")) == [two]


@pytest.mark.parametrize(
    ("conditions", "keys"),
    [
        ({}, "abcd"),
        ({"model": "m"}, "ab"),
        ({"model": "\ud800"}, "d"),
        ({"entries": "core:*"}, "acd"),
        ({"before": 3.0}, "ab"),
        ({"model": "m", "entries": "core:*", "before": 9.0}, "a"),
        ({"model": "o"}, ""),
    ],
    ids=str,
)
def test_answers_that_meet_all_conditions_are_counted_and_deleted(
    store: AnswerStore, monkeypatch: pytest.MonkeyPatch, conditions: dict[str, Any], keys: str
) -> None:
    rows = {"a": ("core:x", "m"), "b": ("bfcl:x", "m"), "c": ("core:x", "n"), "d": ("core:y", "\ud800")}
    for second, (key, (entry, model)) in enumerate(rows.items(), 1):
        monkeypatch.setattr("time.time", lambda second=second: float(second))
        store.put(key, entry, model, Completion(text=key))
    assert store.count(**conditions) == len(keys)
    assert store.delete(**conditions) == len(keys)
    assert [key for key in rows if store.get(key) is None] == list(keys)


def test_answers_that_were_written_here_are_counted(store: AnswerStore) -> None:
    """Each time, also where they take the place of another; those of another process are not."""

    async def keep_many() -> None:
        await asyncio.gather(
            *(store.keep(f"key {n}", "core:a", "m", Completion(text=str(n))) for n in range(5))
        )

    assert store.count_written() == 0
    store.put("key", "core:a", "m", Completion(text="a"))
    store.put("key", "core:a", "m", Completion(text="b"))
    asyncio.run(keep_many())
    with closing(AnswerStore(store.path)) as other:
        other.put("another", "core:a", "m", Completion(text="c"))
        assert (store.count_written(), other.count_written()) == (7, 1)


def test_answers_that_nobody_waits_for_are_written_before_they_are_counted(store: AnswerStore) -> None:
    async def keep_and_leave() -> None:
        # A task that its loop leaves behind is complained about.
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        asyncio.get_running_loop().create_task(store.keep("left", "core:a", "m", Completion(text="left")))
        await asyncio.sleep(0)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(keep_and_leave())
    loop.close()
    assert store.count_written() == 1


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_store_that_is_deleted_while_it_is_open_is_written_again(tmp_path: Path, is_replaced: bool) -> None:
    path = tmp_path / "folder" / "answers.sqlite"
    with closing(AnswerStore(path)) as store:
        store.put("before", "core:a", "m", Completion(text="a"))
        shutil.rmtree(path.parent)
        if is_replaced:
            with closing(AnswerStore(path)) as other:
                other.put("other", "core:b", "m", Completion(text="b"))
        store.put("after", "core:c", "m", Completion(text="c"))
        assert (store.is_restored, store.count_written()) == (True, 2)
        assert store.get("before") == Completion(text="a")
        path.unlink()
    with closing(AnswerStore(path, new=False)) as again:
        keys = ("before", "after", *(["other"] if is_replaced else []))
        assert [again.get(key) is not None for key in keys] == [True] * len(keys)


def test_another_file_in_the_place_of_the_store_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    with closing(AnswerStore(path)) as store:
        path.unlink()
        path.write_text("notes of somebody " * 100)
        with pytest.raises(sqlite3.DatabaseError, match="file is not a database"):
            store.put("key", "core:a", "m", Completion(text="a"))
    assert path.read_text().startswith("notes of somebody")


def test_space_of_deleted_answers_is_given_back(store: AnswerStore) -> None:
    for number in range(50):
        store.put(str(number), f"core:multiple_{number}", "m", Completion(text="x" * 10_000))
    before = store.size
    assert before > 500_000
    assert store.delete(entries="core:multiple_?") == 10
    assert store.delete() == 40
    store.shrink()
    assert store.size < before / 10
    with closing(AnswerStore(store.path, new=False)) as again:
        assert list(again.kept()) == []


def test_replies_of_web_apis_are_kept_beside_answers(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    replies = Replies(AnswerStore(path))
    assert replies.get("one") is None
    replies.put("one", "a.example", "[200]")
    assert replies.get("one") == "[200]"
    assert replies.get("two") is None
    assert replies.store.get(hash_text('["web", "one"]')) == Completion(text="[200]")
    assert Replies(replies.store, refresh=True).get("one") is None
    assert [(kept.model, kept.entry) for kept in replies.store.kept()] == [("web", "web:a.example")]
    replies.store.close()
    again = Replies(AnswerStore(path), offline=True)
    assert again.get("one") == "[200]"
    again.store.close()


def test_names_may_hold_what_only_json_can_write(store: AnswerStore) -> None:
    """An escape such as ``\\ud800`` in a file of entries is half a character."""
    store.put("key", "core:a\ud800", "m\udfff", Completion(text="\ud800"))
    assert store.get("key") == Completion(text="\ud800")
    assert [kept.entry for kept in store.kept("m\udfff")] == ["core:a\\ud800"]
    assert store.delete(model="m\udfff") == 1


def test_answers_that_come_together_are_written_together(tmp_path: Path) -> None:
    """One transaction costs as much as one row."""
    store = AnswerStore(tmp_path / "answers.sqlite")
    commits: list[str] = []
    store._database.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)

    async def keep_many() -> None:
        await asyncio.gather(
            *(store.keep(f"key {n}", "core:a", "m", Completion(text=str(n))) for n in range(50))
        )

    asyncio.run(keep_many())
    assert [store.get(f"key {n}") for n in range(50)] == [Completion(text=str(n)) for n in range(50)]
    assert 1 <= len(commits) < 50
    store.close()


def test_of_answers_that_come_together_each_has_its_own_outcome(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "answers.sqlite")
    store._database.execute(
        "CREATE TRIGGER refuse BEFORE INSERT ON answers WHEN new.key = 'bad' "
        "BEGIN SELECT RAISE(FAIL, 'no'); END"
    )

    async def keep_many() -> list[BaseException | None]:
        keys = ("good", "bad", "also good")
        kept = (store.keep(key, "core:a", "m", Completion(text=key)) for key in keys)
        return await asyncio.gather(*kept, return_exceptions=True)

    outcomes = asyncio.run(keep_many())
    assert [type(outcome) for outcome in outcomes] == [type(None), sqlite3.IntegrityError, type(None)]
    assert [store.get(key) is not None for key in ("good", "bad", "also good")] == [True, False, True]
    store.close()


def test_an_answer_is_kept_though_nobody_waits_for_it_any_more(tmp_path: Path) -> None:
    """It is paid for: neither a conversation that was cancelled nor a loop that has ended loses it."""
    store = AnswerStore(tmp_path / "answers.sqlite")
    complaints: list[object] = []

    async def keep_and_give_up() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, told: complaints.append(told))
        for key in ("cancelled", "another"):
            kept = asyncio.create_task(store.keep(key, "core:a", "m", Completion(text=key)))
            await asyncio.sleep(0)
            if key == "cancelled":
                kept.cancel()
        await kept
        # Left behind: the writer has not begun with it when the loop ends.
        with store._writing:
            asyncio.get_running_loop().create_task(store.keep("late", "core:a", "m", Completion(text="late")))
            await asyncio.sleep(0)

    # Unlike ``asyncio.run`` this leaves what is in progress alone, as a loop that was stopped does.
    loop = asyncio.new_event_loop()
    loop.run_until_complete(keep_and_give_up())
    loop.close()
    store.close()
    again = AnswerStore(tmp_path / "answers.sqlite", new=False)
    assert [again.get(key) is not None for key in ("cancelled", "another", "late")] == [True] * 3
    again.close()
    assert complaints == []


def test_one_that_gave_up_keeps_no_other_waiting(store: AnswerStore) -> None:
    """Both come while another process writes, so they are written together."""

    async def keep_both() -> bool:
        first = asyncio.create_task(store.keep("first", "core:a", "m", Completion(text="first")))
        await asyncio.sleep(0.05)
        gone, other = (
            asyncio.create_task(store.keep(key, "core:a", "m", Completion(text=key)))
            for key in ("gone", "other")
        )
        await asyncio.sleep(0)
        gone.cancel()
        writing.execute("ROLLBACK")
        await asyncio.wait_for(asyncio.gather(first, other), 20)
        return gone.cancelled()

    with closing(sqlite3.connect(store.path, isolation_level=None)) as writing:
        writing.execute("BEGIN IMMEDIATE")
        assert asyncio.run(keep_both())
    assert [store.get(key) is not None for key in ("first", "gone", "other")] == [True] * 3


def test_a_loop_that_has_ended_keeps_no_other_loop_waiting(tmp_path: Path) -> None:
    store, busy = AnswerStore(tmp_path / "answers.sqlite"), threading.Event()
    store._writer.submit(busy.wait)

    async def leave_answer() -> None:
        asyncio.get_running_loop().create_task(store.keep("left", "core:a", "m", Completion(text="left")))
        await asyncio.sleep(0)

    async def wait_for_other() -> None:
        kept = asyncio.create_task(store.keep("other", "core:a", "m", Completion(text="other")))
        await asyncio.sleep(0)
        busy.set()
        await asyncio.wait_for(kept, 20)

    ended = asyncio.new_event_loop()
    ended.run_until_complete(leave_answer())
    ended.close()
    asyncio.run(wait_for_other())
    assert [store.get(key) is not None for key in ("left", "other")] == [True, True]
    store.close()


def test_threads_that_store_at_once_do_not_meet_in_one_transaction(tmp_path: Path) -> None:
    """SQLite refuses a transaction within a transaction."""
    store = AnswerStore(tmp_path / "answers.sqlite")
    with ThreadPoolExecutor(8) as threads:
        stored = [
            threads.submit(store.put, f"key {n}", "core:a", "m", Completion(text=str(n))) for n in range(400)
        ]
    assert [each.exception() for each in stored] == [None] * 400
    assert len(list(store.kept())) == 400
    store.close()


# Damage

DAMAGED = {
    "no JSON": "{half",
    "no object": "[1]",
    "a key is missing": '{"text": "x"}',
    "deep": "[" * 100_000,
    "empty": "",
}


def damage_row(store: AnswerStore, key: str, answer: str) -> None:
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("UPDATE answers SET answer = ? WHERE key = ?", (answer, key))


@pytest.mark.parametrize("answer", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_row_names_its_entry_and_the_way_out(store: AnswerStore, answer: str) -> None:
    store.put("1", "core:multiple_0", "m", Completion(text="a"))
    store.put("2", "core:multiple_1", "m", Completion(text="b", input_tokens=3))
    damage_row(store, "1", answer)
    with pytest.raises(NotScoredError) as caught:
        store.get("1")
    assert caught.value.cause == "store"
    assert caught.value.reason.startswith(f"{store.path}: the stored answer of core:multiple_0 is damaged (")
    assert "'fcbench store prune --entry core:multiple_0', or ask again with --fcb" in caught.value.reason
    found = [(kept.entry, kept.is_damaged, kept.input_tokens) for kept in store.kept()]
    assert found == [("core:multiple_0", True, None), ("core:multiple_1", False, 3)]
    assert store.get("2") == Completion(text="b", input_tokens=3)


def test_a_damaged_page_names_the_file(store: AnswerStore) -> None:
    keys = [f"{number:032}" for number in range(200)]
    for key in keys:
        store.put(key, "core:multiple_0", "m", Completion(text="a" * 2000))
    store.close()
    with store.path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 300_000)
    with closing(AnswerStore(store.path)) as damaged:
        with pytest.raises(NotScoredError) as caught:
            list(map(damaged.get, keys))
        assert caught.value.reason.startswith(f"{store.path}: database disk image is malformed; move it away")


def test_a_lock_of_another_process_is_told(store: AnswerStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_store, "_PATIENCE_S", 0.05)
    with (
        closing(AnswerStore(store.path)) as impatient,
        closing(sqlite3.connect(store.path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked") as caught:
            impatient.put("1", "core:multiple_0", "m", Completion(text="a"))
        told = f"{store.path}: another process holds its lock; end that process and run again"
        assert impatient.describe_error(caught.value) == told


def test_a_lock_is_waited_for_once_for_all_that_wait(
    store: AnswerStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row by row the last of sixteen would be told after eight minutes."""
    tried: list[int] = []

    def write_rows(rows: Sequence[object]) -> None:
        tried.append(len(rows))
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise error

    async def keep_many() -> list[object]:
        waiting = (store.keep(str(n), "core:multiple_0", "m", Completion(text="a")) for n in range(16))
        return list(await asyncio.gather(*waiting, return_exceptions=True))

    monkeypatch.setattr(store, "_write_rows", write_rows)
    assert all(isinstance(error, sqlite3.OperationalError) for error in asyncio.run(keep_many()))
    assert sum(tried) == 16


def test_the_answers_that_were_written_are_counted(store: AnswerStore) -> None:
    store.put("1", "core:multiple_0", "m", Completion(text="a"))
    asyncio.run(store.keep("2", "core:multiple_0", "m", Completion(text="a")))
    assert store.count_written() == 2
    with closing(AnswerStore(store.path)) as again:
        assert again.count_written() == 0


def test_copies_that_are_made_while_answers_are_stored_are_stores(tmp_path: Path) -> None:
    """A copy of file and log may be torn: it gives answers that were stored, or says that it is damaged."""
    written: list[str] = []
    stopped = threading.Event()
    good = 0

    def write_answers(store: AnswerStore) -> None:
        while not stopped.is_set():
            store.put(key := str(len(written)), "core:a", "m", Completion(text=key * 1000))
            written.append(key)

    with closing(AnswerStore(tmp_path / "answers.sqlite")) as store, ThreadPoolExecutor(1) as thread:
        writing = thread.submit(write_answers, store)
        try:
            for number in range(10):
                seen = len(written)
                path = tmp_path / f"copy-{number}" / "answers.sqlite"
                path.parent.mkdir()
                for each in (f"{store.path}-wal", store.path):
                    shutil.copy(each, path.with_name(Path(each).name))
                try:
                    with closing(AnswerStore(path, new=False)) as copy:
                        given = {key: copy.get(key) for key in written}
                except (UsageError, NotScoredError):
                    continue
                assert [
                    key for key, each in given.items() if each not in (None, Completion(text=key * 1000))
                ] == []
                good += sum(each is not None for each in given.values()) >= seen
        finally:
            stopped.set()
        writing.result()
        assert all(store.get(key) for key in written)
    assert good


has_locks = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")

KEY, OTHER = hash_text("one"), hash_text("two")


@has_locks
def test_a_key_that_another_process_holds_is_not_taken_and_other_keys_are(store: AnswerStore) -> None:
    with hold_lock(store, KEY):
        assert not store.locks.take(KEY)
        assert store.locks.take(OTHER)


@has_locks
def test_a_process_that_is_killed_holds_nothing(store: AnswerStore) -> None:
    with hold_lock(store, KEY) as other:
        other.kill()
        other.wait()
        assert store.locks.take(KEY)


@has_locks
def test_a_key_that_was_released_can_be_taken_by_others(store: AnswerStore) -> None:
    assert store.locks.take(KEY)
    assert store.locks.take(OTHER)
    store.locks.release(KEY)
    with hold_lock(store, KEY):
        pass
    with pytest.raises(AssertionError, match=OTHER), hold_lock(store, OTHER):
        pass


@has_locks
def test_closing_releases_all(store: AnswerStore) -> None:
    assert store.locks.take(KEY)
    store.locks.close()
    with hold_lock(store, KEY):
        pass


@has_locks
def test_no_file_is_made_before_a_lock_is_taken(tmp_path: Path) -> None:
    locks = RequestLocks(tmp_path / "locks")
    locks.release(KEY)
    assert list(tmp_path.iterdir()) == []
    assert locks.take(KEY)
    assert (tmp_path / "locks").stat().st_size == 0
    locks.close()


@has_locks
def test_where_no_file_can_be_made_nothing_is_locked(tmp_path: Path) -> None:
    """The folder stands for a file of another user: what is stored there can still be reused."""
    (tmp_path / "locks").mkdir()
    locks = RequestLocks(tmp_path / "locks")
    assert locks.take(KEY)
    locks.release(KEY)
    locks.close()
