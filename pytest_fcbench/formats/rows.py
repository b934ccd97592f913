"""Wire models: each declares the keys of a record in a file, reads it, and gives its JSON Schema.

A model checks the shape of a record. Rules that depend on other parts of the file, such as that a function is
known, are checked where the record becomes an entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, TypeAlias, TypeVar, Union, get_args

import pydantic
from pydantic import BaseModel, ConfigDict, Discriminator, GetCoreSchemaHandler, Tag, ValidationError
from pydantic.json_schema import JsonSchemaValue, models_json_schema
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import describe_unknown_name
from pytest_fcbench.domain.json_values import StrictSchema
from pytest_fcbench.domain.text import escape_controls
from pytest_fcbench.formats.fields import MOST_ERRORS, Field, describe_value
from pytest_fcbench.formats.yaml_files import Key

T = TypeVar("T")
_CHECKS = ("check", "forbidden")


class Row(BaseModel):
    """A mapping with these members and no others, each of exactly the declared type."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        # Building all models takes longer than a command that reads no entry.
        defer_build=True,
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _refuse_unknown_list_keys(cls, value: object) -> object:
        if isinstance(value, Mapping) and cls.model_config["extra"] == "forbid":
            valid_keys = _list_valid_keys(cls)
            # pydantic would name the key too, but not the nearest valid one.
            for key in value:
                if key not in valid_keys:
                    # Other categories have these keys, so their user wants to check the answer.
                    hint = " A test with the fixture 'answer' can check it instead." * (key in _CHECKS)
                    sentence = describe_unknown_name("key", str(key), valid_keys)
                    raise make_rule_error(f"{sentence}{hint}", str(key))
        return value


@cache
def _list_valid_keys(model: type[Row]) -> Sequence[str]:
    """List the keys of a model, required ones first."""
    fields = sorted(model.model_fields.items(), key=lambda named: not named[1].is_required())
    return [field.alias or name for name, field in fields]


class EntryRow(Row):
    """An entry."""

    id: str
    """A name that no other entry of the suite has, and that stays when others are added."""

    @pydantic.field_validator("id")
    @classmethod
    def _refuse_unprintable_name(cls, name: str) -> str:
        # pytest prints it as it is.
        if escape_controls(name) != name or len(name.splitlines()) > 1:
            raise make_rule_error(f"the id {name!r} has characters that cannot be printed; leave them out")
        return name


R = TypeVar("R", bound=Row)
PlacedEntries: TypeAlias = Iterator[tuple[Field, Entry]]
"""The entries of a file, each with its place in it."""


def make_rule_error(rule: str, *keys: str) -> PydanticCustomError:
    """Return the error of a validator: the broken rule, and the keys of the value that breaks it."""
    return PydanticCustomError("broken_rule", "{rule}", {"rule": rule, "keys": keys})


class _NotNull:
    """A validator that refuses null: the member has a value, or is left out."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler(Union[tuple(part for part in get_args(source) if part is not NoneType)])  # noqa: UP007 - of parts found here


@dataclass(frozen=True, slots=True)
class OneOf:
    """A validator of known names of a kind; its error shows the nearest ones."""

    kind: str
    names: Iterable[str]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: object) -> JsonSchemaValue:
        return {"enum": [str(name) for name in self.names]}

    def _check(self, name: str) -> str:
        if name not in self.names:
            raise make_rule_error(describe_unknown_name(self.kind, name, self.names))
        return name


@dataclass(frozen=True, slots=True)
class StartsWith:
    """A validator of text with a prefix, which is replaced in the ids of entries."""

    prefix: str
    stands: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: object) -> JsonSchemaValue:
        return {"type": "string", "pattern": f"^{self.prefix}"}

    def _check(self, text: str) -> str:
        if not text.startswith(self.prefix):
            raise make_rule_error(f"{text!r} must begin with {self.prefix!r}, for which {self.stands}")
        return text


@dataclass(frozen=True, slots=True)
class ErrorSentence:
    """A replacement of the errors of a value by one sentence."""

    rule: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.custom_error_schema(
            handler(source),
            custom_error_type="broken_rule",
            custom_error_message="{rule}",
            custom_error_context={"rule": self.rule},
        )


Given: TypeAlias = Annotated[T | None, _NotNull()]
"""A member that may be left out; None where it is."""
Some: TypeAlias = Annotated[list[T], pydantic.Field(min_length=1)]
"""A list that is not empty."""
AtLeastOne: TypeAlias = Annotated[dict[str, T], pydantic.Field(min_length=1)]
"""A mapping that is not empty."""
One: TypeAlias = Annotated[dict[str, T], pydantic.Field(min_length=1, max_length=1)]
"""A mapping of one name."""
TextOr: TypeAlias = Annotated[
    Annotated[str, Tag(":text")] | Annotated[T, Tag(":mapping")],
    Discriminator(lambda value: ":mapping" if isinstance(value, Mapping) else ":text"),
]
"""A text, or a mapping in place of it."""


def read_row(field: Field, model: type[R]) -> R:
    """Read the record in a field. Raises ``SuiteError`` with file, line and field."""
    try:
        return model.model_validate(field.value)
    except ValidationError as failure:
        errors = failure.errors(include_url=False)
    suite_errors = []
    for error in errors[: MOST_ERRORS + 1]:
        # Tags of unions begin with a colon; they are no keys of the file.
        keys: list[Key] = [key for key in error["loc"] if not (isinstance(key, str) and key.startswith(":"))]
        details = error.get("ctx", {})
        match error["type"]:
            case "broken_rule":
                rule = details["rule"]
                keys += details.get("keys", ())
            case "missing":
                rule = f"has no {keys.pop()!r}"
            case "string_type":
                rule = f"must be text, not {describe_value(error['input'])}; put it in quotes"
            case "list_type":
                rule = f"must be a list, not {describe_value(error['input'])}"
            case "dict_type" | "model_type":
                rule = f"must be a mapping, not {describe_value(error['input'])}"
            case "bool_type":
                rule = f"must be true or false, not {describe_value(error['input'])}"
            case "too_short" | "too_long" if isinstance(error["input"], Mapping):
                limit = "exactly one name" if error["type"] == "too_long" else "at least one name"
                rule = f"must have {limit}, not {len(error['input'])}"
            case "too_short":
                rule = "must have at least one element"
            case "recursion_loop":
                rule = "is nested too deep"
            case _:
                rule = error["msg"]
        suite_errors.append(field.at(*keys).error(rule))
    suite_errors[0].others = suite_errors[1:]
    raise suite_errors[0]


class _Schema(StrictSchema):
    """A schema without noise: no titles of members, no null where a member is left out."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default") is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        # A doc in one form can have the keys of another, so more than one schema may take it.
        json_schema = super().tagged_union_schema(schema)
        return {"anyOf": json_schema.pop("oneOf"), **json_schema}


def generate_json_schemas(models: Iterable[type[Row]]) -> Mapping[str, Any]:
    """Return the JSON Schemas of models and of the models inside them, by name."""
    schemas = models_json_schema([(model, "validation") for model in models], schema_generator=_Schema)
    definitions: Mapping[str, Any] = schemas[1]["$defs"]
    return definitions
