"""A call is told truly why it does not fit the doc of its function."""

from __future__ import annotations

from pytest_fcbench.domain.function_doc import FunctionDoc, conforms_to_schema, describe_misfit
from tests.cases import each_case

DOC = FunctionDoc(
    "warm",
    "",
    {
        "type": "dict",
        "properties": {
            "unit": {"type": "string", "enum": ["C", "F"]},
            "days": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["unit"],
    },
)


@each_case(
    ("arguments", "told"),
    [
        ({"unit": "C", "days": [1]}, None),
        ({"unit": 3}, "The parameter unit of warm must be of type string, not number."),
        # Of the right type, but not in the enum, or wrong inside.
        ({"unit": "K"}, "The parameter unit of warm has a value that its schema does not allow."),
        (
            {"unit": "C", "days": ["1"]},
            "The parameter days of warm has a value that its schema does not allow.",
        ),
    ],
)
def test_a_value_of_the_right_type_is_not_told_to_be_of_another(
    arguments: dict[str, object], told: str | None
) -> None:
    assert describe_misfit("warm", arguments, {"warm": DOC}, conforms_to_schema) == told
