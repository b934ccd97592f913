"""What models are asked about BFCL's entries equals what the official harness asks, to the letter."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.web.client import Bounds, Client
from pytest_fcbench.web.searcher import SmallWebSearch, Sources, WebSearcher
from tests.factories import make_entry
from tests.parity.asking.recordings import (
    Answer,
    Message,
    Recording,
    Request,
    ask_about,
    find_difference,
    find_recordings,
    index_entries,
    read_recordings,
)
from tests.web.hosting import always_send, make_reply, serve_locally

RUNS = (
    *("single_fc", "single_pr", "fmt_pr"),
    *("mt_right_fc", "mt_right_pr", "mt_wrong_fc", "mt_wrong_pr", "wrong2", "anyfn"),
    *("mal_fc", "mal_pr", "mem_fc", "mem_pr", "web_pr"),
    pytest.param("web_fc", marks=pytest.mark.nightly),
)

HOSTS = {"127.0.0.1:8766": "page.example", "127.0.0.1:1": "nobody.example"}
"""What the official harness was to ask, and names for it, as ours asks no address inside a network."""


@pytest.fixture(scope="module")
def entries(bfcl: Suite) -> Mapping[str, Entry]:
    return index_entries(bfcl)


def read_run(name: str) -> list[Recording]:
    path = find_recordings(f"{name}.jsonl.xz")
    if path is None:
        pytest.skip("no recordings: neither FCBENCH_ASKING nor a folder 'asking' beside FCBENCH_ORACLE")
    return list(read_recordings(path))


@pytest.fixture(scope="module")
def web() -> Iterator[Answer]:
    """Serve the page of the recordings again, and answer questions to the web from it."""
    results = (result for recording in read_run("web_fc") for result in list_results(recording.requests[-1]))
    page = next(
        json.loads(result)["content"] for result in results if result.startswith('{"content": "<html')
    )
    with serve_locally(always_send(make_reply(page.encode(), Content_Type="text/html"))) as hosted:
        client = Client(Bounds(retries=0), {"page.example": hosted.port, "nobody.example": 1})
        model = WebSearcher(lambda: Sources(SmallWebSearch(client), client), immediate=True)

        def answer(asked: AskModel) -> Completion:
            question = str(asked.messages[0]["content"])
            for host, name in HOSTS.items():
                question = question.replace(host, name)
            renamed = replace(asked, messages=({"role": "user", "content": question},))
            found = run_through(model.complete(make_entry(), renamed))
            told = (found.text or "").replace("host='nobody.example', port=80", "host='127.0.0.1', port=1")
            return replace(found, text=told)

        yield answer


def list_differences(
    recordings: Sequence[Recording], entries: Mapping[str, Entry], suite: Suite, web: Answer
) -> list[str]:
    """Ask about each entry, in order, as later conversations continue the memories of earlier ones."""
    memories: dict[str, Mapping[str, Mapping[str, object]]] = {}
    found = []
    for recording in recordings:
        ours = ask_about(entries[recording.entry], recording, suite, memories, web)
        difference = find_difference(settle_requests(ours), settle_requests(recording.requests))
        if difference:
            found.append(f"{recording.entry}: {difference}")
    return found


def settle_requests(requests: Sequence[Request]) -> list[Request]:
    """Write what differs between two official runs in one way (docs/project/decisions-verdicts.md)."""
    return [replace(request, messages=[*map(settle_message, request.messages)]) for request in requests]


def settle_message(message: Message) -> Message:
    content = message.get("content")
    return {**message, "content": settle_text(content)} if isinstance(content, str) else message


def settle_text(text: str) -> str:
    # Official: the executor puts the name of an instance before a function's name, also inside a text.
    text = re.sub(r"rec_model_\w+_instance\.", "", text)
    # The order of a set follows the hash seed of a process; the last digit of a score its processor.
    text = re.sub(r"\{'\w+'(?:, '\w+')+\}", lambda found: str(sorted(ast.literal_eval(found[0]))), text)
    return re.sub(r"(?<=similarity_score\": )-?\d\.\d+", lambda found: f"{float(found[0]):.6f}", text)


@pytest.mark.few(5)
@pytest.mark.parametrize("run", RUNS)
def test_requests_are_the_official_ones(
    run: str, bfcl: Suite, entries: Mapping[str, Entry], web: Answer
) -> None:
    assert list_differences(read_run(run), entries, bfcl, web) == []


def list_results(request: Request) -> list[str]:
    """Return what a model is told of its calls in the whole conversation."""
    return [settle_text(each["content"]) for each in request.messages if each["role"] == "tool"]


def test_a_changed_letter_is_a_difference(bfcl: Suite, entries: Mapping[str, Entry], web: Answer) -> None:
    recording = read_run("mt_wrong_pr")[0]
    assert list_differences([recording], entries, bfcl, web) == []
    *earlier, last = recording.requests
    changed = json.loads(json.dumps(last.messages).replace("No such file", "No such File"))
    assert changed != last.messages
    told = list_differences(
        [replace(recording, requests=[*earlier, replace(last, messages=changed)])], entries, bfcl, web
    )
    assert len(told) == 1
    assert "No such File" in told[0]
