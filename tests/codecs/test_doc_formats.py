"""Function docs as the text of a system prompt."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.doc_formats import format_docs
from pytest_fcbench.domain.prompting import Docs

DOC = {
    "name": "garden.water",
    "description": "Water a bed.",
    "parameters": {
        "type": "dict",
        "properties": {
            "bed": {"type": "string", "description": "Which.", "enum": ["a", "b"], "default": "a, b"},
            "times": {"type": "array", "items": {"type": "integer"}},
            "valve": {
                "type": "dict",
                "description": "Settings.",
                "properties": {"open": {"type": "boolean"}, "flow": {"type": "float"}},
                "required": ["open"],
            },
            "names": {"type": "dict", "additionalProperties": {"type": "number"}},
        },
        "required": ["bed"],
    },
}

XML = """\
<function name="garden.water">
  <desc>Water a bed.</desc>
  <params>
    <param name="bed" type="string" required="true" default="'a b'">
      <desc>Which. Enum values: ['a', 'b'].</desc>
    </param>
    <param name="times" type="array[integer]" required="false">
      <desc></desc>
    </param>
    <param name="valve" type="dict" required="false">
      <desc>Settings.</desc>
      <params>
        <param name="open" type="boolean" required="true">
          <desc></desc>
        </param>
        <param name="flow" type="float" required="false">
          <desc></desc>
        </param>
      </params>
    </param>
    <param name="names" type="dict[number]" required="false">
      <desc></desc>
    </param>
  </params>
</function>
"""

PYTHON = '''\
# Function: garden.water
    """
    Water a bed.

    Args:
        bed (str, default='a, b'): Which. Enum values: ['a', 'b'].
        times (list[int]): \n\
        valve (dict): Settings.
            open (bool): \n\
            flow (float): \n\
        names (dict[str, float]): \n\
    """
'''


def test_docs_as_json_are_an_indented_list() -> None:
    assert format_docs([DOC, DOC], Docs.JSON) == json.dumps([DOC, DOC], indent=4)


def test_docs_as_xml_stand_one_below_the_other() -> None:
    assert format_docs([DOC, DOC], Docs.XML) == f"{XML}\n{XML}"


def test_docs_as_python_have_empty_lines_between_them() -> None:
    assert format_docs([DOC, DOC], Docs.PYTHON) == f"{PYTHON}\n\n\n\n\n{PYTHON}\n\n\n"


def test_where_nothing_says_which_are_required_all_are() -> None:
    bare = {"name": "f", "parameters": {"properties": {"x": {"properties": {"y": {}}}}}}
    text = format_docs([bare], Docs.XML)
    assert text.count('required="true"') == 2
    assert text.count('type="string"') == 2


@pytest.mark.parametrize(("form", "text"), [(Docs.PYTHON, ""), (Docs.XML, ""), (Docs.JSON, "[]")])
def test_without_functions_there_is_no_text_or_an_empty_list(form: Docs, text: str) -> None:
    assert format_docs([], form) == text


_json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "items", "properties", "required", "enum", "additionalProperties", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("form", Docs)
@given(schema=_json_values)
def test_odd_schemas_are_shown_too(form: Docs, schema: object) -> None:
    doc = {"name": "f", "description": "F.", "parameters": {"properties": {"x": schema}}}
    assert "f" in format_docs([doc], form)
