"""Right calls are written in every native syntax and read back equal, or are refused for a reason."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from keyword import iskeyword
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_fcbench.codecs.call_schemas import has_schema
from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES, NativeSyntax, Unwritable
from pytest_fcbench.codecs.presenting import build_first_request, select_tool_calls
from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import Schema
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.suites.suite import Suite

PROMPTING = Prompting.make_default(Mode.FC)


class Answer(NamedTuple):
    """The calls of one right answer, and the schemas of the functions that are offered."""

    entry_id: str
    calls: tuple[Call, ...]
    schemas: Mapping[str, Schema]


def collect_answers(suite: Suite) -> Iterator[Answer]:
    """Collect the right answers with calls of all entries, each group of calls once."""
    known = set()
    for category in suite.categories:
        for entry in () if category.varies_others else suite.load(category):
            late = chain.from_iterable(entry.scene.withheld.values()) if entry.scene else ()
            whole = replace(entry, functions=(*entry.functions, *late))
            tools = build_first_request(whole, suite.wording, PROMPTING).tools
            functions = [as_mapping(tool["function"]) for tool in tools]
            schemas = {str(each["name"]): as_mapping(each["parameters"]) for each in functions}
            for calls in list_answers(whole, tools):
                text = json.dumps([(call.name, call.arguments) for call in calls])
                if calls and text not in known:
                    known.add(text)
                    yield Answer(entry.id, calls, schemas)


def list_answers(entry: Entry, tools: Sequence[Mapping[str, object]]) -> Iterator[tuple[Call, ...]]:
    """List the calls of each right answer to an entry, with their arguments as JSON."""
    for step in chain.from_iterable(find_kind(entry).list_right_calls(entry)):
        tool_calls = select_tool_calls(render_completion(step, entry, PROMPTING, tools)) if step else ()
        yield tuple(Call(call.name, json.loads(str(call.arguments))) for call in tool_calls)


def explain_refusal(syntax: NativeSyntax, answer: Answer) -> str | None:
    """Explain why a syntax cannot hold an answer; None where it can."""
    if syntax.most is not None and len(answer.calls) > syntax.most:
        return "several calls"
    names = [
        *(call.name for call in answer.calls),
        *chain.from_iterable(each.arguments for each in answer.calls),
    ]
    parts = chain.from_iterable(name.split(".") for name in names)
    if syntax.is_python and not all(part.isidentifier() and not iskeyword(part) for part in parts):
        return "a name that Python has no form for"
    if syntax.pair and "{is_text}" not in syntax.pair:
        # Some right calls of bfcl are of functions that their entry does not offer.
        if not all(each.name in answer.schemas for each in answer.calls):
            return "values of a function that is not offered"
        if not all(has_schema(each.arguments, answer.schemas[each.name]) for each in answer.calls):
            return "values of another type than declared"
    return None


def count_writings(suite: Suite, syntaxes: Sequence[NativeSyntax], step: int = 1) -> Counter[str]:
    """Count answers times syntaxes: exact, refused by reason, and wrong; of the answers each ``step``-th."""
    counts = Counter(exact=0)
    for answer in islice(collect_answers(suite), None, None, step):
        expected = [(call.name, json.dumps(call.arguments)) for call in answer.calls]
        for syntax in syntaxes:
            reason = explain_refusal(syntax, answer)
            try:
                calls = syntax.read_calls(syntax.write_calls(answer.calls, answer.schemas), answer.schemas)
            except Unwritable as error:
                counts[f"refused: {reason}" if reason else f"wrong: {answer.entry_id}: {error}"] += 1
            else:
                is_equal = [(call.name, json.dumps(call.arguments)) for call in calls] == expected
                counts["exact" if is_equal else f"wrong: {answer.entry_id}: {calls}"] += 1
    return counts


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("core", 4),
        pytest.param("core", 1, marks=pytest.mark.nightly),
        pytest.param("bfcl", 1, marks=pytest.mark.nightly),
    ],
)
def test_all_right_calls_are_read_back_equal_or_refused_for_a_reason(
    name: str, step: int, request: pytest.FixtureRequest
) -> None:
    cache = request.getfixturevalue("pack_cache") if name == "bfcl" else Path()
    counts = count_writings(open_suite(name, cache), [*NATIVE_SYNTAXES.values()], step)
    print(dict(counts))
    assert counts["exact"] > 30_000 / step
    assert [text for text in counts if text.startswith("wrong")] == []


def test_a_syntax_that_cannot_be_read_is_found() -> None:
    twice_named = replace(NATIVE_SYNTAXES["mistral_v13"], call="[TOOL_CALLS]{name}{name}{arguments}", most=1)
    counts = count_writings(open_suite("core", Path()), [twice_named])
    assert any(text.startswith("wrong: simple_python_") for text in counts)
    assert counts["refused: several calls"] > 100
