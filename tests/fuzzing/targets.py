"""Targets: tests that hypothesis gives their input, and that need nothing else."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import HealthCheck, given, is_hypothesis_test, settings
from hypothesis.strategies import SearchStrategy

Target: TypeAlias = Callable[[], None]
"""A test with its strategies: called, it tries inputs, and raises for one that breaks its law."""

BOUNDED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
"""How a target runs as a test: always with the same inputs."""


def make_target(
    examples: int = 100, /, **inputs: SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Target]:
    """Make a target of a law; as a test it tries so many ``examples`` nightly, else a fifth of them."""
    tried = max(1, examples * settings().max_examples // 100)

    def decorate_law(law: Callable[..., None]) -> Target:
        return settings(BOUNDED, max_examples=tried)(given(**inputs)(law))

    return decorate_law


_TESTS = Path(__file__).parents[1]
_ELSEWHERE = ("parity", "performance", "plugin")
"""Folders whose tests run other programs or whole benchmarks."""


def find_targets(only: str = "") -> Mapping[str, Target]:
    """Every target by name: those of this folder, then the tests of others that take input alone.

    ``only`` is the name of the one that is wanted: other files are not imported.
    """
    paths = sorted(_TESTS.rglob("test_*.py"), key=lambda path: (path.parent.name != "fuzzing", path))
    wanted = (path for path in paths if path.relative_to(_TESTS).parts[0] not in _ELSEWHERE)
    return {name: target for path in wanted for name, target in _find_in_file(path, only)}


def _find_in_file(path: Path, only: str) -> Iterator[tuple[str, Target]]:
    """Yield the targets of a file; it is imported only if it can have any."""
    parts = path.relative_to(_TESTS).with_suffix("").parts
    folder = ".".join((*parts[:-1], parts[-1].removeprefix("test_")))
    text = path.read_text(encoding="utf-8")
    if ("@given" not in text and "@make_target" not in text) or not only.startswith(
        (folder + ":") if only else ""
    ):
        return
    module = importlib.import_module(".".join(("tests", *parts)))
    for name, test in vars(module).items():
        if (
            is_hypothesis_test(test)
            and test.__module__ == module.__name__
            and not inspect.signature(test).parameters
        ):
            yield f"{folder}:{name.removeprefix('test_')}", test
