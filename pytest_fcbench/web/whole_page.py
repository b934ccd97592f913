"""The content of a page as the official web tool shows it: whole, of any type, converted by its libraries.

    python -m pytest_fcbench.web.whole_page markdown < page.html

A page is converted in a process of its own, which ends after a time: the official parser takes ten minutes
for 200 kB that are made for it.
"""

from __future__ import annotations

import io
import subprocess
import sys

import requests
from bs4 import BeautifulSoup
from requests.structures import CaseInsensitiveDict
from requests.utils import get_encoding_from_headers

from pytest_fcbench.domain.extras import list_missing_packages
from pytest_fcbench.web.client import WebReply
from pytest_fcbench.web.page_content import ENCODING, UnreadablePage, render_content

_LONGEST_CONVERSION_S = 20.0
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
