"""Files that commands write: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pytest_fcbench.errors import UsageError


def write(path: Path, text: str) -> None:
    """Put a text in the place of what is there. Raises ``UsageError`` where that cannot be done."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}-", delete=False
        ) as new:
            new.write(text)
        Path(new.name).chmod(0o666 & ~_umask())
        Path(new.name).replace(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
