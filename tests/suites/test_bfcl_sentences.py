"""The sentences of BFCL's tools: how they are read from sources, and that each of ours names one of them."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter

import pytest

from pytest_fcbench.environments.execution import DOMAINS
from pytest_fcbench.suites.bfcl.official_sources import SOURCES, read_sentences
from pytest_fcbench.suites.packs import CONSTANTS

KETTLE = '''
class Kettle:
    """A kettle with water in it."""

    def boil(self, minutes, mode="slow mode"):
        """Boil the water, not shown."""
        if minutes < 1:
            return {"error": f"It takes {minutes} minutes, {self.owner.name}: {len(mode)} {minutes:.2f}."}
        note = "late"
        return {"status": "Boiled {well}" + " and good" + f"{mode}"}

    def pour(self):
        return {"status": "poured"}
'''


def read_kettle(source: str) -> Mapping[str, list[str]]:
    path = next(path for path in SOURCES if path.endswith("/vehicle_control.py"))
    modules = {each: ast.parse(source if each == path else "") for each in SOURCES}
    return read_sentences(modules)["vehicle"]


def test_texts_with_a_space_are_templates_in_source_order() -> None:
    assert read_kettle(KETTLE) == {
        "boil": [
            "slow mode",
            "It takes {minutes} minutes, {name}: {value} {minutes}.",
            "Boiled {{well}}",
            " and good",
        ]
    }


def test_functions_of_one_name_in_a_file_share_a_list() -> None:
    twice = (
        "class A:\n    def f(self):\n        return 'a b'\nclass B:\n    def f(self):\n        return 'c d'\n"
    )
    assert read_kettle(twice) == {"f": ["a b", "c d"]}


@pytest.fixture(scope="module")
def constants(pack_cache: Path) -> Mapping[str, object]:
    found: Mapping[str, object] = json.loads(next(pack_cache.rglob(f"bfcl/*/{CONSTANTS}")).read_text())
    return found


def find_sentences(constants: Mapping[str, object]) -> Mapping[str, Mapping[str, list[str]]]:
    world = constants["world"]
    assert isinstance(world, dict)
    sentences: Mapping[str, Mapping[str, list[str]]] = world["sentences"]
    return sentences


def list_written_sentences() -> Iterator[tuple[str, str, int, set[str]]]:
    """Yield domain, official function, number and given values of each sentence in our code."""
    for domain, owner in DOMAINS.items():
        path = Path(str(sys.modules[owner.__module__].__file__))
        classes = {each.__name__ for each in owner.__mro__ if each.__module__ == owner.__module__}
        module = ast.parse(path.read_text(encoding="utf-8"))
        others = [node for node in module.body if isinstance(node, ast.ClassDef) and node.name not in classes]
        for node in ast.walk(ast.Module([node for node in module.body if node not in others], [])):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="_write_text" | "_make_error"),
                    args=[_, ast.Constant(value=str(function)), ast.Constant(value=int(number))],
                    keywords=keywords,
                ) if all(keyword.arg for keyword in keywords):
                    yield domain, function, number, {str(keyword.arg) for keyword in keywords}


def test_every_sentence_of_ours_stands_for_an_official_one(constants: Mapping[str, object]) -> None:
    official = find_sentences(constants)
    written = list(list_written_sentences())
    assert len(written) > 90
    for domain, function, number, given in written:
        template = official[domain][function][number]
        wanted = {name for _, name, _, _ in Formatter().parse(template) if name}
        assert wanted <= given, f"{domain}.{function} {number}: {template!r} needs {wanted - given}"
