"""Whole runs against streams of real servers: the model is judged by what it said, not by how it was sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import pytest

from tests.loopback import Body, Reply, serve_answers
from tests.plugin.conftest import Project
from tests.wire import NEEDS_STREAMS, RecordedStream, list_recorded_streams

STREAMS = list_recorded_streams()
FUNCTION = {
    "name": "price",
    "description": "What packs of an item cost.",
    "parameters": {
        "type": "dict",
        "properties": {
            "item": {"type": "string", "description": "The item."},
            "count": {"type": "integer", "description": "How many packs."},
        },
        "required": ["item", "count"],
    },
}


def find_category(stream: RecordedStream) -> str:
    return ("irrelevance", "simple_python", "parallel")[1 if stream.calls is None else len(stream.calls)]


def write_suite(project: Project, name: str, streams: Iterable[RecordedStream], *, wrong: bool) -> None:
    """Write an entry for each stream, which its calls answer; in a wrong suite they do not."""
    rows: dict[str, list[dict[str, object]]] = {}
    for number, stream in enumerate(streams):
        category = find_category(stream)
        row: dict[str, object] = {
            "id": f"{category}_{number}",
            "query": f"stream {number}: What do packs cost?",
            "functions": ["price"],
        }
        if category != "irrelevance":
            calls = stream.calls or [("price", {"item": "salt", "count": 3})]
            counts = [{**given, "count": given["count"] + wrong} for _, given in calls]
            row["expect"] = [{"price": {key: [value] for key, value in given.items()}} for given in counts]
        rows.setdefault(category, []).append(row)
    for category, entries in rows.items():
        # JSON is YAML.
        parts = {"category": category, "functions": [FUNCTION], "entries": entries}
        lines = "".join(f"{part}: {json.dumps(value, ensure_ascii=False)}\n" for part, value in parts.items())
        project.write(f"{name}/{category}.yaml", lines)
    project.write("fcbench.yaml", f"suites: {{{name}: {name}}}\nsuite: [{name}]\n")


def answer_with(streams: list[RecordedStream]) -> Callable[[Body], Reply]:
    def answer(asked: Body) -> Reply:
        assert asked["stream"] is True
        assert asked["stream_options"] == {"include_usage": True}
        question = json.dumps(asked["messages"])
        number = int(question.partition("stream ")[2].partition(":")[0])
        return Reply(streams[number].body, headers={"Content-Type": "text/event-stream"})

    return answer


@pytest.mark.few(1)
@NEEDS_STREAMS
@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_model_is_judged_by_what_it_said_however_it_was_streamed(project: Project, workers: str) -> None:
    write_suite(project, "right", STREAMS, wrong=False)
    with serve_answers(answer_with(STREAMS)) as endpoint:
        project.run_apart(
            "--fcbench-model=m",
            f"--fcbench-api-base={endpoint.api_base}",
            "--fcbench-stream=on",
            "--fcbench-retries=1",
            "--fcbench-no-preflight",
            "--fcbench-store=answers.sqlite",
            "-n",
            workers,
        )
        records = project.records()
        # Failures are never stored: another run asks for them again, and for nothing else.
        before = len(endpoint.requests)
        project.run_apart(
            "--fcbench-model=m",
            f"--fcbench-api-base={endpoint.api_base}",
            "--fcbench-stream=on",
            "--fcbench-retries=0",
            "--fcbench-no-preflight",
            "--fcbench-store=answers.sqlite",
        )
    failures = [stream for stream in STREAMS if stream.is_failure]
    assert len(endpoint.requests) - before == len(failures)
    for number, stream in enumerate(STREAMS):
        verdicts = records[f"right:{find_category(stream)}_{number}"]["verdicts"]
        assert isinstance(verdicts, dict)
        statuses = (verdicts["official"]["status"], verdicts["corrected"]["status"])
        expected = "not_scored" if stream.is_failure else "passed"
        assert (stream.name, statuses) == (stream.name, (expected, expected))


@NEEDS_STREAMS
def test_a_wrong_answer_fails_however_it_was_streamed(project: Project) -> None:
    answered = [stream for stream in STREAMS if stream.calls]
    write_suite(project, "wrong", answered, wrong=True)
    with serve_answers(answer_with(answered)) as endpoint:
        result = project.run_apart(
            "--fcbench-model=m",
            f"--fcbench-api-base={endpoint.api_base}",
            "--fcbench-stream=on",
            "--fcbench-store=none",
        )
    assert result.parseoutcomes()["failed"] == len(answered)
