"""Open the parsers of an engine, each with its syntax, and cut texts into tokens as a stream does.

This module imports packages of the engine and of the extra ``parsers``, so it is imported late.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from tokenizers.decoders import DecodeStream

from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.text import shorten_text
from pytest_fcbench.tools.parsers.engine import ENGINES, Piece, open_engine
from pytest_fcbench.tools.parsers.matrix import Examiner
from pytest_fcbench.tools.parsers.truths import Truth, write_texts

_MORE_MARKS = (
    *("<think>", "</think>", "<seed:think>", "</seed:think>", "<tool_response>", "</tool_response>"),
    *("<response>", "</response>", "<|channel>", "<channel|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    *("<|START_THINKING|>", "<|END_THINKING|>", "<|begin_of_text|>", "<|end_of_text|>", "<|im_start|>"),
)
"""Special tokens that no syntax of calls has, but that parsers look up when they are made."""
_END = "<|im_end|>"
"""The token that ends an answer; no text is decoded from it."""
_PART = r" ?\p{L}+| ?\p{N}| ?[^\s\p{L}\p{N}]{1,2}|\s"
"""The longest tokens that are simulated: a word, a digit, or two signs.

Trained on calls alone, a tokenizer would make a single token of what usually ends one.
"""
_SIZE = 4_000


def build_tokenizer(marks: Iterable[str], texts: Iterable[str]) -> Tokenizer:
    """Build a small byte-level tokenizer from texts, in which each mark is a special token."""
    special_tokens = [*dict.fromkeys((_END, *marks, *_MORE_MARKS))]
    tokenizer = Tokenizer(models.BPE())
    parts = pre_tokenizers.Split(Regex(_PART), "isolated")
    signs = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([parts, signs])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_SIZE + len(special_tokens),
        show_progress=False,
        special_tokens=special_tokens,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def load_tokenizer(path: Path) -> Tokenizer:
    """Load the tokenizer of a model from its ``tokenizer.json``, or its folder. Raises ``UsageError``."""
    file = path / "tokenizer.json" if path.is_dir() else path
    try:
        return Tokenizer.from_file(str(file))
    # The library raises nothing more precise.
    except Exception as error:
        way_out = "name the file tokenizer.json of a model, or its folder"
        raise UsageError(f"--tokenizer={path}: {error}; {way_out}") from error


def split_tokens(tokenizer: Tokenizer, text: str) -> tuple[Piece, ...]:
    """Split the text of an answer into a piece for each token; the last piece is the empty end.

    A token within a character has no text, as in a server: the last one of the character has it. Raises
    ``UsageError`` where the tokens do not give the text back.
    """
    stream = DecodeStream(skip_special_tokens=False)
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    pieces = [Piece(stream.step(tokenizer, each) or "", (each,)) for each in ids]
    # A parser would be blamed for what a tokenizer has changed, such as capitals.
    if (decoded_text := "".join(each.text for each in pieces)) != text:
        texts = f"{shorten_text(text, 60)!r} become {shorten_text(decoded_text, 60)!r}"
        raise UsageError(f"--tokenizer: the tokens of {texts}; name the tokenizer of a model that calls")
    end = tokenizer.token_to_id(_END)
    return (*pieces, Piece("", () if end is None else (end,)))


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
        # As at the start of the server, a tokenizer may lack tokens, or the environment a package.
        except Exception as error:  # noqa: BLE001 - each engine raises errors of its own
            opened.untested[parser] = str(error)
            continue
        if parser not in rows:
            opened.untested[parser] = "its syntax is not written here"
        for syntax in rows.get(parser, ()):
            split = partial(split_tokens, tokenizer)
            opened.examiners[parser, syntax] = Examiner(tool_parser, NATIVE_SYNTAXES[syntax], split)
    return opened
