"""Whatever calls ask for is done, refused or an error in words, and nothing outside is reached."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy

from hypothesis import strategies as st

from pytest_fcbench.environments.execution import DOMAINS, render_result
from pytest_fcbench.environments.web_search import MODES
from pytest_fcbench.execution import rest_apis
from pytest_fcbench.execution.rest_apis import NoRequestError
from pytest_fcbench.execution.rest_performer import read_api_request
from pytest_fcbench.server.body import RefusedRequestError as NotServed
from pytest_fcbench.server.body import read_body
from pytest_fcbench.web.addresses import Refused, is_sendable, parse_url
from pytest_fcbench.web.client import WebReply
from pytest_fcbench.web.page_content import LONGEST_CONTENT, UnreadablePage, render_content
from tests.environments.test_every_domain import (
    CONFIG,
    DOCS,
    KNOWN,
    TOGETHER,
    WORLD,
    copy_state,
    open_domains,
)
from tests.fuzzing.strategies import (
    hostile_text,
    json_values,
    mutate_bytes,
    mutate_texts,
    python_values,
    words,
)
from tests.fuzzing.targets import make_target

_RAW = st.sampled_from(
    ["1e999", "-1e999", "1e999-1e999", "0x" + "f" * 4000, "10**4000", "'\\ud800'", "{1}", "b'x'", "[[]]*9"]
)
_NAMES = sorted({name for docs in DOCS.values() for doc in docs for name in (doc.name, *doc.properties)})


def _draw_values(name: str) -> st.SearchStrategy[str]:
    known = st.sampled_from(KNOWN.get(name, ("a",))).map(repr)
    return st.one_of(known, known, known, python_values.map(repr), _RAW)


@st.composite
def _draw_calls(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Draw domains, and calls of their functions with arguments from right to absurd."""
    domains = draw(st.sampled_from([[name] for name in DOMAINS] + [TOGETHER]))
    docs = [doc for domain in domains for doc in DOCS[domain]]
    made = []
    for doc in draw(st.lists(st.sampled_from(docs), min_size=1, max_size=8)):
        left = draw(st.sets(st.sampled_from([*doc.properties, "x"]), max_size=1)) - set(doc.required[:1])
        arguments = [f"{name}={draw(_draw_values(name))}" for name in doc.properties if name not in left]
        if draw(st.integers(0, 19)) == 0:
            arguments.append(f"{draw(st.sampled_from(_NAMES))}={draw(_draw_values('x'))}")
        made.append(f"{doc.name}({', '.join(arguments)})")
    return domains, made


@make_target(given=_draw_calls(), long_context=st.booleans(), noise=st.lists(hostile_text, max_size=1))
def test_any_calls_are_carried_out(
    given: tuple[list[str], list[str]], long_context: bool, noise: list[str]
) -> None:
    domains, calls = given
    calls = [*calls, *noise]
    before = deepcopy((CONFIG, WORLD))
    first, second, other = (open_domains(domains, long_context=long_context) for _ in range(3))
    untouched = copy_state(other)
    results = first.perform_calls(calls)
    assert all(isinstance(result, str) for result in results)
    assert second.perform_calls(calls) == results
    assert copy_state(second) == copy_state(first)
    assert copy_state(other) == untouched
    assert before == (CONFIG, WORLD)
    with suppress(ValueError, TypeError):  # a state can lie in itself, and hold a key that is no text
        json.dumps(first.copy_state(), default=repr)


@make_target(value=python_values)
def test_any_result_is_text(value: object) -> None:
    assert isinstance(render_result(value), str)


# Requests

_URLS = (
    "https://api.example.com:443/a/../b;c?d=e&f=%41#g",
    "http://user:pass@127.0.0.1:8080/x",
    "http://[::ffff:169.254.169.254]/latest",
    "http://0x7f.1/",
    "http://xn--nxasmq6b/",
    "https://münchen.example/ü?ü=ü",
)
_REQUESTS = (
    "requests.get(url='https://api.example.com/a', params={'a': [1, None], 'b': 2}, headers={'X': 'y'})",
    "requests_get('http://a.example', auth=('u', 'p'), timeout=(1, 2), cookies={'a': 'b'}, stream=False)",
    "requests.get(url='http://a.example', proxies={'http': None}, verify=False, stream=True, json={})",
)


@make_target(call=mutate_texts(_REQUESTS) | hostile_text)
def test_any_text_is_a_request_or_none(call: str) -> None:
    with suppress(NoRequestError):
        assert all(isinstance(part, str) for pair in rest_apis.read_request(call).params for part in pair)
    with suppress(NoRequestError, Refused):
        _, asked, scheme = read_api_request(call)
        assert scheme in ("http", "https")
        for api in rest_apis.APIS.values():
            assert isinstance(rest_apis.identify_request(asked, api), str)
            secret = "0123456789abcdef-secret"
            given = rest_apis.replace_key(asked, api, secret)
            assert rest_apis.identify_request(given, api) == rest_apis.identify_request(
                rest_apis.replace_key(asked, api, "another"), api
            )
            assert secret not in rest_apis.identify_request(given, api)


@make_target(url=mutate_texts(_URLS) | hostile_text)
def test_any_text_is_an_address_or_refused(url: str) -> None:
    with suppress(Refused):
        target = parse_url(url)
        assert target.scheme in ("http", "https")
        assert is_sendable(target.url)
        assert parse_url(target.url).origin == target.origin


@make_target(
    body=mutate_bytes([b'{"model": "a", "messages": [{"role": "user", "content": "x"}], "tools": []}'])
    | json_values.map(lambda value: json.dumps({"messages": value}).encode())
    | st.binary()
)
def test_any_body_is_a_request_to_the_server_or_refused(body: bytes) -> None:
    with suppress(NotServed):
        assert read_body(body) == read_body(body)


# Pages

_PAGES = (
    b"<!doctype html><html><head><meta charset=utf-8><title>T</title><script>x</script></head><body>"
    b"<nav>n</nav><h1>A</h1><p>b <a href='/c?d#e'>f</a><br>g</p><table><tr><th>h<td>i</table><ul><li>j"
    b"<ol><li>k</ol></ul><pre>l\n m</pre><!-- n --><img src=o alt=p><template>q</template></body></html>",
    b"<?xml version='1.0' encoding='utf-16'?><!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    b"<a href='http://[x'>" * 20 + b"<div>" * 300,
    "<p>\ufeffÄ\u202e&#x110000;&#55296;&nbsp;</p>".encode(),
)
_TYPES = (
    "text/html",
    "text/html; charset=gbk",
    "text/html; charset=utf-16",
    "",
    "application/xhtml+xml",
    "text/plain",
)


@make_target(
    body=mutate_bytes(_PAGES) | st.binary(),
    mode=st.sampled_from(MODES),
    kind=st.sampled_from(_TYPES) | words,
)
def test_any_page_is_shown_or_refused(body: bytes, mode: str, kind: str) -> None:
    with suppress(UnreadablePage):
        shown = render_content(WebReply("http://a.example/b", 200, {"Content-Type": kind}, body), mode)
        shown.encode()
        assert len(shown) <= LONGEST_CONTENT + 100
