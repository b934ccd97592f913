"""The rooms of ARCHITECTURE.md hold: who imports whom, and what is never done."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.conftest import ROOT
from tests.factories import make_record, write_scorecard
from tests.house import (
    IMPORTERS,
    PAGE,
    ROOMS,
    build_folder_graph,
    build_import_graph,
    count_floors,
    find_circles,
    find_dispatchers,
    find_imported_names,
    find_nodes,
    find_room,
    find_room_arrows,
    replace_tables,
)

PACKAGE = ROOT / "pytest_fcbench"
SOURCES = sorted(PACKAGE.rglob("*.py"))


@pytest.fixture(scope="module", autouse=True)
def _forget_parsed_files() -> Iterator[None]:
    """Free the millions of nodes when these tests are over."""
    yield
    find_nodes.cache_clear()


def _name_file(path: Path) -> str:
    """Return the name of a file in the package, as tables and lists of offenders have it."""
    return path.relative_to(PACKAGE).as_posix()


def test_imports_point_one_way() -> None:
    offenders = []
    for path in SOURCES:
        name = _name_file(path)
        own = name.split("/")[0].removesuffix(".py")
        for imported in find_imported_names(path):
            top, room = imported.split(".")[0], find_room(imported)
            foreign = top in IMPORTERS and name not in IMPORTERS[top]
            upwards = top == "pytest_fcbench" and own in ROOMS and room not in {"", own, *ROOMS[own].imports}
            if foreign or upwards:
                offenders.append(f"{name} imports {imported}")
    assert offenders == []


def test_the_table_of_rooms_is_what_the_code_has() -> None:
    """No room is missing or left over, and no arrow is allowed that nobody needs."""
    arrows = find_room_arrows(build_import_graph())
    assert {room for arrow in arrows for room in arrow} == set(ROOMS)
    assert {(name, target) for name, room in ROOMS.items() for target in room.imports} == arrows


def test_rooms_import_downwards_only() -> None:
    order = list(ROOMS)
    for name, room in ROOMS.items():
        assert room.imports <= set(order[: order.index(name)]), name


def test_no_files_import_each_other() -> None:
    assert find_circles(build_import_graph()) == []


def test_each_class_has_a_name_of_its_own() -> None:
    classes = [node.name for path in SOURCES for node in find_nodes(path) if isinstance(node, ast.ClassDef)]
    assert [name for name, count in Counter(classes).items() if count > 1] == []


def test_no_folders_of_a_room_import_each_other() -> None:
    assert find_circles(build_folder_graph()) == []


def test_architecture_page_shows_the_table_of_rooms() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == replace_tables(page), "run: python -m tests.house --write"


def test_circles_and_floors_are_found() -> None:
    circle = {"a": frozenset({"b"}), "b": frozenset({"a"}), "c": frozenset({"a"})}
    assert find_circles(circle) == [frozenset({"a", "b"})]
    assert count_floors(frozenset({("a", "b"), ("b", "c"), ("a", "c")})) == 3


def test_no_text_is_ever_evaluated() -> None:
    evaluating = ("eval", "exec", "compile", "__import__")
    assert [
        f"{_name_file(path)}:{node.lineno}"
        for path in SOURCES
        for node in find_nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in evaluating
    ] == []


PARSING = "codecs/python_syntax.py"


def _parses_text(name: str, node: ast.AST) -> bool:
    """Whether Python text is parsed, or a filter of warnings set, in a file that has no part in it."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="ast"), attr="parse" | "unparse")):
            return name != PARSING
        case ast.Call(func=ast.Attribute(value=ast.Name(id="ast"), attr="literal_eval"), args=[given]):
            return name != PARSING and ast.unparse(given) != "node"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="warnings"), attr="catch_warnings")):
            return name != "tools/export/png.py"
    return False


def test_python_text_is_parsed_in_one_place() -> None:
    """Elsewhere other threads could make it fail, and filters of warnings could be left behind."""
    assert [
        f"{name}: {ast.unparse(node)}"
        for name, path in zip(map(_name_file, SOURCES), SOURCES, strict=True)
        for node in find_nodes(path)
        if _parses_text(name, node)
    ] == []


def test_only_kinds_know_the_classes_of_right_answers() -> None:
    """Whoever needs to know what is right asks the kind of the entry."""
    assert find_dispatchers() == []


def test_verdicts_start_no_process() -> None:
    """They know what became of calls, not how they are carried out."""
    named = {
        name
        for path in PACKAGE.glob("kinds/**/*.py")
        for name in find_imported_names(path)
        if not path.name.endswith("entries.py")
    }
    used = {name.rpartition(".")[0] for name in named if find_room(name) == "execution"}
    assert used == {"pytest_fcbench.execution.outcomes"}


def test_environments_know_nothing_outside_themselves() -> None:
    """No file, no network, no process, no clock; chance only from a seed."""
    outside = {"io", "locale", "os", "pathlib", "secrets", "shutil", "socket", "subprocess", "sys", "time"}
    forbidden = ("now", "open", "today", "utcnow", "SystemRandom")
    offenders = []
    for path in (PACKAGE / "environments").rglob("*.py"):
        imported = {name.split(".")[0] for name in find_imported_names(path)}
        offenders += [f"{_name_file(path)} imports {name}" for name in outside & imported]
        for node in find_nodes(path):
            match node:
                case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in forbidden:
                    offenders.append(f"{_name_file(path)}:{node.lineno} calls {name}")
    assert offenders == []


def test_only_what_draws_loads_matplotlib() -> None:
    """Commands, pages and the plugin do without; a chart as PNG brings it when it is written."""
    rooms = ("present/**/*", "cli/**/*", "tools/contamination*", "plugin/*", "scorecard/*")
    paths = (path for room in rooms for path in PACKAGE.glob(f"{room}.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    code = f"import sys, {', '.join(names)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "matplotlib" not in done.stdout.split()
    assert "pytest_fcbench.cli.run.pages" in done.stdout.split()


def test_results_are_loaded_without_pandas(tmp_path: Path) -> None:
    path = write_scorecard(tmp_path / "scorecard.json", [make_record()])
    code = f"import sys, pytest_fcbench; pytest_fcbench.load({str(path)!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pandas", "pyarrow", "matplotlib"} & {*done.stdout.split()}
    assert "pytest_fcbench.scorecard.rows" in done.stdout.split()


def test_the_import_rules_can_fail(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("import litellm\nfrom pytest_fcbench.scorecard import gate\n")
    assert list(find_imported_names(path)) == ["litellm", "pytest_fcbench.scorecard.gate"]
    assert find_room("pytest_fcbench.scorecard.gate") == "scorecard"


HEAVY = (
    "litellm",
    "openai",
    "aiohttp",
    "tree_sitter",
    "matplotlib",
    "numpy",
    "scipy",
    "rapidfuzz",
    "pydantic",
    "yaml",
    "mpmath",
    "jinja2",
    "httpx",
    "bs4",
    "markdownify",
    "sqlglot",
    "huggingface_hub",
    "requests",
)


def test_an_unrelated_run_loads_nothing_heavy(tmp_path: Path) -> None:
    """Installed but unused: no heavy import, no output, no file, no marks, no fixtures."""
    (tmp_path / "test_plain.py").write_text(
        "import sys\n"
        "def test_plain(request):\n"
        f"    assert [name for name in {HEAVY!r} if name in sys.modules] == []\n"
        "    ours = {m for m in sys.modules if m.startswith('pytest_fcbench')}\n"
        "    assert ours == {'pytest_fcbench', 'pytest_fcbench.plugin', 'pytest_fcbench.plugin.project', "
        "'pytest_fcbench.config', 'pytest_fcbench.config.options', 'pytest_fcbench.config.options'}\n"
        "    assert [mark.name for mark in request.node.iter_markers()] == []\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:hypothesispytest",
        "--fixtures",
    ]
    fixtures = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "fcbench" not in fixtures.stdout.split("collected")[-1]
    done = subprocess.run(command[:-1], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    report = [
        line for line in done.stdout.splitlines() if "fcbench" in line and not line.startswith("plugins:")
    ]
    assert report == []
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == ["test_plain.py"]


PURE = ("domain", "codecs", "environments", "judging", "kinds", "scorecard")
OUTSIDE = frozenset(
    [
        "aiohttp",
        "asyncio",
        "ftplib",
        "glob",
        "http",
        "httpx",
        "importlib.util",
        "io",
        "locale",
        "os",
        "pathlib",
        "requests",
        "secrets",
        "select",
        "shutil",
        "smtplib",
        "socket",
        "sqlite3",
        "ssl",
        "subprocess",
        "sys",
        "tempfile",
        "time",
        "urllib.request",
        "urllib3",
    ]
)
"""Modules of the network, of files, of processes and of the clock."""
EXCEPTIONS = {
    "domain/registry.py": ({"importlib.util"}, "looks whether a package is installed, without importing it"),
    "domain/paths.py": ({"os", "pathlib"}, "tells whether what a user wrote is a path"),
    "domain/tables.py": ({"pathlib"}, "reads tables of the package beside the modules that use them"),
    "domain/redaction.py": ({"os"}, "takes values of secret-looking environment variables out of texts"),
    "codecs/function_docs/python_code.py": ({"pathlib", "sys"}, "imports the code of a team's functions"),
    "judging/gazetteer.py": ({"pathlib"}, "reads its tables of names from the package"),
    "judging/questions.py": ({"pathlib"}, "reads what judges are told from the package"),
    "kinds/answers/web_pages.py": (
        {"pathlib"},
        "reads the pages that a suite serves to questions about them",
    ),
    "kinds/kind.py": ({"pathlib"}, "names the folder of these pages"),
    "kinds/entry_files.py": ({"pathlib"}, "reads files of entries"),
    "kinds/golden_path/listings.py": ({"pathlib"}, "reads what replies are made of from the package"),
    "kinds/server_turns/entries.py": ({"pathlib"}, "looks at paths in the folder of a server; opens none"),
    "kinds/sql/corrected.py": ({"sqlite3"}, "puts the rows of a question into a database in memory"),
    "scorecard/scorecard_files.py": ({"pathlib"}, "reads scorecards and baselines"),
    "scorecard/rows.py": ({"os", "pathlib"}, "takes the path of a scorecard of any kind"),
    "scorecard/compare/merging.py": ({"pathlib"}, "names the scorecards that it joins by their paths"),
    "present/run_end.py": ({"pathlib", "secrets"}, "adds to GitHub's file; ends quotes by a secret mark"),
    "present/html/templates.py": ({"pathlib"}, "reads templates, style and script from the package"),
    "present/html/sections.py": ({"pathlib"}, "names scorecards by their paths; opens none"),
    "present/charts/drawing.py": ({"pathlib"}, "reads colours from the package"),
    "present/tables.py": ({"io"}, "writes CSV into a text in memory"),
}
"""Files of these rooms that import such a module all the same, and why."""


def _outside(path: Path) -> set[str]:
    """Return the modules of ``OUTSIDE`` that a file imports."""
    names = set(find_imported_names(path))
    return {module for module in OUTSIDE if any(f"{name}.".startswith(f"{module}.") for name in names)}


@each_case("room", PURE)
def test_rooms_without_input_and_output(room: str) -> None:
    """No network, no file, no process and no clock but in the exceptions, all of which are needed."""
    found = {
        path.relative_to(PACKAGE).as_posix(): outside
        for path in sorted((PACKAGE / room).rglob("*.py"))
        if (outside := _outside(path))
    }
    assert found == {
        name: modules for name, (modules, _) in EXCEPTIONS.items() if name.startswith(f"{room}/")
    }
    for path in (PACKAGE / room).rglob("*.py"):
        opens = path.relative_to(PACKAGE).as_posix() in EXCEPTIONS
        for node in find_nodes(path):
            match node:
                case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
                    assert name not in ("now", "today", "utcnow"), f"{path}:{node.lineno}"
                    assert opens or name != "open", f"{path}:{node.lineno}"


def test_input_and_output_are_found(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("import os.path\nfrom urllib.request import urlopen\nfrom urllib.parse import quote\n")
    assert _outside(path) == {"os", "urllib.request"}
