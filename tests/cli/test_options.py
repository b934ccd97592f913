"""Commands find the project that they are started in, as pytest does."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.cli.main import main, make_parser
from pytest_fcbench.cli.options import collect_run_options, find_project, read_count
from tests.factories import make_record, write_scorecard

HELLO = '{"category": "chatable", "id": "chatable_0", "query": "Hello!"}'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project in a repository, with a kept run, a named suite and one that only lies there."""
    project = tmp_path / "project"
    (project / "benchmarks" / "deep").mkdir(parents=True)
    (project / ".git").mkdir()
    (project / ".fcbench" / "runs").mkdir(parents=True)
    (project / "fcbench.yaml").write_text("suites: {mine: named.jsonl}\nstore: answers.sqlite\n")
    (project / "named.jsonl").write_text(HELLO)
    (project / "nearby.jsonl").write_text(HELLO)
    write_scorecard(project / ".fcbench" / "runs" / "20260101-000000-oracle.json", [make_record()])
    return project


@pytest.mark.parametrize(
    "words", [["run", "show", "mine:chatable_0", "--expected"], ["run", "show", "nearby:chatable_0"]]
)
def test_a_command_in_a_folder_below_finds_suites(
    words: list[str], project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project / "benchmarks" / "deep")
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert "Hello!" in out
    assert err == f"fcbench: in the project {project} (../../fcbench.yaml)\n"


def test_a_command_in_a_folder_below_finds_runs_and_the_store(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project / "benchmarks")
    assert main(["run", "list", "-q"]) == main(["run", "list"]) == 0
    out, err = capsys.readouterr()
    assert "20260101-000000-oracle" in out
    assert err.count("in the project") == 1
    with pytest.raises(SystemExit, match="4"):
        main(["store", "size"])
    assert "../answers.sqlite: no such file" in capsys.readouterr().err


def test_an_argument_is_of_the_working_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project / "benchmarks")
    write_scorecard(Path("here.json"), [make_record(), make_record(number=1)])
    assert main(["run", "show", "--scorecard=here.json"]) == 0
    assert "here.json: test (fc), 2 tests" in capsys.readouterr().out


def test_a_project_in_the_working_folder_is_not_told(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    assert main(["run", "list"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("top", "content", "expected"),
    [
        (".git/HEAD", "", "."),
        ("pytest.ini", "", "."),
        ("pyproject.toml", "[tool.pytest.ini_options]", "."),
        ("pyproject.toml", "[project]", "../.."),
    ],
)
def test_the_search_ends_where_the_search_of_pytest_ends(
    top: str, content: str, expected: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that another user left in a folder far above would say where keys are sent."""
    below = project / "benchmarks" / "deep"
    (below / top).parent.mkdir(exist_ok=True)
    (below / top).write_text(content)
    monkeypatch.chdir(below)
    assert find_project() == Path(expected)


def test_without_a_repository_one_folder_above_is_searched(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".git").rmdir()
    monkeypatch.chdir(project / "benchmarks")
    assert find_project() == Path("..")
    monkeypatch.chdir("deep")
    assert find_project() == Path()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("blame", ["--limit=2", "--seed=3"]),
        ("run diagnose", ["--limit=2"]),
        ("run report", ["--against=latest"]),
        ("suite audit", ["core", "--against=frontier", "--embedding=minilm", "--mcp"]),
        ("suite draft", ["functions.yaml", "-o", "drafts"]),
    ],
)
def test_an_option_of_a_command_is_none_of_a_run_with_the_same_name(
    name: str, words: list[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A draw of entries is no limit of a run, and its seed is not sent to the model."""
    monkeypatch.chdir(project)
    arguments = make_parser([name]).parse_args([*name.split(), *words])
    assert [key for key, value in collect_run_options(arguments).items() if value is not None] == []


@pytest.mark.parametrize(
    "rule", ["not-worse(95%)", "untrained>=0.5"], ids=["without a baseline", "without an audit"]
)
def test_what_a_gate_needs_is_needed_by_no_other_command(
    rule: str, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "fcbench.yaml").write_text(f"gate: ['{rule}']\n")
    monkeypatch.chdir(project)
    for words in (["run", "list"], ["run", "show"], ["run", "report"]):
        assert main(words) == 0
    with pytest.raises(SystemExit, match="4"):
        main(["gate"])
    assert f"gate rule '{rule}' " in capsys.readouterr().err


def test_a_count_may_have_a_plus() -> None:
    assert read_count("+5", 1) == 5
