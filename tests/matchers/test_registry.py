"""Every entry is judged by the matcher of its rule, or by one that another distribution provides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench import environments
from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry, Rule
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.transcript import Completion, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.execution.rest.performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.matchers import answer, ast, chat, execution, relevance, rest, sql, state
from pytest_fcbench.matchers.golden_path import verdict
from pytest_fcbench.matchers.registry import MATCHERS, Resources, judge
from pytest_fcbench.suites import core
from tests.factories import make_entry, make_transcript
from tests.installing import install_distribution

CORE = core.open_suite(Path())


def _open_entry(entry: Entry) -> Environments:
    return environments.open_environments(entry, CORE.world)


@pytest.mark.parametrize("category", CORE.categories, ids=lambda category: category.name)
def test_the_verdict_is_that_of_the_matcher(category: Category, pool: Pool, performer: Performer) -> None:
    entry = CORE.load(category)[0]
    transcript = make_transcript(Completion(text="[f()]"), entry=entry.key)
    rule = category.rule.name
    if rule == "path":
        expected = verdict.judge(entry, transcript)
    elif rule == "state":
        expected = state.judge(entry, transcript, _open_entry)
    elif rule == "execution":
        expected = execution.judge(entry, transcript, pool)
    elif rule == "rest":
        expected = rest.judge(entry, transcript, performer)
    elif rule == "sql":
        expected = sql.judge(entry, transcript)
    elif rule == "answer":
        expected = answer.judge(entry, transcript)
    elif rule == "chat":
        expected = chat.judge(entry, transcript)
    elif entry.category.expects_calls:
        expected = ast.judge(entry, transcript)
    else:
        expected = relevance.judge(entry, transcript)
    assert judge(entry, transcript, Resources(_open_entry, pool, performer)) == expected


@pytest.mark.parametrize(
    "rule", dict.fromkeys(each.rule for each in CATEGORIES.values() if not each.rule.varies_others), ids=str
)
def test_every_rule_has_a_matcher(rule: Rule) -> None:
    assert rule.name in MATCHERS


def fail_everything(entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
    """Fail every answer, as a matcher that another distribution provides."""
    return Judgement.same_in_both(Failed("strict", f"{entry.key}: nothing is good enough"))


def test_another_distribution_provides_the_matcher_that_an_entry_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pool: Pool, performer: Performer
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    install_distribution(
        tmp_path, "strictness", {"fcbench.matchers": {"strict": f"{__name__}:fail_everything"}}
    )
    given = Resources(_open_entry, pool, performer)
    entry = replace(make_entry("chatable", functions=[]), matcher="strict")
    assert judge(entry, make_transcript("Hello!"), given) == fail_everything(
        entry, make_transcript(""), given
    )
    with pytest.raises(UsageError, match=r"unknown matcher .stricter.\. Did you mean .strict."):
        judge(replace(entry, matcher="stricter"), make_transcript("Hello!"), given)
