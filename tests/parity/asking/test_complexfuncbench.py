"""What models and judges are asked along golden paths equals what the official runners ask, to the letter.

The folder of recordings is ``complexfuncbench`` in that of all recordings. The sentences that a model is
shown and the prompts of judges come from a clone of the official code (``FCBENCH_COMPLEXEVAL``); without one
all else is compared. What is settled before the comparison is in docs/project/decisions-golden-paths.md.
"""

from __future__ import annotations

import json
import lzma
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault, Party, PathSettings, Transcript
from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.kinds.golden_path.kind import converse, judge
from pytest_fcbench.kinds.golden_path.truth import JudgePrompt, PathWording
from pytest_fcbench.kinds.kind import ConversationContext
from pytest_fcbench.models.providers.openai_compatible import build_body
from pytest_fcbench.suites import core
from pytest_fcbench.suites.complexfuncbench import COMMIT, read_code, read_golden_paths
from tests.cases import each_case
from tests.conftest import ROOT
from tests.parity.asking.recordings import find_recordings, read_answer

Body: TypeAlias = dict[str, Any]

CHAT = ("gpt", "claude", "mistral", "qwen")
"""Runners that ask through a chat interface."""

RAW = ("glm", "llama")
"""Runners that were recorded with raw templates; of these judges' requests and outcomes are compared."""

TRIES = {"gpt": 5, "qwen": 5}
"""Failed requests after which a runner gives up; the others were answered before they did."""

EXCEPTIONS: Mapping[str, frozenset[str]] = {
    "gpt": frozenset(),
    "claude": frozenset(("S007", "S008", "S029", "S030")),
    "mistral": frozenset(),
    "qwen": frozenset(),
    "glm": frozenset(
        ("S007", "S008", "S014", "S027", "S029", "S032", "S033", "S034", "S035", "S041", "S043")
    ),
    "llama": frozenset(("S007", "S008", "S010", "S013", "S014", "S028", "S029", "S043", "S046")),
}
"""Scenarios that differ, by runner; the reasons stand in docs/project/decisions-golden-paths.md."""

UNSEEN_WITHOUT_CLONE: Mapping[str, frozenset[str]] = {
    "glm": frozenset(("S014", "S032", "S033", "S034", "S035", "S041")),
}
"""Those whose difference lies in the content of judges' prompts, which a clone is needed for."""

CLONE = os.environ.get("FCBENCH_COMPLEXEVAL")


@dataclass(frozen=True)
class Asked:
    """The bodies of the requests to a model and to judges in one scenario, settled, and the outcome."""

    model: Sequence[Body]
    judge: Sequence[Body]
    outcome: object = None


def find_folder() -> Path:
    folder = find_recordings("complexfuncbench")
    if folder is None:
        pytest.skip("no recordings: neither FCBENCH_ASKING nor a folder 'asking' beside FCBENCH_ORACLE")
    return folder


@cache
def read_scenarios() -> Body:
    with lzma.open(find_folder() / "scenarios.json.xz", "rt", encoding="utf-8") as file:
        found: Body = json.load(file)
    return found


@cache
def read_recordings(runner: str) -> Mapping[str, Asked]:
    """Read what a runner asked in each scenario; each request is written as a change of the last."""
    found: dict[str, dict[str, list[Body]]] = {}
    with lzma.open(find_folder() / f"{runner}.jsonl.xz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            bodies = found.setdefault(row["scenario"], {"model": [], "judge": []})[row["asked"]]
            bodies += read_requests(row["requests"])
    return {key: Asked(asked["model"], asked["judge"]) for key, asked in found.items()}


def read_requests(requests: Sequence[Body]) -> Iterator[Body]:
    items: Any = []
    others: Body = {}
    for request in requests:
        items = items[: request["kept"]] + request["new"] if request["kept"] else request["new"]
        others = {**others, **request.get("set", {})}
        for name in request.get("unset", ()):
            del others[name]
        yield {**others, request["list"]: items}


@cache
def read_wording() -> PathWording:
    """Read the texts from the clone, else make some up."""
    if CLONE is not None:
        return read_code(Path(CLONE))
    prompts = [
        JudgePrompt(f"{name}", "".join(f"[args{n}]" for n in range(1, len(names) + 1)), names)
        for name, names in (
            ("equal", ("functions", "history", "function_call_1", "function_call_2")),
            ("complete", ("query", "gen_response")),
            ("correct", ("history", "gen_response")),
        )
    ]
    refusals = dict.fromkeys(
        ("unknown_function", "missing", "surplus", "string", "number", "boolean", "array"), "?"
    )
    return PathWording("invented", '{"api_status": true, "content": "?"}', refusals, *prompts)


# What we ask


def ask(runner: str, scenario: Body) -> Asked:
    """Hold the conversation of a scenario as a runner does, and judge it."""
    wording = read_wording()
    line = json.dumps(scenario["record"]).encode()
    (entry,) = read_golden_paths(line, Path("scenarios"), wording=wording)
    driven = PathSettings(Profile.OFFICIAL, "judge", "structured", runner=runner, wording=wording.version)
    setting = ConversationContext(
        ModelPresentation("m", Prompting.make_default(Mode.FC)), core.open_suite(Path()), driven
    )
    answers = iter(write_answers(scenario["answers"], bracketed=runner not in ("gpt", "claude", "mistral")))
    judgements = {kind: iter(told) for kind, told in (scenario["judge"] or {}).items()}
    asked = Asked([], [])
    conversation = converse(entry, setting)
    request = next(conversation)
    while True:
        bodies = asked.model if request.party is Party.MODEL else asked.judge
        assert isinstance(bodies, list)
        bodies.append(json.loads(build_body("m", request, request.defaults)))
        if request.party is Party.MODEL:
            completion = answer_model(answers, TRIES.get(runner, 100))
        else:
            completion = answer_judge(request, wording, judgements)
        try:
            request = conversation.send(completion)
        except StopIteration as done:
            return replace(asked, outcome=summarize(entry, done.value))


def write_answers(script: Sequence[Any], *, bracketed: bool) -> Iterator[Completion]:
    """Write the scripted answers; names are as the runner shows them."""
    for number, answer in enumerate(script):
        told = answer if isinstance(answer, dict) else {}
        if "status" in told:
            yield Completion(text=told["message"], fault=Fault.INFERENCE_ERROR)
            continue
        calls = told.get("calls") if told else answer if isinstance(answer, list) else None
        text = told.get("text") if told else answer if isinstance(answer, str) else None
        message: Body = {"content": text}
        if calls is not None:
            message["tool_calls"] = [
                {
                    "id": f"call_{number}_{index}",
                    "type": "function",
                    "function": {
                        "name": name.replace("-Tips-", "(Tips)") if bracketed else name,
                        "arguments": arguments,
                    },
                }
                for index, (name, arguments) in enumerate(calls)
            ]
        yield read_answer(message)
    while True:
        yield Completion(text="Done.")


def answer_model(answers: Iterator[Completion], tries: int) -> Completion:
    """Return the next answer; a failed request is repeated, by the dispatcher in a run of ours."""
    completion = next(answers)
    for _ in range(tries - 1):
        if not completion.fault:
            break
        completion = next(answers)
    return completion


def answer_judge(
    request: AskModel, wording: PathWording, judgements: Mapping[str, Iterator[object]]
) -> Completion:
    kinds = {
        wording.equivalence.system: ("eq", True),
        wording.completeness.system: ("complete", 2),
        wording.correctness.system: ("correct", 2),
    }
    kind, usual = kinds[str(request.messages[0]["content"])]
    told = next(judgements.get(kind, iter(())), usual)
    if told == "FENCE":
        told = '```JSON\n{"is_equal": true,\n "reason": "x"}\n```'
    if not isinstance(told, str):
        told = json.dumps({"is_equal" if kind == "eq" else "score": told, "reason": "r"})
    return Completion(text=told)


def summarize(entry: Entry, transcript: Transcript) -> object:
    judgement = judge(entry, transcript)
    official, score = judgement.official, judgement.official_path
    if isinstance(official, Failed) and official.code == "crash":
        return "crash"
    assert isinstance(official, (Passed, Failed)), official
    code = official.code if isinstance(official, Failed) else "passed"
    if score is None:
        return code
    counts = (score.right, score.right_steps, score.taken)
    ratings = (score.completeness, score.correctness)
    return code, counts, ratings if any(rating is not None for rating in ratings) else None


def summarize_official(outcome: Body) -> object:
    if "crash" in outcome:
        return "crash"
    # The sample is not written.
    if outcome["none"]:
        return "unknown_error"
    message = outcome["message"]
    if message == "Success.":
        code = "passed"
    else:
        code = message[0]["error_type"] if isinstance(message, list) else message["error_type"]
    count = outcome["count"]
    counts = (count["correct_call_num"], count["success_turn_num"], count["real_turn_num"])
    rated = outcome["resp"] or {"complete": {"score": -2}, "correct": {"score": -2}}
    ratings = tuple(
        None if rated[kind]["score"] < 0 else rated[kind]["score"] for kind in ("complete", "correct")
    )
    return code, counts, ratings if any(rating is not None for rating in ratings) else None


# What is settled before the comparison


def settle_bodies(bodies: Sequence[Body], runner: str) -> list[Body]:
    settled = [settle_body(body, runner) for body in bodies]
    # Repeated requests are the dispatcher's.
    return [body for number, body in enumerate(settled) if not number or body != settled[number - 1]]


def settle_body(body: Body, runner: str) -> Body:
    """Write a request in the form of OpenAI's chat interface, with ids by number."""
    messages = [settled for message in body["messages"] for settled in settle_message(message)]
    numbers: dict[str, str] = {}
    for message in messages:
        for call in message.get("tool_calls", ()):
            if runner == "claude":
                # Anthropic's interface has objects, and no empty text beside calls.
                message["content"] = message["content"] or None
                call["function"]["arguments"] = read_arguments(call["function"]["arguments"])
            call["id"] = numbers.setdefault(call["id"], str(len(numbers)))
        if "tool_call_id" in message:
            message["tool_call_id"] = numbers[message["tool_call_id"]]
    found = {name: value for name, value in body.items() if name not in ("model", "messages", "stream")}
    if "tool_choice" in found:
        found["tool_choice"] = "auto" if found["tool_choice"] == {"type": "auto"} else found["tool_choice"]
    if "tools" in found:
        found["tools"] = [settle_tool(tool) for tool in found["tools"]]
    return {**found, "messages": messages}


def read_arguments(text: str) -> object:
    try:
        return json.loads(text) or {}
    except ValueError:
        return text


def settle_tool(tool: Body) -> Body:
    if "input_schema" in tool:
        function = {name: value for name, value in tool.items() if name != "input_schema"}
        return {"type": "function", "function": {**function, "parameters": tool["input_schema"]}}
    return {"type": "function", **tool}


def settle_message(message: Body) -> Iterator[Body]:
    content = message["content"]
    if not isinstance(content, list):
        # Members that a client library adds and that say nothing.
        empty = (("refusal", None), ("annotations", None), ("audio", None), ("function_call", None))
        found = {
            name: value for name, value in message.items() if (name, value) not in (*empty, ("prefix", False))
        }
        if "tool_calls" in message:
            found["tool_calls"] = [
                {name: value for name, value in call.items() if name != "index"}
                for call in message["tool_calls"]
            ]
        yield {**found, "content": settle_text(content)} if message["role"] == "tool" else found
        return
    # Anthropic's interface.
    texts = [part["text"] for part in content if part["type"] == "text"]
    calls = [
        {
            "id": part["id"],
            "type": "function",
            "function": {
                "name": part["name"],
                "arguments": json.dumps(part["input"], ensure_ascii=False),
            },
        }
        for part in content
        if part["type"] == "tool_use"
    ]
    if message["role"] == "assistant":
        yield {"role": "assistant", "content": "".join(texts) or None, "tool_calls": calls}
    for part in content:
        if part["type"] == "tool_result":
            yield {
                "role": "tool",
                "tool_call_id": part["tool_use_id"],
                "content": settle_text(part["content"]),
            }


def settle_text(text: str) -> str:
    """Write sets in alphabetical order; without a clone, leave the sentences out."""
    value = json.loads(text)
    if CLONE is None and isinstance(value, dict) and (set(value) == {"error"} or "api_status" in value):
        return "a sentence"
    return sort_sets(text)


def sort_sets(text: str) -> str:
    return re.sub(
        r"\{'\w+'(?:, '\w+')*\}",
        lambda found: "{" + ", ".join(sorted(found[0][1:-1].split(", "))) + "}",
        text,
    )


def settle_judged(bodies: Sequence[Body]) -> list[Body]:
    settled = []
    for body in bodies:
        found = {name: value for name, value in body.items() if name != "model"}
        if CLONE is None:
            found["messages"] = [message["role"] for message in body["messages"]]
        else:
            found["messages"] = [
                {**message, "content": sort_sets(message["content"])} for message in body["messages"]
            ]
        settled.append(found)
    return settled


def find_difference(runner: str, scenario: Body, official: Asked) -> str | None:
    """Describe the first difference in a scenario; None where there is none."""
    ours = ask(runner, scenario)
    pairs = [("judge", settle_judged(ours.judge), settle_judged(official.judge))]
    if runner in CHAT:
        pairs.insert(0, ("model", settle_bodies(ours.model, runner), settle_bodies(official.model, runner)))
    for kind, mine, theirs in pairs:
        for number, (one, other) in enumerate(zip(mine, theirs, strict=False), 1):
            for name in one.keys() | other.keys():
                if one.get(name) != other.get(name):
                    told = json.dumps(one.get(name)), json.dumps(other.get(name))
                    at = next((n for n, (a, b) in enumerate(zip(*told, strict=False)) if a != b), 0)
                    start = max(0, at - 60)
                    return (
                        f"{kind} {number} {name}: {told[0][start : at + 120]} not {told[1][start : at + 120]}"
                    )
        if len(mine) != len(theirs):
            return f"{kind}: {len(mine)} requests instead of {len(theirs)}"
    theirs_outcome = summarize_official(read_scenarios()["official"][runner][scenario["key"]])
    return None if ours.outcome == theirs_outcome else f"outcome {ours.outcome} not {theirs_outcome}"


def list_differing(runner: str) -> dict[str, str]:
    recordings = read_recordings(runner)
    found = {
        scenario["key"]: find_difference(runner, scenario, recordings.get(scenario["key"], Asked([], [])))
        for scenario in read_scenarios()["scenarios"]
    }
    return {key: difference for key, difference in found.items() if difference}


@pytest.mark.few(3)
@pytest.mark.parametrize("runner", [*CHAT, *RAW])
def test_requests_and_outcomes_are_the_official_ones(runner: str) -> None:
    assert len(read_scenarios()["scenarios"]) == 47
    differing = list_differing(runner)
    expected = EXCEPTIONS[runner]
    if CLONE is None:
        expected -= UNSEEN_WITHOUT_CLONE.get(runner, frozenset())
    assert {key: told for key, told in differing.items() if key not in expected} == {}
    assert differing.keys() == expected, "an exception is none any more"


def test_every_exception_has_its_reason() -> None:
    page = (ROOT / "docs/project/decisions-golden-paths.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    for runner, keys in EXCEPTIONS.items():
        for key in keys:
            assert any(runner in row and key in row for row in rows), (runner, key)


@each_case("runner", CHAT)
@each_case("letter", ["Success", "temperature", "S000"])
def test_a_changed_letter_is_a_difference(runner: str, letter: str) -> None:
    scenario = read_scenarios()["scenarios"][0]
    recorded = read_recordings(runner)[scenario["key"]]
    assert find_difference(runner, scenario, recorded) is None
    before, after = json.dumps(recorded.model), letter[:-1] + letter[-1].swapcase()
    changed = before.replace(letter, after if after != letter else letter[:-1] + "1")
    assert changed != before
    assert find_difference(runner, scenario, replace(recorded, model=json.loads(changed))) is not None


def test_a_changed_letter_of_a_prompt_is_a_difference() -> None:
    if CLONE is None:
        pytest.skip("FCBENCH_COMPLEXEVAL names no clone of the official evaluator")
    scenario = read_scenarios()["scenarios"][32]
    recorded = read_recordings("gpt")[scenario["key"]]
    assert find_difference("gpt", scenario, recorded) is None
    changed = json.loads(json.dumps(recorded.judge).replace("Conversation history", "Conversation History"))
    assert changed != recorded.judge
    assert find_difference("gpt", scenario, replace(recorded, judge=changed)) is not None


def test_the_clone_has_the_known_texts() -> None:
    if CLONE is None:
        pytest.skip("FCBENCH_COMPLEXEVAL names no clone of the official evaluator")
    assert read_wording().version == COMMIT
