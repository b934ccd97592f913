"""The call syntaxes of families that put tags around their calls, each with its official reader.

The published verdicts of these models rest on the readings of their official handlers (``bfcl_eval``'s
``model_handler``), which is why each is followed to the letter in the official profile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pytest_fcbench.codecs.decoders import syntax
from pytest_fcbench.codecs.decoders.python import (
    evaluate_text,
    parse_official,
    parse_official_statements,
    read_unwrapped,
)
from pytest_fcbench.codecs.decoders.syntax import Syntax, Undecodable, WrongFormat, from_json, read_json_calls
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call, ToolCall, drop_official_reasoning

_TAGGED_OPENING = re.compile(r"<tool_call>\s*\{")


def find_tagged_texts(text: str) -> list[str]:
    """Return the texts between the tags."""
    return syntax.find_all_between(text, "<tool_call>\n", "\n</tool_call>")


def parse_tagged(text: str) -> tuple[Call, ...]:
    """Read the objects between the tags that are JSON. Raises ``Undecodable``."""
    values = []
    for piece in find_tagged_texts(text):
        try:
            values.append(from_json(piece))
        except Undecodable:
            continue
    try:
        return syntax.read_named_calls(values)
    except WrongFormat as error:
        # Official: arguments that are no object end the reader before their form is checked.
        raise Undecodable(str(error)) from None


QWEN = read_json_calls(
    lambda text: parse_tagged(drop_official_reasoning(text)),
    lambda text: bool(_TAGGED_OPENING.search(text)),
)
"""Calls of Qwen and its kin: JSON objects, each between a ``<tool_call>`` and a ``</tool_call>`` line.

Official: ``QwenFCHandler``, ``NanbeigeFCHandler``, ``PelicanVLFCHandler``, which read behind the reasoning.
What is no JSON between the lines is left out.
"""
GRANITE_4 = read_json_calls(parse_tagged)
"""Calls of Granite 4, written as those of Qwen, but without reasoning. Official: ``Granite4FCHandler``."""


def decode_lists(texts: Iterable[str]) -> list[object]:
    """Decode lists of calls, whose brackets may be missing; a text that is no JSON stays a text.

    Raises ``Undecodable`` for a text in a list that is no Python literal.
    """
    values: list[object] = []
    for text in texts:
        # Official: a bracket at one end keeps the other from being added.
        if not text.startswith("[") and not text.endswith("]"):
            text = f"[{text}]"
        value = syntax.decode_leniently(text, text)
        if isinstance(value, list):
            values += [evaluate_text(item) if isinstance(item, str) else item for item in value]
        else:
            values.append(value)
    return values


def read_plain_calls(values: Sequence[object]) -> tuple[Call, ...]:
    """Read objects that have a name and arguments and nothing else.

    Raises ``Undecodable`` where there is no object or one has other members, and ``WrongFormat``.
    """
    if not values or any(
        not isinstance(value, dict) or value.keys() != {"name", "arguments"} for value in values
    ):
        raise Undecodable("the model did not return a list of calls")
    return syntax.read_named_calls(list(values))


def parse_arch(text: str) -> tuple[Call, ...]:
    """Read every tagged object, as JSON or else as a Python literal.

    Raises ``Undecodable``, ``WrongFormat``.
    """
    texts = find_tagged_texts(text)
    if not texts:
        raise Undecodable("the model did not return a list of calls")
    values = [syntax.decode_leniently(piece, piece) for piece in texts]
    return syntax.read_named_calls(
        [evaluate_text(value) if isinstance(value, str) else value for value in values]
    )


ARCH = replace(read_json_calls(parse_arch), parts=syntax.read_calls_only)
"""Calls of Arch-Agent: JSON objects between ``<tool_call>`` and ``</tool_call>`` lines.

Official: ``ArchHandler``. A text without one is no answer that can be read.
"""


_FALCON_OPENING = re.compile(r"<tool_call>\s*(?:```(?:json)?\s*)?\[")


def parse_falcon(text: str) -> tuple[Call, ...]:
    """Read a JSON list of calls, or one call, between the first tags.

    Raises ``Undecodable``, ``WrongFormat``.
    """
    _, tag, rest = text.partition("<tool_call>")
    if not tag:
        raise Undecodable("there is no <tool_call> tag")
    # Official: a second opening tag ends the text, as a closing one does.
    inside = rest.split("<tool_call>")[0].split("</tool_call>")[0].strip()
    if inside.startswith("```") and inside.endswith("```"):
        inside = inside.strip("`").strip()
        inside = inside.removeprefix("json").strip()
    return syntax.read_named_calls(from_json(inside))


FALCON = read_json_calls(parse_falcon, lambda text: bool(_FALCON_OPENING.match(text)))
"""Calls of Falcon 3: JSON behind the first ``<tool_call>``, which may be fenced.

Official: ``Falcon3FCHandler``.
"""


_GRANITE_TAG = "<function_call>"
_PLAIN_TAG = re.compile(r"<tool_call>(.*)", re.DOTALL)
_TOKEN_TAG = re.compile(r"<\|tool_call\|>(.*)", re.DOTALL)


def parse_granite_20b(text: str) -> tuple[Call, ...]:
    """Read one JSON object behind each tag. Raises ``Undecodable``, ``WrongFormat``.

    Official: what is no JSON stays among the calls as text, which makes the list one of a wrong format.
    """
    parts = list(_read_granite_parts(text))
    calls = [part for part in parts if isinstance(part, Call)]
    if len(calls) < len(parts):
        raise WrongFormat("there is text among the calls")
    return tuple(calls)


def read_granite_texts(text: str) -> tuple[str, ...]:
    """Read the calls to carry out, texts among them. Raises ``Undecodable``, ``WrongFormat``."""
    return tuple(
        part if isinstance(part, str) else syntax.write_joined([part])[0]
        for part in _read_granite_parts(text)
    )


def _read_granite_parts(text: str) -> Iterator[Call | str]:
    for piece in filter(None, map(str.strip, text.split(_GRANITE_TAG))):
        try:
            value = from_json(piece)
        except Undecodable:
            yield piece
            continue
        if not isinstance(value, dict) or not isinstance(name := value.get("name", ""), str):
            raise Undecodable("expected an object with a name")
        if name.strip() == "no_function":
            yield "No function is called"
        else:
            yield syntax.as_call(name.strip(), value.get("arguments", {}))


def parse_granite_3(text: str) -> tuple[Call, ...]:
    """Read the list of calls behind the first tag. Raises ``Undecodable``, ``WrongFormat``."""
    # Official: the letters of the role are cut off at the beginning, not the word.
    text = text.lstrip("AINST:").lstrip()
    tag = _TOKEN_TAG
    if "<tool_call>" in text:
        text, tag = text.replace("</tool_call>", ""), _PLAIN_TAG
    return read_plain_calls(decode_lists(map(str.strip, tag.findall(text))))


GRANITE_20B = replace(
    read_json_calls(parse_granite_20b, lambda text: text.startswith(_GRANITE_TAG)),
    execution_reader=read_granite_texts,
)
"""Calls of Granite 20B: ``<function_call>`` before each. Official: ``GraniteFunctionCallingHandler``."""
GRANITE_3 = replace(read_json_calls(parse_granite_3), parts=syntax.read_calls_only)
"""Calls of Granite 3: a tagged JSON list. Official: ``Granite3FCHandler``."""


def parse_hermes(text: str) -> tuple[Call, ...]:
    """Read one JSON object a line between ``<tool_call>`` and ``</tool_call>``; other text is no call."""
    calls: list[Call] = []
    inside = False
    for line in text.split("\n"):
        if line in ("<tool_call>", "</tool_call>"):
            inside = line == "<tool_call>"
        elif inside:
            # Official: every single quote is turned into a double one before a line is parsed.
            calls += syntax.read_named_calls([from_json(line.replace("'", '"'))])
    return tuple(calls)


def parse_hermes_as_texts(text: str) -> tuple[Call, ...]:
    """Read the calls of a text with every argument as text, as is official for Java and JavaScript."""
    return tuple(
        Call(call.name, {name: str(value) for name, value in call.arguments.items()})
        for call in parse_hermes(text)
    )


_HERMES_READERS = {**dict.fromkeys(Language, parse_hermes_as_texts), Language.PYTHON: parse_hermes}

HERMES = Syntax(Mode.FC, official=_HERMES_READERS, corrected=_HERMES_READERS)
"""Calls of Hermes: one JSON object a line between ``<tool_call>`` and ``</tool_call>``.

Official: ``HermesHandler`` of versions 1 to 3. Today's handlers of Qwen and others read the same layout in
another way, see ``QWEN``.
"""


_MINICPM_START, _MINICPM_END = "<|tool_call_start|>", "<|tool_call_end|>"
_MINICPM_OPENING = re.compile(re.escape(_MINICPM_START) + r"(?!\s*\[)")
_THOUGHT_START, _THOUGHT_END = "<|thought_start|>", "<|thought_end|>"


def parse_minicpm(text: str) -> tuple[Call, ...]:
    """Read every statement between the tags as a call. Raises ``Undecodable``, ``WrongFormat``."""
    if not (calls := _find_minicpm_calls(text)):
        raise WrongFormat("the answer has no calls that can be read")
    return calls


def read_minicpm_texts(text: str) -> tuple[str, ...]:
    """Read the calls to carry out. Raises ``Undecodable``."""
    return syntax.write_spaced(_find_minicpm_calls(text))


def _find_minicpm_calls(text: str) -> tuple[Call, ...]:
    if _THOUGHT_START in text and _THOUGHT_END in text:
        reasoning, _, text = text.rpartition(_THOUGHT_END)
        _select_behind(_THOUGHT_START, reasoning)
    if _MINICPM_START not in text or _MINICPM_END not in text:
        return ()
    inside = _select_behind(_MINICPM_START, text.rpartition(_MINICPM_END)[0]).strip()
    if inside.startswith("```"):
        inside = inside.lstrip("`").strip()
        if inside.startswith("python"):
            # Official: the letters are cut off, not the word.
            inside = inside.lstrip("python").strip()
    if inside.endswith("```"):
        inside = inside.rstrip("`").strip()
    try:
        return parse_official_statements(inside)
    except Undecodable:
        return ()


def _select_behind(mark: str, text: str) -> str:
    _, separator, rest = text.partition(mark)
    if not separator:
        raise Undecodable(f"{mark} stands behind the mark that ends it")
    return rest


MINICPM = replace(
    read_json_calls(
        parse_minicpm,
        lambda text: bool(_MINICPM_OPENING.search(text)) or text.startswith(_THOUGHT_START),
    ),
    write=syntax.write_spaced,
    execution_reader=read_minicpm_texts,
)
"""Calls of MiniCPM 3: Python statements between ``<|tool_call_start|>`` and ``<|tool_call_end|>``, fenced.

Official: ``MiniCPMFCHandler``. An answer without calls that can be read is its own text, so it is of a wrong
format and not unreadable; to carry out it has none.
"""


_MINING_OPENING, _MINING_CLOSING = "<tool_calls>\n", "\n</tool_calls>"
_MINING_LIST = re.compile(_MINING_OPENING + r"\s*[\[{]")


def parse_mining(text: str) -> tuple[Call, ...]:
    """Read the list between the first tags, or a bare one. Raises ``Undecodable``, ``WrongFormat``."""
    return syntax.read_members(_decode_mining_list(text))


def read_mining_texts(text: str) -> tuple[str, ...]:
    """Read the calls to carry out; what is no object is left out. Raises ``WrongFormat``."""
    return syntax.write_lenient_calls(_decode_mining_list(text))


def _decode_mining_list(text: str) -> object:
    """Decode the list between the first tags; a text that is no JSON stays a text."""
    place = syntax.find_between(text, _MINING_OPENING, _MINING_CLOSING)
    list_text = text[slice(*place)].strip() if place else text
    return syntax.decode_leniently(list_text, list_text)


def read_mining_objects(parts: Sequence[ToolCall | str]) -> tuple[Call, ...]:
    """Read a list of calls, which officially are never those of an interface.

    The handler expects ``{"name": ..., "arguments": ...}`` where the interface's calls are kept as ``{name:
    arguments}``, so it fails at every one. Raises ``Undecodable``, ``WrongFormat``.
    """
    if any(isinstance(part, ToolCall) for part in parts):
        raise Undecodable('expected objects with "name" and "arguments", not calls of the interface')
    return syntax.read_vendor_objects(parts, "name", "arguments")


def read_mining_object_texts(parts: Sequence[ToolCall | str]) -> tuple[str, ...]:
    """Read the calls to carry out; calls of the interface are not among them."""
    objects = [{} if isinstance(part, ToolCall) else from_json(part) for part in parts]
    return syntax.write_lenient_calls(objects)


MINING = replace(
    read_json_calls(parse_mining, lambda text: bool(_MINING_LIST.search(text))),
    parts=read_mining_objects,
    write=syntax.write_spaced,
    execution_reader=read_mining_texts,
    execution_parts_reader=read_mining_object_texts,
)
"""Calls of xiaoming and DM-Cito: a JSON list between ``<tool_calls>`` lines. Official: ``MiningHandler``."""


def find_nemotron_calls(text: str) -> str | None:
    """Return the text between the first tags, or None."""
    place = syntax.find_between(text, syntax.OPENING, syntax.CLOSING)
    return None if place is None else text[slice(*place)]


NEMOTRON = read_unwrapped(find_nemotron_calls, is_read_in=lambda text: syntax.OPENING in text)
"""Calls of Nemotron Ultra: Python between ``<TOOLCALL>`` and ``</TOOLCALL>``. Official: ``NemotronHandler``.

A text without these tags is officially an answer that calls nothing.
"""


_PHI_OPENING, _PHI_CLOSING = "<|tool_call|>", "<|/tool_call|>"


def drop_fence_start(text: str) -> str:
    """Drop the beginning of a fence for JSON or Python."""
    return text.removeprefix("```json").removeprefix("```python")


def drop_spaces_and_fence_start(text: str) -> str:
    """Drop white space around a text, and the beginning of a fence."""
    return drop_fence_start(text.strip())


def read_phi_texts(text: str) -> tuple[str, ...]:
    """Read the calls to carry out; officially a fence behind white space stays. Raises ``Undecodable``."""
    return syntax.write_nested(parse_official(drop_fence_start(text)))


def parse_phi(text: str) -> tuple[Call, ...]:
    """Read lists of calls between ``<|tool_call|>`` and ``<|/tool_call|>``; the last may be left open.

    Raises ``Undecodable``, ``WrongFormat``.
    """
    texts = syntax.find_all_between(text, _PHI_OPENING, _PHI_CLOSING)
    if not texts and _PHI_OPENING in text:
        # Official: the pattern for a tag that is left open ends before a line end at the end of the text.
        texts = [text.partition(_PHI_OPENING)[2].removesuffix("\n")]
    return read_plain_calls(decode_lists(texts))


PHI = replace(read_json_calls(parse_phi, lambda text: _PHI_OPENING in text), parts=syntax.read_calls_only)
"""Calls of Phi: tagged JSON. Official: ``PhiFCHandler``."""
PHI_PYTHON = replace(read_unwrapped(drop_spaces_and_fence_start), execution_reader=read_phi_texts)
"""Calls of Phi in prompt mode: Python behind the beginning of a fence. Official: ``PhiHandler``."""
