"""Runs where something is odd: a full disk, a folder that cannot be written, the clock, an answer, a name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.suites import core
from tests.loopback import Body, Reply, make_error_reply, make_message_reply, serve_answers
from tests.plugin.conftest import Project
from tests.served import served, stats

WORKERS = pytest.mark.parametrize(
    "workers",
    [(), pytest.param(("-n", "0"), marks=pytest.mark.nightly), ("-n", "2")],
    ids=["plain", "n0", "n2"],
)
SOME = "--fcbench-category=simple_python"
SOME_ENTRIES = core.open_suite(Path()).load(CATEGORIES["simple_python"])
MULTIPLE_ENTRIES = core.open_suite(Path()).load(CATEGORIES["multiple"])


@contextmanager
def mount_disk(place: Path, *options: str) -> Iterator[Path]:
    """Mount a small file system of its own, which binds the administrator too."""
    place.mkdir(exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


# Disks


@pytest.mark.few(1)
@WORKERS
@pytest.mark.parametrize(
    ("options", "why"),
    [(("size=8k",), "No space left on device"), (("ro",), "Read-only file system")],
    ids=["full", "read-only"],
)
def test_a_scorecard_that_cannot_be_written_is_told_and_none(
    project: Project, workers: tuple[str, ...], options: tuple[str, ...], why: str
) -> None:
    with mount_disk(project.path / "disk", *options) as place:
        result = project.run(SOME, f"--fcbench-scorecard={place}/card.json", *workers)
        assert list(place.iterdir()) == []
    assert result.ret == 1
    result.assert_outcomes(passed=len(SOME_ENTRIES))
    told = f"the scorecard was not saved: {place}/card.json: cannot be written: {why}; free some space"
    assert any(line.startswith(told) for line in result.outlines)
    assert "INTERNALERROR" not in result.stdout.str()


def test_a_scorecard_that_is_there_stays_whole(project: Project) -> None:
    with mount_disk(project.path / "disk", "size=20k") as place:
        card = f"--fcbench-scorecard={place}/card.json"
        assert project.run(SOME, card, "-k", "simple_python_0").ret == 0
        before = (place / "card.json").read_bytes()
        assert project.run(SOME, card).ret == 1
        assert (place / "card.json").read_bytes() == before
        assert project.fcbench("run", "show", "--scorecard", str(place / "card.json")).returncode == 0


def test_a_gate_that_held_does_not_hide_it(project: Project) -> None:
    with mount_disk(project.path / "disk", "size=8k") as place:
        options = (f"--fcbench-scorecard={place}/card.json", "--fcbench-gate=simple_python>=50%")
        assert project.run(SOME, *options).ret == 1
    assert project.run(SOME, options[1]).ret == 0


def test_a_device_is_written_to_and_stays_one(project: Project) -> None:
    assert project.run(SOME, "--fcbench-scorecard=/dev/full").ret == 1
    assert project.run(SOME, "--fcbench-scorecard=/dev/null").ret == 0
    assert Path("/dev/full").is_char_device()
    assert Path("/dev/null").is_char_device()


def test_answers_that_a_full_disk_holds_are_not_lost_and_no_more_are_bought(project: Project) -> None:
    with served("--model", "oracle") as api_base, mount_disk(project.path / "disk", "size=96k") as place:
        options = (
            "--fcbench-model=openai/served",
            f"--fcbench-api-base={api_base}",
            "--fcbench-param=api_key=unused",
            "--fcbench-concurrency=1",
            f"--fcbench-store={place}/answers.sqlite",
            "--fcbench-category=multiple",
        )
        result = project.run_apart(*options)
        asked = stats(api_base)["requests"]
        passed = result.parseoutcomes()["passed"]
        assert result.ret == 1
        assert 0 < passed < len(MULTIPLE_ENTRIES)
        assert asked == passed + 1
        told = json.dumps(project.scorecard())
        assert told.count('"code": "store"') == 2 * (len(MULTIPLE_ENTRIES) - passed)
        assert "INTERNALERROR" not in result.stdout.str()
        again = project.run_apart(*options, "--fcbench-offline")
        assert again.parseoutcomes()["passed"] == passed
        assert stats(api_base)["requests"] == asked


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "options",
    [
        (
            "--fcbench-model=openai/served",
            "--fcbench-api-base=http://127.0.0.1:9/v1",
            "--fcbench-store={}/answers.sqlite",
        ),
        ("--fcbench-search=duckduckgo", "--fcbench-search-record={}/web.jsonl"),
    ],
    ids=["store", "search record"],
)
def test_what_could_not_be_kept_is_known_before_anything_is_asked(
    project: Project, options: tuple[str, ...]
) -> None:
    with mount_disk(project.path / "disk", "ro") as place:
        result = project.run_apart(*(option.format(place) for option in options))
    assert result.ret == 4
    errors = result.stderr.str()
    assert str(place) in errors
    assert "Traceback" not in errors


@pytest.mark.few(1)
@pytest.mark.parametrize("options", [("size=8k",), ("ro",)], ids=["full", "read-only"])
def test_what_commands_cannot_write_is_told_and_nothing_is_left(
    project: Project, options: tuple[str, ...]
) -> None:
    project.run(SOME)
    with mount_disk(project.path / "disk", *options) as place:
        for command in (
            ("run", "report", "scorecard.json", "--to", f"{place}/a.html"),
            ("run", "merge", "scorecard.json", "--to", f"{place}/b.json"),
        ):
            done = project.fcbench(*command)
            assert done.returncode == 1
            assert f"fcbench: {command[-1]}: cannot be written: " in done.stderr
            assert "Traceback" not in done.stderr
        assert list(place.iterdir()) == []


# The clock


@pytest.mark.nightly
@pytest.mark.parametrize(
    "jump_s", [-3600, -(10**9), 3600, 10**9], ids=["back", "decades back", "ahead", "decades ahead"]
)
def test_a_clock_that_jumps_changes_nothing(project: Project, jump_s: int) -> None:
    """Limits, durations and latencies go by another clock."""
    project.write(
        "conftest.py",
        "import itertools, time\n"
        f"now, calls = time.time, itertools.count()\n"
        f"time.time = lambda: now() + (0 if next(calls) < 40 else {jump_s})\n",
    )
    with served(
        "--model", "oracle", "--latency", "0.02", "--fault", "429:0.2", "--retry-after", "0.1", "--seed", "3"
    ) as api_base:
        result = project.run_apart(
            "--fcbench-model=openai/served",
            f"--fcbench-api-base={api_base}",
            "--fcbench-param=api_key=unused",
            SOME,
            "--fcbench-rpm=6000",
            "--fcbench-entry-timeout=600",
        )
    result.assert_outcomes(passed=len(SOME_ENTRIES))
    for record in project.records().values():
        assert 0 < float(str(record["latency_s"])) < 600
    assert 0 < float(str(project.scorecard()["duration"])) < 600


def test_files_of_the_future_are_read(project: Project) -> None:
    path = project.write("mine.jsonl", json.dumps(make_own_entry("chatable_0")))
    os.utime(path, (time.time() + 10**9,) * 2)
    os.utime(project.path / "fcbench.yaml", (time.time() + 10**9,) * 2)
    assert project.run(str(path)).parseoutcomes()["passed"] == 1


# Answers and entries


def make_own_entry(
    name: str, function: str = "f", parameter: str = "x", value: str = "v"
) -> dict[str, object]:
    """Make an entry of a team's own that calls one function."""
    parameters = {
        "type": "dict",
        "properties": {parameter: {"type": "string", "description": value}},
        "required": [parameter],
    }
    doc = {"name": function, "description": f"About {value}.", "parameters": parameters}
    return {
        "category": "simple_python",
        "id": name,
        "query": f"Please {value}.",
        "functions": [doc],
        "expect": [{function: {parameter: [value]}}],
    }


HUGE = {
    "ten megabytes": "x" * 10_000_000,
    "a call of ten megabytes": f"[f(x='{'y' * 10_000_000}')]",
    "a hundred thousand calls": f"[{', '.join(['f(x=1)'] * 100_000)}]",
    "deep brackets": "[" * 10_000 + "]" * 10_000,
    "deep JSON": '[{"name": "f", "arguments": ' + '{"x":' * 10_000 + "1" + "}" * 10_000 + "}]",
}


@pytest.mark.few(1)
@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE)
def test_a_huge_answer_is_judged_and_little_of_it_is_shown(project: Project, text: str) -> None:
    project.write("mine.jsonl", json.dumps(make_own_entry("a")))
    project.write("script.yaml", json.dumps({"answers": {"mine:a": text}}))
    result = project.run("mine.jsonl", "--fcbench-model=scripted:script.yaml", "--fcbench-mode=prompt")
    assert result.parseoutcomes() == {"failed": 1}
    assert len(result.stdout.str()) < 10_000
    (record,) = project.records().values()
    assert record["turns"][0][0]["text"] == text  # type: ignore[index]
    shutil.copy(project.path / "scorecard.json", project.path / "copy.json")
    assert project.fcbench("run", "compare", "scorecard.json", "copy.json").returncode == 0
    assert project.fcbench("run", "report", "scorecard.json").returncode == 0


@pytest.mark.nightly
def test_ten_thousand_functions_in_an_entry(project: Project) -> None:
    doc = make_own_entry("a")["functions"][0]  # type: ignore[index]
    functions = [{**doc, "name": f"f_{n}"} for n in range(10_000)]
    entry = make_own_entry("a", "f_9999") | {"category": "multiple", "functions": functions}
    project.write("mine.jsonl", json.dumps(entry))
    for option in ("--fcbench-mode=fc", "--fcbench-mode=prompt"):
        assert project.run("mine.jsonl", option).parseoutcomes() == {"passed": 1}
    assert project.run("mine.jsonl", "--fcbench-model=lexical").parseoutcomes() == {"failed": 1}
    assert project.fcbench("run", "report", "scorecard.json").returncode == 0


# Names

NAMES = {
    "Hebrew": "עברית",
    "Arabic digits": "٣٤",
    "an emoji of several": "👩‍👩‍👧",
    "a combining accent": "e\u0301clair",
    "Chinese": "天气",
    "spaces": "a b",
    "colons": "a::b",
    "a trial": "a-t1",
    "slashes": "a/b\\c",
    "markup": "<b>&amp;</b>",
    "percent and braces": "%s{}{0}",
    "very long": "é" * 300,
    "no-break space": "a\u00a0b",
}
INSIDE = "\0\ud800\u202e</script>😀"
"""What only the inside of an entry can hold."""


@pytest.mark.few(1)
@WORKERS
def test_unicode_in_every_place(project: Project, workers: tuple[str, ...]) -> None:
    folder = project.path / "entrées 日本 🙂"
    folder.mkdir()
    entries = [
        make_own_entry(name, f"f{name}", f"{name}{INSIDE}", f"{name}{INSIDE}") for name in NAMES.values()
    ]
    (folder / "ü.jsonl").write_text("\n".join(map(json.dumps, entries)))
    profile = {"models": {"модель 🙂": {"model": "oracle"}}}
    project.write("fcbench.yaml", json.dumps(profile, ensure_ascii=False))
    options = ("--fcbench-model=модель 🙂", "--fcbench-mode=fc", "--junitxml=junit.xml", *workers)
    result = project.run(str(folder), *options)
    assert result.parseoutcomes()["passed"] == len(NAMES)
    assert result.ret == 0
    assert len(project.records()) == len(NAMES)
    cases = ElementTree.parse(project.path / "junit.xml").findall(".//testcase")
    assert len(cases) == len(NAMES)
    assert project.fcbench("run", "report", "scorecard.json", "--to", "r.html").returncode == 0
    page = (project.path / "r.html").read_text(encoding="utf-8")
    assert "</script>😀" not in page


@pytest.mark.nightly
def test_a_failure_is_found_again_by_its_name(project: Project) -> None:
    """With ``--lf``, and by the node id that the scorecard tells."""
    project.write("mine.jsonl", "\n".join(json.dumps(make_own_entry(name)) for name in NAMES.values()))
    project.write(
        "script.yaml",
        json.dumps({"answers": {f"mine:{name}": "no" for name in NAMES.values()}}, ensure_ascii=False),
    )
    options = (
        "mine.jsonl",
        "--fcbench-model=scripted:script.yaml",
        "--fcbench-mode=prompt",
        "-p",
        "cacheprovider",
    )
    run = project.pytester.runpytest_inprocess
    assert run(*options).parseoutcomes()["failed"] == len(NAMES)
    tests = project.scorecard()["tests"]
    assert isinstance(tests, list)
    assert run("--lf", *options).parseoutcomes()["failed"] == len(NAMES)
    for test in tests:
        assert run(test["nodeid"], *options[1:]).parseoutcomes()["failed"] == 1


# Endpoints


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_one_reply_that_asks_for_years_costs_one_entry(project: Project, workers: tuple[str, ...]) -> None:
    evil = SOME_ENTRIES[3].turns[0][-1].content

    def answer_or_delay(asked: Body) -> Reply:
        if evil not in json.dumps(asked, ensure_ascii=False):
            return make_message_reply("ok")
        return replace(make_error_reply(429, "slow down"), headers={"Retry-After": "999999999"})

    with serve_answers(answer_or_delay) as endpoint:
        at = f"--fcbench-api-base={endpoint.api_base}"
        options = (SOME, "--fcbench-model=mine", at, "--fcbench-max-pause=0.1", "--fcbench-no-preflight")
        result = project.run(*options, *workers)
    result.assert_outcomes(failed=len(SOME_ENTRIES) - 1, errors=1)
    result.stdout.fnmatch_lines(["*core:simple_python_3: a pause of 999,999,999 s was asked for*"])
    assert "longer than --fcbench-max-pause=0.1 allows" in (project.path / "scorecard.json").read_text()
