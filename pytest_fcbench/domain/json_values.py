"""Types that say how pydantic reads a value from JSON, writes it and describes it in a JSON Schema."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, Strict, TypeAdapter, ValidationError, WithJsonSchema
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

Read = TypeVar("Read")

DESCRIBED = ConfigDict(json_schema_serialization_defaults_required=True)
"""The ``__pydantic_config__`` of a dataclass whose JSON always has all keys, as its JSON Schema says."""
EXTENDED = ConfigDict(json_schema_serialization_defaults_required=False)
"""The ``__pydantic_config__`` of a dataclass with defaults for keys that files of older versions lack."""


def is_larger(value: object, most: int) -> bool:
    """Tell whether a JSON value has more characters and values than ``most``, without a walk through all."""
    size, values = 0, [value]
    while values and size <= most:
        each = values.pop()
        size += len(each) if isinstance(each, str) else 1
        if isinstance(each, (Mapping, list)):
            values += each.values() if isinstance(each, Mapping) else each
    return size > most


@dataclass(frozen=True, slots=True, eq=False)
class Unwalked:
    """Check the type of a JSON value and pass on the value itself.

    pydantic would copy it level by level, which takes time, and gives up where a model nested it deeply.
    """

    kind: type
    described: Mapping[str, object]
    """The value's JSON Schema."""

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> CoreSchema:
        # In Python mode the value stays as it is.
        unwritten = core_schema.to_string_ser_schema(when_used="json")
        return core_schema.is_instance_schema(self.kind, serialization=unwritten)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: object) -> dict[str, Any]:
        return dict(self.described)


JsonValue: TypeAlias = Annotated[object, Unwalked(object, {})]
JsonObject: TypeAlias = Annotated[Mapping[str, object], Unwalked(Mapping, {"type": "object"})]
Count: TypeAlias = Annotated[int, Strict(), Field(ge=0)]
Flag: TypeAlias = Annotated[bool, Strict()]
Number: TypeAlias = Annotated[
    Annotated[int, Strict()] | Annotated[float, Strict()], WithJsonSchema({"type": "number"})
]


def read_json(adapter: TypeAdapter[Read], value: object) -> Read:
    """Read a JSON value. Raises KeyError for a missing key and TypeError for a value of another type."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        if first["type"] == "missing":
            raise KeyError(place) from None
        # JSON has lists only.
        rule = first["msg"].replace("tuple", "list")
        raise TypeError(f"{place}: {rule}, found {reprlib.repr(first['input'])}") from None


class StrictSchema(GenerateJsonSchema):
    """Write a JSON Schema whose objects have no other keys than those of their class, which it describes.

    A key is described by the docstring behind its field. pydantic has an option for that
    (``use_attribute_docstrings``), but then parses the source of each class in every run.
    """

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Write the schema of a dataclass."""
        closed_schema = super().dataclass_schema(schema) | {"additionalProperties": False}
        return _describe_properties(closed_schema, schema["cls"])

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Write the schema of a model."""
        return _describe_properties(super().model_schema(schema), schema["cls"])

    def field_title_should_be_set(self, schema: object) -> bool:
        """Leave out titles, which repeat the key."""
        return False


def _describe_properties(schema: JsonSchemaValue, owner: type) -> JsonSchemaValue:
    """Add the docstrings behind the fields of a class and its bases to the JSON Schema of the class."""
    # Imported here because no run needs it.
    from docstring_parser import parse_from_object

    properties = schema.get("properties", {})
    for base in owner.__mro__:
        for field in parse_from_object(base).params if base not in (BaseModel, object) else ():
            if field.arg_name in properties:
                properties[field.arg_name].setdefault(
                    "description", inspect.cleandoc(field.description or "")
                )
    return schema


def one_of(*values: str | None) -> FieldInfo:
    """Name the values that a JSON Schema allows; a reader takes others, which newer versions may write."""
    field_info: FieldInfo = Field(json_schema_extra={"enum": list(values)})
    return field_info
