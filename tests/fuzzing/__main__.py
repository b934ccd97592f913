"""``python -m tests.fuzzing``: try targets for long and tell what came of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.fuzzing import __doc__ as about
from tests.fuzzing.engines import ENGINES, Tried
from tests.fuzzing.targets import find_targets


def main() -> int:
    """Exit code 1 where a law was broken."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzzing", description=about, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="a part of names; default: all targets")
    parser.add_argument("--seconds", type=float, default=10, help="for each target (default: 10)")
    parser.add_argument(
        "--inputs", type=int, default=0, help="for each target, however long it takes (hypothesis only)"
    )
    parser.add_argument("--engine", choices=ENGINES, default="hypothesis")
    parser.add_argument(
        "--corpus",
        type=Path,
        default=Path(".fuzzing"),
        help="folder to keep what was found (default: .fuzzing)",
    )
    parser.add_argument("--list", action="store_true", help="name the targets and end")
    given = parser.parse_args()
    chosen = {
        name: target
        for name, target in find_targets().items()
        if not given.targets or any(word in name for word in given.targets)
    }
    if not chosen:
        parser.error("no target has such a name; --list names all")
    if given.list:
        print("\n".join(chosen))
        return 0
    results = []
    for name, target in chosen.items():
        results.append(ENGINES[given.engine](name, target, given.seconds, given.corpus, given.inputs))
        print(_format_row(results[-1]), file=sys.stderr, flush=True)
    print("\n".join(_format_report(results)))
    return int(any(tried.finding for tried in results))


def _format_row(tried: Tried) -> str:
    speed = tried.inputs / tried.seconds if tried.seconds else 0
    cells = (
        f"{tried.inputs:,}",
        f"{speed:,.0f}",
        tried.coverage,
        "1" if tried.finding else "0",
        f"`{tried.name}`",
    )
    return f"| {' | '.join(cells)} |"


def _format_report(results: Sequence[Tried]) -> Iterator[str]:
    """Yield a table, and whatever was found below it."""
    yield "| inputs | per second | places reached | findings | target |"
    yield "|---:|---:|---|---:|---|"
    yield from map(_format_row, results)
    inputs, seconds = sum(t.inputs for t in results), sum(t.seconds for t in results)
    yield _format_row(Tried("all", inputs, seconds, finding="x" if any(t.finding for t in results) else ""))
    for tried in results:
        if tried.finding:
            yield f"\n## {tried.name}\n\n{tried.finding}"


if __name__ == "__main__":
    sys.exit(main())
