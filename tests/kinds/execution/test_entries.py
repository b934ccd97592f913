"""Executable entries are read from YAML, and what is wrong is told with file, line and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.kinds.execution.verdict import ExpectedResults, ResultRule
from tests.cases import each_case

GOOD = """category: exec_parallel
entries:
  - id: exec_parallel_0
    query: How much fuel?
    functions: [fuel_needed, weekday]
    expect:
      - fuel_needed(distance_km=300, litres_per_100_km=6)
      - {call: "fuel_needed(distance_km=80, litres_per_100_km=9)", kind: real_time_match}
"""


def write_file(folder: Path, text: str) -> Path:
    path = folder / "exec_parallel.yaml"
    path.write_text(text)
    return path


def test_an_entry_is_read(tmp_path: Path) -> None:
    (entry,) = entry_files.read_entries(write_file(tmp_path, GOOD), "core")
    assert (entry.key, entry.category.name) == ("core:exec_parallel_0", "exec_parallel")
    assert entry.turns[0][0].content == "How much fuel?"
    assert [doc.name for doc in entry.functions] == ["fuel_needed", "weekday"]
    assert entry.functions[0].required == ("distance_km", "litres_per_100_km")
    assert entry.expectation == ExpectedResults(
        (
            "fuel_needed(distance_km=300, litres_per_100_km=6)",
            "fuel_needed(distance_km=80, litres_per_100_km=9)",
        ),
        (ResultRule.EXACT, ResultRule.REAL_TIME),
    )


@each_case(
    ("old", "new", "says"),
    [
        ("[fuel_needed, weekday]", "[fuel_need]", "Did you mean 'fuel_needed'"),
        ("real_time_match", "real_time", "Did you mean 'real_time_match'"),
        ("kind:", "sort:", "unknown key 'sort'"),
        ("- fuel_needed(", "- weekdays(", "Did you mean 'weekday'"),
        ("(distance_km=300, ", "(", "needs the parameter 'distance_km'"),
        ("distance_km=300", "distance=300", "Did you mean 'distance_km'"),
        ("(distance_km=300", "(distance_km=", "not Python"),
        ("query:", "question:", "question"),
        ("exec_parallel_0", "5", "must be text"),
    ],
)
def test_an_error_names_the_file_and_the_rule(tmp_path: Path, old: str, new: str, says: str) -> None:
    text = GOOD.replace(old, new)
    assert text != GOOD
    with pytest.raises(SuiteError, match=r"exec_parallel\.yaml:") as caught:
        entry_files.read_entries(write_file(tmp_path, text), "core")
    assert says in str(caught.value)


def test_an_entry_without_a_call_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="expect: must have at least one element"):
        entry_files.read_entries(write_file(tmp_path, f"{GOOD.partition('expect:')[0]}expect: []\n"), "core")


def test_an_id_that_is_taken_is_refused(tmp_path: Path) -> None:
    again = GOOD + GOOD.partition("entries:\n")[2]
    with pytest.raises(SuiteError, match="is already used by an entry above"):
        entry_files.read_entries(write_file(tmp_path, again), "core")
