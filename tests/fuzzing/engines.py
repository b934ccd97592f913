"""Trying a target for some time, with either engine."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, MutableSequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from tests.fuzzing.targets import Target

_LONGEST_S = 30
"""What an input may take. The slowest take about a second on a machine that does nothing else."""
_ROUND = 2000
"""Inputs of hypothesis between two looks at the clock: its draws get slower within one test."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of a target; ``finding`` is what broke its law."""

    name: str
    inputs: int
    seconds: float
    coverage: str = "-"
    """Places of the package that were reached at the beginning, and at the end."""
    finding: str = ""


def count_inputs(target: Target, inputs: MutableSequence[int] | memoryview[int]) -> None:
    """Let the law of a target count its inputs, and fail where one takes too long."""
    law: Callable[..., None] = target.hypothesis.inner_test  # type: ignore[attr-defined]

    @wraps(law)
    def count_and_run(*given: Any, **named: Any) -> None:
        inputs[0] += 1
        signal.setitimer(signal.ITIMER_REAL, _LONGEST_S)
        try:
            law(*given, **named)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    signal.signal(signal.SIGALRM, _too_long)
    target.hypothesis.inner_test = count_and_run  # type: ignore[attr-defined]


def _too_long(*_: object) -> None:
    raise AssertionError(f"an input takes more than {_LONGEST_S} s")


def try_with_hypothesis(name: str, target: Target, seconds: float, corpus: Path, least: int = 0) -> Tried:
    """Try rounds of new inputs until the time is over and there were enough; a finding ends it."""
    inputs = [0]
    count_inputs(target, inputs)
    # Not by @settings, which a target may have already.
    target._hypothesis_internal_use_settings = settings(  # type: ignore[attr-defined]
        max_examples=_ROUND,
        database=DirectoryBasedExampleDatabase(corpus / "hypothesis"),
        deadline=None,
        derandomize=False,
        phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    begun, finding, before = time.monotonic(), "", -1
    while not finding and before != inputs[0] and (time.monotonic() - begun < seconds or inputs[0] < least):
        before = inputs[0]
        try:
            target()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            finding = "".join(traceback.format_exception(error))
    return Tried(name, inputs[0], time.monotonic() - begun, finding=finding)


def try_with_atheris(name: str, target: Target, seconds: float, corpus: Path, least: int = 0) -> Tried:
    """Try a target in a process of its own: libFuzzer ends the one that it runs in."""
    folder = corpus / "atheris" / re.sub(r"\W+", "_", name)
    folder.mkdir(parents=True, exist_ok=True)
    counter = folder.with_suffix(".count")
    counter.write_bytes(bytes(8))
    command = [sys.executable, "-m", "tests.fuzzing.atheris_one", name, str(counter), str(folder)]
    command += [
        f"-max_total_time={max(round(seconds), 1)}",
        f"-artifact_prefix={folder.parent}/{folder.name}-",
    ]
    command += [
        "-print_final_stats=1",
        f"-timeout={_LONGEST_S}",
        "-rss_limit_mb=4096",
        "-max_len=8192",
        "-len_control=0",
    ]
    begun = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    said = done.stdout + done.stderr
    reached = re.findall(r"cov: (\d+)", said)
    return Tried(
        name,
        int.from_bytes(counter.read_bytes(), sys.byteorder),
        time.monotonic() - begun,
        f"{reached[0]} → {reached[-1]}" if reached else "-",
        said[-6000:] if done.returncode else "",
    )


ENGINES = {"hypothesis": try_with_hypothesis, "atheris": try_with_atheris}
