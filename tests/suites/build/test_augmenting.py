from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.answers import Mode, Names
from pytest_fcbench.entries import CATEGORIES, Entry
from pytest_fcbench.matchers import ast, relevance
from pytest_fcbench.models.oracle import OracleModel
from pytest_fcbench.suites import core, files
from pytest_fcbench.suites.build.augmenting import KINDS, augmented
from pytest_fcbench.suites.build.writing import written
from pytest_fcbench.verdicts import Passed, Profile
from tests.factories import answer_of, make_entry, make_transcript, tool_calls


@pytest.fixture(scope="module")
def seeds() -> list[Entry]:
    suite = core.open_suite(Path())
    names = ("simple_python", "multiple", "live_simple", "live_multiple", "irrelevance", "simple_java")
    return [entry for name in names for entry in suite.load(CATEGORIES[name])]


@pytest.fixture(scope="module")
def made(seeds: list[Entry]) -> dict[str, list[Entry]]:
    return dict(augmented(seeds, list(KINDS), 40, 1, "grown"))


def _passes(entry: Entry, *, wrong: bool = False) -> bool:
    answer = answer_of(OracleModel(Mode.FC, Names.UNDERSCORED), entry)
    if wrong:
        name = entry.functions[0].name.replace(".", "_")
        answer = tool_calls((name, {"nothing_of_the_kind": 1}))
    transcript = make_transcript(answer)
    room = relevance if entry.category.name == "irrelevance" else ast
    return isinstance(room.judge(entry, transcript).under(Profile.CORRECTED), Passed)


def test_every_kind_is_made_and_only_from_what_it_says(
    seeds: list[Entry], made: dict[str, list[Entry]]
) -> None:
    keys = {entry.key for entry in seeds}
    assert {kind: len(entries) for kind, entries in made.items()} == dict.fromkeys(KINDS, 40)
    assert all(entry.parents and set(entry.parents) <= keys for entries in made.values() for entry in entries)
    names = [entry.key for entries in made.values() for entry in entries]
    assert len(set(names)) == len(names)
    assert not keys & set(names)


@pytest.mark.parametrize("kind", KINDS)
def test_the_oracle_passes_and_a_wrong_answer_fails(kind: str, made: dict[str, list[Entry]]) -> None:
    assert [entry.id for entry in made[kind] if not _passes(entry)] == []
    assert [entry.id for entry in made[kind] if _passes(entry, wrong=True)] == []


def test_the_seed_decides(seeds: list[Entry]) -> None:
    def text(seed: int) -> dict[str, str]:
        entries = [e for _, group in augmented(seeds, list(KINDS), 8, seed, "grown") for e in group]
        return dict(written(entries))

    assert text(5) == text(5)
    assert text(5) != text(6)


def test_what_is_made_reads_back_as_it_was(made: dict[str, list[Entry]], tmp_path: Path) -> None:
    entries = [entry for group in made.values() for entry in group]
    for name, text in written(entries).items():
        path = tmp_path / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")

        assert files.read(path, "grown") == tuple(e for e in entries if e.category.name == name)


def test_nothing_comes_of_entries_that_cannot_be_used() -> None:
    with pytest.raises(ValueError, match="no entry asks one question"):
        list(augmented([make_entry("irrelevance")], ["multiple"], 1, 1, "grown"))
