"""A report as one text, and a page taken apart by the standard library's HTML parser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.html.island import Knowledge
from pytest_fcbench.present.html.page import generate_report
from pytest_fcbench.scorecard.scorecard_files import Scorecard


def render_report(
    scorecards: Sequence[Scorecard], knowledge: Knowledge, profile: Profile, against: Scorecard | None = None
) -> str:
    """Render a report as one text."""
    return "".join(generate_report(scorecards, knowledge, profile, against))


@dataclass
class Element:
    """A start tag and the text directly in it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Parsed(HTMLParser):
    """All elements of a page in order."""

    page: str
    elements: list[Element] = field(default_factory=list)
    _open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in ("meta", "link", "input", "wbr", "br"):
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> ends nothing"
        assert self._open[-1].tag == tag, f"</{tag}> ends {self._open[-1].tag}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open[-1].text += data

    def find_all(self, tag: str) -> list[Element]:
        """Return the elements of a kind."""
        return [element for element in self.elements if element.tag == tag]

    def read_texts(self, tag: str) -> list[str]:
        """Return the text directly in each element of a kind."""
        return [" ".join(element.text.split()) for element in self.find_all(tag)]
