"""Names that Python has no form for, in calls that are written as Python: ``read-file(from='a')``.

Models write a function or a parameter as its doc names it, and many tools have names with a hyphen or a word
such as ``from``. Official readers refuse such a text. Here such names of the functions that are offered are
masked before the text is read, and written back into the calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from keyword import iskeyword
from unicodedata import normalize

from pytest_fcbench.codecs.decoders.syntax import TextReader
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.transcript import Call

_STRING = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""


def _is_odd(name: str) -> bool:
    # Python reads letters of other forms as the usual ones.
    return not name.isidentifier() or iskeyword(name) or normalize("NFKC", name) != name


@dataclass(frozen=True, slots=True)
class OddNames:
    """The names of functions and of their parameters that Python has no form for."""

    functions: frozenset[str]
    parameters: frozenset[str]

    @classmethod
    def find(cls, docs: Iterable[FunctionDoc], shown: Iterable[str]) -> OddNames:
        """Find the odd names of docs, whose functions have the names ``shown``."""
        functions = frozenset(name for name in shown if any(map(_is_odd, name.split("."))))
        return cls(functions, frozenset(name for doc in docs for name in doc.properties if _is_odd(name)))

    def read_calls(self, text: str, read: TextReader) -> tuple[Call, ...]:
        """Read the calls of a text that may have these names. Raises what ``read`` raises."""
        if not (self.functions or self.parameters):
            return read(text)
        # The longest first, because one name can begin like another.
        function, parameter = (
            "|".join(map(re.escape, sorted(names, key=len, reverse=True))) or "(?!)"
            for names in (self.functions, self.parameters)
        )
        name = rf"(?<![\w.-])(?:(?:{function})(?=\s*\()|(?:{parameter})(?=\s*=(?!=)))"
        stem = "name"
        while stem in text:
            stem += "_"
        known: dict[str, str] = {}

        def mask_name(match: re.Match[str]) -> str:
            found = match[0]
            return found if found[0] in "'\"" else known.setdefault(found, f"{stem}{len(known)}n")

        masked = re.sub(f"{_STRING}|{name}", mask_name, text, flags=re.DOTALL)
        names = {mask: name for name, mask in known.items()}

        def restore_names(value: object) -> object:
            if isinstance(value, str):
                return re.sub(rf"{stem}\d+n", lambda match: names[match[0]], value)
            if isinstance(value, dict):
                return {restore_names(key): restore_names(member) for key, member in value.items()}
            if isinstance(value, (list, tuple)):
                return type(value)(map(restore_names, value))
            return value

        return tuple(
            replace(
                call,
                name=str(restore_names(call.name)),
                arguments={
                    str(restore_names(name)): restore_names(value) for name, value in call.arguments.items()
                },
                positional=tuple(map(restore_names, call.positional)),
            )
            for call in read(masked)
        )
