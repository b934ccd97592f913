"""What ``fcbench run export official`` writes is what the official evaluator writes of the same results.

Runs of ours are exported, the official command evaluates the exported results, and every line and every
table must be equal but for the sentences of ``error``, ``error_message`` and ``sub_error``, for what a call
that fails in an environment says, and for the names of instances that the official executor writes.
"""

from __future__ import annotations

import ast
import csv
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.transcript import AskModel
from pytest_fcbench.kinds.answers.verdict import Answers
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.suites.suite import Suite
from tests.conftest import ROOT
from tests.parity.comparison import read_records
from tests.parity.conftest import find_oracle_files
from tests.parity.official_package import NEEDS_OFFICIAL, evaluate_results
from tests.parity.real.published import find_folder, unpack
from tests.parity.test_prompt_formats import mutate_text
from tests.parity.test_tables import MODELS, REPLAY, read_table
from tests.parity.trajectories import is_error

NEEDS_REPLAY = pytest.mark.skipif(not REPLAY.is_dir(), reason="no replay folder beside FCBENCH_ORACLE")
MUTATED = [path for path in find_oracle_files("multi_turn_mut_*.jsonl.gz") if "composite" not in path.name]

LINK = "https://openai.com/index/gpt-4o-mini-advancing-cost-efficient-intelligence/"
GPT_DETAILS = (f"--link={LINK}", "--price=0.15,0.6", "--organization=OpenAI", "--license=Proprietary")
QWEN = "Qwen/Qwen3-4B-Instruct-2507"
QWEN_DETAILS = (
    "--title=Qwen3-4B-Instruct-2507 (Prompt)",
    f"--link=https://huggingface.co/{QWEN}",
    "--price=hosted",
    "--organization=Qwen",
    "--license=apache-2.0",
)
MODES = {"fc": "gpt-4o-mini-2024-07-18-FC", "prompt": "gpt-4o-mini-2024-07-18"}
"""An official id for each mode."""


def _run_benchmarks(cache: Path, scorecard: Path, categories: str, *options: str) -> Path:
    """Return the scorecard of a run over official entries."""
    command = [sys.executable, "-m", "pytest", "benchmarks", "-q", "-p", "no:cacheprovider"]
    command += ["--fcbench-suite=bfcl", "--fcbench-store=none", f"--fcbench-scorecard={scorecard}", *options]
    command += [f"--fcbench-category={category}" for category in categories.split()]
    environment = {**os.environ, "FCBENCH_CACHE": str(cache)}
    subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True)
    return scorecard


def _export_official(cache: Path, folder: Path, scorecards: Mapping[str, Path]) -> Path:
    """Return the official formats of scorecards by the official id of the model."""
    command = [sys.executable, "-m", "pytest_fcbench.cli.main", "run", "export", "official", f"--to={folder}"]
    command += map(str, scorecards.values())
    for name in scorecards:
        command += [f"--as={name}", *(QWEN_DETAILS if name == QWEN else GPT_DETAILS)]
        if name in MODELS:
            command += [f"--title={MODELS[name]}"]
    environment = {**os.environ, "FCBENCH_CACHE": str(cache)}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def _evaluate_officially(exported: Path, root: Path) -> Path:
    """Return the exported results with the official scores."""
    root.mkdir()
    (root / "result").symlink_to(exported / "result")
    evaluate_results(root)
    return root


def find_differences(ours: Path, official: Path) -> Iterator[str]:
    """Yield every place where the score folders differ."""
    files = sorted(path.relative_to(official) for path in official.glob("score/*/**/*_score.json"))
    assert files == sorted(path.relative_to(ours) for path in ours.glob("score/*/**/*_score.json"))
    for file in files:
        found, expected = (
            [json.loads(line) for line in _read_lines(folder / file)] for folder in (ours, official)
        )
        if (ids := [row.get("id") for row in found]) != [row.get("id") for row in expected]:
            yield f"{file}: {ids}"
            continue
        for row, right in zip(found, expected, strict=True):
            if list(row) != list(right):
                yield f"{file}: {row['id']}: {list(row)}"
            for key in right:
                # As text: 1 is neither True nor 1.0, and the order of keys counts.
                if json.dumps(_without_sentences(row[key], key)) != json.dumps(
                    _without_sentences(right[key], key)
                ):
                    yield f"{file}: {row['id']}: {key}: {row[key]!r:.400} not {right[key]!r:.400}"
    for path in ours.glob("score/*.csv"):
        if path.read_text() != (official / "score" / path.name).read_text():
            yield path.name


def _read_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def _without_sentences(value: object, key: str = "") -> object:
    if key in ("error_message", "sub_error"):
        return None
    match value:
        case dict():
            return {name: _without_sentences(member, name) for name, member in value.items()}
        case list():
            kept = [member for member in value if not (key == "error" and isinstance(member, str))]
            return [_without_sentences(member) for member in kept]
        case str() if is_error(value):
            return "an error"
        case str():
            value = re.sub(r'("verification_failure": )".*"', r"\1...", value)
            # What the official executor calls its instances, which it writes into texts that name a function.
            return re.sub(r"\b\w+_instance\.(?=\w+\s*\()", "instance.", value)
    return value


def _assert_agreement(cache: Path, folder: Path, categories: str, scorecards: Mapping[str, Path]) -> int:
    """Hold the official formats of scorecards against the evaluator's, replay them, return the failures."""
    ours = _export_official(cache, folder / "ours", scorecards)
    official = _evaluate_officially(ours, folder / "official")
    assert list(find_differences(ours, official)) == []
    for name, scorecard in scorecards.items():
        replayed = f"--fcbench-model=replay:{ours / 'result' / name.replace('/', '_')}"
        again = _run_benchmarks(cache, folder / "again.json", categories, replayed)
        assert _read_verdicts(again) == _read_verdicts(scorecard)
    return sum(len(_read_lines(path)) - 1 for path in official.glob("score/*/**/*_score.json"))


def _read_verdicts(scorecard: Path) -> Mapping[str, object]:
    """Return the verdicts of the entries that have answers."""
    told = [test["metadata"]["fcbench"] for test in json.loads(scorecard.read_text())["tests"]]
    return {record["entry"]: record["verdicts"] for record in told if record["turns"]}


def _replay_published(cache: Path, folder: Path) -> Mapping[str, Path]:
    return {
        name: _run_benchmarks(
            cache, folder / f"{name}-run.json", "non_live", f"--fcbench-model=replay:{REPLAY / name}"
        )
        for name in MODELS
    }


@NEEDS_OFFICIAL
@NEEDS_REPLAY
def test_published_results_are_exported_as_officially(pack_cache: Path, tmp_path: Path) -> None:
    assert _assert_agreement(pack_cache, tmp_path, "non_live", _replay_published(pack_cache, tmp_path)) == 440


@NEEDS_OFFICIAL
@pytest.mark.parametrize(("model", "failures"), [("oracle", 8), ("lexical", 4666)])
def test_answers_of_oracle_and_lexical_are_exported_as_officially(
    model: str, failures: int, pack_cache: Path, tmp_path: Path
) -> None:
    """The oracle fails in four entries that contradict themselves, in none of the conversations."""
    scorecards = {
        name: _run_benchmarks(
            pack_cache,
            tmp_path / f"{name}-run.json",
            "live multi_turn",
            f"--fcbench-model={model}",
            f"--fcbench-mode={mode}",
        )
        for mode, name in MODES.items()
    }
    assert _assert_agreement(pack_cache, tmp_path, "live multi_turn", scorecards) == failures


@NEEDS_OFFICIAL
@pytest.mark.skipif(not MUTATED, reason="FCBENCH_ORACLE names no folder with multi_turn_mut_*.jsonl.gz")
@pytest.mark.parametrize("variant", [3, 4, 5])
def test_changed_trajectories_are_exported_as_officially(
    variant: int, pack_cache: Path, tmp_path: Path
) -> None:
    """One of the recorded changes of each multi-turn entry, as the answers of a model in either mode."""
    scorecards = {}
    for mode, name in MODES.items():
        said = tmp_path / "said" / name
        for path in MUTATED:
            _write_results(path, variant, mode, said)
        scorecards[name] = _run_benchmarks(
            pack_cache, tmp_path / f"{name}-run.json", "multi_turn", f"--fcbench-model=replay:{said}"
        )
    assert _assert_agreement(pack_cache, tmp_path, "multi_turn", scorecards) > 100


# gpt-oss-20b has no official id: its answers are tool calls, as those of GPT in function calling.
@NEEDS_OFFICIAL
@pytest.mark.parametrize(
    ("archive", "name", "failures"),
    [
        ("2025-11-12-main-openai_gpt-oss-20b", MODES["fc"], 1_439),
        ("v4-Qwen_Qwen3-4B-Instruct-2507", QWEN, 809),
        ("v4-Qwen3-4B-memory", QWEN, 361),
    ],
)
def test_results_of_real_models_are_exported_as_officially(
    archive: str, name: str, failures: int, pack_cache: Path, tmp_path: Path
) -> None:
    packed = find_folder() / f"{archive}.tar.xz"
    if not packed.exists():
        pytest.skip(f"no {packed} (FCBENCH_REAL)")
    results = unpack(packed, tmp_path / "published")
    categories = "single_turn multi_turn memory"
    run = _run_benchmarks(pack_cache, tmp_path / "run.json", categories, f"--fcbench-model=replay:{results}")
    assert _assert_agreement(pack_cache, tmp_path, categories, {name: run}) == failures


TEXTS = (
    *("", "[]", "None", "hello", "Hello (world)", "[f()]", "[f(x=1), f(x=2)]", "[f(1, 2)]", "[f(**d)]"),
    *("[f(x=+5, y=not True, z=-0.5)]", "[f(x=(1, 2), y=b'ab', z=1j)]", "[f(x=[(1, b'x')], y=...)]"),
    *("[f(x={'a': (1, b'x'), 1: 2, None: 3, True: 4})]", "[a.b.c(x=g(y=1), z=h())]", "[f(x=1e400)]"),
    *(
        "f(a)",
        "Foo.bar(a=1)",
        "Foo.bar(b)",
        "new Foo()",
        "f(a=1);",
        "Süß (\\ud83d)",
        "```python\n[f(x=1)]\n```",
    ),
    *("Error during inference: 503", "Error during inference: the maximum context length is 8192 tokens"),
)
TOOL_CALLS: tuple[object, ...] = (
    *([], None, "", "text", [{"f": "{}"}], [{"f": "{"}], [{"f": ""}], [{"f": '"x"'}], [{"f": "[1]"}]),
    *(
        [{"f": "{}"}, {"g": "7"}],
        [{"f": '{"**": 1, "a": null}'}],
        [{"f": '{"a": NaN, "b": {"c": [1.0, true]}}'}],
    ),
    "Error during inference: 503",
)


@NEEDS_OFFICIAL
def test_odd_answers_are_exported_as_officially(bfcl: Suite, pack_cache: Path, tmp_path: Path) -> None:
    """Answers that cannot be read, or not as calls, or to values that JSON has no form for."""
    categories = (
        "simple_python",
        "simple_java",
        "simple_javascript",
        "irrelevance",
        "parallel",
        "live_simple",
    )
    scorecards = {}
    for mode, name in MODES.items():
        said = tmp_path / "said" / name
        said.mkdir(parents=True)
        answers = TOOL_CALLS if mode == "fc" else TEXTS
        for category in (*categories, "live_relevance"):
            ids = [entry.id for entry in bfcl.load(CATEGORIES[category])]
            rows = [{"id": key, "result": answer} for key, answer in zip(ids, answers, strict=False)]
            text = "".join(f"{json.dumps(row)}\n" for row in rows)
            (said / f"BFCL_v4_{category}_result.json").write_text(text)
        scorecards[name] = _run_benchmarks(
            pack_cache, tmp_path / f"{name}-run.json", "single_turn", f"--fcbench-model=replay:{said}"
        )
    assert _assert_agreement(pack_cache, tmp_path, "single_turn", scorecards) > 100


@NEEDS_OFFICIAL
def test_prompt_formats_are_exported_as_officially(bfcl: Suite, pack_cache: Path, tmp_path: Path) -> None:
    """Right answers to all 5,200 entries, most of them changed at some places."""
    chance, name = random.Random(4), MODES["prompt"]
    said = tmp_path / "said" / name
    said.mkdir(parents=True)
    oracle = OracleModel(Prompting.make_default(Mode.PROMPT))
    with (said / "BFCL_v4_format_sensitivity_result.json").open("w") as file:
        for entry in bfcl.load(CATEGORIES["format_sensitivity"]):
            text = run_through(oracle.complete(entry, AskModel(()))).text or ""
            changed = mutate_text(text, chance).replace("\ud800", "")  # the official writer crashes on it
            file.write(json.dumps({"id": entry.id, "result": changed}) + "\n")
    replayed = f"--fcbench-model=replay:{said}"
    run = _run_benchmarks(pack_cache, tmp_path / f"{name}-run.json", "format_sensitivity", replayed)
    assert _assert_agreement(pack_cache, tmp_path, "format_sensitivity", {name: run}) > 1_000


@NEEDS_OFFICIAL
def test_final_answers_are_exported_as_officially(bfcl: Suite, pack_cache: Path, tmp_path: Path) -> None:
    """Right and wrong ones, calls in their place, and results that are no conversation."""
    scorecards = {}
    for mode, name in MODES.items():
        said = tmp_path / "said" / name
        said.mkdir(parents=True)
        for category in SELECTIONS["memory"]:
            rows = []
            for number, entry in enumerate(bfcl.load(CATEGORIES[category])):
                assert isinstance(entry.expectation, Answers)
                right = entry.expectation.texts[-1]
                call: object = "[memory_retrieve()]" if mode == "prompt" else [{"memory_retrieve": "{}"}]
                broken = "[memory_retrieve(" if mode == "prompt" else [{"memory_retrieve": right}]
                answers: list[object] = [
                    [[call, f"{{'answer': '{right}', 'context': 'x'}}"]],
                    [["I do not know"]],
                    [[call, broken]],
                    [[call]],
                    [[""]],
                    [["Yes."], ["No."]],
                    "Error during inference: 503",
                ]
                rows.append({"id": entry.id, "result": answers[number % len(answers)]})
            text = "".join(f"{json.dumps(row)}\n" for row in rows)
            (said / f"BFCL_v4_{category}_result.json").write_text(text)
        scorecards[name] = _run_benchmarks(
            pack_cache, tmp_path / f"{name}-run.json", "memory", f"--fcbench-model=replay:{said}"
        )
    assert _assert_agreement(pack_cache, tmp_path, "memory", scorecards) > 100


def _write_results(path: Path, variant: int, mode: str, folder: Path) -> None:
    """Write a result file of changed trajectories; each turn ends with a word."""
    changes: dict[object, list[Mapping[str, object]]] = {}
    for record in read_records(path):
        changes.setdefault(record["id"], []).append(record)
    category = path.name.removesuffix(".jsonl.gz").replace("multi_turn_mut_", "multi_turn_")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"BFCL_v4_{category}_result.json").open("w") as file:
        for entry, changed in changes.items():
            turns = changed[variant % len(changed)]["decoded_turns"]
            assert isinstance(turns, list)
            result = [[*(_format_answer(step, mode) for step in turn), "Done."] for turn in turns]
            file.write(json.dumps({"id": entry, "result": result}) + "\n")


def _format_answer(calls: list[str], mode: str) -> object:
    if mode == "prompt":
        return f"[{', '.join(calls)}]"
    return [_make_tool_call(call) for call in calls]


def _make_tool_call(call: str) -> Mapping[str, str]:
    """Return a call with its named arguments; what is none becomes one that cannot be read."""
    try:
        node = ast.parse(call.strip(), mode="eval").body
        assert isinstance(node, ast.Call)
        named = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
        return {ast.unparse(node.func): json.dumps(named)}
    except (AssertionError, SyntaxError, TypeError, ValueError):
        return {call: "{"}


@pytest.mark.nightly
@NEEDS_REPLAY
def test_the_published_tables_are_written_again(pack_cache: Path, tmp_path: Path) -> None:
    """Without the official package. There the row of one model lacks its cost and latency."""
    ours = _export_official(pack_cache, tmp_path / "ours", _replay_published(pack_cache, tmp_path)) / "score"
    name = "data_non_live.csv"
    assert (ours / name).read_text() == (REPLAY / name).read_text().removesuffix("\n")
    with (ours / "data_overall.csv").open(encoding="utf-8") as file:
        rows = {row["Model"]: row for row in csv.DictReader(file)}
    published = read_table("data_overall.csv")
    assert list(rows) == list(published)
    for model, row in rows.items():
        right = published[model]
        unknown = {key: row[key] for key in right if "$" in key or key.startswith("Latency")}
        assert row == (right | unknown if "Prompt" in model else right)


def test_a_difference_is_found(tmp_path: Path) -> None:
    row: dict[str, object] = {"id": "a_0", "error": ["Wrong."], "error_type": "x", "possible_answer": [1]}
    for folder, line in (
        ("official", row),
        ("same", {**row, "error": ["Not right.", "At all."]}),
        ("code", {**row, "error_type": "y"}),
        ("value", {**row, "possible_answer": [True]}),
        ("more", {**row, "more": 1}),
    ):
        path = tmp_path / folder / "score/m/g/BFCL_v4_a_score.json"
        path.parent.mkdir(parents=True)
        path.write_text(f"{json.dumps({'accuracy': 0.0})}\n{json.dumps(line)}\n")
    found = {
        name: len(list(find_differences(tmp_path / name, tmp_path / "official")))
        for name in ("same", "code", "value", "more")
    }
    assert found == {"same": 0, "code": 1, "value": 1, "more": 1}
