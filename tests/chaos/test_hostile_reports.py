"""A model answers with hostile texts: every file that a run writes can be read by those it is for."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from tests.hostile_texts import HOSTILE_TEXTS
from tests.loopback import Body, Reply, make_message_reply, serve_answers
from tests.plugin.conftest import Project

TEXTS = list(HOSTILE_TEXTS.values())


def answer_in_turn(asked: list[Body]) -> Reply:
    """Answer with one text after the other, as words and as the name and the argument of a call."""
    text = TEXTS[len(asked) // 2 % len(TEXTS)]
    if len(asked) % 2:
        return make_message_reply(text)
    return make_message_reply(calls=[(text, json.dumps({text: [text]}))])


@pytest.mark.nightly
@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.nightly)], ids=["plain", "n2"]
)
def test_what_a_run_writes_can_be_read(
    project: Project, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    asked: list[Body] = []

    def answer(body: Body) -> Reply:
        asked.append(body)
        return answer_in_turn(asked)

    with serve_answers(answer) as endpoint:
        result = project.run_apart(
            "--fcbench-model=m",
            f"--fcbench-api-base={endpoint.api_base}",
            "--fcbench-category=simple_python,multiple,parallel,parallel_multiple,irrelevance,live_simple",
            "--fcbench-label=who=<b>|x@y",
            "--junitxml=junit.xml",
            "-rfE",
            *workers,
        )
    assert len(asked) > 2 * len(TEXTS)
    assert "INTERNALERROR" not in result.stdout.str()
    records = project.records()
    tests = ElementTree.fromstring((project.path / "junit.xml").read_bytes()).findall(".//testcase")
    assert len(tests) == len(records) == len(asked)
    failed = [test for test in tests if test.find("failure") is not None]
    assert len(failed) == sum(not read_official(record) for record in records.values())
    assert (project.path / "summary.md").read_text(encoding="utf-8").count("### What failed") == 1
    # Texts on a terminal are printable, whatever the lines of pytest's own plugins are.
    assert "\x1b]0;title" not in result.stdout.str()
    written = project.fcbench("run", "report", "-o", "report.html")
    assert written.returncode == 0, written.stderr
    assert (project.path / "report.html").read_text(encoding="utf-8").endswith("</html>")


def read_official(record: dict[str, object]) -> bool:
    verdicts = record["verdicts"]
    assert isinstance(verdicts, dict)
    status: object = verdicts["official"]["status"]
    return status == "passed"
