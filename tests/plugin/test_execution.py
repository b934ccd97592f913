"""Executable entries run where they are named, alike with and without workers."""

from __future__ import annotations

import psutil
import pytest

from tests.plugin.conftest import Project, size

EXECUTABLE = ("exec_simple", "exec_multiple", "exec_parallel", "exec_parallel_multiple", "rest")
SCRIPT = """
answers:
  core:exec_simple_0: "[fuel_needed(distance_km=640, litres_per_100_km=8.5)]"
  core:exec_simple_1: "[split_bill(total=1, people=0)]"
  core:exec_simple_2: "[reading_minutes(words=10)]"
  core:exec_simple_9: "[savings_plan(monthly=1, months=10**12, yearly_percent=1)]"
  core:exec_simple_12: "[median(numbers=__import__('os').environ)]"
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_the_oracle_passes_all(project: Project, workers: tuple[str, ...]) -> None:
    result = project.run("--fcbench-category=executable", *workers)
    assert result.parseoutcomes() == {"passed": size(*EXECUTABLE)}
    result.stdout.fnmatch_lines(["executable *100.00%*100.00%*"])
    assert not [p for p in psutil.process_iter(["cmdline"]) if str(project.path) in (p.info["cmdline"] or ())]


def test_they_are_left_out_unless_named(project: Project) -> None:
    result = project.run("--collect-only", "-q")
    assert "exec_simple" not in result.stdout.str()
    result = project.run("--fcbench-category=executable", "--collect-only", "-q", "-m", "executable and core")
    assert sum("[core:" in line for line in result.outlines) == size(*EXECUTABLE)


def test_each_failure_has_its_code_and_the_others_go_on(project: Project) -> None:
    project.write("script.yaml", SCRIPT)
    options = (
        "--fcbench-model=scripted:script.yaml",
        "--fcbench-mode=prompt",
        "--fcbench-category=exec_simple",
    )
    project.run(*options, "--fcbench-profile=corrected")
    codes = {
        entry.removeprefix("core:exec_simple_"): (verdicts["official"]["code"], verdicts["corrected"]["code"])
        for entry, record in project.records().items()
        if isinstance(verdicts := record["verdicts"], dict) and verdicts["official"]["status"] != "not_scored"
    }
    assert codes == {
        "0": (None, None),
        "1": ("executable_checker:execution_error", "executable_checker:execution_error"),
        "2": ("executable_checker:wrong_result", "executable_checker:wrong_result"),
        "9": ("executable_checker:execution_error", "executable_checker:time_limit"),
        "12": ("executable_decoder:decoder_failed", "executable_checker:execution_error"),
    }
