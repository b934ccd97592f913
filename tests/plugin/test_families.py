"""Whole runs of models that are asked in the form of their family, over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.cli import main
from tests.loopback import Body, Reply, make_message_reply, serve_answers
from tests.plugin.conftest import Project
from tests.served import served

LLAMA = "meta-llama/Llama-3.3-70B-Instruct-FC"
STEPS = (
    "[cd(folder='concert'), mkdir(dir_name='printed')]",
    "Both are done.",
    "[mv(source='programme.txt', destination='printed')]",
    "It is there.",
    "[send_message(receiver_id='USR005', message='The programme is ready for the printer.')]",
    "Sent.",
)
"""The right answers to core:multi_turn_base_0, step by step."""


def answer_prompt(asked: Body) -> Reply:
    """Answer the prompt of Llama by the number of answers that it holds."""
    if "prompt" not in asked:
        return Reply({"data": [{"id": "my-ft", "max_model_len": 32_768}]})
    step = str(asked["prompt"]).count("<|start_header_id|>assistant") - 1
    usage = {"prompt_tokens": 11, "completion_tokens": 7}
    return Reply({"choices": [{"text": STEPS[step], "finish_reason": "stop"}], "usage": usage})


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_a_conversation_by_written_prompts(project: Project, workers: tuple[str, ...]) -> None:
    options = ("core:multi_turn_base_0", "--fcbench-model=my-ft", f"--fcbench-as={LLAMA}")
    with serve_answers(answer_prompt) as endpoint:
        at = f"--fcbench-api-base={endpoint.api_base}"
        result = project.run(*options, at, *workers)
        result.assert_outcomes(passed=1)
        told = f"model my-ft (prompt, dotted names, asked as {LLAMA}), profile official"
        assert told in " ".join(result.stdout.str().split())
        prompts = [each for each in endpoint.requests if "prompt" in each]
        assert len(prompts) == len(STEPS)
        assert {each["max_tokens"] for each in prompts} == {4096}
        assert "<|start_header_id|>ipython<|end_header_id|>" in str(prompts[-1]["prompt"])
        section = project.scorecard()["fcbench"]
        assert isinstance(section, dict)
        assert section["asked_as"] == LLAMA
        # Stored answers are of this form alone.
        project.run(*options, at, "--fcbench-offline").assert_outcomes(passed=1)
        other = project.run(*options[:2], at, "--fcbench-as=chat", "--fcbench-offline")
        other.assert_outcomes(errors=1)


def make_claude_reply(*positions: int) -> Reply:
    blocks = [
        {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "home_set_blind",
            "input": {"room": room, "position": place},
        }
        for number, (room, place) in enumerate(zip(("bedroom", "study", "kitchen"), positions, strict=True))
    ]
    return Reply(
        {"content": blocks, "stop_reason": "tool_use", "usage": {"input_tokens": 5, "output_tokens": 3}}
    )


@pytest.mark.few(1)
@pytest.mark.parametrize(("places", "passed"), [((0, 0, 50), 1), ((0, 0, 40), 0)])
def test_calls_of_the_messages_api(
    project: Project, places: tuple[int, int, int], passed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-for-this-test-only")
    with serve_answers(lambda _: make_claude_reply(*places)) as endpoint:
        base = endpoint.api_base.removesuffix("/v1")
        result = project.run(
            "core:parallel_3", "--fcbench-model=claude-haiku-4-5-20251001-FC", f"--fcbench-api-base={base}"
        )
        result.assert_outcomes(passed=passed, failed=1 - passed)
        assert endpoint.paths == ["/v1/messages"]
        assert endpoint.headers[0]["x-api-key"] == "sk-for-this-test-only"
    assert "sk-for-this-test-only" not in result.stdout.str()
    assert "sk-for-this-test-only" not in (project.path / "scorecard.json").read_text()


def test_a_family_without_its_sentences_asks_for_the_pack(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(project.path / "empty"))
    result = project.run(
        "core:parallel_3", "--fcbench-model=Qwen/Qwen3-8B-FC", "--fcbench-api-base=http://127.0.0.1:9/v1"
    )
    result.stderr.fnmatch_lines(["*run 'fcbench pull bfcl'*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("model", "workers"),
    [
        ("gpt-4o-2024-11-20-FC", ()),
        ("claude-haiku-4-5-20251001-FC", ()),
        ("gemini-2.5-flash-FC", ()),
        ("command-a-03-2025-FC", ()),
        ("nova-pro-v1.0", ()),
        ("qwen3-32b-FC", ()),
        (LLAMA, ("-n", "2")),
    ],
)
def test_the_served_oracle_is_right_in_the_form_of_each_api(
    project: Project,
    model: str,
    workers: tuple[str, ...],
    pack_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(pack_cache))
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    chosen = ("--fcbench-smoke", "--fcbench-store=none", *workers)
    with served("--model=oracle", f"--as={model}") as api_base:
        at = f"--fcbench-api-base={api_base}"
        result = project.run("--fcbench-model=openai/oracle", at, f"--fcbench-as={model}", *chosen)
    outcomes = result.parseoutcomes()
    assert outcomes.keys() == {"passed"}
    assert outcomes["passed"] > 50


@pytest.mark.nightly
@pytest.mark.parametrize(
    "model",
    [
        "gpt-4o-2024-11-20-FC",
        "claude-haiku-4-5-20251001-FC",
        "gemini-2.5-flash-FC",
        "command-a-03-2025-FC",
        "nova-pro-v1.0",
        "qwen3-32b-FC",
        "gpt-4o-2024-11-20",
    ],
)
def test_no_step_of_a_conversation_is_asked_twice(
    project: Project, model: str, pack_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(pack_cache))
    entries = ("core:multi_turn_base_0", "core:multi_turn_miss_func_0", "core:memory_kv_allotment_0")
    with served("--model=oracle", f"--as={model}") as api_base:
        at = f"--fcbench-api-base={api_base}"
        options = (*entries, "--fcbench-model=openai/oracle", at, f"--fcbench-as={model}")
        project.run(*options).assert_outcomes(passed=3)
    project.run(*options, "--fcbench-offline").assert_outcomes(passed=3)


@pytest.mark.nightly
def test_a_server_knows_no_request_of_another_family(project: Project) -> None:
    with served("--model=oracle", "--as=gpt-4o-2024-11-20-FC") as api_base:
        options = ("core:parallel_3", "--fcbench-model=openai/oracle", f"--fcbench-api-base={api_base}")
        result = project.run(*options, "--fcbench-as=gpt-5-mini-2025-08-07-FC")
        result.assert_outcomes(passed=1)
        result = project.run(*options, "--fcbench-as=gpt-4o-2024-11-20", "--fcbench-no-preflight")
        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines(["*has a request like this*"])


def answer_step(asked: Body) -> Reply:
    """Answer the next step of core:multi_turn_base_0, by a prompt or in a chat."""
    if "messages" not in asked:
        return answer_prompt(asked)
    step = json.dumps(asked["messages"]).count('"role": "assistant"')
    return make_message_reply(STEPS[step])


def read_shown(printed: str, heading: str) -> list[dict[str, Any]]:
    """Read the JSON objects below the headings that end so."""
    parts = printed.split("\n\n")
    return [
        json.loads(part.partition("\n")[2]) for part in parts if part.partition("\n")[0].endswith(heading)
    ]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("my-ft", (f"--fcbench-as={LLAMA}",)),
        ("my-ft", ("--fcbench-mode=prompt", "--fcbench-temperature=0.5")),
        ("groq/my-ft", ("--fcbench-mode=prompt",)),
    ],
    ids=["family", "chat", "litellm"],
)
def test_what_is_shown_is_what_the_server_was_sent(
    project: Project,
    model: str,
    options: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project.path)
    monkeypatch.setenv("GROQ_API_KEY", "gsk-for-this-test-only")
    with serve_answers(answer_step) as endpoint:
        chosen = (f"--fcbench-model={model}", f"--fcbench-api-base={endpoint.api_base}", *options)
        project.run("core:multi_turn_base_0", *chosen).assert_outcomes(passed=1)
    capsys.readouterr()
    words = [option.replace("--fcbench-", "--") for option in chosen]
    assert main.main(["run", "show", "core:multi_turn_base_0", "--wire", *words]) == 0
    printed = capsys.readouterr().out
    asked = [each for each in endpoint.requests if {"prompt", "messages"} & each.keys()]
    shown = [each.get("body") or each["litellm"] for each in read_shown(printed, ": request")]
    assert [each.get("messages") for each in shown] == [each.get("messages") for each in asked]
    assert [each.get("prompt") for each in shown] == [each.get("prompt") for each in asked]
    assert [each.get("temperature") for each in shown] == [each.get("temperature") for each in asked]
    told = [each.get("content") or each["text"] for each in read_shown(printed, "answer")]
    assert told == list(STEPS)
    assert "gsk-for-this-test-only" not in printed


def test_a_request_without_a_stored_answer_is_shown_alone(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.path)
    words = ["--model=my-ft", "--api-base=http://127.0.0.1:9/v1"]
    assert main.main(["run", "show", "core:multi_turn_base_0", "--wire", *words]) == 0
    printed = capsys.readouterr().out
    assert len(read_shown(printed, ": request")) == 1
    assert "has no stored answer to this request" in printed


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("official", "is_unasked"),
    [("xiaoming-14B", False), ("qwen3-235b-a22b-instruct-2507-FC", False), ("qwen3-4b-nothink-FC", True)],
)
def test_faults_of_the_registry_are_left_out_on_request(
    project: Project, official: str, is_unasked: bool
) -> None:
    calls = [("bedroom", 0), ("study", 0), ("kitchen", 50)]
    parts = [
        {
            "id": f"t{number}",
            "type": "function",
            "function": {
                "name": "home_set_blind",
                "arguments": json.dumps({"room": room, "position": place}),
            },
        }
        for number, (room, place) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": parts}
    reply = Reply({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
    with serve_answers(lambda _: reply) as endpoint:
        at = f"--fcbench-api-base={endpoint.api_base}"
        options = ("core:parallel_3", "--fcbench-model=openai/mine", at, f"--fcbench-as={official}")
        as_is = project.run(*options)
        repaired = project.run(*options, "--fcbench-repair")
    if is_unasked:
        as_is.stderr.fnmatch_lines(["*cannot be built; --fcbench-repair asks as it was meant*"])
        assert endpoint.requests[0]["chat_template_kwargs"] == {"enable_thinking": False}
    else:
        as_is.assert_outcomes(failed=1)
    repaired.assert_outcomes(passed=1)
    repaired.stdout.fnmatch_lines(["*known faults*"])
