"""The former names of modules and fixtures, for test modules that an older ``fcbench init`` wrote."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType

import pytest

import pytest_fcbench
from pytest_fcbench.run.session import Session

_PRESENT_NAMES = {
    "pytest_fcbench.entries": "pytest_fcbench.domain.entry",
    "pytest_fcbench.complexeval": "pytest_fcbench.matchers.golden_path",
    "pytest_fcbench.complexeval.verdict": "pytest_fcbench.matchers.golden_path.verdict",
    "pytest_fcbench.executables": "pytest_fcbench.execution",
    "pytest_fcbench.executables.outcomes": "pytest_fcbench.execution.outcomes",
}
"""The present name of each module by its former one."""


class FormerBenchmarks(MetaPathFinder, Loader):
    """Finds modules by their former names, with a warning, and keeps the fixtures that ``judge`` replaced."""

    def __init__(self, session: Session) -> None:
        self._session = session
        sys.meta_path.append(self)

    def pytest_unconfigure(self) -> None:
        """Forget the former names, so that a later run in this process finds and warns of them anew."""
        sys.meta_path.remove(self)
        for name in _PRESENT_NAMES:
            if sys.modules.pop(name, None):
                vars(pytest_fcbench).pop(name.split(".")[1], None)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module that has moved."""
        return spec_from_loader(fullname, self, is_package=True) if fullname in _PRESENT_NAMES else None

    def exec_module(self, module: ModuleType) -> None:
        """Fill the former module with the content of the present one."""
        present = import_module(_PRESENT_NAMES[module.__name__])
        message = f"{module.__name__} is now {present.__name__}; import it from there"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        vars(module).update({name: value for name, value in vars(present).items() if name[:2] != "__"})

    @pytest.fixture
    def fresh(self) -> object:
        """Make the environments of an entry in their initial state (for former benchmarks: use judge)."""
        return self._session.environments

    @pytest.fixture
    def execute(self) -> object:
        """Carry calls out, each by itself (for former benchmarks: use judge)."""
        return self._session.execute

    @pytest.fixture
    def perform(self) -> object:
        """Send the request of a call (for former benchmarks: use judge)."""
        return self._session.perform
