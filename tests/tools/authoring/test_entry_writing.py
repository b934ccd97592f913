"""First entries from examples in a text."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.kinds.calls.truth import ExpectedCalls
from pytest_fcbench.tools.authoring.entry_writing import Example, draft_entries, find_examples
from tests.cases import each_case

PRICE = FunctionDoc(
    "shop.price",
    "Price.",
    {
        "type": "dict",
        "properties": {
            "item": {"type": "string"},
            "count": {"type": "integer", "default": 1},
            "note": {"type": "string"},
            "to": {"type": "dict", "properties": {"city": {"type": "string"}}},
        },
        "required": ["item"],
    },
)
STOCK = FunctionDoc(
    "stock", "Stock.", {"type": "dict", "properties": {"item": {"type": "string"}}, "required": ["item"]}
)


def _draft_text(text: str) -> list[Entry]:
    return list(draft_entries(find_examples(text, "README.md"), (PRICE, STOCK), "mine"))


def _list_accepted(entry: Entry) -> list[Mapping[str, Mapping[str, object]]]:
    assert isinstance(entry.expectation, ExpectedCalls)
    return [{call.name: call.accepted} for call in entry.expectation.calls]


@each_case(
    ("text", "question"),
    [
        ("How much is salt?\n>>> price('salt')", "How much is salt?"),
        ("- How much is salt?\n  >>> price('salt')\n  0.8", "How much is salt?"),
        ("3. **How much is salt?**\n\n   >>> price('salt')", "How much is salt?"),
        ('> "How much is salt?"\n```\n>>> price("salt")\n```', "How much is salt?"),
        ("Prices\n\nHow much is 2 salt?\n>>> price('salt')\nmore", "How much is 2 salt?"),
        ("塩はいくらですか\n>>> price('salt')", "塩はいくらですか"),
    ],
)
def test_the_question_is_the_line_above(text: str, question: str) -> None:
    (found,) = find_examples(text, "README.md")
    assert found.question == question
    assert [call for _, call in found.calls] == [text[text.index("price") :].partition("\n")[0]]


def test_calls_without_a_question_are_no_example() -> None:
    assert not list(find_examples(">>> price('salt')\n0.8\n\n>>> price('tea')\n", "README.md"))
    assert not list(find_examples("How much is salt?\n", "README.md"))
    (only,) = find_examples("How much is salt?\n>>> price('salt')\n0.8\n\n>>> price('tea')\n", "README.md")
    assert only.calls == (("README.md:2", "price('salt')"),)


def test_places_are_told() -> None:
    (found,) = find_examples("a text\n\nHow much?\n>>> price('salt')\n>>> price('tea')", "docs/use.md")
    assert found == Example(
        "How much?", (("docs/use.md:4", "price('salt')"), ("docs/use.md:5", "price('tea')"))
    )


def test_a_call_may_stand_on_several_lines() -> None:
    (entry,) = _draft_text("How much?\n>>> price(item='salt',\n...       count=3)\n4.5\n")
    assert _list_accepted(entry) == [{"shop.price": {"item": ["salt"], "count": [3]}}]


def test_each_example_is_an_entry_with_what_it_needs() -> None:
    one, same, other = _draft_text(
        "How much is salt?\n>>> price('salt')\n"
        "Salt and tea?\n>>> price('salt', 3)\n>>> shop.price(item='tea')\n"
        "Is there salt, and how much is it?\n>>> import shop\n>>> stock('salt')\n>>> price('salt')\n"
    )
    assert [entry.key for entry in (one, same, other)] == [
        "mine:simple_python_0",
        "mine:parallel_0",
        "mine:parallel_multiple_0",
    ]
    assert _list_accepted(one) == [{"shop.price": {"item": ["salt"], "count": [1, ""]}}]
    assert _list_accepted(same)[0] == {"shop.price": {"item": ["salt"], "count": [3]}}
    assert [doc.name for doc in other.functions] == ["stock", "shop.price"]


def test_members_of_a_dict_are_lists_of_what_is_accepted() -> None:
    (entry,) = _draft_text("Where?\n>>> price('salt', to={'city': 'Oslo'})")
    assert _list_accepted(entry)[0]["shop.price"]["to"] == [{"city": ["Oslo"]}]


@each_case(
    ("call", "rule"),
    [
        ("prise('salt')", "README.md:2: unknown function 'prise'. Did you mean 'price'?"),
        ("price(itm='salt')", "README.md:2: shop.price: unknown parameter 'itm'. Did you mean 'item'"),
        ("price(count=3)", "README.md:2: shop.price needs the parameter 'item'"),
        ("price('salt', 'three')", "count is 'three', but the function doc declares integer"),
        ("price('a', 1, 'b', {}, 5)", "gets a parameter twice, or too many parameters"),
    ],
)
def test_a_call_that_cannot_be_right_is_told(call: str, rule: str) -> None:
    with pytest.raises(UsageError) as caught:
        _draft_text(f"How much?\n>>> {call}")
    assert rule in str(caught.value)


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    for example in find_examples(text, "x"):
        assert example.question
        assert example.calls
