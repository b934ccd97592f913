"""What the official tool would show of a page, and the bounds of converting it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_fcbench.domain import extras
from pytest_fcbench.web import whole_page
from pytest_fcbench.web.client import WebReply
from pytest_fcbench.web.page_content import LONGEST_CONTENT, UnreadablePage
from pytest_fcbench.web.whole_page import render_officially

PAGE = "<h1>Head</h1><p>One <b>bold</b> <a href='/d'>link</a></p><script>alert(1)</script>"


def render(body: bytes, mode: str = "raw", kind: str = "text/html", status: int = 200) -> str:
    return render_officially(
        WebReply("http://a.example/b", status, {"Content-Type": kind}, body, "Gone"), mode
    )


def test_text_has_a_line_for_each_node() -> None:
    assert render(PAGE.encode(), "truncate") == "Head\nOne\nbold\nlink"


def test_markdown_keeps_addresses_as_they_are() -> None:
    assert render(PAGE.encode(), "markdown") == "# Head\n\nOne **bold** [link](/d)\n\n"


def test_another_mode_is_raw() -> None:
    assert render(PAGE.encode(), "zzz") == PAGE


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
    monkeypatch.setitem(extras.EXTRAS, "markdown", ("no_such_package",))
    assert "[link](http://a.example/d)" in render(PAGE.encode(), "markdown")


def test_a_page_that_takes_too_long_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_page, "_LONGEST_CONVERSION_S", 0.01)
    with pytest.raises(UnreadablePage, match=r"not read within 0\.01 s"):
        render(PAGE.encode(), "truncate")


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
        render(PAGE.encode(), "truncate")
