"""``fcbench init``: add the files that a project needs for benchmarks."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from pytest_fcbench.cli.tree import find_folder
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.run.output_files import write_file


def _read_template(name: str) -> str:
    return (Path(__file__).parent / "new_project" / name).read_text(encoding="utf-8")


WORKFLOWS = {
    "github": (".github/workflows/benchmarks.yml", _read_template("github.yml")),
    "gitlab": (".gitlab/benchmarks.yml", _read_template("gitlab.yml")),
    "none": None,
}
"""The workflow file of each kind of CI."""


_IGNORED = ".gitignore"
_SIGNS_OF_TESTS = (
    *("pyproject.toml", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "conftest.py"),
    *("test", "tests", "test_*.py", "*_test.py"),
)


def run_init(arguments: argparse.Namespace) -> int:
    if arguments.folder.exists() and not arguments.folder.is_dir():
        raise UsageError(f"{arguments.folder} is not a folder; name a folder or a new path")
    modules = find_folder("benchmarks").glob("*.py")
    files = [
        ("fcbench.yaml", _read_template("fcbench.yaml")),
        (_IGNORED, _read_template("gitignore")),
        (".pre-commit-config.yaml", _read_template("pre-commit.yaml")),
    ]
    files += ((f"benchmarks/{path.name}", path.read_text(encoding="utf-8")) for path in sorted(modules))
    # Tests of another kind may lie above the folder in the same repository.
    above = [arguments.folder.resolve(), *arguments.folder.resolve().parents]
    top = next((count for count, place in enumerate(above) if (place / ".git").exists()), 0)
    places = above[: top + 1]
    if has_tests := any(
        test_file for place in places for sign in _SIGNS_OF_TESTS for test_file in place.glob(sign)
    ):
        files.append(("benchmarks/conftest.py", _read_template("conftest.txt")))
    if workflow := WORKFLOWS[arguments.ci]:
        files.append(workflow)
    for name, text in files:
        path = arguments.folder / name
        if path.exists():
            print(f"kept     {path}")
            if name == _IGNORED and ".fcbench" not in path.read_text(encoding="utf-8", errors="replace"):
                print(f"         add /.fcbench/ to {path}, so that answers and runs are not committed")
        else:
            write_file(path, text)
            print(f"written  {path}")
    at = "" if arguments.folder == Path() else f"cd {shlex.quote(str(arguments.folder))} && "
    print(f"run it with: {at}pytest benchmarks")
    if has_tests:
        print(
            "a bare pytest runs the other tests only; the command line names benchmarks by\n"
            "path, id, -m fcbench, an option such as --fcbench-model, or --lf after failures"
        )
    return 0
