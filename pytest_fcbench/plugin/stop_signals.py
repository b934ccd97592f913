"""The end of a run by a signal: no request goes out after it, and what is judged is in the scorecard."""

from __future__ import annotations

import atexit
import signal
import threading
import time
from collections.abc import Generator
from types import FrameType

import pytest

from pytest_fcbench.plugin.xdist_workers import shorten_goodbye
from pytest_fcbench.run.session import Session

_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end a run; Windows has no SIGHUP."""
_MOST_IGNORED = 2
"""Signals after the first that do not cut the end of a run short: it takes a second or two."""
_GOODBYE_S = 5.0
"""Seconds in which a process that was ended by a signal, and has said all, hears no second one."""


class StopSignals:
    """Ends a run on SIGTERM and SIGHUP as pytest ends it on Ctrl-C, and lets it end after any of them.

    The exit code is 2 after SIGINT, which is pytest's, and 128 and the number of any other signal.
    """

    def __init__(self, config: pytest.Config, session: Session) -> None:
        self._config = config
        self._session = session
        self._received: list[int] = []
        self._taken: list[int] = []
        self._is_ending = False
        self._ended_at = 0.0

    # First, because xdist starts its workers here.
    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Take the signals that nobody else has taken."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _ENDING:
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                signal.signal(number, self._receive)
                self._taken.append(number)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self._received.append(number)
        # The next signal may come while this one is handled.
        count = len(self._received)
        self._session.halt()
        # Whoever insists need not wait for an end that hangs.
        if (count == 1 and not self._is_ending) or count > 1 + _MOST_IGNORED:
            raise KeyboardInterrupt

    # Last, because pytest remembers here what it prints at the end: a line of this file.
    @pytest.hookimpl(trylast=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Let pytest say what ended the run instead of where its code was, unless that is asked for."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        crash = getattr(getattr(reporter, "_keyboardinterrupt_memo", None), "reprcrash", None)
        if self._received and crash and not self._config.option.fulltrace:
            name = "Ctrl-C" if self._received[0] == signal.SIGINT else signal.Signals(self._received[0]).name
            crash.message = f"ended by {name}: the run is unfinished"

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Wait for workers only a moment; say by the exit code which signal ended the run."""
        self._is_ending = True
        if self._received:
            shorten_goodbye(session.config)
        result = yield
        if self._received and (number := self._received[0]) != signal.SIGINT:
            session.exitstatus = 128 + number
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what ended the run, and what is not lost."""
        if not self._received:
            return
        if (number := self._received[0]) != signal.SIGINT:
            terminalreporter.write_line(f"the run was ended by {signal.Signals(number).name}", red=True)
        if self._session.has_started:
            terminalreporter.write_line(self._session.describe_kept_answers())

    # Last, when the other plugins have closed what they opened.
    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Give the signals back; one that comes while the process ends does not change its exit code."""
        if self._received:
            self._ended_at = time.monotonic()
            for number in self._taken:
                signal.signal(number, self._receive_late)
                atexit.register(signal.signal, number, signal.SIG_IGN)
        else:
            self._give_back()

    def _receive_late(self, number: int, frame: FrameType | None) -> None:
        # A program that called pytest goes on, and is to be ended as ever.
        if time.monotonic() - self._ended_at > _GOODBYE_S:
            self._give_back()
            signal.raise_signal(number)

    def _give_back(self) -> None:
        for number in self._taken:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
