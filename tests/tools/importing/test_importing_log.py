"""A log becomes a suite: what is kept, what is left out, and that the counts add up."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import CATEGORIES, Message, PastCall
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.transcript import Completion, Step, Transcript
from pytest_fcbench.kinds.calls.truth import ExpectedCalls
from pytest_fcbench.suites.custom import open_own
from pytest_fcbench.tools.importing.importing_log import (
    FreeTexts,
    ImportCounts,
    LogSelection,
    SeenTexts,
    find_obstacle,
    import_log,
    write_chat,
)
from pytest_fcbench.tools.importing.log_forms import read_conversations
from pytest_fcbench.tools.importing.offered_tools import LoggedCall, LoggedMessage
from tests.factories import make_doc, make_entry, make_multi_turn, make_transcript, tool_calls
from tests.tools.importing.made import TWO_ANSWERS, make_call, make_chat, say, to_lines
from tests.tools.importing.test_log_forms import FORMS

ALL = LogSelection()


def _import(
    *values: object, choice: LogSelection = ALL, told: list[str] | None = None
) -> tuple[list[dict[str, object]], ImportCounts]:
    unread: list[str] = [] if told is None else told
    lines, counts = import_log(to_lines(*values), choice, io.BytesIO(), unread.append)
    entries = [json.loads(line) for line in lines]
    assert counts.kept.total() == len(entries)
    assert counts.kept.total() + counts.left_out.total() == counts.answers
    return entries, counts


def _make_question(city: str) -> dict[str, object]:
    return make_chat(say("user", f"{city}?"), say("assistant", tool_calls=[make_call(city=city)]))


def test_the_suite_is_read_as_it_was_logged(tmp_path: Path) -> None:
    lines, _ = import_log(to_lines(TWO_ANSWERS, _make_question("Oslo")), LogSelection(), io.BytesIO(), print)
    path = tmp_path / "chats.jsonl"
    path.write_text("".join(lines))
    suite = open_own("chats", path)
    (reply,) = suite.load(CATEGORIES["next_reply"])
    bergen, oslo = suite.load(CATEGORIES["multiple"])
    assert isinstance(oslo.expectation, ExpectedCalls)
    assert oslo.expectation.calls[0].accepted == {"city": ["Oslo"], "days": [1, ""]}
    # The answers of a conversation are dependent.
    assert reply.cluster == bergen.cluster != oslo.cluster


def test_broken_lines_are_told_and_the_rest_is_kept() -> None:
    told: list[str] = []
    entries, counts = _import("{", TWO_ANSWERS, {"a": 1}, told=told)
    assert [each.partition(":")[0] + ":" + each.split(":")[1] for each in told] == ["log:1", "log:3"]
    assert (counts.lines, counts.unread, len(entries)) == (3, 2, 2)


def test_answers_that_a_suite_cannot_have_are_left_out() -> None:
    wrong = make_chat(say("user", "?"), say("assistant", tool_calls=[make_call(city=7)]))
    entries, counts = _import(wrong, TWO_ANSWERS)
    assert len(entries) == 2
    reason = "arguments that the function doc does not allow"
    assert counts.left_out == {reason: 1}
    assert "city" in counts.flaws[reason]


def test_a_text_that_may_show_a_call_is_told() -> None:
    shown = make_chat(say("user", "?"), say("assistant", "Write weather(city='Oslo')\nhere."))
    entries, counts = _import(shown)
    ((reason, first),) = counts.flaws.items()
    assert (entries, counts.left_out, first) == ([], {reason: 1}, repr("Write weather(city='Oslo') here."))


def test_duplicates_are_kept_once() -> None:
    entries, counts = _import(TWO_ANSWERS, TWO_ANSWERS, _make_question("Oslo"))
    assert len(entries) == 3
    assert counts.left_out == {"a duplicate": 2}


def test_short_results_and_the_calls_of_one_question_are_no_duplicates() -> None:
    question = "Please find out for me, before we leave tomorrow, what the weather in the city of"

    def look_twice(city: str) -> dict[str, object]:
        calls = [say("assistant", tool_calls=[make_call(city=city, days=days)]) for days in (1, 2)]
        result, last = say("tool", "ok"), say("assistant", "Fine.")
        return make_chat(say("user", f"{question} {city} is"), calls[0], result, calls[1], result, last)

    entries, counts = _import(look_twice("Bergen"), look_twice("Lima"))
    assert len(entries) == 6
    assert not counts.left_out


def test_replies_and_functions_can_be_left_out() -> None:
    mail = make_chat(say("user", "Mail!"), say("assistant", tool_calls=[make_call("send_mail", to="a")]))
    entries, counts = _import(TWO_ANSWERS, mail, choice=LogSelection(("send_*",), replies=False))
    assert [each["category"] for each in entries] == ["multiple"]
    assert counts.left_out == {"an answer in words": 1, "a call of other functions": 1}


def test_free_text_is_marked_for_a_judge_left_out_or_kept_as_it_is() -> None:
    def write_mail(number: int) -> dict[str, object]:
        call = make_call("send_mail", to="a", body=f"Dear Ann, letter {number} says {'abcd'[number]} once.")
        return make_chat(say("user", f"Mail her about thing {number}"), say("assistant", tool_calls=[call]))

    mails = list(map(write_mail, range(4)))
    entries, counts = _import(*mails, _make_question("Oslo"))
    assert [each.get("judged") for each in entries] == [{"send_mail": ["body"]}] * 4 + [None]
    assert (counts.free_texts, counts.judged) == ({("send_mail", "body"): 4}, 4)
    entries, counts = _import(*mails, _make_question("Oslo"), choice=LogSelection(free_texts=FreeTexts.NO))
    assert len(entries) == 1
    assert counts.left_out == {"free text among the arguments": 4}
    entries, counts = _import(*mails, choice=LogSelection(free_texts=FreeTexts.EXACT))
    assert len(entries) == 4
    assert not counts.judged
    assert not any("judged" in each for each in entries)


def test_entries_are_drawn_evenly_by_function_and_in_the_order_of_the_log() -> None:
    mails = [
        make_chat(say("user", f"Mail {name}"), say("assistant", tool_calls=[make_call("send_mail", to=name)]))
        for name in ("ann", "bob")
    ]
    cities = list(map(_make_question, ("Oslo", "Rome", "Bonn", "Riga", "Kyiv", "Bern", "Lima", "Cork")))
    whole, _ = _import(*cities, *mails)
    entries, counts = _import(*cities, *mails, choice=LogSelection(most=4))
    called = [next(iter(call)) for each in entries for call in each["expect"]]  # type: ignore[attr-defined]
    assert sorted(called) == ["send_mail", "send_mail", "weather", "weather"]
    assert [each for each in whole if each in entries] == entries
    assert counts.left_out == {"more than asked for": 6}


def test_conversations_are_held_out_whole_and_the_rest_is_kept_as_it_was() -> None:
    values = [_make_question(f"city{number}") for number in range(200)]
    rest: list[bytes] = []
    lines, counts = import_log(
        to_lines(*values), LogSelection(held_out=0.25), io.BytesIO(), print, rest.append
    )
    entries = list(lines)
    assert 20 < len(entries) < 80
    assert counts.rest == len(rest) == 200 - len(entries)
    # The last line of a file may have no end.
    assert set(rest) <= {line + b"\n" for _, line in to_lines(*values)}
    asked = {json.loads(line)["messages"][0]["content"] for line in entries}
    assert asked.isdisjoint(json.loads(line)["messages"][0]["content"] for line in rest)
    # A line that is added moves no other from one part to the other.
    more, _ = import_log(
        to_lines(_make_question("new"), *values), LogSelection(held_out=0.25), io.BytesIO(), print
    )
    assert set(entries) <= set(more)


_BYTES = b'"{}[]:,\\ aeinotu0123456789\x00\xae'
"""What damaged lines get: mostly what leaves them readable as text."""


def test_no_damaged_line_stops_the_import_or_is_lost_without_a_word() -> None:
    chance = Random(20261126)
    lines = []
    forms = [json.dumps(form) for form in FORMS.values()]
    for number in range(1000):
        text = bytearray(forms[number % len(forms)].replace("Bergen", f"Bergen {number}").encode())
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(text))
            added = bytes(chance.choices(_BYTES, k=chance.randint(0, 3)))
            text[at : at + chance.randint(0, 3)] = added
        lines.append((f"log:{number}", bytes(text)))
    told: list[str] = []
    found, counts = import_log(lines, LogSelection(), io.BytesIO(), told.append)
    assert len(list(found)) == counts.kept.total()
    assert counts.lines == counts.conversations + counts.empty + len(told) == 1000
    assert min(counts.kept.total(), counts.left_out.total(), counts.empty, len(told)) > 0
    assert counts.kept.total() + counts.left_out.total() == counts.answers


LONG = " ".join(f"word{number}" for number in range(100))


def test_a_text_is_like_itself_in_other_case_and_punctuation() -> None:
    seen = SeenTexts()
    assert not seen.add_text("What is the weather in Bergen?")
    assert seen.add_text("what is the weather, in Bergen")


def test_a_long_text_with_one_other_word_was_seen() -> None:
    seen = SeenTexts()
    seen.add_text(LONG)
    assert seen.add_text(LONG.replace("word50", "else"))


def test_a_text_is_compared_with_those_that_were_kept_only() -> None:
    seen = SeenTexts()
    texts = [
        " ".join(f"{'other' if at < changed else 'word'}{at}" for at in range(100)) for changed in (0, 7, 8)
    ]
    assert list(map(seen.add_text, texts)) == [False, True, False]


def test_short_texts_with_another_value_are_new() -> None:
    seen = SeenTexts()
    assert not any(
        seen.add_text(f"What is the weather in {city}?") for city in ("Bergen", "Oslo", "Rome", "Bonn")
    )


@given(st.lists(st.text(max_size=30), max_size=5), st.text(max_size=30))
def test_every_text_is_found_again(others: list[str], text: str) -> None:
    seen = SeenTexts()
    seen.add_text(text)
    for other in others:
        seen.add_text(other)
    assert seen.add_text(text)


FC = Prompting(Mode.FC, Names.UNDERSCORED, "tool_calls")
BERGEN = tool_calls(("weather_forecast", '{"city": "Bergen"}'))
"""A call under the name that the model was shown."""


def test_a_conversation_is_read_back_with_its_calls_and_results() -> None:
    entry = make_multi_turn(("Bergen?", []), ("Thanks.", []))
    steps = (
        Step(BERGEN, ("weather_forecast(city='Bergen')",), ("rain",)),
        Step(Completion(text="It rains.")),
    )
    turns = (steps, (Step(Completion(text="Bye.")),))
    written = write_chat(entry, Transcript(entry.key, "test", FC, turns))
    (logged,) = read_conversations(json.dumps(written))
    assert logged.messages == (
        LoggedMessage("user", "Bergen?"),
        LoggedMessage("assistant", calls=(LoggedCall("weather.forecast", {"city": "Bergen"}),)),
        LoggedMessage("tool", "rain"),
        LoggedMessage("assistant", "It rains."),
        LoggedMessage("user", "Thanks."),
        LoggedMessage("assistant", "Bye."),
    )
    assert [tool["name"] for tool in logged.tools] == ["weather.forecast"]


def test_calls_in_the_question_are_kept() -> None:
    said = (
        Message("user", "Oslo?"),
        Message("assistant", "", (PastCall("weather.forecast", {"city": "Oslo"}),)),
        Message("tool", "sun"),
    )
    entry = replace(make_entry("next_call"), turns=(said,))
    (logged,) = read_conversations(json.dumps(write_chat(entry, make_transcript(BERGEN))))
    assert logged.messages[1].calls == (LoggedCall("weather.forecast", {"city": "Oslo"}),)
    assert logged.messages[2] == LoggedMessage("tool", "sun")


def test_calls_as_text_are_calls_and_a_broken_one_is_no_example() -> None:
    for text, calls, is_example in (
        ("[weather.forecast(city='Bergen')]", (LoggedCall("weather.forecast", {"city": "Bergen"}),), True),
        ("[weather.forecast(city='Bergen'", (), False),
        ("I do not know.", (), True),
    ):
        (logged,) = read_conversations(json.dumps(write_chat(make_entry(), make_transcript(text))))
        assert (logged.messages[-1].calls, logged.messages[-1].is_example) == (calls, is_example)


def test_a_conversation_ends_before_functions_are_added() -> None:
    entry = make_multi_turn(("Bergen?", []), ("And now?", []), withheld={1: [make_doc("more")]})
    turns = ((Step(Completion(text="I cannot.")),), (Step(Completion(text="Now I can.")),))
    messages = write_chat(entry, Transcript(entry.key, "test", FC, turns))["messages"]
    assert isinstance(messages, list)
    assert [each["content"] for each in messages] == ["Bergen?", "I cannot."]


def test_entries_of_other_languages_have_no_line() -> None:
    assert find_obstacle(make_entry("simple_java")) == "values of Java or JavaScript"
    assert find_obstacle(make_entry()) == ""
