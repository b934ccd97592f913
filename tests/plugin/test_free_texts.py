"""Whole runs in which a judge compares free texts among the arguments, over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.loopback import Body, Endpoint, Reply, make_message_reply, serve_answers
from tests.plugin.conftest import Project

SUITE = """\
category: simple_python
functions:
  - name: mail
    description: Send a mail.
    parameters:
      type: dict
      properties: {to: {type: string, description: Name.}, body: {type: string, description: Text.}}
      required: [to, body]
entries:
  - id: simple_python_0
    query: Tell Ann that I am ill.
    functions: [mail]
    expect: [{mail: {to: Ann, body: I am ill.}}]
    judged: {mail: [body]}
  - id: simple_python_1
    query: Congratulate Bob.
    functions: [mail]
    expect: [{mail: {to: Bob, body: Congratulations!}}]
    judged: {mail: [body]}
  - id: simple_python_2
    query: Thank Eve.
    functions: [mail]
    expect: [{mail: {to: Eve, body: Thank you.}}]
    judged: {mail: [body]}
"""
ANSWERS = {
    "mine:simple_python_0": "[mail(to='Ann', body='I have fallen ill.')]",
    "mine:simple_python_1": "[mail(to='Bob', body='My condolences.')]",
    "mine:simple_python_2": "[mail(to='Bob', body='Many thanks.')]",
}
"""The same meaning, another meaning, and a name that is wrong."""


def answer_as_judge(asked: Body) -> Reply:
    """Tell which text says what was to be said."""
    same = "fallen ill" in json.dumps(asked["messages"])
    return make_message_reply(json.dumps({"same": same, "reason": "Read both."}))


@pytest.fixture
def judge(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("JUDGE_KEY", "sk-judge-0123456789")
    project.write("mine.yaml", SUITE)
    project.write("answers.json", json.dumps({"answers": ANSWERS}))
    with serve_answers(answer_as_judge) as endpoint:
        project.write(
            "fcbench.yaml",
            "suites: {mine: mine.yaml}\nsuite: mine\nmodel: scripted:answers.json\nmode: prompt\n"
            f"judge: openai/judge\njudge_api_base: {endpoint.api_base}\njudge_api_key_env: JUDGE_KEY\n",
        )
        yield endpoint


def test_the_judge_is_asked_once_and_its_opinion_is_kept(project: Project, judge: Endpoint) -> None:
    project.run("mine.yaml", "--fcbench-profile=corrected").assert_outcomes(passed=1, failed=2)
    assert len(judge.requests) == 2
    section = project.scorecard()["fcbench"]
    assert isinstance(section, dict)
    assert section["rated_by"] == "openai/judge"
    first = {name: record["verdicts"] for name, record in project.records().items()}
    project.run("mine.yaml", "--fcbench-profile=corrected", "--fcbench-offline", "-n", "2").assert_outcomes(
        passed=1, failed=2
    )
    rejudged = project.fcbench("run", "rejudge", "scorecard.json")
    assert (rejudged.returncode, rejudged.stdout.splitlines()[-1]) == (0, "no verdict changed")
    project.run("mine.yaml", "--fcbench-model=replay:scorecard.json", "--fcbench-scorecard=again.json")
    assert {k: r["verdicts"] for k, r in project.records("again.json").items()} == first
    assert len(judge.requests) == 2


@pytest.mark.nightly
def test_the_official_profile_wants_the_same_words(project: Project, judge: Endpoint) -> None:
    result = project.run("mine.yaml", "--fcbench-profile=official")
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(
        ["note: 3 entries have free text among the arguments: the judge counts in the corrected profile; *"]
    )


def test_without_a_judge_the_report_says_what_passes(project: Project, judge: Endpoint) -> None:
    result = project.run("mine.yaml", "--fcbench-judge=none", "--fcbench-profile=corrected")
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(
        ["note: 3 entries have free text among the arguments, of which only the same words pass; *"]
    )
    assert judge.requests == []
