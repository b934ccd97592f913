"""REST entries in real runs: their requests go over HTTP to a server of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.conftest import Project, size
from tests.served import served

REST = "--fcbench-category=rest"
TRAMS = "https://trams.varnholm.example/v1"
ANSWERS = f"""answers:
  core:rest_0: "[requests.get(url='{TRAMS}/departures', params={{'stop': 'Harbour'}})]"
  core:rest_1: "[requests.get(url='http://127.0.0.1/')]"
  core:rest_2: "[requests.get(url='{TRAMS}/stops')]"
  core:rest_4: "[requests.get(url='{TRAMS}/stops')]"
  core:rest_5: "Sorry."
"""
CODE = "executable_checker_rest:"


def read_codes(project: Project) -> dict[str, tuple[object, object]]:
    found: dict[str, tuple[object, object]] = {}
    for entry, record in project.records().items():
        verdicts = record["verdicts"]
        assert isinstance(verdicts, dict)
        if verdicts["official"]["status"] != "not_scored":
            found[entry] = verdicts["official"]["code"], verdicts["corrected"]["code"]
    return found


def test_each_failure_has_its_code(project: Project) -> None:
    project.write("script.yaml", ANSWERS)
    project.run(REST, "--fcbench-model=scripted:script.yaml", "--fcbench-mode=prompt")
    assert read_codes(project) == {
        "core:rest_0": (None, f"{CODE}wrong_value"),
        "core:rest_1": (f"{CODE}execution_error",) * 2,
        "core:rest_2": ("value_error:exec_result_rest_count",) * 2,
        "core:rest_4": (None, None),
        "core:rest_5": ("executable_decoder:decoder_failed", "no_call"),
    }


@pytest.mark.nightly
@pytest.mark.parametrize("mode", ["fc", "prompt"])
@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.nightly)], ids=["plain", "xdist"]
)
def test_the_oracle_passes_all_of_bfcl(
    project: Project, pack_cache: Path, monkeypatch: pytest.MonkeyPatch, mode: str, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(pack_cache))
    result = project.run(REST, "--fcbench-suite=bfcl", f"--fcbench-mode={mode}", *workers)
    assert result.parseoutcomes() == {"passed": 70}
    assert set(read_codes(project).values()) == {(None, None)}


def test_requests_of_a_served_model_pass(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    with served("--model", "oracle", "--suite", "core") as api_base:
        result = project.run(
            REST, "--fcbench-model=openai/oracle", f"--fcbench-api-base={api_base}", "--fcbench-tag"
        )
    assert result.parseoutcomes() == {"passed": size("rest")}


def test_every_answer_of_lexical_gets_a_verdict(project: Project) -> None:
    project.run(REST, "--fcbench-model=lexical")
    assert len(read_codes(project)) == size("rest")


def test_a_live_run_answers_the_services_of_core_itself(project: Project) -> None:
    """The services of core are the run's own in a live run too."""
    result = project.run(REST, "--fcbench-responses=live")
    assert result.parseoutcomes() == {"passed": size("rest")}
    assert set(read_codes(project).values()) == {(None, None)}
