"""Training data in three forms, and the entries that stand in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.tools.audit import training_data
from pytest_fcbench.tools.audit.training_data import (
    TrainingLine,
    describe_reading,
    read_training_data,
    serialize_call,
)
from tests.cases import each_case
from tests.factories import make_doc, make_entry
from tests.tools.audit.made import list_findings, make_facts

ASKED = "What will the weather in Bergen be?"
CALL = {"name": "weather.forecast", "arguments": {"city": "Bergen"}}
AS_TEXT = {"name": "weather.forecast", "arguments": json.dumps({"city": "Bergen"})}
SERIALIZED = serialize_call("weather.forecast", {"city": "Bergen"})

FORMS: Mapping[str, object] = {
    "chat": {
        "messages": [
            {"role": "system", "content": "Call functions."},
            {"role": "user", "content": ASKED},
            {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": AS_TEXT}]},
        ],
        "tools": [],
    },
    "chat in parts": {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": ASKED}]},
            {"role": "assistant", "tool_calls": [{"function": CALL}]},
        ]
    },
    "sharegpt": {
        "conversations": [
            {"from": "human", "value": ASKED},
            {"from": "function_call", "value": json.dumps(CALL)},
        ]
    },
    "hermes": {
        "conversations": [
            {"from": "human", "value": ASKED},
            {"from": "gpt", "value": f"Sure.\n<tool_call>\n{json.dumps(CALL)}\n</tool_call>"},
        ]
    },
    "xlam": {"query": ASKED, "tools": "[]", "answers": json.dumps([CALL])},
}


def _write_lines(folder: Path, *lines: object) -> Path:
    """Write values as JSON and texts as they are, one in each line."""
    path = folder / "train.jsonl"
    path.write_text("".join(f"{x if isinstance(x, str) else json.dumps(x)}\n" for x in lines), "utf-8")
    return path


@each_case("form", FORMS)
def test_questions_and_calls_are_read_in_every_form(tmp_path: Path, form: str) -> None:
    path = _write_lines(tmp_path, FORMS[form])
    assert list(read_training_data(path)) == [TrainingLine(1, (ASKED,), frozenset([SERIALIZED]))]


def test_a_longer_conversation_is_also_one_history(tmp_path: Path) -> None:
    said = [{"role": "user", "content": text} for text in ("Hello.", "And then?")]
    (line,) = read_training_data(_write_lines(tmp_path, {"messages": said}))
    assert not line.fault
    assert line.questions == ("Hello.", "And then?", "Hello.\nAnd then?")


def test_a_broken_line_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    path = _write_lines(tmp_path, FORMS["xlam"], "{", "", {"text": "a"}, "[" * 10_000, FORMS["chat"])
    unread = [line for line in read_training_data(path) if line.fault]
    assert [line.number for line in unread] == [2, 4, 5]
    assert unread[1].fault == (
        "has none of the keys 'messages', 'conversations', 'conversation', 'contents', 'chat_history', "
        "'query', 'chat', 'resourceSpans'; its keys: 'text'"
    )
    told = describe_reading(path)
    assert told.startswith("train.jsonl: 5 lines read, 2 compared, 3 left out; line 2: not valid JSON: ")


@given(
    st.recursive(
        st.none() | st.text(max_size=5),
        lambda x: (
            st.lists(x)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "messages",
                        "role",
                        "content",
                        "tool_calls",
                        "function",
                        "conversations",
                        "from",
                        "value",
                        "query",
                        "answers",
                        "name",
                        "arguments",
                    ]
                ),
                x,
            )
        ),
    )
)
def test_no_json_stops_the_reading(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    path = _write_lines(tmp_path_factory.mktemp("lines"), FORMS["chat"], json.dumps(value))
    first, second = read_training_data(path)
    assert first == TrainingLine(1, (ASKED,), frozenset([SERIALIZED]))
    assert second.number == 2


@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_has_a_conversation_in_each_row(tmp_path: Path, indent: int | None) -> None:
    path = _write_lines(tmp_path, json.dumps([FORMS["xlam"], FORMS["chat"]], indent=indent))
    both = [TrainingLine(number, (ASKED,), frozenset([SERIALIZED])) for number in (1, 2)]
    assert list(read_training_data(path)) == both


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.jsonl: cannot be read: No such file or directory"):
        list(read_training_data(tmp_path / "gone.jsonl"))


def test_entries_in_the_training_data_are_found_with_their_lines(tmp_path: Path) -> None:
    path = _write_lines(
        tmp_path,
        {"query": "Add 1 and 2.", "answers": []},
        FORMS["chat"],
        {"query": "What will the weather in Bergen be today?", "answers": []},
    )
    same = make_entry(entry_id="same", query=ASKED)
    trains = [make_doc("trains.list")]
    other = make_entry(entry_id="other", query="Which trains go to Oslo at night?", functions=trains)

    facts = make_facts(same, other, training=path)

    assert list_findings(training_data.find_trained_questions, facts) == [
        ("same", "likely", f"is in the training data, lines 2, 3 (the same words): '{ASKED}'")
    ]
    assert list_findings(training_data.find_trained_calls, facts) == [
        ("same", "hint", "its calls are in the training data, line 2")
    ]


def test_without_training_data_nothing_is_found() -> None:
    for check in (training_data.find_trained_questions, training_data.find_trained_calls):
        assert list_findings(check, make_facts(make_entry())) == []
