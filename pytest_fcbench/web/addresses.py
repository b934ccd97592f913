"""Rules for URLs, host names and network addresses that may be connected to.

A model writes the URL, so it is read strictly and written anew: the request is sent to the parts that were
checked, and no second reading of the text can find another host in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias
from urllib.parse import urlsplit

import idna

Address: TypeAlias = IPv4Address | IPv6Address


class Refused(Exception):  # noqa: N818 - reads as the state it names
    """A rule forbids the request, so nothing was connected to. The message names the rule."""


@dataclass(frozen=True, slots=True)
class Target:
    """A URL whose parts are within the rules."""

    scheme: str
    host: str
    """Lower case, ASCII, without a dot at the end; an IPv6 address without brackets."""
    port: int
    rest: str
    """Path and query."""

    @property
    def origin(self) -> tuple[str, str, int]:
        """The origin; secrets for this URL may be sent to URLs with the same one only."""
        return self.scheme, self.host, self.port

    @property
    def url(self) -> str:
        """The URL, written from its parts."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.rest}"


PORTS = {"http": 80, "https": 443}
LONGEST_URL = 16_000
"""Characters of a URL; servers refuse longer ones."""

_UNSENDABLE = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]")
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))+")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def parse_url(url: str) -> Target:
    """Parse a URL and check its parts. Raises ``Refused``."""
    if len(url) > LONGEST_URL:
        raise Refused(f"a URL has at most {LONGEST_URL:,} characters")
    if not is_sendable(url) or "\\" in url:
        raise Refused("a URL holds no control character, no half of a character and no backslash")
    try:
        parts = urlsplit(url.strip(" "))
        port = parts.port
    except ValueError as error:
        raise Refused(f"no URL: {error}") from None
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise Refused(f"only http and https are spoken, not {scheme[:40]!r}")
    if "@" in parts.netloc:
        raise Refused("a URL holds no user name")
    host = _check_host(parts.hostname or "")
    if port not in (None, *PORTS.values()):
        raise Refused(f"only the ports 80 and 443 are asked, not {port}")
    query = f"?{parts.query}" if parts.query else ""
    return Target(scheme, host, port or PORTS[scheme], f"{parts.path or '/'}{query}")


def is_sendable(text: str) -> bool:
    """Tell whether a text has no control character and can be encoded."""
    return _UNSENDABLE.search(text) is None


def _check_host(host_text: str) -> str:
    """Return the name or the address of a host in one form. Raises ``Refused``."""
    if ":" in host_text:
        return str(_parse_address(host_text))
    if len(host_text) > 253:
        raise Refused("the name of a host has at most 253 characters")
    try:
        host = host_text if host_text.isascii() else idna.encode(host_text, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise Refused(f"no name of a host: {host_text[:80]!r}") from None
    host = host.lower().removesuffix(".")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        return str(_parse_address(host))
    if not _NAME.fullmatch(host) or host.endswith(".localhost"):
        raise Refused(f"no name of a public host: {host[:80]!r}")
    return host


def _parse_address(address_text: str) -> Address:
    """Parse a public address in its usual notation. Raises ``Refused``."""
    # Others, such as 2130706433 and 0x7f.1 for 127.0.0.1, are ways around a rule; ip_address takes none.
    try:
        address = ip_address(address_text)
    except ValueError:
        raise Refused(f"no address: {address_text[:80]!r}") from None
    if not is_public(address):
        # As written: Python 3.13 shows some addresses in another notation than 3.11.
        raise Refused(f"{address_text[:80]} is no public address")
    return address


_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_DOCUMENTATION = IPv6Network("3fff::/20")
"""For documentation (RFC 9637), which Python 3.11 takes for global."""
_TRANSITIONAL = (ip_network("2002::/16"), ip_network("2001::/32"), ip_network("192.88.99.0/24"))
"""6to4, Teredo and the relay of 6to4: addresses that contain another address."""


def is_public(address: Address) -> bool:
    """Tell whether an address is global and of one host, and contains no other that is not."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        if address not in _UNICAST or address.scope_id:
            return False
    if address.is_multicast or not address.is_global:
        return False
    return not any(address in network for network in (_DOCUMENTATION, *_TRANSITIONAL))


def all_public(host: str, addresses: Sequence[Address]) -> Sequence[Address]:
    """Return the addresses of a host. Raises ``Refused`` if one of them is not public."""
    # A name service that answers with public and other addresses tries to have the others reached.
    for address in addresses:
        if not is_public(address):
            raise Refused(f"{host} is at {address}, which is no public address")
    return addresses
