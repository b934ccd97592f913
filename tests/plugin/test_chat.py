"""Whole runs in which a judge rates replies in words, over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.suites import core
from tests.loopback import Answer, Body, Endpoint, Reply, make_error_reply, make_message_reply, serve_answers
from tests.plugin.conftest import Project

CHATS = core.open_suite(Path()).load(CATEGORIES["chatable"])
BY_QUERY = {
    "\n\n".join(said.content for said in entry.turns[0] if said.role == "user"): entry.id for entry in CHATS
}
CALLS, SILENT, POOR, MENDED, GARBAGE, *_ = (entry.id for entry in CHATS)
"""What becomes of an entry: the model calls, it says nothing, the judge likes the reply little, the judge's
first reply is none, all of them are."""


def identify_entry(asked: Body) -> tuple[str, int]:
    """Return the entry that the judge is asked about, and how often it replied before."""
    messages = asked["messages"]
    assert isinstance(messages, list)
    material = json.loads(messages[1]["content"].split("\n", 1)[1].rsplit("\n", 1)[0])
    assert set(material) == {"message", "reply"}
    return BY_QUERY[material["message"]], (len(messages) - 2) // 2


def answer_as_judge(asked: Body) -> Reply:
    """Answer as a judge who is not always of use."""
    entry, before = identify_entry(asked)
    if entry == GARBAGE or (entry == MENDED and not before):
        return make_message_reply("Lovely." if before else '{"score": 3, "reason": "Lovely."}')
    return make_message_reply(json.dumps({"score": 0 if entry == POOR else 2, "reason": f"Read {entry}."}))


@contextmanager
def serve_judge(
    project: Project, answer: Answer = answer_as_judge
) -> Iterator[tuple[Endpoint, tuple[str, ...]]]:
    """Serve a judge; yield its endpoint and the options of a run that asks it about a scripted model."""
    answers = {f"core:{CALLS}": "[ring(bell=1)]", f"core:{SILENT}": ""}
    project.write("chat.json", json.dumps({"answers": answers, "default": "Let me tell you."}))
    with serve_answers(answer) as judge:
        yield (
            judge,
            (
                "--fcbench-model=scripted:chat.json",
                "--fcbench-mode=prompt",
                "--fcbench-category=chatable",
                "--fcbench-judge=openai/judge",
                f"--fcbench-judge-api-base={judge.api_base}",
                "--fcbench-judge-api-key-env=JUDGE_KEY",
            ),
        )


@pytest.fixture(autouse=True)
def _set_judge_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", "sk-judge-0123456789")


def read_ratings(project: Project, scorecard: str = "scorecard.json") -> Mapping[str, object]:
    """Return the score, or why there is none, by id of the entry."""
    found = {}
    for entry, record in project.records(scorecard).items():
        if rating := record["rating"]:
            assert isinstance(rating, dict)
            found[entry.removeprefix("core:")] = rating["code"] or rating["score"]
    return found


LIKED: Mapping[str, object] = {
    **{entry.id: 2 for entry in CHATS if entry.id not in (CALLS, SILENT)},
    POOR: 0,
    GARBAGE: "judge_reply",
}
"""Who neither calls nor is silent is rated."""


def test_replies_are_rated_once_and_the_verdicts_stay(project: Project) -> None:
    with serve_judge(project) as (judge, options):
        result = project.run(*options, "--fcbench-profile=corrected")
        result.assert_outcomes(passed=len(CHATS) - 2, failed=2)
        assert read_ratings(project) == LIKED
        assert len(judge.requests) == len(CHATS) - 2 + 1 + 2
        assert judge.keys == ["Bearer sk-judge-0123456789"] * len(judge.requests)
        n, before = len(CHATS) - 3, len(judge.requests)
        mean = f"{2 * (n - 1) / n:.2f}"
        result.stdout.fnmatch_lines(
            [
                "replies rated by openai/judge (0 to 2)",
                f"chatable * {n} * 1 * {mean} *-1.9? * 1 * 0 * {n - 1}",
            ]
        )
        section = project.scorecard()["fcbench"]
        assert isinstance(section, dict)
        assert section["rated_by"] == "openai/judge"
        assert section["driven"] is None
        assert section["ratings"]["chatable"]["counts"] == [1, 0, n - 1]
        assert section["ratings"]["chatable"]["not_rated"] == 1
        first = project.records()
        again = project.run(*options, "-n", "2")
        again.stdout.fnmatch_lines([f"note: judge: {before} answers were reused from answers.sqlite"])
        assert len(judge.requests) == before
        assert read_ratings(project) == LIKED
    # From here on nobody is there.
    project.run(*options, "--fcbench-offline").assert_outcomes(passed=len(CHATS) - 1, failed=1)
    assert read_ratings(project) == LIKED
    rejudged = project.fcbench("run", "rejudge", "scorecard.json", "--to=again.json")
    assert (rejudged.returncode, rejudged.stderr) == (0, "")
    assert "no verdict changed" in rejudged.stdout
    assert read_ratings(project, "again.json") == LIKED
    project.run("--fcbench-model=replay:again.json", "--fcbench-category=chatable")
    assert read_ratings(project) == LIKED
    assert {k: r["verdicts"] for k, r in project.records().items()} == {
        k: r["verdicts"] for k, r in first.items()
    }
    shown = project.fcbench("run", "show", f"core:{POOR}", "--scorecard=again.json")
    assert f"rating    0 of 2: Read {POOR}." in shown.stdout.splitlines()
    assert project.fcbench("run", "report", "again.json", "--to=report.html").returncode == 0
    assert "replies rated by openai/judge (0 to 2)" in (project.path / "report.html").read_text()


def test_a_judge_who_is_down_takes_nothing_away(project: Project) -> None:
    with serve_judge(project, lambda _: make_error_reply(503, "busy")) as (_, options):
        result = project.run(*options, "--fcbench-retries=0")
    result.assert_outcomes(passed=len(CHATS) - 1, failed=1)
    assert set(read_ratings(project).values()) == {"inference_error"}
    result.stdout.fnmatch_lines([f"chatable * 0 * {len(CHATS) - 2} * - * - * 0 * 0 * 0"])


def test_without_a_judge_nobody_is_asked(project: Project) -> None:
    with serve_judge(project) as (judge, options):
        result = project.run(*options[:3])
        assert not judge.requests
    result.stdout.no_fnmatch_line("*rated*")
    assert read_ratings(project) == {}


def test_a_judge_does_not_need_the_api_of_golden_paths(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAPID_API_KEY", raising=False)
    with serve_judge(project) as (_, options):
        project.run(*options, "--fcbench-responses=live").assert_outcomes(passed=len(CHATS) - 1, failed=1)
