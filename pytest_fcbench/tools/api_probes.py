"""Requests to web APIs that entries depend on, and whether they are still answered in the right shape."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum

from pytest_fcbench.codecs.call_evaluation import carried_out
from pytest_fcbench.domain.entry import Entry, ExpectedResponse, ExpectedResults
from pytest_fcbench.execution.functions import live, lookups
from pytest_fcbench.execution.functions.lookups import FailedLookupError
from pytest_fcbench.execution.outcomes import Responded, Response, Unanswered
from pytest_fcbench.execution.rest.apis import Asked, identity
from pytest_fcbench.execution.rest.performer import wanted_by
from pytest_fcbench.execution.rest.sender import Sender
from pytest_fcbench.matchers.rest import shape


@dataclass(frozen=True, slots=True)
class Probe:
    """A request that entries depend on."""

    call: str
    """Of the first truth that makes it."""
    wanted: Asked
    scheme: str
    misfits: list[Callable[[str], str | None]] = field(default_factory=list)
    """Of the body of an answer, what is wrong with it, as each truth sees it."""


def collect_probes(entries: Iterable[Entry]) -> list[Probe]:
    """Return the requests of all truths, each once; services of our own are left out."""
    found: dict[str, Probe] = {}
    for call, wanted, scheme, misfit in _requests(entries):
        key = identity(wanted, live.HOSTS[wanted.host])
        found.setdefault(key, Probe(call, wanted, scheme)).misfits.append(misfit)
    return list(found.values())


_Request = tuple[str, Asked, str, Callable[[str], str | None]]


def _requests(entries: Iterable[Entry]) -> Iterator[_Request]:
    for entry in entries:
        match entry.expectation:
            case ExpectedResponse(call=call, recorded=str(recorded)):
                _, wanted, scheme = wanted_by(call)
                yield call, wanted, scheme, _other_shape(recorded)
            case ExpectedResults(calls=calls):
                for call in calls:
                    if call.partition("(")[0].strip() in lookups.LOOKUPS:
                        yield _lookup(call)


def _lookup(call: str) -> _Request:
    name, arguments = "", {}

    def ask(function: str, given: lookups.Arguments) -> object:
        nonlocal name, arguments
        name, arguments = function, dict(given)
        return None

    carried_out(call, lookups.functions(ask))
    wanted = live.question(name, arguments)
    return call, wanted, live.scheme_of(wanted.host), _unreadable(name, arguments)


def _other_shape(recorded: str) -> Callable[[str], str | None]:
    def misfit(body: str) -> str | None:
        try:
            code = shape(json.loads(recorded), json.loads(body))
        except (ValueError, RecursionError):
            return f"no JSON: {body:.120}"
        return code and f"{code}: {body:.120}"

    return misfit


def _unreadable(name: str, arguments: lookups.Arguments) -> Callable[[str], str | None]:
    def misfit(body: str) -> str | None:
        try:
            live.read(name, arguments, body)
        except FailedLookupError as error:
            return str(error)
        return None

    return misfit


class State(StrEnum):
    """What became of a request."""

    ANSWERED = "answered"
    WRONG_SHAPE = "wrong shape"
    FAILED = "failed"
    KEY_MISSING = "key missing"


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a request, and why where that is not well."""

    probe: Probe
    state: State
    reason: str = ""


def ask_apis(probes: Iterable[Probe], sender: Sender) -> Iterator[Answer]:
    """Yield what became of each request, by host; a host is asked one thing at a time."""
    by_host: dict[str, list[Probe]] = {}
    for probe in probes:
        by_host.setdefault(probe.wanted.host, []).append(probe)
    with ThreadPoolExecutor(len(by_host) or 1) as pool:
        yield from (
            answer
            for found in pool.map(lambda own: _of_host(own, sender), by_host.values())
            for answer in found
        )


def _of_host(probes: Sequence[Probe], sender: Sender) -> list[Answer]:
    key = live.HOSTS[probes[0].wanted.host].key
    if key and not os.environ.get(key.env, "").strip():
        return [Answer(probe, State.KEY_MISSING, key.env) for probe in probes]
    return [_answer(probe, sender.send(probe.wanted, probe.scheme)) for probe in probes]


def _answer(probe: Probe, response: Response) -> Answer:
    match response:
        case Responded(status=200, body=body):
            wrong = next((told for misfit in probe.misfits if (told := misfit(body))), None)
            return Answer(probe, State.WRONG_SHAPE, wrong) if wrong else Answer(probe, State.ANSWERED)
        case Responded(status=status, body=body):
            return Answer(probe, State.FAILED, f"HTTP {status}: {body:.120}")
        case Unanswered(reason=reason):
            return Answer(probe, State.FAILED, reason)
    return Answer(probe, State.FAILED, response.reason)
