"""Random calls do the same in our memories as in the official ones: the same results, limits and errors.

Sentences are ours, so each of theirs must stand for one of ours and the other way round.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import pytest

from pytest_fcbench.environments.environment import list_functions
from pytest_fcbench.environments.execution import DOMAINS, Environments
from pytest_fcbench.environments.world import World
from pytest_fcbench.suites.suite import Suite
from tests.parity.official_package import NEEDS_OFFICIAL, run_official

MEMORIES = Path(__file__).with_name("memories_official.py")
SEQUENCES = 1250
"""Of each memory."""

_KEYS = (
    *("name", "city_of_birth", "city", "home_city", "a1", "a_1", "work_place", "place_of_work", "x"),
    *("Name", "two words", "", "_a", "a__b", "1a", "a\n", "name.first", "straße", "a-b", None, 7, [1]),
)
_WORDS = ("name", "city", "home", "place", "of", "birth", "Work", "a", "1", "nothing")
_NUMBERS = (5, 1, 0, -1, 100, None, True, 2.5, "2")


def draw_sequence(random: Random, memory: str) -> list[str]:
    """Draw calls, some of them up to the limits."""
    names = list_functions(DOMAINS[memory])
    filling = random.random() < 0.3
    calls = [f"core_memory_add(key='k{letter}', value='v')" for letter in "abcdefgh"] if filling else []
    if filling and random.random() < 0.5:
        calls += [f"archival_memory_add(key='k_{n}', value='v{n}')" for n in range(random.randint(45, 55))]
    if memory == "memory_rec_sum":
        calls = [f"memory_append(text={'ab ' * random.randint(0, 1700)!r})" for _ in calls[:4]]
    weights = [0.2 if name.endswith("clear") else 4 if "_add" in name else 1 for name in names]
    return calls + [
        _draw_call(random, name) for name in random.choices(names, weights, k=random.randint(3, 40))
    ]


def _draw_call(random: Random, name: str) -> str:
    arguments: dict[str, object] = {}
    if name.endswith(("_add", "_remove", "_replace", "_retrieve")) and not name.startswith("memory_"):
        arguments["key"] = random.choice(_KEYS)
    if name.endswith(("_add", "_replace")) and not name.startswith("memory_"):
        arguments["value"] = _draw_text(random, 300, 2000)
    if name.endswith("_search"):
        arguments["query"] = random.choice((" ".join(random.choices(_WORDS, k=random.randint(0, 4))), 7))
        if random.random() < 0.5:
            arguments["k"] = random.choice(_NUMBERS)
    if name in ("memory_append", "memory_update"):
        arguments["text"] = _draw_text(random, 10_000, 4_000)
    if name == "memory_replace":
        arguments |= {"old_text": random.choice(("ab", "b a", "x", 1, "nowhere", "'")), "new_text": "c d"}
        if random.random() < 0.1:
            # Not for what stands there often: officially that has no limit, ours ends at a million.
            arguments |= {"old_text": "'", "new_text": _draw_text(random, 10_000, 10)}
    if random.random() < 0.02:
        arguments["more"] = 1
    if arguments and random.random() < 0.02:
        del arguments[next(iter(arguments))]
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


def _draw_text(random: Random, *limits: int) -> object:
    limit = random.choice(limits)
    long = "x" * random.choice((limit - 1, limit, limit + 1))
    return random.choice((long, "ab cd", "ä'\"\n", "", 12, None, {"a": [1.5]}, "a b"))


def run_ours(memory: str, calls: Sequence[str], world: World | None = None) -> Mapping[str, object]:
    """Return what our memory makes of a sequence, in the form of the official outcome."""
    world = world or World()
    made = DOMAINS[memory]({}, world)
    results = list(Environments({memory: made}, world).perform_calls(calls))
    held: object = json.loads(json.dumps(made.get_full_state()))
    return {"results": results, "held": held, "shown": made.recall_memory()}


def split_result(result: str) -> tuple[object, str]:
    """Return what a result holds, and its sentence with the values in it left out."""
    if result.startswith("Error"):
        return "an exception", ""
    value: object = json.loads(result)
    if isinstance(value, dict):
        for key in ("status", "error"):
            if key in value and len(value) == 1:
                return key, re.sub(r"'.*'", "'…'", str(value[key]), flags=re.DOTALL)
    return value, ""


def find_differences(
    calls: Sequence[str], found: Mapping[str, object], right: Mapping[str, object], known: dict[str, set[str]]
) -> Iterator[str]:
    """Yield where outcomes differ; ``known`` collects which of our sentences stands for which of theirs."""
    results, expected = found["results"], right["results"]
    assert isinstance(results, list)
    assert isinstance(expected, list)
    for call, mine, theirs in zip(calls, results, expected, strict=True):
        (value, sentence), (other, meant) = split_result(mine), split_result(theirs)
        if json.dumps(value) != json.dumps(other):
            yield f"{call:.100}: {mine:.200} not {theirs:.200}"
        function = call.partition("(")[0]
        known.setdefault(f"{function}: {sentence}", set()).add(meant)
    if found["held"] != right["held"]:
        yield f"held: {found['held']!r:.200} not {right['held']!r:.200}"
    if found["shown"] and found["shown"] != right["shown"]:
        yield f"shown: {found['shown']!r:.200} not {right['shown']!r:.200}"


@NEEDS_OFFICIAL
@pytest.mark.parametrize("memory", ["memory_kv", "memory_rec_sum"])
def test_random_calls_do_the_same(memory: str, tmp_path: Path) -> None:
    random = Random(memory)
    sequences = [{"memory": memory, "calls": draw_sequence(random, memory)} for _ in range(SEQUENCES)]
    known: dict[str, set[str]] = {}
    found = []
    for each, right in zip(sequences, run_official(MEMORIES, tmp_path, sequences), strict=True):
        calls = each["calls"]
        assert isinstance(calls, list)
        found += list(find_differences(calls, run_ours(memory, calls), right, known))
    assert found == []
    assert {sentence: meant for sentence, meant in known.items() if len(meant) > 1} == {}
    reached = {sentence for sentence in known if not sentence.endswith(": ")}
    assert len(reached) == {"memory_kv": 24, "memory_rec_sum": 9}[memory], reached
    theirs = [(key.partition(":")[0], *meant) for key, meant in known.items()]
    assert len(theirs) == len(set(theirs)), "two of our sentences stand for one of theirs"


@NEEDS_OFFICIAL
@pytest.mark.parametrize("memory", ["memory_kv", "memory_rec_sum"])
def test_with_the_sentences_of_the_pack_results_are_equal(memory: str, tmp_path: Path, bfcl: Suite) -> None:
    random = Random(f"{memory} to the letter")
    sequences = [{"memory": memory, "calls": draw_sequence(random, memory)} for _ in range(SEQUENCES)]
    found, wrong = [], 0
    for each, right in zip(sequences, run_official(MEMORIES, tmp_path, sequences), strict=True):
        calls, theirs = each["calls"], right["results"]
        assert isinstance(calls, list)
        assert isinstance(theirs, list)
        results = run_ours(memory, calls, bfcl.world)["results"]
        assert isinstance(results, list)
        wrong += sum("rror" in result for result in theirs)
        pairs = zip(calls, results, theirs, strict=True)
        found += [f"{call:.100}: {mine:.200} not {his:.200}" for call, mine, his in pairs if mine != his]
    assert found == []
    assert wrong > 1000


def test_a_difference_is_found() -> None:
    calls = ["core_memory_add(key='a', value='b')", "core_memory_retrieve(key='a')"]
    outcome = run_ours("memory_kv", calls)
    same = {**outcome, "results": ['{"status": "Yes."}', '{"value": "b"}']}
    assert list(find_differences(calls, outcome, same, {})) == []
    other = {**same, "results": ['{"error": "No."}', '{"value": "c"}'], "held": {}, "shown": "?"}
    assert len(list(find_differences(calls, outcome, other, {}))) == 4
