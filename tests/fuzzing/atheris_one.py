"""One target under atheris: ``python -m tests.fuzzing.atheris_one NAME COUNTER CORPUS [OPTION ...]``.

libFuzzer ends the process without a word to Python, so inputs are counted in a file that is there before.
"""

from __future__ import annotations

import mmap
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["pytest_fcbench"], enable_loader_override=False):
    from tests.fuzzing import targets
    from tests.fuzzing.engines import count_inputs

    target = targets.find_targets(sys.argv[1])[sys.argv[1]]

if __name__ == "__main__":
    with Path(sys.argv[2]).open("r+b") as counter:
        # Bytes that are too few for the strategies never become an input, so libFuzzer's number is too high.
        count_inputs(target, memoryview(mmap.mmap(counter.fileno(), 8)).cast("Q"))
    atheris.Setup([sys.argv[0], *sys.argv[3:]], target.hypothesis.fuzz_one_input)  # type: ignore[attr-defined]
    atheris.Fuzz()
