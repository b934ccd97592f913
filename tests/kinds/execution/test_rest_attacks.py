"""Calls that want more than an answer: each gets verdicts, and nothing is reached but the run's own server.

What Python connects to and which names it resolves is heard by an audit hook, so nothing is put in the place
of what would do it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.transcript import Completion, ToolCall
from pytest_fcbench.execution.outcomes import Responded
from pytest_fcbench.execution.rest_apis import APIS
from pytest_fcbench.execution.rest_performer import Performer
from pytest_fcbench.kinds.execution import rest_verdict as rest
from pytest_fcbench.kinds.execution.verdict import ExpectedResponse
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_transcript
from tests.kinds.outcomes import name_outcomes
from tests.web.hosting import always_send, make_reply, serve_locally

TRUTH = "requests.get(url='http://ip-api.com/json', params={'lang': 'fr'})"
RECORDED = '{"status": "success"}'
ERROR = "executable_checker_rest:execution_error"
DECODER = "executable_decoder:decoder_failed"
UNKNOWN = "not scored: live_only"

_EVENTS = ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system")
_heard: list[tuple[str, object]] = []
_listening = False


def _note_event(event: str, arguments: tuple[object, ...]) -> None:
    if _listening and event in _EVENTS:
        _heard.append((event, arguments[1] if event == "socket.connect" else arguments[0]))


sys.addaudithook(_note_event)


@contextmanager
def record_events() -> Iterator[list[tuple[str, object]]]:
    """Record what is connected to, resolved and started in the block."""
    global _listening
    _heard.clear()
    _listening = True
    try:
        yield _heard
    finally:
        _listening = False


def entry_of(call: str = TRUTH, recorded: str | None = RECORDED) -> Entry:
    made = make_entry(
        "irrelevance", functions=[make_doc("requests.get", {"url": {"type": "string"}}, ["url"])]
    )
    category = CATEGORIES["rest"]
    return Entry("core", "rest_0", category, made.turns, made.functions, ExpectedResponse(call, recorded))


URLS = {
    "loopback": "http://127.0.0.1/",
    "loopback, its port": "http://127.0.0.1:{port}/json",
    "localhost": "http://localhost/json",
    "localhost, its port": "http://localhost:{port}/json",
    "ipv6 loopback": "http://[::1]/",
    "ipv6 mapped": "http://[::ffff:127.0.0.1]/",
    "metadata": "http://169.254.169.254/latest/meta-data/iam/security-credentials/",
    "metadata by name": "http://metadata.google.internal/computeMetadata/v1/",
    "decimal": "http://2130706433/",
    "octal": "http://0177.0.0.1/",
    "hex": "http://0x7f000001/",
    "short": "http://127.1/",
    "full width digits": "http://１２７.0.0.1/",
    "private 10": "http://10.0.0.1/",
    "private 192": "http://192.168.0.1/admin",
    "nat64": "http://[64:ff9b::7f00:1]/",
    "public address": "http://8.8.8.8/json",
    "another host": "https://evil.example.org/json",
    "host of the table in front": "https://ip-api.com.evil.example.org/json",
    "host of the table behind": "https://evilip-api.com/json",
    "user name": "http://ip-api.com@evil.example.org/json",
    "user name and port": "http://ip-api.com:80@127.0.0.1/json",
    "fragment": "http://evil.example.org#@ip-api.com/json",
    "backslash": "http://evil.example.org\\\\@ip-api.com/json",
    "question mark": "http://evil.example.org?@ip-api.com/json",
    "lookalike": "http://ip-аpi.com/json",
    "soft hyphen of another host": "http://ip\\u00ad-api.com.evil.example.org/json",
    "port": "http://ip-api.com:22/json",
    "port of a database": "http://ip-api.com:6379/",
    "file": "file:///etc/passwd",
    "file with a host": "file://ip-api.com/etc/passwd",
    "ftp": "ftp://ip-api.com/json",
    "gopher": "gopher://127.0.0.1:6379/_FLUSHALL",
    "data": "data:application/json,{{}}",
    "unix socket": "http+unix://%2Fvar%2Frun%2Fdocker.sock/info",
    "no scheme": "ip-api.com/json",
    "scheme relative": "//ip-api.com/json",
    "newline": "http://ip-api.com/json\\r\\nHost: evil.example.org",
    "nul": "http://ip-api.com\\0.evil.example.org/json",
    "tab": "ht\\ttp://ip-api.com/json",
    "half a character": "http://ip-api.com/\\ud800",
    "a name without end": "http://{long}.example.org/",
    "a url without end": "http://ip-api.com/{long}",
}


@pytest.fixture(scope="module")
def perform() -> Iterator[Performer]:
    with closing(Performer([(TRUTH, RECORDED)])) as made:
        assert isinstance(made(TRUTH), Responded)
        yield made


def port_of(perform: Performer) -> int:
    assert perform._player
    return perform._player.port


@each_case("url", URLS.values(), ids=URLS.keys())
def test_a_url_that_is_not_asked(perform: Performer, url: str) -> None:
    port = port_of(perform)
    answer = f"[requests.get(url='{url.format(port=port, long='a' * 100_000)}', params={{'lang': 'fr'}})]"
    with record_events() as found:
        judgement = rest.judge(entry_of(), make_transcript(answer), perform)
    assert name_outcomes(judgement) == (ERROR, ERROR)
    assert _only_own(found, port, requests=1)  # that of the truth


def _only_own(found: list[tuple[str, object]], port: int, requests: int) -> bool:
    named = {name for event, name in found if event == "socket.getaddrinfo"}
    reached = [place for event, place in found if event == "socket.connect"]
    started = [event for event, _ in found if event not in ("socket.getaddrinfo", "socket.connect")]
    return named <= {"127.0.0.1"} and reached == [("127.0.0.1", port)] * requests and not started


GET = "requests.get(url='http://ip-api.com/json', params={'lang': 'fr'}, "
BIG = "a" * 300_000
CALLS = {
    "proxies": (f"{GET}proxies={{'http': 'http://127.0.0.1:9'}})", ERROR, ...),
    "certificate": (f"{GET}cert='/etc/passwd')", ERROR, ...),
    "bundle of certificates": (f"{GET}verify='/etc/passwd')", ERROR, ...),
    "hooks": (f"{GET}hooks={{'response': 'print'}})", ERROR, ...),
    "files": (f"{GET}files={{'a': '/etc/passwd'}})", ERROR, ...),
    "body": (f"{GET}data='x')", ERROR, ...),
    "json": (f"{GET}json={{'a': 1}})", ERROR, ...),
    "host header": (f"{GET}headers={{'Host': 'evil.example.org'}})", ERROR, ...),
    "proxy header": (f"{GET}headers={{'Proxy-Authorization': 'x'}})", ERROR, ...),
    "chunks": (f"{GET}headers={{'Transfer-Encoding': 'chunked'}})", ERROR, ...),
    "another method": (f"{GET}headers={{'X-HTTP-Method-Override': 'DELETE'}})", ERROR, ...),
    "newline in a header": (f"{GET}headers={{'X': 'a\\r\\nHost: evil'}})", ERROR, ...),
    "newline in a name": (f"{GET}headers={{'X\\r\\nY': 'a'}})", ERROR, ...),
    "newline in a cookie": (f"{GET}cookies={{'a': 'b\\r\\nX: y'}})", ERROR, ...),
    "newline in a password": (f"{GET}auth=('a', 'b\\n'))", None, None),
    "newline in a parameter": (
        "requests.get(url='http://ip-api.com/json', params={'lang': 'fr\\r\\nX: y'})",
        ERROR,
        ...,
    ),
    "huge parameter": (f"requests.get(url='http://ip-api.com/json', params={{'lang': '{BIG}'}})", ERROR, ...),
    "many parameters": (
        f"requests.get(url='http://ip-api.com/json', params={dict.fromkeys(map(str, range(9000)), 1)})",
        ERROR,
        ...,
    ),
    "huge header": (f"{GET}headers={{'X': '{BIG}'}})", ERROR, ...),
    "number": ("requests.get(url=7)", ERROR, ...),
    "list": ("requests.get(url=['http://ip-api.com/json'])", ERROR, ...),
    "nested": (f"requests.get(url={TRUTH})", ..., ...),
    "nested in parameters": (
        f"requests.get(url='http://ip-api.com/json', params={{'lang': {TRUTH}}})",
        ...,
        ...,
    ),
    "post": (TRUTH.replace("get", "post"), ERROR, ...),
    "delete": (TRUTH.replace("get", "delete"), ERROR, ...),
    "session": (TRUTH.replace("requests", "requests.Session()"), ..., ...),
    "system": ("os.system(command='true')", ERROR, ...),
    "import": ("__import__('os').system('true')", ..., ...),
    "import in a value": (f"{GET}timeout=__import__('os').getpid())", ..., ...),
    "builtin": ("eval(x='1')", "executable_checker_rest:cannot_get_status_code", ERROR),
    "open": ("open(file='/etc/passwd')", "executable_checker_rest:cannot_get_status_code", ERROR),
    "too large a number": (
        "requests.get(url='http://ip-api.com/json', params={'a': 9**9**9})",
        DECODER,
        UNKNOWN,
    ),
    "nest": (f"requests.get(url='http://ip-api.com/json', params={'[' * 3000}{']' * 3000})", ..., ...),
    "no certificate check": (f"{GET}verify=False)", None, None),
    "stream": (f"{GET}stream=True)", None, None),
    "no time": (f"{GET}timeout=0.000001)", None, None),
    "not recorded": (TRUTH.replace("fr", "de"), UNKNOWN, ...),
}


@each_case(("call", "official", "corrected"), CALLS.values(), ids=CALLS.keys())
def test_a_call_that_wants_more(perform: Performer, call: str, official: object, corrected: object) -> None:
    with record_events() as found:
        judgement = rest.judge(entry_of(), make_transcript(f"[{call}]"), perform)
    given = name_outcomes(judgement)
    assert all(event in ("socket.getaddrinfo", "socket.connect") for event, _ in found)
    assert {place for event, place in found if event == "socket.connect"} == {("127.0.0.1", port_of(perform))}
    if official is ...:
        assert None not in given
    else:
        assert given == (official, official if corrected is ... else corrected)


@each_case(
    "arguments",
    [
        {"url": "http://169.254.169.254/"},
        {"url": "file:///etc/passwd"},
        {"url": {"requests.get": {"url": "http://127.0.0.1/"}}},
        {"url": "http://ip-api.com/json", "headers": {"Host": "evil"}},
        {"url": None},
        {},
        {"url": "http://ip-api.com/json", "x) or (y": 1},
    ],
    ids=json.dumps,
)
def test_tool_calls_that_want_more(perform: Performer, arguments: dict[str, object]) -> None:
    calls = (ToolCall("requests_get", json.dumps(arguments)),)
    with record_events() as found:
        given = name_outcomes(rest.judge(entry_of(), make_transcript(Completion(tool_calls=calls)), perform))
    assert None not in given
    assert {place for event, place in found if event == "socket.connect"} == {("127.0.0.1", port_of(perform))}


# In a live run, of a host of the table that turns out to be hostile; on loopback in its place


@each_case(
    "place",
    [
        *(
            "http://127.0.0.1/",
            "http://localhost/",
            "http://[::1]/",
            "http://169.254.169.254/",
            "file:///etc/passwd",
        ),
        *("gopher://127.0.0.1/", "https://evil.example.org/", "http://ip-api.com@evil.example.org/", "/json"),
    ],
)
def test_a_redirect_does_not_lead_elsewhere(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    redirect = "requests.get(url='http://ip-api.com/elsewhere')"
    with (
        serve_locally(always_send(make_reply(b"", 302, Location=place))) as hosted,
        closing(Performer(live=True, instead=dict.fromkeys(APIS, hosted.port))) as perform,
        record_events() as found,
    ):
        truth = entry_of("requests.get(url='https://trams.varnholm.example/v1/stops')", None)
        given = name_outcomes(rest.judge(truth, make_transcript(f"[{redirect}]"), perform))
        ports = {hosted.port, port_of(perform)}
    assert given in [(ERROR, ERROR), (ERROR, "not scored: unreached")]
    assert {place for event, place in found if event == "socket.connect"} == {("127.0.0.1", p) for p in ports}
    assert {name for event, name in found if event == "socket.getaddrinfo"} <= {"127.0.0.1"}


@each_case("address", ["127.0.0.1", "169.254.169.254", "10.0.0.1", "::1", "fd00::1"])
def test_a_host_of_the_table_at_a_private_address(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def resolve_host(host: str, *others: object, **more: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(2, 1, 6, "", ("8.8.8.8", 0)), (2, 1, 6, "", (address, 0))]

    monkeypatch.setattr("pytest_fcbench.web.client.socket.getaddrinfo", resolve_host)
    with record_events() as found, closing(Performer(live=True)) as perform:
        response = str(perform(TRUTH))
    assert "no public address" in response
    assert asked == ["ip-api.com"]
    assert not [event for event, _ in found if event == "socket.connect"]
