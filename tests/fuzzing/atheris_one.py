"""One target under atheris: ``python -m tests.fuzzing.atheris_one NAME CORPUS [option of libFuzzer ...]``."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["pytest_fcbench"], enable_loader_override=False):
    from tests.fuzzing import targets

    target = targets.found(sys.argv[1])[sys.argv[1]]

if __name__ == "__main__":
    atheris.Setup([sys.argv[0], *sys.argv[2:]], target.hypothesis.fuzz_one_input)  # type: ignore[attr-defined]
    atheris.Fuzz()
