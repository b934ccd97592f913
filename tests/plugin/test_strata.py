"""The strata of difficulty are marks."""

from __future__ import annotations

from tests.plugin.conftest import Project, size


def test_records_of_workers_have_the_stratum(project: Project) -> None:
    project.run("--fcbench-category=simple_python", "-n", "2").assert_outcomes(passed=size("simple_python"))
    strata = {name: record["stratum"] for name, record in project.records().items()}
    assert (strata["core:simple_python_1"], strata["core:simple_python_3"]) == ("easy", "medium")


def test_a_stratum_selects_entries_of_all_categories(project: Project) -> None:
    result = project.run(
        "--fcbench-category=live", "--collect-only", "-q", "-m", "hard and not live_multiple"
    )
    listed = [line for line in result.outlines if "core:" in line]
    assert any("live_parallel_multiple" in line for line in listed)
    assert not any("live_multiple" in line for line in listed)
    # Weather at a place, with one function and a value as it is said.
    assert not any("core:live_relevance_0]" in line for line in listed)
