"""A server repeats the secrets of a request in every field: none reaches a file or the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.chat_reply import read_choice
from pytest_fcbench.domain.redaction import list_request_secrets
from tests.loopback import Body, Reply, make_error_reply, serve_answers
from tests.plugin.conftest import Project

SECRETS = ("kEy-12345", "sig77secret", "header1secret", "body22secret")


def repeat_in_text(said: str) -> Reply:
    message = {"role": "assistant", "content": said, "reasoning_content": said, "refusal": said, said: said}
    return make_reply_of(message, said)


def repeat_in_a_call(said: str) -> Reply:
    function = {"name": said, "arguments": json.dumps({said: [said]})}
    return make_reply_of({"role": "assistant", "tool_calls": [{"id": said, "function": function}]}, said)


def make_reply_of(message: Mapping[str, object], ending: str) -> Reply:
    return Reply({"id": ending, "choices": [{"message": message, "finish_reason": ending}]})


def repeat_in_an_error(said: str) -> Reply:
    return make_error_reply(400, said, said)


def repeat_in_broken_json(said: str) -> Reply:
    return Reply(f'{{"choices": [{said}')


WAYS = (repeat_in_text, repeat_in_a_call, repeat_in_an_error, repeat_in_broken_json)


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "n2"])
@pytest.mark.parametrize("repeat", WAYS, ids=[way.__name__ for way in WAYS])
def test_no_written_byte_holds_a_repeated_secret(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    workers: tuple[str, ...],
    repeat: Callable[[str], Reply],
) -> None:
    key, sig, header, body = SECRETS
    heard: list[str] = []

    def answer(asked: Body) -> Reply:
        told = f"Bearer {key} and {sig} {header} {asked.get('own', '')}"
        heard.append(told)
        return repeat(told)

    monkeypatch.setenv("OWN_KEY", key)
    with serve_answers(answer) as endpoint:
        result = project.run_apart(
            "--fcbench-model=m",
            f"--fcbench-api-base={endpoint.api_base}?sig={sig}",
            "--fcbench-api-key-env=OWN_KEY",
            f"--fcbench-param=extra_headers={json.dumps({'X-Own': header})}",
            f"--fcbench-param=extra_body={json.dumps({'own': body})}",
            "--fcbench-category=parallel,irrelevance",
            "--fcbench-limit=6",
            "--fcbench-retries=0",
            "--fcbench-no-preflight",
            "--json-report",
            "--json-report-file=report.json",
            "--junitxml=junit.xml",
            "--showlocals",
            "--tb=long",
            *workers,
        )
    assert any(body in told for told in heard)
    written = {path.name: path.read_bytes() for path in project.path.rglob("*") if path.is_file()}
    assert {"answers.sqlite", "report.json", "junit.xml"} <= written.keys()
    written["the terminal"] = "\n".join([*result.outlines, *result.errlines]).encode()
    leaks = [(name, each) for name, held in written.items() for each in SECRETS if each.encode() in held]
    assert leaks == []


FIELDS = ("content", "reasoning_content", "refusal", "own", "id", "name", "arguments", "finish_reason")


@given(
    st.from_regex(r"[A-Za-z]{4}[ -~]{0,20}[0-9]{4}", fullmatch=True),
    st.lists(st.sampled_from(FIELDS), min_size=1, unique=True),
)
def test_no_field_of_an_answer_holds_the_key(key: str, fields: list[str]) -> None:
    said = {name: f"x{key}y" if name in fields else "fine" for name in FIELDS}
    function = {"name": said["name"], "arguments": json.dumps({said["arguments"]: said["arguments"]})}
    message = {
        **{name: said[name] for name in FIELDS[:4]},
        "tool_calls": [{"id": said["id"], "function": function}],
    }
    choice = {"message": message, "finish_reason": said["finish_reason"]}
    held = repr(read_choice(choice, None, list_request_secrets(key, None, {})))
    assert not any(form in held for form in (key, json.dumps(key)[1:-1], repr(key)[1:-1]))
    assert "***" in held


def test_the_values_of_variables_in_a_traceback_hold_no_key(project: Project) -> None:
    """A user's own code may fail with the key in its hands."""
    project.write("test_own.py", "def test_own() -> None:\n    held = 'kEy-12345678'\n    assert not held\n")
    result = project.run_apart("test_own.py", "--showlocals", '--fcbench-param=api_key="kEy-12345678"')
    result.assert_outcomes(failed=1)
    assert "kEy-12345678" not in result.stdout.str()
