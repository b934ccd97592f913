"""``fcbench blame``: what it prints, what it asks, and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.cli.main import main
from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.domain.verdict import OWN_ASSERTION, Failed, Passed
from pytest_fcbench.run.asking_again import hold_conversations
from pytest_fcbench.run.blaming import announce_requests
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.scorecard.record import Record, build_record
from tests.cli.conftest import Refusal
from tests.factories import FACTS, make_record, write_scorecard
from tests.served import served, stats

MODEL = "hosted_vllm/my-ft"
CARD = "scorecard.json"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FCBENCH_CACHE", str(tmp_path / "cache"))


def write_card(records: Sequence[Record], model: str = MODEL) -> None:
    write_scorecard(Path(CARD), records, replace(FACTS, model=model))


def ask_parallel(api_base: str, count: int = 3) -> list[Record]:
    """The Records of entries with several calls, as a run of them writes."""
    options = {"model": MODEL, "api_base": api_base, "store": "none"}
    settings = build_settings(options, None, Path())
    context = RunContext(settings)
    entries = context.selection.entries("parallel")[:count]
    held = hold_conversations(settings, entries)
    return [
        build_record(entry, context.manner, held[entry.item_id].judgement, held[entry.item_id].transcript)
        for entry in entries
    ]


def test_the_cause_is_told_from_a_scorecard_and_no_answer_is_bought_twice(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with served("--model", "oracle", "--name", "my-ft", "--fault", "one_call:1") as api_base:
        write_card(ask_parallel(api_base))
        before = stats(api_base)["requests"]
        words = ["blame", CARD, f"--api-base={api_base}"]
        assert main([*words, "--limit=2", "--failures=1"]) == 0
        said = capfd.readouterr().out
        # The two drawn entries, not all of their category.
        assert 20 < stats(api_base)["requests"] - before < 40
        assert f"{CARD}: {MODEL} (fc) lost 3 points; 2 of them are asked again\nabout " in said
        assert "\nparser        2   100%  core:parallel_" in said
        assert "a sample of 2 of 3 lost points" in said
        assert "and 1 more; --failures=N shows N" in said
        assert "stored answers were compared" not in said
        sent = stats(api_base)["requests"]
        assert main([*words, "--limit=2"]) == 0
        old = r"\n\d+ stored answers were compared, the oldest of 20[-\d]+ \d\d:\d\d; --refresh asks again\n"
        assert re.search(old, capfd.readouterr().out)
        assert main([*words, "--limit=2", "--json"]) == 0
        assert stats(api_base)["requests"] == sent
    document = json.loads(capfd.readouterr().out)
    assert document["points"]["parser"] == document["asked"] == 2
    assert main([*words, "--limit=2", "--json", "--offline"]) == 0
    offline = json.loads(capfd.readouterr().out)
    assert [each["lost_by"] for each in offline["entries"]] == ["parser", "parser"]


@pytest.mark.nightly
def test_all_that_failed_is_asked_without_a_limit(capfd: pytest.CaptureFixture[str]) -> None:
    with served("--model", "oracle:hermes", "--name", "my-ft", "--fault", "wrong:1") as api_base:
        write_card(ask_parallel(api_base, 1))
        assert main(["blame", CARD, f"--api-base={api_base}", "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert (document["lost"], document["points"]["model"]) == (1, 1)
    assert "right calls put through: kept" in document["entries"][0]["evidence"]


@pytest.mark.nightly
def test_a_syntax_that_is_named_is_the_one_of_the_prompt(capfd: pytest.CaptureFixture[str]) -> None:
    with served("--model=oracle:hermes", "--name=my-ft", "--fault=parser_drop_brace:1") as api_base:
        write_card(ask_parallel(api_base, 1))
        for name in ("hermes", "glm47"):
            assert main(["blame", CARD, f"--api-base={api_base}", "--json", f"--syntax={name}"]) == 0
            document = json.loads(capfd.readouterr().out)
            assert document["points"]["parser"] == 1
            [entry] = document["entries"]
            way = f"in the prompt, calls asked for in the syntax {name}, 2 times: passed"
            assert any(line.startswith(way) for line in entry["evidence"])
        # Which has no form for the two calls of the entry.
        assert main(["blame", CARD, f"--api-base={api_base}", "--json", "--syntax=glm4"]) == 0
    [entry] = json.loads(capfd.readouterr().out)["entries"]
    assert any(line.startswith("in the prompt, 2 times: passed") for line in entry["evidence"])


def test_a_scorecard_without_lost_points_has_nothing_to_blame(run_refused: Refusal) -> None:
    write_card([make_record(Passed(), category="parallel")])
    told = run_refused("blame", CARD)
    assert told == f"{CARD}: no entry failed in the official profile; give one with failures"


def test_checks_of_a_server_have_nobody_to_blame(run_refused: Refusal) -> None:
    write_card([make_record(Failed("server:forced", "0 calls came"), category="server_forced")])
    told = run_refused("blame", CARD)
    assert told == f"{CARD}: checks of a server ask no model; give the scorecard of a run that does"


def test_assertions_of_tests_judge_no_other_answer(run_refused: Refusal) -> None:
    place = {"place": "test_own.py:3"}
    write_card([make_record(Failed(OWN_ASSERTION, "test_own.py:3: too dear", place), category="parallel")])
    told = run_refused("blame", CARD)
    assert told == f"{CARD}: entries failed by assertions of tests only, which judge no other answer"


def test_the_newest_run_that_asked_a_model_is_meant_without_a_name(run_refused: Refusal) -> None:
    of_server = make_record(Failed("server:must", "0 calls came"), category="server_must")
    runs = {"20260101-000000-m": make_record(category="parallel"), "20260102-000000-m": of_server}
    Path(".fcbench/runs").mkdir(parents=True)
    for name, record in runs.items():
        write_scorecard(Path(f".fcbench/runs/{name}.json"), [record], replace(FACTS, model=MODEL))
    assert run_refused("blame").startswith(".fcbench/runs/20260101-000000-m.json: no entry failed in")
    assert run_refused("blame", "latest").startswith(".fcbench/runs/20260102-000000-m.json: checks of a")


def test_all_trials_of_an_entry_are_asked_about_once() -> None:
    trials = [make_record(category="parallel", trial=number) for number in (1, 2, 3)]
    first, _ = announce_requests(build_settings({"model": MODEL}, None), trials)
    assert first.startswith(f"about 10 answers of {MODEL} are asked for; ")


def test_the_label_of_a_second_model_is_no_name(run_refused: Refusal) -> None:
    second = "scorecard.against.json"
    for label in (f"{MODEL},temperature=0.5", f"{MODEL} again"):
        write_card([make_record(Failed("x", "y"), category="parallel")], label)
        Path(CARD).rename(second)
        told = run_refused("blame", second)
        assert told.startswith(f"{second}: '{label}' is a model with settings of its own")
        assert told.endswith("; give them again, with the name: --model=NAME")


def test_a_model_without_a_server_is_refused(run_refused: Refusal) -> None:
    write_card([make_record(Failed("wrong_count", "1 call came"), category="parallel")], "lexical")
    told = run_refused("blame", CARD)
    assert told.startswith("lexical answers without a server")
    assert "'fcbench run diagnose' to see what is wrong" in told


def test_an_endpoint_that_is_gone_ends_it_at_the_first_call(run_refused: Refusal) -> None:
    write_card([make_record(Failed("wrong_count", "1 call came"), category="parallel")])
    told = run_refused("blame", CARD, "--api-base=http://127.0.0.1:1/v1", "--retries=0")
    assert "the first call failed, so no other call was made: connection" in told
