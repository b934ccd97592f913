from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_fcbench.cli.main import main
from pytest_fcbench.domain.function_doc import TYPES, Language
from pytest_fcbench.formats import function_docs
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.rows import read_row
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.kinds.golden_path import entries as golden_paths

_GARDEN = '''
def water(bed: str, litres: float = 2.5):
    """Water a bed.

    Args:
        bed: Name of the bed.
        litres: How much: "all" is not possible.
    """

def dig(depth, beds: list[str] = ()): ...
'''


@pytest.fixture(autouse=True)
def garden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "garden_sample.py").write_text(_GARDEN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "garden_sample", raising=False)
    return tmp_path


def test_what_is_written_reads_back_as_function_docs(
    garden: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["suite", "functions", "garden_sample", "--to", "docs.yaml"]) == 0

    out, err = capsys.readouterr()
    assert out == "docs.yaml: 2 functions\n"
    assert "note: dig: has no description" in err
    assert "note: dig: depth has no type, or one of several" in err
    assert "water" not in err
    file = Field(read_yaml(garden / "docs.yaml"), garden / "docs.yaml")
    rows = read_row(file, golden_paths.SharedFile).functions
    docs = function_docs.read_function_docs(rows, file.at("functions"), TYPES[Language.PYTHON])
    assert docs["water"].properties["litres"] == {
        "type": "float",
        "default": 2.5,
        "description": 'How much: "all" is not possible.',
    }
    assert docs["dig"].properties["beds"]["default"] == []


def test_sources_are_put_together_and_shown(garden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (garden / "tools.json").write_text(json.dumps([{"name": "now"}]))

    assert main(["suite", "functions", "garden_sample:water", "tools.json"]) == 0

    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("- name")] == [
        "- name: water",
        "- name: now",
    ]


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["garden_sample:watre"], "unknown function of garden_sample 'watre'. Did you mean 'water'?"),
        (["garden_sample", "garden_sample:dig"], "the function 'dig' is given twice"),
        (["garden_sample.py"], "this is a file; name the module: garden_sample or garden_sample:function"),
        (["gone.json"], "gone.json: cannot be read"),
        (["garden_sample", "--to", "garden_sample.py"], "garden_sample.py already exists"),
    ],
)
def test_wrong_words_are_told(words: list[str], rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["suite", "functions", *words])
    except SystemExit as ended:
        code = int(str(ended.code))

    assert code != 0
    assert rule in capsys.readouterr().err


@pytest.mark.parametrize("content", [[], {"tools": []}, {"paths": {}}], ids=["list", "tools", "paths"])
def test_a_source_without_functions_is_an_error_that_says_why(
    garden: Path, capsys: pytest.CaptureFixture[str], content: object
) -> None:
    (garden / "empty.json").write_text(json.dumps(content))
    with pytest.raises(SystemExit) as stopped:
        main(["suite", "functions", "empty.json", "-o", "made.yaml"])
    assert stopped.value.code == 4
    assert "empty.json: there are 0 functions, because its list of tools" in capsys.readouterr().err
    assert not (garden / "made.yaml").exists()


def test_a_pattern_that_is_not_enforced_is_a_note(garden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schemas = [{"properties": {"a": {"pattern": pattern}}} for pattern in (r"^\p{L}+$", "^[a-z]+$")]
    tools = [{"name": f"f{number}", "inputSchema": schema} for number, schema in enumerate(schemas)]
    (garden / "tools.json").write_text(json.dumps(tools))
    assert main(["suite", "functions", "tools.json"]) == 0
    written, notes = capsys.readouterr()
    assert r"^\p{L}+$" in written
    assert [note for note in notes.splitlines() if "pattern" in note] == [
        r"note: f0: the pattern '^\\p{L}+$' is sent unchanged, but not enforced: Python has no form for it"
    ]
