"""The call of a web API as a model writes it, ``requests.get(url=..., params=...)``, read as a request.

Nothing is sent here, and nothing is evaluated. Arguments have the meaning that they have to that function,
but those that would read a file of this machine (``cert``, a path as ``verify``), lead elsewhere
(``proxies``), run code (``hooks``) or send a body are refused. Certificates are always verified, and the time
limit of a call is ours.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pytest_fcbench.codecs.call_evaluation import carry_out_call
from pytest_fcbench.execution.rest.apis import Params

FUNCTION = "requests.get"
"""The one function of REST entries."""
LONGEST_CALL = 1_000_000
"""The limit of a call's length in characters."""


@dataclass(frozen=True, slots=True)
class Request:
    """A GET to be sent, not yet checked against the rules of ``web``."""

    url: str
    params: Params = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    follow: bool = True
    """True where redirects are followed."""


class NoRequestError(Exception):
    """The text is not a call that can be sent; the message says why."""


def read_request(call: str) -> Request:
    """Read the request of a call. Raises ``NoRequestError``.

    ``requests_get`` is the same function, because some interfaces refuse the dot; officially it is replaced
    everywhere in the call.
    """
    try:
        if len(call) > LONGEST_CALL:
            raise ValueError(f"the call has more than {LONGEST_CALL:,} characters")
        # Replaced everywhere in the text, as officially, also inside a URL.
        request = carry_out_call(call.replace("requests_get", FUNCTION), {FUNCTION: _make_request})
    except Exception as error:  # noqa: BLE001 - a model's text can make anything go wrong
        raise NoRequestError(f"{type(error).__name__}: {error}"[:500]) from None
    assert isinstance(request, Request)
    return request


def _make_request(
    url: object,
    params: object = None,
    *,
    headers: object = None,
    cookies: object = None,
    auth: object = None,
    timeout: object = None,
    allow_redirects: object = True,
    proxies: object = None,
    verify: object = True,
    stream: object = False,
    **others: object,
) -> Request:
    """Return the request that ``requests.get`` would send. Raises TypeError and ValueError."""
    if not isinstance(url, str):
        raise TypeError(f"the url is {type(url).__name__}, not text")
    for name, value in others.items():
        if name not in ("cert", "data", "files", "hooks", "json"):
            raise TypeError(f"there is no argument {name!r}")
        if value:
            raise ValueError(f"{name} is not taken here")
    # verify=False is taken and ignored: certificates are always checked.
    if not isinstance(verify, bool) and verify is not None:
        raise ValueError("verify must not name a file of this machine")
    # Proxies without a value do nothing in requests either.
    if proxies and (not isinstance(proxies, Mapping) or any(proxies.values())):
        raise ValueError("proxies are not taken here")
    # A pair is the limit of the connection and that of the reply.
    for part in timeout if isinstance(timeout, tuple) and len(timeout) == 2 else (timeout,):
        if part is not None and (isinstance(part, bool) or not isinstance(part, (int, float)) or part <= 0):
            raise ValueError(f"a timeout is a number of seconds above 0, not {timeout!r:.80}")
    sent_headers = dict(_read_texts("headers", headers))
    if crumbs := "; ".join(f"{name}={value}" for name, value in _read_texts("cookies", cookies)):
        sent_headers.setdefault("Cookie", crumbs)
    if auth:
        if not (isinstance(auth, tuple) and len(auth) == 2 and all(isinstance(part, str) for part in auth)):
            raise TypeError(f"auth is a tuple of user name and password, not {auth!r:.80}")
        sent_headers["Authorization"] = f"Basic {b64encode(':'.join(auth).encode('latin-1')).decode()}"
    return Request(url, tuple(_read_params(params)), sent_headers, bool(allow_redirects))


def _read_texts(what: str, value: object) -> Iterator[tuple[str, str]]:
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} are {type(value).__name__}, not a dict")
    for name, text in value.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise TypeError(f"{what} are texts, not {name!r:.80}: {text!r:.80}")
        yield name, text


def _read_params(params: object) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a query: several values of a name one by one, None left out."""
    if not params:
        return
    if not isinstance(params, (Mapping, list, tuple)):
        raise TypeError(f"params are {type(params).__name__}, not a dict")
    for pair in params.items() if isinstance(params, Mapping) else params:
        match pair:
            case [name, value]:
                for one in value if isinstance(value, (list, tuple, set, dict)) else (value,):
                    if one is not None:
                        yield str(name), str(one)
            case _:
                raise ValueError("params are a dict or a list of pairs")
