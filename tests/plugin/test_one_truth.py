"""Of one run, every place tells the same headline and the same outcomes of its rules."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from xml.etree import ElementTree

import pytest

from tests.loopback import Reply, make_message_reply, serve_answers
from tests.plugin.conftest import Project, size
from tests.plugin.test_endpoint_failures import ENTRIES, ENTRY


@dataclass(frozen=True)
class Telling:
    """What was told of a run in every place where a run is told."""

    code: int
    gate_code: int
    """The exit code of ``fcbench gate``."""
    section: Mapping[str, object]
    texts: Mapping[str, str]
    """By place, with single spaces and without markup."""
    properties: Sequence[tuple[str, str]]
    """Those of the file of --junitxml."""
    gate_lines: Sequence[str]

    def check_places(self) -> None:
        """Check that no place differs from the section of the scorecard."""
        headline, outcomes = str(self.section["headline"]), self.section["gate"]
        assert isinstance(outcomes, list)
        rules = [(told["rule"], told["outcome"], told["sentence"]) for told in outcomes]
        for place, text in self.texts.items():
            # A screen names only a profile that is not the official one, and leaves out the weight.
            assert headline.partition(", official profile")[0] in text, place
            for rule, outcome, sentence in rules:
                said = f"gate {rule}: {outcome}: {sentence}" if place != "page" else ""
                assert (said or " | ".join((rule, outcome, sentence))) in text, place
        assert [value for name, value in self.properties if name == "fcbench.headline"] == [headline]
        gate = [f"{rule}: {outcome}: {sentence}" for rule, outcome, sentence in rules]
        ungated = self.section["ungated"]
        assert [value for name, value in self.properties if name == "fcbench.gate"] == (
            [ungated] if ungated else gate
        )
        lines = (
            [f"{ungated}; exit code {self.code}, that of the run"] if ungated else [f"gate {g}" for g in gate]
        )
        assert list(self.gate_lines[1:]) == lines
        assert self.code == self.gate_code


@pytest.fixture(autouse=True)
def _summary(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    monkeypatch.setenv("COLUMNS", "80")


def _run_everywhere(project: Project, *options: str) -> Telling:
    result = project.run("--junitxml=junit.xml", *options)
    gate = project.fcbench("gate", "scorecard.json")
    assert project.fcbench("run", "report", "scorecard.json").returncode == 0
    page = (project.path / "report.html").read_text(encoding="utf-8")
    # Cells stand beside each other, as in the summary; what scripts hold is no text.
    page = re.sub(r"</t[hd]><t[hd]>", " | ", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))
    texts = {
        "terminal": result.stdout.str(),
        "page": unescape(re.sub("<[^>]+>", "", page)),
        "summary": re.sub(r"\\(.)", r"\1", (project.path / "summary.md").read_text(encoding="utf-8")),
    }
    section = project.scorecard()["fcbench"]
    assert isinstance(section, dict)
    return Telling(
        code=int(result.ret),
        gate_code=gate.returncode,
        section=section,
        texts={place: " ".join(text.split()) for place, text in texts.items()},
        properties=[
            (each.attrib["name"], each.attrib["value"])
            for each in ElementTree.parse(project.path / "junit.xml").iter("property")
        ],
        gate_lines=gate.stdout.splitlines(),
    )


def _read_outcomes(told: Telling) -> dict[str, str]:
    gate = told.section["gate"]
    assert isinstance(gate, list)
    return {each["rule"]: each["outcome"] for each in gate}


def test_a_broken_gate_is_told_alike_everywhere(project: Project) -> None:
    """The example of the README."""
    project.run("-m", "parallel")
    assert project.fcbench("run", "baseline", "save", "scorecard.json").returncode == 0
    rules = ("not-worse(95%)", "parallel>=0.01")
    told = _run_everywhere(
        project,
        *("-m", "parallel", "--fcbench-model=lexical", "--fcbench-baseline=fcbench-baseline.json"),
        *(f"--fcbench-gate={rule}" for rule in rules),
    )
    told.check_places()
    assert _read_outcomes(told) == {"not-worse(95%)": "broken", "parallel>=0.01": "held"}
    assert told.code == 1
    assert str(told.section["headline"]).startswith(
        f"17.4% of parallel passed: 4 of {size('parallel')} (95% "
    )


def test_a_gate_that_holds_is_told_alike_everywhere(project: Project) -> None:
    told = _run_everywhere(project, "-m", "parallel", "--fcbench-gate=all>=90%")
    told.check_places()
    assert (_read_outcomes(told), told.code) == ({"all>=90%": "held"}, 0)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("option", "code", "then"),
    [
        ("--fcbench-shard=1/2", 0, "; 'fcbench run merge' applies it to the whole run"),
        ("--fcbench-limit=4", 1, ""),
    ],
)
def test_a_part_says_everywhere_why_the_gate_was_not_applied(
    project: Project, option: str, code: int, then: str
) -> None:
    """A command that reads the scorecard ends with the code of the run, unless it is given rules."""
    project.write("fcbench.yaml", "model: lexical\ncategory: parallel\ngate: ['parallel>=0.99']\n")
    told = _run_everywhere(project, option)
    told.check_places()
    name = option.partition("=")[0]
    reason = f"the gate of fcbench.yaml was not applied: {name} selects a part of the entries{then}"
    assert (told.code, told.section["gate"], told.section["ungated"]) == (code, [], reason)
    for place, text in told.texts.items():
        # The result stands at both ends of what a terminal shows.
        assert text.count(reason) == (2 if place == "terminal" else 1), place
    given = project.fcbench("gate", "scorecard.json", "--gate=parallel>=0", "--output=gate.md")
    assert given.returncode == 0
    assert given.stdout.splitlines()[1] == f"in the run, {reason}"
    project.fcbench("run", "baseline", "save", "scorecard.json")
    baseline = project.fcbench("gate", "fcbench-baseline.json", "--output=gate.md")
    assert (baseline.returncode, baseline.stdout.splitlines()[1]) == (
        2,
        f"{reason}; exit code 2, which no baseline holds",
    )
    assert (project.path / "gate.md").read_text(encoding="utf-8").count(reason) == 1


def test_a_run_that_was_cut_short_cannot_tell_anywhere(project: Project) -> None:
    told = _run_everywhere(
        project, "-m", "parallel", "--fcbench-model=lexical", "--fcbench-gate=parallel>=0.01", "--maxfail=7"
    )
    told.check_places()
    assert (_read_outcomes(told), told.code) == ({"parallel>=0.01": "cannot tell"}, 2)
    assert "cannot tell: the run was interrupted; parallel is " in told.texts["terminal"]


@pytest.mark.few(1)
@pytest.mark.parametrize("is_dead", [True, False])
def test_an_endpoint_that_is_dead_from_some_entry_on_is_told_alike_everywhere(
    project: Project, is_dead: bool
) -> None:
    project.write("weather.yaml", ENTRIES + "".join(ENTRY % {"days": days + 1} for days in range(6)))
    left = iter(range(5))

    def answer(asked: dict[str, object]) -> Reply:
        if is_dead and next(left, None) is None:
            return Reply("Internal Server Error", 500, {"Content-Type": "text/plain"})
        return make_message_reply("I cannot say.")

    with serve_answers(answer) as endpoint:
        told = _run_everywhere(
            project,
            *("weather.yaml", "--fcbench-model=m", f"--fcbench-api-base={endpoint.api_base}"),
            *("--fcbench-retries=0", "--fcbench-concurrency=1", "--fcbench-store=none"),
            *("--fcbench-gate=not_scored<=10%", "--fcbench-gate=simple_python<=10%"),
        )
    told.check_places()
    words = ("broken", "cannot tell") if is_dead else ("held", "held")
    assert tuple(_read_outcomes(told).values()) == words
    assert told.code == is_dead
    assert ("not scored: 1 of 6 (endpoint 1)" in told.texts["terminal"]) == is_dead


def test_the_gate_of_a_run_is_told_beside_rules_that_are_given(project: Project) -> None:
    project.run("-m", "parallel", "--fcbench-gate=all>=90%")
    alone = project.fcbench("gate", "scorecard.json", "--json")
    (held,) = json.loads(alone.stdout)["rules"]
    assert (held["outcome"], alone.returncode, "recorded" in json.loads(alone.stdout)) == ("held", 0, False)
    rule = "--gate=not_scored>0%"
    lines = project.fcbench("gate", "scorecard.json", rule, "--output=gate.md").stdout.splitlines()
    assert lines[1:3] == [
        "in the run, gate all>=90%: held: all is 100.00%",
        f"gate not_scored>0%: broken: 0 of {size('parallel')} entries were not scored (0.00%)",
    ]
    asked = project.fcbench("gate", "scorecard.json", rule, "--json")
    told = json.loads(asked.stdout)
    assert (told["recorded"], told["rules"][0]["outcome"], asked.returncode) == ([held], "broken", 1)
    summary = (project.path / "gate.md").read_text(encoding="utf-8")
    assert summary.index("gate not\\_scored\\>0%: broken") < summary.index("### Gate of the run itself\n")


def test_no_rule_holds_for_a_run_that_ended_early_when_it_is_given_later(project: Project) -> None:
    project.run("-m", "parallel", "-x", "--fcbench-model=lexical", "--fcbench-gate=all>=0%")
    given = project.fcbench("gate", "scorecard.json", "--gate=all>=0%", "--gate=parallel>=0%")
    assert given.returncode == 2
    early, *lines = given.stdout.splitlines()[1:]
    assert early.startswith("in the run, gate all>=0%: cannot tell: the run was interrupted; ")
    assert [line.partition(";")[0] for line in lines] == [
        f"gate {rule}>=0%: cannot tell: the run was interrupted" for rule in ("all", "parallel")
    ]
