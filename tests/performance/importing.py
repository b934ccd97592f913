"""What `fcbench suite import` takes for a log of 100,000 lines, beside shorter ones.

    python -m tests.performance.importing [--lines 12500 25000 50000 100000]

The log is generated in OpenAI's chat form: a user, a call, its result, an answer in words and, in every other
line, a second question with its call. A hundred functions; in every tenth line an e-mail address is masked,
every hundredth line is broken, and every fiftieth repeats an earlier one. Each import is a process of its
own. The memory grows by a few numbers for each entry, and every answer is kept or left out.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.performance.measure import measure_command

_FUNCTIONS = 100
_WORDS = ("north", "south", "river", "harbour", "parcel", "garden", "winter", "copper", "paper", "silver")


def _make_tool(number: int) -> Mapping[str, object]:
    properties = {"place": {"type": "string"}, "days": {"type": "integer", "default": 1}}
    parameters = {"type": "object", "properties": properties, "required": ["place"]}
    return {"type": "function", "function": {"name": f"service_{number}.look_up", "parameters": parameters}}


TOOLS = [_make_tool(number) for number in range(_FUNCTIONS)]


def make_line(number: int) -> str:
    """Make a line of the log; the same number gives the same line."""
    if number % 100 == 99:
        return '{"messages": [{"role": "user", "content": "cut off'
    if number % 50 == 49:
        return make_line(number - 49)
    chance = random.Random(number)
    tools = chance.sample(TOOLS, 3)

    def make_turn(said: str) -> Iterator[Mapping[str, object]]:
        function = chance.choice(tools)["function"]
        place, days = " ".join(chance.choices(_WORDS, k=3)), chance.randint(1, 99_999)
        address = f" and write to user{number}@mail.example.org" if number % 10 == 0 else ""
        yield {"role": "user", "content": f"{said} {place} {days} days ahead, request {number}{address}"}
        arguments = json.dumps({"place": place, "days": days})
        call = {"id": "a", "type": "function", "function": {"name": function["name"], "arguments": arguments}}  # type: ignore[index]
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": "a", "content": json.dumps({"found": chance.randint(0, 9)})}
        yield {"role": "assistant", "content": f"There are some at {place}."}

    messages = [*make_turn("Look up"), *(list(make_turn("And now"))[:2] if number % 2 else [])]
    return json.dumps({"messages": messages, "tools": tools})


def main() -> None:
    """Import logs of growing length, and print time, peak memory and counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", nargs="+", type=int, default=[12_500, 25_000, 50_000, 100_000])
    sizes: Sequence[int] = parser.parse_args().lines
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in sizes:
            log = folder / "log.jsonl"
            with log.open("w") as file:
                file.writelines(f"{make_line(number)}\n" for number in range(size))
            command = [sys.executable, "-m", "pytest_fcbench.cli.main", "suite", "import", "log.jsonl"]
            cost = measure_command([*command, "-o", "suite.jsonl", "--force"], folder)
            megabytes = log.stat().st_size / 1e6
            print(
                f"{size:>8,} lines {megabytes:6.0f} MB  {cost}  {1e6 * cost.cpu_s / size:5.0f} us CPU a line",
                flush=True,
            )
        # The last log again, for its counts.
        told = subprocess.run(
            [*command, "-o", "suite.jsonl", "--force"], cwd=folder, capture_output=True, text=True, check=True
        )
        print(told.stdout)


if __name__ == "__main__":
    main()
