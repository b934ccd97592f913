"""The scores of published answers in the docs, from the run that a page shows.

``python -m tests.docs.replayed_scores --write CACHE`` writes them anew; the cache must have the pack.
The answers are in the folder ``replay`` beside the one that ``FCBENCH_ORACLE`` names.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conftest import ROOT
from tests.docs.pages import Page, prepare, run
from tests.parity.test_tables import REPLAY

SCORES = ROOT / "docs" / "official-scores.md"
_RUN = re.compile(r"^    (pytest benchmarks .*replay:result/.*)\n\n((?:    .+\n)+)", re.MULTILINE)


def replay_answers(folder: Path, cache: Path) -> str:
    """Run the command of the page in an empty folder; return the table of scores that it prints."""
    prepare(Page("<!-- checkout -->"), folder)
    (folder / "result").symlink_to(REPLAY)
    shown = _RUN.search(SCORES.read_text("utf-8"))
    assert shown
    told = run(shown[1], folder, cache)
    table = re.search(r"^ +entries  passed.*?^non_live .*?\n", told, re.MULTILINE | re.DOTALL)
    assert table, told
    return table[0]


def write_scores(page: str, table: str) -> str:
    """Return a page with this table below the command."""
    indented = "".join(f"    {line}\n" for line in table.splitlines())
    return _RUN.sub(lambda found: f"    {found[1]}\n\n{indented}", page)


if __name__ == "__main__":
    _, option, cache = sys.argv
    assert option == "--write"
    with TemporaryDirectory() as folder:
        scores = replay_answers(Path(folder), Path(cache).resolve())
    SCORES.write_text(write_scores(SCORES.read_text("utf-8"), scores), encoding="utf-8")
