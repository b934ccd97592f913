"""The functions of ``lookups``, answered by the web APIs themselves.

Each sends the request of BFCL's library, and reads from the reply the value that the library returns, as
``lookups.toml`` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.execution.lookups import ROWS, Arguments, FailedLookupError, UnansweredError
from pytest_fcbench.execution.outcomes import Responded
from pytest_fcbench.execution.rest_apis import APIS, ApiRequest, KeyPlace, WebApi
from pytest_fcbench.execution.rest_performer import Keep, Sender, is_server_fault

T = TypeVar("T")

_RAPID = APIS["covid-193.p.rapidapi.com"]
HOSTS: Mapping[str, WebApi] = {
    **APIS,
    "real-time-amazon-data.p.rapidapi.com": _RAPID,
    "ziptasticapi.com": WebApi(plain=True),
}
"""Every host that is asked, by name."""
# A stand-in for the key, which is filled in when the request is sent.
_KEY = "key"


class Live:
    """A ``lookups.Provider`` that asks the APIs themselves. ``instead`` is passed to ``Sender``."""

    def __init__(self, keep: Keep | None = None, instead: Mapping[str, int] | None = None) -> None:
        self._sender = Sender(HOSTS, keep=keep, instead=instead)

    def answer(self, name: str, arguments: Arguments) -> object:
        """Return the result of the function.

        Raises ``FailedLookupError`` where the API's reply has no such value, and ``UnansweredError`` where
        the API cannot be asked now or needs a key.
        """
        request = make_request(name, arguments)
        host = request.host
        match self._sender.send(request, find_scheme(host)):
            case Responded(status=200, body=body):
                return read_result(name, arguments, body)
            case Responded(status=status, body=body):
                # A refused key or a busy server says nothing about the call.
                if status in (401, 403) or is_server_fault(status):
                    raise UnansweredError(name, f"{host}: HTTP {status}")
                raise FailedLookupError(f"{host}: HTTP {status}: {body:.200}")
            case other:
                raise UnansweredError(name, f"{host}: {other.reason}")


def find_scheme(host: str) -> str:
    """Return the scheme of a host's addresses."""
    return "http" if HOSTS[host].plain else "https"


def make_request(name: str, arguments: Arguments) -> ApiRequest:
    """Return the request that a function makes, with a stand-in for the key. Raises ``FailedLookupError``."""
    row = ROWS[name]
    key = HOSTS[row["host"]].key
    headers = {key.name: _KEY} if key and key.place is KeyPlace.HEADER else {}
    try:
        values = {"key": _KEY, **_format_values(arguments)}
        path = row["path"].format_map({each: quote(text, safe="") for each, text in values.items()})
        params = [(each, text.format_map(values)) for each, text in row.get("query", {}).items()]
    except (TypeError, LookupError) as error:
        raise FailedLookupError(f"{name}: {error}") from None
    return ApiRequest(row["host"], path, tuple(params), headers)


def _format_values(arguments: Arguments) -> dict[str, str]:
    """Format arguments for a URL, a pair as two values. Raises TypeError for what no API takes."""
    texts: dict[str, str] = {}
    for name, value in arguments.items():
        match value:
            case [one, other]:
                parts = {f"{name}_0": one, f"{name}_1": other}
            case _:
                parts = {name: value}
        for part_name, part in parts.items():
            if not isinstance(part, (str, int, float)):
                raise TypeError(f"{part!r:.80} is no text and no number")
            texts[part_name] = str(part)
    return texts


def read_result(name: str, arguments: Arguments, body: str) -> object:
    """Return the result of a function from a reply. Raises ``FailedLookupError``."""
    row = ROWS[name]
    try:
        reply = read_json_text(body)
        # The API's reason why there is no value (``private range``).
        if "status" in row and reply["status"] != row["status"]:
            return reply["message"]
        answer = row["answer"]
        places = [answer] if isinstance(answer, str) else answer
        values = [_find_value(reply, place, arguments) for place in places]
        result = values[0] if isinstance(answer, str) else values or reply
        return _FINISH[name](result, arguments) if name in _FINISH else result
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise FailedLookupError(f"{name}: not in the reply: {type(error).__name__}: {body:.200}") from None


def _find_value(reply: Any, place: str, arguments: Arguments) -> object:
    """Return the value at a place of a reply. Raises TypeError and LookupError."""
    for part in place.split("."):
        reply = reply[int(part) if part.isdecimal() else part.format_map(arguments)]
    return reply


def _require(kind: type[T] | tuple[type[T], ...], value: object) -> T:
    """Return a value of a type. Raises TypeError for another."""
    if not isinstance(value, kind):
        raise TypeError(f"a {type(value).__name__} is no {kind}")
    return value


_NUMBER = (int, float)

_FINISH: Mapping[str, Callable[[object, Arguments], object]] = {
    "convert_currency": lambda rate, arguments: (
        _require(_NUMBER, arguments["amount"]) * _require(_NUMBER, rate)
    ),
    # BFCL's function keeps the last ten.
    "get_stock_history": lambda days, arguments: dict(list(_require(dict, days).items())[-10:]),
    "retrieve_holiday_by_year": lambda days, arguments: _require(list, days),
}
"""What becomes of the value in the reply, where that is not the result itself."""
