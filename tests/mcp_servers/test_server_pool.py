"""The tool that carries calls out on MCP servers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pytest_fcbench.codecs.decoders.registry import OfferedFunctions
from pytest_fcbench.domain.entry import ServerProgram
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.mcp_servers import server_pool
from pytest_fcbench.mcp_servers.server_pool import ServerPool
from pytest_fcbench.mcp_servers.server_requests import ServerCalls, ServerRequest, read_results, write_request
from tests.mcp_servers import shelf
from tests.mcp_servers.made import SHELF, make_server_entry

pytest.importorskip("mcp")

ENTRY = make_server_entry()
PROGRAM = ServerProgram(SHELF)
PUT, COUNT, DESCRIBE = (
    Call("put-goods", {"name": "tea", "count": 2}),
    Call("count_goods", {"name": "tea"}),
    Call("describe_shelf", {}),
)


@pytest.fixture
def servers() -> Iterator[ServerPool]:
    model = ServerPool(True, lambda entry: Path("/suite"))
    yield model
    model.close()


def ask_server(model: ServerPool, request: ServerRequest) -> list[dict[str, object]]:
    completion = asyncio.run(model.complete(ENTRY, write_request(request)))
    return [json.loads(text) if text[0] == "{" else {"text": text} for text in read_results(completion)]


def list_processes() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if shelf.__file__ in child.cmdline()]


def test_a_server_serves_the_whole_conversation(servers: ServerPool) -> None:
    ask_server(servers, ServerRequest(PROGRAM, (), (DESCRIBE,), probing=True))
    (process,) = list_processes()
    ask_server(servers, ServerRequest(PROGRAM, (), (PUT,)))
    (counted,) = ask_server(servers, ServerRequest(PROGRAM, (PUT,), (COUNT,)))
    assert counted["count"] == 2
    assert list_processes() == [process]


def test_a_request_with_other_calls_gets_a_fresh_server_in_that_state(servers: ServerPool) -> None:
    ask_server(servers, ServerRequest(PROGRAM, (), (PUT,)))
    (process,) = list_processes()
    (counted,) = ask_server(servers, ServerRequest(PROGRAM, (PUT, PUT), (COUNT,)))
    assert counted["count"] == 4
    assert list_processes() != [process]
    (counted,) = ask_server(servers, ServerRequest(PROGRAM, (), (COUNT,)))
    assert counted["count"] == 0


def test_a_server_that_was_ended_meanwhile_is_brought_back(servers: ServerPool) -> None:
    ask_server(servers, ServerRequest(PROGRAM, (), (PUT,)))
    # All, because one of an earlier test may not have ended yet.
    for process in (processes := list_processes()):
        process.kill()
    psutil.wait_procs(processes)
    with pytest.raises(CallError, match="the MCP server"):
        ask_server(servers, ServerRequest(PROGRAM, (PUT,), (COUNT,)))
    (counted,) = ask_server(servers, ServerRequest(PROGRAM, (PUT,), (COUNT,)))
    assert counted["count"] == 2


def test_calls_that_nobody_waits_for_are_on_no_later_server(servers: ServerPool) -> None:
    """The time of an entry is up in the middle of a call, and a rerun puts the entry again."""
    hanging = ServerProgram((*SHELF, "hang"), timeout_s=20)

    async def cancel_and_ask_again() -> tuple[str, ...]:
        call = asyncio.create_task(servers.complete(ENTRY, write_request(ServerRequest(hanging, (), (PUT,)))))
        while not servers._sessions:
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait([call])
        return read_results(await servers.complete(ENTRY, write_request(ServerRequest(hanging, (), ()))))

    assert asyncio.run(cancel_and_ask_again()) == ()


def test_no_process_stays(servers: ServerPool) -> None:
    ask_server(servers, ServerRequest(PROGRAM, (), (PUT,)))
    assert list_processes()
    servers.close()
    assert not list_processes()
    servers.close()


def test_more_servers_than_places_end_the_oldest(
    servers: ServerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_pool, "_AT_ONCE", 1)
    other = make_server_entry(("Other", ["describe_shelf()"]))
    ask_server(servers, ServerRequest(PROGRAM, (), (PUT,)))
    (process,) = list_processes()
    request = write_request(ServerRequest(PROGRAM, (), (DESCRIBE,)))
    object.__setattr__(other, "id", "mcp_1")
    asyncio.run(servers.complete(other, request))
    assert list_processes() != [process]
    assert len(list_processes()) == 1


def test_nothing_is_started_where_the_user_does_not_allow_it() -> None:
    model = ServerPool(False, lambda entry: Path("/suite"))
    with pytest.raises(CallError, match="allow it with --fcbench-mcp") as raised:
        ask_server(model, ServerRequest(PROGRAM, (), (PUT,)))
    assert raised.value.cause == "mcp_off"
    assert not list_processes()


def test_a_missing_program_is_no_answer(servers: ServerPool) -> None:
    with pytest.raises(CallError, match="'no-such-program' is not there"):
        ask_server(servers, ServerRequest(ServerProgram(("no-such-program",)), (), (PUT,)))


def test_a_program_may_lie_beside_its_suite() -> None:
    folder, name = str(Path(shelf.__file__).parent), Path(shelf.__file__).name
    model = ServerPool(True, lambda entry: Path(folder))
    try:
        program = ServerProgram((SHELF[0], "-I", f"{{suite}}/{name}"))
        (counted,) = ask_server(model, ServerRequest(program, (PUT,), (COUNT,)))
        assert counted["count"] == 2
    finally:
        model.close()


def test_equal_requests_have_equal_digests_and_probes_are_not_made() -> None:
    assert ENTRY.scene
    assert ENTRY.scene.server
    calls = ServerCalls(ENTRY.scene.server, OfferedFunctions(ENTRY.functions, Names.DOTTED))
    probes = calls.request_probes()
    assert calls.request_probes().digest == probes.digest
    made = calls.request_calls([PUT])
    assert made.digest != probes.digest
    assert calls.made == [PUT]
    assert calls.request_probes().digest != probes.digest
