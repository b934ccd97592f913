"""Executable entries written by hand in YAML.

category: exec_parallel
entries:
  - id: exec_parallel_0
    query: How many litres for 300 km at 6 litres, and for 80 km at 9?
    functions: [fuel_needed]       # of ``executables.everyday``, which have the docs
    expect:
      - fuel_needed(distance_km=300, litres_per_100_km=6)    # its result, exactly
      - {call: "fuel_needed(distance_km=80, litres_per_100_km=9)", kind: real_time_match}
  - id: exec_parallel_1
    query: What do two and three boxes weigh?
    functions: [shop:weight]       # of a module of your own, looked for beside the file first
    expect: [shop.weight(boxes=2), shop.weight(boxes=3)]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import FunctionType

from pytest_fcbench.codecs.function_docs import python_code
from pytest_fcbench.domain.entry import Category, Comparison, Entry, ExpectedResults, Message
from pytest_fcbench.domain.errors import UsageError, unknown
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.environments.function_docs import of_function
from pytest_fcbench.execution.functions.custom import OWN
from pytest_fcbench.execution.functions.everyday import EVERYDAY
from pytest_fcbench.suites.formats import function_docs
from pytest_fcbench.suites.formats.fields import Field
from pytest_fcbench.suites.formats.multi_turn import check_call


def entries(file: Field, suite: str, category: Category) -> Iterator[tuple[Field, Entry]]:
    """The entries of a file and where each stands. Raises ``SuiteError``."""
    for field in file.members(("category", "entries"))["entries"].elements():
        members = field.members(("id", "query", "functions", "expect"))
        own = {field.text(): _own(field) for field in members["functions"].elements() if _is_own(field)}
        offered = function_docs.chosen(members["functions"], {**_docs(), **own})
        expected = [_expected(element, offered) for element in members["expect"].elements()]
        if not expected:
            raise members["expect"].error("must have a call")
        calls, kinds = zip(*expected, strict=True)
        yield (
            field,
            Entry(
                suite=suite,
                id=members["id"].text(),
                category=category,
                turns=((Message("user", members["query"].text()),),),
                functions=tuple(offered.values()),
                expectation=ExpectedResults(calls, kinds),
            ),
        )


@cache
def _docs() -> Mapping[str, FunctionDoc]:
    return {name: of_function(function) for name, function in EVERYDAY.items()}


def _is_own(field: Field) -> bool:
    return ":" in field.text()


def _own(field: Field) -> FunctionDoc:
    """The doc of a team's own function, which can be carried out from now on."""
    name = field.text()
    called = name.replace(":", ".")
    try:
        function = python_code.found_in(name, field.path.parent.absolute())
        if not isinstance(function, FunctionType):
            raise UsageError(f"{name} is no function")
        doc = python_code.of_function(function, called)
    except UsageError as error:
        raise field.error(str(error)) from None
    OWN[called] = None
    return doc


def _expected(field: Field, offered: Mapping[str, FunctionDoc]) -> tuple[str, Comparison]:
    call, kind = field, Comparison.EXACT
    if not isinstance(field.value, str):
        members = field.members(("call", "kind"))
        call, word = members["call"], members["kind"].text()
        if word not in list(Comparison):
            raise members["kind"].error(unknown("kind", word, list(Comparison)))
        kind = Comparison(word)
    check_call(call, offered)
    return call.text(), kind
