"""What grows from little: schemas whose references multiply, and streams whose pieces add up.

Arithmetic, which does so too, is in ``test_reading.py``. ``python -m tests.fuzzing growth arithmetic --inputs
1000000`` tries a million of each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress

from hypothesis import strategies as st

from pytest_fcbench.codecs.function_docs.json_schema import (
    describe_call_violation,
    describe_function,
    list_untyped,
)
from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.models.providers.event_stream import JoinedStream, join_events
from pytest_fcbench.models.providers.openai_compatible import read_answer
from tests.fuzzing.strategies import json_values, words
from tests.fuzzing.targets import make_target

# Schemas

_MANY = 8
"""Definitions that a schema can refer to."""
_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null", "any", ["string", "null"], 1)
_references = st.integers(0, _MANY).map(lambda number: {"$ref": f"#/$defs/D{number}"})
_leaves: st.SearchStrategy[object] = st.one_of(
    _references,
    st.sampled_from(_TYPES).map(lambda kind: {"type": kind}),
    st.sampled_from(
        [True, False, {}, {"$ref": "#"}, {"$ref": "x.json"}, {"$dynamicRef": "#D"}, {"pattern": "(a+)+$"}]
    ),
    st.builds(
        lambda value, text: {"enum": [value], "default": value, "description": text}, json_values, words
    ),
)


def _grow_schema(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    few = st.lists(inner, min_size=1, max_size=4)
    members = st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)
    return st.one_of(
        st.builds(lambda key, parts: {key: parts}, st.sampled_from(["allOf", "anyOf", "oneOf"]), few),
        members.map(lambda given: {"type": "object", "properties": given, "required": [*given][:1]}),
        inner.map(lambda items: {"type": "array", "items": items}),
        few.map(lambda items: {"type": "array", "prefixItems": items}),
        st.builds(
            lambda key, part: {key: part},
            st.sampled_from(["not", "if", "then", "additionalProperties"]),
            inner,
        ),
        st.builds(lambda one, other: {"allOf": [one] * 3, "anyOf": [other] * 3}, inner, inner),
    )


_parts = st.recursive(_leaves, _grow_schema, max_leaves=8)


def _build_ladder(width: int, height: int, key: str) -> dict[str, object]:
    """Build a schema each of whose definitions refers several times to the next one."""
    rungs: dict[str, object] = {f"D{height}": {"type": "string"}}
    for number in range(height):
        next_one = {"$ref": f"#/$defs/D{number + 1}"}
        parts = {f"p{place}": next_one for place in range(width)}
        rungs[f"D{number}"] = (
            {"type": "object", "properties": parts} if key == "properties" else {key: [*parts.values()]}
        )
    return {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/D0"}, "b": {"$ref": "#/$defs/D0"}},
        "$defs": rungs,
    }


schemas = st.builds(
    lambda properties, definitions, required: {
        "type": "object",
        "properties": properties,
        "required": required,
        "$defs": {f"D{number}": part for number, part in enumerate(definitions)},
    },
    st.dictionaries(st.sampled_from("abcd"), _parts, max_size=3),
    st.lists(_parts, min_size=1, max_size=_MANY),
    st.lists(st.sampled_from("abx"), max_size=2),
) | st.builds(
    _build_ladder,
    # More would be refused, but only after a second or two.
    st.integers(1, 2),
    st.integers(1, 9),
    st.sampled_from(["properties", "allOf", "anyOf", "oneOf"]),
)


@make_target(schema=schemas, arguments=st.dictionaries(st.sampled_from("abcd"), json_values, max_size=3))
def test_a_schema_becomes_a_doc_of_bounded_size_or_is_refused(
    schema: Mapping[str, object], arguments: Mapping[str, object]
) -> None:
    with suppress(UsageError):
        doc = describe_function("f", "", schema)
        # As many schemas for each parameter as are converted of one.
        assert _count_schemas(doc.parameters) <= 5_100 * max(1, len(doc.properties))
        list_untyped(doc)
        assert describe_call_violation(doc, arguments) != ""


def _count_schemas(converted: object) -> int:
    if isinstance(converted, Mapping):
        inner: Sequence[object] = [*converted.values()]
        return ("type" in converted) + sum(map(_count_schemas, inner))
    return 0


# Streams

_pieces = st.builds(
    lambda index, name, text, more: {
        "index": index,
        "id": name,
        "function": {"name": name, "arguments": text},
        **more,
    },
    st.sampled_from([0, 0, 1, 2, -1, 10**9, None, "0", True]),
    st.none() | st.sampled_from(["", "f", "call_1"]),
    st.sampled_from(["", "{", '{"a": 1}', '"', "\\ud83d", "x" * 200]) | json_values,
    st.dictionaries(words, json_values, max_size=1),
)
_deltas = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["assistant", "", None]),
        "content": st.sampled_from(["", "a", "\ud83d", "\ude00", "x" * 500]) | json_values,
        "reasoning_content": words | json_values,
        "tool_calls": st.lists(_pieces, max_size=3) | _pieces | json_values,
        "function_call": _pieces.map(lambda piece: piece["function"]) | json_values,
        "extra": json_values | st.lists(json_values, max_size=3),
    },
)
_choices = st.fixed_dictionaries(
    {"delta": _deltas | json_values},
    optional={
        "index": st.sampled_from([0, 0, 0, 1, -1, None, "0", 0.0]),
        "finish_reason": st.sampled_from(["stop", "tool_calls", "length", "error", None, 1]),
        "message": _deltas | json_values,
        "text": words | json_values,
        "usage": json_values,
    },
)
_chunks = st.fixed_dictionaries(
    {"choices": st.lists(_choices, max_size=2) | json_values},
    optional={"usage": json_values, "error": json_values, "x_groq": json_values},
)
_lines = st.one_of(
    _chunks.map(lambda chunk: f"data: {json.dumps(chunk)}"),
    st.builds(
        lambda chunk, times: "\n\n".join([f"data:{json.dumps(chunk)}"] * times), _chunks, st.integers(2, 40)
    ),
    st.sampled_from(
        ["data: [DONE]", ": ping", "event: error", "data: ping", "id: 1", "data:", "", "{}", "error: x"]
    ),
    json_values.map(lambda value: f"data: {json.dumps(value)}"),
)
streams = st.builds(
    lambda lines, apart: apart.join(lines).encode("utf-8", "surrogatepass"),
    st.lists(_lines, max_size=12),
    st.sampled_from(["\n\n", "\n\n", "\n", "\n\n\n"]),
)


def _join_or_refuse(body: bytes) -> JoinedStream | str:
    try:
        return join_events(body)
    except CallError as error:
        return error.cause


@make_target(body=streams)
def test_a_stream_becomes_a_reply_no_larger_than_itself_or_fails(body: bytes) -> None:
    joined = _join_or_refuse(body)
    assert repr(_join_or_refuse(body.replace(b"\n", b"\r\n"))) == repr(joined)
    if isinstance(joined, JoinedStream):
        # Numbers and letters can be written shorter than JSON's own writer does.
        assert len(json.dumps(joined.reply)) <= 6 * len(body) + 1_000
        with suppress(CallError):
            assert isinstance(read_answer(joined, ()), Completion)
