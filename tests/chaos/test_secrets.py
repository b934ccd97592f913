"""A server repeats the secrets of a request in every field: none reaches a file or the terminal."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode, encodebytes
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.chat_reply import read_choice
from pytest_fcbench.domain.redaction import list_request_secrets
from tests.cases import each_case
from tests.loopback import Body, Reply, make_error_reply, serve_answers
from tests.plugin.conftest import Project

SECRETS = {
    "key": 'k/"key1X7Qz',
    "query": "s+/query2X7Qz&",
    "header": 'h"\\header3X7Qz<',
    "basic": "reader:p/basic4X7Qz ?",
    "body": "b/body5X7Qz\u00e9",
    "proxy": "porter:p%/proxy6X7Qz ?",
}
"""The core of each is two words of letters and digits, which no way to write it escapes."""


def write_forms(secret: str) -> list[str]:
    """Write a secret in each form in which a server may repeat it."""
    data, half, address = secret.encode(), len(secret) // 2, quote(secret, safe="")
    in_base64 = [b64encode(b"x" * before + data + b"y").decode() for before in range(3)]
    return [
        *(secret, repr(secret), html.escape(secret), *in_base64, encodebytes(data * 5).decode()),
        *(each.translate(str.maketrans("+/", "-_")).rstrip("=") for each in in_base64),
        *(address, re.sub("%..", lambda sign: sign[0].lower(), address), quote_plus(secret)),
        *(json.dumps(secret), json.dumps(secret, ensure_ascii=False).replace("/", "\\/")),
        *(data.hex(), data.hex().upper()),
        *(f"{secret[:half]}{end}{secret[half:]}" for end in ("\n", "\r\n  ")),
    ]


def find_traces(text: str) -> list[str]:
    """Name the secrets of which a text holds a form, whatever line ends stand between its signs."""
    squeezed = re.sub(r"\s|\\[nrt]", "", text)
    small = squeezed.lower()
    found = []
    for name, secret in SECRETS.items():
        core = max(re.findall(r"\w+", secret, re.ASCII), key=len)
        for before in range(3):
            # The first and the last signs belong to what stands around the core, too.
            whole = b64encode(b"x" * before + core.encode()).decode().rstrip("=")
            found += [f"{name} in base64"] * (whole[4 if before else 0 : -1] in squeezed)
        found += [name] * (core.lower() in small)
        found += [f"{name} in hexadecimal"] * (core.encode().hex() in small)
    return sorted(set(found))


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


OUTPUTS: Mapping[tuple[str, ...], str] = {
    **{("run", "export", kind): f"entries.{kind}" for kind in ("csv", "jsonl", "parquet")},
    **{("run", "export", kind): f"{kind}.svg" for kind in ("badge", "plot")},
    ("run", "export", "inspect"): "inspect.json",
    ("run", "report"): "page.html",
}


def read_texts(path: Path) -> str:
    """Read all texts of a file."""
    if path.suffix == ".parquet":
        return json.dumps(pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist(), default=str)
    return path.read_bytes().decode("utf-8", "replace")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "options",
    [
        ("--fcbench-model=m",),
        ("--fcbench-model=m", "-n", "2"),
        ("--fcbench-model=litellm:openai/m", "--fcbench-mode=prompt"),
    ],
    ids=["plain", "n2", "litellm"],
)
def test_no_output_holds_a_repeated_secret_in_any_form(
    project: Project, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    """A proxy and a model behind it repeat each secret in each form, in one way after the other."""
    heard: list[str] = []

    def answer(asked: Body) -> Reply:
        heard.extend([*endpoint.headers[-1].values(), unquote(endpoint.paths[-1]), str(asked.get("own"))])
        forms = [form for secret in SECRETS.values() for form in write_forms(secret)]
        return WAYS[len(endpoint.requests) % len(WAYS)](" and ".join([*heard[-20:], *forms]))

    basic = "Basic " + b64encode(SECRETS["basic"].encode()).decode()
    headers = {"X-Own": SECRETS["header"], "X-Basic": basic}
    project.write("fcbench.yaml", json.dumps({"param": {"extra_headers": headers}}))
    monkeypatch.setenv("OWN_KEY", SECRETS["key"])
    monkeypatch.delenv("no_proxy", raising=False)
    with serve_answers(answer) as endpoint:
        user, _, password = SECRETS["proxy"].partition(":")
        port = urlsplit(endpoint.api_base).port
        monkeypatch.setenv("http_proxy", f"http://{user}:{quote(password, safe='')}@127.0.0.1:{port}")
        result = project.run_apart(
            *options,
            f"--fcbench-api-base=http://model.invalid/v1?sig={quote(SECRETS['query'], safe='')}",
            "--fcbench-api-key-env=OWN_KEY",
            f"--fcbench-param=extra_body={json.dumps({'own': SECRETS['body']})}",
            "--fcbench-category=parallel,irrelevance",
            "--fcbench-limit=6",
            "--fcbench-retries=0",
            "--fcbench-no-preflight",
            "--json-report",
            "--json-report-file=report.json",
            "--junitxml=junit.xml",
            "--showlocals",
            "--tb=long",
        )
    proxied = b64encode(SECRETS["proxy"].encode()).decode()
    sent = {SECRETS["key"], SECRETS["header"], SECRETS["query"], SECRETS["body"], basic, f"Basic {proxied}"}
    assert not [secret for secret in sent if not any(secret in each for each in heard)]
    (project.path / "fcbench.yaml").unlink()
    printed = [*result.outlines, *result.errlines]
    for words, name in OUTPUTS.items():
        done = project.fcbench(*words, "report.json", "-o", name)
        assert done.returncode == 0 or "needs the package" in done.stderr, done.stderr
        printed += [done.stdout, done.stderr]
    done = project.fcbench("run", "show", "parallel_0", "report.json", "-v")
    written = {path.name: read_texts(path) for path in project.path.rglob("*") if path.is_file()}
    assert {"answers.sqlite", "report.json", "junit.xml", "page.html", "plot.svg"} <= written.keys()
    written["the terminal"] = "\n".join([*printed, done.stdout, done.stderr])
    assert {name: traces for name, text in written.items() if (traces := find_traces(text))} == {}


@each_case("secret", SECRETS)
def test_each_form_of_a_secret_leaves_traces(secret: str) -> None:
    """Else nothing would be found above."""
    forms = write_forms(SECRETS[secret])
    assert [form for form in forms if not any(each.startswith(secret) for each in find_traces(form))] == []


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
