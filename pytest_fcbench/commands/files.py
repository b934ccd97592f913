"""What commands write."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pytest_fcbench.errors import FcbenchError


def write(path: Path, text: str) -> None:
    """Write a whole file or leave what is there. Raises ``FcbenchError``."""
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8", errors="backslashreplace")
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise FcbenchError(f"{path} cannot be written: {error.strerror}") from None
