"""Which web APIs still answer, asked of servers on loopback only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path

import pytest

from pytest_fcbench.cli.main import main
from pytest_fcbench.cli.suite import listing
from pytest_fcbench.domain.entry import CATEGORIES, Entry, Expectation
from pytest_fcbench.execution.live import HOSTS
from pytest_fcbench.execution.rest_performer import Sender
from pytest_fcbench.kinds.execution.verdict import ExpectedResponse, ExpectedResults, ResultRule
from pytest_fcbench.suites import bfcl
from pytest_fcbench.tools.api_probes import (
    ProbeOutcome,
    ProbeState,
    ask_apis,
    build_outcome_document,
    check_apis,
    collect_probes,
    render_outcomes,
)
from tests.factories import make_entry
from tests.web.hosting import Seen, always_send, make_reply, serve_locally

IP = "requests.get(url='http://ip-api.com/json', params={'lang': 'fr'})"
COVID = (
    "requests.get(url='https://covid-193.p.rapidapi.com/statistics', params={'country': 'Uganda'}, "
    "headers={'X-RapidAPI-Key': 'YOUR-RAPID-API-KEY'})"
)


def make_entries(*expected: Expectation) -> list[Entry]:
    made = make_entry("irrelevance")
    return [
        Entry("bfcl", f"rest_{number}", CATEGORIES["rest"], made.turns, made.functions, expectation)
        for number, expectation in enumerate(expected)
    ]


def expect_results(*calls: str) -> ExpectedResults:
    return ExpectedResults(calls, (ResultRule.EXACT,) * len(calls))


ENTRIES = make_entries(
    ExpectedResponse(IP, '{"status": "success"}'),
    ExpectedResponse(IP, '{"status": "success"}'),
    ExpectedResponse(COVID, '{"response": []}'),
    ExpectedResponse("requests.get(url='https://trams.varnholm.example/v1/stops')"),
    expect_results("math_gcd(a=1, b=2)", "get_covid_death_by_country(country='Uganda')"),
    expect_results("get_movie_rating('Up')"),
    expect_results("get_zipcode_by_ip_address(ip_address='8.8.8.8')"),
)


@pytest.fixture(autouse=True)
def _set_api_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RAPID_API_KEY", "GEOCODE_API_KEY", "EXCHANGERATE_API_KEY"):
        monkeypatch.setenv(name, "sesame-open")
    monkeypatch.delenv("OMDB_API_KEY", raising=False)
    monkeypatch.setattr("time.sleep", lambda _: None)


def answer_request(seen: Seen, out: BufferedIOBase) -> None:
    replies: dict[str, object] = {
        "ip-api.com/json?lang=fr": {"status": "success"},
        "ip-api.com/json/8.8.8.8": {"status": "success", "zip": "94043"},
        "covid-193.p.rapidapi.com/statistics?country=Uganda": {"response": [{"deaths": {"total": 1}}]},
    }
    found = replies.get(f"{seen.headers['host']}{seen.path}")
    out.write(make_reply(json.dumps(found).encode()) if found else make_reply(b"gone: sesame-open", 404))


@pytest.fixture
def loopback_ports() -> Iterator[dict[str, int]]:
    """Map every host, and no other, to a port on loopback."""
    with serve_locally(answer_request) as hosted:
        yield dict.fromkeys(HOSTS, hosted.port)


def test_each_request_is_probed_once() -> None:
    """Of the two truths about Uganda one asks in words of its own, the other by a function."""
    found = [(probe.wanted.host, len(probe.misfits)) for probe in collect_probes(ENTRIES)]
    assert found == [
        ("ip-api.com", 2),
        ("covid-193.p.rapidapi.com", 2),
        ("www.omdbapi.com", 1),
        ("ip-api.com", 1),
    ]


def test_a_table_counts_answers_by_host(loopback_ports: dict[str, int]) -> None:
    lines = [*render_outcomes(check_apis(ENTRIES, loopback_ports), 80)]
    assert [line.split() for line in lines if line.startswith(("host", "ip-", "covid", "www"))] == [
        ["host", "calls", "answered", "wrong", "shape", "failed", "key", "missing"],
        ["ip-api.com", "2", "2", "0", "0", "0"],
        ["covid-193.p.rapidapi.com", "1", "1", "0", "0", "0"],
        ["www.omdbapi.com", "1", "0", "0", "0", "1"],
        ["www.omdbapi.com:", "1", "key", "missing:", "OMDB_API_KEY"],
    ]
    assert lines[-1] == "3 of 4 requests got a reply of the expected shape"


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_failed_request_ends_in_1_and_shows_no_key(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = ProbeOutcome(collect_probes(ENTRIES)[0], ProbeState.FAILED, "HTTP 404: sesame-open")
    monkeypatch.setattr(listing, "check_apis", lambda _: [outcome])
    assert main(["suite", "apis", "--suite", "core", *words]) == 1
    told = capsys.readouterr().out
    assert "HTTP 404" in told
    assert "sesame" not in told


def test_json_has_the_state_of_each_request(loopback_ports: dict[str, int]) -> None:
    entries = make_entries(
        ExpectedResponse(IP, '{"status": "success", "city": "Oslo"}'),
        ExpectedResponse(IP.replace("fr", "de"), "{}"),
        expect_results("get_coordinate_by_ip_address(ip_address='8.8.8.8')"),
    )
    found = json.loads(json.dumps(build_outcome_document(check_apis(entries, loopback_ports))))
    assert found["answered"] == 0
    assert [(request["host"], request["state"]) for request in found["requests"]] == [
        ("ip-api.com", "wrong shape"),
        ("ip-api.com", "failed"),
        ("ip-api.com", "wrong shape"),
    ]
    assert "wrong_key" in found["requests"][0]["reason"]
    assert "HTTP 404" in found["requests"][1]["reason"]


def test_an_unknown_suite_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="4"):
        main(["suite", "apis", "--suite", "bfkl"])
    assert "unknown suite 'bfkl'" in capsys.readouterr().err


def test_a_suite_whose_services_are_its_own_asks_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "apis", "--suite", "core"]) == 0
    assert "0 of 0 requests" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (b"", ProbeState.FAILED),
        (make_reply(b"<html>"), ProbeState.WRONG_SHAPE),
        (make_reply(b"", 302, Location="http://127.0.0.1/"), ProbeState.FAILED),
    ],
    ids=["nothing", "a page", "elsewhere"],
)
def test_hosts_that_are_gone_fail_or_answer_in_a_wrong_shape(answer: bytes, state: ProbeState) -> None:
    with serve_locally(always_send(answer)) as hosted:
        sender = Sender(HOSTS, instead=dict.fromkeys(HOSTS, hosted.port), pause=lambda _: None)
        states = [found.state for found in ask_apis(collect_probes(ENTRIES), sender)]
    assert states == [state, state, state, ProbeState.KEY_MISSING]


def test_bfcl_needs_every_host(pack_cache: Path) -> None:
    suite = bfcl.open_suite(pack_cache)
    names = ("rest", "exec_simple", "exec_multiple", "exec_parallel", "exec_parallel_multiple")
    probes = collect_probes(entry for name in names for entry in suite.load(CATEGORIES[name]))
    assert {probe.wanted.host for probe in probes} == HOSTS.keys()
    assert len(probes) == 143
    assert sum(len(probe.misfits) for probe in probes) == 251
