"""Each entry passes in k of its n trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.gate.rules import parse_rule
from pytest_fcbench.scorecard.run_facts import BROKEN, HELD, UNDECIDED
from tests.factories import FACTS, make_record

_VERDICTS: dict[str, Verdict] = {
    "+": Passed(),
    "-": Failed("wrong_count", "2 calls"),
    "?": NotScored("timeout", "600 s"),
    "a": NotScored(SET_ASIDE, "bad data"),
}


@pytest.mark.parametrize(
    ("tried", "code", "told"),
    [
        (["+++", "+-+"], HELD, "2 of 2 entries passed in at least 2 of 3 trials"),
        (["+++", "--+"], BROKEN, "1 of 2 entries passed in fewer than 2 of 3 trials: core:simple_python_1"),
        (["++?"], HELD, "1 of 1 entries passed in at least 2 of 3 trials"),
        (["+++", "+-?"], UNDECIDED, "1 of 2 entries passed in at least 2 of 3 trials"),
        (["--?"], BROKEN, "1 of 1 entries passed in fewer than 2 of 3 trials: core:simple_python_0"),
        (["+++", "aaa"], HELD, "1 of 1 entries passed in at least 2 of 3 trials"),
        (["+"], UNDECIDED, "core:simple_python_0 has 1 of 3 trials; use --fcbench-trials=3"),
        ([], UNDECIDED, "nothing was scored"),
        (["---"] * 7, BROKEN, "_4 and 2 more"),
    ],
)
def test_each_entry_passes_in_two_of_three_trials(tried: Sequence[str], code: int, told: str) -> None:
    records = [
        replace(make_record(_VERDICTS[sign], number=n), trial=trial)
        for n, signs in enumerate(tried)
        for trial, sign in enumerate(signs, 1)
    ]
    evidence = Evidence(records, Profile.OFFICIAL, lambda name: 0, FACTS.suites)
    finding = parse_rule("each >= 2 of 3").check(evidence)
    assert finding.code == code
    assert finding.sentence.endswith(told)


@pytest.mark.parametrize(
    ("text", "told"),
    [("each>=3of2", "3 is more than 2; use e.g. each>=2of3"), ("each>=80%", "unknown metric 'each'")],
)
def test_other_numbers_are_refused(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        parse_rule(text)
