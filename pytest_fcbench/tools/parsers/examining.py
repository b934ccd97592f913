"""Open the parsers of an installed engine with the syntaxes that they read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.tools.parsers.engine import ENGINES, UnusableParser, open_engine
from pytest_fcbench.tools.parsers.matrix import Examiner
from pytest_fcbench.tools.parsers.tokens import build_tokenizer, load_tokenizer, split_tokens
from pytest_fcbench.tools.parsers.truths import Truth, write_texts

_TRAINED = 50
"""Truths whose texts a tokenizer is built from."""


@dataclass(frozen=True, slots=True)
class OpenEngine:
    """The parsers of an engine that can be examined, each with a syntax, and those that cannot."""

    version: str
    examiners: dict[tuple[str, str], Examiner]
    """By parser and syntax."""
    untested: dict[str, str]
    """Why a parser is not examined."""


def open_parsers(
    name: str, truths: Sequence[Truth], parsers: Sequence[str] = (), tokenizer_path: Path | None = None
) -> OpenEngine:
    """Import an engine and open its parsers, all of them without ``parsers``. Raises ``UsageError``.

    Without a path a tokenizer is built, in which the marks of all syntaxes are special tokens.
    """
    if tokenizer_path:
        tokenizer = load_tokenizer(tokenizer_path)
    else:
        syntaxes = NATIVE_SYNTAXES.values()
        marks = [mark for syntax in syntaxes for mark in syntax.marks]
        texts = (text for syntax in syntaxes for text, _ in write_texts(truths[:_TRAINED], syntax))
        tokenizer = build_tokenizer(marks, texts)
    engine, rows = open_engine(name, tokenizer), ENGINES[name].syntaxes
    for parser in parsers:
        if parser not in engine.parsers:
            text = describe_unknown_name("parser", parser, engine.parsers)
            raise UsageError(f"--parser {parser}: {name} {engine.version}: {text}")
    opened = OpenEngine(engine.version, {}, {})
    for parser in parsers or engine.parsers:
        try:
            tool_parser = engine.open_parser(parser)
        except UnusableParser as error:
            opened.untested[parser] = str(error)
            continue
        if parser not in rows:
            opened.untested[parser] = "its syntax is not written here"
        for syntax in rows.get(parser, ()):
            split = partial(split_tokens, tokenizer)
            opened.examiners[parser, syntax] = Examiner(tool_parser, NATIVE_SYNTAXES[syntax], split)
    return opened
