"""The search for the folder of a project, which commands and runs of pytest share."""

from __future__ import annotations

from pathlib import Path

from pytest_fcbench.config.project import find_project, find_top
from tests.factories import write_tree


def test_the_nearest_file_of_the_first_place_counts(tmp_path: Path) -> None:
    write_tree(tmp_path, {"fcbench.yaml": "", "one/fcbench.yaml": "", "other/deep/test.py": ""})
    assert find_project([tmp_path / "one/deep", tmp_path], tmp_path) == tmp_path / "one"
    assert find_project([tmp_path / "other/deep", tmp_path / "one"], tmp_path) == tmp_path
    assert find_project([tmp_path / "other/deep"], tmp_path / "other") is None


def test_the_top_is_that_of_the_repository_or_one_folder_above(tmp_path: Path) -> None:
    deep = tmp_path / "one" / "two" / "three"
    assert find_top(deep) == deep.parent
    (tmp_path / "one/.git").mkdir(parents=True)
    assert find_top(deep) == tmp_path / "one"
