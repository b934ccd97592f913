"""The commit of a folder, as git itself tells it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_fcbench.run.git_commit import read_git_commit

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def run_git(folder: Path, *words: str) -> str:
    settings = ("-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *settings, *words], cwd=folder, capture_output=True, text=True, check=True, env=own
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "inside").mkdir(parents=True)
    run_git(folder, "init", "-q")
    run_git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


def test_a_branch(repository: Path) -> None:
    expected = run_git(repository, "rev-parse", "HEAD")
    assert read_git_commit(repository) == read_git_commit(repository / "inside") == expected


def test_a_commit_without_a_branch(repository: Path) -> None:
    run_git(repository, "checkout", "-q", "--detach")
    run_git(repository, "commit", "-q", "--allow-empty", "-m", "two")
    assert read_git_commit(repository) == run_git(repository, "rev-parse", "HEAD")


def test_packed_references(repository: Path) -> None:
    run_git(repository, "pack-refs", "--all")
    assert read_git_commit(repository) == run_git(repository, "rev-parse", "HEAD")


def test_a_worktree(repository: Path) -> None:
    run_git(repository, "worktree", "add", "-q", "-b", "other", "../worktree")
    folder = repository.parent / "worktree"
    run_git(folder, "commit", "-q", "--allow-empty", "-m", "two")
    found = read_git_commit(folder)
    assert found == run_git(folder, "rev-parse", "HEAD")
    assert found != read_git_commit(repository)


def test_no_repository_and_a_repository_without_a_commit(tmp_path: Path) -> None:
    assert read_git_commit(tmp_path) is None
    run_git(tmp_path, "init", "-q")
    assert read_git_commit(tmp_path) is None
    (tmp_path / ".git" / "HEAD").write_text("nonsense")
    assert read_git_commit(tmp_path) is None
