"""``fcbench doctor``: find what would stop a run here, with the way out, and name the next command.

The exit code is 1 where something would stop a run, else 0. The model and the judge are each asked one entry
of the suite core: two short calls, which ``--no-calls`` leaves out.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import asdict, replace

from pytest_fcbench.cli.options import (
    build_project_settings,
    collect_run_options,
    describe_size,
    drop_option_prefix,
    find_config,
    find_project,
    spell_run_options,
)
from pytest_fcbench.cli.output import print_json, print_lines
from pytest_fcbench.config.loading import add_environment
from pytest_fcbench.domain.errors import FcbenchError
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.models.protocol import describe_request
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.setup_checks import (
    FindingState,
    SetupFinding,
    check_disk,
    check_endpoint,
    check_installation,
)
from pytest_fcbench.suites import embedded


def run_doctor(arguments: argparse.Namespace) -> int:
    if arguments.request is not None:
        about = {"entry": [arguments.request], "suite": arguments.request.partition(":")[0]}
        options = add_environment({**collect_run_options(arguments), **about})
        context = RunContext(build_project_settings(options, arguments.config))
        context.check()
        categories, selection = context.settings.categories, context.selection
        entry = next(each for category in categories for each in selection.entries(category.name))
        print_json(describe_request(context.model, entry, next(context.converse(entry, {}))))
        return 0
    words = spell_run_options(collect_run_options(arguments))
    findings = []
    for each in _examine(arguments):
        # Messages name options of pytest, where commands have shorter ones.
        finding = replace(each, text=drop_option_prefix(each.text), way_out=drop_option_prefix(each.way_out))
        findings.append(finding)
        if arguments.json:
            continue
        print_lines([f"{finding.state:<6} {finding.what:<11} {finding.text}"])
        if finding.way_out:
            print_lines([f"{'':18} {finding.way_out}"])
    bad = [each for each in findings if each.state is FindingState.BAD]
    # The server may be someone else's; all checks tell more about it.
    if any(each.what != "server" for each in bad):
        again = shlex.join(["fcbench", "doctor", *map(drop_option_prefix, words)])
        following = f"fix what is wrong, then run: {again}"
    else:
        folder = find_project() / "benchmarks"
        first = "" if folder.is_dir() else "fcbench init && "
        breaks = any(each.what == "server" and each.text.startswith("broken") for each in findings)
        if breaks:
            others = [word for word in words if not word.startswith("--fcbench-suite=")]
            words = [f"--fcbench-suite={embedded.WIRE}", *others]
        following = first + shlex.join(["pytest", f"{folder}", *words])
    if arguments.json:
        print_json({"findings": [asdict(finding) for finding in findings], "next": following})
    else:
        print(f"next: {following}")
    return 1 if bad else 0


def _examine(arguments: argparse.Namespace) -> Iterator[SetupFinding]:
    """Yield the findings about this Python, this project and its models."""
    # Calls come last, because they need all that is checked before them.
    yield from check_installation()
    project = find_project().resolve()
    if (project / "benchmarks").is_dir():
        yield SetupFinding("benchmarks", FindingState.GOOD, f"{project / 'benchmarks'}")
    else:
        text = f"{project} has no folder 'benchmarks'"
        yield SetupFinding("benchmarks", FindingState.DOUBTFUL, text, "run 'fcbench init' to create it")
    try:
        file = find_config(arguments.config)
        settings = build_project_settings(add_environment(collect_run_options(arguments)), arguments.config)
    except FcbenchError as error:
        yield SetupFinding("options", FindingState.BAD, str(error))
        return
    yield SetupFinding("options", FindingState.GOOD, f"{file or 'no fcbench.yaml, so the defaults apply'}")
    context = RunContext(settings)
    try:
        for name, suite in context.suites.items():
            yield SetupFinding("suite", FindingState.GOOD, f"{name} {suite.version}, {describe_size(suite)}")
    except FcbenchError as error:
        yield SetupFinding("suite", FindingState.BAD, str(error))
    yield check_disk(
        "packs", settings.cache, "name another folder with the environment variable FCBENCH_CACHE"
    )
    if settings.store:
        yield check_disk(
            "answers", settings.store.parent, "name another file with --store, or use --store=none"
        )
    try:
        immediate, price = context.model.immediate, context.price
    except FcbenchError as error:
        yield SetupFinding("model", FindingState.BAD, str(error))
    else:
        if immediate:
            text = f"{settings.label} needs neither a network nor a key and costs nothing"
            yield SetupFinding("model", FindingState.GOOD, text)
        else:
            yield from check_endpoint("model", settings, sends_requests=not arguments.no_calls)
            if price is None:
                way_out = "give a price under 'prices' in fcbench.yaml"
                yield SetupFinding(
                    "price", FindingState.DOUBTFUL, f"no price is known for {settings.label}", way_out
                )
    if settings.judge:
        yield from check_endpoint(
            "judge", replace(settings.judge, mode=Mode.PROMPT), sends_requests=not arguments.no_calls
        )
