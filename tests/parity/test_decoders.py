"""Every official handler's reading of texts, and ours in the syntax of its family."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pytest_fcbench.codecs.decoders.registry import list_calls_to_make, read_official
from pytest_fcbench.codecs.decoders.syntax import WRONG_FORMAT, Calls
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.models.official_models import list_official_families
from tests.codecs.decoders.test_families import READ
from tests.parity.official_package import NEEDS_OFFICIAL, run_official
from tests.parity.test_prompt_formats import mutate_text

Answer = tuple[str, str, bool, str]
"""The syntax, the class of the handler, whether it asks by function calling, a text."""

TEXTS = {
    (family.syntax, family.handler): family.mode is Mode.FC
    for family in list_official_families()
    # The lists of interfaces are no texts.
    if family.syntax not in ("tool_calls", "cohere", "gemini", "nova")
}
# A result that is evaluated must not be able to do anything.
SAFE = [row[1] for row in READ.values() if "import" not in row[1]]


def draw_answers(count: int) -> Iterator[Answer]:
    """Draw mutated texts for each handler, most of them in its own syntax."""
    chance = random.Random(26)
    for (syntax, handler), by_tools in TEXTS.items():
        own = [text for _, (name, text, *_) in READ.items() if name == syntax and text in SAFE]
        for number in range(count):
            text = chance.choice(own) if own and number % 4 else chance.choice(SAFE)
            yield (
                syntax,
                handler,
                by_tools,
                mutate_text(text, chance) if number >= len(SAFE) else SAFE[number],
            )


def read_ours(syntax: str, text: str) -> dict[str, object]:
    """Return our reading in the form of the official one."""
    completion = Completion(text=text)
    reading = read_official(completion, syntax, Language.PYTHON)
    read: object = "wrong" if not isinstance(reading, Calls) and reading.code == WRONG_FORMAT else "failed"
    if isinstance(reading, Calls):
        read = [[call.name, repr(dict(call.arguments))] for call in reading.calls]
    return {"read": read, "texts": list(list_calls_to_make(completion, syntax))}


@NEEDS_OFFICIAL
def test_every_handler_reads_texts_as_ours_does(tmp_path: Path) -> None:
    asked = list(draw_answers(600))
    rows = ([handler, by_tools, "python", text] for _, handler, by_tools, text in asked)
    readings = run_official(Path(__file__).with_name("decoders_official.py"), tmp_path, rows)
    kinds: Counter[tuple[str, str]] = Counter()
    for (syntax, handler, _, text), official in zip(asked, readings, strict=True):
        # The name of what is behind ** differs, None there and ** here; no function has such a parameter.
        if "**" not in text:
            assert read_ours(syntax, text) == official, (handler, text)
        kinds[handler, "calls" if isinstance(official["read"], list) else "none"] += 1
    assert min(kinds[handler, "calls"] for _, handler in TEXTS) > 20, kinds
