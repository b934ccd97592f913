"""Probes of the web APIs that entries depend on: each request, and whether its answer has the right shape."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from itertools import chain

from pytest_fcbench.codecs.call_evaluation import carry_out_call
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.execution import live, lookups
from pytest_fcbench.execution.lookups import FailedLookupError
from pytest_fcbench.execution.outcomes import Responded
from pytest_fcbench.execution.rest_apis import ApiRequest, identify_request
from pytest_fcbench.execution.rest_performer import Sender, read_api_request
from pytest_fcbench.kinds.execution.rest_verdict import compare_shapes
from pytest_fcbench.kinds.execution.verdict import list_calls_to_carry_out, list_recorded_replies
from pytest_fcbench.present.tables import Table, render_text


@dataclass(frozen=True, slots=True)
class Probe:
    """A request that entries depend on."""

    call: str
    """The call of the first ground truth that makes the request."""
    wanted: ApiRequest
    scheme: str
    misfits: list[Callable[[str], str | None]] = field(default_factory=list)
    """Checks of the body of an answer, one for each ground truth; each returns what is wrong, or None."""


def collect_probes(entries: Iterable[Entry]) -> list[Probe]:
    """Collect the requests of all ground truths, each once, without those to the benchmark's services."""
    probes_by_key: dict[str, Probe] = {}
    for entry in entries:
        # Without a recorded answer it asks a service of the benchmark, which no API can change.
        probes = [_probe_response(*reply) for reply in list_recorded_replies(entry)]
        # Of executed calls only lookups leave this machine.
        calls = list_calls_to_carry_out(entry)
        leaving = (call for call in calls if call.partition("(")[0].strip() in lookups.LOOKUPS)
        probes += map(_probe_lookup, leaving)
        for probe in probes:
            key = identify_request(probe.wanted, live.HOSTS[probe.wanted.host])
            probes_by_key.setdefault(key, replace(probe, misfits=[])).misfits.extend(probe.misfits)
    return list(probes_by_key.values())


def _probe_response(call: str, recorded_response: str) -> Probe:
    """Return the probe of a call whose response must have the shape of the recorded one."""

    def find_misfit(body: str) -> str | None:
        try:
            code = compare_shapes(read_json_text(recorded_response), read_json_text(body))
        # A server can answer with anything, also with JSON nested deeper than Python reads.
        except (ValueError, RecursionError):
            return f"not JSON: {body:.120}"
        return code and f"{code}: {body:.120}"

    _, request, scheme = read_api_request(call)
    return Probe(call, request, scheme, [find_misfit])


def _probe_lookup(call: str) -> Probe:
    """Return the probe of the lookup that a call makes; its response must hold the result of the lookup."""
    lookup_calls: list[tuple[str, lookups.Arguments]] = [("", {})]
    # Executed with functions that only note their arguments, because calls can be nested.
    carry_out_call(
        call, lookups.make_functions(lambda function, given: lookup_calls.append((function, dict(given))))
    )
    name, arguments = lookup_calls[-1]

    def find_misfit(body: str) -> str | None:
        try:
            live.read_result(name, arguments, body)
        except FailedLookupError as error:
            return str(error)
        return None

    request = live.make_request(name, arguments)
    return Probe(call, request, live.find_scheme(request.host), [find_misfit])


class ProbeState(StrEnum):
    """The outcome of a request."""

    ANSWERED = "answered"
    WRONG_SHAPE = "wrong shape"
    FAILED = "failed"
    KEY_MISSING = "key missing"


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """The outcome of a request, with the reason if it is not ``ANSWERED``."""

    probe: Probe
    state: ProbeState
    reason: str = ""


def ask_apis(probes: Iterable[Probe], sender: Sender) -> Iterator[ProbeOutcome]:
    """Send the requests and yield their outcomes by host; each host gets one request at a time."""
    by_host: defaultdict[str, list[Probe]] = defaultdict(list)
    for probe in probes:
        by_host[probe.wanted.host].append(probe)
    # A thread for each host, because some want a pause after each request and the others need not wait.
    with ThreadPoolExecutor(len(by_host) or 1) as pool:
        yield from chain.from_iterable(pool.map(partial(_ask_host, sender), by_host.values()))


def _ask_host(sender: Sender, probes: Sequence[Probe]) -> list[ProbeOutcome]:
    key = live.HOSTS[probes[0].wanted.host].key
    # Without its key the host would refuse each request, which says nothing about the entries.
    if key and not os.environ.get(key.env, "").strip():
        return [ProbeOutcome(probe, ProbeState.KEY_MISSING, key.env) for probe in probes]
    answers = []
    for probe in probes:
        match sender.send(probe.wanted, probe.scheme):
            case Responded(status=200, body=body):
                wrong = next((complaint for misfit in probe.misfits if (complaint := misfit(body))), "")
                answers.append(
                    ProbeOutcome(probe, ProbeState.WRONG_SHAPE if wrong else ProbeState.ANSWERED, wrong)
                )
            case Responded(status=status, body=body):
                answers.append(ProbeOutcome(probe, ProbeState.FAILED, f"HTTP {status}: {body:.120}"))
            case other:
                answers.append(ProbeOutcome(probe, ProbeState.FAILED, other.reason))
    return answers


def check_apis(entries: Iterable[Entry], instead: Mapping[str, int] | None = None) -> Sequence[ProbeOutcome]:
    """Ask the web APIs that entries need; ``instead`` is passed to ``Sender``."""
    return list(ask_apis(collect_probes(entries), Sender(live.HOSTS, instead=instead)))


def build_outcome_document(outcomes: Sequence[ProbeOutcome]) -> Mapping[str, object]:
    """Return outcomes as JSON values."""
    requests = [
        {
            "host": outcome.probe.wanted.host,
            "call": outcome.probe.call,
            "state": outcome.state.value,
            "reason": outcome.reason or None,
        }
        for outcome in outcomes
    ]
    return {"answered": count_answered(outcomes), "requests": requests}


def render_outcomes(outcomes: Sequence[ProbeOutcome], width: int) -> Iterator[str]:
    """Render how many requests each host answered, and why it did not answer the others."""
    by_host: dict[str, list[ProbeOutcome]] = {}
    for outcome in outcomes:
        by_host.setdefault(outcome.probe.wanted.host, []).append(outcome)
    rows, failures = [], []
    for host, own in by_host.items():
        counts = Counter(outcome.state for outcome in own)
        rows.append((host, str(len(own)), *(str(counts[state]) for state in ProbeState)))
        reasons = Counter((each.state, each.reason) for each in own if each.state is not ProbeState.ANSWERED)
        for (state, reason), number in reasons.items():
            failures.append(f"{host}: {number} {state}: {' '.join(reason.split())}")
    yield from render_text(Table("", ("host", "calls", *ProbeState), tuple(rows)), width)
    yield from failures
    yield f"{count_answered(outcomes)} of {len(outcomes)} requests got a reply of the expected shape"


def count_answered(outcomes: Sequence[ProbeOutcome]) -> int:
    """Count the requests that were answered in the right shape."""
    return sum(outcome.state is ProbeState.ANSWERED for outcome in outcomes)
