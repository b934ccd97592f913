"""What a suite of 100,000 entries takes, beside pytest with as many trivial tests, and shards and commands.

    python -m tests.performance.scale [--entries 12500 25000 50000 100000] [--only-runs]

The suite is generated: a file of JSON lines over five categories, each entry with two functions of its own
among 2,000. The models are `oracle` and `scripted`, which answers nine entries of ten right. Each step is a
process of its own. Runs stand beside pytest with pytest-json-report and as many parametrised tests that do
nothing; their ratios say what the benchmark adds. The last column of the table of steps is the time of the
largest suite against that of the smallest, divided by the ratio of their sizes: 1 where it grows linearly.
``--only-runs`` leaves out shards and commands.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.scorecard_files import load_outlines
from tests.performance.measure import WITH_FAILURES, Cost, format_ratios, measure_command

_CITIES = ("Bergen", "Porto", "Lima", "Osaka", "Quito", "Tartu", "Accra", "Hobart", "Cusco", "Split")
_CATEGORIES = ("simple_python", "multiple", "parallel", "live_simple", "irrelevance")
_WRONG = 10
"""Of so many entries one is answered wrong."""


def _make_function(number: int) -> Mapping[str, object]:
    return {
        "name": f"service_{number}.forecast",
        "description": f"Forecast of service {number}: how warm it will be in a city on the days ahead.",
        "parameters": {
            "type": "dict",
            "properties": {
                "city": {"type": "string", "description": "Name of the city."},
                "days": {"type": "integer", "description": "How many days ahead, at most 14."},
            },
            "required": ["city", "days"],
        },
    }


def make_entries(count: int) -> Iterator[tuple[Mapping[str, object], object]]:
    """Yield entries as lines of a file, each with its answer."""
    chance = random.Random(count)
    for number in range(count):
        category = _CATEGORIES[number % len(_CATEGORIES)]
        offered = [_make_function(n) for n in chance.sample(range(2000), 2)]
        asked = [
            (chance.choice(_CITIES), chance.randint(1, 14)) for _ in range(2 if category == "parallel" else 1)
        ]
        question = " and ".join(f"in {city} in {days} days" for city, days in asked)
        calls = [{str(offered[0]["name"]): {"city": city, "days": days}} for city, days in asked]
        entry = {
            "category": category,
            "id": f"{category}_{number}",
            "query": f"Request {number}: how warm will it be {question}?",
            "functions": offered,
        }
        if category == "irrelevance":
            entry["query"] = f"Request {number}: who wrote the novel on the table?"
            yield entry, "I cannot say." if number % _WRONG else calls
        else:
            expect = [
                {name: {key: [value] for key, value in arguments.items()}}
                for call in calls
                for name, arguments in call.items()
            ]
            yield {**entry, "expect": expect}, calls if number % _WRONG else "I cannot say."


def write_suite(count: int, folder: Path) -> None:
    """Write the suite and the answers."""
    answers = {}
    with (folder / "many.jsonl").open("w") as file:
        for entry, answer in make_entries(count):
            file.write(json.dumps(entry) + "\n")
            answers[f"many:{entry['id']}"] = answer
    (folder / "answers.yaml").write_text(json.dumps({"answers": answers}))


_SHARDS = 10
_ALONE, _ALONE_IN_TWO = "pytest alone", "pytest alone, -n 2"
_RATIOS = {
    "run, oracle": _ALONE,
    "run, scripted": _ALONE,
    "run, oracle, -n 2": _ALONE_IN_TWO,
}
"""The runs that are measured against pytest alone."""
_TRIVIAL = """\
import pytest


@pytest.mark.parametrize("number", range({count}))
def test_nothing(number: int) -> None:
    pass
"""


def _list_steps(only_runs: bool) -> Iterator[tuple[str, Sequence[str]]]:
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    alone = [*pytest, "test_trivial.py", "-p", "no:fcbench", "--json-report", "--json-report-file=alone.json"]
    oracle = [*pytest, "many.jsonl", "--fcbench-model=oracle"]
    scripted = [*pytest, "many.jsonl", "--fcbench-model=scripted:answers.yaml"]
    command = [sys.executable, "-m", "pytest_fcbench.cli.main"]
    yield _ALONE, alone
    yield "run, oracle", [*oracle, "--fcbench-scorecard=oracle.json"]
    yield _ALONE_IN_TWO, [*alone, "-n", "2"]
    yield "run, oracle, -n 2", [*oracle, "-n", "2", "--fcbench-scorecard=two.json"]
    yield "run, scripted", [*scripted, "--fcbench-gate=many>=0.85", "--fcbench-scorecard=whole.json"]
    if only_runs:
        return
    yield "collect", [*oracle, "--collect-only", "-qq"]
    for number in range(1, _SHARDS + 1):
        file = f"--fcbench-scorecard=s{number}.json"
        yield f"shard {number}/{_SHARDS}", [*scripted, f"--fcbench-shard={number}/{_SHARDS}", file]
    parts = [f"s{number}.json" for number in range(1, _SHARDS + 1)]
    yield f"merge of {_SHARDS}", [*command, "run", "merge", *parts, "--to", "merged.json"]
    yield "compare", [*command, "run", "compare", "whole.json", "merged.json"]
    yield "report", [*command, "run", "report", "whole.json", "--to", "report.html"]


def _measure_steps(count: int, only_runs: bool) -> Mapping[str, Cost]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _call_apart(write_suite, count, folder)
        (folder / "fcbench.yaml").write_text("suites: {many: many.jsonl}\n")
        (folder / "test_trivial.py").write_text(_TRIVIAL.format(count=count))
        found: dict[str, Cost] = {}
        for step, command in _list_steps(only_runs):
            found[step] = measure_command(command, folder, codes=WITH_FAILURES)
            print(f"{count:>8,}  {step:<18} {found[step]}", file=sys.stderr, flush=True)
        if not only_runs:
            _call_apart(check_results, count, folder)
        sizes = {path.name: path.stat().st_size / 1e6 for path in folder.iterdir() if path.is_file()}
        print(f"{count:>8,}  MB: {json.dumps({k: round(v, 1) for k, v in sizes.items()})}", file=sys.stderr)
        return found


def _call_apart(do: Callable[[int, Path], None], count: int, folder: Path) -> None:
    """Call a function in a process of its own.

    Linux counts the memory of the process that starts another as memory of that one, so this one stays small.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        pool.submit(do, count, folder).result()


def check_results(count: int, folder: Path) -> None:
    """Check that every way of running the suite has given the same scores to all entries."""
    cards = {name: load_outlines(folder / f"{name}.json") for name in ("oracle", "two", "whole", "merged")}
    scores = {name: card.scores(Profile.OFFICIAL).overall for name, card in cards.items()}
    assert scores["merged"] == scores["whole"], scores
    assert scores["whole"].n == count, scores
    assert scores["two"] == scores["oracle"], scores
    assert scores["oracle"].passed == count, scores
    alone = json.loads((folder / "alone.json").read_text())["summary"]
    assert alone["passed"] == count, alone


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, nargs="+", default=[12_500, 25_000, 50_000, 100_000])
    parser.add_argument("--only-runs", action="store_true")
    given = parser.parse_args()
    sizes = sorted(given.entries)
    found = {size: _measure_steps(size, given.only_runs) for size in sizes}
    head = " | ".join(f"{size:,}" for size in sizes)
    print(f"| step | {head} | growth |")
    print("|:--|" + "--:|" * (len(sizes) + 1))
    for step, _ in _list_steps(given.only_runs):
        cells = [
            f"{cost.wall_s:.1f} s, {cost.cpu_s:.1f} s CPU, {cost.peak_mb:.0f} MB"
            for cost in (found[size][step] for size in sizes)
        ]
        ratio = found[sizes[-1]][step].cpu_s / found[sizes[0]][step].cpu_s / (sizes[-1] / sizes[0])
        print(f"| {step} | {' | '.join(cells)} | {ratio:.2f} |")
    print(f"\n| times of pytest alone | {head} |")
    print("|:--|" + "--:|" * len(sizes))
    for step, base in _RATIOS.items():
        cells = [format_ratios(found[size][step], found[size][base]) for size in sizes]
        print(f"| {step} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
