"""``python -m tests.screens --write``: take every screen again; read what changed before a commit."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.screens.screens import FOLDER, list_screens, take_screen


def main() -> int:
    if sys.argv[1:] != ["--write"]:
        print("usage: python -m tests.screens --write", file=sys.stderr)
        return 4
    taken = set()
    for name, screen, width, terminal, colour in list_screens():
        with TemporaryDirectory() as folder:
            shown = take_screen(screen, Path(folder), width=width, terminal=terminal, colour=colour)
        (FOLDER / name).write_text(shown, encoding="utf-8")
        taken.add(name)
        print(name)
    for old in FOLDER.glob("*.txt"):
        if old.name not in taken:
            old.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
