"""Calls made of decoded names and arguments."""

from __future__ import annotations

import pytest

from pytest_fcbench.codecs.decoders.outcome import WrongFormat, as_call
from pytest_fcbench.domain.transcript import Call
from tests.cases import each_case


def test_names_of_arguments_are_text() -> None:
    """Literals of Python can have other keys."""
    assert as_call("f", {"x": 1, 2: [3], None: ()}) == Call("f", {"x": 1, "2": [3], "None": ()})


@each_case(("arguments", "kind"), [([("x", 1)], "list"), ('{"x": 1}', "str"), (None, "NoneType"), (1, "int")])
def test_arguments_that_are_no_object_are_of_the_wrong_format(arguments: object, kind: str) -> None:
    with pytest.raises(WrongFormat, match=f"^the arguments of 'f' are {kind}, not an object$"):
        as_call("f", arguments)
