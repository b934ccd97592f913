"""The ``fcbench`` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from pytest_fcbench.config import cache_folder
from pytest_fcbench.errors import FcbenchError, PackError, UsageError, unknown
from pytest_fcbench.suites import PACKS, packs


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. 0 when it worked, 1 when it could not, 2 for wrong words."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    try:
        code: int = chosen.run(chosen)
    except UsageError as error:
        parser.error(str(error))
    except FcbenchError as error:
        print(f"fcbench: {error}", file=sys.stderr)
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fcbench", description="Beside pytest: what a benchmark project needs."
    )
    parser.add_argument("--version", action="version", version=version("pytest-fcbench"))
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    pull = commands.add_parser("pull", help="get the official data of a suite, or list what there is")
    pull.add_argument("pack", nargs="?", metavar="PACK", help=f"one of: {', '.join(PACKS)}")
    pull.add_argument(
        "--from", dest="origin", type=Path, metavar="PATH", help="a wheel or a folder, no network"
    )
    pull.add_argument("--list", action="store_true", help="list packs and where they are")
    pull.set_defaults(run=_pull)
    return parser


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


if __name__ == "__main__":
    sys.exit(main())
