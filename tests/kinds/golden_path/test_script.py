"""Who holds a conversation along a path, and whose words the model reads."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import Call, PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path.runners import OWN, RUNNERS
from pytest_fcbench.kinds.golden_path.script import Script, find_runner_of, find_script
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from tests.factories import make_doc
from tests.kinds.golden_path.test_official_questions import WORDING

DOCS = {"book": make_doc("book", {"town": {"type": "string"}}, ["town"])}
OFFICIAL = GoldenPath((), by_runner=True, wording=WORDING)
DRIVEN = PathSettings(Profile.OFFICIAL, runner="gpt", wording="a version")


def test_only_official_paths_are_held_by_official_runners() -> None:
    assert find_runner_of(OFFICIAL, DRIVEN) is RUNNERS["gpt"]
    assert find_runner_of(replace(OFFICIAL, by_runner=False), DRIVEN) is OWN
    assert find_runner_of(OFFICIAL, replace(DRIVEN, runner=None)) is OWN


def test_official_texts_are_those_of_the_pack() -> None:
    assert find_script(OFFICIAL, DRIVEN) == Script(RUNNERS["gpt"], WORDING)
    assert find_script(OFFICIAL, replace(DRIVEN, wording=None)) == Script(RUNNERS["gpt"], None)
    assert find_script(replace(OFFICIAL, by_runner=False), DRIVEN) == Script(OWN, None)


@pytest.mark.parametrize("wording", [None, replace(WORDING, version="another version")])
def test_without_the_texts_of_the_conversation_nothing_is_scored(wording: object) -> None:
    path = replace(OFFICIAL, wording=wording)  # type: ignore[arg-type]
    with pytest.raises(
        NotScoredError, match=r"texts of the official code \(a version\), which the pack lacks"
    ):
        find_script(path, DRIVEN)


def test_a_refusal_is_in_the_words_of_its_source() -> None:
    official = replace(
        WORDING, wrong_call='{"no": 1}', refusals={"unknown_function": "there is no {function}"}
    )
    unknown = Call("fly", {})
    assert json.loads(Script(RUNNERS["gpt"], official).write_refusal(unknown, DOCS, "ours")) == {
        "error": "there is no fly"
    }
    # The official check sees less than ours, and says nothing then.
    fine = Call("book", {"town": "Bergen"})
    assert json.loads(Script(RUNNERS["gpt"], official).write_refusal(fine, DOCS, "ours")) == {"error": "ours"}
    assert json.loads(Script(OWN, None).write_refusal(unknown, DOCS, "ours")) == {"error": "ours"}


def test_a_runner_that_explains_nothing_says_that_the_call_is_wrong() -> None:
    official = replace(WORDING, wrong_call='{"no": 1}')
    assert Script(RUNNERS["claude"], official).write_refusal(Call("fly", {}), DOCS, "ours") == '{"no": 1}'
    own = json.loads(Script(RUNNERS["claude"], None).write_refusal(Call("fly", {}), DOCS, "ours"))
    assert own["api_status"] is True
