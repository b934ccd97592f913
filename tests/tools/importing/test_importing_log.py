"""A log becomes a suite: what is kept, what is left out, and that the counts add up."""

from __future__ import annotations

import io
import json
from pathlib import Path
from random import Random

from pytest_fcbench.domain.categories import CATEGORIES
from pytest_fcbench.kinds.calls.truth import ExpectedCalls
from pytest_fcbench.suites.custom import open_own
from pytest_fcbench.tools.importing.importing_log import FreeTexts, ImportCounts, LogSelection, import_log
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
    assert set(rest) <= {line for _, line in to_lines(*values)}
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
