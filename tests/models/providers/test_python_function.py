"""A function of a team's own answers: what it is given, what it may return, what becomes of its errors."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_fcbench.config import loading
from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.domain.transcript import AskModel, Completion, Ending, ToolCall
from pytest_fcbench.models import registry
from pytest_fcbench.models.providers.python_function import PythonModel, read_completion
from tests.cases import each_case
from tests.factories import make_entry

MESSAGES = ({"role": "user", "content": "Hello"},)
TOOLS = ({"type": "function", "function": {"name": "lamp"}},)
CALL = {"id": "1", "type": "function", "function": {"name": "lamp", "arguments": '{"on": true}'}}


def ask_function(function: Callable[[list[object], list[object]], object]) -> Completion:
    return asyncio.run(PythonModel("m:f", function).complete(make_entry(), AskModel(MESSAGES, TOOLS)))


def test_it_gets_copies_of_messages_and_tools() -> None:
    given: list[list[object]] = []

    def clear_messages(messages: list[object], tools: list[object]) -> str:
        given.extend([list(messages), list(tools)])
        messages.clear()
        return "Hi"

    completion = ask_function(clear_messages)
    assert (completion.text, completion.tool_calls) == ("Hi", None)
    assert completion.latency_s is not None
    assert given == [list(MESSAGES), list(TOOLS)]
    assert MESSAGES[0] == {"role": "user", "content": "Hello"}


def test_an_async_function_is_awaited_on_the_loop() -> None:
    seen: list[threading.Thread] = []

    async def note_thread(messages: list[object], tools: list[object]) -> str:
        await asyncio.sleep(0)
        seen.append(threading.current_thread())
        return "Hi"

    assert ask_function(note_thread).text == "Hi"
    assert seen == [threading.current_thread()]


def test_other_functions_run_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=60)

    def wait_for_both(messages: list[object], tools: list[object]) -> str:
        return str(both.wait())

    async def ask_twice() -> set[str | None]:
        model = PythonModel("m:f", wait_for_both)
        asks = (model.complete(make_entry(), AskModel(MESSAGES)) for _ in range(2))
        return {completion.text for completion in await asyncio.gather(*asks)}

    assert asyncio.run(ask_twice()) == {"0", "1"}


@each_case(
    "value",
    [
        [CALL],
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        [{"name": "lamp", "arguments": {"on": True}}],
        SimpleNamespace(model_dump=lambda: {"content": None, "tool_calls": [CALL]}),
    ],
    ids=["calls", "message", "short", "object"],
)
def test_tool_calls_come_in_several_shapes(value: object) -> None:
    assert read_completion(value) == Completion(tool_calls=(ToolCall("lamp", '{"on": true}'),))


def test_a_message_has_text_and_reasoning() -> None:
    message = {"content": "Hi", "tool_calls": None, "reasoning_content": "hm"}
    assert read_completion(message) == Completion(text="Hi", reasoning="hm")
    assert read_completion({"content": "", "tool_calls": []}) == Completion(text="")


def test_a_refusal_is_the_models_answer() -> None:
    message = {"role": "assistant", "content": None, "refusal": "I can't.", "tool_calls": None}
    assert read_completion(message) == Completion(ending=Ending.REFUSED, refusal="I can't.")


@each_case(
    ("value", "says"),
    [
        (None, "None, neither text nor a message nor a list of tool calls"),
        (7, "7, neither text"),
        ({}, "a message with neither content nor tool_calls"),
        ({"content": None, "refusal": None}, "a message with neither content nor tool_calls"),
        ({"content": ["x"]}, "a message whose content is ['x'], not text"),
        ({"content": "x", "tool_calls": {}}, "a message whose tool_calls are {}, not a list"),
        (["lamp"], "a tool call without a name"),
        ([{"name": "lamp"}], "with arguments that are neither text nor a dict"),
        ([{"function": {"arguments": "{}"}}], "a tool call without a name"),
        ([{"name": "lamp", "arguments": {"on": {1}}}], "arguments that cannot be written as JSON"),
    ],
)
def test_what_is_no_answer_is_not_scored(value: object, says: str) -> None:
    with pytest.raises(CallError) as caught:
        ask_function(lambda messages, tools: value)
    assert caught.value.cause == "function_result"
    assert caught.value.reason.startswith("m:f returned ")
    assert says in caught.value.reason
    assert not caught.value.transient


@each_case("error", [ValueError("no\nluck"), SystemExit(3), KeyboardInterrupt(), StopIteration()])
def test_what_it_raises_is_not_scored(error: BaseException) -> None:
    def raise_error(messages: list[object], tools: list[object]) -> str:
        raise error

    with pytest.raises(CallError, match="m:f raised ") as caught:
        ask_function(raise_error)
    assert caught.value.cause == "function_error"
    assert type(error).__name__ in caught.value.reason


def test_an_error_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "a-key-of-some-length")

    async def raise_with_key(messages: list[object], tools: list[object]) -> str:
        raise ValueError("refused a-key-of-some-length")

    with pytest.raises(CallError, match=r"m:f raised ValueError: refused \*\*\*$"):
        ask_function(raise_with_key)


# By its name


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a module into the current folder, under a name that no other test has."""
    name = f"agent_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text("def answer(messages, tools):\n    return 'Hi'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [])
    return name


def test_it_is_chosen_by_module_and_function(agent: str) -> None:
    model = registry.choose_model(loading.build_settings({"model": f"python:{agent}:answer"}, None)).model
    assert isinstance(model, PythonModel)
    assert model.name == f"{agent}:answer"
    assert not model.immediate


def test_its_module_lies_in_the_folder_of_the_project(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deeper").mkdir()
    monkeypatch.chdir(tmp_path / "deeper")
    options = {"model": f"python:{agent}:answer"}
    with pytest.raises(UsageError, match=f"{agent} cannot be imported"):
        registry.choose_model(loading.build_settings(options, None))
    model = registry.choose_model(loading.build_settings(options, None, Path(".."))).model
    assert isinstance(model, PythonModel)


def test_its_answers_are_kept_under_its_code(agent: str, tmp_path: Path) -> None:
    identity = registry.describe_identity(loading.build_settings({"model": f"python:{agent}:answer"}, None))
    assert identity["code"] == hashlib.sha256((tmp_path / f"{agent}.py").read_bytes()).hexdigest()
    assert "code" not in registry.describe_identity(loading.build_settings({"model": "gpt-4o"}, None))


@pytest.mark.parametrize(
    ("rest", "says"),
    [
        ("", "a function is missing; use python:MODULE:FUNCTION"),
        ("agent", "a function is missing; use python:MODULE:FUNCTION"),
        ("nowhere_to_be_found:f", "nowhere_to_be_found cannot be imported: ModuleNotFoundError"),
        ("{agent}:reply", "{agent} has no function 'reply'"),
    ],
)
def test_what_is_not_there_is_told(rest: str, says: str, agent: str) -> None:
    name = f"python:{rest.format(agent=agent)}"
    with pytest.raises(UsageError) as caught:
        registry.choose_model(loading.build_settings({"model": name}, None))
    assert str(caught.value).startswith(f"--fcbench-model={name}: ")
    assert says.format(agent=agent) in str(caught.value)


@pytest.mark.parametrize("name", ["python", "pyhton:m:f"])
def test_a_slip_is_told(name: str) -> None:
    with pytest.raises(
        UsageError, match=r"Valid: oracle, careless\[:PERCENT\], lexical, scripted:FILE, python:MODULE"
    ):
        registry.choose_model(loading.build_settings({"model": name}, None))
