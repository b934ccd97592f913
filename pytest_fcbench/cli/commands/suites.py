"""``fcbench suites``: list the suites and their contents."""

from __future__ import annotations

import argparse

from pytest_fcbench.cli.run_options import find_openers
from pytest_fcbench.config.loading import find_cache_folder
from pytest_fcbench.domain.errors import FcbenchError, PackError

HELP = "list suites, including those of fcbench.yaml"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--categories", action="store_true", help="also list the number of entries in each category"
    )


def run_command(chosen: argparse.Namespace) -> int:
    broken = False
    for name, open_suite in find_openers(chosen).items():
        try:
            suite = open_suite(find_cache_folder())
            # Variations repeat the entries of other categories in other formats.
            shown = [each for each in suite.categories if not each.rule.varies_others]
            sizes = {each.name: len(suite.load(each)) for each in shown}
            text = f"{suite.version}, {sum(sizes.values()):,} entries in {len(sizes)} categories"
            if chosen.categories:
                text = "\n".join(
                    [text, *(f"  {category:<24} {size:>6,}" for category, size in sizes.items())]
                )
        # A pack that was not pulled is no fault; a suite that cannot be read is one.
        except PackError as error:
            text = f"not installed: {error}"
        except FcbenchError as error:
            text, broken = f"cannot be loaded: {error}", True
        print(f"{name:<18} {text}")
    return int(broken)
