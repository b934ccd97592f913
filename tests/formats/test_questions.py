"""Conversations that have begun: how their messages are read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import Entry, Message, PastCall
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.kinds.entry_files import read_entries
from pytest_fcbench.kinds.relevance import NoCall
from tests.cases import each_case

BEGUN = """\
category: next_call
functions:
  - {name: tide.high, inputSchema: {type: object, properties: {port: {type: string}}, required: [port]}}
entries:
  - id: next_call_0
    messages:
      - {role: user, content: "When is high tide in Brest, and in Calais?"}
      - role: assistant
        content: Two questions.
        calls: ["tide.high(port='Brest')", {tide.high: {port: Calais}}]
      - {role: tool, content: "06:10"}
      - {role: tool, content: "11:30"}
      - {role: assistant, content: At 06:10 and at 11:30.}
      - {role: user, content: And in Dover?}
    functions: [tide.high]
    expect: ["tide.high(port='Dover')"]
"""

EXPECT = "    expect: [\"tide.high(port='Dover')\"]\n"
LATER = "      - {role: user, content: And in Dover?}\n"
SAID = "      - {role: assistant, content: At 06:10 and at 11:30.}\n"
RESULT = '      - {role: tool, content: "11:30"}\n'


def _read_entry(folder: Path, old: str = "", new: str = "") -> Entry:
    """Read BEGUN, in which ``old`` (there exactly once) is replaced."""
    assert not old or BEGUN.count(old) == 1
    path = folder / "entries.yaml"
    path.write_text(BEGUN.replace(old, new) if old else BEGUN, encoding="utf-8")
    (entry,) = read_entries(path, "mine")
    return entry


def test_calls_and_their_results_are_messages_of_the_question(tmp_path: Path) -> None:
    entry = _read_entry(tmp_path)
    made = (PastCall("tide.high", {"port": "Brest"}), PastCall("tide.high", {"port": "Calais"}))
    assert entry.turns == (
        (
            Message("user", "When is high tide in Brest, and in Calais?"),
            Message("assistant", "Two questions.", made),
            Message("tool", "06:10"),
            Message("tool", "11:30"),
            Message("assistant", "At 06:10 and at 11:30."),
            Message("user", "And in Dover?"),
        ),
    )
    assert entry.expectation == ExpectedCalls((ExpectedCall("tide.high", {"port": ["Dover"]}),))


def test_a_conversation_may_end_with_results(tmp_path: Path) -> None:
    assert _read_entry(tmp_path, SAID + LATER).turns[0][-1] == Message("tool", "11:30")


def test_free_texts_are_marked_in_the_calls_of_their_function(tmp_path: Path) -> None:
    entry = _read_entry(tmp_path, EXPECT, f"{EXPECT}    judged: {{tide.high: [port]}}\n")
    call = ExpectedCall("tide.high", {"port": ["Dover"]}, ("port",))
    assert entry.expectation == ExpectedCalls((call,))


def test_words_that_come_next_are_no_call(tmp_path: Path) -> None:
    path = tmp_path / "entries.yaml"
    text = BEGUN.replace("category: next_call", "category: next_reply")
    path.write_text(text[: text.index("    expect")], encoding="utf-8")
    (entry,) = read_entries(path, "mine")
    assert entry.expectation == NoCall()


@each_case(
    ("old", "new", "told"),
    [
        (RESULT, "", r"messages\.3: must be one of 1 results; give one"),
        (SAID, RESULT, "is a result, but every call has one already"),
        (LATER, "", "end with the assistant; the last message must be"),
        (
            LATER,
            "      - {role: user, calls: ['tide.high()']}\n",
            "only the assistant makes calls, not the user",
        ),
        (LATER, "      - {role: user}\n", "has no 'content'"),
        (LATER, "      - {role: developer, content: x}\n", "unknown role 'developer'"),
        ("tide.high(port='Brest')", "tide.high(", "cannot be read as a call"),
        ("    expect: [\"tide.high(port='Dover')\"]\n", "", "has no 'expect'"),
        (EXPECT, f"{EXPECT}    judged: {{tide.low: [port]}}\n", "unknown function 'tide.low'"),
        (
            EXPECT,
            f"{EXPECT}    judged: {{tide.high: [prot]}}\n",
            "judged.tide.high.0: unknown parameter 'prot'",
        ),
    ],
)
def test_what_is_no_conversation_is_refused(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(SuiteError, match=told):
        _read_entry(tmp_path, old, new)


def test_a_conversation_that_ends_before_its_results_is_refused(tmp_path: Path) -> None:
    text = BEGUN[: BEGUN.index('      - {role: tool, content: "06')] + BEGUN[BEGUN.index("    functions") :]
    (tmp_path / "entries.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError, match="end before 2 results"):
        read_entries(tmp_path / "entries.yaml", "mine")
