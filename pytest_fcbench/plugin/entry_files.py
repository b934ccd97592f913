"""``pytest PATH``: a file or folder of entries is a suite, and each entry an item, without a test module."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.plugin.items import BENCHMARK, ENTRY, STOPPED, attach_entry
from pytest_fcbench.suites.custom import find_entry_files, is_suite
from pytest_fcbench.suites.registry import name_suite, suggest_name

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr


def find_pointed_suites(
    arguments: Sequence[str], here: Path, own: Mapping[str, Path]
) -> tuple[Mapping[str, Path], Mapping[Path, str]]:
    """Find the suites that the command line names by path, and the suite of each file to collect.

    ``own`` are the suites that fcbench.yaml names. Raises ``SuiteError`` and ``UsageError``.
    """
    roots = {_normalize(path): name for name, path in own.items()}
    found: dict[str, Path] = {}
    files: dict[Path, str] = {}
    for argument in arguments:
        path, _, item = argument.partition("::")
        place = _normalize(here / path)
        if not is_suite(place):
            continue
        # The suite around the path that fcbench.yaml or the node id names, else the path itself.
        around = (place, *place.parents)
        named = item.rpartition("[")[2].partition(":")[0]
        root = next((folder for folder in around if folder in roots), None) or next(
            (folder for folder in around if named and suggest_name(folder) == named), place
        )
        name = roots.get(root) or name_suite(root)
        if found.setdefault(name, root) != root:
            raise UsageError(f"{found[name]} and {root}: two suites have the same name; rename one of them")
        files |= dict.fromkeys(find_entry_files(place), name)
    return found, files


def _normalize(path: Path) -> Path:
    """Write a path as pytest does: from the root, without dots, links as they are."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links


class EntryFileCollector:
    """Collects the entry files that the command line names; ``files`` has the suite of each."""

    def __init__(self, files: Mapping[Path, str]) -> None:
        self._files = files

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collect a file of entries."""
        if file_path not in self._files:
            return None
        file = EntryFile.from_parent(parent, path=file_path)
        file.suite = self._files[file_path]
        return file


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
