"""Every entry is judged by the matcher of its rule, or by one that another distribution provides."""

from __future__ import annotations

from collections.abc import Mapping
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
from pytest_fcbench.matchers.registry import MATCHERS, Resources, judge
from pytest_fcbench.suites import core
from tests.factories import make_entry, make_transcript
from tests.installing import install_distribution
from tests.matchers.outcomes import name_outcomes

CORE = core.open_suite(Path())


def _open_entry(entry: Entry) -> Environments:
    return environments.open_environments(entry, CORE.world)


NAME = "simple_function_checker:wrong_func_name"
OUTCOMES: Mapping[str, tuple[str, str | None, str | None]] = {
    # rule, or category where it differs: (module of the matcher, official and corrected outcome of "[f()]")
    "simple": ("ast", NAME, NAME),
    "simple_java": ("ast", "ast_decoder:decoder_failed", NAME),
    "multiple": ("ast", NAME, NAME),
    "parallel": ("ast", "parallel_function_checker_no_order:wrong_count", "wrong_count"),
    "variation": ("", NAME, NAME),
    "irrelevance": ("relevance", "irrelevance_error:decoder_success", "irrelevance:call"),
    "relevance": ("relevance", None, "relevance:unknown_function"),
    "state": ("state", "multi_turn:force_terminated", "multi_turn:force_terminated"),
    "answer": ("answer", "agentic:answer_not_found", "agentic:answer_not_found"),
    "path": ("golden_path.verdict", "not scored: other_rules", "not scored: other_rules"),
    "exec_simple": ("execution", "executable_checker:execution_error", "executable_checker:execution_error"),
    "exec_multiple": (
        "execution",
        "executable_checker:cannot_find_match",
        "executable_checker:execution_error",
    ),
    "exec_parallel": ("execution", "value_error:exec_result_count", "wrong_count"),
    "exec_parallel_multiple": ("execution", "value_error:exec_result_count", "wrong_count"),
    "rest": ("rest", "executable_checker_rest:execution_error", "executable_checker_rest:execution_error"),
    "sql": ("sql", NAME, NAME),
    "own_check": ("own_check", None, None),
    "chat": ("chat", "irrelevance_error:decoder_success", "irrelevance:call"),
}


@pytest.mark.parametrize("category", CORE.categories, ids=lambda category: category.name)
def test_the_verdict_is_that_of_the_matcher(category: Category, pool: Pool, performer: Performer) -> None:
    module, official, corrected = OUTCOMES.get(category.name) or OUTCOMES[category.rule.name]
    entry = CORE.load(category)[0]
    transcript = make_transcript(Completion(text="[f()]"), entry=entry.key)
    found = judge(entry, transcript, Resources(_open_entry, pool, performer))
    assert category.rule.matcher == module
    assert name_outcomes(found) == (official, corrected)


def test_where_words_are_asked_for_an_empty_answer_is_wrong(pool: Pool, performer: Performer) -> None:
    """Where only calls are wrong it is right: "chat" and "irrelevance" have matchers of their own."""
    given = Resources(_open_entry, pool, performer)
    chatable = judge(make_entry("chatable", functions=[]), make_transcript(""), given)
    irrelevance = judge(make_entry("irrelevance"), make_transcript(""), given)
    assert name_outcomes(chatable) == (None, "chat:empty")
    assert name_outcomes(irrelevance) == (None, None)


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
    verdict = Failed("strict", "core:chatable_0: nothing is good enough")
    assert judge(entry, make_transcript("Hello!"), given) == Judgement(verdict, verdict)
    with pytest.raises(UsageError, match=r"unknown matcher .stricter.\. Did you mean .strict."):
        judge(replace(entry, matcher="stricter"), make_transcript("Hello!"), given)
