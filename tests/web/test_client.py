from __future__ import annotations

import gzip
import re
import socket
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from io import BufferedIOBase
from ipaddress import ip_address

import pytest

from pytest_fcbench.web.addresses import Address
from pytest_fcbench.web.client import Bounds, Client, Refused, Unreachable, open_connection
from tests.cases import each_case
from tests.web.hosting import Seen, always_send, discard, make_reply, serve_locally

HOST = "api.example"
URL = f"https://{HOST}/things"


class Network:
    """A name service with given answers, and connections that are noted and made to one port of loopback."""

    def __init__(self, names: Mapping[str, Sequence[str]], port: int | None = None) -> None:
        self._names = {name: list(found) for name, found in names.items()}
        self._port = port
        self.resolved: list[str] = []
        self.connected: list[tuple[str, int]] = []

    def resolve(self, host: str) -> Sequence[Address]:
        self.resolved.append(host)
        if host not in self._names:
            raise OSError("no such name")
        return [ip_address(text) for text in self._names[host]]

    def connect(self, address: str, port: int, timeout_s: float) -> socket.socket:
        self.connected.append((address, port))
        if self._port is None:
            raise ConnectionRefusedError("nobody there")
        return open_connection("127.0.0.1", self._port, timeout_s)

    def make_client(self, bounds: Bounds | None = None) -> Client:
        return Client(bounds or Bounds(), resolve=self.resolve, connect=self.connect, pause=lambda _: None)


def make_client(port: int, pause: Callable[[float], None] = lambda _: None, **bounds: object) -> Client:
    return Client(Bounds(**bounds), {HOST: port}, pause=pause)  # type: ignore[arg-type]


def test_a_reply_has_status_type_and_body() -> None:
    with serve_locally(
        always_send(make_reply(b'{"a": 1}', Content_Type="Application/JSON; charset=utf-8"))
    ) as hosted:
        got = make_client(hosted.port).get(
            URL, {"q": "a b&c", "é": "1"}, {"X-Key": "secret", "accept": "text/x"}
        )
    assert (got.url, got.status, got.body, got.type) == (
        f"{URL}?q=a+b%26c&%C3%A9=1",
        200,
        b'{"a": 1}',
        "application/json",
    )
    assert got.headers["content-length"] == "8"
    (seen,) = hosted.seen
    assert seen.path == "/things?q=a+b%26c&%C3%A9=1"
    assert seen.headers["host"] == HOST
    assert seen.headers["x-key"] == "secret"
    assert seen.headers["accept"] == "text/x"


def test_what_stands_in_the_url_is_encoded_and_kept() -> None:
    with serve_locally(always_send(make_reply())) as hosted:
        make_client(hosted.port).get(f"http://{HOST}/ä b?x=ü", [("a", "1"), ("a", "2")])
    assert hosted.seen[0].path == "/%C3%A4%20b?x=%C3%BC&a=1&a=2"


def test_the_environment_plays_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serve_locally(always_send(make_reply())) as hosted:
        assert make_client(hosted.port).get(URL).status == 200


@pytest.mark.parametrize("status", [301, 404, 418])
def test_any_status_is_a_reply(status: int) -> None:
    with serve_locally(always_send(make_reply(b"no", status))) as hosted:
        assert make_client(hosted.port).get(URL).status == status
    assert len(hosted.seen) == 1


# What is refused is refused before anything is connected to


def test_only_the_hosts_of_the_list() -> None:
    network = Network({"evil.example.org": ["8.8.8.8"]})
    bounds = Bounds(hosts=frozenset({"api.example.org"}))
    for url in (
        "https://evil.example.org/",
        "https://api.example.org.evil.example.org/",
        "https://xapi.example.org/",
        "https://evil.example.org/?https://api.example.org",
        "https://evil.example.org#@api.example.org/",
        "https://аpi.example.org/",
        "http://8.8.8.8/",
    ):
        with pytest.raises(Refused, match="not among the hosts"):
            network.make_client(bounds).get(url)
    assert not network.resolved
    assert not network.connected


@each_case(
    "answers",
    [
        ["127.0.0.1"],
        ["10.1.2.3"],
        ["169.254.169.254"],
        ["::1"],
        ["::ffff:192.168.0.1"],
        ["fd00::1"],
        ["8.8.8.8", "10.0.0.1"],
        ["2606:4700::1111", "fe80::1"],
    ],
    ids=" ".join,
)
def test_a_name_with_a_private_address(answers: list[str]) -> None:
    network = Network({"a.example.org": answers})
    with pytest.raises(Refused, match="no public address"):
        network.make_client().get("https://a.example.org/")
    assert network.resolved == ["a.example.org"]
    assert network.connected == []


def test_a_connection_goes_to_the_address_that_was_checked() -> None:
    """The name service is asked once; a second, private answer would not even be seen."""
    with serve_locally(always_send(make_reply())) as hosted:
        network = Network({"a.example.org": ["8.8.8.8"]}, hosted.port)
        assert network.make_client().get("http://a.example.org/").status == 200
    assert network.resolved == ["a.example.org"]
    assert network.connected == [("8.8.8.8", 80)]
    assert hosted.seen[0].headers["host"] == "a.example.org"


def test_a_name_that_moves_into_a_private_network() -> None:
    """Each request asks anew and checks anew, also that of a redirect to the same host."""

    def move_name(seen: Seen, out: BufferedIOBase) -> None:
        network._names["a.example.org"] = ["127.0.0.1"]
        out.write(make_reply(b"", 302, Location="/again"))

    with serve_locally(move_name) as hosted:
        network = Network({"a.example.org": ["8.8.8.8"]}, hosted.port)
        with pytest.raises(Refused, match=r"127\.0\.0\.1"):
            network.make_client().get("http://a.example.org/")
    assert network.connected == [("8.8.8.8", 80)]


def test_the_second_address_where_the_first_takes_no_connection() -> None:
    network = Network({"a.example.org": ["8.8.8.8", "8.8.4.4"]})
    with pytest.raises(Unreachable, match="nobody there"):
        network.make_client(Bounds(retries=0)).get("https://a.example.org/")
    assert network.connected == [("8.8.8.8", 443), ("8.8.4.4", 443)]


def test_a_name_without_an_address_is_unreachable() -> None:
    network = Network({})
    with pytest.raises(Unreachable, match=r"a\.example\.org has no address"):
        network.make_client(Bounds(retries=1)).get("https://a.example.org/")
    assert network.resolved == ["a.example.org"] * 2


def test_failures_also_have_the_words_of_requests() -> None:
    with pytest.raises(Unreachable, match="nobody there") as refused:
        Network({"a.example.org": ["8.8.8.8"]}).make_client(Bounds(retries=0)).get("http://a.example.org/x")
    with pytest.raises(Unreachable, match="has no address") as unknown:
        Network({}).make_client(Bounds(retries=0)).get("https://a.example.org/x")
    assert refused.value.text.startswith(
        "HTTPConnectionPool(host='a.example.org', port=80): Max retries exceeded with url: /x (Caused by"
    )
    assert "Failed to establish a new connection: nobody there" in refused.value.text
    assert "HTTPSConnectionPool(host='a.example.org', port=443)" in unknown.value.text
    assert "Failed to resolve 'a.example.org'" in unknown.value.text


def test_an_endless_name_service() -> None:
    def resolve_slowly(host: str) -> Sequence[Address]:
        time.sleep(5)
        return []

    waiting = Client(Bounds(timeout_s=0.05, retries=0), resolve=resolve_slowly)
    with pytest.raises(Unreachable, match="has no address"):
        waiting.get("https://a.example.org/")


def test_loopback_only_under_the_name_of_a_server_of_this_run() -> None:
    with serve_locally(always_send(make_reply())) as hosted:
        for url in (f"http://127.0.0.1:{hosted.port}/", "http://127.0.0.1/"):
            with pytest.raises(Refused, match=r"127\.0\.0\.1 .*public address"):
                make_client(hosted.port).get(url)
        with pytest.raises(Refused, match=r"public host.*localhost|localhost.*public host"):
            make_client(hosted.port).get("http://localhost/")
    assert hosted.seen == []


@each_case(
    ("headers", "reason"),
    [
        ({"X": "a\r\nY: b"}, "the header X holds what no header can hold"),
        ({"X": "a\nb"}, "the header X holds what no header can hold"),
        ({"X\r\nY": "b"}, "no name of a header: 'X\\r\\nY'"),
        ({"X Y": "b"}, "no name of a header: 'X Y'"),
        ({"": "b"}, "no name of a header: ''"),
        ({"Host": "evil.example"}, "the header Host is not for the one who asks to set"),
        ({"hOST": "evil.example"}, "the header hOST is not for the one who asks to set"),
        ({"Proxy-Authorization": "x"}, "the header Proxy-Authorization is not for the one who asks to set"),
        ({"Transfer-Encoding": "chunked"}, "the header Transfer-Encoding is not for the one who asks to set"),
        ({"Content-Length": "5"}, "the header Content-Length is not for the one who asks to set"),
        ({"Connection": "upgrade"}, "the header Connection is not for the one who asks to set"),
        ({"X-Forwarded-Host": "a"}, "the header X-Forwarded-Host is not for the one who asks to set"),
        ({"X": "\ud800"}, "the header X holds what no header can hold"),
        ({"X": "雪"}, "the header X holds what no header can hold"),
        ({"X": "\0"}, "the header X holds what no header can hold"),
        ({"X": " a"}, "the header X holds what no header can hold"),
        ({"X": "a" * 20_000}, "headers have at most 16,000 characters"),
    ],
    ids=repr,
)
def test_headers_that_are_not_sent(headers: dict[str, str], reason: str) -> None:
    with serve_locally(always_send(make_reply())) as hosted, pytest.raises(Refused, match=re.escape(reason)):
        make_client(hosted.port).get(URL, headers=headers)
    assert hosted.seen == []


@each_case(
    ("params", "reason"),
    [
        ({"a": "b\r\nc"}, "a parameter holds no control character and no half of a character"),
        ({"a\0": "b"}, "a parameter holds no control character and no half of a character"),
        ({"a": "\ud800"}, "a parameter holds no control character and no half of a character"),
        ({"a": "b" * 20_000}, "a URL has at most 16,000 characters"),
    ],
)
def test_params_that_are_not_sent(params: dict[str, str], reason: str) -> None:
    with serve_locally(always_send(make_reply())) as hosted, pytest.raises(Refused, match=re.escape(reason)):
        make_client(hosted.port).get(URL, params)
    assert hosted.seen == []


# Redirects


@each_case(
    ("place", "reason"),
    [
        ("http://127.0.0.1/", "127.0.0.1 is no public address"),
        ("http://169.254.169.254/latest/", "169.254.169.254 is no public address"),
        ("http://[::1]/", "::1 is no public address"),
        ("file:///etc/passwd", "only http and https are spoken, not 'file'"),
        ("ftp://api.example/", "only http and https are spoken, not 'ftp'"),
        ("https://evil.example/", "evil.example is not among the hosts that may be asked"),
        ("//evil.example/", "evil.example is not among the hosts that may be asked"),
        ("https://user@api.example/", "a URL holds no user name"),
        ("http://api.example:22/", "only the ports 80 and 443 are asked, not 22"),
        ("http://[", "no URL: Invalid IPv6 URL"),
        (
            "https://api.example\\@evil.example/",
            "a URL holds no control character, no half of a character and no backslash",
        ),
    ],
)
def test_a_redirect_is_checked_like_a_request(place: str, reason: str) -> None:
    with (
        serve_locally(always_send(make_reply(b"", 302, Location=place))) as hosted,
        pytest.raises(Refused, match=re.escape(reason)),
    ):
        make_client(hosted.port, hosts=frozenset({HOST})).get(URL)
    assert len(hosted.seen) == 1


def test_redirects_without_end_are_given_up() -> None:
    with serve_locally(always_send(make_reply(b"", 302, Location="/things"))) as hosted:
        with pytest.raises(Unreachable, match="more than 3 redirects"):
            make_client(hosted.port).get(URL)
        assert len(hosted.seen) == 4
        assert make_client(hosted.port, redirects=0).get(URL).status == 302


def test_another_host_is_told_no_secret() -> None:
    def redirect_away(seen: Seen, out: BufferedIOBase) -> None:
        there = {"/a": "/b", "/b": "https://other.example/c?d=é"}.get(seen.path)
        out.write(make_reply(b"", 307, Location=there) if there else make_reply())

    with serve_locally(redirect_away) as hosted:
        two = Client(Bounds(), {HOST: hosted.port, "other.example": hosted.port})
        got = two.get(f"https://{HOST}/a", headers={"X-Key": "s", "Authorization": "t", "Accept": "text/x"})
    assert got.url == "https://other.example/c?d=é"
    first, second, third = (seen.headers for seen in hosted.seen)
    assert first["x-key"] == second["x-key"] == "s"
    assert not third.keys() & {"x-key", "authorization"}
    assert third["accept"] == "text/x"
    assert third["host"] == "other.example"


# Retries


def test_what_may_pass_is_tried_again() -> None:
    pauses: list[float] = []
    replies = [make_reply(b"", 503), make_reply(b"", 429, Retry_After="3"), make_reply(b"done")]
    with serve_locally(lambda seen, out: discard(out.write(replies.pop(0)))) as hosted:
        assert make_client(hosted.port, pauses.append).get(URL).body == b"done"
    assert pauses == [0.5, 3.0]


def test_a_server_that_keeps_failing_is_given_up() -> None:
    with serve_locally(always_send(make_reply(b"", 500))) as hosted:
        assert make_client(hosted.port, retries=1).get(URL).status == 500
    assert len(hosted.seen) == 2


def test_no_wait_beyond_the_time() -> None:
    with serve_locally(always_send(make_reply(b"", 429, Retry_After="999999"))) as hosted:
        assert make_client(hosted.port, timeout_s=9).get(URL).status == 429
    assert len(hosted.seen) == 1


# What is taken


def test_a_body_that_is_too_large() -> None:
    with serve_locally(always_send(make_reply(b"x" * 1001))) as hosted:
        assert len(make_client(hosted.port, max_bytes=1001).get(URL).body) == 1001
        with pytest.raises(Unreachable, match="more than 1,000 bytes"):
            make_client(hosted.port, max_bytes=1000).get(URL)


def test_a_body_without_end() -> None:
    def send_forever(seen: Seen, out: BufferedIOBase) -> None:
        out.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            out.write(b"x" * 65536)

    with serve_locally(send_forever) as hosted, pytest.raises(Unreachable, match="bytes"):
        make_client(hosted.port, max_bytes=100_000).get(URL)


def deflate_bare(body: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-15)
    return packing.compress(body) + packing.flush()


@pytest.mark.parametrize(
    ("pack", "coding"),
    [
        (gzip.compress, "gzip"),
        (zlib.compress, "deflate"),
        (deflate_bare, "deflate"),
        (gzip.compress, "deflate"),  # named wrongly
    ],
)
def test_a_compressed_body_is_unpacked(pack: Callable[[bytes], bytes], coding: str) -> None:
    with serve_locally(always_send(make_reply(pack(b"plain"), Content_Encoding=coding))) as hosted:
        assert make_client(hosted.port).get(URL).body == b"plain"
    with (
        serve_locally(always_send(make_reply(pack(b"\0" * 10**7), Content_Encoding=coding))) as hosted,
        pytest.raises(Unreachable, match="more than 100,000 bytes"),
    ):
        make_client(hosted.port, max_bytes=100_000).get(URL)


@each_case(
    ("body", "coding", "reason"),
    [
        (b"no gzip", "gzip", "header"),
        (gzip.compress(b"a" * 999)[:-12], "gzip", "too early"),
        (gzip.compress(gzip.compress(b"a")), "gzip, gzip", "encoded as"),
        (b"a", "br", "encoded as"),
    ],
    ids=["no gzip", "cut", "twice", "another coding"],  # the bytes hold a time, and workers must agree on ids
)
def test_a_body_that_cannot_be_unpacked(body: bytes, coding: str, reason: str) -> None:
    with (
        serve_locally(always_send(make_reply(body, Content_Encoding=coding))) as hosted,
        pytest.raises(Unreachable, match=reason),
    ):
        make_client(hosted.port, retries=0).get(URL)


def drip_after(first: bytes) -> Callable[[Seen, BufferedIOBase], None]:
    def send_slowly(seen: Seen, out: BufferedIOBase) -> None:
        out.write(first)
        for _ in range(1000):
            out.write(b"x")
            out.flush()
            time.sleep(0.01)

    return send_slowly


@pytest.mark.parametrize(
    "first", [b"", b"HTTP/1.1 200 OK\r\nX-", b"HTTP/1.1 200 OK\r\n\r\n"], ids=["status", "headers", "body"]
)
def test_a_slow_drip_ends(first: bytes) -> None:
    with serve_locally(drip_after(first)) as hosted, pytest.raises(Unreachable, match=r"within 0\.2 s"):
        make_client(hosted.port, timeout_s=0.2).get(URL)


@each_case(
    ("written", "reason"),
    [
        (b"", "RemoteDisconnected"),
        (b"\xff\xfe not HTTP", "BadStatusLine"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort", "IncompleteRead"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "InvalidChunkLength"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n", "got more than 100 headers"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n", "LineTooLong"),
    ],
    ids=["nothing", "no HTTP", "cut", "chunks", "many headers", "long header"],
)
def test_a_broken_reply_is_unreachable(written: bytes, reason: str) -> None:
    with serve_locally(always_send(written)) as hosted, pytest.raises(Unreachable, match=re.escape(reason)):
        make_client(hosted.port, retries=0).get(URL)


def test_only_wanted_content_types_are_taken() -> None:
    with serve_locally(always_send(make_reply(b"{}"))) as hosted:
        assert make_client(hosted.port, types=frozenset({"application/json"})).get(URL).status == 200
        with pytest.raises(Unreachable, match="application/json"):
            make_client(hosted.port, types=frozenset({"text/html"})).get(URL)
    with serve_locally(always_send(make_reply(b"{}", 404))) as hosted:
        assert make_client(hosted.port, types=frozenset({"text/html"})).get(URL).status == 404


def test_https_is_spoken_to_what_is_not_local() -> None:
    """A server without TLS is no server for it."""
    with serve_locally(always_send(make_reply())) as hosted:
        network = Network({"a.example.org": ["8.8.8.8"]}, hosted.port)
        with pytest.raises(Unreachable, match="SSL"):
            network.make_client(Bounds(retries=0)).get("https://a.example.org/")
    assert hosted.seen == []


def test_a_port_where_nobody_listens_is_unreachable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(Unreachable, match="Connection refused"):
            make_client(taken.getsockname()[1], retries=0).get(URL)
