"""The wheel and the sdist, built once, and an environment with the wheel alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging.installed import Environment, built, environment


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def base(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """As after ``pip install pytest-fcbench``."""
    return environment(tmp_path_factory.mktemp("base"), wheel)
