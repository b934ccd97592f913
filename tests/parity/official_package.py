"""Runs scripts beside bfcl-eval, in a process of their own: nothing here imports it.

``FCBENCH_OFFICIAL_PYTHON`` names a Python with bfcl-eval 2026.3.23. Only its evaluation of whole results
(``test_official_formats.py``) needs the SDKs of vendors.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

OFFICIAL = os.environ.get("FCBENCH_OFFICIAL_PYTHON", "")
NEEDS_OFFICIAL = pytest.mark.skipif(
    not OFFICIAL, reason="FCBENCH_OFFICIAL_PYTHON names no Python with bfcl-eval 2026.3.23"
)


def run_official(script: Path | str, root: Path, rows: Iterable[object] = ()) -> Iterator[Any]:
    """Yield what a script prints about rows, of each a line of JSON.

    The script is a file or its text. It may write to the folder ``root``.
    """
    command = [OFFICIAL, *(("-c", script) if isinstance(script, str) else (str(script),))]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    # So that the sets in official results are written in the same order each time.
    environment = {**os.environ, "BFCL_PROJECT_ROOT": str(root), "PYTHONHASHSEED": "0"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, input=lines, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return map(json.loads, done.stdout.splitlines())


def evaluate_results(root: Path) -> None:
    """Have ``bfcl evaluate`` write the scores of the results in a project folder."""
    command = [OFFICIAL, "-m", "bfcl_eval", "evaluate", "--test-category=all", "--partial-eval"]
    environment = {**os.environ, "BFCL_PROJECT_ROOT": str(root), "OPENAI_API_KEY": "unused"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip(f"{OFFICIAL} has not the SDKs of vendors: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
