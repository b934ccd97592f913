"""Pages from YAML files: what a server sends, and what a search engine knows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.kinds.answers import web_pages
from pytest_fcbench.web.loopback_server import Page
from tests.cases import each_case

TOP = "host: a.example\nname: A & B\npages:\n"


def read_written_pages(tmp_path: Path, text: str) -> dict[str, Page]:
    (tmp_path / "a.yaml").write_text(TOP + text)
    return dict(web_pages.read_pages([tmp_path, None]))


def test_a_page_is_html_with_links_and_every_text_escaped(tmp_path: Path) -> None:
    page = read_written_pages(tmp_path, "  /x: {title: <T>, text: ['a <b> & [c](/d)']}")["http://a.example/x"]
    body = page.body.decode()
    assert '<p>a &lt;b&gt; &amp; <a href="/d">c</a></p>' in body
    assert "<title>&lt;T&gt; - A &amp; B</title>" in body
    assert (page.text, page.type) == ("a <b> & c", "text/html; charset=utf-8")


def test_a_table_becomes_html(tmp_path: Path) -> None:
    text = "  /x: {title: T, text: [a], table: {head: [K, V], rows: [['[k](/k)', 5]]}}"
    page = read_written_pages(tmp_path, text)["http://a.example/x"]
    assert "<tr><th>K</th><th>V</th></tr>" in page.body.decode()
    assert '<tr><td><a href="/k">k</a></td><td>5</td></tr>' in page.body.decode()
    assert page.text.splitlines() == ["a", "K", "V", "k", "5"]


def test_a_long_page_is_the_same_every_time(tmp_path: Path) -> None:
    text = (
        "  /x: {title: T, text: [a], log: {lines: 900, seed: 1, line: 'Day {n}: {sea}', sea: [calm, rough]}}"
    )
    first, second = (read_written_pages(tmp_path, text)["http://a.example/x"] for _ in range(2))
    assert first == second
    assert first.body.count(b"<li>Day ") == 900
    assert first.body.count(b"calm") > 300 < first.body.count(b"rough")
    assert first.text == "a"


def test_redirects_and_json_are_pages_too(tmp_path: Path) -> None:
    found = read_written_pages(
        tmp_path,
        "  /old: {redirect: /new}\n"
        "  /d.json: {title: D, json: {a: [1, é]}}\n"
        "  /p.txt: {title: P, plain: some text}\n"
        "  /b.pdf: {title: B, pdf: true}\n"
        "  /o: {title: O, type: application/octet-stream, text: [a]}\n",
    )
    assert found["http://a.example/old"].location == "http://a.example/new"
    data = found["http://a.example/d.json"]
    assert (data.type, json.loads(data.body)) == ("application/json", {"a": [1, "é"]})
    assert found["http://a.example/p.txt"].body == b"some text"
    assert found["http://a.example/b.pdf"].type == "application/pdf"
    assert found["http://a.example/o"].type == "application/octet-stream"
    assert not found["http://a.example/b.pdf"].text


@each_case(
    ("text", "told"),
    [
        ("  /x: {text: [a]}", r"a.yaml:4: pages./x: has no 'title'"),
        ("  /x: {title: T, text: [5]}", r"pages./x.text.0: must be text"),
        ("  /x: {title: T, body: a}", r"unknown key 'body'"),
        ("  /x: [a]", r"must be a mapping"),
    ],
)
def test_what_is_broken_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(SuiteError, match=told):
        read_written_pages(tmp_path, text)


@each_case(
    ("host", "path"),
    [
        ("http://a.example", "/x"),
        ("a.example/", "/x"),
        ("A.example", "/x"),
        ("a.example", "x"),
        ("a.example", "/x?y=1"),
        ("a.example", "/ä"),
        ("a.example", "/x y"),
    ],
)
def test_a_page_that_no_request_can_ask_for_is_told(tmp_path: Path, host: str, path: str) -> None:
    (tmp_path / "a.yaml").write_text(f"host: {host}\nname: A\npages:\n  {path}: {{title: T, text: [a]}}\n")
    with pytest.raises(SuiteError, match=re.escape(f"a.yaml:4: pages.{path}: no request asks for http://")):
        web_pages.read_pages([tmp_path])


@each_case(
    ("page", "message"),
    [
        ("{title: T}", "pages./x: has no 'text'"),
        ("{redirect: 'http://[x'}", "is not a valid address: Invalid IPv6 URL"),
        ("{title: T, json: !!timestamp 2024-07-18}", "must be a JSON value: Object of type date"),
        (
            "{title: T, text: [], log: {lines: many, seed: 1, line: x}}",
            "must be a whole number up to 100,000",
        ),
        (
            "{title: T, text: [], log: {lines: 100001, seed: 1, line: x}}",
            "must be a whole number up to 100,000",
        ),
        (
            "{title: T, text: [], log: {lines: 1, seed: 1, line: '{sea}'}}",
            "cannot be filled in: KeyError('sea')",
        ),
        ("{title: T, text: [], log: {lines: 1, seed: 1, line: '{'}}", "cannot be filled in: ValueError("),
        (
            "{title: T, text: [], log: {lines: 1, seed: 1, line: x, sea: []}}",
            "cannot be filled in: IndexError(",
        ),
    ],
)
def test_what_is_no_page_is_told_with_its_line(tmp_path: Path, page: str, message: str) -> None:
    with pytest.raises(SuiteError, match=re.escape(message)) as told:
        read_written_pages(tmp_path, f"  /x: {page}\n")
    assert "a.yaml:4: " in str(told.value)
