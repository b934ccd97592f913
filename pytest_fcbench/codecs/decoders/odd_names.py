"""Names that a language has no form for, in calls that are written in it: ``read-file(from='a')``.

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
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.transcript import Call

# One without an end reaches to that of the text, so that none is looked through twice.
_STRING = r"(?P<quotes>\"\"\"|'''|[\"']|(?<!`)`(?!`))(?:\\.|(?!(?P=quotes)).)*+(?:(?P=quotes)|\Z)"
_COMMENT = r"(?:#|//)[^\n]*+|/\*.*?(?:\*/|\Z)"
_RESERVED = re.compile(
    "abstract|boolean|break|byte|case|catch|char|class|const|continue|debugger|default|delete|do|"
    "double|else|enum|export|extends|false|final|finally|float|for|function|goto|if|implements|import|"
    "in|instanceof|int|interface|let|long|native|new|null|package|private|protected|public|return|"
    "short|static|strictfp|super|switch|synchronized|this|throw|throws|transient|true|try|typeof|var|"
    "void|volatile|while|with"
)
"""Words that Java or JavaScript reserves."""


def _is_odd(name: str, language: Language) -> bool:
    # Python reads letters of other forms as the usual ones.
    is_plain = name.isidentifier() and normalize("NFKC", name) == name
    is_python = language is Language.PYTHON
    return not is_plain or bool(iskeyword(name) if is_python else _RESERVED.fullmatch(name))


@dataclass(frozen=True, slots=True)
class OddNames:
    """The names of functions and of their parameters that a language has no form for."""

    functions: frozenset[str]
    parameters: frozenset[str]

    @classmethod
    def find(
        cls, docs: Iterable[FunctionDoc], shown: Iterable[str], language: Language = Language.PYTHON
    ) -> OddNames:
        """Find the odd names of docs, whose functions have the names ``shown``."""
        parameters = frozenset(name for doc in docs for name in doc.properties if _is_odd(name, language))
        parts = {name: name.split(".") for name in shown}
        functions = (name for name in parts if any(_is_odd(part, language) for part in parts[name]))
        return cls(frozenset(functions), parameters)

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
        masks: dict[str, str] = {}

        def mask_name(match: re.Match[str]) -> str:
            odd_name = match["name"]
            return masks.setdefault(odd_name, f"{stem}{len(masks)}n") if odd_name else match[0]

        masked_text = re.sub(f"(?P<name>{name})|{_STRING}|{_COMMENT}", mask_name, text, flags=re.DOTALL)
        names = {mask: name for name, mask in masks.items()}

        def restore_names(value: object) -> object:
            if isinstance(value, str):
                return re.sub(rf"{stem}\d+n", lambda match: names.get(match[0], match[0]), value)
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
            for call in read(masked_text)
        )
