"""The folder of the benchmark project in which a command was started, found as a run of pytest finds it."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_fcbench.config import project

_PYTEST_FILES = {
    "pytest.ini": "",
    ".pytest.ini": "",
    "pyproject.toml": "[tool.pytest",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}
"""The text by which each file makes its folder the root directory of pytest."""


def find_project() -> Path:
    """Return the nearest folder with an fcbench.yaml, from the working folder upwards, else that folder.

    The search ends at the root directory of pytest.
    """
    try:
        here = Path.cwd()
        top = next(filter(_is_pytest_root, (here, *here.parents)), None) or project.find_top(here)
        # Relative, because messages and printed commands show it.
        return Path(os.path.relpath(project.find_project([here], top) or here))
    except OSError:
        # The working folder was removed, or one above cannot be read.
        return Path()


def _is_pytest_root(folder: Path) -> bool:
    return any(
        (path := folder / name).is_file() and mark in path.read_text(encoding="utf-8", errors="replace")
        for name, mark in _PYTEST_FILES.items()
    )
