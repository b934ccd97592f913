"""The content of a page for a model: raw, as Markdown, or as text.

Officially the whole page is returned, of any type and however long; here it ends after ``LONGEST_CONTENT``
characters. The official profile has it as officially, converted by the same libraries, in a process of its
own with a time limit: a hostile page of 200 kB keeps the official parser busy for ten minutes.

    python -m pytest_fcbench.web.page_content markdown < page.html
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
from contextlib import suppress
from urllib.parse import urljoin

import requests
from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, Tag
from markdownify import MarkdownConverter
from requests.structures import CaseInsensitiveDict
from requests.utils import get_encoding_from_headers

from pytest_fcbench.domain.registry import list_missing_packages
from pytest_fcbench.web.client import WebReply

LONGEST_CONTENT = 100_000
"""Characters that a model is shown of a page."""
# Characters of HTML that are parsed: the slowest case, endless tags, takes some seconds.
_MOST_PARSED = 500_000

_PDF = "application/pdf"
_TYPES = re.compile(r"text/.*|application/(?:.*\+)?(?:json|xml|xhtml\+xml)|application/javascript|")
"""Types that can be shown; also no type at all."""
_HTML = ("text/html", "application/xhtml+xml", "")
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "caption", "dd", "div", "dt", "figcaption", "footer"),
        *("form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "legend", "li", "main", "nav", "option", "p"),
        *("pre", "section", "summary", "title", "tr"),
    )
)
"""Elements whose text is a line of its own."""
_BETWEEN = {"br": "\n", "hr": "\n", "td": " ", "th": " "}
_UNSEEN = ["script", "style", "noscript", "template"]
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
# Encodings that are tried. Python knows others, some of which take a long time.
ENCODING = re.compile(
    r"utf-?8|utf-?16(le|be)?|us-ascii|ascii|(iso-?8859|latin)-?\d+|(windows-|cp)125\d|koi8-[ru]"
    r"|shift_jis|euc-(jp|kr)|gb2312|gbk|gb18030|big5",
    re.IGNORECASE,
)


class UnreadablePage(Exception):  # noqa: N818 - reads as the state it names
    """Nothing of the reply can be shown; the message says why."""


def render_content(reply: WebReply, mode: str) -> str:
    """Render the body of a reply in one of the modes of web search. Raises ``UnreadablePage``."""
    if reply.status >= 400:
        raise UnreadablePage(f"the server answered with HTTP status {reply.status}")
    if reply.type == _PDF or reply.body.startswith(b"%PDF-"):
        raise UnreadablePage("it is a PDF document; only text, HTML, JSON and XML can be read")
    if not _TYPES.fullmatch(reply.type) or b"\0" in reply.body[:1000]:
        raise UnreadablePage(
            f"it is of the type {reply.type[:80]!r}; only text, HTML, JSON and XML can be read"
        )
    # Decoded by the encoding that it names, else UTF-8, else Windows-1252.
    charset_match = _CHARSET.search(reply.headers.get("Content-Type", "").encode("latin-1", "replace"))
    charset_match = charset_match or _CHARSET.search(reply.body[:1024])
    charset = charset_match[1].decode("ascii", "replace") if charset_match else ""
    for encoding in (charset if ENCODING.fullmatch(charset) else "utf-8-sig", "utf-8-sig"):
        try:
            text = reply.body.decode(encoding)
            break
        except (UnicodeDecodeError, LookupError):
            continue
    else:
        text = reply.body.decode("cp1252", "replace")
    if mode != "raw" and reply.type in _HTML:
        text = _convert_html(text[:_MOST_PARSED], reply.url, mode)
    return (
        text
        if len(text) <= LONGEST_CONTENT
        else f"{text[:LONGEST_CONTENT]}\n[cut: {LONGEST_CONTENT:,} of {len(text):,} characters]"
    )


def _convert_html(html: str, url: str, mode: str) -> str:
    """Convert HTML to Markdown with whole addresses, or to its lines of text."""
    # The comment keeps the library from warning where a page looks like an address or like XML.
    # By lxml: a hostile page of 200 kB keeps the parser of the standard library busy for over a minute.
    page = BeautifulSoup(f"<!---->{html}", "lxml")
    for unseen in page(_UNSEEN):
        unseen.decompose()
    if mode == "markdown":
        for link in page("a", href=True):
            # urljoin raises for invalid addresses, which a page may have; they stay as they are.
            with suppress(ValueError):
                link["href"] = urljoin(url, str(link["href"]))
        try:
            markdown: str = MarkdownConverter(heading_style="ATX").convert_soup(page)
            return re.sub(r"\n{3,}", "\n\n", markdown).strip()
        except RecursionError:
            # No page for readers is nested so deeply, so the lines of text are enough.
            pass
    # The texts, with a line break between those of different blocks.
    texts: list[str] = []
    block_of: dict[int, PageElement] = {id(page): page}
    last: PageElement = page
    for node in page.descendants:
        block = block_of[id(node.parent)]
        if isinstance(node, Tag):
            block_of[id(node)] = node if node.name in _BLOCKS else block
            texts.append(_BETWEEN.get(node.name, ""))
        # Subclasses of it are comments, doctypes and the like.
        elif type(node) is NavigableString:
            texts += ["" if block is last else "\n", node]
            last = block
    lines = (" ".join(line.split()) for line in "".join(texts).splitlines())
    return "\n".join(line for line in lines if line)


_LONGEST_CONVERSION_S = 60.0
_CONVERTED = ("markdown", "truncate")
"""The modes that convert a page; any other one shows it as it came."""


def render_officially(reply: WebReply, mode: str) -> str:
    """Render the body of a reply in a mode, raw in one that converts nothing. Raises ``UnreadablePage``."""
    response = requests.Response()
    response.status_code, response.reason, response.url = reply.status, reply.reason, reply.url
    response.headers = CaseInsensitiveDict(reply.headers)
    response.raw = io.BytesIO(reply.body)
    try:
        response.raise_for_status()
    except requests.HTTPError as error:
        raise UnreadablePage(str(error)) from None
    encoding = get_encoding_from_headers(response.headers)
    # Python knows encodings that take a long time.
    response.encoding = encoding if encoding is None or ENCODING.fullmatch(encoding) else "utf-8"
    if mode == "markdown" and list_missing_packages("markdown"):
        return render_content(reply, mode)
    if mode not in _CONVERTED:
        return response.text
    try:
        process = subprocess.run(  # noqa: S603 - the mode is one of ours
            [sys.executable, "-P", "-m", __name__, mode],
            input=response.text.encode("utf-8", "replace"),
            capture_output=True,
            timeout=_LONGEST_CONVERSION_S,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise UnreadablePage(f"the page was not read within {_LONGEST_CONVERSION_S:g} s") from None
    except subprocess.CalledProcessError as error:
        # The last line of a traceback: the class of the error and its words.
        _, _, words = error.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2].partition(": ")
        raise UnreadablePage(words or "the page could not be read") from None
    return process.stdout.decode()


if __name__ == "__main__":
    html = sys.stdin.buffer.read().decode()
    if sys.argv[1] == "markdown":
        import html2text

        written: str = html2text.HTML2Text().handle(html)
    else:
        page = BeautifulSoup(html, "html.parser")
        for unseen in page(["script", "style"]):
            unseen.extract()
        written = page.get_text(separator="\n", strip=True)
    sys.stdout.buffer.write(written.encode("utf-8", "replace"))
