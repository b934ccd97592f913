"""Files of entries, written by hand in YAML: a file holds one category, whose kind says what an entry is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Category, Entry, Rule
from pytest_fcbench.domain.errors import unknown
from pytest_fcbench.environments.world import World
from pytest_fcbench.suites.derived_entries import Withheld
from pytest_fcbench.suites.formats import (
    executable,
    golden_paths,
    memory,
    multi_turn,
    rest,
    single_turn,
    web_questions,
)
from pytest_fcbench.suites.formats.fields import Field, yaml_value
from pytest_fcbench.suites.formats.rows import Row


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of entry: what its files hold, and how their entries are made."""

    file: type[Row]
    entries: Callable[[Field, str, Category], Iterator[tuple[Field, Entry]]]
    """Yields each entry of a file for a suite in a category, and where it stands."""


def _stateful(file: Field, suite: str, category: Category) -> Iterator[tuple[Field, Entry]]:
    return ((place, entry) for place, entry, _ in multi_turn.entries(file, suite, category, None))


_BY_RULE: Mapping[Rule, Kind] = {
    **{rule: Kind(file, single_turn.entries) for rule, file in single_turn.FILES.items()},
    Rule.STATE: Kind(multi_turn.TrajectoryFile, _stateful),
    Rule.PATH: Kind(golden_paths.PathFile, golden_paths.entries),
    Rule.EXECUTION: Kind(executable.ExecutableFile, executable.entries),
    Rule.REST: Kind(rest.RestFile, rest.entries),
}

KINDS: Mapping[str, Kind] = {
    **{name: _BY_RULE[each.rule] for name, each in CATEGORIES.items() if each.rule in _BY_RULE},
    "memory": Kind(memory.ScenarioFile, memory.entries),
    "web_search": Kind(web_questions.QuestionFile, web_questions.entries),
}
"""Each kind by the word that stands in a file as its category: those about memories and the web are written
once for all categories of their kind."""

AT_TOP = {key for kind in KINDS.values() for key in kind.file.model_fields} - {"entries", "functions"}
"""What is said at the top of a file, and in a line of JSON beside the entry."""


def read(path: Path, suite: str, world: World | None = None) -> tuple[Entry, ...]:
    """All entries of a file. Raises ``SuiteError`` with file, line and field."""
    file = Field(yaml_value(path), path)
    return tuple(entry for category in categories_of(file) for entry in entries(file, suite, category, world))


def categories_of(file: Field) -> tuple[Category, ...]:
    """The categories of a file's entries. Raises ``SuiteError``."""
    name = file.member("category").text()
    if name not in KINDS:
        raise file.at("category").error(unknown("category", name, KINDS))
    return tuple(CATEGORIES[each] for each in SELECTIONS.get(name, (name,)))


def entries(file: Field, suite: str, category: Category, world: World | None = None) -> tuple[Entry, ...]:
    """The entries of what a file holds in one of its categories. Raises ``SuiteError``."""
    if category.rule is Rule.STATE:
        return tuple(entry for entry, _ in trajectories_of(file, suite, world))
    kind = KINDS[file.member("category").text()]
    return tuple(_unique(list(kind.entries(file, suite, category))))


def trajectories_of(
    file: Field, suite: str, world: World | None = None
) -> Sequence[tuple[Entry, Withheld | None]]:
    """All multi-turn entries of what a file holds, with what can be withheld. Raises ``SuiteError``."""
    (category,) = categories_of(file)
    found = list(multi_turn.entries(file, suite, category, world))
    unique = _unique([(place, entry) for place, entry, _ in found])
    return list(zip(unique, [withheld for _, _, withheld in found], strict=True))


_UNFIT = re.compile(r"[\[\]\x00-\x1f\ud800-\udfff]")
"""What an id cannot have, because it stands in brackets in that of its test, which files and workers get."""


def _unique(entries: Sequence[tuple[Field, Entry]]) -> list[Entry]:
    """The entries, each under an id of its own."""
    found: dict[str, Entry] = {}
    for field, entry in entries:
        if not entry.id or _UNFIT.search(entry.id):
            raise field.error(
                f"the id {entry.id!r} must have a character, no bracket, line break or half of one"
            )
        if entry.id in found:
            raise field.error(f"the id {entry.id!r} is taken by an entry above")
        found[entry.id] = entry
    return list(found.values())
