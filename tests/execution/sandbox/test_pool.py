"""Calls are carried out in children that can do nothing else, and that are replaced when they must be."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import RecordedCall
from pytest_fcbench.execution.outcomes import Limit, Raised, Returned, Stopped, Unanswered
from pytest_fcbench.execution.sandbox.pool import CallLimits, Pool
from tests.cases import each_case
from tests.conftest import ROOT

SHORT = CallLimits(cpu_s=0.3, wall_s=5, memory=2**29)


@pytest.fixture(scope="module")
def short_pool() -> Iterator[Pool]:
    with closing(Pool(limits=SHORT)) as made:
        yield made


def list_children(cpu_s: float | None = None) -> list[psutil.Process]:
    """List the processes that start one for each call, all or those with a limit of processor time."""
    module = "pytest_fcbench.execution.sandbox.child"
    children = [p for p in psutil.Process().children() if module in p.cmdline()]
    return [p for p in children if cpu_s is None or p.cmdline()[-3] == str(cpu_s)]


def wait_for_call(cpu_s: float) -> psutil.Process:
    """Wait until a child with this limit carries a call out, and return the process of the call."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        for child in list_children(cpu_s):
            if found := child.children():
                return found[0]
        time.sleep(0.01)
    raise AssertionError("no call is carried out")


def wait_for_end(process: psutil.Process) -> None:
    """Wait until a process has ended, whether or not its status was asked for."""
    end = time.monotonic() + 20
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < end, "the process is left"
        time.sleep(0.02)


@each_case(
    ("call", "value"),
    [
        ("math_gcd(a=12, b=18)", 6),
        ("math_gcd(a=math_factorial(n=4), b=18)", 6),
        ("calculate_mean([1, 3])", 2.0),
        ("simplify_fraction(numerator=6, denominator=8)", [3, 4]),
        ("sort_array(array=[get_fibonacci_sequence(n=4)[3], 1/2, -3])", [-3, 0.5, 2]),
        ("caesar_shift(text='ä\\ud800', shift=1)", "ä\ud800"),
    ],
)
def test_a_call_returns_its_value(short_pool: Pool, call: str, value: object) -> None:
    assert short_pool([call]) == (Returned(value),)


ATTACKS = [
    *(
        "__import__('os').system('id')",
        "import os",
        "os.getpid()",
        "exec('1')",
        "eval('1')",
        "compile('1','','eval')",
    ),
    *(
        "open('/etc/passwd').read()",
        "open(file='/etc/passwd')",
        "subprocess.run(args=['id'])",
        "().__class__",
    ),
    *(
        "math_gcd.__globals__",
        "math_gcd.__globals__['os']",
        "sort_array.__class__(a=1)",
        "getattr(a=1)",
        "globals()",
    ),
    *(
        "sort_array(array=().__class__.__bases__[0].__subclasses__())",
        "(lambda: 1)()",
        "[f() for f in [open]]",
    ),
    *(
        "sort_array(array=open('/etc/passwd'))",
        "calculate_mean(numbers=__builtins__)",
        "print(1)",
        "breakpoint()",
    ),
    *(
        "math_factorial(n=9**9**9)",
        "math_gcd(a=1<<10**10, b=1)",
        "sort_array(array=[0]*10**10)",
        "'%9999999999d' % 1",
    ),
    *(
        "estimate_derivative(function='lambda x: 9**9**9', x=1)",
        "estimate_derivative(function='while 1: pass', x=1)",
    ),
    *(
        "estimate_derivative(function='lambda x: __import__(\"os\").getpid()', x=1)",
        "a" * 2_000_000,
        "\0",
        "",
        "1",
    ),
    *(
        "estimate_derivative(function=\"lambda x: open('/etc/passwd')\", x=1)",
        "math_gcd(**{'a': 1})",
        "math_gcd(*[1])",
    ),
    "math_gcd(a=" + "-" * 49_000 + "1, b=1)",
    *("(" * 500 + ")" * 500, "math_gcd(a=" * 90 + "1" + ")" * 90, "caesar_shift(text='a'*10**9, shift=1)"),
]


@each_case("call", ATTACKS, ids=lambda call: f"{call[:40]!r}")
def test_a_refused_call_leaves_the_pool_working(short_pool: Pool, call: str) -> None:
    (outcome,) = short_pool([call])
    assert isinstance(outcome, Raised), outcome
    assert short_pool(["math_gcd(a=12, b=18)"]) == (Returned(6),)


@each_case(
    ("call", "limits"),
    [
        ("math_factorial(n=10**9)", {Limit.TIME}),
        ("get_prime_factors(number=10**300)", {Limit.TIME}),
        ("get_fibonacci_sequence(n=10**9)", {Limit.TIME, Limit.MEMORY}),
        ("savings_plan(monthly=1, months=10**12, yearly_percent=1)", {Limit.TIME}),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_a_call_past_a_limit_is_stopped_and_the_next_one_runs(
    short_pool: Pool, call: str, limits: set[Limit]
) -> None:
    outcomes = short_pool(["math_gcd(a=4, b=6)", call, "math_gcd(a=12, b=18)"])
    assert outcomes[0] == Returned(2)
    assert isinstance(outcomes[1], Stopped), outcomes[1]
    assert outcomes[1].limit in limits
    assert outcomes[2] == Returned(6)


def test_a_child_that_sleeps_is_ended_by_the_clock() -> None:
    with closing(Pool(1, CallLimits(cpu_s=60, wall_s=0.2))) as pool:
        (outcome,) = pool(["math_factorial(n=10**9)"])
        assert isinstance(outcome, Stopped)
        assert outcome.reason == "it takes more than 0.2 s"


def test_a_child_that_is_killed_costs_one_call() -> None:
    with closing(Pool(1, CallLimits(cpu_s=60))) as pool:
        assert pool(["math_gcd(a=4, b=6)"]) == (Returned(2),)
        (child,) = list_children(60)
        threading.Timer(1, child.kill).start()
        (outcome,) = pool(["math_factorial(n=10**9)"])
        assert outcome == Raised("the process that carried it out ended without a result (status -9)")
        assert pool(["math_gcd(a=4, b=6)"]) == (Returned(2),)
        (child,) = list_children(60)
        child.kill()
        psutil.wait_procs([child], timeout=20)
        assert pool(["math_gcd(a=4, b=6)"]) == (Returned(2),)


def test_others_go_on_meanwhile() -> None:
    with closing(Pool(2, CallLimits(cpu_s=60, wall_s=2))) as pool:
        slow: list[object] = []
        thread = threading.Thread(target=lambda: slow.extend(pool(["math_factorial(n=10**9)"])))
        thread.start()
        assert pool(["math_gcd(a=12, b=18)"] * 20) == (Returned(6),) * 20
        assert slow == []
        thread.join()
        assert isinstance(slow[0], Stopped)


def test_the_parent_answers_for_web_apis(short_pool: Pool) -> None:
    recorded = [RecordedCall.with_reply("get_movie_rating", {"movie_name": "Avatar"}, "PG-13")]
    calls = [
        "get_movie_rating('Avatar')",
        "sort_array(array=get_movie_rating('Avatar'))",
        "get_movie_rating('x')",
    ]
    assert short_pool(calls, recorded) == (
        Returned("PG-13"),
        Returned(sorted("PG-13")),
        Unanswered("get_movie_rating"),
    )
    assert short_pool(["get_movie_rating()"], recorded) == (
        Raised("TypeError: missing a required argument: 'movie_name'"),
    )


def test_a_result_that_is_too_large_stays_in_the_child() -> None:
    with closing(Pool(1, CallLimits(cpu_s=20))) as pool:
        (outcome,) = pool(["get_fibonacci_sequence(n=15000)"])
        assert outcome == Stopped(Limit.MEMORY, "the result is too large")


@pytest.mark.skipif(not hasattr(psutil.Process, "rlimit"), reason="limits can be looked at on Linux only")
def test_a_call_has_no_descriptor_and_no_variable_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with closing(Pool(1, CallLimits(cpu_s=7))) as pool:
        thread = threading.Thread(target=pool, args=(["math_factorial(n=10**9)"],))
        thread.start()
        call = wait_for_call(7)
        time.sleep(0.5)
        assert "OPENAI_API_KEY" not in call.environ()
        assert call.num_fds() == 4
        assert call.rlimit(psutil.RLIMIT_FSIZE) == (0, 0)
        assert call.rlimit(psutil.RLIMIT_AS) == (2**30, 2**30)
        assert call.net_connections() == []
        (child,) = list_children(7)
        child.kill()
        thread.join()
    assert not child.is_running()
    wait_for_end(call)


SUMS = """
from datetime import datetime
import numpy as np
seen = []
def multiply(size):
    return float((np.ones((size, size)) @ np.ones((size, size)))[0, 0])
def read_year(text):
    return datetime.strptime(text, "%d.%m.%Y").year
def count():
    seen.append(1)
    return len(seen)
"""


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("multiply(size=400)", 400.0),
        ("read_year(text='29.02.2024')", 2024),
        ("count()", 1),
    ],
)
def test_own_functions_may_compute_but_keep_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, call: str, value: object
) -> None:
    (tmp_path / "sums_of_a_test.py").write_text(SUMS)
    monkeypatch.syspath_prepend(tmp_path)
    name = f"sums_of_a_test.{call.partition('(')[0]}"
    with closing(Pool(1, unconfined=True)) as pool:
        assert pool([f"sums_of_a_test.{call}"] * 2, own=[name]) == (Returned(value),) * 2


def test_children_are_used_again() -> None:
    with closing(Pool(2)) as pool:
        before = {p.pid for p in list_children()}
        pool(["math_gcd(a=4, b=6)"] * 50)
        assert len({p.pid for p in list_children()} - before) == 1


@pytest.mark.nightly
def test_a_child_that_is_busy_while_the_pool_is_closed_ends_after_its_call() -> None:
    pool = Pool(1, CallLimits(cpu_s=61, wall_s=2))
    thread = threading.Thread(target=pool, args=(["math_factorial(n=10**9)", "math_gcd(a=4, b=6)"],))
    thread.start()
    wait_for_call(61)
    pool.close()
    thread.join()
    assert list_children(61) == []


def test_children_end_when_the_parent_is_killed() -> None:
    code = (
        "import time; from pytest_fcbench.execution.sandbox.pool import Pool; pool = Pool(); "
        "pool(['math_gcd(a=4, b=6)']); print('ready', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == b"ready\n"
        (child,) = psutil.Process(parent.pid).children()
        parent.kill()
    wait_for_end(child)


def test_windows_is_told_to_use_another_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(NotScoredError, match="Linux and macOS only; use WSL"), closing(Pool()) as pool:
        pool(["math_gcd(a=4, b=6)"])


@pytest.mark.parametrize(
    ("text", "error"),
    [("import os\nKEY = os.environ['SHOP_KEY']\n", "KeyError"), ("raise SystemExit(3)\n", "SystemExit: 3")],
)
def test_an_own_module_that_cannot_be_imported_stops_its_entries_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, error: str
) -> None:
    (tmp_path / "broken_for_a_test.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SHOP_KEY", "1")
    says = f"own functions cannot be imported in the sandbox, which sets no environment variables: {error}"
    with closing(Pool()) as pool:
        with pytest.raises(RuntimeError, match=says):
            pool(["broken_for_a_test.price()"], own=["broken_for_a_test.price"])
        assert pool(["math_gcd(a=4, b=6)"]) == (Returned(2),)


@each_case(
    ("text", "error"),
    [
        ("import time\ntime.sleep(99)\n", "takes more than 1 s"),
        ("import os\nos._exit(3)\n", "does not start"),
    ],
)
def test_an_own_module_that_lets_no_child_start_holds_no_other_calls_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, error: str
) -> None:
    (tmp_path / "endless_for_a_test.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("pytest_fcbench.execution.sandbox.pool._IMPORT_S", 1)
    with closing(Pool()) as pool:
        with pytest.raises(RuntimeError, match=error):
            pool(["endless_for_a_test.price()"], own=["endless_for_a_test.price"])
        assert pool(["math_gcd(a=4, b=6)"]) == (Returned(2),)


def test_a_child_that_cannot_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(RuntimeError, match="does not start"), closing(Pool()) as pool:
        pool(["math_gcd(a=4, b=6)"])
