"""The calls of FunctionGemma, and their official reader."""

from __future__ import annotations

import re

from pytest_fcbench.codecs.decoders.syntax import Undecodable, find_all_between, read_json_calls, write_spaced
from pytest_fcbench.codecs.decoders.syntax_trees import convert_number
from pytest_fcbench.domain.transcript import Call

_START, _END = "<start_function_call>", "<end_function_call>"
_PREFIX = "call:"
_PIECE = re.compile(r"<escape>(?P<text>.*?)<escape>|(?P<open><escape>.*)|(?P<mark>[{}\[\]:,])", re.DOTALL)
_WORDS = {"null": None, "true": True, "false": False}
_DEEPEST = 200
"""The official parser knows no limit; what is nested deeper could not be compared."""


def parse_functiongemma(text: str) -> tuple[Call, ...]:
    """Read every call of a text. Raises ``Undecodable`` for what is nested too deeply."""
    calls = []
    for piece in find_all_between(text, _START, _END):
        if (call_text := piece.strip()).startswith(_PREFIX):
            name, brace, rest = call_text.removeprefix(_PREFIX).partition("{")
            calls.append(Call(name.strip(), _ArgumentsReader().read(brace + rest) if brace else {}))
    return tuple(calls)


class _ArgumentsReader:
    """Reads the arguments of one call piece by piece, in the order in which the official parser does."""

    def __init__(self) -> None:
        self._root: list[object] = []
        self._open: list[list[object] | dict[str, object]] = [self._root]
        """The lists and objects that are not closed yet, the innermost last."""
        self._keys: list[str | None] = []
        """For each open object the key whose value is next."""
        self._pending_key: object = None
        """The last value without a key in its object, which becomes the key if a colon follows."""

    def read(self, text: str) -> dict[str, object]:
        """Return the object at the beginning of a text."""
        at = 0
        for piece in _PIECE.finditer(text):
            self._add_word(text[at : piece.start()])
            at = piece.end()
            if mark := piece["mark"]:
                self._follow_mark(mark)
            else:
                self._add_value(piece["text"] if piece["open"] is None else piece["open"])
        self._add_word(text[at:])
        return self._root[0] if self._root and isinstance(self._root[0], dict) else {}

    def _follow_mark(self, mark: str) -> None:
        match mark:
            case "{":
                members: dict[str, object] = {}
                self._enter(members)
                self._keys.append(None)
            case "[":
                self._enter([])
            case "}" | "]":
                # Official: the kinds of brackets are not compared.
                if len(self._open) > 1:
                    self._open.pop()
                    if mark == "}" and self._keys:
                        self._keys.pop()
                self._pending_key = None
            case ":":
                key, self._pending_key = self._pending_key, None
                if key is not None and self._keys and isinstance(self._open[-1], dict):
                    self._keys[-1] = str(key)
            case _:
                self._pending_key = None

    def _enter(self, value: list[object] | dict[str, object]) -> None:
        if len(self._open) > _DEEPEST:
            raise Undecodable("the arguments are nested too deeply")
        self._add_value(value)
        self._open.append(value)
        self._pending_key = None

    def _add_word(self, text: str) -> None:
        if word := text.strip():
            self._add_value(_WORDS[word] if word in _WORDS else convert_number(word, (int, float), word))

    def _add_value(self, value: object) -> None:
        innermost = self._open[-1]
        if isinstance(innermost, list):
            innermost.append(value)
        elif (key := self._keys[-1] if self._keys else None) is not None:
            innermost[key] = value
            self._keys[-1] = None
        else:
            self._pending_key = value


FUNCTIONGEMMA = read_json_calls(parse_functiongemma, lambda text: _START in text, write=write_spaced)
"""Calls of FunctionGemma: ``<start_function_call>call:name{key:value}<end_function_call>``.

Official: ``FunctionGemmaHandler``. Texts stand between ``<escape>`` marks; all else is a number, ``true``,
``false``, ``null`` or a bare text. What is out of place is dropped, so that no text is unreadable.
"""
