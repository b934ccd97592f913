"""A server sends answers that are too large: they fail, and the other entries keep their verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.loopback import Body, Reply, make_message_reply, serve_answers
from tests.plugin.conftest import Project

LONGEST = 5_000


def make_large_text(size: int) -> Reply:
    return make_message_reply(f"[f(a=[{'0,' * size}])]")


def make_large_call(size: int) -> Reply:
    return make_message_reply(calls=[("f", json.dumps({"a": [0] * size}))])


def list_options(api_base: str) -> tuple[str, ...]:
    return (
        "--fcbench-model=m",
        f"--fcbench-api-base={api_base}",
        "--fcbench-category=parallel,irrelevance",
        "--fcbench-concurrency=1",
        "--fcbench-limit=5",
    )


@pytest.mark.nightly
@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.nightly)], ids=["plain", "n2"]
)
@pytest.mark.parametrize("make_large", [make_large_text, make_large_call])
def test_one_large_answer_fails_and_the_others_keep_their_verdicts(
    project: Project, workers: tuple[str, ...], make_large: Callable[[int], Reply]
) -> None:
    asked: list[Body] = []

    def answer(body: Body) -> Reply:
        asked.append(body)
        return make_large(LONGEST) if len(asked) == 3 else make_message_reply("I cannot help with that.")

    with serve_answers(answer) as endpoint:
        options = (*list_options(endpoint.api_base), *workers)
        project.run_apart(*options, f"--fcbench-max-answer={LONGEST}")
        first = read_codes(project)
        project.run_apart(*options, f"--fcbench-max-answer={LONGEST * 10}")
        again = read_codes(project)
    assert len(asked) == 5
    assert first.count("too_large") == 1
    assert again.count("too_large") == 0
    others = [code for code in first if code != "too_large"]
    assert [code for code, before in zip(again, first, strict=True) if before != "too_large"] == others


def read_codes(project: Project) -> list[object]:
    codes = []
    for record in project.records().values():
        verdicts = record["verdicts"]
        assert isinstance(verdicts, dict)
        codes.append(verdicts["corrected"].get("code", "passed"))
    return codes
