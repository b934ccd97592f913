"""What is published, built here, and environments in which nothing else is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

from tests.conftest import ROOT


def build_distribution(kind: str, to: Path, source: Path = ROOT) -> Path:
    """Build a ``wheel`` or an ``sdist`` in this environment, without a network."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(to)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (path,) = to.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return path


@dataclass(frozen=True, slots=True)
class Environment:
    """A Python with the wheel, what it requires, and nothing else; runs in a folder that is its own."""

    python: Path

    def run_module(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a module with ``python -m``."""
        of_ours = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        command = [str(self.python), "-m", *arguments]
        return subprocess.run(command, cwd=cwd, env=of_ours, capture_output=True, text=True, check=False)

    def run_pytest(self, *options: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run pytest."""
        return self.run_module("pytest", *options, cwd=cwd)

    def run_fcbench(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a command of ours."""
        return self.run_module("pytest_fcbench.cli.main", *words, cwd=cwd)


def create_environment(folder: Path, wheel: Path, extras: Sequence[str] = ()) -> Environment:
    """Unpack the wheel into a new environment, and link what it requires from this one."""
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (metadata,) = site.glob("*.dist-info")
    for package in list_required(Distribution.at(metadata), extras):
        for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(package.locate_file(top))).resolve())
    return Environment(folder / "bin" / "python")


def list_required(of: Distribution, extras: Sequence[str] = ()) -> Iterator[Distribution]:
    """Yield the distributions that one requires, and those that they require in turn."""
    found: set[tuple[str, str]] = set()
    left = [(of, ("", *extras))]
    while left:
        package, wanted = left.pop()
        for requirement in map(Requirement, package.requires or ()):
            if requirement.marker and not any(requirement.marker.evaluate({"extra": e}) for e in wanted):
                continue
            for extra in ("", *requirement.extras):
                if (requirement.name, extra) not in found:
                    found.add((requirement.name, extra))
                    left.append((distribution(requirement.name), (extra,)))
    yield from (distribution(name) for name in {name for name, _ in found})
