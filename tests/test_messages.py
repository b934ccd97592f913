"""Messages: which texts are found, and the rules that each of them keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.cli.tree import find_command_names
from tests.cases import each_case
from tests.house import PACKAGE, ROOT
from tests.messages import (
    REFUSALS,
    collect_messages,
    draw_messages,
    find_faults,
    find_option_names,
    has_way_out,
)

SOURCE = '''"""No message at all."""
HELP = "list"
SHAPE = re.compile("two words")
raise UsageError(f"{name!r} is unknown; use another name")
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "room.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def test_help_texts_and_texts_of_two_words_are_messages(folder: Path) -> None:
    assert [(each.line, each.sink, each.text) for each in collect_messages(folder)] == [
        (2, "help", "list"),
        (4, "UsageError", "{name} is unknown; use another name"),
    ]


def test_the_same_seed_draws_the_same_messages() -> None:
    messages = collect_messages(ROOT / PACKAGE)
    assert len(messages) > 900
    assert draw_messages(messages, 5, 22) == draw_messages(messages, 5, 22)


@each_case(
    ("text", "fault"),
    [
        ("gate rule {rule}: is none", "private phrase 'is none'"),
        ("{value} is no time", "private phrase 'is no time'"),
        ("give  one of both", "two blanks in a row"),
        ("these are missing: ", "ends with a colon"),
        ("far too long " * 30, "longer than 260 characters"),
        ("use --fcbench-modle", "there is no option --fcbench-modle"),
        ("run 'fcbench fetch' first", "there is no command 'fcbench fetch'"),
    ],
)
def test_each_rule_can_fail(text: str, fault: str) -> None:
    assert list(find_faults(text, ["fcbench-model"], ["pull"])) == [fault]


@each_case(
    "text",
    [
        "'{value}' is not a duration; use s or ms, e.g. 3s",
        "{path} does not exist; give an existing path",
        "nothing to compare with: name a scorecard",
        "--fcbench-bands={value}: must be a number",
        "the pack is missing: run 'fcbench pull {name}'",
        "invalid gate rule {text}: {rule}",
    ],
)
def test_a_way_out_is_found(text: str) -> None:
    assert has_way_out(text)


@each_case(
    "text",
    [
        "{path}: cannot be read: {error}",
        "{path}: the id is used twice",
        "the name is set twice",
        "{name} is not a class",
        "unknown use of {use}",
    ],
)
def test_a_refusal_without_a_way_out_is_found(text: str) -> None:
    assert not has_way_out(text)


def test_every_refused_value_comes_with_a_way_out() -> None:
    messages = [each for each in collect_messages(ROOT / PACKAGE) if each.sink in REFUSALS]
    assert len(messages) > 130
    assert [str(message) for message in messages if not has_way_out(message.text)] == []


def test_every_message_keeps_the_rules() -> None:
    options, commands = find_option_names(), find_command_names()
    assert [
        f"{message}: {fault}"
        for message in collect_messages(ROOT / PACKAGE)
        for fault in find_faults(message.text, options, commands)
    ] == []
