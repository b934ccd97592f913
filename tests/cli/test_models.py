"""``fcbench models``: ours, those of fcbench.yaml, those of litellm."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.cli.main import main
from pytest_fcbench.codecs.decoders.registry import list_run_syntaxes
from tests.cli.conftest import Refusal

FILE = """\
models:
  my-ft: {model: hosted_vllm/my-ft, api_base: "http://localhost:8000/v1", api_key_env: A_KEY_OF_MINE}
  mini: {model: gpt-4o-mini}
prices: {my-ft: {hour: 2}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("A_KEY_OF_MINE", raising=False)


def test_all_of_ours_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    assert capsys.readouterr().out.splitlines()[:7] == [
        "Built in",
        "  oracle                 answers from the ground truth; no network",
        "  careless[:PERCENT]     simulated: right answers, with typical mistakes in 6 % (or PERCENT) of "
        "entries; no network",
        "  lexical                matches words, the floor that any model must beat; no network",
        "  scripted:FILE          answers from a YAML file; no network",
        "  python:MODULE:FUNCTION your own Python function, called with messages and tools",
        "  replay:PATH            answers of an earlier run, from a scorecard or official result files; "
        "no network",
    ]


def test_profiles_are_told_without_their_keys(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("fcbench.yaml").write_text(FILE)
    assert main(["models"]) == 0
    told = capsys.readouterr().out
    assert (
        "hosted_vllm/my-ft, at http://localhost:8000/v1, key in A_KEY_OF_MINE (not set), $2 an hour" in told
    )
    assert "gpt-4o-mini, $0.15 in, $0.6 out per million tokens" in told
    monkeypatch.setenv("A_KEY_OF_MINE", "a secret of mine")
    assert main(["models"]) == 0
    told = capsys.readouterr().out
    assert "key in A_KEY_OF_MINE, $2 an hour" in told
    assert "a secret of mine" not in told


@pytest.mark.parametrize("words", [["models"], ["doctor", "--model=mine"]])
def test_no_address_is_shown_with_its_keys(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    address = "http://user:pass1234word@localhost:9/v1?code=a1b2c3d4e5f6&version=2"
    Path("fcbench.yaml").write_text(f'models: {{mine: {{model: "litellm:openai/x", api_base: "{address}"}}}}')
    main(words)
    assert "at http://***@localhost:9/v1?code=***&version=2" in capsys.readouterr().out


def test_without_a_file_there_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    assert "Profiles of fcbench.yaml: none" in capsys.readouterr().out


def test_ids_of_litellm_are_found_by_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "GPT-4o-mini"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (row,) = (line for line in lines if line.startswith("gpt-4o-mini "))
    assert " ".join(row.split()) == "gpt-4o-mini tools 128,000 tokens $0.15 in, $0.6 out per million tokens"
    assert all("gpt-4o-mini" in line for line in lines)
    assert not any("embedding" in line for line in lines)


def test_many_are_cut_unless_all_are_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "gpt"]) == 0
    *shown, last = capsys.readouterr().out.splitlines()
    assert len(shown) == 40
    assert main(["models", "gpt", "--all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert last == f"and {len(lines) - 40} more; --all shows them"
    assert lines[:40] == shown


def test_a_word_that_nobody_has(run_refused: Refusal) -> None:
    assert run_refused("models", "no-such-model").startswith(
        "litellm knows no id that contains 'no-such-model'; for a server of your own "
    )


def test_a_broken_file_is_told(run_refused: Refusal) -> None:
    Path("fcbench.yaml").write_text("models: [x]\n")
    assert "fcbench.yaml:1: models: must be a mapping" in run_refused("models")


def test_official_models_are_listed_by_handler(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--official", "hammer2.1-7b"]) == 0
    told, model = capsys.readouterr().out.splitlines()
    assert told == (
        "HammerHandler: fc, dotted names, hammer; asked by completions at a server of your own, "
        "key in HOSTED_VLLM_API_KEY or REMOTE_OPENAI_API_KEY"
    )
    assert model.split(maxsplit=1) == ["MadeAgents/Hammer2.1-7b", "price not known"]


def test_an_official_model_has_its_vendor_and_price(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--families", "claude-haiku-4-5-20251001-FC"]) == 0
    told, model = capsys.readouterr().out.splitlines()
    assert told.endswith("; asked by messages at https://api.anthropic.com, key in ANTHROPIC_API_KEY")
    assert model.split()[1].startswith("$")


def test_a_class_that_is_not_asked_has_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--official", "nothink"]) == 0
    assert "not asked: officially its handler cannot be built" in capsys.readouterr().out


def test_syntaxes_are_listed_with_their_handlers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--syntaxes"]) == 0
    rows = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == list(list_run_syntaxes())
    assert ["xlam_2", "fc", "SalesforceLlamaHandler, SalesforceQwenHandler"] in rows


def test_a_family_or_syntax_that_nobody_has(run_refused: Refusal) -> None:
    assert "has no model whose id contains 'gpt-9'" in run_refused("models", "--families", "gpt-9")
    assert "there is no syntax whose name contains 'cobol'" in run_refused("models", "--syntaxes", "cobol")
