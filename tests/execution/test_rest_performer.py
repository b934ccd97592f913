"""Calls are sent: to the server of the run where answers are recorded, to the APIs in a live run."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from contextlib import closing
from functools import partial
from io import BufferedIOBase
from ipaddress import ip_address

import pytest

from pytest_fcbench.execution.outcomes import Raised, Responded, Response, Unanswered, Unreached
from pytest_fcbench.execution.rest_apis import APIS, ApiRequest, make_api_request
from pytest_fcbench.execution.rest_performer import Performer, Sender, collect_recordings
from pytest_fcbench.web.client import Client
from tests.cases import each_case
from tests.execution.keeping import Kept
from tests.web.hosting import Hosted, Seen, always_send, make_reply, serve_locally

COVID = "requests.get(url='https://covid-193.p.rapidapi.com/statistics', params={'country': 'Uganda'}"
HEADERS = ", headers={'X-RapidAPI-Key': 'YOUR-RAPID-API-KEY'})"
IP = "requests.get(url='http://ip-api.com/json', params={'lang': 'fr'})"
TRUTHS = (
    (COVID + HEADERS, '{"results": 1, "country": "Uganda é 雪"}'),
    (IP, '{"status": "success"}'),
    (IP, '{"status": "later"}'),
)


def test_recorded_answers_are_played() -> None:
    with closing(Performer(TRUTHS)) as perform:
        assert perform(COVID + HEADERS) == Responded(
            asked='["covid-193.p.rapidapi.com", "/statistics", [["country", ["Uganda"]]]]',
            host="covid-193.p.rapidapi.com",
            status=200,
            body='{"results": 1, "country": "Uganda é 雪"}',
        )
        # over https too, with another key, in another order
        assert status_of(perform("requests.get('https://ip-api.com/json?lang=fr')")) == 200
        assert perform(IP) == perform(IP)
        assert isinstance(found := perform(IP), Responded)
        assert json.loads(found.body) == {"status": "success"}


def status_of(response: Response) -> int:
    assert isinstance(response, Responded), response
    return response.status


def test_what_was_not_recorded() -> None:
    with closing(Performer(TRUTHS)) as perform:
        assert perform(IP.replace("fr", "de")) == Unanswered("ip-api.com")
        assert perform("requests.get(url='https://date.nager.at/')") == Unanswered("date.nager.at")
        assert status_of(perform(COVID + ")")) == 401
        assert perform("requests.get(url='https://a.example.org/')") == Raised(
            "a.example.org is not among the hosts that may be asked"
        )
        assert isinstance(perform("requests.get(url='file:///etc/passwd')"), Raised)
        assert isinstance(perform("print(1)"), Raised)


def test_the_services_of_core_answer() -> None:
    with closing(Performer()) as perform:
        assert status_of(perform("requests.get(url='https://trams.varnholm.example/v1/stops')")) == 200
        assert status_of(perform("requests.get(url='https://museum.greyfen.example/api/objects')")) == 401
        found = perform(
            "requests.get(url='https://museum.greyfen.example/api/objects', headers={'x-museum-key': 'mine'})"
        )
        assert status_of(found) == 200


def test_it_can_be_closed_and_used_again() -> None:
    perform = Performer(TRUTHS)
    perform.close()
    assert status_of(perform(IP)) == 200
    perform.close()
    assert status_of(perform(IP)) == 200
    perform.close()


def test_recordings_are_found_by_what_is_asked() -> None:
    assert len(collect_recordings(TRUTHS)) == 2


# Live


def make_live_performer(hosted: Hosted, keep: Kept | None = None) -> Performer:
    return Performer(live=True, instead=dict.fromkeys(APIS, hosted.port), keep=keep)


def test_a_live_request_gets_the_key_late_and_shows_it_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAPID_API_KEY", "sesame")

    def echo_key(seen: Seen, out: BufferedIOBase) -> None:
        out.write(make_reply(json.dumps({"key": seen.headers["x-rapidapi-key"]}).encode()))

    with serve_locally(echo_key) as hosted, closing(make_live_performer(hosted)) as perform:
        found = perform(COVID + HEADERS)
    assert hosted.seen[0].headers["x-rapidapi-key"] == "sesame"
    assert hosted.seen[0].path == "/statistics?country=Uganda"
    assert isinstance(found, Responded)
    assert found.body == '{"key": "***"}'


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("variable", "call", "path"),
    [
        (
            "EXCHANGERATE_API_KEY",
            "requests.get(url='https://v6.exchangerate-api.com/v6/YOUR-EXCHANGERATE-API-KEY/latest/EUR')",
            "/v6/se%2Fsame/latest/EUR",
        ),
        (
            "OMDB_API_KEY",
            "requests.get(url='http://www.omdbapi.com/', params={'t': 'x', 'apikey': 'YOUR-OMDB-API-KEY'})",
            "/?t=x&apikey=se%2Fsame",
        ),
    ],
)
def test_a_key_in_a_url_is_sent_escaped(
    monkeypatch: pytest.MonkeyPatch, variable: str, call: str, path: str
) -> None:
    monkeypatch.setenv(variable, "se/same")
    with (
        serve_locally(always_send(make_reply(b"{}"))) as hosted,
        closing(make_live_performer(hosted)) as perform,
    ):
        assert status_of(perform(call)) == 200
    assert hosted.seen[0].path == path
    with serve_locally(always_send(b"")) as hosted, closing(make_live_performer(hosted)) as perform:
        assert "same" not in str(perform(call))


def test_a_call_that_needs_a_missing_key_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAPID_API_KEY", raising=False)
    with (
        serve_locally(always_send(make_reply(status=401))) as hosted,
        closing(make_live_performer(hosted)) as perform,
    ):
        found = perform(COVID + HEADERS)
        assert isinstance(found, Unanswered)
        assert "RAPID_API_KEY" in found.reason
        assert hosted.seen == []
        assert status_of(perform(COVID + ")")) == 401  # what the model left out is not put in


def test_the_key_goes_to_no_other_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAPID_API_KEY", "sesame")
    call = "requests.get(url='http://ip-api.com/json', headers={'X-RapidAPI-Key': 'YOUR-RAPID-API-KEY'})"
    with (
        serve_locally(always_send(make_reply(b"{}"))) as hosted,
        closing(make_live_performer(hosted)) as perform,
    ):
        perform(call)
    assert hosted.seen[0].headers["x-rapidapi-key"] == "YOUR-RAPID-API-KEY"


@pytest.mark.few(1)
@pytest.mark.parametrize(("host", "port"), [("covid-193.p.rapidapi.com", 443), ("www.omdbapi.com", 80)])
def test_a_key_goes_over_tls_but_where_officially_it_does_not(
    monkeypatch: pytest.MonkeyPatch, host: str, port: int
) -> None:
    """Whatever scheme a model writes."""
    reached: list[int] = []

    def refuse_connection(address: str, to: int, timeout_s: float) -> socket.socket:
        reached.append(to)
        raise ConnectionRefusedError

    monkeypatch.setenv("RAPID_API_KEY", "sesame")
    monkeypatch.setenv("OMDB_API_KEY", "sesame")
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr(
        "pytest_fcbench.execution.rest_performer.Client",
        partial(Client, resolve=lambda _: [ip_address("8.8.8.8")], connect=refuse_connection),
    )
    with closing(Performer(live=True)) as perform:
        headers = "headers={'X-RapidAPI-Key': 'YOUR'}, params={'apikey': 'YOUR'}"
        assert isinstance(perform(f"requests.get(url='http://{host}/', {headers})"), Unreached)
    assert set(reached) == {port}


def test_answers_are_kept_without_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMDB_API_KEY", "sesame")
    call = "requests.get(url='http://www.omdbapi.com/', params={'t': 'x', 'apikey': 'YOUR'})"
    keep = Kept()
    with (
        serve_locally(always_send(make_reply(b'{"key": "sesame"}'))) as hosted,
        closing(make_live_performer(hosted, keep)) as perform,
    ):
        first = perform(call)
        assert perform(call.replace("YOUR", "MINE")) == first
    assert len(hosted.seen) == 1
    assert "sesame" not in str(keep.texts)
    keep.offline = True
    with closing(make_live_performer(Hosted(9), keep)) as perform:
        assert perform(call) == first
        assert isinstance(perform(call.replace("'x'", "'y'")), Unanswered)


@each_case("written", [make_reply(b"", 500), make_reply(b"", 429), make_reply(b"", 403), b""])
def test_failures_are_not_kept(written: bytes) -> None:
    keep = Kept()
    with serve_locally(always_send(written)) as hosted:
        sender = Sender(APIS, instead={"ip-api.com": hosted.port}, keep=keep, pause=lambda _: None)
        assert not isinstance(sender.send(make_request("ip-api.com")), Unanswered)
    assert keep.texts == {}


def make_request(host: str) -> ApiRequest:
    return make_api_request(host, "/json")


def test_an_api_that_wants_to_be_left_alone() -> None:
    pauses: list[float] = []
    with serve_locally(always_send(make_reply(b"{}"))) as hosted:
        instead = dict.fromkeys(APIS, hosted.port)
        sender = Sender(APIS, instead=instead, pause=pauses.append)
        for host in ("geocode.maps.co", "ip-api.com", "geocode.maps.co", "ip-api.com"):
            sender.send(make_request(host))
    assert len(pauses) == 1
    assert 1 < pauses[0] <= 2


@each_case(
    "place", ["http://127.0.0.1/", "http://169.254.169.254/", "file:///etc/passwd", "https://evil.example/"]
)
def test_a_redirect_out_of_the_table(place: str) -> None:
    with (
        serve_locally(always_send(make_reply(b"", 302, Location=place))) as hosted,
        closing(make_live_performer(hosted)) as perform,
    ):
        assert isinstance(perform(IP), Raised)
        assert status_of(perform(IP.replace("json'", "json', allow_redirects=False"))) == 302
    assert len(hosted.seen) == 2


@pytest.mark.parametrize(
    "answer",
    [
        always_send(b""),
        always_send(make_reply(b"", 302, Location="/again")),
        always_send(make_reply(b"x" * 5 * 2**20)),
    ],
)
def test_an_answer_that_is_cut_counts_as_unreached(answer: Callable[[Seen, BufferedIOBase], None]) -> None:
    with serve_locally(answer) as hosted:
        instead = {"ip-api.com": hosted.port}
        sender = Sender(APIS, instead=instead, pause=lambda _: None)
        assert isinstance(sender.send(make_request("ip-api.com")), Unreached)
