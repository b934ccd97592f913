"""REST entries in YAML."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.execution.outcomes import Responded
from pytest_fcbench.execution.rest_performer import Performer
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.kinds.execution.verdict import ExpectedResponse
from pytest_fcbench.suites import core
from tests.cases import each_case

GOOD = """category: rest
endpoints:
  - name: stops
    url: https://trams.varnholm.example/v1/stops
    about: Stops.
    params:
      properties:
        zone: {type: integer, description: The zone.}
      required: []
    headers:
      properties: {X-Key: {type: string, description: A key.}}
      required: [X-Key]
entries:
  - id: rest_0
    query: Which stops?
    endpoint: stops
    expect: "requests.get(url='https://trams.varnholm.example/v1/stops', params={'zone': 1})"
"""


def write_file(folder: Path, text: str) -> Path:
    path = folder / "rest.yaml"
    path.write_text(text)
    return path


def test_an_entry_is_read(tmp_path: Path) -> None:
    (entry,) = entry_files.read_entries(write_file(tmp_path, GOOD), "core")
    assert (entry.key, entry.category.name) == ("core:rest_0", "rest")
    (doc,) = entry.functions
    assert doc.name == "requests.get"
    assert doc.required == ("url",)
    assert list(doc.properties) == ["url", "params", "headers", "timeout", "allow_redirects"]
    assert doc.properties["url"]["default"] == "https://trams.varnholm.example/v1/stops"
    assert doc.properties["headers"]["required"] == ["X-Key"]
    assert entry.expectation == ExpectedResponse(
        "requests.get(url='https://trams.varnholm.example/v1/stops', params={'zone': 1})"
    )


@each_case(
    ("old", "new", "says"),
    [
        ("endpoint: stops", "endpoint: shops", "unknown endpoint 'shops'. Did you mean 'stops'"),
        ("type: integer", "type: whole", "unknown type 'whole'"),
        ("required: [X-Key]", "required: [Y]", "unknown parameter 'Y'"),
        ("    about: Stops.\n", "", "has no 'about'"),
        ("requests.get(", "get(", "unknown function 'get'"),
        ("trams.varnholm.example/v1/stops', par", "a.example/', par", "unknown host 'a.example'"),
        ("'https://trams.varnholm.example/v1/stops', par", "'file:///x', par", "only http and https"),
        ("url='https", "uri='https", "unknown parameter 'uri'"),
        ("params={'zone': 1}", "timeout='x'", "a timeout is a number"),
    ],
)
def test_an_error_names_the_file_and_the_rule(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in GOOD
    with pytest.raises(SuiteError, match=r"rest\.yaml:\d+:") as caught:
        entry_files.read_entries(write_file(tmp_path, GOOD.replace(old, new)), "core")
    assert says in str(caught.value)


def test_an_id_that_is_taken_is_refused(tmp_path: Path) -> None:
    entry = GOOD[GOOD.index("  - id:") :]
    with pytest.raises(SuiteError, match="already used by an entry above"):
        entry_files.read_entries(write_file(tmp_path, GOOD + entry), "core")


def test_the_services_answer_all_truths_of_core() -> None:
    """Each in a way of its own, so that no other truth could pass for it."""
    entries = core.open_suite(Path()).load(CATEGORIES["rest"])
    with closing(Performer()) as perform:
        replies = []
        for entry in entries:
            assert isinstance(entry.expectation, ExpectedResponse)
            reply = perform(entry.expectation.call)
            assert isinstance(reply, Responded)
            assert reply.status == 200
            replies.append(reply.body)
    assert len(entries) >= 12
    assert len(set(replies)) == len(entries)
    assert "[]" not in replies
