"""``fcbench doctor``: each thing that can be wrong is told with a way out, and what comes next."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import pytest

from pytest_fcbench.cli.main import main
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.run import setup_checks
from pytest_fcbench.run.setup_checks import explain_missing_call
from pytest_fcbench.suites import core
from tests.cli.conftest import Refusal
from tests.loopback import Reply, make_message_reply, serve_answers
from tests.served import served


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FCBENCH_CACHE", str(tmp_path / "cache"))
    Path("benchmarks").mkdir()


def _run_doctor(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, str], str]:
    """Return the exit code, state and words of each finding, and the last line."""
    code = main(["doctor", *words])
    *lines, last = capsys.readouterr().out.splitlines()
    found: dict[str, str] = {}
    for line in lines:
        state, what = line[:6].strip(), line[7:18].strip()
        if state:
            found[what] = f"{state}: {line[19:]}"
        else:
            found[list(found)[-1]] += f"; {line.strip()}"
    return code, found, last


def test_a_project_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    code, found, last = _run_doctor(capsys)
    assert code == 0
    assert {told.partition(":")[0] for told in found.values()} == {"ok"}, found
    assert list(found) == [
        *(
            "python",
            "packages",
            "extras",
            "plugin",
            "benchmarks",
            "options",
            "suite",
            "packs",
            "answers",
            "model",
        )
    ]
    assert last == "next: pytest benchmarks"


def test_the_run_that_was_asked_about_comes_next(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, last = _run_doctor(capsys, "--model", "oracle", "--suite", "core", "--mode", "prompt")
    assert last == "next: pytest benchmarks --fcbench-model=oracle --fcbench-mode=prompt --fcbench-suite=core"
    _, _, last = _run_doctor(capsys, "--model", "oracle", "--param", "api_key=abcd1234efgh")
    assert last == "next: pytest benchmarks --fcbench-model=oracle '--fcbench-param=api_key=***'"


def test_without_benchmarks_init_comes_next(capsys: pytest.CaptureFixture[str]) -> None:
    Path("benchmarks").rmdir()
    code, found, last = _run_doctor(capsys)
    assert (code, last) == (0, "next: fcbench init && pytest benchmarks")
    assert re.match(
        "look: .* has no folder 'benchmarks'; run 'fcbench init' to create it", found["benchmarks"]
    )


@pytest.mark.parametrize(
    ("words", "file", "what", "told"),
    [
        (["--suite", "bfcl"], "", "suite", "wrong: .*run 'fcbench pull bfcl'"),
        (["--suite", "bfc"], "", "options", "wrong: --suite=bfc: unknown suite 'bfc'. Did you mean 'bfcl'"),
        ([], "modle: x\n", "options", r"wrong: fcbench.yaml:1: modle: unknown key 'modle'"),
        (
            [],
            "models: {a: {model: x/y, api_key_env: NO_SUCH_KEY}}\nmodel: a\n",
            "options",
            "wrong: .*NO_SUCH_KEY",
        ),
        (["--model", "orcale"], "", "model", "wrong: --model=orcale: unknown model 'orcale'. Did you mean"),
        (["--model", "replay:gone.json"], "", "model", "wrong: .*gone.json does not exist"),
        (
            ["--model", "gpt-nonsense"],
            "",
            "model",
            "wrong: litellm knows no model 'gpt-nonsense'; .*--api-base=URL",
        ),
        (
            ["--config", "gone.yaml"],
            "",
            "options",
            "wrong: .*gone.yaml: no such file",
        ),
        (
            ["--store", "file/a.sqlite"],
            "",
            "answers",
            "wrong: file: cannot be written: .*; name another file with",
        ),
    ],
)
def test_what_is_wrong_is_told(
    capsys: pytest.CaptureFixture[str], words: list[str], file: str, what: str, told: str
) -> None:
    Path("file").touch()
    if file:
        Path("fcbench.yaml").write_text(file)
    code, found, last = _run_doctor(capsys, *words)
    assert code == 1
    assert re.match(told, found[what]), found
    again = [word for word in shlex.split(last) if word.startswith("--")]
    assert last.startswith("next: fix what is wrong, then run: fcbench doctor")
    assert again == [f"{name}={value}" for name, value in zip(words[::2], words[1::2], strict=True)]


def test_packages_that_do_not_fit_are_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "pyyaml":
            raise metadata.PackageNotFoundError(name)
        return "1.82.7" if name == "litellm" else real(name)

    monkeypatch.setattr(metadata, "version", version)
    code, found, _ = _run_doctor(capsys)
    assert code == 1
    assert found["packages"].startswith("wrong: ")
    assert "pyyaml is not installed" in found["packages"]
    assert re.search("litellm 1.82.7 is installed, .*!=1.82.7.* is required", found["packages"])


def test_a_disk_that_is_nearly_full_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup_checks, "_NEEDED_BYTES", 10**18)
    code, found, _ = _run_doctor(capsys)
    assert code == 0
    assert re.match(
        "look: .*GB free; less than .* name another folder with the environment variable FCBENCH_CACHE",
        found["packs"],
    )


def test_a_folder_that_cannot_be_looked_for_is_told() -> None:
    """A name of 300 characters is too long for the system, as an unreadable parent is closed to it."""
    found = setup_checks.check_disk("store", Path("x" * 300), "name another")
    assert (found.state, found.way_out) == (setup_checks.BAD, "name another")
    assert found.text.endswith(": cannot be written: File name too long")


def _examine_model(
    capsys: pytest.CaptureFixture[str], api_base: str, *words: str
) -> tuple[int, Mapping[str, str]]:
    code, found, _ = _run_doctor(capsys, "--model", "hosted_vllm/m", "--api-base", api_base, *words)
    return code, found


def test_a_model_is_asked_once_and_its_tools_are_seen(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with served("--model", "oracle") as api_base:
        code, found = _examine_model(capsys, api_base)
        assert code == 0
        assert re.match(r"ok: answered in \d+\.\d s, with a tool call", found["tools"])
        assert found["price"].startswith(
            "look: no price is known for hosted_vllm/m; give a price under 'prices'"
        )
        code, found = _examine_model(
            capsys, api_base, "--mode", "prompt", "--judge", "hosted_vllm/j", "--judge-api-base", api_base
        )
        assert code == 0
        assert "tools" not in found
        assert found["judge"].startswith(f"ok: hosted_vllm/j at {api_base}")
        assert "tools" not in _examine_model(capsys, api_base, "--no-calls")[1]
    assert not Path(".fcbench").exists()


def test_the_model_is_looked_for_among_those_that_the_server_offers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with served("--model", "oracle") as api_base:
        _, found = _examine_model(capsys, api_base)
        assert found["offer"] == "look: the server offers oracle, but not m; name one of them with --model"
        _, found, _ = _run_doctor(capsys, "--model", "hosted_vllm/oracle", "--api-base", api_base)
        assert found["offer"] == "ok: the server offers oracle"
        assert "offer" not in _examine_model(capsys, api_base, "--no-calls")[1]


def test_a_judge_at_a_wrong_address_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--judge", "hosted_vllm/j", "--judge-api-base", "ftp://x")
    code, found, _ = _run_doctor(capsys, "--model", "oracle", *words)
    assert code == 1
    rule = "must be an http or https URL, e.g. http://localhost:8000/v1"
    assert found["judge"] == f"wrong: --judge-api-base=ftp://x: {rule}"


def test_a_server_that_lists_no_models_is_not_doubted(capsys: pytest.CaptureFixture[str]) -> None:
    with serve_answers(lambda asked: make_message_reply("ok") if asked else Reply("", 404)) as endpoint:
        _, found = _examine_model(capsys, endpoint.api_base)
    assert "offer" not in found


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("It is sunny.", "its text holds no call, so the model called nothing"),
        (
            "<tool_call>{}</tool_call>",
            r"begins with '<tool_call'\): its tool parser is off, .*--tool-call-parser",
        ),
        ("[NAME(a=1)]", r"\(it is JSON or Python\): its tool parser is off, or for another model"),
    ],
)
def test_a_missing_call_is_the_parser_or_the_model(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, says: str
) -> None:
    (entry, *_) = core.open_suite(tmp_path).load(CATEGORIES["simple_python"])
    text = text.replace("NAME", entry.functions[0].name)
    script = tmp_path / "script.yaml"
    script.write_text(json.dumps({"answers": {entry.key: text}}))
    with served("--model", f"scripted:{script}") as api_base:
        code, found = _examine_model(capsys, api_base)
    assert code == 0
    assert re.match(f"look: answered .*, without a tool call: .*{says}", found["tools"])


def test_a_parser_of_vllm_is_wrong_and_not_off() -> None:
    entry = core.open_suite(Path()).load(CATEGORIES["simple_python"])[0]
    told, way_out = explain_missing_call(Completion("<tool_call>{}"), entry, "vllm")
    assert "its tool parser is on, but not for a model whose call begins with '<tool_call'" in told
    assert way_out == "name the parser of this model with --tool-call-parser"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (None, "ok: 10 of 10 checks of the server kept"),
        ("lose_results", "wrong: broken: The result of a call reaches the prompt. the prompt of 'long' has"),
        ("ignore_named", "wrong: broken: With a named function that one is called. calls 'get_weather'"),
    ],
)
def test_what_a_server_breaks_is_told(
    capsys: pytest.CaptureFixture[str], fault: str | None, says: str
) -> None:
    with served("--model", "conforming", *(["--fault", f"{fault}:1"] if fault else [])) as api_base:
        words = ["--model", "hosted_vllm/conforming", "--api-base", api_base]
        code, found, following = _run_doctor(capsys, *words)
    assert code == (fault is not None), "a broken must is wrong, as everything that spoils a run"
    assert found["server"].startswith(says)
    assert ("--fcbench-suite=wire --fcbench-model=" in following) == (fault is not None)


def test_an_endpoint_that_is_not_there_or_fails(capsys: pytest.CaptureFixture[str]) -> None:
    with served("--model", "oracle", "--fault", "500:1") as api_base:
        code, found = _examine_model(capsys, api_base)
        assert (code, found["call"].partition(": ")[0]) == (1, "wrong")
    # No level of the project's pressure fits the entry that is asked.
    Path("fcbench.yaml").write_text("pressure: results:8\n")
    code, found = _examine_model(capsys, api_base)
    assert code == 1
    assert re.match(
        "wrong: connection: .*; check --api-base, and whether the server is running", found["call"]
    )


def test_the_first_request_of_a_family_is_shown_without_its_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-a-secret-of-mine")
    words = ["--model=claude-haiku-4-5-20251001-FC", "--request", "core:parallel_3"]
    assert main(["doctor", *words]) == 0
    printed = capsys.readouterr().out
    assert "sk-a-secret-of-mine" not in printed
    shown = json.loads(printed)
    assert shown["url"] == "https://api.anthropic.com/v1/messages"
    assert shown["headers"]["x-api-key"] == "***"
    assert shown["body"]["model"] == "claude-haiku-4-5-20251001"
    assert shown["body"]["messages"][0]["content"][0]["text"].startswith("Shut the blinds")


@pytest.mark.parametrize("header", ["Authorization", "X-Gateway"])
def test_headers_of_the_user_are_shown_without_their_values(
    header: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = json.dumps({header: "letmein"})
    words = ["--model=mine", "--api-base=http://127.0.0.1:9/v1", f"--param=extra_headers={given}"]
    assert main(["doctor", *words, "--request", "core:parallel_3"]) == 0
    printed = capsys.readouterr().out
    assert "letmein" not in printed
    shown = json.loads(printed)
    assert shown["headers"][header] == "***"
    assert shown["body"]["tools"][0]["function"]["name"] == "home_set_blind"


def test_a_request_about_no_entry(run_refused: Refusal) -> None:
    words = ["--model=claude-haiku-4-5-20251001-FC", "--request", "core:nothing_3"]
    assert "nothing_3" in run_refused("doctor", *words)
