"""The numbers of a run along golden paths, computed again from the file, the answers and the JSON report.

A synthetic file in the official shape, answers that are partly wrong, each profile driving. Nothing of
``scorecard/`` is used to compute what is expected of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any

import pytest
from scipy.stats import t as student_t

from pytest_fcbench.dispatch.dispatcher import Dispatcher
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.transcript import PathSettings, Transcript
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.kind import ConversationContext
from pytest_fcbench.kinds.table import converse
from pytest_fcbench.models.baselines import scripted
from pytest_fcbench.suites import packs
from pytest_fcbench.suites.complexfuncbench import DOMAINS, NAME, SOURCE
from pytest_fcbench.suites.registry import open_suite
from tests.complexfuncbench import FUNCTIONS, make_record, make_templates
from tests.kinds.golden_path.talking import FC, classify_replies
from tests.plugin.conftest import Project

PROFILES = ("official", "corrected")


@dataclass(frozen=True)
class Material:
    """What a run is made from, in the form of the files, by id."""

    cache: Path
    script: Path
    records: Mapping[str, Any]
    answers: Mapping[str, Any]
    flawed: frozenset[str]
    """Entries of which a golden call has a wrong form."""


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    """Make a pack of three paraphrases of every fourth template; an entry of fifteen has no answer."""
    folder = tmp_path_factory.mktemp("made")
    records = {
        record["id"]: record
        for template in make_templates()[::4]
        for record in (make_record(template, paraphrase, items=0.2) for paraphrase in (0, 3, 7))
    }
    flawed = frozenset(list(records)[::20])
    for entry_id in flawed:
        records[entry_id]["conversations"][1]["function_call"][0]["arguments"] = {}
    answered = [entry_id for number, entry_id in enumerate(records) if number % 15 != 4]
    answers = {entry_id: _draw_answers(records[entry_id], Random(entry_id)) for entry_id in answered}
    file, script = folder / "file.jsonl", folder / "answers.yaml"
    file.write_text("".join(json.dumps(record) + "\n" for record in records.values()))
    packs.pull(SOURCE, folder / "cache", file)
    script.write_text(json.dumps({"answers": {f"{NAME}:{i}": {"turns": [a]} for i, a in answers.items()}}))
    return Material(folder / "cache", script, records, answers, flawed)


def _list_golden_steps(record: Any) -> list[list[Any]]:
    return [turn["function_call"] for turn in record["conversations"] if "function_call" in turn]


def _draw_answers(record: Any, draw: Random) -> list[Any]:
    """Draw answers to a record: calls, mostly right, and a text at the end."""
    answers: list[Any] = []
    for step in _list_golden_steps(record):
        calls = [_write_call(call, draw, wrong=draw.random() < 0.06) for call in step]
        match draw.choices(range(5), (75, 7, 7, 7, 4))[0]:
            case 0:
                answers.append(calls)
            case 1:
                answers += [[call] for call in calls]
            case 2:  # at first all are wrong
                answers += [[_write_call(call, draw, wrong=True) for call in step], calls]
            case 3:
                answers += [calls, calls]
            case 4:  # too early
                break
    return [*answers, "Done."]


def _write_call(call: Any, draw: Random, *, wrong: bool) -> dict[str, object]:
    """Return a call as scripted answers have it, right or changed."""
    name, arguments = call["name"], dict(call["arguments"])
    properties = FUNCTIONS[name]["parameters"]["properties"]
    required = FUNCTIONS[name]["parameters"]["required"]
    some = draw.choice(list(arguments or properties))
    needless = [key for key in arguments if key not in required] or [some]
    more = {key: _make_value(schema) for key, schema in properties.items() if key not in arguments}
    changes: list[Callable[[], dict[str, object]]] = [
        lambda: {name: {**arguments, some: "elsewhere"}},
        lambda: {name: {key: value for key, value in arguments.items() if key != needless[0]}},
        lambda: {name: {**arguments, **more}},
        lambda: {name: {key: str(value).swapcase() for key, value in arguments.items()}},
        lambda: {draw.choice(list(FUNCTIONS)): arguments},
        lambda: {"no_such_function": arguments},
        lambda: {name: json.dumps(arguments)[:-1]},
    ]
    return draw.choices(changes, (4, 8, 4, 3, 2, 1, 1))[0]() if wrong else {name: arguments}


def _make_value(schema: Any) -> object:
    values: Mapping[str, object] = {"number": 1, "array": []}
    return values.get(schema["type"], "more")


@pytest.fixture(scope="module", params=PROFILES)
def driving_profile(request: pytest.FixtureRequest) -> str:
    """Return the profile that drives."""
    profile: str = request.param
    return profile


def _run_benchmark(
    project: Project, material: Material, driving_profile: str, workers: int
) -> Mapping[str, Any]:
    project.run(
        *("benchmarks/test_complex.py", "-n", str(workers), f"--fcbench-model=scripted:{material.script}"),
        *(f"--fcbench-suite={NAME}", "--fcbench-category=complex", f"--fcbench-profile={driving_profile}"),
    )
    return project.scorecard()


@pytest.mark.few(1)
def test_every_number_of_the_scorecard(
    project: Project, material: Material, driving_profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(material.cache))
    section = _run_benchmark(project, material, driving_profile, 0)["fcbench"]
    records = project.records()
    assert set(records) == {f"{NAME}:{entry_id}" for entry_id in material.records}
    for profile in PROFILES:
        told = section["profiles"][profile]
        for name, part in _group_by_domain(records).items():
            scores = told["groups"]["complex"] if name == "all" else told["categories"][name]
            _check_counts(scores, part, profile)
            _check_calls(told["complex"][name], part, profile, material)
        _check_intervals(told, _group_by_domain(records), profile)
    _check_what_was_left_out(records, material, driving_profile)
    if driving_profile == "official":
        _check_official_metric(section["profiles"]["official"], records, material)
    assert _run_benchmark(project, material, driving_profile, 2)["fcbench"] == section
    assert project.records() == records


def _group_by_domain(records: Mapping[str, Any]) -> dict[str, list[Any]]:
    parts: dict[str, list[Any]] = {}
    for entry, record in records.items():
        domain = entry.partition(":")[2].rpartition("-")[0]
        parts.setdefault(DOMAINS[domain].name, []).append(record)
    return {**parts, "all": list(records.values())}


def _read_status(record: Any, profile: str) -> str:
    status: str = record["verdicts"][profile]["status"]
    return status


def _check_counts(scores: Any, records: Sequence[Any], profile: str) -> None:
    counts = Counter(_read_status(record, profile) for record in records)
    aside = sum(record["verdicts"][profile]["code"] == "set_aside" for record in records)
    assert scores["n"] == len(records)
    assert scores["passed"] == counts["passed"] > 0
    assert scores["failed"] == counts["failed"] > 0
    assert (scores["not_scored"], scores["set_aside"]) == (counts["not_scored"], aside)
    assert scores["unknown"] == _count_unknown(records, profile)
    share = counts["passed"] / (counts["passed"] + counts["failed"])
    assert scores["accuracy"] == (None if scores["unknown"] else pytest.approx(share))


def _count_unknown(records: Sequence[Any], profile: str) -> int:
    """Count entries of which a profile cannot tell, as the conversation went by the other one's rules."""
    return sum(record["verdicts"][profile]["code"] == "other_rules" for record in records)


_CLASSES = {"param_hallucination": "hallucination", "func_hallucination": "hallucination"}


def _check_calls(told: Any, records: Sequence[Any], profile: str, material: Material) -> None:
    """Check the counts of calls, answers and errors; those of golden paths come from the file."""
    calls = right = 0
    failures, errors, beyond = Counter[str](), Counter[str](), Counter[str]()
    more: list[int] = []
    for record in records:
        verdict, path = record["verdicts"][profile], record["paths"].get(profile)
        if verdict["status"] == "not_scored":
            continue
        if verdict["status"] == "failed":
            failures[_CLASSES.get(verdict["code"], verdict["code"])] += 1
        if path is None:
            continue
        golden = _list_golden_steps(material.records[record["entry"].partition(":")[2]])
        took = [call for call in path["verdicts"] if call["right"]]
        calls += sum(map(len, golden))
        right += sum(profile == "official" or call["stage"] != "repeat" for call in took)
        for call in path["verdicts"]:
            if not call["right"]:
                errors[_CLASSES.get(call["code"], call["code"])] += 1
        if verdict["status"] == "passed":
            answers = [answer for answer in record["turns"][0] if answer["tool_calls"]]
            more.append(len(answers) - len(golden))
            beyond["fewer" if more[-1] < 0 else "3+" if more[-1] > 2 else str(more[-1])] += 1
    assert (told["calls"], told["right"]) == (calls, right)
    assert told["accuracy"] == pytest.approx(right / calls)
    assert (told["failures"], told["errors"]) == (failures, errors)
    assert told["beyond"] == beyond
    assert told["beyond_mean"] == pytest.approx(sum(more) / len(more))


def _check_what_was_left_out(records: Mapping[str, Any], material: Material, driving_profile: str) -> None:
    for entry, record in records.items():
        entry_id = entry.partition(":")[2]
        for profile in PROFILES:
            verdict = record["verdicts"][profile]
            expected = set()
            if entry_id not in material.answers:
                expected = {"no_result"}
            elif profile == "corrected" and entry_id in material.flawed:
                expected = {"set_aside"}
            elif profile != driving_profile and verdict["status"] == "not_scored":
                expected = {"other_rules"}
            left_out = {verdict["code"]} if verdict["status"] == "not_scored" else set()
            assert left_out == expected, (entry, profile, verdict)


# Intervals


def _find_wilson_limit(share: float, n: float, quantile: float, *, upper: bool) -> float:
    """Find by halving where the score test of a share just rejects."""
    near, far = share, float(upper)
    for _ in range(200):
        middle = (near + far) / 2
        if abs(share - middle) <= quantile * sqrt(middle * (1 - middle) / n):
            near = middle
        else:
            far = middle
    return near


def _find_ratio_limits(pairs: Mapping[str, list[tuple[int, int]]]) -> tuple[float, float]:
    """Find the limits of a ratio of sums over clusters of pairs; those of a share are never more than one."""
    sums = [(sum(a for a, _ in pair), sum(b for _, b in pair)) for pair in pairs.values()]
    top, bottom = (sum(column) for column in zip(*sums, strict=True))
    share, k = top / bottom, len(sums)
    freedom = max(1.0, bottom**2 / sum(b**2 for _, b in sums) - 1)
    quantile = float(student_t.ppf(0.975, freedom))
    if any(a > b for a, b in sums):
        reach = quantile * sqrt(sum((a - share * b) ** 2 for a, b in sums) * k / (k - 1)) / bottom
        return max(0.0, share - reach), share + reach
    between = sum((a - share * b) ** 2 / (1 - b / bottom) for a, b in sums) / bottom**2
    n = min(bottom, share * (1 - share) / between) if between else k
    return (
        _find_wilson_limit(share, n, quantile, upper=False),
        _find_wilson_limit(share, n, quantile, upper=True),
    )


def _check_intervals(told: Any, parts: Mapping[str, Sequence[Any]], profile: str) -> None:
    """Check the intervals of success and of call accuracy; that of all follows from the categories."""
    below = above = 0.0
    scored = sum(_read_status(record, profile) != "not_scored" for record in parts["all"])
    for name, records in parts.items():
        passed: dict[str, list[tuple[int, int]]] = {}
        called: dict[str, list[tuple[int, int]]] = {}
        for record in records:
            domain, _, number = record["entry"].partition(":")[2].rpartition("-")
            template = f"{domain} {int(number) // 10}"
            if _read_status(record, profile) != "not_scored":
                passed.setdefault(template, []).append((_read_status(record, profile) == "passed", 1))
                if path := record["paths"].get(profile):
                    called.setdefault(template, []).append((path["right"], path["calls"]))
        interval = told["complex"][name]["interval"]
        assert (interval["low"], interval["high"]) == pytest.approx(_find_ratio_limits(called))
        if name == "all":
            continue
        score, (low, high) = told["categories"][name], _find_ratio_limits(passed)
        if score["unknown"]:
            assert score["interval"] is None
            continue
        assert (score["interval"]["low"], score["interval"]["high"]) == pytest.approx((low, high))
        assert any(len(pairs) > 1 for pairs in passed.values())
        weight = sum(map(len, passed.values())) / scored
        below += (weight * (score["accuracy"] - low)) ** 2
        above += (weight * (high - score["accuracy"])) ** 2
    group = told["groups"]["complex"]
    if group["unknown"]:
        assert group["accuracy"] is group["interval"] is None
        return
    limits = group["accuracy"] - sqrt(below), group["accuracy"] + sqrt(above)
    assert (group["interval"]["low"], group["interval"]["high"]) == pytest.approx(limits)


# The official metric


def _check_official_metric(told: Any, records: Mapping[str, Any], material: Material) -> None:
    """As ``print_results.py`` computes it from its result file, with the numbers of entries that are here.

    Such a file has no result where the worker crashed or nothing came; right calls are those that got their
    recorded reply.
    """
    held = _hold_conversations(material)
    successes, right, golden = Counter[str](), Counter[str](), Counter[str]()
    for entry, record in records.items():
        entry_id = entry.partition(":")[2]
        domain = entry_id.rpartition("-")[0]
        if _read_status(record, "official") == "not_scored" or "official" not in record["paths"]:
            continue
        successes[domain] += _read_status(record, "official") == "passed"
        right[domain] += classify_replies(held[entry]).count("r")
        golden[domain] += sum(map(len, _list_golden_steps(material.records[entry_id])))
    for domain, category in DOMAINS.items():
        counts, calls = told["categories"][category.name], told["complex"][category.name]
        assert counts["passed"] / counts["n"] == pytest.approx(
            successes[domain] / _count_entries(material, domain)
        )
        assert calls["accuracy"] == pytest.approx(right[domain] / golden[domain])
    overall = told["complex"]["all"]
    assert overall["passed"] == successes.total()
    assert overall["accuracy"] == pytest.approx(right.total() / golden.total())


def _count_entries(material: Material, domain: str) -> int:
    return sum(entry_id.rpartition("-")[0] == domain for entry_id in material.records)


def _hold_conversations(material: Material) -> Mapping[str, Transcript]:
    """Hold the conversations once more, by the official rules."""
    suite, model = (
        open_suite(NAME, material.cache),
        scripted.load(material.script, Prompting.make_default(Mode.FC, Names.UNDERSCORED)),
    )
    entries = [entry for category in suite.categories for entry in suite.load(category)]
    dispatcher = Dispatcher(
        model, lambda entry: converse(entry, ConversationContext(FC, suite, PathSettings(Profile.OFFICIAL)))
    )
    return {entry.key: dispatcher.transcript(entry) for entry in entries if entry.id in material.answers}
