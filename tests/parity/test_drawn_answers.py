"""Verdicts are official for answers and trajectories that nobody recorded.

Right answers of all entries are changed at random: values, types, names, syntax, order, missing and further
calls. Each is judged here and by the official checker.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.registry import read_official
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Entry
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.domain.verdict import Failed, Profile, Verdict
from pytest_fcbench.environments.execution import open_environments
from pytest_fcbench.kinds.calls import official
from pytest_fcbench.kinds.calls.truth import ExpectedCalls, choose_plain_value
from pytest_fcbench.kinds.state import verdict as state
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.suites.suite import Suite
from tests.parity.asking.test_mutated_calls import mutate_call
from tests.parity.official_package import NEEDS_OFFICIAL, run_official
from tests.parity.test_prompt_formats import mutate_text

Turns: TypeAlias = list[list[list[str]]]
"""The calls of each step of each turn."""

SEED = 27
TEXTS, TRAJECTORIES = 4, 2
"""Drawn answers for each entry."""

EXPRESSIONS: Mapping[Language, Sequence[str]] = {
    Language.PYTHON: (
        *("None", "True", "1", "-2.5", "1e3", "'x'", "''", "[]", "['a']", "{'a': [1]}", "(1, 2)", "...", "x"),
        *(
            "2 * 3",
            "1 / 0",
            "round(2.5) + 1",
            "f'{x}'",
            "x.y",
            "f(1)",
            "f(a=1)",
        ),
        *("not True", "+5", "lambda: 1", "{1}", "[*a]", "x[0]", "a if b else c", "'it' 's'", "'é'", "0x10"),
    ),
    Language.JAVA: (
        *("null", "true", "1", "1L", "1.5f", "'c'", '"x"', '""', '"1"', "new int[]{1, 2}", "x", "x.y", "-1"),
        *(
            "Arrays.asList(1, 2)",
            "new HashMap<String, Object>()",
            "List.of()",
            "(int) 1",
            '"a" + "b"',
            "x -> x",
        ),
        *("new A(1)", "{1, 2}", "[1, 2]", '"1L"', '"[1, 2]"', "x::y", "1e3"),
    ),
    Language.JAVASCRIPT: (
        *(
            "null",
            "undefined",
            "true",
            "1",
            "1.5",
            "'x'",
            '"x"',
            "`x`",
            "[]",
            "[1, 2]",
            "{}",
            "{a: 1}",
            "x.y",
        ),
        *(
            "() => 1",
            "function(){}",
            "new Date()",
            "-1",
            "1n",
            "/x/g",
            "'a' + 'b'",
            "NaN",
            "{'a': 'b'}",
            "'1'",
        ),
        *("{...b}", "[x]", "new Map()", '"[1, 2]"', "f(1)"),
    ),
}


def write_value(value: object, language: Language) -> str:
    return repr(value) if language is Language.PYTHON else json.dumps(value, ensure_ascii=False, default=str)


def change_value(value: object, chance: Random) -> object:
    """Return a value that is like another one, of the same or of another type."""
    match value:
        case bool():
            return chance.choice((not value, str(value), int(value), None))
        case int() | float():
            return chance.choice((-value, value + 1, float(value), int(value), str(value), [value], None))
        case str():
            forms = (value.upper(), value.replace(" ", ""), f"{value}.", f"'{value}'", value[:-1], [value])
            return chance.choice((*forms, value.replace(",", ""), value.replace("-", "/"), f" {value}"))
        case list() if value and chance.random() < 0.5:
            place = chance.randrange(len(value))
            return [*value[:place], change_value(value[place], chance), *value[place + 1 :]]
        case list():
            return chance.choice((value[::-1], value[:-1], [*value, None], tuple(value), str(value), [value]))
        case dict() if value and chance.random() < 0.7:
            name = chance.choice(list(value))
            return {**value, name: change_value(value[name], chance)}
        case dict():
            return chance.choice(({**value, "more": 1}, dict(list(value.items())[1:]), [value], str(value)))
    return value


def draw_text(entry: Entry, expected: ExpectedCalls, chance: Random) -> str:
    """Write the calls of an entry with some of their accepted values, and some of it changed."""
    language, often = entry.category.language, chance.choice((0.0, 0.1, 0.3))
    texts = []
    for wanted in expected.calls:
        arguments = []
        for name, accepted in wanted.accepted.items():
            options = accepted if isinstance(accepted, list) and accepted else [accepted]
            value = choose_plain_value(chance.choice(options))
            if (value == "" and chance.random() < 0.7) or chance.random() < often / 5:
                continue
            if chance.random() < often:
                value = change_value(value, chance)
            text = write_value(value, language)
            if chance.random() < often / 2:
                text = chance.choice(EXPRESSIONS[language])
            arguments.append(f"{name}x={text}" if chance.random() < often / 8 else f"{name}={text}")
        name = wanted.name.replace(".", "_") if chance.random() < 0.3 else wanted.name
        texts.append(f"{name}({', '.join(arguments)})")
    if chance.random() < 0.1:
        chance.shuffle(texts)
    if chance.random() < 0.05:
        texts = texts[:-1] + chance.sample(texts, 1) * chance.randrange(3)
    text = f"[{', '.join(texts)}]"
    return mutate_text(text, chance) if chance.random() < 0.2 else text


def draw_turns(expected: Trajectory, functions: Sequence[str], chance: Random) -> Turns:
    """Return the calls of each step of each turn, some of them changed, added, doubled, moved or left out."""
    turns = [list(turn) for turn in expected.turns]
    calls = [call for turn in turns for call in turn]
    # The official class shares lists between tweets.
    numbers = (0, 1, 2, 5, 10) if "mention" in functions else ()
    added = [f"mention(tweet_id={number}, mentioned_usernames=['@a'])" for number in numbers]
    for _ in range(chance.randrange(4)):
        turn = chance.choice(turns)
        place = chance.randrange(len(turn) + 1)
        match chance.randrange(6):
            case 0:
                del turn[place : place + 1]
            case 1 | 2:
                turn[place : place + 1] = [mutate_call(chance, chance.choice(calls), functions)]
            case 3:
                turn.insert(place, mutate_call(chance, chance.choice(calls), functions))
            case 4:
                turn.insert(place, chance.choice(calls + added))
            case 5:
                chance.shuffle(turn)
    drawn: Turns = []
    for turn in turns:
        steps: list[list[str]] = []
        while turn:
            size = chance.randint(1, len(turn))
            steps.append(turn[:size])
            turn = turn[size:]
        drawn.append(steps or ([[]] if chance.random() < 0.5 else []))
    return drawn


def judge_officially(folder: Path, drawn: Sequence[tuple[Entry, Names, object]]) -> Iterator[object]:
    rows = (
        [entry.category.name, entry.id, entry.category.language.value, names is Names.UNDERSCORED, answer]
        for entry, names, answer in drawn
    )
    return run_official(Path(__file__).with_name("verdicts_official.py"), folder, rows)


def write_verdict(verdict: Verdict) -> list[object]:
    return [False, verdict.code] if isinstance(verdict, Failed) else [True, None]


@NEEDS_OFFICIAL
def test_drawn_calls_get_the_official_verdict(bfcl: Suite, tmp_path: Path) -> None:
    chance = Random(SEED)
    drawn: list[tuple[Entry, Names, str]] = []
    for category in CATEGORIES.values():
        if not category.expects_calls or category.group.value not in ("non_live", "live"):
            continue
        for entry in bfcl.load(category):
            assert isinstance(entry.expectation, ExpectedCalls)
            for _ in range(TEXTS):
                names = chance.choice((Names.DOTTED, Names.UNDERSCORED))
                drawn.append((entry, names, draw_text(entry, entry.expectation, chance)))
    found, codes = [], Counter[object]()
    for (entry, names, text), right in zip(drawn, judge_officially(tmp_path, drawn), strict=True):
        reading = read_official(Completion(text=text), "python", entry.category.language)
        ours = write_verdict(official.match_calls(entry, reading, names))
        if right is not None and ours != right:
            found.append(f"{entry.id} {text:.300}: {ours}, officially {right}")
        codes[ours[1]] += 1
    assert found == []
    assert codes[None] > 2000
    assert len(codes) > 12, codes


@NEEDS_OFFICIAL
def test_drawn_trajectories_get_the_official_verdict(bfcl: Suite, tmp_path: Path) -> None:
    chance = Random(SEED)
    drawn: list[tuple[Entry, Names, Turns]] = []
    for name in SELECTIONS["multi_turn"]:
        for entry in bfcl.load(CATEGORIES[name]):
            assert isinstance(entry.expectation, Trajectory)
            functions = open_environments(entry, bfcl.world).functions
            for _ in range(TRAJECTORIES):
                turns = draw_turns(entry.expectation, functions, chance)
                drawn.append((entry, Names.DOTTED, turns))
    found, codes = [], Counter[object]()
    for (entry, _, turns), right in zip(drawn, judge_officially(tmp_path, drawn), strict=True):
        environments = partial(open_environments, entry, bfcl.world)
        ours = write_verdict(state.match_calls(entry, turns, environments, Profile.OFFICIAL))
        if right is not None and ours != right:
            found.append(f"{entry.id} {turns}: {ours}, officially {right}")
        codes[ours[1]] += 1
    assert found == []
    assert codes[None] > 400
    assert len(codes) > 3, codes


def test_drawn_answers_are_many_and_can_be_read() -> None:
    chance = Random(1)
    values = {repr(change_value(value, chance)) for value in (1, "a b", [1, 2], {"a": 1}) for _ in range(50)}
    assert len(values) > 25
    for text in EXPRESSIONS[Language.PYTHON]:
        ast.parse(text.replace("[*a]", "[a]"), mode="eval")
