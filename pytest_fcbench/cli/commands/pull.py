"""``fcbench pull``: get the official data of a suite."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

from pytest_fcbench.config.loading import find_cache_folder
from pytest_fcbench.domain.errors import PackError, UsageError, describe_unknown_name
from pytest_fcbench.suites import complexfuncbench_texts, packs
from pytest_fcbench.suites.registry import PACKS

HELP = "download the official data of a suite, or list packs"
PAGE = "official-scores"
EXAMPLES = (
    "fcbench pull bfcl",
    "fcbench pull --list",
)


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add("pack", nargs="?", metavar="PACK", help=f"pack to download: {', '.join(PACKS)}")
    origin = "file or folder that holds the data, to use instead of the network"
    add("--from", dest="origin", type=Path, metavar="PATH", help=origin)
    add("--revision", metavar="COMMIT", help="revision of a dataset on the hub (default: the newest)")
    code = f"clone of {complexfuncbench_texts.CODE.title} to read the official texts from, without its data"
    add("--code", type=Path, metavar="PATH", help=code)
    add("--list", action="store_true", help="list packs and their folders")


def run_command(arguments: argparse.Namespace) -> int:
    if arguments.list:
        width = max(map(len, PACKS))
        for source in PACKS.values():
            version = ""
            try:
                pack = packs.open_pack(source, find_cache_folder())
                state, version = f"in {pack.folder}", f" {pack.version}" if pack.provenance else ""
            except PackError as error:
                state = str(error)
            print(f"{source.name:<{width}} {source.title}{version}  {state}")
        return 0
    if arguments.pack is None:
        raise UsageError(f"no pack is named; name one ({', '.join(PACKS)}), or use --list")
    if arguments.pack not in PACKS:
        raise UsageError(describe_unknown_name("pack", arguments.pack, PACKS))
    if arguments.code is not None:
        return _read_texts(arguments)
    source, cache = PACKS[arguments.pack], find_cache_folder()
    # Pulling replaces the pack, so its former content is noted first.
    before = None
    with suppress(PackError):
        before = packs.open_pack(source, cache)
    pack = packs.pull(source, cache, arguments.origin, arguments.revision)
    count = "1 file" if len(pack.files) == 1 else f"{len(pack.files)} files"
    print(f"{pack.name} {pack.version}: {count}, content sha256 {pack.content_sha256}")
    if pack.provenance:
        print(f"from {pack.provenance}")
    # Scores on different content must not be compared without notice.
    if before and before.content_sha256 != pack.content_sha256:
        print(f"CHANGED: it was {before.version}, content sha256 {before.content_sha256}")
    elif before and before.version != pack.version:
        print(f"changed in name only: it was {before.version}, the content is the same")
    print(f"in {pack.folder}")
    print(f"run it with: pytest benchmarks --fcbench-suite={pack.name}")
    return 0


def _read_texts(arguments: argparse.Namespace) -> int:
    """Read the texts of the official code of complexfuncbench from a clone, and keep them in the cache."""
    if arguments.pack != complexfuncbench_texts.NAME:
        raise UsageError(
            f"--code={arguments.code} applies only to {complexfuncbench_texts.NAME}; leave it out "
            f"with {arguments.pack}"
        )
    if arguments.origin is not None or arguments.revision is not None:
        raise UsageError(
            f"--code={arguments.code} reads texts and no data; run 'fcbench pull {arguments.pack}' for the "
            f"data before or after it"
        )
    source, cache = complexfuncbench_texts.CODE, find_cache_folder()
    pack = packs.pull(source, cache, arguments.code)
    print(f"texts of {source.title} {pack.version}: content sha256 {pack.content_sha256}")
    wording = complexfuncbench_texts.read_wording(cache)
    if wording and (changed_texts := complexfuncbench_texts.list_changed_texts(wording)):
        print(f"CHANGED since commit {complexfuncbench_texts.COMMIT}: {', '.join(changed_texts)}")
    print(f"in {pack.folder}")
    return 0
