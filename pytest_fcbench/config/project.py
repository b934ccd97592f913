"""The folder of a benchmark project: the nearest one with an fcbench.yaml.

pytest loads this module in every run of whoever has the plugin installed, so it imports nothing of ours but
the name of the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pytest_fcbench.config.options import FILE


def find_project(places: Iterable[Path], top: Path) -> Path | None:
    """Return the nearest folder with an fcbench.yaml, from each place upwards to the top; None without one.

    What lies higher may be of another user, and the file says where keys are sent.
    """
    around = (folder for place in places for folder in (place, *place.parents))
    return next((each for each in around if each.is_relative_to(top) and (each / FILE).is_file()), None)


def find_top(start: Path) -> Path:
    """Return the top of the repository around a folder, or the folder above where there is none.

    The search ends there where no file makes a folder the root directory of pytest.
    """
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start.parent)
