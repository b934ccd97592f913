"""Suites are found by name, also those that other distributions add."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.cli.main import main
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.registry import Registry
from pytest_fcbench.scorecard.aggregate import scores as formulas
from pytest_fcbench.scorecard.gate.rules import METRICS
from pytest_fcbench.suites import core, embedded, registry
from pytest_fcbench.suites.registry import OURS, can_name_a_suite, list_openers, open_suite
from pytest_fcbench.suites.suite import Suite
from tests.installing import install_distribution

GROUP = "fcbench.suites"


def open_garden(cache: Path) -> Suite:
    """Open the suite that an entry point names."""
    return replace(core.open_suite(cache), name="garden", version="3", categories=())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    # The registry of the process remembers what it has loaded.
    monkeypatch.setattr(registry, "SUITES", Registry("suite", GROUP, OURS))
    return tmp_path


def test_a_suite_is_not_named_like_a_score() -> None:
    """A gate and a table could not tell the two apart."""
    names = (*METRICS, "schema", "not_scored", "shop")
    assert [name for name in names if can_name_a_suite(name)] == ["shop"]


def test_formulas_are_for_our_suites() -> None:
    # The checks of a server are no part of a score, and entries of ``frontier`` count alike.
    assert tuple(name for name in OURS if name not in (embedded.WIRE, embedded.FRONTIER)) == formulas.SUITES


def test_another_distribution_adds_a_suite(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install_distribution(place, "plants", {GROUP: {"garden": f"{__name__}:open_garden"}})
    assert open_suite("garden", place).version == "3"
    assert list(list_openers({"mine": place})) == [*OURS, "garden", "mine"]
    assert not can_name_a_suite("garden")
    main(["suite", "list"])
    assert "garden             3, 0 entries in 0 categories" in capsys.readouterr().out


def test_an_unknown_suite_is_told_with_the_nearest_names(place: Path) -> None:
    install_distribution(place, "plants", {GROUP: {"garden": f"{__name__}:open_garden"}})
    rule = (
        r"unknown suite 'gardn'\. Did you mean 'garden'\? Valid: core, bfcl, complexfuncbench, wire, "
        r"frontier, garden\."
    )
    with pytest.raises(UsageError, match=rule):
        open_suite("gardn", place)


def test_a_suite_that_cannot_be_imported_is_told_only_where_it_is_wanted(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install_distribution(place, "plants", {GROUP: {"garden": "no_such_module:open_garden"}})
    told = "suite 'garden': no_such_module:open_garden of plants cannot be imported: ModuleNotFoundError"
    assert open_suite("core", place).load(CATEGORIES["chatable"])
    with pytest.raises(UsageError, match=re.escape(told)):
        open_suite("garden", place)
    assert main(["suite", "list"]) == 1
    out = capsys.readouterr().out
    assert f"cannot be loaded: {told}" in out
    assert re.search(r"^core +\d", out, re.MULTILINE)


@pytest.mark.parametrize("name", ["orchard", "my-garden"])
def test_the_name_of_a_suite_is_that_of_its_entry_point_and_a_word(place: Path, name: str) -> None:
    install_distribution(place, "plants", {GROUP: {name: f"{__name__}:open_garden"}})
    with pytest.raises(UsageError, match=f"suite '{name}': .* a suite named 'garden'"):
        open_suite(name, place)


@pytest.mark.parametrize("locked", ["attic", "secrets.yaml"])
def test_what_cannot_be_read_hides_no_suite_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locked: str
) -> None:
    for path in (tmp_path / "shop.yaml", tmp_path / "tea" / "all.yaml", tmp_path / "attic" / "box.yaml"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("category: chatable\nentries: [{id: hi, query: Hello.}]\n", "utf-8")
    (tmp_path / "secrets.yaml").touch()
    registry.remember_suites(tmp_path, {"far": tmp_path / "tea" / "all.yaml"})

    def refuse(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Path, *arguments: Any, **options: Any) -> Any:
            if path.name == locked:
                raise PermissionError(13, "Permission denied", str(path))
            return method(path, *arguments, **options)

        return call

    for name in ("iterdir", "open"):
        monkeypatch.setattr(Path, name, refuse(getattr(Path, name)))
    assert {"shop", "tea", "far"} <= registry.find_nearby_suites(tmp_path).keys()


def test_a_suite_that_was_moved_is_told_with_its_former_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "in" / "there" / "shop.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("category: chatable\nentries: [{id: hi, query: Hello.}]\n", "utf-8")
    registry.remember_suites(tmp_path, {"shop": path})
    assert open_suite("shop", tmp_path).name == "shop"

    path.rename(path.with_name("tea.yaml"))
    told = "'shop': in/there/shop.yaml, where a run found it, is gone; run 'pytest' once with its new path"
    with pytest.raises(UsageError, match=re.escape(told)):
        open_suite("shop", tmp_path)
    with pytest.raises(UsageError, match="unknown suite 'tea'"):
        open_suite("tea", tmp_path)
