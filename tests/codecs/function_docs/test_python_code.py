from __future__ import annotations

import enum
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field
from typing_extensions import TypedDict

from pytest_fcbench.codecs.function_docs import python_code
from pytest_fcbench.domain.errors import UsageError
from tests.cases import each_case


class Soil(enum.Enum):
    CLAY = "clay"
    SAND = "sand"


@dataclass
class Bed:
    width_m: float
    length_m: float = 1.0


class Note(TypedDict):
    text: str


def water_bed(bed: str, litres: float, at: Literal["dawn", "dusk"] = "dawn") -> str:
    """Water a bed.

    Not in the rain.

    Args:
        bed: Name of the bed,
            as on its sign.
        litres: How much.

    Returns:
        What was done.
    """
    return f"{bed} {litres} {at}"


def numpy_style(bed: Bed) -> None:
    """Dig.

    Parameters
    ----------
    bed : Bed
        What to dig.
    """


def sphinx_style(bed: Bed) -> None:
    """Dig.

    :param bed: What to dig.
    """


def plan_visit(  # type: ignore[no-untyped-def]
    soil: Soil | None,
    day: date,
    notes: list[Note],
    size: Annotated[int, Field(description="Seats", ge=1)],
    *,
    where: tuple[float, float] = (1.0, 2.0),
    free=None,
) -> None: ...


class Shed:
    def __init__(self, key: str) -> None:
        self.key = key

    def put(self, tool: str) -> None:
        """Put a tool away."""

    def _hidden(self) -> None: ...

    @staticmethod
    def count(kind: str) -> int:
        """How many there are."""
        return len(kind)


def any_number(*values: int) -> None: ...


def take_any_names(**values: int) -> None: ...


class Handle:
    """Nothing that JSON could hold."""


def take_handle(value: Handle) -> None: ...


def take_missing(value: "Missing") -> None: ...  # type: ignore[name-defined]  # noqa: F821, UP037


def test_types_come_from_the_signature_and_words_from_the_docstring() -> None:
    doc = python_code.document_function(water_bed)

    assert (doc.name, doc.description) == ("water_bed", "Water a bed. Not in the rain.")
    assert doc.parameters == {
        "type": "dict",
        "properties": {
            "bed": {"type": "string", "description": "Name of the bed, as on its sign."},
            "litres": {"type": "float", "description": "How much."},
            "at": {"type": "string", "description": "", "enum": ["dawn", "dusk"], "default": "dawn"},
        },
        "required": ["bed", "litres"],
    }


@pytest.mark.parametrize("function", [numpy_style, sphinx_style])
def test_other_styles_of_docstrings_are_read(function: python_code.Function) -> None:
    doc = python_code.document_function(function)

    assert doc.properties["bed"]["description"] == "What to dig."
    assert doc.properties["bed"]["properties"] == {
        "width_m": {"type": "float"},
        "length_m": {"type": "float", "default": 1.0},
    }


def test_hints_of_every_kind_are_read() -> None:
    doc = python_code.document_function(plan_visit)

    assert [schema["type"] for schema in doc.properties.values()] == [
        "string",
        "string",
        "array",
        "integer",
        "array",
        "any",
    ]
    assert doc.properties["soil"]["enum"] == ["clay", "sand"]
    assert doc.properties["day"]["description"] == "(format date)"
    assert doc.properties["size"]["description"] == "Seats (at least 1)"
    assert doc.properties["where"]["default"] == [1.0, 2.0]
    assert doc.required == ("soil", "day", "notes", "size")


def plant(
    soil: Soil = Soil.SAND, day: date = date(2025, 6, 14), tags: frozenset[str] = frozenset(("a", "b"))
) -> None:
    """Plant."""


def test_a_default_is_told_as_json_where_json_has_it() -> None:
    properties = python_code.document_function(plant).properties

    assert properties["soil"] == {
        "type": "string",
        "description": "",
        "enum": ["clay", "sand"],
        "default": "sand",
    }
    assert properties["day"]["default"] == "2025-06-14"
    assert "default" not in properties["tags"], "the order of a set is not always the same"


@each_case(
    ("function", "rule"),
    [
        (any_number, r"any_number: parameter \*values.* cannot be passed by name"),
        (take_any_names, r"parameter \*\*values.* cannot be passed by name"),
        (take_handle, "take_handle: value: .*Handle.* cannot be represented in JSON"),
        (take_missing, "a type hint cannot be resolved"),
    ],
)
def test_what_no_call_could_give_is_refused(function: python_code.Function, rule: str) -> None:
    with pytest.raises(UsageError, match=rule):
        python_code.document_function(function)


def test_the_public_methods_of_a_class_are_its_functions() -> None:
    docs = list(python_code.document_named(f"{__name__}:Shed", Path.cwd()))

    assert [(doc.name, doc.required) for doc in docs] == [("put", ("tool",)), ("count", ("kind",))]


def test_a_method_named_by_itself_needs_its_object() -> None:
    (doc,) = python_code.document_named(f"{__name__}:Shed.put", Path.cwd())

    assert (doc.name, doc.required) == ("put", ("self", "tool"))


def test_a_module_in_the_current_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "garden_of_mine.py").write_text(
        "from functools import cache\nfrom os.path import join\n@cache\ndef dig(depth: int): ...\n"
        "def plant(): ...\ndef _rest(): ...\nSIZE = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    docs = python_code.document_named("garden_of_mine", Path.cwd())
    assert [doc.name for doc in docs] == ["dig", "plant"]
    with pytest.raises(UsageError, match="Did you mean 'dig'"):
        list(python_code.document_named("garden_of_mine:dgi", Path.cwd()))
    with pytest.raises(UsageError, match="is neither a function nor a class but int"):
        list(python_code.document_named("garden_of_mine:SIZE", Path.cwd()))


@pytest.mark.parametrize("text", ["import nothing_of_the_kind", "raise SystemError('no')", "def"])
def test_a_module_that_does_not_load_is_told(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "garden_broken.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    with pytest.raises(UsageError, match="garden_broken cannot be imported: "):
        list(python_code.document_named("garden_broken", Path.cwd()))
