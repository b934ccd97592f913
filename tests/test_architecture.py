"""The rooms of ARCHITECTURE.md hold: who imports whom, and what is never done."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "pytest_fcbench"
SOURCES = sorted(PACKAGE.rglob("*.py"))

ROOMS = {
    "prompt_formats": set(),
    "entries": {"prompt_formats"},
    "answers": {"entries"},
    "verdicts": set(),
    "errors": set(),
    "arithmetic": set(),
    "options": set(),
    "sharding": {"entries"},
    "extras": {"errors"},
    "redaction": set(),
    "prices": set(),
    "codecs": {"entries", "answers", "prompt_formats"},
    "conversation": {"entries", "answers", "codecs"},
    "environments": {"arithmetic", "entries", "codecs"},
    "matchers": {
        "entries",
        "answers",
        "verdicts",
        "codecs",
        "schemas",
        "environments",
        "executables",
        "judges",
    },
    "executables": {"arithmetic", "entries", "codecs", "web"},
    "schemas": {"entries"},
    "suites": {
        "entries",
        "answers",
        "codecs",
        "environments",
        "errors",
        "executables",
        "describing",
        "prompt_formats",
        "schemas",
        "web",
    },
    "models": {
        "entries",
        "answers",
        "errors",
        "codecs",
        "complexeval",
        "conversation",
        "describing",
        "environments",
        "suites",
        "config",
        "extras",
        "redaction",
        "scorecard",
        "web",
    },
    "dispatch": {"entries", "answers", "errors", "conversation", "models", "prices", "redaction"},
    "describing": {"entries", "errors"},
    "web": {"errors", "extras", "redaction"},
    "searching": {"entries", "answers", "conversation", "environments"},
    "selection": {"entries", "config", "errors", "matchers", "suites"},
    "others": {"entries", "answers", "config", "models", "scorecard", "suites", "web"},
    "judges": {"entries", "answers", "verdicts", "codecs", "conversation"},
    "complexeval": {
        "entries",
        "answers",
        "schemas",
        "verdicts",
        "codecs",
        "conversation",
        "judges",
        "matchers",
    },
    "asking": {
        "entries",
        "answers",
        "verdicts",
        "conversation",
        "complexeval",
        "environments",
        "errors",
        "executables",
        "judges",
        "matchers",
        "searching",
        "suites",
    },
    "auditing": {
        "entries",
        "answers",
        "verdicts",
        "errors",
        "schemas",
        "codecs",
        "conversation",
        "environments",
        "executables",
        "matchers",
        "asking",
        "suites",
        "models",
        "scorecard",
        "charts",
    },
    "diagnosis": {
        "entries",
        "answers",
        "verdicts",
        "errors",
        "environments",
        "matchers",
        "judges",
        "scorecard",
    },
    "server": {
        "entries",
        "answers",
        "errors",
        "codecs",
        "conversation",
        "asking",
        "suites",
        "models",
        "verdicts",
        "web",
    },
    "charts": {"verdicts"},
    "scorecard": {
        "arithmetic",
        "entries",
        "answers",
        "verdicts",
        "errors",
        "conversation",
        "prices",
        "prompt_formats",
        "charts",
        "sharding",
    },
    "contamination": {
        "entries",
        "answers",
        "verdicts",
        "errors",
        "models",
        "redaction",
        "scorecard",
        "charts",
    },
    "report": {"entries", "answers", "verdicts", "errors", "scorecard", "prices", "charts"},
    "official": {
        "arithmetic",
        "entries",
        "answers",
        "verdicts",
        "codecs",
        "environments",
        "executables",
        "matchers",
        "prompt_formats",
        "scorecard",
    },
    "config": {
        "entries",
        "answers",
        "verdicts",
        "errors",
        "codecs",
        "options",
        "prices",
        "scorecard",
        "sharding",
        "suites",
    },
}
"""Which rooms a room may import; the others (run, plugin, commands, cli) stand on top."""

ONLY = {
    "pytest": {f"plugin/{name}.py" for name in ("__init__", "benchmark", "pointed", "showing", "workers")},
    "aiohttp": {"server/app.py", "models/http.py"},
    "httpx": {"suites/packs/hub.py"},
    "huggingface_hub": {"suites/packs/hub.py"},
    "litellm": {"models/litellm.py"},
    "tree_sitter": {"codecs/trees.py", "codecs/java.py", "codecs/javascript.py"},
    "tree_sitter_java": {"codecs/trees.py"},
    "tree_sitter_javascript": {"codecs/trees.py"},
    "matplotlib": {"charts/drawing.py", "charts/plots.py"},
    "mpmath": {"environments/math.py"},
    "scipy": set(),
    "safetensors": {"models/sentences.py"},
    "tokenizers": {"models/sentences.py"},
    "rapidfuzz": set(),
    "numpy": {
        "auditing/duplicates.py",
        "scorecard/formats.py",
        "scorecard/paired.py",
        "contamination/comparison.py",
        "models/sentences.py",
    },
    "jinja2": {"report/page.py"},
    "pydantic": {"describing/code.py"},
    "docstring_parser": {"describing/code.py"},
    "sqlglot": {"matchers/sql/statements.py"},
    "bs4": {"web/reading.py"},
    "markdownify": {"web/reading.py"},
    "ddgs": {"web/search.py"},
    "bfcl_eval": set(),
    "requests": {"web/client.py"},
    "resource": {"executables/child.py"},
    "subprocess": {"executables/pool.py", "suites/packs/wheel.py"},
    "urllib3": {"web/client.py"},
}
"""Which files may import a package."""


def imports(path: Path) -> Iterator[str]:
    """Dotted names of everything a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(dotted: str) -> str:
    return dotted.split(".")[1] if "." in dotted else ""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    name = path.relative_to(PACKAGE).as_posix()
    own = name.split("/")[0].removesuffix(".py")
    for imported in imports(path):
        top = imported.split(".")[0]
        if top in ONLY:
            assert name in ONLY[top], f"{name} imports {imported}"
        if top == "pytest_fcbench" and own in ROOMS and room(imported) != own:
            assert room(imported) in ROOMS[own], f"{name} imports {imported}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_text_is_ever_evaluated(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("eval", "exec", "compile", "__import__"), f"line {node.lineno}"


PARSING = "codecs/python_syntax.py"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_python_text_is_parsed_in_one_place(path: Path) -> None:
    """Elsewhere other threads could make it fail, and filters of warnings could be left behind."""
    name = path.relative_to(PACKAGE).as_posix()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="ast"), attr="parse" | "unparse")):
                assert name == PARSING, f"line {node.lineno}"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="ast"), attr="literal_eval"), args=[given]):
                assert name == PARSING or ast.unparse(given) == "node", f"line {node.lineno}: a text?"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="warnings"), attr="catch_warnings")):
                assert name == "charts/drawing.py", f"line {node.lineno}"


def test_matchers_start_no_process() -> None:
    """They know what became of calls, not how they are carried out."""
    named = {name for path in PACKAGE.glob("matchers/**/*.py") for name in imports(path)}
    used = {name.rpartition(".")[0] for name in named if room(name) == "executables"}
    assert used == {"pytest_fcbench.executables.outcomes"}


ENVIRONMENTS = sorted((PACKAGE / "environments").glob("*.py"))


@pytest.mark.parametrize("path", ENVIRONMENTS, ids=lambda path: path.stem)
def test_environments_know_nothing_outside_themselves(path: Path) -> None:
    """No file, no network, no process, no clock; chance only from a seed."""
    outside = {"io", "locale", "os", "pathlib", "secrets", "shutil", "socket", "subprocess", "sys", "time"}
    assert not outside & {imported.split(".")[0] for imported in imports(path)}
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
                assert name not in ("now", "open", "today", "utcnow", "SystemRandom"), f"line {node.lineno}"


def test_only_what_draws_loads_matplotlib() -> None:
    """Commands, tables and the plugin do without; a page with charts brings it when it is written."""
    rooms = ("charts/pages", "commands/*", "contamination/*", "plugin/*", "scorecard/*")
    paths = (path for room in rooms for path in PACKAGE.glob(f"{room}.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    code = f"import sys, {', '.join(names)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "matplotlib" not in done.stdout.split()
    assert "pytest_fcbench.commands.report" in done.stdout.split()


def test_the_import_rules_can_fail(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("import litellm\nfrom pytest_fcbench.scorecard import gate\n")
    assert list(imports(path)) == ["litellm", "pytest_fcbench.scorecard.gate"]
    assert room("pytest_fcbench.scorecard.gate") == "scorecard"


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
        "    assert ours == {'pytest_fcbench', 'pytest_fcbench.plugin', 'pytest_fcbench.options'}\n"
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
