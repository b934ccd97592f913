"""Calls of ``requests.get`` are read, never made."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.execution.rest.request import NoRequestError, Request, read_request

URL = "https://a.example/"


@pytest.mark.parametrize(
    ("arguments", "request_"),
    [
        (f"url='{URL}'", Request(URL)),
        (f"'{URL}', {{'a': 1}}", Request(URL, (("a", "1"),))),
        (
            f"url='{URL}', params={{'a': 1.50, 'b': True, 'c': None}}",
            Request(URL, (("a", "1.5"), ("b", "True"))),
        ),
        (
            f"url='{URL}', params={{'a': ['x', 2], 'b': 'y'}}",
            Request(URL, (("a", "x"), ("a", "2"), ("b", "y"))),
        ),
        (f"url='{URL}', params=[('a', 'x'), ['b', 'y']]", Request(URL, (("a", "x"), ("b", "y")))),
        (f"url='{URL}', params={{}}, headers=None", Request(URL)),
        (f"url='{URL}', headers={{'X-Key': 'k'}}", Request(URL, headers={"X-Key": "k"})),
        (f"url='{URL}', cookies={{'a': '1', 'b': '2'}}", Request(URL, headers={"Cookie": "a=1; b=2"})),
        (f"url='{URL}', auth=('me', 'pw')", Request(URL, headers={"Authorization": "Basic bWU6cHc="})),
        (f"url='{URL}', allow_redirects=False", Request(URL, follow=False)),
        (
            f"url='{URL}', timeout=(3, 5.5), stream=True, verify=False, proxies={{}}, cert=None, hooks=None",
            Request(URL),
        ),
        (f"url='{URL}', proxies={{'https': None}}", Request(URL)),
    ],
)
def test_a_request_is_read_from_its_call(arguments: str, request_: Request) -> None:
    assert read_request(f"requests.get({arguments})") == request_
    assert read_request(f"requests_get({arguments})") == request_


@pytest.mark.parametrize(
    "call",
    [
        "",
        "no call",
        "requests.get",
        "requests.get()",
        "requests.get(url=5)",
        "requests.get(url=['https://a.example'])",
        "requests.get(url=None)",
        f"requests.post(url='{URL}')",
        f"requests.get(url='{URL}').json()",
        f"requests.get(url=requests.get(url='{URL}'))",
        f"requests.get(url='{URL}', params=requests.get(url='{URL}'))",
        f"requests.get(url='{URL}', params='a=b')",
        f"requests.get(url='{URL}', params=5)",
        f"requests.get(url='{URL}', params=[1, 2])",
        f"requests.get(url='{URL}', headers=[('a', 'b')])",
        f"requests.get(url='{URL}', headers={{'a': 5}})",
        f"requests.get(url='{URL}', headers={{5: 'a'}})",
        f"requests.get(url='{URL}', cookies='a=b')",
        f"requests.get(url='{URL}', auth=['me', 'pw'])",
        f"requests.get(url='{URL}', auth='None')",
        f"requests.get(url='{URL}', timeout='10')",
        f"requests.get(url='{URL}', timeout=0)",
        f"requests.get(url='{URL}', timeout=True)",
        f"requests.get(url='{URL}', timeout=(1, 2, 3))",
        f"requests.get(url='{URL}', proxies={{'https': 'http://127.0.0.1'}})",
        f"requests.get(url='{URL}', proxies='http://127.0.0.1')",
        f"requests.get(url='{URL}', verify='/etc/passwd')",
        f"requests.get(url='{URL}', cert=('/etc/passwd', '/etc/shadow'))",
        f"requests.get(url='{URL}', hooks={{'response': 'x'}})",
        f"requests.get(url='{URL}', data='x')",
        f"requests.get(url='{URL}', json={{'a': 1}})",
        f"requests.get(url='{URL}', files={{'a': 'b'}})",
        f"requests.get(url='{URL}', method='POST')",
        f"requests.get(url='{URL}', url='{URL}')",
        f"requests.get(url=open('/etc/passwd').read() + '{URL}')",
        f"requests.get(url=f'{URL}{{__import__(\"os\").getpid()}}')",
        f"(lambda: requests.get(url='{URL}'))()",
        f"requests.get(url='{URL}' * 10**9)",
        f"requests.get(url='{URL}', params={{'a': 9**9**9}})",
        f"requests.get(url='{URL}', params={'[' * 5000}1{']' * 5000})",
        f"requests.get(url='{'a' * 2_000_000}')",
        f"requests.get(url='{URL}', headers={{'a': '\ud800'}}, x)",
        "\0",
    ],
    ids=lambda call: call[:60],
)
def test_a_text_that_is_no_request_is_refused(call: str) -> None:
    with pytest.raises(NoRequestError):
        read_request(call)


@given(st.text())
def test_any_text_is_a_request_or_none(text: str) -> None:
    for call in (text, f"requests.get({text})", f"requests.get(url='{text}')"):
        try:
            assert isinstance(read_request(call), Request)
        except NoRequestError:
            continue
