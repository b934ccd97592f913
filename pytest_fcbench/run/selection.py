"""The entries of a run: those of its suites and categories that are in its shard, once for every trial.

Under pressure an entry is one for each level.

Which of them are in training data says an audit that ``fcbench suite audit -o`` has written.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.pressure import PressureKind, split_level
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.kinds.execution.verdict import LIVE_ONLY
from pytest_fcbench.kinds.forced.entries import FORCED, force_truth
from pytest_fcbench.models.providers.openai_compatible import name_server
from pytest_fcbench.suites.pressure import PressureMaterial, press_entry
from pytest_fcbench.suites.suite import Suite

_SMOKE = 10
"""A smoke run takes every tenth entry: of ten paraphrases in a row the first."""


@dataclass
class Selection:
    """The entries of a run, loaded on first use."""

    settings: Settings
    suites: Mapping[str, Suite]
    without_calls: int = 0
    """The number of loaded entries that have no right calls, which are left out of a forced run."""
    without_levels: Counter[PressureKind] = field(default_factory=Counter)
    """The numbers of loaded entries that cannot have a level of pressure, and are left out of its curve."""
    _loaded: dict[tuple[str, str], tuple[Entry, ...]] = field(default_factory=dict)
    _chosen: dict[str, Sequence[Entry]] = field(default_factory=dict)
    _by_id: dict[str, Entry] = field(default_factory=dict)
    _by_file: dict[str, dict[Path, list[Entry]]] = field(default_factory=dict)

    def entries(self, name: str) -> Sequence[Entry]:
        """Return the entries of a category in all suites and this shard; none if it is not selected.

        Raises ``UsageError`` for a name that is no category.
        """
        if name not in self._chosen:
            if name not in CATEGORIES:
                raise UsageError(describe_unknown_name("category", name, CATEGORIES))
            is_selected = CATEGORIES[name] in self.settings.categories
            self._chosen[name] = self._choose_entries(name) if is_selected else ()
        return self._chosen[name]

    def _choose_entries(self, name: str) -> Sequence[Entry]:
        entries = [entry for suite in self.suites.values() for entry in self._load(suite, CATEGORIES[name])]
        if ids := self.settings.entries:
            entries = [entry for entry in entries if any(matches_id(entry, each) for each in ids)]
        shard = self.settings.shard
        return entries if shard is None else [entry for entry in entries if shard.holds(entry)]

    def by_file(self, suite: str) -> Mapping[Path, Sequence[Entry]]:
        """Return the entries of a suite grouped by file; nothing if the suite does not know its files."""
        if suite in self._by_file:
            return self._by_file[suite]
        entries_by_file = self._by_file[suite] = {}
        if file_of := self.suites[suite].file_of:
            for category in self.settings.categories:
                for entry in self.entries(category.name):
                    if entry.suite == suite:
                        # As pytest writes it: from the root, with links as they are.
                        file = Path(os.path.abspath(file_of(entry)))  # noqa: PTH100
                        entries_by_file.setdefault(file, []).append(entry)
        return entries_by_file

    def find(self, item_id: str) -> Entry | None:
        """Return the entry of that item id if it was loaded."""
        return self._by_id.get(item_id)

    def check_ids(self) -> None:
        """Raise ``UsageError`` for an id of the settings that no entry has."""
        for entry_id in self.settings.entries:
            if not any(matches_id(entry, entry_id) for entry in self._by_id.values()):
                if entry_id.partition(":")[0] not in self.suites:
                    fault = f"entry {entry_id!r}: a path on the command line selects {', '.join(self.suites)}"
                    raise UsageError(f"{fault}; leave the path out, or run the entry by itself")
                known_names = {name for entry in self._by_id.values() for name in (entry.key, entry.item_id)}
                raise UsageError(describe_unknown_name("entry", entry_id, sorted(known_names)))

    def size_of(self, category: str) -> int:
        """Return the number of tests of a category in all shards: entries times trials."""
        return sum(self._count_entries(suite, CATEGORIES[category]) for suite in self.suites.values())

    def _count_entries(self, suite: Suite, category: Category) -> int:
        if suite.count is None or category not in suite.categories or self.settings.pressure:
            return len(self._load(suite, category))
        return len(range(suite.count(category))[self._step]) * self.settings.trials

    @property
    def _step(self) -> slice:
        """The entries of a category that run."""
        return slice(None, None, _SMOKE if self.settings.smoke else None)

    def _load(self, suite: Suite, category: Category) -> tuple[Entry, ...]:
        key = suite.name, category.name
        if key not in self._loaded:
            if category == FORCED:
                self._loaded[key] = tuple(self._force_entries(suite))
                self._by_id |= {entry.item_id: entry for entry in self._loaded[key]}
                return self._loaded[key]
            entries = self._read_entries(suite, category)[self._step] if category in suite.categories else ()
            if self.settings.live:
                # Set aside only for lack of a recorded answer of a web API, so back in play.
                lacking = f"{LIVE_ONLY}:"
                entries = tuple(
                    replace(each, set_aside=None) if (each.set_aside or "").startswith(lacking) else each
                    for each in entries
                )
            if self.settings.pressure:
                entries = tuple(self._press_entries(entries))
            # Last, so that a smoke run has every trial of its entries.
            if (trials := self.settings.trials) > 1:
                entries = tuple(replace(entry, trial=n) for entry in entries for n in range(1, trials + 1))
            self._loaded[key] = tuple(entries)
            self._by_id |= {entry.item_id: entry for entry in self._loaded[key]}
        return self._loaded[key]

    @cached_property
    def _material(self) -> PressureMaterial:
        return PressureMaterial(self.suites.values(), self.settings.context_length or 0)

    def _press_entries(self, entries: Sequence[Entry]) -> Iterator[Entry]:
        """Yield entries at each level of each kind of pressure, and count those that cannot have them."""
        levels = self.settings.pressure
        for entry in entries:
            for kind in dict.fromkeys(level.kind for level in levels):
                pressed = press_entry(entry, [each for each in levels if each.kind is kind], self._material)
                yield from pressed
                self.without_levels[kind] += not pressed

    def _force_entries(self, suite: Suite) -> Iterator[Entry]:
        """Yield what puts the right calls of a suite's entries through the server, and count the others."""
        way, syntax, server = self.settings.forced, self.settings.syntax, name_server(self.settings)
        for category in self.settings.forced_categories if way else ():
            for entry in self._load(suite, category):
                if forced_entry := force_truth(entry, str(way), syntax, server):
                    yield forced_entry
                else:
                    self.without_calls += 1

    def _read_entries(self, suite: Suite, category: Category) -> tuple[Entry, ...]:
        """Read the entries of a category, without those of other shards where nothing depends on them."""
        settings = self.settings
        # What is counted off, and an id that nobody has, shows only among all entries.
        if not settings.shard or not suite.load_shard or settings.smoke or settings.entries:
            return suite.load(category)
        return suite.load_shard(category, settings.shard)


def matches_id(entry: Entry, id_pattern: str) -> bool:
    """Tell whether an id names an entry, all its trials and levels, or with ``*`` all that begin so."""
    if id_pattern.endswith("*"):
        return entry.item_id.startswith(id_pattern[:-1])
    return id_pattern in (entry.key, entry.item_id, split_level(entry.key)[0])


def draw_keys(entries: Iterable[Entry], settings: Settings) -> Set[str]:
    """Return the keys of entries, each with all its levels, that ``limit`` or ``sample`` leaves of these."""
    levels: dict[str, list[str]] = {}
    for entry in entries:
        levels.setdefault(split_level(entry.key)[0], []).append(entry.key)
    keys = list(levels)
    if settings.sample:
        # By hash, so that the same entries are drawn tomorrow and in every version of Python: runs stay
        # comparable, and a larger sample contains a smaller one.
        keys.sort(key=lambda key: sha256(key.encode()).digest())
    return {each for key in keys[: settings.limit or settings.sample] for each in levels[key]}


def read_trained_entries(path: Path, suites: Mapping[str, Mapping[str, str | None]]) -> frozenset[str]:
    """Return the keys of the entries that the audit found in training data.

    ``suites`` has the version of each suite of the run. Raises ``UsageError`` for another file, and where the
    audited suite is not that of the run.
    """
    command = "fcbench suite audit SUITE --against=train.jsonl -o FILE.json"
    try:
        audit = read_json_text(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; make it with {command}") from None
    except ValueError:
        audit = None
    match audit:
        case {"suite": str(suite), "version": str(version), "trained": [*trained]}:
            pass
        case _:
            raise UsageError(f"{path}: is not an audit against training data; make it with {command}")
    if suite not in suites:
        fault = f"is an audit of {suite}, but the run has {', '.join(suites)}"
        raise UsageError(f"{path}: {fault}; name the audit of one of its suites")
    if version != (own := suites[suite]["version"]):
        fault = f"is an audit of {suite} {version}, but the run has {suite} {own}"
        raise UsageError(f"{path}: {fault}; make it again with {command}")
    return frozenset(f"{suite}:{entry}" for entry in trained)
