"""Function docs derived from classes: what each piece of a signature and a docstring becomes."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from docstring_parser import parse

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.domain.function_doc import TYPES, WITH_ELEMENTS, FunctionDoc, Language, conforms_to_schema
from pytest_fcbench.environments.environment import Environment, document_domain, list_functions
from pytest_fcbench.environments.execution import DOMAINS
from tests.cases import each_case


class Kiosk(Environment):
    """A kiosk at a station,
    open all day.

    Not a shop.
    """

    def sell(
        self,
        item: str,
        count: int,
        price: float,
        gift: bool,
        stamps: list[int],
        rows: list[list[str]],
        extras: dict[str, object],
        colour: Literal["red", "blue"],
        size: Literal[1, 2] = 2,
        note: str | None = None,
        weight: int | float = 1,
        limit: float | int | None = None,
        tags: list[str] | None = None,
        paid: bool = False,
    ) -> dict[str, object]:
        """Sell something
        to a traveler.

        It goes into the list.

        Args:
            item: What is sold: a paper,
                a coffee
                or an apple.
            count: How many.
            price: One price.
            gift: Whether it is wrapped.
            stamps: Numbers.
            rows: Rows of words.
            extras: Anything else.
            colour: Of the paper.
            size: Of the bag.
            note: For the traveler.
            weight: In kg.
            limit: Not more than this.
            tags: Some words.
            paid: Whether it is paid.

        Returns:
            count: not a parameter.
        """
        return {}

    def close(self) -> None:
        """Close the kiosk.

        Returns:
            hour: when it opens again.
        """

    def _count(self, hidden: int) -> None:
        """Private, so no function."""


def document_sell() -> FunctionDoc:
    return document_domain(Kiosk)[0]


def test_public_methods_are_functions_in_their_order() -> None:
    assert list_functions(Kiosk) == ("sell", "close")
    assert list_functions(Environment) == ()


class Stand(Kiosk):
    """Another one."""

    def open(self) -> None:
        """Open the stand."""


def test_only_methods_of_the_class_itself_are_functions() -> None:
    assert [doc.name for doc in document_domain(Stand)] == ["open"]


def test_descriptions_are_one_line_without_sections() -> None:
    about = "A kiosk at a station, open all day. Not a shop."
    assert [doc.description for doc in document_domain(Kiosk)] == [
        f"{about} Sell something to a traveler. It goes into the list.",
        f"{about} Close the kiosk.",
    ]


TYPED: Mapping[str, Mapping[str, object]] = {
    "item": {"type": "string", "description": "What is sold: a paper, a coffee or an apple."},
    "count": {"type": "integer", "description": "How many."},
    "price": {"type": "float", "description": "One price."},
    "gift": {"type": "boolean", "description": "Whether it is wrapped."},
    "stamps": {"type": "array", "items": {"type": "integer"}, "description": "Numbers."},
    "rows": {
        "type": "array",
        "items": {"type": "array", "items": {"type": "string"}},
        "description": "Rows of words.",
    },
    "extras": {"type": "dict", "description": "Anything else."},
    "colour": {"type": "string", "enum": ["red", "blue"], "description": "Of the paper."},
    "size": {"type": "integer", "enum": [1, 2], "description": "Of the bag.", "default": 2},
    "note": {"type": "string", "description": "For the traveler."},
    "weight": {"type": "float", "description": "In kg.", "default": 1},
    "limit": {"type": "float", "description": "Not more than this."},
    "tags": {"type": "array", "items": {"type": "string"}, "description": "Some words."},
    "paid": {"type": "boolean", "description": "Whether it is paid.", "default": False},
}


@each_case(("name", "schema"), TYPED.items(), ids=TYPED)
def test_a_parameter_has_the_schema_of_its_type_hint(name: str, schema: Mapping[str, object]) -> None:
    assert document_sell().properties[name] == schema


def test_parameters_in_order_and_those_without_a_default_are_required() -> None:
    assert list(document_sell().properties) == list(TYPED)
    assert document_sell().required == (
        "item",
        "count",
        "price",
        "gift",
        "stamps",
        "rows",
        "extras",
        "colour",
    )
    assert document_sell().parameters["type"] == "dict"


def test_a_function_without_parameters() -> None:
    assert document_domain(Kiosk)[1].parameters == {"type": "dict", "properties": {}, "required": []}


def find_undescribed(function: Callable[..., object], doc: FunctionDoc) -> list[str]:
    """Find what a docstring leaves out of a function's parameters, and what it describes beside them."""
    described = {param.arg_name for param in parse(inspect.getdoc(function) or "").params}
    return sorted({*doc.properties} ^ described)


def take_one(self: object, a: int) -> None: ...


def take_two(self: object, a: int, b: int = 0) -> None: ...


@each_case(
    ("function", "text", "left"),
    [
        (take_one, "", ["a"]),
        (take_one, "Do it.", ["a"]),
        (take_two, "Do it.\n\nArgs:\n    a: This.", ["b"]),
        (take_one, "Do it.\n\nReturns:\n    a: This.", ["a"]),
        (take_one, "Do it.\n\nArgs:\n    a: This.\n    c: That.", ["c"]),
        (take_one, "Do it.\n\nArgs:\n    a: This.", []),
    ],
)
def test_what_a_docstring_leaves_out_would_be_found(
    function: Callable[..., object], text: str, left: list[str]
) -> None:
    function.__doc__ = text
    (doc,) = document_domain(type("Shop", (Environment,), {"__doc__": "A shop.", "f": function}))
    assert find_undescribed(function, doc) == left


def test_an_only_argument_over_several_lines() -> None:
    take_one.__doc__ = "Do it.\n\nArgs:\n    a: This\n        and that."
    (doc,) = document_domain(type("Shop", (Environment,), {"__doc__": "A shop.", "f": take_one}))
    assert doc.properties["a"]["description"] == "This and that."


# The domains

DOCS = {f"{name}.{doc.name}": doc for name, domain in DOMAINS.items() for doc in document_domain(domain)}


def test_every_domain_is_documented() -> None:
    counts = {name: len(document_domain(domain)) for name, domain in DOMAINS.items()}
    assert counts == {
        "file_system": 18,
        "math": 17,
        "memory_kv": 15,
        "memory_rec_sum": 5,
        "memory_vector": 12,
        "messages": 10,
        "posting": 14,
        "tickets": 9,
        "trading": 20,
        "travel": 18,
        "vehicle": 22,
        "web_search": 2,
    }


def test_no_function_is_in_two_domains_that_are_open_at_once() -> None:
    """Of memories an entry has one."""
    docs = {name: doc for name, doc in DOCS.items() if not name.startswith("memory_")}
    assert len({doc.name for doc in docs.values()}) == len(docs) == 130


def test_names_of_domains_are_in_the_order_of_the_alphabet() -> None:
    assert list(DOMAINS) == sorted(DOMAINS)
    assert {category.name for category in CATEGORIES.values()} & {*DOMAINS} == {*SELECTIONS["memory"]}


def find_problems(schema: Mapping[str, Any]) -> list[str]:
    """Find what is wrong with the schema of a parameter."""
    kind = schema.get("type")
    found = [] if kind in TYPES[Language.PYTHON] else [f"type {kind}"]
    if kind in WITH_ELEMENTS[Language.PYTHON]:
        found += find_problems(schema["items"]) if "items" in schema else ["no items"]
    found += [f"{word!r} in enum" for word in schema.get("enum", ()) if not isinstance(word, str)]
    if "default" in schema and not conforms_to_schema(schema["default"], schema, Language.PYTHON):
        found.append(f"default {schema['default']!r}")
    return found


@each_case("domain", DOMAINS.values(), ids=DOMAINS)
def test_every_parameter_is_described(domain: type[Environment]) -> None:
    for doc in document_domain(domain):
        assert find_undescribed(getattr(domain, doc.name), doc) == [], doc.name


@each_case("doc", DOCS.values(), ids=DOCS)
def test_the_doc_of_each_function(doc: FunctionDoc) -> None:
    assert doc.description.count(". ") >= 1
    assert doc.description.endswith((".", ").", "?"))
    assert not any(mark in doc.description for mark in ("Args:", "Returns:", "\n", "  "))
    for name, schema in doc.properties.items():
        assert str(schema["description"]).endswith("."), name
        assert find_problems(schema) == [], name
    assert {*doc.required} <= {*doc.properties}
    assert not any("default" in doc.properties[name] for name in doc.required)
    assert json.loads(json.dumps(doc.parameters)) == doc.parameters


@each_case(
    "schema",
    [
        {},
        {"type": "str"},
        {"type": "array"},
        {"type": "integer", "default": "1"},
        {"type": "string", "enum": [1]},
    ],
)
def test_a_wrong_schema_would_be_found(schema: Mapping[str, Any]) -> None:
    assert find_problems(schema)
