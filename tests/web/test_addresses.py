from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.web.addresses import Refused, all_public, is_public, parse_url

REFUSED = {
    "file": "file:///etc/passwd",
    "ftp": "ftp://api.example.org/x",
    "gopher": "gopher://api.example.org:70/1",
    "data": "data:text/plain,hi",
    "javascript": "javascript:alert(1)",
    "no scheme": "api.example.org/x",
    "scheme relative": "//api.example.org/x",
    "empty": "",
    "no host": "https:///x",
    "user": "https://api.example.org@evil.example/",
    "user and password": "https://a:b@api.example.org/",
    "empty user": "https://@api.example.org/",
    "port": "https://api.example.org:8080/",
    "port 0": "http://api.example.org:0/",
    "port no number": "http://api.example.org:x/",
    "port too large": "http://api.example.org:99999/",
    "backslash": "https://api.example.org\\@evil.example/",
    "backslash in path": "https://api.example.org/a\\b",
    "newline": "https://api.example.org/\r\nX: y",
    "tab in host": "https://api\t.example.org/",
    "nul": "https://api.example.org/\0",
    "space in host": "https://api.example.org evil/",
    "surrogate": "https://api.example.org/\ud800",
    "line separator": "https://api.example.org/\u2028",
    "loopback": "http://127.0.0.1/",
    "loopback, other": "http://127.9.9.9/",
    "unspecified": "http://0.0.0.0/",
    "short": "http://127.1/",
    "decimal": "http://2130706433/",
    "octal": "http://0177.0.0.1/",
    "hex": "http://0x7f000001/",
    "hex parts": "http://0x7f.0.0.0x1/",
    "padded": "http://127.000.000.001/",
    "full width": "http://１２７.０.０.１/",
    "full stop of another script": "http://127。0。0。1/",
    "trailing dot": "http://127.0.0.1./",
    "private 10": "http://10.0.0.1/",
    "private 172": "http://172.16.0.1/",
    "private 192": "http://192.168.1.1/",
    "metadata": "http://169.254.169.254/latest/meta-data/",
    "shared": "http://100.64.0.1/",
    "broadcast": "http://255.255.255.255/",
    "multicast": "http://224.0.0.1/",
    "ipv6 loopback": "http://[::1]/",
    "ipv6 mapped": "http://[::ffff:127.0.0.1]/",
    "ipv6 mapped, hex": "http://[::ffff:7f00:1]/",
    "ipv6 compatible": "http://[::7f00:1]/",
    "ipv6 link-local": "http://[fe80::1]/",
    "ipv6 scope": "http://[fe80::1%25eth0]/",
    "ipv6 unique local": "http://[fd00::1]/",
    "ipv6 metadata": "http://[fd00:ec2::254]/",
    "ipv6 site-local": "http://[fec0::1]/",
    "ipv6 multicast": "http://[ff02::1]/",
    "6to4": "http://[2002:7f00:1::]/",
    "teredo": "http://[2001:0:7f00:1::]/",
    "nat64": "http://[64:ff9b::7f00:1]/",
    "bracket": "http://[::1/",
    "localhost": "http://localhost/",
    "localhost, dot": "http://localhost./",
    "below localhost": "http://api.localhost/",
    "no dot": "http://intranet/",
    "long label": f"http://{'a' * 64}.example/",
    "long name": f"http://{'a.' * 130}example/",
    "dots": "http://a..example/",
    "hyphen": "http://-a.example/",
    "percent": "http://api%2eexample.org/",
    "long": f"http://api.example.org/{'a' * 20_000}",
}


@pytest.mark.parametrize("url", REFUSED.values(), ids=REFUSED.keys())
def test_a_url_that_is_not_public_is_refused(url: str) -> None:
    with pytest.raises(Refused):
        parse_url(url)


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("https://api.example.org", "https://api.example.org/"),
        ("HTTPS://API.Example.org./a?b=c#d", "https://api.example.org/a?b=c"),
        ("http://api.example.org:443/a b", "http://api.example.org:443/a b"),
        ("https://api.example.org:443/", "https://api.example.org/"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/ä"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://[2606:4700::1111]/", "http://[2606:4700::1111]/"),
        ("  https://api.example.org/ ", "https://api.example.org/"),
        ("https://api.example.org/?to=http://127.0.0.1/", "https://api.example.org/?to=http://127.0.0.1/"),
    ],
)
def test_accepted_and_written_anew(url: str, written: str) -> None:
    assert parse_url(url).url == written


def test_a_lookalike_is_another_host() -> None:
    """A Cyrillic letter makes another name, which no list of hosts holds."""
    assert parse_url("https://аpi.example.org/").host != "api.example.org"


@given(st.text())
def test_any_text_is_a_target_or_refused(text: str) -> None:
    """And what was written anew is read as the same."""
    for url in (text, f"http://{text}", f"https://a.example{text}"):
        try:
            target = parse_url(url)
        except Refused:
            continue
        assert parse_url(target.url) == target


@pytest.mark.parametrize(
    ("address", "public"),
    [
        *[("8.8.8.8", True), ("2606:4700::1111", True), ("::ffff:8.8.8.8", True), ("64:ff9b::808:808", True)],
        *[("64:ff9b:1::1", False), ("::ffff:10.0.0.1", False), ("192.88.99.1", False), ("198.18.0.1", False)],
        *[("192.0.2.1", False), ("2001:db8::1", False), ("240.0.0.1", False), ("::", False)],
    ],
)
def test_only_public_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


def test_one_private_address_is_enough() -> None:
    public = ip_address("8.8.8.8")
    assert all_public("a.example", [public]) == [public]
    with pytest.raises(Refused, match=r"a.example is at 10.0.0.1"):
        all_public("a.example", [public, ip_address("10.0.0.1")])
