"""``fcbench suites``: which suites there are, and what they hold."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from pytest_fcbench.cli.run_options import suites_known
from pytest_fcbench.config.loading import cache_folder
from pytest_fcbench.domain.errors import FcbenchError, PackError
from pytest_fcbench.suites.suite import Suite

HELP = "which suites there are, those of fcbench.yaml included"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--categories", action="store_true", help="also the entries of each category")


def run_command(chosen: argparse.Namespace) -> int:
    broken = False
    for name, opener in suites_known(chosen).items():
        try:
            told = _told(opener, categories=chosen.categories)
        except PackError as error:
            told = f"not here yet: {error}"
        except FcbenchError as error:
            told, broken = f"broken: {error}", True
        print(f"{name:<18} {told}")
    return int(broken)


def _told(opener: Callable[[Path], Suite], *, categories: bool) -> str:
    suite = opener(cache_folder())
    sizes = {each.name: len(suite.load(each)) for each in suite.categories if not each.rule.varies_others}
    told = f"{suite.version}, {sum(sizes.values()):,} entries in {len(sizes)} categories"
    lines = [f"  {category:<24} {size:>6,}" for category, size in sizes.items()] if categories else []
    return "\n".join([told, *lines])
