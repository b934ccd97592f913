"""Files of entries, written by hand in YAML: each has one category, which decides its format."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, cast

from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry
from pytest_fcbench.domain.errors import SuiteError, describe_unknown_name
from pytest_fcbench.domain.pressure import split_level
from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.environments.execution import open_environments
from pytest_fcbench.environments.world import World
from pytest_fcbench.formats.fields import MOST_ERRORS, Field, FieldError, ListPart, join_errors
from pytest_fcbench.formats.rows import PlacedEntries, Row, generate_json_schemas, read_row
from pytest_fcbench.formats.yaml_files import Key, read_yaml
from pytest_fcbench.kinds.table import KINDS

EntryReader: TypeAlias = Callable[[Row, Field, str, Category], PlacedEntries]
"""Yields each entry of a file, as one of a suite and a category, with its place in the file."""


def _load_format(category: Category) -> tuple[EntryReader, type[Row]]:
    """Import the format of a category's files: what reads their entries, and the model of the files."""
    module_name, _, model_name = KINDS.find(category.kind).file_format.partition(":")
    module = import_module(f"{__package__}.{module_name}")
    return module.read_entries, getattr(module, model_name)


def file_categories() -> Mapping[str, Category]:
    """Return a category for each word that a file can name as its category."""
    return {each.file_word: each for each in CATEGORIES.values() if each.stands_in_files}


def file_models() -> Mapping[str, type[Row]]:
    """Return the model of the files of each category that a file can name."""
    return {word: _load_format(category)[1] for word, category in file_categories().items()}


@cache
def keys_at_top() -> frozenset[str]:
    """Return the keys at the top of a file, which in JSON lines are keys beside those of the entry."""
    keys = {key for model in file_models().values() for key in model.model_fields}
    return frozenset(keys - {"entries", "functions"})


def holds_one_entry(category: Category) -> bool:
    """Tell whether each line of a category in JSON lines is one entry with the id that stands there."""
    # The words that several categories share stand for scenes, of which each category has entries of its own.
    return category.stands_in_files and category.file_word == category.name


def read_entries(path: Path, suite: str, world: World | None = None) -> tuple[Entry, ...]:
    """Read all entries of a file. Raises ``SuiteError`` with file, line and field."""
    file = Field(read_yaml(path), path)
    lists = (make_entries(file, suite, category, world) for category in read_categories(file))
    return tuple(chain.from_iterable(lists))


def read_categories(file: Field) -> tuple[Category, ...]:
    """Return the categories of a file's entries. Raises ``SuiteError``."""
    name = file.member("category").text()
    if not (categories := _list_named_categories(name)):
        raise file.at("category").error(describe_unknown_name("category", name, file_categories()))
    return categories


@cache  # a file of lines names one in each
def _list_named_categories(word: str) -> tuple[Category, ...]:
    return tuple(c for c in CATEGORIES.values() if word == c.file_word and c.stands_in_files)


def make_entries(
    file: Field, suite: str, category: Category, world: World | None = None
) -> tuple[Entry, ...]:
    """Make the entries of a file in one of its categories. Raises ``SuiteError`` with all of its errors."""
    try:
        return _make_entries(file, suite, category, world)
    except FieldError as error:
        # A line of a file lists errors only where it knows its file.
        if file.line is not None and file.list_file_errors is None:
            raise
        list_all = file.list_file_errors or partial(list_errors, file, suite, category, world)
        raise join_errors(list_all() or (error,)) from None


def _make_entries(file: Field, suite: str, category: Category, world: World | None) -> tuple[Entry, ...]:
    read, model = _load_format(category)
    entries = list(read(read_row(file, model), file, suite, category))
    for place, entry in entries:
        if world is not None and (domains := place.at("domains")).value is not None:
            _check_state(domains, entry, world)
    return tuple(_check_ids(entries))


def _check_state(field: Field, entry: Entry, world: World) -> None:
    """Check that the environments that an entry describes can be opened. Raises ``SuiteError``."""
    try:
        # Opened twice: a state with a clock or chance in it would judge the same calls differently.
        one, other = (open_environments(entry, world).copy_state() for _ in range(2))
    except Exception as error:  # noqa: BLE001 - a state that somebody wrote can break anything
        raise field.error(f"cannot be opened: {type(error).__name__}: {error}") from None
    for domain, state in one.items():
        for name, value in state.items():
            if value != other[domain][name]:
                raise field.error(f"{domain}.{name} differs between conversations; use plain values")


def list_errors(file: Field, suite: str, category: Category, world: World | None) -> Sequence[SuiteError]:
    """List the errors of a file in one of its categories, each as if it were the only one.

    The file is read again without what the last errors were about: a key, a function or an entry.
    """
    errors: list[FieldError] = []
    rest = _RestOfFile(as_mapping(file.value), _load_format(category)[1])
    while len(errors) <= MOST_ERRORS:
        try:
            _make_entries(replace(file, value=rest.value), suite, category, world)
            break
        except FieldError as error:
            new_errors = [error, *error.others]
        texts = {*map(str, errors)}
        errors += (each for each in new_errors if not (str(each) in texts or rest.has_caused(each.keys)))
        # A file that this one uses has functions of the same numbers.
        if any(each.path != file.path for each in new_errors):
            break
        if not sum(map(rest.leave_out, {each.keys[:3] for each in new_errors})):
            break
    return sorted(errors, key=lambda error: error.line)


_NEEDED = ("id", "functions", "environment")
"""Keys of an entry without which other errors of it cannot be told from those that follow from theirs."""


class _RestOfFile:
    """What is left of a file when errors in it are left out."""

    def __init__(self, whole: Mapping[str, object], model: type[Row]) -> None:
        self._top = dict(whole)
        self._known = model.model_fields.keys() - {"check"}
        self._remaining = {
            key: dict(enumerate(elements))
            for key in ("functions", "entries")
            if isinstance(elements := whole.get(key), list)
        }
        self._lengths = {key: len(elements) for key, elements in self._remaining.items()}
        self._gaps: set[tuple[Key, ...]] = set()

    @property
    def value(self) -> Mapping[str, object]:
        lists = {
            key: [*elements.values()] if len(elements) == self._lengths[key] else ListPart(elements)
            for key, elements in self._remaining.items()
        }
        return {**self._top, **lists}

    def has_caused(self, keys: tuple[Key, ...]) -> bool:
        """Tell whether an error at these keys follows from what was left out."""
        key, number, member = (*keys, None, None, None)[:3]
        has_member = member in as_mapping(self._remaining.get(str(key), {}).get(cast("int", number)))
        is_missing = len(keys) == 3 and not has_member
        return keys in self._gaps or (is_missing and not self._gaps.isdisjoint((keys[:2], keys[2:])))

    def leave_out(self, keys: tuple[Key, ...]) -> bool:
        """Leave out what an error is about; tell whether it was there."""
        key, number, member = (*keys, None, None, None)[:3]
        if len(keys) > 0 and key in self._top and key not in self._known:
            del self._top[str(key)]
            self._gaps |= {(), keys[:1]}
            return True
        elements = self._remaining.get(str(key), {})
        if not isinstance(number, int) or number not in elements:
            return False
        entry = as_mapping(elements[number])
        if key == "entries" and member in entry and member not in _NEEDED:
            elements[number] = {name: value for name, value in entry.items() if name != member}
            self._gaps |= {keys[:2], keys[:3]}
            return True
        del elements[number]
        if key == "functions":
            name = as_mapping(entry.get("function", entry)).get("name", entry.get("title"))
            entries = self._remaining.get("entries", {})
            for other, each in [*entries.items()]:
                # Without a list of its own, an entry offers all.
                names = as_mapping(each).get("functions")
                if not isinstance(names, list) or name in names:
                    del entries[other]
        return True


_UNFIT = re.compile(r"[\[\]\x00-\x1f\ud800-\udfff]")
"""Characters that no id may have: pytest puts it in brackets, and files and workers carry it."""


def _check_ids(entries: Sequence[tuple[Field, Entry]]) -> list[Entry]:
    """Return the entries; refuse an id that is unfit or taken."""
    by_id: dict[str, Entry] = {}
    for field, entry in entries:
        if not entry.id or _UNFIT.search(entry.id):
            rule = "must not be empty or contain brackets, line breaks or surrogates"
            raise field.error(f"the id {entry.id!r} {rule}")
        if level := split_level(entry.id)[1]:
            way_out = f"leave {level.suffix!r} out, which --fcbench-pressure adds"
            raise field.error(f"the id {entry.id!r} ends as one under pressure; {way_out}")
        if entry.id in by_id:
            raise field.error(f"the id {entry.id!r} is already used by an entry above")
        by_id[entry.id] = entry
    return list(by_id.values())


Schema: TypeAlias = Mapping[str, Any]


def _name_categories(names: Sequence[str]) -> Schema:
    return {"properties": {"category": {"enum": names}}, "required": ["category"]}


def generate_entry_schema(*, lines: bool = False) -> Schema:
    """Return the schema of a file of YAML, or of one of the ``lines`` of a file of JSON lines."""
    models = file_models()
    schemas = generate_json_schemas(set(models.values()))
    files: dict[str, list[str]] = {}
    for name, model in models.items():
        files.setdefault(model.__name__, []).append(name)
    shapes: dict[str, Schema] = {file: {"$ref": f"#/$defs/{file}"} for file in files}
    if lines:
        for file in files:
            # An entry together with the keys at the top of its file.
            whole = schemas[file]
            entry = schemas[whole["properties"]["entries"]["items"]["$ref"].rpartition("/")[2]]
            extra = {name: schema for name, schema in whole["properties"].items() if name in keys_at_top()}
            required_keys = [name for name in (*whole["required"], *entry["required"]) if name != "entries"]
            properties = {**entry["properties"], **extra}
            shapes[file] = {**entry, "properties": properties, "required": required_keys}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An entry of pytest-fcbench" if lines else "Entries of pytest-fcbench",
        "type": "object",
        **_name_categories(list(models)),
        "allOf": [{"if": _name_categories(names), "then": shapes[file]} for file, names in files.items()],
        "$defs": {name: schema for name, schema in schemas.items() if not (lines and name in files)},
    }
