"""What is in the wheel and in the sdist."""

from __future__ import annotations

import email
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from pytest_fcbench import __name__ as package
from pytest_fcbench.domain.registry import EXTRAS
from tests.conftest import ROOT
from tests.packaging.installed import build_distribution

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def _list_tracked(*paths: str) -> set[str]:
    """Return what git knows of the work tree, with what is not added yet and not ignored."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", *paths]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no work tree of git")
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


def test_the_wheel_holds_the_package_the_benchmarks_the_pages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    about = f"pytest_fcbench-{PROJECT['version']}.dist-info"
    beside = {f"{package}/{name}" for name in _list_tracked("benchmarks", ":(glob)docs/*.md")}
    metadata = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    assert names == _list_tracked(package) | beside | {f"{about}/{name}" for name in metadata}
    assert f"{package}/py.typed" in names
    assert f"{package}/suites/core/simple_python.yaml" in names


def test_the_sdist_holds_the_work_tree_without_our_ci(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {str(PurePosixPath(*PurePosixPath(name).parts[1:])) for name in archive.getnames()}
    assert names == {name for name in _list_tracked() if not name.startswith(".ci/")} | {"PKG-INFO"}
    assert {"LICENSE", "tests/conftest.py", "benchmarks/test_ast.py"} <= names


def test_no_file_and_no_archive_is_large(wheel: Path, sdist: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        sizes = {file.filename: file.file_size for file in archive.infolist()}
    # The review holds a decision for each entry of core.
    assert sizes.pop(f"{package}/tools/audit/reviews/core.yaml") < 300_000
    # Files of core hold the docs of the functions that they offer.
    assert max(sizes.values()) < 300_000
    assert wheel.stat().st_size < 2_500_000
    assert sdist.stat().st_size < 4_000_000


def test_the_sdist_builds_the_same_wheel(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    """Byte for byte: times in it are fixed, so whoever builds a release again can compare."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    assert build_distribution("wheel", tmp_path / "again", source).read_bytes() == wheel.read_bytes()


@pytest.mark.nightly
def test_the_sdist_is_built_the_same_again(sdist: Path, tmp_path: Path) -> None:
    assert build_distribution("sdist", tmp_path).read_bytes() == sdist.read_bytes()


@pytest.mark.nightly
def test_an_index_takes_the_wheel_and_the_sdist(wheel: Path, sdist: Path) -> None:
    for command in (
        ["twine", "check", "--strict", str(wheel), str(sdist)],
        ["check_wheel_contents", str(wheel)],
    ):
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_metadata_have_license_python_readme_and_extras(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        about = archive.read(f"pytest_fcbench-{PROJECT['version']}.dist-info/METADATA").decode()
    metadata = email.message_from_string(about)
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata["Version"] == PROJECT["version"]
    readme = str(metadata.get_payload())
    assert (ROOT / "README.md").read_text(encoding="utf-8").startswith(readme[:40])
    assert not re.search(r"\]\((?!https?:|#)", readme), "links that lead nowhere on the page of an index"
    pages = set(re.findall(r"fcbench help ([\w-]+)", readme))
    assert pages <= {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert {*EXTRAS, "all", "dev"} <= set(metadata.get_all("Provides-Extra", []))
