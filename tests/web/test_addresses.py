from __future__ import annotations

import re
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.web.addresses import Refused, all_public, is_public, parse_url
from tests.cases import each_case

BAD_CHARACTER = "a URL holds no control character, no half of a character and no backslash"
REFUSED = {
    "file": ("file:///etc/passwd", "only http and https are spoken, not 'file'"),
    "ftp": ("ftp://api.example.org/x", "only http and https are spoken, not 'ftp'"),
    "gopher": ("gopher://api.example.org:70/1", "only http and https are spoken, not 'gopher'"),
    "data": ("data:text/plain,hi", "only http and https are spoken, not 'data'"),
    "javascript": ("javascript:alert(1)", "only http and https are spoken, not 'javascript'"),
    "no scheme": ("api.example.org/x", "only http and https are spoken, not ''"),
    "scheme relative": ("//api.example.org/x", "only http and https are spoken, not ''"),
    "empty": ("", "only http and https are spoken, not ''"),
    "no host": ("https:///x", "no name of a public host: ''"),
    "user": ("https://api.example.org@evil.example/", "a URL holds no user name"),
    "user and password": ("https://a:b@api.example.org/", "a URL holds no user name"),
    "empty user": ("https://@api.example.org/", "a URL holds no user name"),
    "port": ("https://api.example.org:8080/", "only the ports 80 and 443 are asked, not 8080"),
    "port 0": ("http://api.example.org:0/", "only the ports 80 and 443 are asked, not 0"),
    "port no number": ("http://api.example.org:x/", "no URL: Port could not be cast to integer value as 'x'"),
    "port too large": ("http://api.example.org:99999/", "no URL: Port out of range 0-65535"),
    "backslash": (
        "https://api.example.org\\@evil.example/",
        BAD_CHARACTER,
    ),
    "backslash in path": (
        "https://api.example.org/a\\b",
        BAD_CHARACTER,
    ),
    "newline": (
        "https://api.example.org/\r\nX: y",
        BAD_CHARACTER,
    ),
    "tab in host": (
        "https://api\t.example.org/",
        BAD_CHARACTER,
    ),
    "nul": (
        "https://api.example.org/\0",
        BAD_CHARACTER,
    ),
    "space in host": ("https://api.example.org evil/", "no name of a public host: 'api.example.org evil'"),
    "surrogate": (
        "https://api.example.org/\ud800",
        BAD_CHARACTER,
    ),
    "line separator": (
        "https://api.example.org/\u2028",
        BAD_CHARACTER,
    ),
    "loopback": ("http://127.0.0.1/", "127.0.0.1 is no public address"),
    "loopback, other": ("http://127.9.9.9/", "127.9.9.9 is no public address"),
    "unspecified": ("http://0.0.0.0/", "0.0.0.0 is no public address"),
    "short": ("http://127.1/", "no address: '127.1'"),
    "decimal": ("http://2130706433/", "no address: '2130706433'"),
    "octal": ("http://0177.0.0.1/", "no address: '0177.0.0.1'"),
    "hex": ("http://0x7f000001/", "no address: '0x7f000001'"),
    "hex parts": ("http://0x7f.0.0.0x1/", "no address: '0x7f.0.0.0x1'"),
    "padded": ("http://127.000.000.001/", "no address: '127.000.000.001'"),
    "full width": ("http://１２７.０.０.１/", "127.0.0.1 is no public address"),
    "full stop of another script": ("http://127。0。0。1/", "127.0.0.1 is no public address"),
    "trailing dot": ("http://127.0.0.1./", "127.0.0.1 is no public address"),
    "private 10": ("http://10.0.0.1/", "10.0.0.1 is no public address"),
    "private 172": ("http://172.16.0.1/", "172.16.0.1 is no public address"),
    "private 192": ("http://192.168.1.1/", "192.168.1.1 is no public address"),
    "metadata": ("http://169.254.169.254/latest/meta-data/", "169.254.169.254 is no public address"),
    "shared": ("http://100.64.0.1/", "100.64.0.1 is no public address"),
    "broadcast": ("http://255.255.255.255/", "255.255.255.255 is no public address"),
    "multicast": ("http://224.0.0.1/", "224.0.0.1 is no public address"),
    "ipv6 loopback": ("http://[::1]/", "::1 is no public address"),
    "ipv6 mapped": ("http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1 is no public address"),
    "ipv6 mapped, hex": ("http://[::ffff:7f00:1]/", "::ffff:7f00:1 is no public address"),
    "ipv6 compatible": ("http://[::7f00:1]/", "::7f00:1 is no public address"),
    "ipv6 link-local": ("http://[fe80::1]/", "fe80::1 is no public address"),
    "ipv6 scope": ("http://[fe80::1%25eth0]/", "fe80::1%25eth0 is no public address"),
    "ipv6 unique local": ("http://[fd00::1]/", "fd00::1 is no public address"),
    "ipv6 metadata": ("http://[fd00:ec2::254]/", "fd00:ec2::254 is no public address"),
    "ipv6 site-local": ("http://[fec0::1]/", "fec0::1 is no public address"),
    "ipv6 multicast": ("http://[ff02::1]/", "ff02::1 is no public address"),
    "6to4": ("http://[2002:7f00:1::]/", "2002:7f00:1:: is no public address"),
    "teredo": ("http://[2001:0:7f00:1::]/", "2001:0:7f00:1:: is no public address"),
    "nat64": ("http://[64:ff9b::7f00:1]/", "64:ff9b::7f00:1 is no public address"),
    "bracket": ("http://[::1/", "no URL: Invalid IPv6 URL"),
    "localhost": ("http://localhost/", "no name of a public host: 'localhost'"),
    "localhost, dot": ("http://localhost./", "no name of a public host: 'localhost'"),
    "below localhost": ("http://api.localhost/", "no name of a public host: 'api.localhost'"),
    "no dot": ("http://intranet/", "no name of a public host: 'intranet'"),
    "long label": (
        f"http://{'a' * 64}.example/",
        f"no name of a public host: '{'a' * 64}.example'",
    ),
    "long name": (f"http://{'a.' * 130}example/", "the name of a host has at most 253 characters"),
    "dots": ("http://a..example/", "no name of a public host: 'a..example'"),
    "hyphen": ("http://-a.example/", "no name of a public host: '-a.example'"),
    "percent": ("http://api%2eexample.org/", "no name of a public host: 'api%2eexample.org'"),
    "long": (f"http://api.example.org/{'a' * 20_000}", "a URL has at most 16,000 characters"),
}


@each_case(("url", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_a_url_that_is_not_public_is_refused(url: str, reason: str) -> None:
    with pytest.raises(Refused, match=re.escape(reason)):
        parse_url(url)


@each_case(
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


@each_case(
    ("address", "public"),
    [
        *[("8.8.8.8", True), ("2606:4700::1111", True), ("::ffff:8.8.8.8", True), ("64:ff9b::808:808", True)],
        *[("64:ff9b:1::1", False), ("::ffff:10.0.0.1", False), ("192.88.99.1", False), ("198.18.0.1", False)],
        *[("192.0.2.1", False), ("2001:db8::1", False), ("240.0.0.1", False), ("::", False)],
        *[("3fff::1", False), ("3fff:fff::1", False), ("3ffe::1", True)],
    ],
)
def test_only_public_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


def test_one_private_address_is_enough() -> None:
    public = ip_address("8.8.8.8")
    assert all_public("a.example", [public]) == [public]
    with pytest.raises(Refused, match=r"a.example is at 10.0.0.1"):
        all_public("a.example", [public, ip_address("10.0.0.1")])
