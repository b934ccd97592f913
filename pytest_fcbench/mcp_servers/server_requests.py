"""Requests to MCP servers, in the form in which a conversation puts them to a party.

A request names all calls that were made on its server before, so that its answer follows from it alone. It
can be stored and replayed, and a server that was ended can be brought back to the same state.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.domain.entry import ServerProgram, ServerState
from pytest_fcbench.domain.errors import describe_unknown_name
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import AskModel, Call, Completion, Party


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """Calls to carry out on a server."""

    program: ServerProgram
    made: tuple[Call, ...]
    """The calls that were made on it before."""
    calls: tuple[Call, ...]
    """The calls to carry out now."""
    probing: bool = False
    """True where the calls only show the state, so that later requests do not name them as made."""
    of_truth: bool = False
    """True for the server of the truth: equal calls of model and truth are made on one server each."""


@dataclass
class ServerCalls:
    """The calls of one side of a conversation, the model's or the truth's, on a server of its own."""

    state: ServerState
    offer: OfferedFunctions
    of_truth: bool = False
    made: list[Call] = field(default_factory=list)

    def request_probes(self) -> AskModel:
        """Return the request that shows the state after the calls that were made."""
        probes = tuple(map(python.parse_tool_call, self.state.probes))
        return self._write_request(probes, probing=True)

    def request_calls(self, calls: Sequence[Call]) -> AskModel:
        """Return the request that carries out calls, which count as made from then on."""
        request = self._write_request(tuple(calls))
        self.made += calls
        return request

    def _write_request(self, calls: tuple[Call, ...], *, probing: bool = False) -> AskModel:
        program, history = self.state.program, tuple(self.made)
        return write_request(ServerRequest(program, history, calls, probing=probing, of_truth=self.of_truth))

    def read_calls(self, texts: Sequence[str]) -> list[Call | str]:
        """Read calls; in place of one that the server is not asked to carry out, why, for the model."""
        read: list[Call | str] = []
        for text in texts:
            try:
                call = self.offer.normalise_call(python.parse_tool_call(text))
                # JSON has no other values, and NaN is none.
                json.dumps(call.arguments, allow_nan=False)
            except (Undecodable, TypeError, ValueError, RecursionError) as error:
                read.append(f"Error: the call cannot be read: {error}")
                continue
            if call.name not in self.offer.by_name:
                tool_names = [doc.name for doc in self.offer.functions]
                read.append(f"Error: {describe_unknown_name('tool', call.name, tool_names)}")
            else:
                surplus = f"Error: {call.name} gets a parameter twice, or too many parameters"
                read.append(surplus if call.positional else call)
        return read


def write_request(request: ServerRequest) -> AskModel:
    """Write a request as the only message to the party that has the servers."""
    program = {name: value for name, value in asdict(request.program).items() if value}
    content = {
        "server": program,
        **({"side": "truth"} if request.of_truth else {}),
        "made": list(map(_write_call, request.made)),
        "probes" if request.probing else "calls": list(map(_write_call, request.calls)),
    }
    return AskModel(({"role": "user", "content": json.dumps(content)},), party=Party.SERVER)


def read_request(request: AskModel) -> ServerRequest:
    """Read what ``write_request`` wrote."""
    (message,) = request.messages
    said = read_json_text(str(message["content"]))
    given = said["server"]
    program = ServerProgram(
        tuple(given["command"]),
        tuple(given.get("variables", ())),
        given.get("files", {}),
        tuple(map(tuple, given.get("setup", ()))),
        given["timeout_s"],
    )
    made, calls = (
        tuple(Call(each["name"], each["arguments"]) for each in listed)
        for listed in (said["made"], said.get("probes", said.get("calls")))
    )
    return ServerRequest(program, made, calls, probing="probes" in said, of_truth="side" in said)


def _write_call(call: Call) -> dict[str, object]:
    return {"name": call.name, "arguments": dict(call.arguments)}


def write_results(texts: Sequence[str]) -> Completion:
    """Write the results of calls, in their order, as the answer of the party."""
    return Completion(text=json.dumps(list(texts)))


def read_results(completion: Completion) -> tuple[str, ...]:
    """Read what ``write_results`` wrote."""
    return tuple(read_json_text(completion.text or "[]"))
