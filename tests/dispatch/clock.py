"""Tests of waits: loops whose time is made up, and a bound for what could wait for ever."""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections.abc import Callable, Coroutine
from typing import TypeVar

_T = TypeVar("_T")

START = 1000.0
"""The time at which such a loop begins."""


class Stuck(AssertionError):  # noqa: N818 - reads as the state it names
    """Nothing that was started can ever go on."""


class _Selector(selectors.SelectSelector):
    """Where a loop would wait, the time is later instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now = START

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Stuck("every task waits, and for nothing that could come")
        self.now += max(0.0, timeout)
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


def run_coroutine(main: Coroutine[object, object, _T]) -> _T:
    """Return the result of a coroutine whose waits take no time; raise ``Stuck`` where it could only hang."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(main)


def read_clock() -> float:
    """Return the seconds since the loop began."""
    return asyncio.get_running_loop().time() - START


async def let_tasks_settle() -> None:
    """Let every task go on until it waits for something."""
    for _ in range(50):
        await asyncio.sleep(0)


class Attempt(threading.Thread):
    """Something that may block, in a thread of its own."""

    def __init__(self, function: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._function = function
        self._result: object = None
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        """Call the function and keep its result or its error."""
        try:
            self._result = self._function()
        except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
            self._error = error

    def result(self, patience_s: float = 10.0) -> object:
        """Return or raise the outcome of the function; raise ``Stuck`` where it has not come to an end."""
        self.join(patience_s)
        if self.is_alive():
            raise Stuck(f"no end after {patience_s:g} s")
        if self._error is not None:
            raise self._error
        return self._result


def wait_until(condition: Callable[[], bool], patience_s: float = 10.0) -> None:
    """Return when the condition holds. Raises ``Stuck`` where it does not come to that."""
    pause = threading.Event()
    for _ in range(int(patience_s / 0.002)):
        if condition():
            return
        pause.wait(0.002)
    raise Stuck("what was waited for did not come")
