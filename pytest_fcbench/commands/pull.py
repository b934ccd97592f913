"""``fcbench pull``: get the official data of a suite."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcbench.config import cache_folder
from pytest_fcbench.errors import PackError, UsageError, unknown
from pytest_fcbench.suites import PACKS, packs

if TYPE_CHECKING:
    from pytest_fcbench.cli import Commands


def register(commands: Commands) -> None:
    """Declare the command."""
    pull = commands.add_parser("pull", help="get the official data of a suite, or list what there is")
    pull.add_argument("pack", nargs="?", metavar="PACK", help=f"one of: {', '.join(PACKS)}")
    pull.add_argument(
        "--from", dest="origin", type=Path, metavar="PATH", help="a wheel or a folder, no network"
    )
    pull.add_argument("--list", action="store_true", help="list packs and where they are")
    pull.set_defaults(run=_pull)


def _pull(chosen: argparse.Namespace) -> int:
    if chosen.list:
        return _list_packs()
    if chosen.pack is None:
        raise UsageError(f"name a pack to pull ({', '.join(PACKS)}), or --list")
    if chosen.pack not in PACKS:
        raise UsageError(unknown("pack", chosen.pack, PACKS))
    pack = packs.pull(PACKS[chosen.pack], cache_folder(), chosen.origin)
    print(f"{pack.name} {pack.version}: {len(pack.files)} files, content sha256 {pack.content_sha256}")
    print(f"in {pack.folder}")
    print(f"run it with: pytest benchmarks --fcbench-suite={pack.name}")
    return 0


def _list_packs() -> int:
    for source in PACKS.values():
        try:
            state = f"in {packs.installed(source, cache_folder()).folder}"
        except PackError as error:
            state = str(error)
        print(f"{source.name:<8} {source.package} {source.version}  {state}")
    return 0
