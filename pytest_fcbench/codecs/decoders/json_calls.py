"""Calls written as JSON: ``[{"function": "f", "parameters": {"x": 1}}]`` (format sensitivity).

The official reading follows ``ast_parse`` and ``parse_json_function_call``, oddities included:

- text around the list is dropped, from the first ``[`` to the last ``]``; then a lazy pattern searches for a
  list of objects, so an object that ends a list inside of a call (``"x": [{"a": 1}]``) ends the search, and
  the match is no JSON;
- text that is no JSON is no call, like ``[]``, and so are elements that are no objects;
- an object without one of the two keys makes the whole answer undecodable.

The official pattern for lists takes time that doubles with each ``}, {`` of a text without the right end; the
same place is found here in one pass.

The corrected reading accepts any fence and any words around the calls, one object for a list of one, objects
one after the other, and calls without parameters. A list that is no JSON is unreadable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from pytest_fcbench.codecs.decoders.json_text import check_depth, find_json_values
from pytest_fcbench.codecs.decoders.outcome import Undecodable, WrongFormat, as_call
from pytest_fcbench.codecs.decoders.wrapping import add_brackets
from pytest_fcbench.domain.transcript import Call


def parse_official(text: str) -> tuple[Call, ...]:
    """Read a text as BFCL does. Raises ``Undecodable`` and ``WrongFormat``."""
    return parse_official_between_tags(add_brackets(text))


def parse_official_between_tags(text: str) -> tuple[Call, ...]:
    """Read a text between tags as BFCL does. Raises ``Undecodable`` and ``WrongFormat``."""
    first, last = text.find("["), text.rfind("]")
    if 0 <= first < last:
        text = text[first : last + 1]
    # Official: the first match of ``\[\s*{.*?}\s*(?:,\s*{.*?}\s*)*\]``. What is between two of its objects
    # can just as well be inside of one, so it ends with the first ``}`` before a ``]``.
    start = _START.search(text)
    if start and (end := _END.search(text, start.end())):
        text = text[start.start() : end.end()]
    check_depth(text)
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError:
        # Official: text that is no JSON is an answer without calls, not a failure.
        return ()
    except (ValueError, RecursionError) as error:
        raise Undecodable(f"not JSON: {str(error) or type(error).__name__}") from None
    if not isinstance(value, list | dict | str):
        raise Undecodable(f"expected a JSON list of calls, found {type(value).__name__}")
    # All are decoded before the form of any is looked at, as officially.
    items = [item for item in value if isinstance(item, dict)]
    for item in items:
        if "function" not in item or "parameters" not in item:
            raise Undecodable("a call needs 'function' and 'parameters'")
        if isinstance(item["function"], list | dict):
            raise Undecodable("a function's name is text")
    calls = []
    for item in items:
        name, parameters = item["function"], item["parameters"]
        if not isinstance(parameters, dict):
            kind = type(parameters).__name__
            raise WrongFormat(f"the parameters of {name!r:.80} are {kind}, not an object")
        calls.append(Call(name if isinstance(name, str) else json.dumps(name), parameters))
    return tuple(calls)


_START = re.compile(r"\[\s*\{")
_END = re.compile(r"\}\s*\]")


def parse_corrected(text: str) -> tuple[Call, ...]:
    """Read the JSON values of a text leniently and ignore the text between them. Raises ``Undecodable``."""
    calls = []
    for item in find_json_values(text):
        if not isinstance(item, Mapping) or not isinstance(name := item.get("function"), str):
            raise Undecodable('expected objects with "function" and "parameters"')
        calls.append(as_call(name, item.get("parameters", {})))
    return tuple(calls)
