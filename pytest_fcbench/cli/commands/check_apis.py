"""``fcbench check-apis``: which of the web APIs that entries need still answer, before anything is scored.

What is asked are the requests of the truths of REST entries and those of the functions that truths of
executable entries look something up with, each once. The exit code is 0 where all are answered in the right
shape, else 1.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum

from pytest_fcbench.codecs.call_evaluation import carried_out
from pytest_fcbench.config.loading import cache_folder
from pytest_fcbench.domain.entry import Entry, ExpectedResponse, ExpectedResults, Group
from pytest_fcbench.domain.errors import UsageError, unknown
from pytest_fcbench.domain.redaction import redacted
from pytest_fcbench.domain.verdict import printable
from pytest_fcbench.execution.functions import live, lookups
from pytest_fcbench.execution.functions.lookups import FailedLookupError
from pytest_fcbench.execution.outcomes import Responded, Response, Unanswered
from pytest_fcbench.execution.rest.apis import Asked, identity
from pytest_fcbench.execution.rest.performer import wanted_by
from pytest_fcbench.execution.rest.sender import Sender
from pytest_fcbench.matchers.rest import shape
from pytest_fcbench.scorecard.render import tables
from pytest_fcbench.scorecard.render.tables import Table
from pytest_fcbench.suites import SUITES, bfcl, open_suite

HELP = "ask which web APIs still answer as REST and executable entries need it"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--suite", action="append", metavar="NAME", help="suite whose entries need them (default: bfcl)"
    )
    parser.add_argument("--host", action="append", metavar="NAME", help="only this host (repeatable)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run_command(chosen: argparse.Namespace) -> int:
    wanted = chosen.suite or [bfcl.SOURCE.name]
    for name in wanted:
        if name not in SUITES:
            raise UsageError(unknown("suite", name, SUITES))
    suites = [open_suite(name, cache_folder()) for name in wanted]
    entries = (
        entry
        for suite in suites
        for category in suite.categories
        if category.group is Group.EXECUTABLE
        for entry in suite.load(category)
    )
    return checked(entries, chosen.host or (), as_json=chosen.json)


def checked(
    entries: Iterable[Entry],
    hosts: Sequence[str] = (),
    *,
    as_json: bool = False,
    instead: Mapping[str, int] | None = None,
) -> int:
    """Ask and print; gives the exit code. ``instead`` is that of ``Sender``. Raises ``UsageError``."""
    probes = probes_of(entries)
    known = sorted({probe.wanted.host for probe in probes})
    for host in hosts:
        if host not in known:
            raise UsageError(f"--host={host}: {unknown('host', host, known)}")
    probes = [probe for probe in probes if not hosts or probe.wanted.host in hosts]
    found = list(answers(probes, Sender(live.HOSTS, instead=instead)))
    if as_json:
        print(redacted(json.dumps(_document(found), indent=2)))
    else:
        for line in _lines(found):
            print(printable(redacted(line)))
    return 0 if all(answer.state is State.ANSWERED for answer in found) else 1


# What is asked


@dataclass(frozen=True, slots=True)
class Probe:
    """A request that entries depend on."""

    call: str
    """Of the first truth that makes it."""
    wanted: Asked
    scheme: str
    misfits: list[Callable[[str], str | None]] = field(default_factory=list)
    """Of the body of an answer, what is wrong with it, as each truth sees it."""


def probes_of(entries: Iterable[Entry]) -> list[Probe]:
    """The requests of all truths, each once. Services of our own are left out."""
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


# What is answered


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


def answers(probes: Iterable[Probe], sender: Sender) -> Iterator[Answer]:
    """What became of each, by host; each host is asked one thing at a time."""
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


# What is told


def _lines(found: Sequence[Answer]) -> Iterator[str]:
    hosts = dict.fromkeys(answer.probe.wanted.host for answer in found)
    rows = []
    for host in hosts:
        own = [answer for answer in found if answer.probe.wanted.host == host]
        counted = Counter(answer.state for answer in own)
        rows.append((host, str(len(own)), *(str(counted[state]) for state in State)))
    yield from tables.text(Table("", ("host", "calls", *State), tuple(rows)))
    for host in hosts:
        reasons = Counter(
            (answer.state, answer.reason)
            for answer in found
            if answer.probe.wanted.host == host and answer.state is not State.ANSWERED
        )
        for (state, reason), number in reasons.items():
            yield f"{host}: {number} {state}: {' '.join(reason.split())}"
    good = sum(answer.state is State.ANSWERED for answer in found)
    yield f"{good} of {len(found)} requests are answered in the right shape"


def _document(found: Sequence[Answer]) -> object:
    return {
        "answered": sum(answer.state is State.ANSWERED for answer in found),
        "requests": [
            {
                "host": answer.probe.wanted.host,
                "call": answer.probe.call,
                "state": answer.state.value,
                "reason": answer.reason or None,
            }
            for answer in found
        ],
    }
