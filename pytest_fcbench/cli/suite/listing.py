"""``fcbench suite list``, ``schema`` and ``apis``: the suites, the form of entries, the web APIs they need.

``apis`` sends, once each, the requests in the ground truth of REST entries, and those of lookup functions in
the ground truth of executable entries. The exit code is 0 if all are answered in the right shape, else 1.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

from pytest_fcbench.cli.options import describe_size, find_openers, list_own_categories
from pytest_fcbench.cli.output import find_width, print_json, print_lines
from pytest_fcbench.config.loading import find_cache_folder
from pytest_fcbench.domain.entry import Group
from pytest_fcbench.domain.errors import FcbenchError, PackError
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.kinds.entry_files import generate_entry_schema
from pytest_fcbench.suites import bfcl
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.tools.api_probes import (
    build_outcome_document,
    check_apis,
    count_answered,
    render_outcomes,
)


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


def run_schema(arguments: argparse.Namespace) -> int:
    print(json.dumps(generate_entry_schema(lines=arguments.lines), indent=2))
    return 0


def run_apis(arguments: argparse.Namespace) -> int:
    suites = [open_suite(name, find_cache_folder()) for name in arguments.suite or [bfcl.SOURCE.name]]
    outcomes = check_apis(
        entry
        for suite in suites
        for category in suite.categories
        if category.group is Group.EXECUTABLE
        for entry in suite.load(category)
    )
    # A reason can quote a URL, and some APIs take their key in it.
    if arguments.json:
        print(redact_secrets(json.dumps(build_outcome_document(outcomes), indent=2)))
    else:
        print_lines(map(redact_secrets, render_outcomes(outcomes, find_width())))
    return 0 if count_answered(outcomes) == len(outcomes) else 1
