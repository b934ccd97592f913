"""Raw records narrowed to typed values; an error names file, line and field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import yaml

from pytest_fcbench.domain.errors import SuiteError, describe_unknown_name

Key: TypeAlias = str | int

_DEEPEST = 100


class _Loader(yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader):  # type: ignore[misc]
    """PyYAML's safe loader; keys stay texts (``on`` too), and none may occur twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen = set()
        for key, _ in node.value:
            # A merge key (<<) is no key of the mapping.
            if not isinstance(key, yaml.ScalarNode) or key.tag.endswith(":merge"):
                continue
            if key.value in seen:
                line = key.start_mark.line + 1
                raise yaml.YAMLError(f"the key {key.value!r} is used twice (again in line {line})")
            seen.add(key.value)
            # YAML 1.1 reads on, off, yes and no as booleans; a key of an entry is always text.
            key.tag = "tag:yaml.org,2002:str"
        mapping: dict[object, object] = super().construct_mapping(node, deep=deep)
        return mapping


def read_yaml(path: Path) -> object:
    """Return the content of a YAML file. Raises ``SuiteError``."""
    try:
        text = path.read_text(encoding="utf-8")
        with suppress(ValueError, RecursionError):
            return _read_json(text)
        value: object = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader
    except OSError as error:
        raise SuiteError(f"{path}: cannot be read: {error.strerror}; give a readable file") from None
    except Exception as error:  # noqa: BLE001 - PyYAML trips over a day that no month has, and many a tag
        raise SuiteError(f"{path}: not valid YAML: {error}; correct it there") from None
    return value


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _read_json(text: str) -> object:
    """Read JSON, which YAML can be, in a fortieth of the time and a third of the memory.

    Raises ``ValueError`` for any other text, and for what YAML 1.1 reads otherwise or refuses: numbers with
    an exponent, keys that are there twice, halves of a character.
    """

    def refuse_number(number: str) -> float:
        raise ValueError(f"YAML reads {number} as text")

    def read_float(number: str) -> float:
        return refuse_number(number) if "e" in number.lower() else float(number)

    def make_mapping(pairs: list[tuple[str, object]]) -> dict[str, object]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            raise ValueError("a key is used twice")
        return mapping

    if _SURROGATE.search(text):
        raise ValueError("YAML has no halves of characters")
    value: object = json.loads(
        text, object_pairs_hook=make_mapping, parse_float=read_float, parse_constant=refuse_number
    )
    return value


def find_yaml_line(path: Path, keys: Sequence[Key]) -> int:
    """Return the line of the value at ``keys``, or of the deepest part of them that exists, from 1."""
    node = yaml.compose(path.read_text(encoding="utf-8"), Loader=_Loader)
    line = 1
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            found = next(((k, v) for k, v in node.value if k.value == str(key)), None)
            if found is None:
                break
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            line = node.start_mark.line + 1
    return line


@dataclass(frozen=True, slots=True)
class Field:
    """A raw value, its file and the keys that lead to it."""

    value: object
    path: Path
    keys: tuple[Key, ...] = ()
    line: int | None = None
    """The line of the record in JSON lines; None in YAML, where each field has a line of its own."""

    def error(self, rule: str) -> SuiteError:
        """Return an error about this field, with file, line and keys."""
        line = self.line or find_yaml_line(self.path, self.keys)
        where = ".".join(map(str, self.keys)) or "file"
        return SuiteError(f"{self.path}:{line}: {where}: {rule}")

    def members(self, required: Sequence[str] = (), optional: Sequence[str] = ()) -> Mapping[str, Field]:
        """Return the members of a mapping; with names given, all required ones and no unknown ones."""
        if not isinstance(self.value, Mapping):
            raise self.error(f"must be a mapping, not {describe_value(self.value)}")
        if required or optional:
            for key in self.value:
                if key not in (*required, *optional):
                    raise self._at(str(key)).error(
                        describe_unknown_name("key", str(key), (*required, *optional))
                    )
            for key in required:
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
        return (self._at(index, value) for index, value in enumerate(self.value))

    def text(self) -> str:
        """Return the value, which must be text."""
        if not isinstance(self.value, str):
            raise self.error(f"must be text, not {describe_value(self.value)}; put it in quotes")
        return self.value

    def at(self, *keys: Key) -> Field:
        """Return the field at ``keys`` below this one; its value is None where the file has nothing there."""
        field = self
        for key in keys:
            value = field.value
            if isinstance(value, Mapping):
                field = field._at(key, value.get(key))
            elif isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
                field = field._at(key, value[key])
            else:
                field = field._at(key)
        return field

    def _at(self, key: Key, value: object = None) -> Field:
        # A YAML alias inside the value that it names never ends.
        if len(self.keys) >= _DEEPEST:
            raise self.error("is nested too deeply")
        return Field(value, self.path, (*self.keys, key), self.line)


def describe_value(value: object) -> str:
    """Describe a value for an error: its type and its beginning."""
    if value is None:
        return "empty"
    return f"{type(value).__name__} {value!r:.40}"
