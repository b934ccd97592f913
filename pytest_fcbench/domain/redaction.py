"""Remove secrets from texts before they are stored, shown or logged."""

from __future__ import annotations

import html
import json
import os
import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from pytest_fcbench.domain.text import as_mapping, iterate_texts

# A limit such as MAX_TOKENS is not a secret, and errors show it.
_SECRET_NAME = re.compile(
    r"(?!(?:.*_)?MAX_.*TOKENS$)(?:.*_)?(?:API)?(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?$", re.IGNORECASE
)
# A word with a digit must follow "bearer", so that "bearer authentication" stays readable.
_SECRET_TEXT = re.compile(
    r"(?i)\b(bearer\s+(?=\S*\d)|api[-_ ]?key[\"']?\s*[:=]\s*[\"']?)[\w.~+/=-]{8,}|\bsk-[\w-]{8,}"
)
# User and password of an address, and the values of what its query calls a key.
_SECRET_IN_ADDRESS = re.compile(
    r"(?i)(?<=://)[^/\s@?#\"']+(?=@)"
    r"|(?<=[?&])([\w.-]*(?:key|token|secret|sig|signature|password|passwd|credential|auth)=)[^&\s#\"'<>]+"
)
_BREAK = re.compile(r"\\+[nrt]")
"""A line end or a tab as JSON writes it."""
_SHORTEST = 6
_LONG = 16
"""Characters of a key that no honest answer contains by chance."""
_MIXED = 8
"""The same where letters and digits are mixed, as in no word."""
_PUBLIC_HEADERS = frozenset({"accept", "accept-encoding", "accept-language", "content-type", "user-agent"})
"""Headers whose values stand in honest answers: ``application/json``."""


def list_secrets(*secrets: str) -> list[str]:
    """List the given secrets and the values of secret-looking environment variables, longest first."""
    # Each value by itself: pytest removes PYTEST_CURRENT_TEST while another thread goes through the names.
    variable_values = [os.environ.get(name, "") for name in list(os.environ) if _SECRET_NAME.match(name)]
    all_secrets = (*variable_values, *_list_proxy_secrets(), *secrets)
    return _order_secrets(form for each in all_secrets for form in _list_forms(each))


def _list_proxy_secrets() -> Iterator[str]:
    """List the credentials of the proxies that the environment names."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            yield from _list_credentials(os.environ.get(name, ""))


def _list_credentials(address: str) -> Iterator[str]:
    """List user and password of an address, as they stand in it and as they are meant."""
    _, _, rest = address.rpartition("://")
    credentials, at, _ = rest.partition("/")[0].rpartition("@")
    for pair in {credentials, unquote(credentials)} if at else ():
        # What an ordinary word could be is no secret by itself.
        yield from (pair, *(part for part in pair.split(":", 1) if _is_no_word(part)))


def _order_secrets(secrets: Iterable[str]) -> list[str]:
    # Longest first: a secret can be the beginning of another one, whose rest would stay readable.
    return sorted(set(secrets), key=len, reverse=True)


@lru_cache(maxsize=256)
def _list_forms(secret: str) -> frozenset[str]:
    """List a secret as it is and as JSON, Python, HTML, addresses, base64 and hexadecimal digits have it."""
    if len(secret) < _SHORTEST:
        return frozenset({secret})
    data = secret.encode(errors="surrogatepass")
    address = quote(data, safe="")
    forms = {secret, repr(secret)[1:-1], html.escape(secret)}
    # JSON texts stand in JSON texts: a call's arguments in its reply, and what they repeat.
    for _ in range(3):
        forms |= {
            json.dumps(form, ensure_ascii=is_ascii)[1:-1] for form in forms for is_ascii in (True, False)
        }
        forms |= {form.replace("/", r"\/") for form in forms if r"\/" not in form}
    forms |= {
        *("".join(secret.split()), data.hex(), data.hex().upper()),
        *(address, quote_plus(data), re.sub("%..", lambda sign: sign[0].lower(), address)),
        *(encode(data).decode().rstrip("=") for encode in (b64encode, urlsafe_b64encode)),
    }
    for before in range(3):
        base64_text = b64encode(bytes(before) + data).decode()
        whole = base64_text.rstrip("=")
        # Within a longer text its neighbours share the first signs and the last.
        inner = whole[(0, 2, 3)[before] : len(whole) - (whole != base64_text)]
        forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    return frozenset({secret, *(form for form in forms if len(form) >= _MIXED)})


def list_long_secrets(*secrets: str) -> list[str]:
    """List the known secrets that can be removed from a model's answer without changing an honest one."""
    return [secret for secret in list_secrets(*secrets) if len(secret) >= _LONG]


def list_request_secrets(
    key: str | None, address: str | None, parameters: Mapping[str, object], *, also: Iterable[str] = ()
) -> list[str]:
    """List what a request carries that must not come back in an answer, and ``also``, longest first.

    These are the key, the values of headers that the user adds, the texts in the query of the address and in
    ``extra_body``, and user and password of the address and of proxies. Left out is what an honest answer may
    contain: a type of content, texts below eight characters, and below sixteen unless they mix letters and
    digits (a placeholder such as ``lm-studio``, a date).

    The values of secret-looking environment variables are among them if they have sixteen characters.
    """
    headers = as_mapping(parameters.get("extra_headers"))
    header_texts = [text for name, text in headers.items() if str(name).lower() not in _PUBLIC_HEADERS]
    keys_and_headers = [key, parameters.get("api_key"), *header_texts]
    query = [value for _, value in parse_qsl(urlsplit(address or "").query)]
    texts = list(iterate_texts([*keys_and_headers, *query, parameters.get("extra_body")]))
    words = [word for text in texts for word in text.split()]
    candidates = [*texts, *words]
    for word in words:
        # The value of a header of basic authentication is user and password, too.
        with suppress(ValueError):
            pair = b64decode(word, validate=True).decode()
            candidates += (pair, *pair.split(":", 1)) if ":" in pair and pair.isprintable() else ()
    credentials = [*_list_credentials(address or ""), *_list_proxy_secrets()]
    secrets = [
        *(each for each in candidates if _is_no_word(each)),
        *(each for each in credentials if len(each) >= _SHORTEST),
    ]
    forms = (form for each in secrets for form in _list_forms(each))
    return _order_secrets([*also, *list_long_secrets(), *forms])


def _is_no_word(text: str) -> bool:
    """Tell whether a text is long enough, or odd enough, for a secret."""
    is_mixed = any(map(str.isalpha, text)) and any(map(str.isdigit, text))
    return len(text) >= (_MIXED if is_mixed else _LONG)


def mask_secrets(text: str, secrets: Sequence[str]) -> str:
    """Replace each of these secrets in a text by ``***``, also where it is broken into lines."""
    for secret in secrets:
        text = text.replace(secret, "***")
    one_line = "".join(text.split())
    one_line = _BREAK.sub("", one_line) if "\\" in one_line else one_line
    for secret in secrets if one_line != text else ():
        if secret in one_line and _is_no_word(secret):
            text = re.sub(rf"(?:\s|{_BREAK.pattern})*".join(map(re.escape, secret)), "***", text)
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
    # Shorter values, such as "test" or "1", occur in honest texts by chance.
    text = mask_secrets(text, [secret for secret in list_secrets(*secrets) if len(secret) >= _SHORTEST])
    for pattern in (_SECRET_IN_ADDRESS, _SECRET_TEXT):
        text = pattern.sub(lambda match: f"{match[1] or ''}***", text)
    return text


def redact_address(address: str) -> str:
    """Replace keys and passwords in the address of an endpoint by ``***``, whatever its query calls them."""
    return redact_secrets(address, *list_request_secrets(None, address, {}))
