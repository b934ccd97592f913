"""The small web over real HTTP on loopback."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.kinds.answers import web_pages
from pytest_fcbench.suites import core
from pytest_fcbench.web.client import Bounds, Client, Refused, Unreachable
from pytest_fcbench.web.loopback_server import ENGINE, Index, Page, SmallWeb


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


def make_page(name: str, text: str, title: str = "") -> Page:
    return Page(f"http://a.example/{name}", title, text, "text/html", b"")


PAGES = [
    make_page("lamp", "The lamp stands on a rock. It is red.", "The lamp"),
    make_page("rock", "A rock in the sea, far from any lamp and from all that is told of birds."),
    make_page("birds", "Birds nest here."),
    make_page("hidden", ""),
]


def find_names(query: str, most: int = 10) -> list[str]:
    return [found.url.rpartition("/")[2] for found, _ in Index(PAGES).find_pages(query, most)]


def test_the_best_comes_first() -> None:
    assert find_names("lamp") == ["lamp", "rock"]
    assert find_names("BIRD") == ["birds", "rock"]


def test_a_rare_word_says_more_than_a_common_one() -> None:
    assert find_names("a rock nest here")[0] == "birds"


def test_no_more_than_asked_for_and_nothing_that_has_none_of_the_words() -> None:
    assert find_names("red lamp and rock", 1) == ["lamp"]
    assert find_names("lamp", 0) == find_names("lamp", -3) == find_names("volcano") == find_names("") == []


def test_pages_without_text_are_not_found() -> None:
    assert find_names("hidden") == []


def test_a_snippet_is_the_beginning_and_ends_with_a_word() -> None:
    text = "word " * 40
    ((_, snippet),) = Index([make_page("long", text)]).find_pages("word", 1)
    assert len(snippet) <= 80
    assert snippet.endswith("word…")
    ((_, whole),) = Index([make_page("short", "Two\nlines.")]).find_pages("two", 1)
    assert whole == "Two lines."


@given(st.text(), st.integers(-5, 20))
def test_any_words_can_be_looked_for(query: str, most: int) -> None:
    assert len(Index(PAGES).find_pages(query, most)) <= max(0, most)


def test_nothing_is_found_in_nothing() -> None:
    assert Index([]).find_pages("lamp", 5) == []
