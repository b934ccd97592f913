"""Raw records narrowed to typed values; an error names file, line and field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pytest_fcbench.domain.errors import SuiteError, describe_unknown_name
from pytest_fcbench.formats.yaml_files import Key, find_yaml_line

R = TypeVar("R")

_DEEPEST = 100
"""Members of members; some readers go into a value by recursion."""
MOST_ERRORS = 20
"""Errors of a file that are reported at once."""


class FieldError(SuiteError):
    """An error about a field of a file."""

    def __init__(
        self, text: str, path: Path | None = None, keys: tuple[Key, ...] = (), line: int = 0
    ) -> None:
        super().__init__(text)
        self.path = path
        self.keys = keys
        self.line = line
        self.others: Sequence[FieldError] = ()
        """Further errors of the same file."""


def read_each(read: Callable[..., R], *values: Iterable[object]) -> list[R]:
    """Call a function for each value, or for the values of the same place. Raises the errors of all."""
    results: list[R] = []
    errors: list[FieldError] = []
    for each in zip(*values, strict=True):
        try:
            results.append(read(*each))
        except FieldError as error:
            errors += [error, *error.others]
    if errors:
        errors[0].others = errors[1:]
        raise errors[0]
    return results


def join_errors(errors: Iterable[SuiteError]) -> SuiteError:
    """Join errors into one that states each of them once, up to a bound."""
    texts = list(dict.fromkeys(map(str, errors)))
    more = ["there are more errors; correct these first"] if len(texts) > MOST_ERRORS else []
    return SuiteError("\n".join(texts[:MOST_ERRORS] + more))


class ListPart(list[object]):
    """Some elements of a list, each with the number that it has there."""

    def __init__(self, elements: Mapping[int, object]) -> None:
        super().__init__(elements.values())
        self.numbers = tuple(elements)


@dataclass(frozen=True, slots=True)
class Field:
    """A raw value, its file and the keys that lead to it."""

    value: object
    path: Path
    keys: tuple[Key, ...] = ()
    line: int | None = None
    """The line of the record in JSON lines; None in YAML, where each field has a line of its own."""
    list_file_errors: Callable[[], Sequence[SuiteError]] | None = None
    """Lists the errors of the whole file, where this is one record of it."""

    def error(self, rule: str) -> FieldError:
        """Return an error about this field, with file, line and keys."""
        line = self.line or find_yaml_line(self.path, self.keys)
        where = ".".join(map(str, self.keys)) or "file"
        return FieldError(f"{self.path}:{line}: {where}: {rule}", self.path, self.keys, line)

    def members(
        self, required_keys: Sequence[str] = (), optional_keys: Sequence[str] = ()
    ) -> Mapping[str, Field]:
        """Return the members of a mapping; with names given, all required ones and no unknown ones."""
        if not isinstance(self.value, Mapping):
            raise self.error(f"must be a mapping, not {describe_value(self.value)}")
        if required_keys or optional_keys:
            for key in self.value:
                if key not in (*required_keys, *optional_keys):
                    raise self._at(str(key)).error(
                        describe_unknown_name("key", str(key), (*required_keys, *optional_keys))
                    )
            for key in required_keys:
                if key not in self.value:
                    raise self.error(f"has no {key!r}")
        return {str(key): self._at(str(key), value) for key, value in self.value.items()}

    def member(self, name: str) -> Field:
        """Return a member of a mapping that may have others."""
        if not isinstance(self.value, Mapping):
            raise self.error(f"must be a mapping, not {describe_value(self.value)}")
        if name not in self.value:
            raise self.error(f"has no {name!r}")
        return self._at(name, self.value[name])

    def elements(self) -> Iterator[Field]:
        """Return the elements of a list."""
        if not isinstance(self.value, list):
            raise self.error(f"must be a list, not {describe_value(self.value)}")
        numbers = self.value.numbers if isinstance(self.value, ListPart) else range(len(self.value))
        return (self._at(number, value) for number, value in zip(numbers, self.value, strict=True))

    def text(self) -> str:
        """Return the value, which must be text."""
        if not isinstance(self.value, str):
            raise self.error(f"must be text, not {describe_value(self.value)}; put it in quotes")
        return self.value

    def call(self) -> str:
        """Return the value, which must be the text of a call, and not a part of one that YAML has split."""
        text = self.text()
        if self.line is None and "(" in text and not text.rstrip(" ;`").endswith((")", "]", "=", "(")):
            raise self.error(
                f"{text!r} is a part of a call: between [ and ] YAML splits a text at each comma; put the "
                "call in quotes"
            )
        return text

    def at(self, *keys: Key) -> Field:
        """Return the field at ``keys`` below this one; its value is None where the file has nothing there."""
        field = self
        for key in keys:
            value = field.value
            if isinstance(value, Mapping):
                field = field._at(key, value.get(key))
            elif isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
                number = value.numbers[key] if isinstance(value, ListPart) else key
                field = field._at(number, value[key])
            else:
                field = field._at(key)
        return field

    def _at(self, key: Key, value: object = None) -> Field:
        if len(self.keys) >= _DEEPEST:
            raise self.error("is nested too deeply")
        return Field(value, self.path, (*self.keys, key), self.line)


def describe_value(value: object) -> str:
    """Describe a value for an error: its type and its beginning."""
    if value is None:
        return "empty"
    return f"{type(value).__name__} {value!r:.40}"
