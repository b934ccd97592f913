"""Tell the paths of files from other texts."""

from __future__ import annotations

import os
from pathlib import Path


def is_place(text: str | Path) -> bool:
    """Tell whether a file or folder is at a path; no text that cannot be one, such as a long one, is."""
    # Path.exists() fails for these before Python 3.14.
    return os.path.exists(text)  # noqa: PTH110
