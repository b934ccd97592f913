"""Servers are opened, called and ended; whatever they do, an error says it and no process stays."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, cast

import psutil
import pytest

from pytest_fcbench.domain.entry import ServerProgram
from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.mcp_servers.open_server import (
    OpenServer,
    ServerAddress,
    list_tools,
    open_server,
    read_source,
)
from tests.mcp_servers import shelf

if TYPE_CHECKING:
    from mcp.client.client import Client

pytest.importorskip("mcp")

SHELF = (sys.executable, "-I", shelf.__file__)


def use_server(program: ServerProgram, use: Callable[[OpenServer], Coroutine[object, object, str]]) -> str:
    async def run() -> str:
        async with open_server(program) as server:
            return await use(server)

    return asyncio.run(run())


def make_calls(program: ServerProgram, *calls: Call) -> list[str]:
    texts: list[str] = []

    async def use(server: OpenServer) -> str:
        for call in calls:
            texts.append(await server.call_tool(call))
        return ""

    use_server(program, use)
    return texts


def list_children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if shelf.__file__ in child.cmdline()]


def test_calls_act_on_one_server_and_a_fresh_one_knows_nothing_of_them() -> None:
    put, count = Call("put-goods", {"name": "tea", "count": 2}), Call("count_goods", {"name": "tea"})
    program = ServerProgram(SHELF)
    assert '"count": 4' in make_calls(program, put, put, count)[2]
    assert '"count": 0' in make_calls(program, count)[0]
    assert not list_children()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("/workspace/tea", "/workspace/tea"),
        ({"/workspace/tea": "tea"}, "{'/workspace/tea': 'tea'}"),
        ("half a character: \ud83d", "half a character: \\ud83d"),
    ],
    ids=["text", "key", "surrogate"],
)
def test_the_folder_is_shown_under_a_name_that_stays(name: object, shown: str) -> None:
    assert make_calls(ServerProgram(SHELF), Call("put-goods", {"name": name, "count": 1})) == [
        f"{shown} put on the shelf in /workspace"
    ]


def test_keys_of_an_argument_name_the_real_folder() -> None:
    server = OpenServer(cast("Client", None), 1, "/real")
    assert server._enter_folder({"/workspace/a": ["/workspace"]}) == {"/real/a": ["/real"]}


@pytest.mark.parametrize(("habit", "text"), [("empty", ""), ("structured", '{"goods": {}}')])
def test_a_result_is_shown_in_the_form_that_it_has(habit: str, text: str) -> None:
    assert make_calls(ServerProgram((*SHELF, habit)), Call("describe_shelf", {})) == [text]


def test_files_and_setup_are_there_before_the_server_starts(tmp_path: Path) -> None:
    code = "import pathlib; print(pathlib.Path('a/b.txt').read_text() + pathlib.Path('c').read_text())"
    program = ServerProgram(
        (sys.executable, "-c", f"{code}; raise SystemExit('seen')"),
        files={"a/b.txt": "one "},
        setup=((sys.executable, "-c", "open('c', 'w').write('two')"),),
    )
    with pytest.raises(CallError, match="it wrote: seen"):
        make_calls(program)


def test_a_setup_that_fails_says_what_it_wrote() -> None:
    program = ServerProgram(SHELF, setup=((sys.executable, "-c", "raise SystemExit('no space')"),))
    with pytest.raises(CallError, match="failed: no space") as raised:
        make_calls(program)
    assert raised.value.cause == "mcp_setup"


def test_only_named_variables_are_given_and_their_values_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELF_TOKEN", "swordfish-77")
    describe = Call("describe_shelf", {})
    assert '"token": null' in make_calls(ServerProgram(SHELF), describe)[0]
    assert '"token": "***"' in make_calls(ServerProgram(SHELF, ("SHELF_TOKEN",)), describe)[0]
    # Whatever its name is, and wherever the server repeats it.
    monkeypatch.setenv("SHELF_LOGIN", "swordfish-78")
    with pytest.raises(CallError, match=r"the login \*\*\* is not known"):
        make_calls(ServerProgram((*SHELF, "refuse"), ("SHELF_LOGIN",)), describe)


def test_a_short_value_is_not_masked_because_honest_results_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELF_TOKEN", "2")
    put, count = Call("put-goods", {"name": "tea", "count": 2}), Call("count_goods", {"name": "tea"})
    assert '"count": 2' in make_calls(ServerProgram(SHELF, ("SHELF_TOKEN",)), put, count)[1]


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHELF_TOKEN", raising=False)
    with pytest.raises(UsageError, match="SHELF_TOKEN is not set"):
        make_calls(ServerProgram(SHELF, ("SHELF_TOKEN",)))


@pytest.mark.nightly
def test_a_server_that_hangs_is_ended() -> None:
    program = ServerProgram((*SHELF, "hang"), timeout_s=20)
    with pytest.raises(CallError, match="did not answer describe_shelf within 20 s") as raised:
        make_calls(program, Call("describe_shelf", {}))
    assert raised.value.cause == "mcp_timeout"
    assert not list_children()


def test_a_server_that_dies_is_told_with_what_it_wrote() -> None:
    with pytest.raises(CallError, match="Connection closed; it wrote: the shelf fell down"):
        make_calls(ServerProgram((*SHELF, "die")), Call("describe_shelf", {}))


@pytest.mark.nightly
def test_a_program_that_is_no_server_does_not_start() -> None:
    program = ServerProgram((sys.executable, "-c", "import time; time.sleep(600)"), timeout_s=1)
    with pytest.raises(CallError, match="did not start within 1 s"):
        make_calls(program)


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="'no-such-program' is not there"):
        make_calls(ServerProgram(("no-such-program",)))


def test_all_pages_of_a_list_are_read() -> None:
    listing = list_tools(ServerProgram(SHELF))
    assert (listing.name, listing.version) == ("shelf", "1.2")
    assert [tool["name"] for tool in listing.tools] == [tool["name"] for tool in shelf.TOOLS]
    assert [tool["inputSchema"] for tool in listing.tools] == [tool["inputSchema"] for tool in shelf.TOOLS]


@pytest.mark.nightly
def test_a_list_that_does_not_come_is_no_server_that_does_not_start() -> None:
    told = "started, but did not list its tools within 5 s; it wrote: the list is lost"
    with pytest.raises(CallError, match=told) as raised:
        list_tools(ServerProgram((*SHELF, "secretive"), timeout_s=5))
    assert raised.value.cause == "mcp_timeout"


def test_a_list_without_end_is_left() -> None:
    with pytest.raises(CallError, match="more than 100 pages"):
        list_tools(ServerProgram((*SHELF, "flood")))


def test_an_address_that_nobody_listens_on_is_told() -> None:
    # Port 1 of this machine: nothing of ours listens there.
    with pytest.raises(CallError, match="does not answer"):
        list_tools(ServerAddress("http://127.0.0.1:1/mcp", timeout_s=20))


def test_an_address_that_never_answers_is_left() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"
        with pytest.raises(CallError, match=r"within 1 s|does not answer"):
            list_tools(ServerAddress(url, timeout_s=1))


def test_sources() -> None:
    assert read_source("mcp:uvx 'a b' --c", ["T"]) == ServerProgram(("uvx", "a b", "--c"), ("T",))
    address = read_source("mcp:http://127.0.0.1:9/mcp", headers={"Authorization": "T"})
    assert address == ServerAddress("http://127.0.0.1:9/mcp", {"Authorization": "T"})
    with pytest.raises(UsageError, match="is given as mcp:COMMAND or mcp:URL"):
        read_source("mcp: ")
    with pytest.raises(UsageError, match="cannot be split"):
        read_source("mcp:uvx 'a")
