"""The garbage collector is kept out of the way, and set back as it was."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator

import pytest

from pytest_fcbench.domain.garbage_collection import CollectorSwitch, pause_collector


@pytest.fixture
def _leave_objects_frozen() -> Iterator[None]:
    """Begin with nothing frozen, and with the real switch."""
    gc.unfreeze()
    yield
    gc.freeze()


def test_it_is_set_back_as_it_was() -> None:
    before = gc.get_threshold()
    collector = CollectorSwitch()
    collector.calm()
    assert gc.get_threshold()[0] > before[0]
    calm = gc.get_threshold()
    collector.calm()
    assert gc.get_threshold() == calm
    collector.restore()
    assert gc.get_threshold() == before
    collector.restore()
    assert gc.get_threshold() == before


def test_a_process_that_has_run_entries_exits_without_looking_for_garbage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registered: list[object] = []
    monkeypatch.setattr(atexit, "register", registered.append)
    collector = CollectorSwitch()
    collector.calm()
    collector.restore()
    assert registered == [gc.freeze]


def test_without_calm_nothing_is_changed() -> None:
    before = gc.get_threshold()
    CollectorSwitch().restore()
    assert gc.get_threshold() == before


def test_a_calm_collector_still_knows_what_refers_to_an_object() -> None:
    """Hypothesis asks this of what other packages register, and warns where nothing is found."""
    registered = [object()]
    holder = [registered]
    collector = CollectorSwitch()
    collector.calm()
    try:
        assert any(each is holder for each in gc.get_referrers(registered))
    finally:
        collector.restore()


def test_a_pause_ends_also_with_an_error_and_leaves_a_stopped_collector_stopped() -> None:
    def fail_in_a_pause() -> None:
        with pause_collector():
            assert not gc.isenabled()
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail_in_a_pause()
    assert gc.isenabled()
    with pause_collector():
        with pause_collector():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


@pytest.mark.usefixtures("_leave_objects_frozen")
def test_objects_of_a_run_that_has_ended_are_skipped_until_the_end() -> None:
    collector = CollectorSwitch()
    collector.skip_objects()
    assert gc.get_freeze_count() == 0
    collector.calm()
    try:
        collector.skip_objects()
        assert gc.get_freeze_count() > 0
    finally:
        collector.restore()
    assert gc.get_freeze_count() == 0


def test_what_somebody_else_has_frozen_stays_so() -> None:
    collector = CollectorSwitch()
    gc.freeze()
    collector.calm()
    collector.restore()
    assert gc.get_freeze_count() > 0
