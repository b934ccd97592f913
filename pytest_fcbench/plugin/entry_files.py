"""``pytest PATH``: a file or folder of entries is a suite, and each entry an item, without a test module."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.plugin.items import ENTRY, STOPPED, Benchmark
from pytest_fcbench.suites.custom import files_of, is_suite
from pytest_fcbench.suites.registry import name_of, word_of

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr


def pointed(
    arguments: Sequence[str], here: Path, own: Mapping[str, Path]
) -> tuple[Mapping[str, Path], Mapping[Path, str]]:
    """The suites that arguments of the command line point at, and the suite of each file to collect.

    ``own`` are the suites that fcbench.yaml names. Raises ``SuiteError`` and ``UsageError``.
    """
    roots = {_normal(path): name for name, path in own.items()}
    found: dict[str, Path] = {}
    files: dict[Path, str] = {}
    for argument in arguments:
        path, _, item = argument.partition("::")
        place = _normal(here / path)
        if not is_suite(place):
            continue
        root = _root(place, item, roots)
        name = roots.get(root) or name_of(root)
        if found.setdefault(name, root) != root:
            raise UsageError(f"{found[name]} and {root}: two suites of the same name; rename one of them")
        files |= dict.fromkeys(files_of(place), name)
    return found, files


def _normal(path: Path) -> Path:
    """As pytest names paths: from the root, without dots, links as they are."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links


def _root(place: Path, item: str, roots: Mapping[Path, str]) -> Path:
    """Where the suite begins that a path is of: one that fcbench.yaml names, or that a node id names."""
    around = (place, *place.parents)
    for folder in around:
        if folder in roots:
            return folder
    named = item.rpartition("[")[2].partition(":")[0]
    return next((folder for folder in around if named and word_of(folder) == named), place)


class Pointed:
    """Collects the entries of what was pointed at."""

    def __init__(self, benchmark: Benchmark, files: Mapping[Path, str]) -> None:
        self._benchmark = benchmark
        self._files = files

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """A file with entries."""
        if file_path not in self._files:
            return None
        file = EntryFile.from_parent(parent, path=file_path)
        file.suite, file.benchmark = self._files[file_path], self._benchmark
        return file


class EntryFile(pytest.File):
    """The entries of a file."""

    suite: str
    benchmark: Benchmark

    def collect(self) -> Iterator[pytest.Item]:
        """An item for each."""
        if not self.benchmark.prepared():
            yield self._item(STOPPED)
            return
        for entry in self.benchmark.context.selection.by_file(self.suite).get(self.path, ()):
            item = self._item(entry.item_id)
            self.benchmark.adopt(item, entry)
            yield item

    def _item(self, item_id: str) -> EntryItem:
        name = f"entry[{item_id}]"
        # As text: the id that pytest makes of a name with brackets is not that which it reads for --lf.
        item = EntryItem.from_parent(self, name=name, nodeid=f"{self.nodeid}::{name}")
        item.benchmark = self.benchmark
        return item


class EntryItem(pytest.Item):
    """Puts an entry to the model and asserts on the answer."""

    benchmark: Benchmark

    def runtest(self) -> None:
        """As the functions of ``benchmarks/`` do."""
        benchmark, entry = self.benchmark, self.stash[ENTRY]
        verdict = benchmark.scored(benchmark.session.judge(entry, benchmark.put(entry)))
        assert verdict.passed, str(verdict)

    def repr_failure(
        self,
        excinfo: pytest.ExceptionInfo[BaseException],
        style: Literal["long", "short", "line", "no", "native", "value", "auto"] | None = None,
    ) -> str | TerminalRepr:
        """What is wrong with an answer, without lines of ours, which say nothing and take long to find."""
        if isinstance(excinfo.value, (AssertionError, NotScoredError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where it stands."""
        return self.path, None, self.name
