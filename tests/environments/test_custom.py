from __future__ import annotations

from dataclasses import dataclass

import pytest

from pytest_fcbench.environments.environment import adapt_class, list_functions
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.environments.world import World


class Shop:
    """A shop."""

    def __init__(self, stock: dict[str, int], open_: bool = True) -> None:
        self.stock = stock
        self._opened = open_

    def sell(self, item: str, count: int = 1) -> dict[str, object]:
        """Sell something."""
        if self.stock[item] < count:
            return {"error": f"There is not enough {item}."}
        self.stock[item] -= count
        return {"left": self.stock[item]}

    def _secret(self) -> None: ...


class Bare:
    """Nothing to begin with."""

    def ring(self) -> str:
        """Ring."""
        return "ding"


class Apart:
    """A private method of it has the name of one that environments have."""

    def lock(self) -> str:
        """Lock."""
        return self._make_error("shut")

    def _make_error(self, text: str) -> str:
        return f"it is {text}"


@dataclass(slots=True)
class Slotted:
    """It has no dict of its attributes."""

    stock: int


class Counting:
    """It counts on the class."""

    _calls = 0

    def ring(self) -> int:
        """Ring."""
        Counting._calls += 1
        return self._calls


class Taken:
    """Its function has the name of one of ours."""

    def state(self) -> str:
        """Return a state."""
        return ""


def test_public_methods_are_the_functions_and_attributes_the_state() -> None:
    config = {"stock": {"tea": 4}}
    shop = adapt_class(Shop)(config, World())

    assert list_functions(type(shop)) == ("sell",)
    here = Environments({"shop:Shop": shop})
    assert here.perform_calls(
        ["sell(item='tea', count=3)", "sell('tea', 2)", "_secret()", "sell(item='salt')"]
    ) == (
        '{"left": 1}',
        '{"error": "There is not enough tea."}',
        "Error: there is no function _secret",
        "Error: 'salt'",
    )
    assert shop.state() == {"stock": {"tea": 1}}
    assert config == {"stock": {"tea": 4}}, "what an entry says is not changed"


def test_a_class_without_a_beginning_of_its_own() -> None:
    assert Environments({"bell": adapt_class(Bare)({}, World())}).perform_calls(["ring()"]) == ("ding",)
    with pytest.raises(TypeError, match="takes exactly one argument"):
        adapt_class(Bare)({"tone": 3}, World())


def test_private_methods_are_those_of_the_class() -> None:
    assert Environments({"door": adapt_class(Apart)({}, World())}).perform_calls(["lock()"]) == (
        "it is shut",
    )


def test_a_private_attribute_of_the_class_has_the_value_of_the_moment() -> None:
    assert Environments({"bell": adapt_class(Counting)({}, World())}).perform_calls(["ring()", "ring()"]) == (
        "1",
        "2",
    )


@pytest.mark.parametrize(
    ("owner", "message"),
    [
        (Taken, r"Taken\.state: environments reserve this name; rename the method"),
        (Slotted, "Slotted keeps its state in slots, where it is not compared; drop them"),
    ],
)
def test_a_class_that_cannot_be_an_environment_is_told(owner: type, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        adapt_class(owner)
