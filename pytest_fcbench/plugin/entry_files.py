"""``pytest PATH``: a file or folder of entries is a suite, and each entry an item, without a test module."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from operator import not_
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.plugin.items import BENCHMARK, ENTRY, STOPPED, attach_entry
from pytest_fcbench.plugin.project import mentions_us, normalize_path
from pytest_fcbench.suites.custom import find_entry_files, find_unnamed_files, is_suite
from pytest_fcbench.suites.registry import can_name_a_suite, name_suite, suggest_name

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr


def find_pointed_suites(
    arguments: Sequence[str],
    open_places: Collection[Path],
    own: Mapping[str, Path],
    selected_suites: Mapping[str, Path] | None = None,
) -> tuple[Mapping[str, Path], Mapping[Path, str]]:
    """Find the suites that the command line names by path, and the suite of each file to collect.

    ``own`` are the suites that fcbench.yaml names. A run that names no path collects ``open_places``: there
    each file is a suite, as it would be by its own path, unless options have selected other suites.

    Raises ``SuiteError`` and ``UsageError``.
    """
    roots = {normalize_path(path): name for name, path in own.items()}
    suite_paths: dict[str, Path] = {}
    files: dict[Path, str] = {}
    for argument in arguments:
        path, _, item = argument.partition("::")
        place = normalize_path(Path(path))
        if place in open_places and selected_suites is not None:
            for name, root in selected_suites.items():
                if normalize_path(root).is_relative_to(place):
                    files |= dict.fromkeys(map(normalize_path, find_entry_files(root)), name)
            continue
        if place in open_places:
            suites = _divide_folder(place, roots)
        elif is_suite(place):
            # The suite around the path that fcbench.yaml or the node id names, else the path itself.
            around = (place, *place.parents)
            suite_name = item.rpartition("[")[2].partition(":")[0]
            root = next((folder for folder in around if folder in roots), None) or next(
                (folder for folder in around if suite_name and suggest_name(folder) == suite_name), place
            )
            suites, others = _split_off_named(find_entry_files(place), place, roots)
            suites |= {root: others} if others else {}
        else:
            continue
        for root, entry_files in suites.items():
            name = roots.get(root) or name_suite(root)
            if suite_paths.setdefault(name, root) != root:
                fault = "two suites have the same name; rename one of them"
                raise UsageError(f"{suite_paths[name]} and {root}: {fault}")
            files |= dict.fromkeys(entry_files, name)
    return suite_paths, files


def _divide_folder(place: Path, roots: Collection[Path]) -> Mapping[Path, Sequence[Path]]:
    """Divide a folder into suites: those in it that have a name already, and each of its other files.

    Files that are called after categories are parts of one suite, which is the folder.
    """
    if around := next((folder for folder in (place, *place.parents) if folder in roots), None):
        return {around: find_entry_files(place)}
    suites, others = _split_off_named(find_unnamed_files(place), place, roots)
    if all(can_name_a_suite(suggest_name(file)) for file in others):
        return suites | {file: [file] for file in others}
    return suites | {place: _split_off_named(find_entry_files(place), place, roots)[1]}


def _split_off_named(
    files: Iterable[Path], place: Path, roots: Iterable[Path]
) -> tuple[dict[Path, Sequence[Path]], Sequence[Path]]:
    """Split off the suites below a folder that have a name already; return them, and the other files."""
    files_by_root: dict[Path, Sequence[Path]] = {
        root: find_entry_files(root) for root in roots if place in root.parents
    }
    taken_files = {file for parts in files_by_root.values() for file in parts}
    return files_by_root, [file for file in files if file not in taken_files]


class EntryFileCollector:
    """Collects the entry files that the command line names; ``files`` has the suite of each.

    A run that ``is_alone`` has no test of another kind.
    """

    def __init__(self, files: Mapping[Path, str], *, is_alone: bool = False) -> None:
        self._files = files
        self._is_alone = is_alone

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Import no module that can hold no benchmark."""
        is_other = self._is_alone and collection_path.suffix == ".py" and not mentions_us(collection_path)
        return is_other or None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collect a file of entries."""
        if file_path not in self._files:
            return None
        file = EntryFile.from_parent(parent, path=file_path)
        file.suite = self._files[file_path]
        return file

    # First, because entries are deselected by -m, -k and --fcbench-limit afterwards.
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave an entry to the test function that bears the mark of its category, where there is one."""
        functions = (item for item in items if not isinstance(item, EntryItem))
        taken_ids = {item.stash[ENTRY].item_id for item in functions if ENTRY in item.stash}

        def is_left_out(item: pytest.Item) -> bool:
            is_of_file = isinstance(item, EntryItem)
            if ENTRY in item.stash:
                return is_of_file and item.stash[ENTRY].item_id in taken_ids
            # An item that is to tell what is wrong has no entry.
            return self._is_alone and not is_of_file and not item.get_closest_marker("fcbench")

        left_out = list(map(is_left_out, items))
        if any(left_out):
            config.hook.pytest_deselected(items=list(compress(items, left_out)))
            items[:] = compress(items, map(not_, left_out))


class EntryFile(pytest.File):
    """The entries of a file."""

    suite: str

    def collect(self) -> Iterator[pytest.Item]:
        """Make an item of each entry."""
        benchmark = self.config.stash[BENCHMARK]
        if not benchmark.prepare():
            yield self._make_item(STOPPED)
            return
        for entry in benchmark.context.selection.by_file(self.suite).get(self.path, ()):
            item = self._make_item(entry.item_id)
            attach_entry(item, entry)
            yield item

    def _make_item(self, item_id: str) -> EntryItem:
        name = f"entry[{item_id}]"
        # The node id is given as text: the one that pytest makes of a name with brackets is not the one
        # that it reads back for --lf.
        item: EntryItem = EntryItem.from_parent(self, name=name, nodeid=f"{self.nodeid}::{name}")
        return item


class EntryItem(pytest.Item):
    """Puts an entry to the model and asserts on the answer."""

    def setup(self) -> None:
        """Name the entry to allure-pytest, which tells the tests of a file apart by their parameters only."""
        listener = self.config.pluginmanager.get_plugin("allure_listener")
        if listener is not None:
            listener.add_parameter(name="entry", value=self.stash[ENTRY], excluded=None, mode=None)

    def runtest(self) -> None:
        """Ask, judge and assert, as the test functions of ``benchmarks/`` do."""
        benchmark, entry = self.config.stash[BENCHMARK], self.stash[ENTRY]
        judgement = benchmark.session.judge(entry, benchmark.ask_model(entry))
        verdict = benchmark.record_judgement(judgement)
        assert verdict.passed, str(verdict)

    def repr_failure(
        self,
        excinfo: pytest.ExceptionInfo[BaseException],
        style: Literal["long", "short", "line", "no", "native", "value", "auto"] | None = None,
    ) -> str | TerminalRepr:
        """Say what is wrong with an answer, without our own frames, which take long to find."""
        if isinstance(excinfo.value, (AssertionError, NotScoredError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the file of the entry and its name."""
        return self.path, None, self.name
