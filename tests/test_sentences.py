"""Sentences of a page are found without its code."""

from __future__ import annotations

from tests.sentences import collect_sentences, split_page

PAGE = """\
# How a page is read

One sentence has four words. Another one
goes over two lines.

    fcbench doctor is a line of code

```console
$ pytest prints what is shown here
```

| first cell with four words | few words |
|---|---|
- an item of a list
"""


def test_headings_sentences_cells_and_items_are_found_and_code_is_not() -> None:
    assert list(split_page(PAGE)) == [
        "# How a page is read",
        "One sentence has four words.",
        "Another one goes over two lines.",
        "first cell with four words",
        "- an item of a list",
    ]


def test_pages_and_messages_are_drawn_from() -> None:
    sentences = collect_sentences()
    assert any(each.startswith("README.md: ") for each in sentences)
    assert any(each.startswith("config/options.py:") for each in sentences)
