"""The small web over real HTTP on loopback."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fcbench.kinds.answers import web_pages
from pytest_fcbench.suites import core
from pytest_fcbench.web.client import Bounds, Client, Refused, Unreachable
from pytest_fcbench.web.small_web import ENGINE, SmallWeb


@pytest.fixture(scope="module")
def web() -> Iterator[SmallWeb]:
    web = SmallWeb(web_pages.read_pages([core.open_suite(Path()).web]))
    yield web
    web.close()


@pytest.fixture
def client(web: SmallWeb) -> Client:
    return Client(Bounds(frozenset(web.local), retries=0), web.local)


def test_a_page_is_served_under_its_address(client: Client) -> None:
    reply = client.get("http://lights.example/vell-head")
    assert (reply.status, reply.type) == (200, "text/html")
    assert b"31 metres tall" in reply.body
    assert client.get("https://lights.example/vell-head").body == reply.body


def test_a_redirect_is_followed(client: Client) -> None:
    reply = client.get("http://lights.example/ambry-low")
    assert (reply.status, reply.url) == (200, "http://lights.example/ambry-low-light")


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("http://ferries.example/timetable/route-2.json", "application/json"),
        ("http://railway.example/structures.txt", "text/plain"),
        ("http://instruments.example/catalogue.pdf", "application/pdf"),
        ("http://minerals.example/catalogue", "application/octet-stream"),
    ],
)
def test_what_is_not_html(client: Client, place: str, kind: str) -> None:
    reply = client.get(place)
    assert (reply.status, reply.type) == (200, kind)


def test_what_is_not_there(client: Client) -> None:
    assert client.get("http://lights.example/atlantis").status == 404


def test_the_engine_finds_pages(client: Client, web: SmallWeb) -> None:
    found = json.loads(client.get(f"http://{ENGINE}/", {"q": "tolmite hardness", "n": "3"}).body)
    assert len(found) == 3
    assert found[0]["url"] == "http://minerals.example/tolmite"
    assert all(set(result) == {"title", "url", "snippet"} and result["url"] in web.pages for result in found)


def test_a_wrong_question_is_refused(client: Client) -> None:
    assert client.get(f"http://{ENGINE}/", {"q": "x", "n": "many"}).status == 400


@pytest.mark.parametrize("host", ["other.example", "127.0.0.1", "localhost"])
def test_nobody_else_is_asked(client: Client, host: str) -> None:
    with pytest.raises(Refused, match=re.escape(host)):
        client.get(f"http://{host}/")


def test_it_ends_when_it_is_closed() -> None:
    before = set(threading.enumerate())
    web = SmallWeb({})
    client = Client(Bounds(retries=0), web.local)
    web.close()
    assert not set(threading.enumerate()) - before  # those of other tests may end too
    with pytest.raises(Unreachable, match="Connection refused"):
        client.get(f"http://{ENGINE}/")
