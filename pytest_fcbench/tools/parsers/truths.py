"""Right calls of entries with the tools that they call, as a request of OpenAI's chat interface has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, islice, zip_longest

from pytest_fcbench.codecs.call_schemas import has_schema
from pytest_fcbench.codecs.decoders.native_syntaxes import NativeSyntax, Unwritable
from pytest_fcbench.codecs.presenting import build_first_request, select_tool_calls
from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.domain.function_doc import Schema
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.text import as_mapping, read_json_text
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.tools.parsers.engine import Tools


@dataclass(frozen=True, slots=True)
class Truth:
    """The calls of a right answer, and the tools of its request."""

    key: str
    calls: tuple[Call, ...]
    tools: Tools

    @property
    def _schemas(self) -> Mapping[str, Schema]:
        functions = (as_mapping(tool["function"]) for tool in self.tools)
        return {str(each["name"]): as_mapping(each["parameters"]) for each in functions}

    @property
    def is_valid(self) -> bool:
        """Whether the calls keep the schemas of the tools, by which some parsers convert values."""
        schemas = self._schemas
        return all(
            each.name in schemas and has_schema(each.arguments, schemas[each.name]) for each in self.calls
        )

    def write_text(self, syntax: NativeSyntax) -> str:
        """Write the calls as a model would. Raises ``Unwritable`` where the syntax cannot hold them."""
        return syntax.write_calls(self.calls, self._schemas)


def write_texts(truths: Iterable[Truth], syntax: NativeSyntax) -> Iterator[tuple[str, Truth]]:
    """Write the truths that a syntax can hold."""
    for truth in truths:
        with suppress(Unwritable):
            yield truth.write_text(syntax), truth


def draw_truths(suites: Iterable[Suite], limit: int) -> list[Truth]:
    """Draw at most ``limit`` truths, always the same, and equally many of each suite where it has them."""
    by_suite = [
        sorted(collect_truths(suite), key=lambda truth: sha256(truth.key.encode()).digest())
        for suite in suites
    ]
    mixed_truths = filter(None, chain.from_iterable(zip_longest(*by_suite)))
    return list(islice(mixed_truths, limit))


def collect_truths(suite: Suite) -> Iterator[Truth]:
    """Collect the first right calls of each entry; entries that make the same calls count once.

    Calls that break the schema of a tool, or whose tool is offered later, are left out: of these a parser
    may make something else.
    """
    prompting = Prompting.make_default(Mode.FC)
    known_calls = set()
    for category in suite.categories:
        for entry in () if category.varies_others else suite.load(category):
            tools = build_first_request(entry, suite.wording, prompting).tools
            steps = (step for turn in find_kind(entry).list_right_calls(entry) for step in turn if step)
            # With JSON values in the place of source text, and names as the tools have them.
            completion = render_completion(next(steps, ()), entry, prompting, tools)
            calls = [
                Call(each.name, read_json_text(str(each.arguments))) for each in select_tool_calls(completion)
            ]
            truth = Truth(entry.key, tuple(calls), tools)
            text = json.dumps([(each.name, each.arguments) for each in truth.calls])
            if truth.calls and text not in known_calls and truth.is_valid:
                known_calls.add(text)
                yield truth
