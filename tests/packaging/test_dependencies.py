"""What is imported is what is declared, and what belongs to an extra is asked for before it is needed."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import packages_distributions, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pytest_fcbench.domain import registry
from pytest_fcbench.domain.errors import UsageError
from tests.cases import each_case
from tests.conftest import ROOT
from tests.house import find_imported_names
from tests.packaging.test_files import PROJECT
from tests.test_architecture import SOURCES

BASE = {canonicalize_name(Requirement(text).name) for text in PROJECT["dependencies"]}
NOT_IMPORTED = {
    "argcomplete": "is imported by pytest",
    "lxml": "parses for beautifulsoup4, which is told its name",
    "pip": "is run by fcbench pull",
    "pytest-json-report": "writes the report, a plugin",
}
OF_OTHERS = {
    "botocore": "boto3",
    "bs4": "markdownify",
    "certifi": "litellm",
    "execnet": "pytest-xdist",
    "huggingface_hub": "litellm",
    "idna": "requests",
    "jinja2": "litellm",
    "markupsafe": "jinja2",
    "packaging": "litellm",
    "pydantic_core": "pydantic",
    "referencing": "jsonschema",
    "yarl": "aiohttp",
}
"""Packages that are imported and come with others, whose objects or tools they are."""


def _list_packages(extra: str) -> set[str]:
    return {canonicalize_name(Requirement(text).name) for text in PROJECT["optional-dependencies"][extra]}


_list_distributions = cache(packages_distributions)


def _find_imported() -> set[str]:
    """Return the distributions of all that the package imports."""
    tops = {name.split(".")[0] for path in SOURCES for name in find_imported_names(path)}
    distributions = _list_distributions()
    return {
        # Extras that are not installed are distributions of the same name, and some come in several parts.
        canonicalize_name(top if top in (found := distributions.get(top, [top])) else found[0])
        for top in tops - sys.stdlib_module_names - {"pytest_fcbench"} - OF_OTHERS.keys()
    }


def test_what_is_imported_is_declared() -> None:
    optional = set().union(*map(_list_packages, registry.EXTRAS))
    assert _find_imported() == (BASE | optional) - NOT_IMPORTED.keys()
    assert not BASE & optional


@pytest.mark.parametrize(("package", "owner"), OF_OTHERS.items())
def test_what_is_not_declared_comes_with_what_is(package: str, owner: str) -> None:
    distribution = _list_distributions()[package][0]
    needed = [Requirement(text) for text in requires(owner) or ()]
    assert canonicalize_name(distribution) in {
        canonicalize_name(each.name) for each in needed if not each.marker or each.marker.evaluate()
    }
    assert canonicalize_name(owner) in BASE | OF_OTHERS.keys() | {"boto3"}


def test_extras_are_those_of_the_project() -> None:
    assert {extra: {*map(canonicalize_name, packages)} for extra, packages in registry.EXTRAS.items()} == {
        extra: _list_packages(extra) for extra in registry.EXTRAS
    }
    together = [extra for extra in registry.EXTRAS if extra not in registry.APART]
    assert PROJECT["optional-dependencies"]["all"] == [f"pytest-fcbench[{','.join(together)}]"]
    assert "pytest-fcbench[all,docs]" in PROJECT["optional-dependencies"]["dev"]


def test_each_dependency_has_its_reason() -> None:
    """A row of the table in docs/project/dependencies.md; what belongs to an extra names it."""
    table = (ROOT / "docs" / "project" / "dependencies.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| ")]
    named = {
        canonicalize_name(name.strip()): row
        for row in rows
        for name in row.partition("(")[0].replace(", -", ", tree-sitter-").split(",")
    }
    assert named.keys() >= BASE
    for extra in registry.EXTRAS:
        assert all(
            f"(extra `{extra}`)" in row for name, row in named.items() if name in _list_packages(extra)
        )


@each_case("extra", registry.EXTRAS)
def test_what_is_missing_is_named_with_the_way_to_get_it(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if extra in registry.APART and registry.list_missing_packages(extra):
        pytest.skip(f"the extra {extra} is not installed")
    registry.require_extra(extra, "this")
    for package in registry.EXTRAS[extra]:
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError) as error:
        registry.require_extra(extra, "--this=that")
    packages = f"package{'s' * (len(registry.EXTRAS[extra]) > 1)} {' and '.join(registry.EXTRAS[extra])}"
    told = f"--this=that needs the {packages}: pip install 'pytest-fcbench[{extra}]'"
    assert str(error.value) == told
