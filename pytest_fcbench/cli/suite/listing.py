"""``fcbench suite list``: list the suites and their contents.
``fcbench suite schema``: print the JSON Schema of entries, for editors.
``fcbench suite apis``: check which web APIs that entries need still answer, before anything is scored.

It sends, once each, the requests in the ground truth of REST entries, and those of lookup functions in the
ground truth of executable entries. The exit code is 0 if all are answered in the right shape, else 1.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pytest_fcbench.cli.options import describe_size, find_openers, list_own_categories
from pytest_fcbench.cli.output import declare_json, find_width, print_json, print_lines
from pytest_fcbench.config.loading import find_cache_folder
from pytest_fcbench.domain.entry import Entry, Group
from pytest_fcbench.domain.errors import FcbenchError, PackError, UsageError, describe_unknown_name
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.execution.functions import live
from pytest_fcbench.execution.rest.performer import Sender
from pytest_fcbench.kinds.entry_files import generate_entry_schema
from pytest_fcbench.present import tables
from pytest_fcbench.present.tables import Table
from pytest_fcbench.suites import bfcl
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.tools.api_probes import ProbeOutcome, ProbeState, ask_apis, collect_probes

# from commands/suites


def declare_list(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``list``."""
    parser.add_argument(
        "--categories", action="store_true", help="also list the number of entries in each category"
    )
    declare_json(parser)


def run_list(arguments: argparse.Namespace) -> int:
    has_failure = False
    rows: list[Mapping[str, object]] = []
    for name, opener in find_openers(arguments).items():
        row: dict[str, object] = {"suite": name}
        try:
            suite = opener(find_cache_folder())
            text = f"{suite.version}, {describe_size(suite)}"
            sizes = {each.name: len(suite.load(each)) for each in list_own_categories(suite)}
            row |= {"version": suite.version, "categories": sizes}
            if arguments.categories:
                text = "\n".join([text, *(f"  {each:<24} {size:>6,}" for each, size in sizes.items())])
        # A pack that was not pulled is no fault; a suite that cannot be read is one.
        except PackError as error:
            text = row["error"] = f"not installed: {error}"
        except FcbenchError as error:
            text = row["error"] = f"cannot be loaded: {error}"
            has_failure = True
        rows.append(row)
        if not arguments.json:
            print(f"{name:<18} {text}")
    if arguments.json:
        print_json(rows)
    return int(has_failure)


# from commands/schema


def declare_schema(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``schema``."""
    parser.add_argument(
        "--lines",
        action="store_true",
        help="print the schema of one line of a JSON Lines file, not of a YAML file",
    )


def run_schema(arguments: argparse.Namespace) -> int:
    print(json.dumps(generate_entry_schema(lines=arguments.lines), indent=2))
    return 0


# from commands/check_apis


def declare_apis(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``apis``."""
    add = parser.add_argument
    add(
        "--suite",
        action="append",
        metavar="NAME",
        help="suite whose web APIs to check (repeatable; default: bfcl)",
    )
    add("--host", action="append", metavar="NAME", help="check only this host (repeatable)")
    add("--json", action="store_true", help="print JSON")


def run_apis(arguments: argparse.Namespace) -> int:
    suites = [open_suite(name, find_cache_folder()) for name in arguments.suite or [bfcl.SOURCE.name]]
    entries = (
        entry
        for suite in suites
        for category in suite.categories
        if category.group is Group.EXECUTABLE
        for entry in suite.load(category)
    )
    return check_apis(entries, arguments.host or (), as_json=arguments.json)


def check_apis(
    entries: Iterable[Entry],
    hosts: Sequence[str] = (),
    *,
    as_json: bool = False,
    instead: Mapping[str, int] | None = None,
) -> int:
    """Ask the web APIs that entries need, print the outcomes, and return the exit code.

    ``instead`` is passed to ``Sender``. Raises ``UsageError`` for an unknown host.
    """
    probes = collect_probes(entries)
    known_hosts = sorted({probe.wanted.host for probe in probes})
    for host in hosts:
        if host not in known_hosts:
            raise UsageError(f"--host={host}: {describe_unknown_name('host', host, known_hosts)}")
    probes = [probe for probe in probes if not hosts or probe.wanted.host in hosts]
    answers = list(ask_apis(probes, Sender(live.HOSTS, instead=instead)))
    good = sum(answer.state is ProbeState.ANSWERED for answer in answers)
    # A reason can quote a URL, and some APIs take their key in it.
    if as_json:
        requests = [
            {
                "host": answer.probe.wanted.host,
                "call": answer.probe.call,
                "state": answer.state.value,
                "reason": answer.reason or None,
            }
            for answer in answers
        ]
        print(redact_secrets(json.dumps({"answered": good, "requests": requests}, indent=2)))
    else:
        by_host: dict[str, list[ProbeOutcome]] = {}
        for answer in answers:
            by_host.setdefault(answer.probe.wanted.host, []).append(answer)
        rows, failures = [], []
        for host, own in by_host.items():
            counts = Counter(answer.state for answer in own)
            rows.append((host, str(len(own)), *(str(counts[state]) for state in ProbeState)))
            bad = Counter(
                (answer.state, answer.reason) for answer in own if answer.state is not ProbeState.ANSWERED
            )
            for (state, reason), number in bad.items():
                failures.append(f"{host}: {number} {state}: {' '.join(reason.split())}")
        table = Table("", ("host", "calls", *ProbeState), tuple(rows))
        print_lines(map(redact_secrets, (*tables.render_text(table, find_width()), *failures)))
        print(f"{good} of {len(answers)} requests got a reply of the expected shape")
    return 0 if good == len(answers) else 1
