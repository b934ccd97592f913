"""Descriptions of functions, as entries offer them to a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

Schema: TypeAlias = Mapping[str, object]
"""A JSON-Schema-like description of a parameter, in the type words of the entry's language."""


class GivenSchema(dict[str, object]):
    """A JSON Schema that a model is sent as its source wrote it."""


class OpenNames(tuple[str, ...]):
    """Names of the untyped parameters of a function that takes others too: every name without a type."""

    _typed: frozenset[str]

    def __new__(cls, names: Iterable[str], typed: Iterable[str]) -> OpenNames:
        instance = super().__new__(cls, names)
        instance._typed = frozenset(typed)
        return instance

    def __contains__(self, name: object) -> bool:
        return name not in self._typed


class _OpenProperties(dict[str, Schema]):
    """Schemas of the parameters of a function that takes others too, each of any type."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Schema:
        return {"type": "any", "description": ""}


class Language(StrEnum):
    """The language whose call syntax and literals a category asks for."""

    PYTHON = "python"
    JAVA = "java"
    JAVASCRIPT = "javascript"


@dataclass(frozen=True, slots=True)
class FunctionDoc:
    """A function as it is described to a model.

    ``parameters`` is the object schema: ``{"type": "dict", "properties": {...}, "required": [...]}``.
    """

    name: str
    description: str
    parameters: Schema
    extra: Mapping[str, object] = field(default_factory=dict)
    """Keys beside the three above that the source has (``response`` for example), kept for the model."""
    given: GivenSchema | None = None
    """The JSON Schema that ``parameters`` was converted from, or None where the source has no JSON Schema."""

    @property
    def shown_schema(self) -> Schema:
        """The schema that a model is sent: as its source wrote it, or else ``parameters``."""
        return self.parameters if self.given is None else self.given

    @property
    def properties(self) -> Mapping[str, Schema]:
        """Schema of each parameter, in the order of the doc."""
        properties = self.parameters.get("properties")
        schemas = properties if isinstance(properties, Mapping) else {}
        return _OpenProperties(schemas) if self.is_open else schemas

    @property
    def is_open(self) -> bool:
        """Whether its given schema allows parameters that it does not name."""
        return self.given is not None and "additionalProperties" in self.parameters

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the parameters that every call must give."""
        required = self.parameters.get("required")
        return tuple(required) if isinstance(required, (list, tuple)) else ()
