"""Cut the text of an answer into the tokens that a model would write it in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from tokenizers.decoders import DecodeStream

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.tools.parsers.engine import Piece

_MORE_MARKS = (
    *("<think>", "</think>", "<seed:think>", "</seed:think>", "<tool_response>", "</tool_response>"),
    *("<response>", "</response>", "<|channel>", "<channel|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    *("<|START_THINKING|>", "<|END_THINKING|>", "<|begin_of_text|>", "<|end_of_text|>", "<|im_start|>"),
)
"""Special tokens that no syntax of calls has, but that parsers look up when they are made."""
_END = "<|im_end|>"
"""The token that ends an answer; no text is decoded from it."""
_PART = r" ?\p{L}+| ?\p{N}| ?[^\s\p{L}\p{N}]{1,2}|\s"
"""What a token may hold at most: a word, a digit, or two signs.

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
        raise UsageError(
            f"--tokenizer={path}: {error}; name the file tokenizer.json of a model, or its folder"
        ) from error


def split_tokens(tokenizer: Tokenizer, text: str) -> tuple[Piece, ...]:
    """Split the text of an answer into a piece for each token; the last piece is the empty end.

    A token within a character has no text, as in a server: the last one of the character has it.
    """
    stream = DecodeStream(skip_special_tokens=False)
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    pieces = [Piece(stream.step(tokenizer, each) or "", (each,)) for each in ids]
    end = tokenizer.token_to_id(_END)
    return (*pieces, Piece("", () if end is None else (end,)))
