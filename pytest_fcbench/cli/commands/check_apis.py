"""``fcbench check-apis``: which of the web APIs that entries need still answer, before anything is scored.

What is asked are the requests of the truths of REST entries and those of the functions that truths of
executable entries look something up with, each once. The exit code is 0 where all are answered in the right
shape, else 1.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pytest_fcbench.config.loading import cache_folder
from pytest_fcbench.domain.entry import Entry, Group
from pytest_fcbench.domain.errors import UsageError, unknown
from pytest_fcbench.domain.redaction import redacted
from pytest_fcbench.domain.text import printable
from pytest_fcbench.execution.functions import live
from pytest_fcbench.execution.rest.sender import Sender
from pytest_fcbench.scorecard.render import tables
from pytest_fcbench.scorecard.render.tables import Table
from pytest_fcbench.suites import bfcl
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.tools.api_probes import Answer, State, ask_apis, collect_probes

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
    probes = collect_probes(entries)
    known = sorted({probe.wanted.host for probe in probes})
    for host in hosts:
        if host not in known:
            raise UsageError(f"--host={host}: {unknown('host', host, known)}")
    probes = [probe for probe in probes if not hosts or probe.wanted.host in hosts]
    found = list(ask_apis(probes, Sender(live.HOSTS, instead=instead)))
    if as_json:
        print(redacted(json.dumps(_document(found), indent=2)))
    else:
        for line in _lines(found):
            print(printable(redacted(line)))
    return 0 if all(answer.state is State.ANSWERED for answer in found) else 1


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
