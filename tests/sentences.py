"""Draw sentences of docs, help texts and messages: ``python -m tests.sentences --draw N SEED``.

The same seed draws the same sentences of the same texts, so that a second reader can check the first.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator, Sequence

from tests.house import PACKAGE, ROOT
from tests.messages import collect_messages

_CODE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$|^ {4}[^\n]*$|<!--.*?-->", re.MULTILINE | re.DOTALL)
_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z*`\[])")
_LEAST_WORDS = 4


def split_page(text: str) -> Iterator[str]:
    """Yield the sentences, headings and cells of a page in Markdown; code blocks are left out."""
    for paragraph in re.split(r"\n\s*\n|\n(?=[-#|*] ?)", _CODE.sub("", text)):
        cells = paragraph.strip("| \n").split(" | ") if paragraph.lstrip().startswith("|") else [paragraph]
        for cell in cells:
            for sentence in _END.split(" ".join(cell.split())):
                if len(sentence.split()) >= _LEAST_WORDS:
                    yield sentence


def collect_sentences() -> Sequence[str]:
    """Return every sentence with the place where it stands."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = [f"{path.name}: {sentence}" for path in pages for sentence in split_page(path.read_text("utf-8"))]
    return [*found, *map(str, collect_messages(ROOT / PACKAGE))]


def main() -> None:
    """Print the drawn sentences, or how many there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", nargs=2, type=int, metavar=("N", "SEED"))
    drawn = parser.parse_args().draw
    sentences = collect_sentences()
    if drawn is None:
        print(f"{len(sentences):,} sentences")
        return
    print(*random.Random(drawn[1]).sample(sentences, drawn[0]), sep="\n")


if __name__ == "__main__":
    main()
