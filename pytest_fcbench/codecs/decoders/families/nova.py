"""Calls of Amazon Nova: its interface's own list. Official: ``NovaHandler``.

A reply in words is a list too, of texts, so it is of a wrong format and not unreadable.
"""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.families.gemini import refuse_text
from pytest_fcbench.codecs.decoders.families.parts import read_as_they_are
from pytest_fcbench.codecs.decoders.syntax import read_json_calls

NOVA = read_json_calls(refuse_text, parts=read_as_they_are)
