"""Brackets, code fences and tags around the calls of a text."""

from __future__ import annotations

import re


def add_brackets(text: str) -> str:
    """Make a text a bracketed list as BFCL does: bare backticks, spaces and line ends go first."""
    # Tabs and carriage returns stay (official), so that such a text gets a bracket too many.
    text = text.strip("`\n ")
    if not text.startswith("["):
        text = "[" + text
    return text if text.endswith("]") else text + "]"


def strip_fence(text: str) -> str:
    """Strip white space and a code fence that wraps all of a text."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and len(text) >= 6:
        text = text[3:-3]
        first, line_end, rest = text.partition("\n")
        if line_end and re.fullmatch(r"[\w+-]*", first.strip()):
            # The first line of a fence names the language.
            text = rest
        elif language := re.match(r"[\w+-]++[ \t]++(?=\[)", text):
            text = text[language.end() :]
    return text.strip().strip("`").strip()


def strip_brackets(text: str) -> str:
    """Return the inside of a list that may be fenced, without a separator at its end."""
    text = strip_fence(text)
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return text.strip().rstrip(";,")


OPENING, CLOSING = "<TOOLCALL>", "</TOOLCALL>"


def find_between(text: str, opening: str, closing: str, start: int = 0) -> tuple[int, int] | None:
    """Return the beginning and the end of the first text between two marks, without the marks."""
    begin = text.find(opening, start)
    if begin < 0:
        return None
    begin += len(opening)
    end = text.find(closing, begin)
    return None if end < 0 else (begin, end)


def find_all_between(text: str, opening: str, closing: str) -> list[str]:
    """Return all texts between two marks, in time that grows with the length of the text only."""
    texts, at = [], 0
    while place := find_between(text, opening, closing, at):
        texts.append(text[slice(*place)])
        at = place[1] + len(closing)
    return texts
