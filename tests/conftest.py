"""What all tests share."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from random import Random

import pytest
from hypothesis import HealthCheck, settings

import pytest_fcbench
from pytest_fcbench import formats, judging, kinds
from pytest_fcbench.domain.errors import PackError
from pytest_fcbench.domain.garbage_collection import CollectorSwitch
from pytest_fcbench.domain.registry import find_entry_points
from pytest_fcbench.execution.rest_performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.suites import bfcl, packs

pytest_plugins = ["pytester"]

# An in-process run of pytest forgets the modules that were first imported in it: their classes would then
# exist twice in this process, and requests and mpmath would be imported again and again.
for _package in (formats, judging, kinds):
    for _module in walk_packages(_package.__path__, f"{_package.__name__}."):
        import_module(_module.name)
for _name in ("requests", "mpmath"):
    import_module(_name)

# How long an example takes says more about the machine than about the code.
settings.register_profile(
    "short", deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("short")
settings.register_profile("nightly", settings.get_profile("short"), max_examples=100)

ROOT = Path(__file__).parents[1]


def pytest_configure(config: pytest.Config) -> None:
    """Make errors of warnings in these tests.

    In ``pyproject.toml`` it would hold for benchmarks too, where libraries of models may warn as they like.
    """
    # A process of these tests has millions of objects, which Python's own setting looks through very often.
    gc.set_threshold(20_000, 50, 100)
    config.addinivalue_line("markers", "real: asks a real model; needs the extra of that name")
    config.addinivalue_line("markers", "slow: takes seconds of one core; the fast ring leaves it out")
    config.addinivalue_line("markers", "style: looks at the text of the code; run by the step check")
    config.addinivalue_line("markers", "nightly: takes minutes, or repeats what another test shows")
    config.addinivalue_line("markers", "few(count): as many cases run every time, the others are nightly")
    for rule in (
        "error",
        # What the garbage collector finds unclosed fails whichever test happens to run just then.
        "default::ResourceWarning",
        "default::pytest.PytestUnraisableExceptionWarning",
        "ignore:Items? .* on TypedDict class:UserWarning",  # litellm's types, as pydantic reads them
        "ignore:Duplicate name:UserWarning:zipfile",  # archives of tests/fuzzing are broken on purpose
    ):
        config.addinivalue_line("filterwarnings", rule)


_SLOW = ("tests/plugin/test_served.py", "tests/docs/test_pages.py")
"""Files with tests of half a minute and more."""


def _read_paths(name: str) -> tuple[str, ...]:
    """Return the paths of a list of arguments for pytest."""
    lines = (Path(__file__).parent / name).read_text("utf-8").splitlines()
    return tuple(line for line in lines if not line.startswith("-"))


_FAST_RING = _read_paths("fast-ring.txt")
_STYLE = _read_paths("style.txt")


def mark_most_nightly(items: Iterable[pytest.Item]) -> None:
    """Leave of the cases of each test marked ``few`` as many as it says, always the same; mark the others.

    They are drawn by the name of the test: tests of one list of cases together try more of them.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("few") and not item.get_closest_marker("nightly"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, found in cases.items():
        mark = next(found[0].iter_markers("few"))  # the closest
        for item in Random(name).sample(found, max(0, len(found) - mark.args[0])):
            item.add_marker("nightly")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the fast ring first, which is run even where time is short, and then the slowest tests.

    Begun last, a slow test would keep a worker busy while others idle.
    """
    mark_most_nightly(items)  # before pytest looks at ``-m``
    for item in items:
        if item.nodeid.startswith(_STYLE):
            item.add_marker("style")
    items.sort(key=lambda item: (not item.nodeid.startswith(_FAST_RING), not item.nodeid.startswith(_SLOW)))


def pytest_collection_finish() -> None:
    """Leave modules and items out of every collection of garbage, an eighth of the time of all tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _leave_objects_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a run in this process from ending that: to skip its own objects it would free all of them."""
    monkeypatch.setattr(CollectorSwitch, "skip_objects", lambda self: None)


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Give the whole one worker more than there are cores, because some test always waits."""
    if "slow" in config.option.markexpr or "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Skip what begins after ``FCBENCH_TESTS_UNTIL`` (Unix seconds).

    CI cuts a run off without a verdict. On a machine that is many times slower than usual the run says in
    this way what it found in its time, and how much it did not look at.
    """
    if time.time() > float(os.environ.get("FCBENCH_TESTS_UNTIL", "inf")):
        pytest.skip("not run: the time for tests is over (FCBENCH_TESTS_UNTIL)")


def pytest_report_header() -> str:
    """Say which package is tested: that of the checkout, or an installed wheel."""
    return f"tested package: {Path(pytest_fcbench.__file__).parent}"


@pytest.fixture(autouse=True)
def _fix_terminal_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tables have the same columns on every terminal."""
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(autouse=True)
def _search_entry_points_anew() -> None:
    """Forget the installed distributions that an earlier test found."""
    find_entry_points.cache_clear()


@pytest.fixture(scope="session")
def pack_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache folder with the official pack of bfcl in it, fetched from the index once a session."""
    shared = os.environ.get("FCBENCH_TEST_CACHE")
    cache = Path(shared) if shared else tmp_path_factory.mktemp("cache")
    try:
        packs.open_pack(bfcl.SOURCE, cache)
    except PackError:
        try:
            packs.pull(bfcl.SOURCE, cache)
        except PackError as error:
            pytest.skip(f"the official pack cannot be fetched here: {error}")
    return cache


@pytest.fixture(scope="session")
def complex_samples() -> Path:
    """Return a folder with one real record of ComplexFuncBench, its 40 schemas and first steps of paths."""
    given = os.environ.get("FCBENCH_COMPLEX_SAMPLES")
    oracle = os.environ.get("FCBENCH_ORACLE")
    if not given and not oracle:
        pytest.skip("no real records: FCBENCH_COMPLEX_SAMPLES names no folder")
    folder = Path(given) if given else Path(oracle or "").parent / "reference" / "complexfuncbench-samples"
    if not folder.is_dir():
        pytest.skip(f"no real records: {folder} is no folder")
    return folder


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    """Open processes that carry calls out."""
    with closing(Pool()) as made:
        yield made


@pytest.fixture(scope="session")
def performer() -> Iterator[Performer]:
    """Open a sender of requests to the services of ``core``; of web APIs nothing was recorded."""
    with closing(Performer()) as made:
        yield made
