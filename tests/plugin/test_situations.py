"""What the exit code is in every situation that a gate meets, alone and with two workers.

The runs put the entries of one category to a model whose answers are given, beside a baseline whose
verdicts are given.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Verdict
from pytest_fcbench.scorecard.scorecard_files import Scorecard, write_baseline
from pytest_fcbench.suites import core
from tests.factories import FACTS, make_record
from tests.plugin.conftest import Project

HELD, BROKEN, CANNOT_TELL, USAGE = 0, 1, 2, 4
CATEGORY = "irrelevance"
SUITE = core.open_suite(Path())
N = 40
ENTRIES = SUITE.load(CATEGORIES[CATEGORY])[:N]

PASS, FAIL, NONE = Passed(), Failed("decoder_success", "a call"), NotScored("timeout", "600 s")


def _expand_letters(text: str) -> list[str]:
    """Return ten times p and four times f for ``p10f4``."""
    found: list[str] = []
    for part in text.replace("p", " p").replace("f", " f").replace("n", " n").split():
        found += [part[0]] * int(part[1:])
    return found


@dataclass(frozen=True)
class Situation:
    """``run`` and ``before`` say of each entry, in order: passed, failed or not scored (p, f, n)."""

    name: str
    run: str
    rules: Sequence[str]
    code: int
    before: str | None = None
    options: Sequence[str] = ()
    version: str = SUITE.version
    category: str = CATEGORY


def _write_all(letter: str) -> str:
    return f"{letter}{N}"


def _write_letters(passed: int, unscored: int = 0) -> str:
    return f"p{passed}f{N - passed - unscored}n{unscored}"


NOT_WORSE = (f"not-worse({CATEGORY}, 95%)",)

SITUATIONS = [
    # A score and a number
    Situation("above the number", _write_all("p"), [f"{CATEGORY}>=0.8"], HELD),
    Situation("at the number", _write_letters(N // 2), [f"{CATEGORY}>=50%"], HELD),
    Situation("below the number", _write_letters(N // 2), [f"{CATEGORY}>50%"], BROKEN),
    Situation(
        "one rule of two broken", _write_letters(N // 2), [f"{CATEGORY}>=0.1", f"{CATEGORY}>=0.9"], BROKEN
    ),
    Situation("a group of a part", _write_all("p"), ["irrelevance_all>=50%"], CANNOT_TELL),
    Situation("a suite", _write_all("p"), ["core>=99%"], HELD),
    Situation("a selection", _write_all("f"), ["single_turn>=1%"], BROKEN),
    Situation("overall of a part", _write_all("p"), ["overall>=50%"], CANNOT_TELL),
    Situation("all that was run", _write_all("p"), ["all>=50%"], HELD),
    Situation("a category that was not run", _write_all("p"), ["parallel>=0.5"], CANNOT_TELL),
    Situation("a mark that no test has", _write_all("p"), ["mark:smoke>=0.5"], CANNOT_TELL),
    # Not scored
    Situation("few not scored, far from the number", _write_letters(N - 2, 2), [f"{CATEGORY}>=0.5"], HELD),
    Situation(
        "few not scored, near the number", _write_letters(N // 2 - 1, 2), [f"{CATEGORY}>=0.5"], CANNOT_TELL
    ),
    Situation("broken whatever they were", _write_letters(1, 2), [f"{CATEGORY}>=0.9"], BROKEN),
    Situation("nothing scored", _write_all("n"), [f"{CATEGORY}>=0.1"], CANNOT_TELL),
    Situation("too many not scored", _write_letters(N - 2, 2), ["not_scored<=1%"], BROKEN),
    Situation("none not scored", _write_letters(3), ["not_scored<=0%"], HELD),
    Situation(
        "broken and undecided", _write_letters(N // 2 - 1, 2), [f"{CATEGORY}>=0.5", "not_scored<=1%"], BROKEN
    ),
    # Beside a baseline
    Situation("the same", _write_letters(7), [f"{CATEGORY}>=baseline"], HELD, _write_letters(7)),
    Situation("better", _write_letters(8), [f"{CATEGORY}>=baseline"], HELD, _write_letters(7)),
    Situation("worse", _write_letters(7), [f"{CATEGORY}>=baseline"], BROKEN, _write_letters(8)),
    Situation(
        "worse within the margin", _write_letters(7), [f"{CATEGORY}>=baseline-10%"], HELD, _write_letters(8)
    ),
    Situation(
        "worse beyond the margin",
        _write_letters(5),
        [f"{CATEGORY}>=baseline-0.02"],
        BROKEN,
        _write_letters(8),
    ),
    Situation(
        "not as much better as asked",
        _write_letters(8),
        [f"{CATEGORY}>=baseline+50%"],
        BROKEN,
        _write_letters(7),
    ),
    Situation(
        "not scored could turn it", f"p6f{N - 7}n1", [f"{CATEGORY}>=baseline"], CANNOT_TELL, _write_letters(7)
    ),
    Situation("the baseline has only some", _write_letters(7), [f"{CATEGORY}>=baseline"], HELD, "p5"),
    Situation(
        "the baseline scored none", _write_letters(7), [f"{CATEGORY}>=baseline"], CANNOT_TELL, _write_all("n")
    ),
    Situation(
        "the baseline has other entries",
        _write_letters(7),
        ["parallel>=baseline"],
        CANNOT_TELL,
        _write_letters(7),
    ),
    Situation(
        "another suite version",
        _write_letters(7),
        [f"{CATEGORY}>=baseline"],
        CANNOT_TELL,
        _write_letters(7),
        version="0",
    ),
    # Not worse
    Situation("not worse: the same", _write_letters(7), NOT_WORSE, HELD, _write_letters(7)),
    Situation("not worse: noise", _write_letters(7), NOT_WORSE, HELD, _write_letters(9)),
    Situation("not worse: few entries", "p1f3" + f"p{N - 4}", NOT_WORSE, HELD, _write_all("p")),
    Situation(
        "not worse: too few to show a loss", _write_letters(4), NOT_WORSE, CANNOT_TELL, _write_letters(4)
    ),
    Situation("not worse: a clear loss", _write_letters(2), NOT_WORSE, BROKEN, _write_all("p")),
    Situation("not worse: much better", _write_all("p"), NOT_WORSE, HELD, _write_letters(2)),
    Situation("not worse: a loss may hide", f"p{N - 6}f3n3", NOT_WORSE, CANNOT_TELL, _write_all("p")),
    Situation(
        "not worse: another version", _write_letters(2), NOT_WORSE, CANNOT_TELL, _write_all("p"), version="0"
    ),
    Situation(
        "not worse: what stands for the baseline",
        _write_letters(1),
        ["not-worse(95%)"],
        BROKEN,
        _write_all("p"),
    ),
    # Time and money
    Situation("no call was timed", _write_all("p"), ["latency.p95<=3s"], CANNOT_TELL),
    Situation("no price is known", _write_all("p"), ["cost<=1usd"], CANNOT_TELL),
    # How it is run
    Situation("stopped", _write_letters(2), [f"{CATEGORY}>=0.1"], CANNOT_TELL, options=["-x"]),
    Situation(
        "the other profile",
        _write_letters(N // 2),
        [f"{CATEGORY}>=50%"],
        HELD,
        options=["--fcbench-profile=corrected"],
    ),
    Situation("no baseline named", _write_letters(7), [f"{CATEGORY}>=baseline"], USAGE),
    Situation("no such metric", _write_letters(7), ["irelevance>=0.5"], USAGE),
]


def _write_script(letters: Sequence[str]) -> dict[str, object]:
    """Write answers that pass (a text) or fail (a call); an entry without one is not scored."""
    found: dict[str, object] = {}
    for entry, letter in zip(ENTRIES, letters, strict=True):
        if letter != "n":
            found[entry.key] = "No function fits." if letter == "p" else [{entry.functions[0].name: {}}]
    return {"answers": found}


def _write_baseline(situation: Situation) -> str:
    verdicts: dict[str, Verdict] = {"p": PASS, "f": FAIL, "n": NONE}
    records = [
        replace(make_record(verdicts[letter], category=CATEGORY), entry=entry.key)
        for entry, letter in zip(ENTRIES, _expand_letters(situation.before or ""), strict=False)
    ]
    suites = {"core": {"version": situation.version, "pack_hash": SUITE.pack_sha256}}
    return write_baseline(Scorecard(Path("x"), replace(FACTS, suites=suites), tuple(records), {}))


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "workers", [("-n", "0"), pytest.param(("-n", "2"), marks=pytest.mark.nightly)], ids=["n0", "n2"]
)
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_the_exit_code_in_a_situation(
    project: Project, situation: Situation, workers: tuple[str, ...]
) -> None:
    letters = _expand_letters(situation.run)
    assert len(letters) == N
    project.write("script.yaml", json.dumps(_write_script(letters)))
    options = ["--fcbench-model=scripted:script.yaml", f"--fcbench-category={situation.category}"]
    options.append(f"--fcbench-limit={N}")
    options += [f"--fcbench-gate={rule}" for rule in situation.rules]
    if situation.before is not None:
        project.write("baseline.json", _write_baseline(situation))
        options.append("--fcbench-baseline=baseline.json")
    result = project.run(*options, *situation.options, *workers)
    assert result.ret == situation.code, result.stdout.str()[-2000:] + result.stderr.str()[-2000:]
    if situation.code != USAGE:
        assert project.scorecard()["exitcode"] == situation.code


def test_there_are_enough_situations() -> None:
    assert len(SITUATIONS) >= 30
    assert len({situation.name for situation in SITUATIONS}) == len(SITUATIONS)
