"""Questions about the small web of ``core``: searched and read over real HTTP, alike everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plugin.conftest import Project, size
from tests.served import served

WEB = ("web_search_base", "web_search_no_snippet")
ASKED = ("--fcbench-category=web_search", "--fcbench-model=oracle")


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_the_oracle_searches_reads_and_answers(project: Project, workers: tuple[str, ...]) -> None:
    result = project.run(*ASKED, "--fcbench-profile=corrected", "-v", *workers)
    assert result.parseoutcomes() == {"passed": size(*WEB)}
    result.stdout.fnmatch_lines(["web: core", "web_search *100.00%*100.00%*"])
    record = project.records()["core:web_search_base_0"]
    asides = record["asides"]
    assert isinstance(asides, list)
    assert [aside["party"] for aside in asides] == ["own_web"] * 4
    assert "founded in 1838" in asides[3]["text"]


@pytest.mark.nightly
def test_a_run_that_was_recorded_can_be_replayed(project: Project) -> None:
    first = project.run(*ASKED, "--fcbench-search-record=web.jsonl", "-n", "2")
    assert first.parseoutcomes() == {"passed": size(*WEB)}
    lines = (project.path / "web.jsonl").read_text().splitlines()
    again = project.run(*ASKED, "--fcbench-search=recorded:web.jsonl", "--fcbench-mode=prompt")
    assert again.parseoutcomes() == {"passed": size(*WEB)}
    again.stdout.fnmatch_lines(["web: recorded:web.jsonl"])
    gone = [
        line for line in lines if json.loads(line)["arguments"].get("url") != "http://works.example/lode-mill"
    ]
    project.write("web.jsonl", "".join(f"{line}\n" for line in gone))
    part = project.run(*ASKED, "--fcbench-search=recorded:web.jsonl")
    assert part.parseoutcomes() == {"passed": size(*WEB) - 2, "errors": 2}
    part.stdout.fnmatch_lines(["*not_recorded: 2", "*web.jsonl has no answer to fetch_url_content*"])


@pytest.mark.nightly
def test_the_way_through_a_served_model(project: Project) -> None:
    with served("--model", "oracle") as api_base:
        for mode in ("fc", "prompt"):
            result = project.run(
                "--fcbench-category=web_search",
                "--fcbench-model=openai/served",
                f"--fcbench-api-base={api_base}",
                "--fcbench-param=api_key=unused",
                f"--fcbench-mode={mode}",
            )
            assert result.parseoutcomes() == {"passed": size(*WEB)}, mode
    again = project.run(
        *("--fcbench-category=web_search", "--fcbench-model=openai/served", "--fcbench-offline"),
        *(f"--fcbench-api-base={api_base}", "--fcbench-param=api_key=unused"),
    )
    assert again.parseoutcomes() == {"passed": size(*WEB)}


def test_words_alone_find_nothing_out(project: Project) -> None:
    result = project.run("--fcbench-category=web_search", "--fcbench-model=lexical")
    assert result.parseoutcomes() == {"failed": size(*WEB)}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("option", "told"),
    [
        (
            "--fcbench-search=google",
            "unknown search 'google'. Valid: core, duckduckgo, serpapi, recorded:FILE",
        ),
        ("--fcbench-search=serpapi", "set the environment variable SERPAPI_API_KEY"),
        ("--fcbench-search=recorded:none.jsonl", "recorded:none.jsonl: cannot be read"),
        ("--fcbench-search-record=.", "--fcbench-search-record=.: "),
    ],
)
def test_what_cannot_be_is_a_usage_error(
    project: Project, monkeypatch: pytest.MonkeyPatch, option: str, told: str
) -> None:
    monkeypatch.delenv("SERPAPI_API_KEY", raising=False)
    result = project.run(*ASKED, option)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*{told}*"])


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [("-n", "0"), ("-n", "2")], ids=["n0", "n2"])
def test_what_will_not_be_scored_is_told_before_it_is_asked(
    project: Project, pack_cache: Path, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(pack_cache))
    with served("--model", "oracle") as api_base:
        result = project.run(
            *("--fcbench-suite=bfcl", "-k", "web_search_base_1"),
            *("--fcbench-model=served", f"--fcbench-api-base={api_base}"),
            *workers,
        )
    told = result.stdout.str()
    assert told.index("11 bfcl entries will not be scored (no_search)") < told.index(
        "function-calling benchmark"
    )
