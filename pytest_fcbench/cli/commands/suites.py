"""``fcbench suites``: list the suites and their contents."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from pytest_fcbench.cli.output import declare_json, print_json
from pytest_fcbench.cli.run_options import find_openers
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


def run_command(chosen: argparse.Namespace) -> int:
    broken = False
    listed: list[Mapping[str, object]] = []
    for name, open_suite in find_openers(chosen).items():
        try:
            suite = open_suite(find_cache_folder())
            # Variations repeat the entries of other categories in other formats.
            shown = [each for each in suite.categories if not each.rule.varies_others]
            sizes = {each.name: len(suite.load(each)) for each in shown}
        # A pack that was not pulled is no fault; a suite that cannot be read is one.
        except PackError as error:
            row: dict[str, object] = {"suite": name, "error": f"not installed: {error}"}
        except FcbenchError as error:
            row, broken = {"suite": name, "error": f"cannot be loaded: {error}"}, True
        else:
            row = {"suite": name, "version": suite.version, "categories": sizes}
        listed.append(row)
        if not chosen.json:
            print(f"{name:<18} {_describe_row(row, categories=chosen.categories)}")
    if chosen.json:
        print_json(listed)
    return int(broken)


def _describe_row(row: Mapping[str, object], *, categories: bool) -> str:
    sizes = row.get("categories")
    if not isinstance(sizes, Mapping):
        return str(row["error"])
    text = f"{row['version']}, {sum(sizes.values()):,} entries in {len(sizes)} categories"
    lines = [f"  {category:<24} {size:>6,}" for category, size in sizes.items()] if categories else []
    return "\n".join([text, *lines])
