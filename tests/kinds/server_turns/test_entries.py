"""Files of entries whose calls act on an MCP server."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pytest_fcbench.domain.entry import Entry, ServerProgram
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.kinds.entry_files import read_entries
from pytest_fcbench.kinds.state.verdict import Trajectory
from tests.cases import each_case
from tests.mcp_servers import shelf

PROGRAM: dict[str, object] = {
    "command": "python 'my server.py' --fast",
    "variables": ["TOKEN"],
    "files": {"a/b.txt": "c"},
    "setup": ["git init -q ."],
    "timeout": 5.0,
}
ENTRY: dict[str, object] = {
    "id": "mcp_0",
    "functions": ["put-goods"],
    "turns": [{"user": "Put tea.", "calls": ["put-goods(name='tea', count=2)"]}],
    "probes": ["describe_shelf()"],
    "masks": ["[0-9]+"],
}
FILE: dict[str, object] = {
    "category": "mcp",
    "environment": {"mcp": "uvx shelf"},
    "server": {"source": "mcp:uvx shelf", "version": "1"},
    "functions": shelf.TOOLS,
    "probes": ["count_goods(name='tea')"],
    "volatile": ["asked_at"],
    "entries": [ENTRY],
}


def read_entry(tmp_path: Path, **changed: object) -> Entry:
    path = tmp_path / "mcp.yaml"
    path.write_text(yaml.safe_dump({**FILE, **changed}, sort_keys=False))
    return read_entries(path, "own")[0]


def test_an_entry_has_the_program_and_what_shows_its_state(tmp_path: Path) -> None:
    entry = read_entry(tmp_path)
    assert entry.scene
    assert entry.scene.server
    state = entry.scene.server
    assert state.program == ServerProgram(("uvx", "shelf"))
    assert state.probes == ("count_goods(name='tea')", "describe_shelf()")
    assert state.volatile == frozenset(["asked_at"])
    assert state.masks == ("[0-9]+",)
    assert [doc.name for doc in entry.functions] == ["put-goods"]
    assert entry.expectation == Trajectory((("put-goods(name='tea', count=2)",),))


def test_an_entry_may_have_a_server_of_its_own(tmp_path: Path) -> None:
    entry = read_entry(tmp_path, entries=[{**ENTRY, "environment": {"mcp": PROGRAM}}])
    assert entry.scene
    assert entry.scene.server
    assert entry.scene.server.program == ServerProgram(
        ("python", "my server.py", "--fast"),
        ("TOKEN",),
        {"a/b.txt": "c"},
        (("git", "init", "-q", "."),),
        5.0,
    )


def test_all_tools_are_offered_where_an_entry_names_none(tmp_path: Path) -> None:
    entry = read_entry(tmp_path, entries=[{key: ENTRY[key] for key in ("id", "turns")}])
    assert [doc.name for doc in entry.functions] == [tool["name"] for tool in shelf.TOOLS]


@each_case(
    ("changed", "told"),
    [
        ({"environment": {"mcp": ""}}, "environment.mcp: an MCP server is given as"),
        ({"environment": {"mcp": "uvx 'a"}}, "cannot be split"),
        ({"environment": {"mcp": {"command": "a", "files": {"../x": ""}}}}, "within the folder"),
        ({"environment": {"mcp": {"command": "a", "files": {"/x": ""}}}}, "within the folder"),
        ({"environment": {"http": "a"}}, "unknown key 'http'"),
        ({"environment": {"mcp": {"command": "a", "timeout": 0}}}, "must be above 0"),
        ({"probes": ["count_goods()"]}, "count_goods needs the parameter 'name'"),
        ({"probes": ["count(name='a')"]}, "unknown function 'count'"),
        ({"entries": [{**ENTRY, "masks": ["["]}]}, r"entries.0.masks.0: .* is not a regular expression"),
        ({"entries": [{**ENTRY, "functions": ["put"]}]}, "unknown function 'put'"),
        ({"functions": []}, "unknown function"),
        (
            {"entries": [{**ENTRY, "turns": [{"user": "a", "calls": ["describe_shelf()"]}]}]},
            "unknown function 'describe_shelf'",
        ),
        (
            {"entries": [{**ENTRY, "turns": [{"user": "a", "calls": ["put-goods(name='tea', much=2)"]}]}]},
            "unknown parameter 'much'",
        ),
        ({"entries": [{**ENTRY, "turns": [{"user": "a", "calls": ["put"]}]}]}, "must be one call"),
    ],
)
def test_mistakes_are_named_with_their_place(tmp_path: Path, changed: dict[str, object], told: str) -> None:
    with pytest.raises(SuiteError, match=told):
        read_entry(tmp_path, **changed)


def test_an_entry_without_a_server_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mcp.yaml"
    path.write_text(yaml.safe_dump({key: FILE[key] for key in FILE if key != "environment"}))
    with pytest.raises(SuiteError, match="has no 'environment'"):
        read_entries(path, "own")
