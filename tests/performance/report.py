"""How large a report is, how long it takes to make, and how quick it is in Chromium.

    python -m tests.performance.report [--entries 6000] [--models 1] [SCORECARD ...]

Without scorecards the entries are made up: a question of 300 characters, four functions each, an answer with
reasoning of 1,000 characters, every third one wrong. Needs chromium and chromedriver for the second half.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from selenium.webdriver import Chrome

from pytest_fcbench.cli.main import main as run_command
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import completion_to_json
from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.present.html.island import SuiteInfo
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.record import Record, Usage
from tests.factories import make_doc, make_entry, make_record, tool_calls, write_scorecard
from tests.present.html.browser import find_programs, open_browser, open_page
from tests.present.html.parsed import render_report

_CATEGORIES = ("simple_python", "multiple", "parallel", "live_simple", "live_multiple", "irrelevance")
_FILTER = """
    const filter = document.getElementById("filter"), done = arguments[arguments.length - 1];
    const count = document.getElementById("count");
    filter.elements.namedItem(arguments[0]).value = arguments[1];
    const started = performance.now();
    new MutationObserver((_, observer) => {
      observer.disconnect();
      const painted = () => done([performance.now() - started, count.textContent]);
      requestAnimationFrame(() => setTimeout(painted, 0));
    }).observe(count, { childList: true });
    filter.elements.namedItem(arguments[0]).dispatchEvent(new Event(arguments[2], { bubbles: true }));
"""


def make_scorecards(entries: int, models: int, folder: Path) -> tuple[list[Path], SuiteInfo]:
    """Make scorecards of so many entries, and what a suite would tell of them."""
    chance = random.Random(0)
    words = [f"word{n}" for n in range(2000)]

    def draw_text(characters: int) -> str:
        return " ".join(chance.choices(words, k=characters // 8))

    told: dict[str, Entry] = {}
    for number in range(entries):
        name = f"{_CATEGORIES[number % 6]}_{number}"
        docs = [make_doc(f"function_{chance.randrange(3000)}") for _ in range(4)]
        told[f"core:{name}"] = make_entry(
            _CATEGORIES[number % 6], entry_id=name, query=draw_text(300), functions=docs
        )

    def draw_record(number: int) -> Record:
        verdict = Failed("value_error:string", draw_text(80)) if chance.random() < 1 / 3 else Passed()
        answer = replace(tool_calls(("f", '{"city": "Bergen"}')), reasoning=draw_text(1000))
        plain = make_record(verdict, category=_CATEGORIES[number % 6], number=number)
        return replace(plain, turns=((completion_to_json(answer),),), steps=(Usage(1.2, 300, 40, 0.001),))

    paths = [
        write_scorecard(folder / f"{n}.json", list(map(draw_record, range(entries)))) for n in range(models)
    ]
    truths = {key: find_kind(entry).describe_truth(entry) for key, entry in told.items()}
    return paths, SuiteInfo(told, truths=truths)


def measure_page(chrome: Chrome, path: Path) -> None:
    """Open and filter the page; print times as the browser sees them."""
    loads = []
    for _ in range(3):
        open_page(chrome, path)
        time.sleep(0.5)  # the end of loading is not yet noted when the driver says that it is over
        loads.append(chrome.execute_script("return performance.getEntriesByType('navigation')[0].duration"))
    print(f"open                    {min(loads):7.0f} ms (best of 3)")
    steps: Sequence[tuple[str, str, str]] = (
        ("text", "bergen", "input"),
        ("text", "bergen word7", "input"),
        ("text", "", "input"),
        ("verdict", "failed", "change"),
        ("profile", "corrected", "change"),
    )
    for name, value, event in steps:
        took, count = chrome.execute_async_script(_FILTER, name, value, event)
        print(f"{name}={value!r:<18}{took:7.0f} ms  {count}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scorecards", nargs="*")
    parser.add_argument("--entries", type=int, default=6000)
    parser.add_argument("--models", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        if chosen.scorecards:
            started = time.perf_counter()
            run_command(["run", "report", *chosen.scorecards, "--to", str(report)])
        else:
            paths, told = make_scorecards(chosen.entries, chosen.models, Path(folder))
            started = time.perf_counter()
            report.write_text(
                render_report(list(map(scorecard_files.load_scorecard, paths)), told, Profile.OFFICIAL),
                encoding="utf-8",
            )
        print(f"made in {time.perf_counter() - started:.1f} s, {report.stat().st_size / 1e6:.1f} MB")
        if find_programs() is None:
            print("no chromium and chromedriver here: not opened")
            return
        with open_browser() as chrome:
            measure_page(chrome, report)


if __name__ == "__main__":
    main()
