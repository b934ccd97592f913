"""``fcbench suites``: list the suites and their contents."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from pytest_fcbench.cli.output import declare_json, print_json
from pytest_fcbench.cli.run_options import describe_size, find_openers, list_own_categories
from pytest_fcbench.config.loading import find_cache_folder
from pytest_fcbench.domain.errors import FcbenchError, PackError

HELP = "list suites, including those of fcbench.yaml"
PAGE = "categories"
EXAMPLES = (
    "fcbench suites",
    "fcbench suites --categories",
)


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--categories", action="store_true", help="also list the number of entries in each category"
    )
    declare_json(parser)


def run_command(arguments: argparse.Namespace) -> int:
    has_failure = False
    rows: list[Mapping[str, object]] = []
    for name, open_suite in find_openers(arguments).items():
        row: dict[str, object] = {"suite": name}
        try:
            suite = open_suite(find_cache_folder())
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
