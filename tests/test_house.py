"""The figures of the structure are counted as their definitions say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house import (
    build_import_graph,
    count_code_lines,
    count_generator_drivers,
    find_dispatchers,
    find_nodes,
    find_room_arrows,
    measure_house,
)

FILES = {
    "__init__.py": '"""Package."""\n',
    "low.py": '"""Low."""\n\n# a comment\nX = (\n    1,\n)\nTEXT = """one\ntwo"""\n',
    "high/__init__.py": "",
    "high/one.py": (
        "from pytest_fcbench.low import X\n"
        "def run(g):\n"
        "    try:\n"
        "        g.send(X)\n"
        "    except StopIteration:\n"
        "        pass\n"
    ),
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "pytest_fcbench" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_docstrings_and_comments_are_no_code(package: Path) -> None:
    assert count_code_lines(package / "pytest_fcbench" / "low.py") == 5
    assert count_code_lines(package / "pytest_fcbench" / "__init__.py") == 0


def test_arrows_and_drivers_are_counted(package: Path) -> None:
    assert find_room_arrows(build_import_graph(package)) == {("high", "low")}
    assert count_generator_drivers(package) == 1
    figures = measure_house(package)
    assert (figures["rooms"], figures["floors"], figures["files in circles"]) == (2, 2, 0)


@pytest.mark.parametrize(
    "line",
    [
        "if isinstance(entry.expectation, (Path, Words)): ...",
        "match entry.expectation:\n    case Words(): ...",
        "if entry.kind == 'words': ...",
    ],
)
def test_a_file_that_asks_for_the_class_of_a_right_answer_is_a_dispatcher(package: Path, line: str) -> None:
    folder = package / "pytest_fcbench"
    (folder / "low.py").write_text("class Words(Expectation): ...\n", encoding="utf-8")
    for name in ("kinds", "suites"):
        (folder / name).mkdir()
        (folder / name / "known.py").write_text(line, encoding="utf-8")
    assert find_dispatchers(package) == []
    (folder / "asking.py").write_text(line, encoding="utf-8")
    assert find_dispatchers(package) == ["asking.py"]


def test_folders_that_import_each_other_are_a_circle_though_their_files_are_none(package: Path) -> None:
    texts = {"a/one": "", "a/two": "from pytest_fcbench.high.b import four", "b/three": "", "b/four": ""}
    for name, text in texts.items():
        path = package / "pytest_fcbench" / "high" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert measure_house(package)["folders in circles"] == 0
    (package / "pytest_fcbench" / "high" / "b" / "three.py").write_text("import pytest_fcbench.high.a.one")
    find_nodes.cache_clear()
    figures = measure_house(package)
    assert (figures["files in circles"], figures["folders in circles"]) == (0, 2)
