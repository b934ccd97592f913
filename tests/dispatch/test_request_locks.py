"""A lock of a key is held by one process at a time, and by none that has ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.dispatch.request_locks import RequestLocks
from tests.dispatch.stores import hash_text, hold_lock

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")

KEY, OTHER = hash_text("one"), hash_text("two")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AnswerStore]:
    with closing(AnswerStore(tmp_path / "answers.sqlite")) as store:
        yield store


def test_a_key_that_another_process_holds_is_not_taken_and_other_keys_are(store: AnswerStore) -> None:
    with hold_lock(store, KEY):
        assert not store.locks.take(KEY)
        assert store.locks.take(OTHER)


def test_a_process_that_is_killed_holds_nothing(store: AnswerStore) -> None:
    with hold_lock(store, KEY) as other:
        other.kill()
        other.wait()
        assert store.locks.take(KEY)


def test_a_key_that_was_released_can_be_taken_by_others(store: AnswerStore) -> None:
    assert store.locks.take(KEY)
    assert store.locks.take(OTHER)
    store.locks.release(KEY)
    with hold_lock(store, KEY):
        pass
    with pytest.raises(AssertionError, match=OTHER), hold_lock(store, OTHER):
        pass


def test_closing_releases_all(store: AnswerStore) -> None:
    assert store.locks.take(KEY)
    store.locks.close()
    with hold_lock(store, KEY):
        pass


def test_no_file_is_made_before_a_lock_is_taken(tmp_path: Path) -> None:
    locks = RequestLocks(tmp_path / "locks")
    locks.release(KEY)
    assert list(tmp_path.iterdir()) == []
    assert locks.take(KEY)
    assert (tmp_path / "locks").stat().st_size == 0
    locks.close()


def test_where_no_file_can_be_made_nothing_is_locked(tmp_path: Path) -> None:
    """The folder stands for a file of another user: what is stored there can still be reused."""
    (tmp_path / "locks").mkdir()
    locks = RequestLocks(tmp_path / "locks")
    assert locks.take(KEY)
    locks.release(KEY)
    locks.close()
