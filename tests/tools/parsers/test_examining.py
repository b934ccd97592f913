"""Answers are cut into tokens as a model writes them, with the marks of syntaxes whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import normalizers

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.tools.parsers.examining import build_tokenizer, load_tokenizer, split_tokens

TEXT = '<tool_call>\n{"city": "Malmö 東京 🚢"}\n</tool_call>'
MARKS = ["<tool_call>", "</tool_call>", "<｜tool▁sep｜>"]


def test_pieces_are_the_text_and_marks_stay_whole() -> None:
    pieces = split_tokens(build_tokenizer(MARKS, [TEXT]), f"{TEXT}<｜tool▁sep｜>")
    assert "".join(each.text for each in pieces) == f"{TEXT}<｜tool▁sep｜>"
    assert pieces[0].text == "<tool_call>"
    assert [each.text for each in pieces[-3:]] == ["</tool_call>", "<｜tool▁sep｜>", ""]
    assert all(len(each.token_ids) == 1 for each in pieces)


def test_a_character_of_several_tokens_comes_with_the_last_of_them() -> None:
    pieces = split_tokens(build_tokenizer(MARKS, ["plain"]), "ö🚢")
    assert [each.text for each in pieces] == ["", "ö", "", "", "", "🚢", ""]


def test_a_tokenizer_that_changes_texts_is_refused() -> None:
    tokenizer = build_tokenizer(MARKS, [TEXT])
    tokenizer.normalizer = normalizers.Lowercase()
    assert split_tokens(tokenizer, "malmö")
    with pytest.raises(UsageError, match="the tokens of 'Malmö' become 'malmö'; name the tokenizer of a"):
        split_tokens(tokenizer, "Malmö")


def test_a_tokenizer_is_loaded_from_its_file_or_folder(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    built = build_tokenizer(MARKS, [TEXT])
    built.save(str(file))
    for path in (file, tmp_path):
        assert split_tokens(load_tokenizer(path), TEXT) == split_tokens(built, TEXT)
    with pytest.raises(UsageError, match=r"--tokenizer=.*none\.json: .*name the file tokenizer\.json"):
        load_tokenizer(tmp_path / "none.json")
