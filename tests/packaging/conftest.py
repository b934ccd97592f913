"""The wheel and the sdist, built once, and an environment with the wheel alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging.installed import Environment, build_distribution, create_environment


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_distribution("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_distribution("sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def base(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Create an environment as it is after ``pip install pytest-fcbench``."""
    return create_environment(tmp_path_factory.mktemp("base"), wheel)
