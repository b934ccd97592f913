"""The scores of published answers in the docs are those that the run on the page gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.replayed_scores import SCORES, replay_answers, write_scores
from tests.parity.test_tables import REPLAY


@pytest.mark.nightly
@pytest.mark.skipif(not REPLAY.is_dir(), reason="no replay folder beside FCBENCH_ORACLE")
def test_the_page_shows_what_the_run_prints(tmp_path: Path, pack_cache: Path) -> None:
    page = SCORES.read_text("utf-8")
    table = replay_answers(tmp_path, pack_cache)
    assert write_scores(page, table) == page, "run python -m tests.docs.replayed_scores --write CACHE"


TABLE = """\
              entries  passed  failed  not scored  official  corrected  95% interval
simple_python     400     365      35           0    91.25%     92.25%    88.1-93.6%
--------------------------------------------------------------------------------
non_live         1150     959     191           0    80.77%     82.28%    78.2-82.9%
"""


def test_the_table_below_the_command_is_replaced() -> None:
    command = "    pytest benchmarks --fcbench-model=replay:result/m\n"
    page = f"Run it:\n\n{command}\n    old 1%\n    old 2%\n\nMore.\n"
    indented = "".join(f"    {line}\n" for line in TABLE.splitlines())
    assert write_scores(page, TABLE) == page.replace("    old 1%\n    old 2%\n", indented)
