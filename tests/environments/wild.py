"""Environments called with whatever JSON can hold."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy

from hypothesis import strategies as st

from pytest_fcbench.environments.environment import Environment, list_functions

Call = tuple[str, dict[str, object]]

JSON_VALUES: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


def draw_wild_calls(domain: type[Environment], known: Sequence[object]) -> st.SearchStrategy[list[Call]]:
    """Draw calls of any functions; ``known`` are values with which some of them succeed."""
    values = st.sampled_from(known) | JSON_VALUES

    def draw_call(name: str) -> st.SearchStrategy[Call]:
        parameters = list(inspect.signature(getattr(domain, name)).parameters)[1:]
        return st.tuples(st.just(name), st.fixed_dictionaries(dict.fromkeys(parameters, values)))

    return st.lists(st.sampled_from(list_functions(domain)).flatmap(draw_call), min_size=1, max_size=12)


def check_isolation(make: Callable[[], Environment], shared: object, calls: Sequence[Call]) -> None:
    """Check that calls return or raise an Exception and change nothing outside their instance."""
    environment, other = make(), make()
    before = deepcopy((dict(other.state()), dict(other.get_hidden_state()), shared))
    for name, arguments in calls:
        with suppress(Exception):
            getattr(environment, name)(**arguments)
    assert (dict(other.state()), dict(other.get_hidden_state()), shared) == before
