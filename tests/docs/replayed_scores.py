"""The scores of published answers in the docs, from the run that a page shows.

``python -m tests.docs.replayed_scores --write CACHE`` writes them anew; the cache must have the pack.
The answers are in the folder ``replay`` beside the one that ``FCBENCH_ORACLE`` names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conftest import ROOT
from tests.docs.pages import Page, prepare, run
from tests.parity.test_tables import REPLAY

SCORES, RESULTS = (ROOT / "docs" / name for name in ("official-scores.md", "results.md"))
_RUN = re.compile(r"^    (pytest benchmarks .*replay:result/.*)\n\n((?:    .+\n)+)", re.MULTILINE)
_ROW = re.compile(r"^\| `(\w+)` \| [\d,]+ \| [\d,]+ \| [\d.]+ % \| [\d.]+ % \|$", re.MULTILINE)


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


def write_results(page: str, table: str) -> str:
    """Return a page with the figures of this table in its rows about the same scores."""
    rows: Mapping[str, list[str]] = {line.split()[0]: line.split() for line in table.splitlines()}

    def write_row(found: re.Match[str]) -> str:
        _, entries, passed, _, _, *shares, _ = rows[found[1]]
        counts = " | ".join(f"{int(count):,}" for count in (entries, passed))
        return f"| `{found[1]}` | {counts} | {' | '.join(share.replace('%', ' %') for share in shares)} |"

    return _ROW.sub(write_row, page)


if __name__ == "__main__":
    _, option, cache = sys.argv
    assert option == "--write"
    with TemporaryDirectory() as folder:
        scores = replay_answers(Path(folder), Path(cache).resolve())
    SCORES.write_text(write_scores(SCORES.read_text("utf-8"), scores), encoding="utf-8")
    RESULTS.write_text(write_results(RESULTS.read_text("utf-8"), scores), encoding="utf-8")
