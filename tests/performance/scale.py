"""What a suite of 100,000 entries takes: collection, a run, two workers, shards, the report.

    python -m tests.performance.scale [--entries 12500 25000 50000 100000]

The suite is generated: a file of JSON lines over five categories, each entry with two functions of its own
among 2,000. The model is `scripted`, which answers nine entries of ten right. Each step is a process of its
own; the last column is the time of the largest suite against that of the smallest, divided by the ratio of
their sizes: 1 where it grows linearly.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.performance.measure import Cost, measure_command

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


def _list_steps() -> Iterator[tuple[str, Sequence[str]]]:
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "many.jsonl"]
    scripted = [*pytest, "--fcbench-model=scripted:answers.yaml", "--fcbench-gate=many>=0.85"]
    command = [sys.executable, "-m", "pytest_fcbench.cli.main"]
    yield "collect", [*pytest, "--fcbench-model=oracle", "--collect-only", "-qq"]
    yield "run, scripted", [*scripted, "--fcbench-scorecard=whole.json"]
    yield "run, -n 2", [*scripted, "-n", "2", "--fcbench-scorecard=two.json"]
    for number in (1, 2):
        file = f"--fcbench-scorecard=s{number}.json"
        yield f"shard {number}/2", [*scripted[:-1], f"--fcbench-shard={number}/2", file]
    yield "merge", [*command, "merge", "s1.json", "s2.json", "--to", "merged.json"]
    yield "compare", [*command, "compare", "whole.json", "merged.json"]
    yield "report", [*command, "report", "whole.json", "--to", "report.html"]


def _measure_steps(count: int) -> Mapping[str, Cost]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_suite(count, folder)
        (folder / "fcbench.yaml").write_text("suites: {many: many.jsonl}\n")
        found: dict[str, Cost] = {}
        for step, command in _list_steps():
            found[step] = measure_command(command, folder)
            print(f"{count:>8,}  {step:<14} {found[step]}", file=sys.stderr, flush=True)
        told = json.loads((folder / "merged.json").read_text())["fcbench"]["profiles"]
        whole = json.loads((folder / "whole.json").read_text())["fcbench"]["profiles"]
        assert told == whole
        assert whole["official"]["overall"]["n"] == count
        sizes = {path.name: path.stat().st_size / 1e6 for path in folder.iterdir()}
        print(f"{count:>8,}  MB: {json.dumps({k: round(v, 1) for k, v in sizes.items()})}", file=sys.stderr)
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, nargs="+", default=[12_500, 25_000, 50_000, 100_000])
    sizes = sorted(parser.parse_args().entries)
    found = {size: _measure_steps(size) for size in sizes}
    print("| step | " + " | ".join(f"{size:,}" for size in sizes) + " | growth |")
    print("|:--|" + "--:|" * (len(sizes) + 1))
    for step, _ in _list_steps():
        cells = [f"{found[size][step].wall_s:.1f} s, {found[size][step].peak_mb:.0f} MB" for size in sizes]
        ratio = found[sizes[-1]][step].wall_s / found[sizes[0]][step].wall_s / (sizes[-1] / sizes[0])
        print(f"| {step} | {' | '.join(cells)} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
