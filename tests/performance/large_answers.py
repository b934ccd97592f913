"""The largest size of each process of a run whose answers have 900,000 characters each.

    python -m tests.performance.large_answers [--answers 60 240 480] [--workers 0 2] [--kinds text arguments]

Each run asks a server on loopback, which answers every entry alike, 8 at once. A size that grows with the
number of answers means that something holds answers whose test has ended. *short* is the run to compare with.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from tests.chaos.processes import read_peak
from tests.loopback import Reply, make_message_reply, serve_answers
from tests.performance.scale import make_entries

_LONG = "x" * 900_000
_AT_ONCE = 8
_ARGUMENTS = json.dumps({"city": _LONG, "days": 1})
_REPLIES: Mapping[str, tuple[str, Callable[[], Reply]]] = {
    "short": ("prompt", lambda: make_message_reply("x")),
    "text": ("prompt", lambda: make_message_reply(_LONG)),
    "call in text": ("prompt", lambda: make_message_reply(f"[f(city={_LONG!r}, days=1)]")),
    "arguments": ("fc", lambda: make_message_reply(calls=[("f", _ARGUMENTS)])),
    "reasoning": ("fc", lambda: make_message_reply("x", reasoning_content=_LONG)),
    "not JSON": ("fc", lambda: Reply("<" + _LONG)),
    "server error": ("fc", lambda: Reply(_LONG, 500)),
}
"""The mode of a run and the reply to all of its entries, by kind."""


def measure_run(kind: str, count: int, workers: int, options: list[str]) -> tuple[list[float], float]:
    """Run as many entries; return the peaks of its processes in MB, the first one's first, and seconds."""
    mode, reply = _REPLIES[kind]
    with tempfile.TemporaryDirectory() as name, serve_answers(lambda asked: reply()) as endpoint:
        folder = Path(name)
        lines = [json.dumps(entry) for entry, _ in make_entries(count)]
        (folder / "many.jsonl").write_text("\n".join(lines) + "\n")
        (folder / "fcbench.yaml").write_text("suites: {many: many.jsonl}\n")
        command = [
            *(
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "many.jsonl",
                "-n",
                str(workers),
            ),
            *("--fcbench-model=m", f"--fcbench-api-base={endpoint.api_base}", f"--fcbench-mode={mode}"),
            *(f"--fcbench-concurrency={_AT_ONCE}", "--fcbench-no-preflight", "--fcbench-retries=0", *options),
        ]
        started = time.monotonic()
        with (folder / "output.txt").open("wb") as output:
            process = psutil.Popen(command, cwd=folder, stdout=output, stderr=output)
            peaks: dict[int, float] = {}
            while process.poll() is None:
                for each in (process, *process.children(recursive=True)):
                    peaks[each.pid] = max(peaks.get(each.pid, 0.0), read_peak(each.pid) / 2**20)
                time.sleep(0.05)
        seconds = time.monotonic() - started
        judged = json.loads((folder / "scorecard.json").read_text())["fcbench"]
        assert process.returncode in (0, 1), (folder / "output.txt").read_text()
        assert len(endpoint.requests) == count, (len(endpoint.requests), judged)
        own = peaks.pop(process.pid)
        # Processes that only start others, or live for a moment, are small.
        return [own, *sorted(peaks.values(), reverse=True)[:workers]], seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--answers", type=int, nargs="+", default=[60, 240, 480])
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 2])
    parser.add_argument("--kinds", nargs="+", choices=_REPLIES, default=list(_REPLIES))
    parser.add_argument("--option", action="append", default=[], help="another option of the run")
    given = parser.parse_args()
    print("| answers | `-n` |" + "".join(f" {count:,} |" for count in given.answers))
    print("|:--|--:|" + "--:|" * len(given.answers))
    for kind in given.kinds:
        for workers in given.workers:
            cells = []
            for count in given.answers:
                sizes, seconds = measure_run(kind, count, workers, given.option)
                cells.append(" + ".join(f"{size:.0f}" for size in sizes) + f" MB, {seconds:.0f} s")
            print(f"| {kind} | {workers} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
