"""Another distribution adds to a registry by an entry point, and cannot take a name that is taken."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.registry import IdentityCache, Registry
from tests.installing import install_distribution

GROUP = "fcbench.things"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def make_registry() -> Registry[object]:
    return Registry("thing", GROUP, {"ours": 1})


def test_what_a_distribution_adds_is_found_beside_our_own(place: Path) -> None:
    install_distribution(place, "more", {GROUP: {"theirs": "math:pi"}})
    found = make_registry()
    assert (list(found), len(found)) == (["ours", "theirs"], 2)
    assert (found["ours"], found.find("theirs")) == (1, math.pi)
    assert "theirs" in found
    assert "other" not in found


def test_an_unknown_name_is_answered_with_all_names(place: Path) -> None:
    install_distribution(place, "more", {GROUP: {"theirs": "math:pi"}})
    with pytest.raises(
        UsageError, match=r"unknown thing 'their'\. Did you mean 'theirs'\? Valid: ours, theirs"
    ):
        make_registry().find("their")


def test_an_entry_point_is_imported_only_when_it_is_looked_up(place: Path) -> None:
    install_distribution(place, "more", {GROUP: {"theirs": "no_such_module:thing"}})
    found = make_registry()
    assert list(found) == ["ours", "theirs"]
    told = re.escape("thing 'theirs': no_such_module:thing of more cannot be imported: ModuleNotFoundError")
    with pytest.raises(UsageError, match=told):
        found.find("theirs")


@pytest.mark.parametrize(("name", "owner"), [("ours", "pytest-fcbench"), ("theirs", "more")])
def test_a_name_cannot_be_taken_twice(place: Path, name: str, owner: str) -> None:
    install_distribution(place, "more", {GROUP: {"theirs": "math:pi"}})
    install_distribution(place, "second", {GROUP: {name: "math:e"}})
    with pytest.raises(UsageError, match=f"thing '{name}' of .*: .* has one of that name; rename") as raised:
        list(make_registry())
    assert {"second", owner} <= set(re.findall(r"[\w-]+", str(raised.value)))


def test_a_value_is_made_once_for_an_object() -> None:
    cache, source = IdentityCache[Sequence[object], str](2), [1]
    assert cache.find_or_make(source, repr) is cache.find_or_make(source, repr)


def test_equal_objects_have_values_of_their_own() -> None:
    cache = IdentityCache[Sequence[object], str](9)
    assert [cache.find_or_make(source, repr) for source in ([1], [1.0], [True])] == ["[1]", "[1.0]", "[True]"]


def test_what_counts_beside_the_object_tells_values_apart() -> None:
    cache, source = IdentityCache[Sequence[object], str](9), [1]
    assert cache.find_or_make(source, repr, "a") == "[1]"
    assert cache.find_or_make(source, lambda _: "other", "b") == "other"
    assert cache.find_or_make(source, lambda _: "third", "a") == "[1]"


def test_no_more_values_than_the_limit_are_kept() -> None:
    cache = IdentityCache[Sequence[object], int](2)
    made: list[object] = []
    sources: list[list[object]] = [[1], [2], [3]]

    def make(source: Sequence[object]) -> int:
        made.append(source[0])
        return len(made)

    for source in (*sources, sources[2], sources[0]):
        cache.find_or_make(source, make)
    assert made == [1, 2, 3, 1]


def test_an_object_at_the_address_of_a_dead_one_is_another() -> None:
    """The cache keeps its sources alive, so that no other object takes their place."""
    cache = IdentityCache[Sequence[object], str](999)
    found = [cache.find_or_make([number], repr) for number in range(500)]
    assert found == [f"[{number}]" for number in range(500)]
