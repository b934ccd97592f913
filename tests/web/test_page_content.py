"""What a model is shown of a page, whatever the page is made of."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain import registry
from pytest_fcbench.environments.web_search import MODES
from pytest_fcbench.web import page_content as whole_page
from pytest_fcbench.web.client import WebReply
from pytest_fcbench.web.page_content import LONGEST_CONTENT, UnreadablePage, render_content, render_officially
from tests.cases import each_case

HTML = "text/html; charset=utf-8"


def render_body(body: str | bytes, mode: str = "raw", kind: str = HTML, status: int = 200) -> str:
    raw = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    return render_content(WebReply("http://a.example/b/c", status, {"Content-Type": kind}, raw), mode)


PAGE = """<html><head><title>T</title><style>p {}</style><script>alert(1)</script></head><body><h1>Head</h1>
<!-- not shown --><p>One <b>bold</b> <a href="../d">link</a>.</p><p>Two</p><ul><li>x</li><li>y</li></ul>
<table><caption>C</caption><tr><td>1</td><td>2</td></tr></table>a<br>b<noscript>no</noscript>
<select><option>c</option><option>d</option></select><blockquote>e</blockquote><footer>f</footer></body>
</html>"""


def test_raw_is_the_page_itself() -> None:
    assert render_body(PAGE) == PAGE


def test_text_has_a_line_for_each_block() -> None:
    lines = ["T", "Head", "One bold link.", "Two", "x", "y", "C", "1 2", "a", "b", "c", "d", "e", "f"]
    assert render_body(PAGE, "truncate").splitlines() == lines


def test_markdown_has_links_that_can_be_followed() -> None:
    text = render_body(PAGE, "markdown")
    assert "# Head" in text
    assert "One **bold** [link](http://a.example/d)." in text
    assert "alert" not in text
    assert "not shown" not in text


@each_case("mode", MODES)
@each_case(
    ("kind", "body"),
    [("application/json", '{"a": "<p>"}'), ("text/plain", "a <b> c"), ("application/rss+xml", "<a/>")],
)
def test_what_is_not_html_stays_as_it_is(kind: str, body: str, mode: str) -> None:
    assert render_body(body, mode, kind) == body


@each_case(
    ("kind", "body", "told"),
    [
        ("application/pdf", b"%PDF-1.4", "PDF document; only text, HTML, JSON and XML"),
        ("text/html", b"%PDF-1.4", "PDF document"),
        ("image/png", b"\x89PNG", "of the type 'image/png'"),
        ("application/octet-stream", b"<p>a</p>", "application/octet-stream"),
        ("text/html", b"\0\1\2", "of the type"),
    ],
)
def test_what_cannot_be_shown(kind: str, body: bytes, told: str) -> None:
    with pytest.raises(UnreadablePage, match=told):
        render_body(body, "raw", kind)


@pytest.mark.parametrize("status", [400, 404, 500])
def test_a_bad_status_is_told(status: int) -> None:
    with pytest.raises(UnreadablePage, match=f"HTTP status {status}"):
        render_body("x", status=status)


@each_case(
    ("body", "kind"),
    [
        ("grün".encode(), "text/html"),
        ("grün".encode("latin-1"), "text/html; charset=ISO-8859-1"),
        ("grün".encode("cp1252"), "text/plain"),
        (b'<meta charset="windows-1252">' + "grün".encode("cp1252"), "text/html"),
        ("grün".encode(), "text/html; charset=no-such-thing"),
        ("grün".encode(), "text/html; charset=utf-16"),
        ("grün".encode(), "text/html; charset=punycode"),
        ("\ufeffgrün".encode(), "text/plain"),
    ],
)
def test_a_page_is_decoded_whatever_it_says_of_its_encoding(body: bytes, kind: str) -> None:
    assert render_body(body, kind=kind).endswith("grün")


@pytest.mark.parametrize("mode", MODES)
def test_a_long_page_is_cut_and_says_so(mode: str) -> None:
    text = render_body("<p>" + "word " * 60_000, mode)
    assert len(text) < LONGEST_CONTENT + 100
    assert "[cut: 100,000 of " in text


HOSTILE = {
    "deep": "<div>" * 20_000,
    "tables": "<table><tr><td>" * 5_000,
    "lists": "<ul><li>x" * 5_000,
    "comments": "<!--" * 50_000,
    "quotes": "<a href='" * 30_000,
    "closing": "</" * 50_000,
    "instructions": "<?" * 50_000,
    "attributes": "<a " + " ".join(f"b{n}=1" for n in range(20_000)) + ">",
    "entities": "&#" * 50_000 + "&amp;" * 10_000 + "&#x110000;&#xD800;",
    "scripts": "<script>while(1){}</script>" * 2_000,
    "links": "<a href='http://['>x</a><a href='javascript:alert(1)'>y</a>" * 500,
    "surrogates": "<p>\ud800\udfff\x1b[31m</p>",
}


@each_case("mode", MODES)
@each_case("name", HOSTILE)
def test_hostile_pages_are_shown_somehow(name: str, mode: str) -> None:
    """The parser of the standard library takes minutes for some of these."""
    assert len(render_body(HOSTILE[name], mode)) < LONGEST_CONTENT + 100


@pytest.mark.filterwarnings("error")
@each_case("mode", ["markdown", "truncate"])
@each_case(
    ("body", "text"),
    [
        (b"http://a.example/b", "http://a.example/b"),
        (b"page.html", "page.html"),
        (b"<?xml version='1.0'?><a>b</a>", "b"),
        (b"<?xml version='1.0'?><!doctype html><p>b</p>", "b"),
    ],
)
def test_a_page_that_looks_like_something_else_is_no_reason_to_warn(
    body: bytes, text: str, mode: str
) -> None:
    assert render_body(body, mode) == text


@given(st.binary(max_size=300), st.sampled_from(MODES), st.sampled_from([HTML, "text/html; charset=gbk", ""]))
def test_any_bytes_are_shown_or_refused(body: bytes, mode: str, kind: str) -> None:
    with suppress(UnreadablePage):
        render_body(body, mode, kind).encode()


SHORT_PAGE = "<h1>Head</h1><p>One <b>bold</b> <a href='/d'>link</a></p><script>alert(1)</script>"


def render(body: bytes, mode: str = "raw", kind: str = "text/html", status: int = 200) -> str:
    return render_officially(
        WebReply("http://a.example/b", status, {"Content-Type": kind}, body, "Gone"), mode
    )


def test_text_has_a_line_for_each_node() -> None:
    assert render(SHORT_PAGE.encode(), "truncate") == "Head\nOne\nbold\nlink"


def test_markdown_keeps_addresses_as_they_are() -> None:
    assert render(SHORT_PAGE.encode(), "markdown") == "# Head\n\nOne **bold** [link](/d)\n\n"


def test_another_mode_is_raw() -> None:
    assert render(SHORT_PAGE.encode(), "zzz") == SHORT_PAGE


def test_a_long_page_is_whole() -> None:
    long = b"x" * (LONGEST_CONTENT + 1)
    assert render(long) == long.decode()


def test_any_type_is_shown() -> None:
    assert render(b"%PDF-1.4 \xe9", kind="application/pdf; charset=latin-1") == "%PDF-1.4 é"


# requests takes text without a charset for Latin-1, whatever the page says itself.
def test_text_is_decoded_as_requests_does() -> None:
    assert render("é".encode()) == "Ã©"
    assert render("é".encode(), kind="text/html; charset=utf-8") == "é"


def test_an_encoding_that_is_not_of_the_web_is_read_as_utf_8() -> None:
    assert render(b"abc-", kind="text/html; charset=punycode") == "abc-"


def test_an_error_of_the_server_has_the_words_of_requests() -> None:
    with pytest.raises(UnreadablePage, match=r"^410 Client Error: Gone for url: http://a\.example/b$"):
        render(b"", status=410)


def test_without_the_library_markdown_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.EXTRAS, "markdown", ("no_such_package",))
    assert "[link](http://a.example/d)" in render(SHORT_PAGE.encode(), "markdown")


def test_a_page_that_takes_too_long_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_page, "_LONGEST_CONVERSION_S", 0.01)
    with pytest.raises(UnreadablePage, match=r"not read within 0\.01 s"):
        render(SHORT_PAGE.encode(), "truncate")


@pytest.mark.parametrize(
    ("code", "told"), [("raise ValueError('too deep')", "^too deep$"), ("exit(3)", "could not be read")]
)
def test_a_page_that_the_parser_refuses_has_its_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str, told: str
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!{sys.executable}\n{code}\n", encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(UnreadablePage, match=told):
        render(SHORT_PAGE.encode(), "truncate")
