"""Calls of FunctionGemma: ``<start_function_call>call:name{key:value}<end_function_call>``.

Official: ``FunctionGemmaHandler``. Texts stand between ``<escape>`` marks; all else is a number, ``true``,
``false``, ``null`` or a bare text. What stands where nothing can is dropped, so that no text is unreadable.
"""

from __future__ import annotations

import re

from pytest_fcbench.codecs.call_texts import write_spaced
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.codecs.decoders.wrapping import find_all_between
from pytest_fcbench.codecs.syntax_trees import convert_number
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
            calls.append(Call(name.strip(), _Arguments().read(brace + rest) if brace else {}))
    return tuple(calls)


class _Arguments:
    """Reads the arguments of one call piece by piece, with the order of steps of the official parser."""

    def __init__(self) -> None:
        self._root: list[object] = []
        self._open: list[list[object] | dict[str, object]] = [self._root]
        """The lists and objects around the place that is read."""
        self._keys: list[str | None] = []
        """The key whose value is next, one for each object that was opened."""
        self._last: object = None
        """A value that had no key in its object: the key, if a colon follows."""

    def read(self, text: str) -> dict[str, object]:
        """Return the object at the beginning of a text."""
        at = 0
        for piece in _PIECE.finditer(text):
            self._add_word(text[at : piece.start()])
            at = piece.end()
            if mark := piece["mark"]:
                self._follow(mark)
            else:
                self._add(piece["text"] if piece["open"] is None else piece["open"])
        self._add_word(text[at:])
        return self._root[0] if self._root and isinstance(self._root[0], dict) else {}

    def _follow(self, mark: str) -> None:
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
                self._last = None
            case ":":
                key, self._last = self._last, None
                if key is not None and self._keys and isinstance(self._open[-1], dict):
                    self._keys[-1] = str(key)
            case _:
                self._last = None

    def _enter(self, value: list[object] | dict[str, object]) -> None:
        if len(self._open) > _DEEPEST:
            raise Undecodable("the arguments are nested too deeply")
        self._add(value)
        self._open.append(value)
        self._last = None

    def _add_word(self, text: str) -> None:
        if word := text.strip():
            self._add(_WORDS[word] if word in _WORDS else convert_number(word, (int, float), word))

    def _add(self, value: object) -> None:
        innermost = self._open[-1]
        if isinstance(innermost, list):
            innermost.append(value)
        elif (key := self._keys[-1] if self._keys else None) is not None:
            innermost[key] = value
            self._keys[-1] = None
        else:
            self._last = value


FUNCTIONGEMMA = read_json_calls(parse_functiongemma, lambda text: _START in text, write=write_spaced)
