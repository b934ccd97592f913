"""A run that is ended by a signal asks nothing more, keeps what it has, and leaves nothing behind."""

from __future__ import annotations

import signal
import sys
import time

import pytest

from pytest_fcbench.plugin.stop_signals import StopSignals
from pytest_fcbench.run.session import Session
from tests.chaos.signalled_runs import EARLY, LATER, PLAIN, TWO_WORKERS, start_run
from tests.dispatch.clock import wait_until
from tests.plugin.conftest import Project

AT_ONCE = 16
NIGHTLY = pytest.mark.nightly


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("number", "code", "group", "twice", "options", "after"),
    [
        pytest.param(signal.SIGINT, 2, True, False, (*LATER, *PLAIN), 40, id="INT"),
        pytest.param(
            signal.SIGINT, 2, True, True, (*LATER, *TWO_WORKERS), 40, id="INT twice, 2 workers", marks=NIGHTLY
        ),
        pytest.param(signal.SIGINT, 2, True, False, (*EARLY, *TWO_WORKERS), 1, id="early INT, 2 workers"),
        pytest.param(signal.SIGTERM, 143, False, False, (*LATER, *TWO_WORKERS), 40, id="TERM, 2 workers"),
        pytest.param(signal.SIGTERM, 143, False, False, (*EARLY, *PLAIN), 1, id="early TERM", marks=NIGHTLY),
        pytest.param(signal.SIGHUP, 129, True, True, (*LATER, *PLAIN), 40, id="HUP twice", marks=NIGHTLY),
        pytest.param(
            signal.SIGHUP, 129, True, False, (*LATER, *TWO_WORKERS), 40, id="HUP, 2 workers", marks=NIGHTLY
        ),
    ],
)
def test_a_signal_ends_a_run_in_order(
    project: Project,
    number: int,
    code: int,
    group: bool,
    twice: bool,
    options: tuple[str, ...],
    after: int,
) -> None:
    with start_run(project.path, *options, at_once=AT_ONCE) as run:
        wait_until(lambda: len(run.server.arrivals) >= after, 60)
        output = run.end(number, group=group, twice=twice)
        assert run.process.returncode == code, output
        assert run.late_requests == []
        assert "Traceback" not in output
        assert "INTERNALERROR" not in output
        assert run.left_behind == []
        assert f"{run.stored} answer" in output
        assert "run again to continue from there" in output
        assert ("the run was ended by SIG" in output) == (number != signal.SIGINT)
        name = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
        assert f" ended by {name}: the run is unfinished " in output
        assert "stop_signals.py" not in output
    judged = project.records()
    assert len(judged) <= run.stored
    section = project.scorecard()["fcbench"]
    assert isinstance(section, dict)
    assert section["narrowed_by"] == "an early end"
    # Workers may have judged nothing yet.
    assert not judged if options[0] in EARLY else judged or "2" in options


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 2), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["INT", "TERM", "HUP"],
)
def test_a_signal_to_a_process_that_has_said_all_changes_no_exit_code(
    project: Project, number: int, code: int
) -> None:
    with start_run(project.path, *EARLY, at_once=AT_ONCE) as run:
        wait_until(lambda: run.server.arrivals != [], 60)
        run.process.send_signal(number)
        assert run.process.stdout is not None
        last = next(line for line in run.process.stdout if "no tests ran in" in line)
        while run.process.poll() is None:
            run.process.send_signal(number)
            time.sleep(0.05)
    assert run.process.returncode == code, last


def test_a_run_that_was_ended_goes_on_where_it_was(project: Project) -> None:
    chosen = "--fcbench-category=simple_python,parallel,irrelevance"
    with start_run(project.path, chosen, at_once=AT_ONCE) as run:
        wait_until(lambda: run.server.answered >= 20, 60)
        run.end(signal.SIGTERM, group=False, twice=False)
        stored = run.stored
    # Another address would be another server.
    with start_run(project.path, chosen, at_once=AT_ONCE, port=run.port) as again:
        output, _ = again.process.communicate(timeout=60)
    assert again.process.returncode in (0, 1)
    assert f"{stored} answers were reused" in output
    assert len(again.server.arrivals) == len(project.records()) - stored


def test_a_signal_before_anything_is_asked_ends_the_run_at_once(project: Project) -> None:
    with start_run(project.path, "--collect-only", at_once=AT_ONCE) as run:
        time.sleep(0.3)
        output = run.end(signal.SIGTERM, group=False, twice=False)
    # By the signal itself, or in order where the session had begun; or it came too late.
    assert run.process.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM, 0)
    assert "Traceback" not in output
    assert run.server.arrivals == []
    assert not (project.path / "scorecard.json").exists()


def test_a_signal_that_comes_while_another_is_handled_does_not_keep_the_run_from_ending() -> None:
    """As when a terminal and a program that ends its children send one each."""

    class HaltingSession(Session):
        def __init__(self) -> None:
            self.halts = 0

        def halt(self) -> None:
            self.halts += 1
            if self.halts == 1:
                signals._receive(signal.SIGINT, None)

    session = HaltingSession()
    signals = StopSignals(pytest.Config.fromdictargs({}, []), session)
    with pytest.raises(KeyboardInterrupt):
        signals._receive(signal.SIGINT, None)
    assert session.halts == 2


def test_signals_are_given_back(project: Project) -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    project.run("--fcbench-category=parallel", "--fcbench-limit=2").assert_outcomes(passed=2)
    assert [signal.getsignal(number) for number in numbers] == before
