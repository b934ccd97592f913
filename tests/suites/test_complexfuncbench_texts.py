"""The official texts are read from a clone without running it, and kept in the cache."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.domain.errors import PackError
from pytest_fcbench.kinds.golden_path.wording import PathWording
from pytest_fcbench.suites import packs
from pytest_fcbench.suites.complexfuncbench_texts import (
    CODE,
    COMMIT,
    list_changed_texts,
    read_code,
    read_wording,
)

RUNNER = """
raise SystemExit("a clone is parsed, never run")

class ModelRunner:
    def __init__(self, args, logger):
        self.error_message = None
        self.unexpect_call_resp = {"api_status": True, "content": "Nay, try øther words."}
"""
COMPARISON = """
raise SystemExit("a clone is parsed, never run")

class CompareFCBase:
    def format_check(self, func_call, functions):
        if func_call['name'] not in functions:
            return {"error": f"{func_call['name']} is {{unheard}} of."}
        used_func = functions[func_call['name']]
        if missing_param:
            return {"error": f"{used_func['name']} wants {required_params}, "
                    f"has {list(func_call['arguments'].keys())}, lacks {missing_param}."}
        if surplus:
            return {"error": f"{used_func['name']} knows no {missing_param}."}
        for param_name in surplus:
            if kind == "string":
                if not isinstance(param_value, str):
                    return {"error": f"{param_name} of {used_func['name']}: text, no {type(param_value)}."}
            elif kind == "number":
                return {"error": f"{param_name} of {used_func['name']}: number, no {type(param_value)}."}
            elif kind == "boolean":
                return {"error": f"{param_name} of {used_func['name']}: truth, no {type(param_value)}."}
            elif kind == "array":
                return {"error": f"{param_name} of {used_func['name']}: row, no {type(param_value)}."}
        return True

    def other(self):
        return {"error": f"{self} is no sentence about forms."}
"""
COMPARE = '''
from nowhere import SimpleTemplatePrompt

system_prompt = """Alike or not?"""
user_prompt = SimpleTemplatePrompt(
    template=("""[args1] [args2]
[args3] [args4]"""
), args_order=["functions", "history", "function_call_1", "function_call_2"])
'''
RESPONSE = """
complete_system_prompt = "Whole?"
complete_user_prompt = SimpleTemplatePrompt(template="[args1] [args2]", args_order=["query", "gen_response"])
correct_system_prompt = "True?"
correct_user_prompt = SimpleTemplatePrompt(
    template="[args1]: [args2]", args_order=["history", "gen_response"]
)
"""
FILES = {
    "runner/base_runner.py": RUNNER,
    "utils/compare_method.py": COMPARISON,
    "prompts/compare.py": COMPARE,
    "prompts/response.py": RESPONSE,
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository in the shape of the official one, with sentences of our own."""
    folder = tmp_path / "clone"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_texts_are_read_and_nothing_is_run(clone: Path) -> None:
    wording = read_code(clone)
    assert wording.wrong_call == '{"api_status": true, "content": "Nay, try øther words."}'
    assert wording.refusals == {
        "unknown_function": "{function} is {{unheard}} of.",
        "missing": "{function} wants {required}, has {given}, lacks {names}.",
        "surplus": "{function} knows no {names}.",
        "string": "{parameter} of {function}: text, no {type}.",
        "number": "{parameter} of {function}: number, no {type}.",
        "boolean": "{parameter} of {function}: truth, no {type}.",
        "array": "{parameter} of {function}: row, no {type}.",
    }
    assert wording.equivalence.system == "Alike or not?"
    assert (
        wording.equivalence.fill(
            {"functions": "F", "history": "H", "function_call_1": "1", "function_call_2": "2"}
        )
        == "F H\n1 2"
    )
    assert wording.completeness.fill({"query": "Q", "gen_response": "R"}) == "Q R"
    assert wording.correctness.fill({"history": "H", "gen_response": "R"}) == "H: R"


def test_a_value_with_a_place_in_it_is_filled_by_a_later_value(clone: Path) -> None:
    """Officially too, and prompts have to be equal."""
    prompt = read_code(clone).completeness
    assert prompt.fill({"query": "[args2]", "gen_response": "R"}) == "R R"


def test_texts_of_another_version_are_named_by_their_hash(clone: Path) -> None:
    wording = read_code(clone)
    assert wording.version != COMMIT
    assert len(wording.version) == 12
    assert list_changed_texts(wording) == [
        "wrong_call",
        *(f"refusals.{name}" for name in wording.refusals),
        "equivalence",
        "completeness",
        "correctness",
    ]
    path = clone / "prompts/compare.py"
    path.write_text(COMPARE.replace("Alike", "alike"), encoding="utf-8")
    assert read_code(clone).version != wording.version


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("runner/base_runner.py", "unexpect_call_resp", "other", "assigns no unexpect_call_resp"),
        ("runner/base_runner.py", '"Nay, try øther words."', "args", "the value is not a literal"),
        ("runner/base_runner.py", "class", "klass", "it cannot be parsed"),
        ("utils/compare_method.py", "if surplus:", "if surplus", "it cannot be parsed"),
        ("utils/compare_method.py", "def format_check", "def check", "has 0 sentences, not 7"),
        (
            "utils/compare_method.py",
            "{missing_param}",
            "{missing_param!r}",
            "a sentence contains an unknown value",
        ),
        (
            "utils/compare_method.py",
            "{missing_param}",
            "{__import__('os')}",
            "a sentence contains an unknown value",
        ),
        ("prompts/compare.py", "system_prompt =", "other_prompt =", "it has no system_prompt"),
        ("prompts/compare.py", "user_prompt =", "other_prompt =", "it has no user_prompt"),
        ("prompts/response.py", '"query"', '"secret"', "its complete_user_prompt has an unexpected form"),
    ],
)
def test_another_shape_is_refused_with_its_file(
    clone: Path, file: str, old: str, new: str, told: str
) -> None:
    assert old in FILES[file]
    (clone / file).write_text(FILES[file].replace(old, new), encoding="utf-8")
    with pytest.raises(PackError) as error:
        read_code(clone)
    assert str(error.value).startswith(str(clone / file))
    assert told in str(error.value)
    assert COMMIT in str(error.value)


def test_a_folder_that_is_no_clone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackError, match=r"base_runner\.py: No such file.*give the folder of a clone"):
        read_code(tmp_path)


def test_a_huge_file_is_refused(clone: Path) -> None:
    (clone / "prompts/compare.py").write_bytes(b"#" * (2**20 + 1))
    with pytest.raises(PackError, match="it has more than 1048576 bytes; use a clone"):
        read_code(clone)


# The cache


def test_texts_are_kept_in_the_cache(clone: Path, tmp_path: Path) -> None:
    assert read_wording(tmp_path) is None
    pack = packs.pull(CODE, tmp_path, clone)
    found = read_wording(tmp_path)
    assert isinstance(found, PathWording)
    assert found == read_code(clone)
    assert found.version == pack.version
    # The data have a folder of their own, so a new pull of them leaves the texts.
    assert pack.folder == tmp_path / "packs" / "complexfuncbench" / "code"


@pytest.mark.parametrize("content", [b"{}", b"\xff"])
def test_damaged_texts_are_told_with_the_way_out(clone: Path, tmp_path: Path, content: bytes) -> None:
    pack = packs.pull(CODE, tmp_path, clone)
    (pack.folder / "texts.json").write_bytes(content)
    with pytest.raises(PackError, match="are damaged; run 'fcbench pull complexfuncbench --code PATH'"):
        read_wording(tmp_path)


def test_texts_can_only_come_from_a_clone(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="from a clone only; name it with --code"):
        packs.pull(CODE, tmp_path)


# The command


def test_the_command_reads_texts_and_tells_what_has_changed(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(tmp_path / "cache"))
    assert main.main(["pull", "complexfuncbench", "--code", str(clone)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("texts of THUDM/ComplexFuncBench ")
    assert told[1].startswith(f"CHANGED since commit {COMMIT}: wrong_call, refusals.unknown_function")
    assert json.loads((tmp_path / "cache/packs/complexfuncbench/code/pack.json").read_bytes())["version"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["bfcl"], "applies only to complexfuncbench; leave it out with bfcl"),
        (["complexfuncbench", "--revision=main"], "reads texts and no data"),
        (["complexfuncbench", "--from=x.jsonl"], "reads texts and no data"),
    ],
)
def test_the_option_goes_with_no_others(
    arguments: list[str], told: str, clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="4"):
        main.main(["pull", *arguments, "--code", str(clone)])
    assert told in capsys.readouterr().err
