"""What wrong calls return is official to the letter, for calls that nobody recorded.

Right calls of conversations are changed at random: values, types, names, missing and further arguments, texts
that are no calls. Each conversation is carried out here and by the official executor.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.environments.execution import open_environments
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.suites.bfcl.official_sources import CLASS_NAMES
from pytest_fcbench.suites.suite import Suite
from tests.parity.asking.recordings import index_entries
from tests.parity.asking.test_bfcl import settle_text
from tests.parity.official_package import NEEDS_OFFICIAL, run_official

SEED = 24
CONVERSATIONS = 800
"""Conversations of which each right call comes in a changed form, and then as it is."""

VALUES: Sequence[object] = (
    *("", "nowhere", "a b", "'", '"', "é", "../x", "AAPL", "USR001", "LAX", "2024-05-01", "2024-13-01"),
    *(0, 1, -1, 10**9, 2.5, -0.5, True, False, None),
    *([], ["a"], [1, "b"], {}, {"a": 1}, (1, 2)),
)
NOT_CALLS = (
    "",
    "pwd",
    "1 + 1",
    "f(",
    "nothing()",
    "a.b(c=1)",
    "kill(1)",
    "pwd() or ls()",
    "x = 1",
)


def mutate_call(random: Random, call: str, functions: Sequence[str]) -> str:
    """Return a call that is changed in one or two places."""
    if random.random() < 0.04:
        return random.choice(NOT_CALLS)
    try:
        node = ast.parse(call, mode="eval").body
    except SyntaxError:
        # Officially right, though Python cannot read it.
        return call
    if not isinstance(node, ast.Call):
        return call
    for _ in range(random.randint(1, 2)):
        kind, values = random.random(), [*node.args, *(keyword.value for keyword in node.keywords)]
        value = ast.parse(repr(random.choice(VALUES)), mode="eval").body
        if kind < 0.6 and values:
            _replace_value(node, random.randrange(len(values)), value)
        elif kind < 0.75 and values:
            _replace_value(node, random.randrange(len(values)), None)
        elif kind < 0.85:
            node.keywords.append(ast.keyword(random.choice(("more", "id", "name", "amount")), value))
        elif kind < 0.95:
            node.func = ast.Name(random.choice(functions))
        else:
            node.args.append(value)
    return ast.unparse(node)


def _replace_value(node: ast.Call, place: int, value: ast.expr | None) -> None:
    if place < len(node.args):
        node.args[place : place + 1] = [] if value is None else [value]
        return
    place -= len(node.args)
    if value is None:
        del node.keywords[place]
    else:
        node.keywords[place].value = value


def draw_conversations(suite: Suite) -> Iterator[tuple[Entry, list[str]]]:
    """Draw entries, each with its right calls after changed forms of them."""
    random = Random(SEED)
    entries = [
        entry
        for entry in index_entries(suite).values()
        if isinstance(entry.expectation, Trajectory) and entry.scene
    ]
    for entry in random.sample(entries, CONVERSATIONS):
        assert isinstance(entry.expectation, Trajectory)
        functions = open_environments(entry, suite.world).functions
        calls = []
        for turn in entry.expectation.turns:
            for call in turn:
                calls += [mutate_call(random, call, functions), call]
        yield entry, calls


def perform_officially(root: Path, drawn: Sequence[tuple[Entry, list[str]]]) -> Iterator[list[str]]:
    """Yield what the calls of each entry return from the official executor."""
    rows = []
    for entry, calls in drawn:
        assert entry.scene
        names = [CLASS_NAMES[domain] for domain in entry.scene.domains]
        talk = {
            "entry": entry.id,
            "classes": names,
            "config": {CLASS_NAMES[domain]: config for domain, config in entry.scene.config.items()},
            "long_context": "long_context" in entry.id or "composite" in entry.id,
            "calls": calls,
        }
        rows.append(talk)
    return run_official(Path(__file__).with_name("mutated_official.py"), root, rows)


def settle(text: str) -> str:
    """Write in one way what the executor's instances and addresses of objects leave in a text."""
    text = re.sub(r"\bm_\w+?_instance\.", "", text)
    return settle_text(re.sub(r" at 0x[0-9a-f]+", "", text))


@NEEDS_OFFICIAL
def test_changed_calls_return_what_they_officially_return(bfcl: Suite, tmp_path: Path) -> None:
    drawn = list(draw_conversations(bfcl))
    found, compared = [], Counter[str]()
    for (entry, calls), theirs in zip(drawn, perform_officially(tmp_path, drawn), strict=True):
        ours = open_environments(entry, bfcl.world).perform_calls(calls)
        assert entry.scene
        compared.update(entry.scene.domains)
        for call, mine, right in zip(calls, ours, theirs, strict=True):
            compared["wrong"] += "rror" in right
            if settle(mine) != settle(right):
                found.append(f"{entry.id}: {call:.150}: {mine:.200} instead of {right:.200}")
                break
    assert found == []
    assert compared["wrong"] > 4000
    assert len(compared) == 9, "a class was not among them"


def draw_web_call(random: Random) -> str:
    """Draw a call of a web tool that is refused before anything is asked."""
    value, other = (repr(random.choice(VALUES)) for _ in range(2))
    return random.choice(
        (
            f"fetch_url_content(url={value})",
            f"fetch_url_content({value}, mode={other})",
            f"fetch_url_content(url={value}, more={other})",
            f"fetch_url_content(mode={value})",
            f"search_engine_query(max_results={value})",
            f"search_engine_query(keywords={value}, more={other})",
            f"search_engine_query({value}, keywords={other})",
            f"search_web(keywords={value})",
        )
    )


@NEEDS_OFFICIAL
def test_refused_calls_of_web_tools_return_what_they_officially_return(bfcl: Suite, tmp_path: Path) -> None:
    random = Random(SEED)
    entry = next(entry for entry in index_entries(bfcl).values() if entry.category.name == "web_search_base")
    calls = [draw_web_call(random) for _ in range(500)]
    (theirs,) = perform_officially(tmp_path, [(entry, calls)])
    ours = open_environments(entry, bfcl.world).perform_calls(calls)
    pairs = zip(calls, map(settle, ours), map(settle, theirs), strict=True)
    assert [each for each in pairs if each[1] != each[2]] == []
    assert len(set(theirs)) > 20


def test_a_changed_call_is_another_one() -> None:
    random = Random(1)
    made: Mapping[str, int] = Counter(mutate_call(random, "f(a=1, b='x')", ["g"]) for _ in range(200))
    assert len(made) > 50
