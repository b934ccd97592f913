"""Remove secrets from texts before they are stored, shown or logged."""

from __future__ import annotations

import json
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import parse_qsl, quote, unquote, urlsplit

_SECRET_NAME = re.compile(r"(?:^|_)(?:API)?(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?$", re.IGNORECASE)
# A word with a digit must follow "bearer", so that "bearer authentication" stays readable.
_SECRET_TEXT = re.compile(
    r"(?i)\b(bearer\s+(?=\S*\d)|api[-_ ]?key[\"']?\s*[:=]\s*[\"']?)[\w.~+/=-]{8,}|\bsk-[\w-]{8,}",
)
# User and password of an address, and the values of what its query calls a key.
_SECRET_IN_ADDRESS = re.compile(
    r"(?i)(?<=://)[^/\s@?#\"']+(?=@)"
    r"|(?<=[?&])([\w.-]*(?:key|token|secret|sig|signature|password|passwd|credential|auth)=)[^&\s#\"'<>]+",
)
_SHORTEST = 6
_LONG = 16
"""Characters of a key that no honest answer contains by chance."""
_MIXED = 8
"""The same where letters and digits are mixed, as in no word."""


def list_secrets(*secrets: str) -> list[str]:
    """List the given secrets and the values of secret-looking environment variables, longest first."""
    # Each value by itself: pytest removes PYTEST_CURRENT_TEST while another thread goes through the names.
    named = [os.environ.get(name, "") for name in list(os.environ) if _SECRET_NAME.search(name)]
    return _order_secrets([*named, *_list_proxy_secrets(), *secrets])


def _list_proxy_secrets() -> Iterator[str]:
    """List the credentials of the proxies that the environment names, in the forms in which they are sent."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            yield from _list_credentials(os.environ.get(name, ""))


def _list_credentials(address: str) -> Iterator[str]:
    """List user and password of an address: as they stand in it, as they are meant, and as a header."""
    _, _, rest = address.rpartition("://")
    written, at, _ = rest.partition("/")[0].rpartition("@")
    for pair in {written, unquote(written)} if at else ():
        # What an ordinary word could be is no secret by itself.
        yield from (part for part in pair.split(":", 1) if _is_no_word(part))
        yield from (pair, b64encode(pair.encode()).decode().rstrip("="))


def _list_basic_credentials(word: str) -> Iterator[str]:
    """List what the value of a header of basic authentication says."""
    try:
        pair = b64decode(word, validate=True).decode()
    except ValueError:
        return
    if ":" in pair and pair.isprintable():
        yield from (pair, *pair.split(":", 1))


def _order_secrets(secrets: Iterable[str]) -> list[str]:
    # Longest first: a secret can be the beginning of another one, whose rest would stay readable.
    return sorted(set(secrets), key=len, reverse=True)


def list_long_secrets(*secrets: str) -> list[str]:
    """List the known secrets that can be removed from a model's answer without changing an honest one."""
    return [secret for secret in list_secrets(*secrets) if len(secret) >= _LONG]


def list_request_secrets(
    key: str | None, address: str | None, parameters: Mapping[str, object], *, also: Iterable[str] = ()
) -> list[str]:
    """List what a request carries that must not come back in an answer, and ``also``, longest first.

    These are the key, the values of headers that the user adds, the texts in the query of the address and in
    ``extra_body``, and user and password of the address and of proxies. Left out is what an honest answer may
    contain: texts below eight characters, and below sixteen unless they mix letters and digits (a placeholder
    such as ``lm-studio``, a date).

    The values of secret-looking environment variables are among them if they have sixteen characters.
    """
    headers, given = parameters.get("extra_headers"), parameters.get("api_key")
    carried = [key, given, *(headers.values() if isinstance(headers, Mapping) else ())]
    query = [value for _, value in parse_qsl(urlsplit(address or "").query)]
    texts = list(_list_texts([*carried, *query, parameters.get("extra_body")]))
    words = [word for text in texts for word in text.split()]
    spoken = [*texts, *words, *(part for word in words for part in _list_basic_credentials(word))]
    credentials = [*_list_credentials(address or ""), *_list_proxy_secrets()]
    secrets = [
        *(each for each in spoken if _is_no_word(each)),
        *(each for each in credentials if len(each) >= _SHORTEST),
    ]
    # A secret comes back in the form in which JSON or an address writes it, too.
    forms = ((each, json.dumps(each)[1:-1], quote(each, safe="")) for each in secrets)
    return _order_secrets([*also, *list_long_secrets(), *(form for each in forms for form in each)])


def _list_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list)):
        for member in value.values() if isinstance(value, Mapping) else value:
            yield from _list_texts(member)


def _is_no_word(text: str) -> bool:
    """Tell whether a text is long enough, or odd enough, for a secret."""
    is_mixed = any(map(str.isalpha, text)) and any(map(str.isdigit, text))
    return len(text) >= (_MIXED if is_mixed else _LONG)


def mask_secrets(text: str, secrets: Iterable[str]) -> str:
    """Replace each of these secrets in a text by ``***``."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def mask_secrets_within(value: object, secrets: Sequence[str]) -> object:
    """Replace each of these secrets in all texts of a JSON value, names of members among them."""
    if isinstance(value, str):
        return mask_secrets(value, secrets)
    if isinstance(value, Mapping):
        return {
            mask_secrets(str(name), secrets): mask_secrets_within(member, secrets)
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [mask_secrets_within(member, secrets) for member in value]
    return value


def redact_secrets(text: str, *secrets: str) -> str:
    """Replace given secrets, values of secret-looking variables and key-like words by ``***``.

    So are the credentials in any address of the text.
    """
    for secret in list_secrets(*secrets):
        # Shorter values, such as "test" or "1", occur in honest texts by chance.
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, "***")
    for pattern in (_SECRET_IN_ADDRESS, _SECRET_TEXT):
        text = pattern.sub(lambda found: f"{found.group(1) or ''}***", text)
    return text
