"""YAML files: their values, the lines of these, and errors in plain words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeAlias

import yaml

from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.domain.text import read_json_text

Key: TypeAlias = str | int

_MOST_REPEATS = 100_000
"""Values that may stand in a file through aliases, beside those that are written out."""
_MOST_DIGITS = 1_000
_LONG_WORD = re.compile(rf"\S{{{_MOST_DIGITS}}}")
_DAY_OR_TIME = re.compile(r"[-+]?[\d_]+[-:]\d")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_yaml(path: Path) -> object:
    """Return the content of a YAML file. Raises ``SuiteError``."""
    try:
        text = path.read_text(encoding="utf-8")
        with suppress(ValueError, RecursionError):
            return _parse_json(text)
        return _parse_yaml(text)
    except SuiteError as error:
        raise SuiteError(f"{path}:{error}") from None
    except OSError as error:
        raise SuiteError(f"{path}: cannot be read: {error.strerror}; give a readable file") from None
    except yaml.MarkedYAMLError as error:
        line, rule = _explain_error(error)
        raise SuiteError(f"{path}{line}: not valid YAML: {rule}") from None
    except Exception as error:  # noqa: BLE001 - PyYAML trips over many a tag
        raise SuiteError(f"{path}: not valid YAML: {error}; correct it there") from None


def find_yaml_line(path: Path, keys: Sequence[Key]) -> int:
    """Return the line of the value at ``keys``, or of the deepest part of them that exists, from 1."""
    # JSON writes a character as two halves, which YAML refuses.
    node = _compose(_SURROGATE.sub(r"\\u00", path.read_text(encoding="utf-8")))
    line = 1
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(key)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            line = node.start_mark.line + 1
    return line


class _Loader(yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader):  # type: ignore[misc]
    """PyYAML's safe loader; keys stay texts (``on`` too), and none may occur twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        used_keys = set()
        for key, _ in node.value:
            # A merge key (<<) is no key of the mapping.
            if not isinstance(key, yaml.ScalarNode) or key.tag.endswith(":merge"):
                continue
            if key.value in used_keys:
                problem = f"the key {key.value!r} is used twice"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            used_keys.add(key.value)
            # YAML 1.1 reads on, off, yes and no as booleans; a key of an entry is always text.
            key.tag = "tag:yaml.org,2002:str"
        mapping: dict[object, object] = super().construct_mapping(node, deep=deep)
        return mapping


# Days and times without quotes are text: neither JSON nor a call has any, and YAML 1.1 reads 12:30 as 750.
_Loader.yaml_implicit_resolvers = {
    start: [("tag:yaml.org,2002:str", _DAY_OR_TIME), *pairs] if start in {*"-+0123456789"} else pairs
    for start, pairs in _Loader.yaml_implicit_resolvers.items()
}

# Cached, because one file can have many errors.
_compose: Callable[[str], yaml.Node | None] = lru_cache(maxsize=1)(partial(yaml.compose, Loader=_Loader))


def _parse_yaml(text: str) -> object:
    loader = _Loader(text)
    node = loader.get_single_node()
    # Only an alias, or a number without an end, makes more than the text is.
    if "*" in text or _LONG_WORD.search(text):
        _check_nodes(node)
    return None if node is None else loader.construct_document(node)


def _parse_json(text: str) -> object:
    """Read JSON, which YAML can be, in a fortieth of the time and a third of the memory.

    Raises ``ValueError`` for any other text, and for what YAML 1.1 reads otherwise or refuses: numbers with
    an exponent, keys that are there twice, half a character.
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

    value: object = read_json_text(
        text, object_pairs_hook=make_mapping, parse_float=read_float, parse_constant=refuse_number
    )
    if _SURROGATE.search(text):
        # One half alone cannot be encoded, which is a ``ValueError``.
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _check_nodes(root: yaml.Node | None) -> None:
    """Refuse aliases that multiply and numbers of thousands of digits, before their values are made.

    Raises ``SuiteError`` that begins with the line.
    """
    sizes: dict[int, int] = {}
    ancestors: set[int] = set()
    waiting = [(root, False)]
    while waiting:
        node, is_leaving = waiting.pop()
        if node is None or (id(node) in sizes and not is_leaving):
            continue
        line, inside = node.start_mark.line + 1, []
        if isinstance(node, yaml.MappingNode):
            inside = [each for pair in node.value for each in pair]
        elif isinstance(node, yaml.SequenceNode):
            inside = node.value
        elif len(node.value) > _MOST_DIGITS and node.tag.endswith((":int", ":float")):
            raise SuiteError(f"{line}: a number of {len(node.value):,} digits; put text in quotes")
        if not is_leaving:
            if id(node) in ancestors:
                raise SuiteError(f"{line}: an alias in this value names the value itself; write it out")
            ancestors.add(id(node))
            waiting += [(node, True), *((each, False) for each in inside)]
            continue
        ancestors.remove(id(node))
        sizes[id(node)] = size = 1 + sum(sizes[id(each)] for each in inside)
        # An alias costs nothing here, but later code that goes through the values visits each repetition.
        if size - len(sizes) > _MOST_REPEATS:
            raise SuiteError(
                f"{line}: aliases repeat more than {_MOST_REPEATS:,} values here; write out what is meant"
            )


_UNEVEN = (
    "a line that is indented unlike those above, or a text behind a closed quote or bracket; begin the keys "
    "of a mapping in one column, and quote the whole of a text"
)
_YAML_RULES = {
    "expected ',' or": "what is opened here by a bracket or a brace is not closed; close it",
    "end of stream": "what is opened here by a quote is not closed; close it",
    "mapping values": "a second colon in this line, or a key that is indented unlike those above; put a text "
    "with a colon in quotes, and begin the keys of a mapping in one column",
    "node content": "a value is missing here, or a bracket is not closed; write the value, or close it",
    "expected key": _UNEVEN,
    "block end": _UNEVEN,
    "expected ':'": "a key without a colon; write 'key: value'",
    "start any token": "a tab, or a text that begins with @, ` or %; indent with spaces, and quote the text",
    "undefined alias": "a text that begins with * names nothing in this file; put it in quotes",
    "escape character": "a backslash between double quotes; write it twice, or use single quotes",
    "a constructor": "a text that begins with ! is read as the name of a type; put it in quotes",
}
"""What is wrong with a file and how to mend it, by a part of what PyYAML or libyaml says."""


def _explain_error(error: yaml.MarkedYAMLError) -> tuple[str, str]:
    """Return ``:LINE`` of an error, if it has one, and how to mend it."""
    problem = str(error.problem)
    matching = (each for sign, each in _YAML_RULES.items() if sign in problem)
    rule = next(matching, f"{problem}; correct it there")
    # What is not closed is told where it was opened.
    mark = error.context_mark if rule.startswith("what is opened") else error.problem_mark
    return f":{mark.line + 1}" if mark else "", rule
