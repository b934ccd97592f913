"""``fcbench init``: what a project needs for benchmarks, beside what is there."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest_fcbench
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.run.output_files import write

_CONFIGURATION = """\
# What `pytest benchmarks` runs. Every --fcbench-… option can stand here by its name.
model: lexical        # matches words and needs no network; name your own here or with --fcbench-model
suite: [core]         # also bfcl and complexfuncbench, after: fcbench pull bfcl
gate:                 # decides the exit code
  - overall>=0.05

# models:             # names for models, which --fcbench-model takes
#   my-ft:
#     model: hosted_vllm/my-ft           # any id of litellm
#     api_base: http://localhost:8000/v1
#     api_key_env: MY_FT_KEY             # the variable that holds the key, never the key itself
# suites:             # entries of your own, which --fcbench-suite takes
#   mine: path/to/entries
"""
_GITHUB = """\
name: benchmarks
on: [pull_request]
permissions: {contents: read}
jobs:
  benchmarks:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "3.12"}
      - run: pip install pytest-fcbench
      # A model that is asked needs its key: env: {MY_FT_KEY: "${{ secrets.MY_FT_KEY }}"}
      - run: pytest benchmarks
      - uses: actions/upload-artifact@v4
        if: always()
        with: {name: scorecard, path: scorecard.json}
"""
_GITLAB = """\
# Include it in .gitlab-ci.yml: include: {local: .gitlab/benchmarks.yml}
benchmarks:
  image: python:3.12
  script:
    - pip install pytest-fcbench
    - pytest benchmarks
  artifacts:
    when: always
    paths: [scorecard.json]
"""
WORKFLOWS = {
    "github": (".github/workflows/benchmarks.yml", _GITHUB),
    "gitlab": (".gitlab/benchmarks.yml", _GITLAB),
    "none": None,
}
"""The file by which each kind of CI runs the benchmarks."""


HELP = "write what a project needs for benchmarks; nothing is replaced"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="FOLDER", help="of the project (here)"
    )
    parser.add_argument("--ci", choices=WORKFLOWS, default="github", help="whose workflow to write (github)")


def run_command(chosen: argparse.Namespace) -> int:
    if chosen.folder.exists() and not chosen.folder.is_dir():
        raise UsageError(f"{chosen.folder} is no folder")
    for name, text in _files(chosen.ci):
        path = chosen.folder / name
        if path.exists():
            print(f"kept     {path}")
        else:
            write(path, text)
            print(f"written  {path}")
    at = "" if chosen.folder == Path() else f"cd {chosen.folder} && "
    print(f"run it with: {at}pytest benchmarks")
    return 0


def _files(kind: str) -> Iterator[tuple[str, str]]:
    yield "fcbench.yaml", _CONFIGURATION
    for path in sorted(_benchmarks().glob("*.py")):
        yield f"benchmarks/{path.name}", path.read_text(encoding="utf-8")
    if workflow := WORKFLOWS[kind]:
        yield workflow


def _benchmarks() -> Path:
    """The test modules: in the package where it was installed, beside it in a checkout."""
    package = Path(pytest_fcbench.__file__).parent
    return inside if (inside := package / "benchmarks").is_dir() else package.parent / "benchmarks"
