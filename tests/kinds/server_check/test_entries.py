"""Files of checks of a server."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.domain.transcript import AskModel
from pytest_fcbench.kinds.entry_files import read_entries
from pytest_fcbench.kinds.server_check.exchange import RawRequest
from pytest_fcbench.kinds.server_check.kind import exchange_requests, get_check
from tests.cases import each_case

CHECK: dict[str, object] = {"id": "c", "property": "It is so.", "severity": "must", "request": {}}


def read_requests(tmp_path: Path, base: object = None, **changed: object) -> RawRequest:
    """Return the first request that a check sends, of a file with this check only."""
    path = tmp_path / "checks.yaml"
    tools = {"set": {"parameters": {"type": "text"}}, "get": {"parameters": {"type": "object"}}}
    check = {**CHECK, "expect": {"calls": 0}, **changed}
    path.write_text(
        yaml.safe_dump({"category": "server_check", "tools": tools, "base": base or {}, "entries": [check]})
    )
    (entry,) = read_entries(path, "own")
    question = next(exchange_requests(get_check(entry)))
    assert isinstance(question, AskModel)
    return RawRequest.read_question(question)


@each_case(
    "changed, says",
    [
        ({"expect": {"call": 0}}, "expect.call: there is no property 'call'; use one of calls, "),
        ({"expect": {"calls": "x"}}, "expect.calls: cannot be 'x': "),
        (
            {"expect": {"other_ids": ["reply", "b"]}},
            "expect.other_ids: there is no request 'b'; the check has ",
        ),
        ({"expect": {"json_text": {"type": "text"}}}, "expect.json_text: not a valid JSON Schema: type: "),
        (
            {"expect": {"json_text": {"$ref": "#/$defs/x"}}},
            "expect.json_text: the reference '/$defs/x' is not",
        ),
        (
            {"expect": {"arguments": "valid"}, "request": {"tools": ["get", "set"]}},
            "expect.arguments: not a valid JSON Schema: type: 'text' is not",
        ),
        ({"request": {"tools": ["put"]}}, "request.tools.0: there is no tool 'put' under 'tools' (get, set)"),
        ({"requests": {"a": {}}}, "must have either 'request' or 'requests'"),
    ],
)
def test_a_check_that_cannot_be_judged_is_refused(
    tmp_path: Path, changed: dict[str, object], says: str
) -> None:
    with pytest.raises(SuiteError) as refusal:
        read_requests(tmp_path, **changed)
    assert says in str(refusal.value)


def test_only_what_judges_has_to_be_a_schema(tmp_path: Path) -> None:
    request = read_requests(tmp_path, request={"tools": ["set"]}, expect={"arguments": "object"})
    assert request.schemas == {"set": {"type": "text"}}


@each_case(
    "base, request_, body",
    [
        ({"seed": 7}, {}, {"seed": 1}),
        ({"seed": 7}, {"seed": None}, {}),
        ({}, {"seed": 7}, {"seed": 7}),
    ],
)
def test_a_seed_takes_the_place_of_that_of_base_alone(
    tmp_path: Path, base: object, request_: dict[str, object], body: dict[str, object]
) -> None:
    assert read_requests(tmp_path, base, request=request_).body == body
