"""Every entry is judged by its kind, or by one that another distribution provides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench import environments
from pytest_fcbench.domain.categories import CATEGORIES, Category
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.transcript import Completion, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.execution.rest.performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.kinds.judgement import judge
from pytest_fcbench.kinds.kind import Kind, Resources
from pytest_fcbench.kinds.table import KINDS
from pytest_fcbench.suites import core
from tests.factories import make_entry, make_transcript
from tests.installing import install_distribution
from tests.kinds.outcomes import name_outcomes

CORE = core.open_suite(Path())


def _open_entry(entry: Entry) -> Environments:
    return environments.open_environments(entry, CORE.world)


NAME = "simple_function_checker:wrong_func_name"
OUTCOMES: Mapping[str, tuple[str, str | None, str | None]] = {
    # kind, or category where it differs: (its folder, official and corrected outcome of "[f()]")
    "simple": ("calls", NAME, NAME),
    "simple_java": ("calls", "ast_decoder:decoder_failed", NAME),
    "multiple": ("calls", NAME, NAME),
    "parallel": ("calls", "parallel_function_checker_no_order:wrong_count", "wrong_count"),
    "variation": ("calls", NAME, NAME),
    "irrelevance": ("relevance", "irrelevance_error:decoder_success", "irrelevance:call"),
    "relevance": ("relevance", None, "relevance:unknown_function"),
    "state": ("state", "multi_turn:force_terminated", "multi_turn:force_terminated"),
    "memory": ("answers", "agentic:answer_not_found", "agentic:answer_not_found"),
    "web_search": ("answers", "agentic:answer_not_found", "agentic:answer_not_found"),
    "golden_path": ("golden_path", "not scored: other_rules", "not scored: other_rules"),
    "exec_simple": ("execution", "executable_checker:execution_error", "executable_checker:execution_error"),
    "exec_multiple": (
        "execution",
        "executable_checker:cannot_find_match",
        "executable_checker:execution_error",
    ),
    "exec_parallel": ("execution", "value_error:exec_result_count", "wrong_count"),
    "exec_parallel_multiple": ("execution", "value_error:exec_result_count", "wrong_count"),
    "rest": (
        "execution",
        "executable_checker_rest:execution_error",
        "executable_checker_rest:execution_error",
    ),
    "sql": ("sql", NAME, NAME),
    "own_check": ("own_check", None, None),
    "chat": ("chat", "irrelevance_error:decoder_success", "irrelevance:call"),
}


@pytest.mark.parametrize("category", CORE.categories, ids=lambda category: category.name)
def test_the_verdict_is_that_of_the_kind(category: Category, pool: Pool, performer: Performer) -> None:
    folder, official, corrected = OUTCOMES.get(category.name) or OUTCOMES[category.kind]
    entry = CORE.load(category)[0]
    transcript = make_transcript(Completion(text="[f()]"), entry=entry.key)
    found = judge(entry, transcript, Resources(_open_entry, pool, performer))
    assert KINDS[entry.kind].__module__.split(".")[2] == folder
    assert name_outcomes(found) == (official, corrected)


def test_where_words_are_asked_for_an_empty_answer_is_wrong(pool: Pool, performer: Performer) -> None:
    """Where only calls are wrong it is right: "chat" and "irrelevance" are kinds of their own."""
    given = Resources(_open_entry, pool, performer)
    chatable = judge(make_entry("chatable", functions=[]), make_transcript(""), given)
    irrelevance = judge(make_entry("irrelevance"), make_transcript(""), given)
    assert name_outcomes(chatable) == (None, "chat:empty")
    assert name_outcomes(irrelevance) == (None, None)


def test_the_table_has_the_kind_of_every_category_and_no_other() -> None:
    assert {*KINDS} == {each.kind for each in CATEGORIES.values()}


class Strict(Kind):
    """A kind that another distribution provides: it fails every answer."""

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Fail the answer."""
        return Judgement.same_in_both(Failed("strict", f"{entry.key}: nothing is good enough"))


STRICT = Strict()


def test_another_distribution_provides_the_kind_that_an_entry_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pool: Pool, performer: Performer
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    install_distribution(tmp_path, "strictness", {"fcbench.kinds": {"strict": f"{__name__}:STRICT"}})
    given = Resources(_open_entry, pool, performer)
    entry = replace(make_entry("chatable", functions=[]), other_kind="strict")
    verdict = Failed("strict", "core:chatable_0: nothing is good enough")
    assert judge(entry, make_transcript("Hello!"), given) == Judgement(verdict, verdict)
    with pytest.raises(UsageError, match=r"unknown kind .stricter.\. Did you mean .strict."):
        judge(replace(entry, other_kind="stricter"), make_transcript("Hello!"), given)
