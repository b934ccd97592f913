"""Whatever is in a file is read, or refused with an error of ours that names what is wrong."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st

from pytest_fcbench.codecs.function_docs import openapi
from pytest_fcbench.codecs.function_docs.python_code import document_function
from pytest_fcbench.config import loading
from pytest_fcbench.config.options import OPTIONS
from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.domain.errors import FcbenchError, PackError, SuiteError, UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile
from pytest_fcbench.kinds.answers import web_pages
from pytest_fcbench.kinds.entry_files import read_entries as read_entries
from pytest_fcbench.models.baselines import replay, scripted
from pytest_fcbench.models.baselines.result_rows import read_turns
from pytest_fcbench.present.comparison_tables import tabulate_comparison
from pytest_fcbench.scorecard import scorecard_files as scorecards
from pytest_fcbench.scorecard.compare.comparison import compare_scorecards
from pytest_fcbench.scorecard.gate.rules import parse_rule
from pytest_fcbench.server.faults import read_latency, read_shares
from pytest_fcbench.suites import core, packs
from pytest_fcbench.suites.bfcl.official_sources import SOURCES, read_constants
from pytest_fcbench.suites.complexfuncbench import read_golden_paths as read_complex
from pytest_fcbench.suites.custom import find_entry_files, is_suite, open_own
from pytest_fcbench.tools.audit import review
from pytest_fcbench.tools.authoring.entry_writing import draft_entries, find_examples
from pytest_fcbench.tools.diagnosis.agreement import read_labels
from pytest_fcbench.web import searcher as recording
from tests.factories import DEMO, FACTS, PACKAGE, make_doc, make_path_record, make_record, make_scorecard
from tests.fuzzing.strategies import change_values, hostile_text, mutate_bytes, mutate_texts, words
from tests.fuzzing.targets import make_target
from tests.fuzzing.test_reading import completions
from tests.kinds.test_entry_files import FOLDER, LINE, VALIDATOR, WRITTEN, shorten_file
from tests.suites.test_complexfuncbench import RECORD
from tests.suites.test_custom import LINES


@contextmanager
def make_folder() -> Iterator[Path]:
    """Make a folder that is gone again; in memory where there is such a place."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="fuzzing-", dir=memory if memory.is_dir() else None) as made:
        yield Path(made)


def read_or_refuse(read: Callable[[], object], *errors: type[FcbenchError]) -> object:
    """Return what is read, or None where it is refused with one of these errors."""
    with suppress(*errors):
        return read()
    return None


# Entries

_TEXTS = tuple(path.read_text(encoding="utf-8")[:3000] for path in WRITTEN)
_VALUES = tuple(shorten_file(path) for path in WRITTEN)
_LINES = tuple(map(json.dumps, LINES))


def open_whole_suite(path: Path) -> object:
    """Open the suite of a path with all its entries."""
    find_entry_files(path)
    is_suite(path)
    suite = open_own("mine", path)
    return [suite.load(category) for category in suite.categories]


@make_target(
    content=mutate_bytes([text.encode() for text in _TEXTS])
    | hostile_text.map(lambda t: t.encode("utf-8", "surrogatepass"))
    | st.binary()
)
def test_any_yaml_is_a_suite_or_refused(content: bytes) -> None:
    with make_folder() as place:
        (place / "a.yaml").write_bytes(content)
        read_or_refuse(lambda: open_whole_suite(place), SuiteError, UsageError)
        read_or_refuse(lambda: open_whole_suite(place / "a.yaml"), SuiteError, UsageError)


@make_target(
    content=mutate_bytes([line.encode() for line in _LINES] + ["\n".join(_LINES).encode()]) | st.binary()
)
def test_any_lines_are_a_suite_or_refused(content: bytes) -> None:
    with make_folder() as place:
        (place / "a.jsonl").write_bytes(content)
        read_or_refuse(lambda: open_whole_suite(place / "a.jsonl"), SuiteError, UsageError)


def _assert_agreement(value: object, valid: bool, read: Callable[[], object]) -> None:
    """Check that the reader refuses what the schema refuses."""
    found = read_or_refuse(read, SuiteError, UsageError)
    assert valid or found is None, f"the schema refuses what is read: {value!r}"


@make_target(value=change_values(_VALUES))
def test_what_the_schema_refuses_is_not_read(value: object) -> None:
    with make_folder() as place:
        for used in FOLDER.glob("booking_*.yaml"):
            shutil.copy(used, place)
        path = place / "a.yaml"
        path.write_text(json.dumps(value))
        _assert_agreement(
            value, VALIDATOR.is_valid(value), lambda: read_entries(path, "mine", core.make_world())
        )


@make_target(value=change_values(LINES))
def test_what_the_schema_refuses_is_not_read_of_lines(value: object) -> None:
    with make_folder() as place:
        path = place / "a.jsonl"
        path.write_text(json.dumps(value))
        _assert_agreement(value, LINE.is_valid(value), lambda: open_whole_suite(path))


@make_target(
    value=change_values(
        [
            {
                "host": "a.example",
                "name": "A",
                "pages": {
                    "/": {"title": "T", "text": ["x [y](/z)"], "table": {"head": ["a"], "rows": [[1]]}},
                    "/b": {"redirect": "/"},
                    "/c": {"title": "T", "json": {}},
                    "/d": {
                        "title": "T",
                        "text": [],
                        "log": {"lines": 2, "seed": 1, "line": "{n} {sea}", "sea": ["calm"]},
                    },
                },
            }
        ]
    )
)
def test_any_pages_are_read_or_refused(value: object) -> None:
    with make_folder() as place:
        (place / "a.yaml").write_text(json.dumps(value))
        read_or_refuse(lambda: web_pages.read_pages([place]), SuiteError)


# Settings

_CONFIGURATION = """model: mine
suite: [core, own]
suites: {own: tests/own}
category: [simple_python, live]
gate: ["overall >= 50%", "not_scored <= 1%"]
param: {top_p: 0.9}
prices: {mine: {input: 1, output: 2.5}}
models:
  mine: {model: openai/x, api_base: "http://127.0.0.1/v1", released: 2024-07-18, rpm: 60}
judge: mine
store: none
smoke: true
timeout: 3.5
"""
_SETTINGS = {
    "model": "mine",
    "suite": ["core"],
    "suites": {"own": "x"},
    "gate": ["overall >= 50%"],
    "param": {"top_p": 0.9},
    "prices": {"mine": {"hour": 1}},
    "models": {"mine": {"model": "x", "released": "2024-07-18", "max_tokens": 5}},
    "trials": 2,
    "smoke": False,
}


@make_target(
    text=mutate_texts([_CONFIGURATION]) | change_values([_SETTINGS]).map(json.dumps),
    given=st.dictionaries(st.sampled_from([option.key for option in OPTIONS]), words, max_size=2),
)
def test_any_configuration_is_read_or_refused(text: str, given: dict[str, str]) -> None:
    with make_folder() as place:
        path = place / "fcbench.yaml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        options = {
            option.key: [given[option.key]]
            if option.repeatable
            else True
            if option.switch
            else given[option.key]
            for option in OPTIONS
            if option.key in given
        }
        for read in (
            lambda: loading.build_settings({}, path, place),
            lambda: loading.build_settings(options, path, place),
            lambda: loading.build_settings(options, None, place),
            lambda: loading.read_release_dates(path),
            lambda: loading.find_own_suites(path),
        ):
            read_or_refuse(read, UsageError)


@make_target(
    text=mutate_texts(
        [
            "overall >= 50%",
            "simple_python >= baseline - 1%",
            "overall not-worse(95%)",
            "latency_p95 <= 3",
            "calls(cross) > 0.5",
        ]
    )
    | hostile_text
)
def test_any_text_is_a_rule_or_refused(text: str) -> None:
    rule = read_or_refuse(lambda: parse_rule(text, ("own",)), UsageError)
    assert rule is None or rule == parse_rule(text, ("own",))


@make_target(text=mutate_texts(["exp:0.8", "0.5-2", "1", "429:0.1", "timeout:0.5"]) | words)
def test_any_text_is_a_fault_or_refused(text: str) -> None:
    read_or_refuse(lambda: read_latency(text), UsageError)
    read_or_refuse(lambda: read_shares([text, text]), UsageError)


# Scorecards

_RECORDS = (
    make_record(),
    make_record(Failed("wrong_count", "2 calls came", {"a": 1}), Passed(), number=1),
    make_record(NotScored("timeout", "late"), category="irrelevance"),
    make_path_record(Failed("a", "b"), category="cross"),
)
_CARD = make_scorecard(_RECORDS, FACTS, 2)
_BASELINE = json.loads(
    scorecards.write_baseline(scorecards.Scorecard(Path("a.json"), FACTS, _RECORDS, {"irrelevance": 3}))
)


@make_target(value=change_values([_CARD, _BASELINE]))
def test_any_scorecard_is_read_or_refused(value: object) -> None:
    """What is read can be scored, compared, and kept as a baseline that is read again."""
    with make_folder() as place:
        path = place / "card.json"
        path.write_text(json.dumps(value))
        card = read_or_refuse(lambda: scorecards.load_scorecard(path), UsageError)
        read_or_refuse(lambda: replay.load(path), UsageError)
        if not isinstance(card, scorecards.Scorecard):
            return
        for profile in Profile:
            card.scores(profile)
            compared = read_or_refuse(lambda: compare_scorecards(card, card, profile), UsageError)  # noqa: B023 - called at once
            if compared is not None:
                tabulate_comparison(compared, 3)  # type: ignore[arg-type]
        path.write_text(scorecards.write_baseline(card))
        assert len(scorecards.load_scorecard(path).records) == len(card.records)


@make_target(content=mutate_bytes([json.dumps(_CARD).encode(), json.dumps(_BASELINE).encode()]) | st.binary())
def test_any_bytes_are_a_scorecard_or_refused(content: bytes) -> None:
    with make_folder() as place:
        path = place / "card.json"
        path.write_bytes(content)
        read_or_refuse(lambda: scorecards.load_scorecard(path), UsageError)
        read_or_refuse(lambda: replay.load(path), UsageError)
        read_or_refuse(lambda: read_labels(path), UsageError)


_RESULTS = (
    {"id": "simple_python_0", "result": "[f(x=1)]", "input_token_count": 1, "latency": 0.5},
    {"id": "multi_turn_base_0", "result": [[[{"f": "{}"}, "x"]], [["y"]]], "latency": [[1], [2]]},
)


@make_target(
    rows=st.lists(change_values(_RESULTS), max_size=3),
    content=mutate_bytes([json.dumps(_RESULTS[1]).encode()]),
)
def test_any_results_are_read_or_refused(rows: list[object], content: bytes) -> None:
    with make_folder() as place:
        path = place / "BFCL_v4_simple_python_result.json"
        for text in ("\n".join(map(json.dumps, rows)).encode(), content):
            path.write_bytes(text)
            read_or_refuse(lambda: replay.load(place), UsageError)
            read_or_refuse(lambda: replay.load(path), UsageError)
    for row in rows:
        if isinstance(row, dict) and "result" in row:
            assert repr(read_turns(row)) == repr(read_turns(row))


@make_target(
    value=change_values(
        [{"mode": "fc", "answers": {"core:a": {"calls": [{"f": {"x": 1}}]}, "b": "text"}, "default": "x"}]
    )
)
def test_any_script_is_read_or_refused(value: object) -> None:
    from pytest_fcbench.domain.prompting import Mode, Names, Prompting

    with make_folder() as place:
        path = place / "script.yaml"
        path.write_text(json.dumps(value))
        read_or_refuse(lambda: scripted.load(path, Prompting.make_default(Mode.FC, Names.DOTTED)), UsageError)


@make_target(
    value=change_values(
        [
            {
                "suite": "bfcl",
                "version": "1",
                "package": "p",
                "decisions": [
                    {
                        "finding": "f",
                        "entries": ["a"],
                        "confirmed": "2026",
                        "decision": "set_aside",
                        "reason": "r",
                    }
                ],
            }
        ]
    )
)
def test_any_review_is_read_or_refused(value: object) -> None:
    with make_folder() as place:
        path = place / "review.yaml"
        path.write_text(json.dumps(value))
        read_or_refuse(lambda: review.read_review(path), SuiteError)


@make_target(value=change_values([{"name": "f", "arguments": {"x": 1}, "answer": {"content": "y"}}]))
def test_any_recording_is_read_or_refused(value: object) -> None:
    with make_folder() as place:
        path = place / "web.jsonl"
        path.write_text(json.dumps(value))
        read_or_refuse(lambda: recording.read_recording(path), UsageError)


@make_target(key=st.text("0123456789abcdef", min_size=1), entry=words, model=words, completion=completions)
def test_a_store_gives_back_what_it_was_given(key: str, entry: str, model: str, completion: object) -> None:
    from pytest_fcbench.domain.transcript import Completion, completion_to_json

    assert isinstance(completion, Completion)
    with make_folder() as place:
        store = AnswerStore(place / "answers.sqlite")
        try:
            store.put(key, entry, model, completion)
            found = store.get(key)
            assert found is not None
            assert json.dumps(completion_to_json(found)) == json.dumps(completion_to_json(completion))
            assert [kept.entry for kept in store.kept()] == [kept.entry for kept in store.kept()]
        finally:
            store.close()


# Packs


@make_target(content=mutate_bytes([json.dumps(RECORD).encode()]))
def test_any_lines_are_complex_entries_or_refused(content: bytes) -> None:
    read_or_refuse(lambda: list(read_complex(content, Path("a.jsonl"))), SuiteError)


def _write_wheel(members: list[tuple[str, bytes, int]], stored: bool) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as archive:
        for name, content, attributes in members:
            info = zipfile.ZipInfo(name.replace("\0", "_") or "_")
            info.external_attr = attributes << 16
            with suppress(ValueError, UnicodeEncodeError):
                archive.writestr(info, content)
    return buffer.getvalue()


_PLACES = st.sampled_from(
    [
        *PACKAGE,
        "../out",
        "demo_eval/data/../../../out",
        "/out",
        "demo_eval/data/a\\..\\b",
        "demo_eval/data/",
        "c:/out",
    ]
)
_MEMBERS = st.lists(
    st.tuples(
        _PLACES | words,
        st.binary(max_size=20) | st.just(b"0" * 100_000),
        st.sampled_from([0, 0o120777, 0o100644]),
    ),
    max_size=4,
)
_WHEELS = st.builds(_write_wheel, _MEMBERS, st.booleans())
_REAL = _write_wheel([(name, text.encode(), 0) for name, text in PACKAGE.items()], stored=False)


@make_target(content=_WHEELS | mutate_bytes([_REAL]) | st.binary())
def test_any_wheel_is_a_pack_or_refused(content: bytes) -> None:
    """Even one with the pinned hash; and nothing is written beside the cache."""
    with make_folder() as place:
        wheel = place / "demo.whl"
        wheel.write_bytes(content)
        source = replace(DEMO, wheel_sha256=hashlib.sha256(content).hexdigest())
        with suppress(SyntaxError, ValueError):  # of the factory's reader of constants
            read_or_refuse(lambda: packs.pull(source, place / "cache", wheel), PackError)
        assert {path.name for path in place.iterdir()} <= {"demo.whl", "cache"}


@make_target(
    value=change_values([{"name": "demo", "version": "1", "content_sha256": "0" * 64, "files": {"a": "b"}}]),
    content=st.binary(),
)
def test_any_manifest_is_a_pack_or_refused(value: object, content: bytes) -> None:
    with make_folder() as place:
        home = place / "packs" / "demo" / "1.0"
        home.mkdir(parents=True)
        for text in (json.dumps(value).encode(), content):
            (home / "pack.json").write_bytes(text)
            pack = read_or_refuse(lambda: packs.open_pack(DEMO, place), PackError)
            if isinstance(pack, packs.Pack):
                read_or_refuse(lambda: pack.read("a"), PackError)  # noqa: B023 - called at once


_PYTHON = (
    mutate_texts(
        [
            'A = "x" + B\nB = {"a": [1], **C}\ndef _cast_to_openai_type(x):\n    x += "This is a float."\n',
            'def _get_language_specific_hint(l):\n    if l:\n        return "a"\n    return "c"\n',
            'class M:\n    def _dump_core_memory_to_context(self):\n        return "No."\nS = {1: {"a"}}\n',
        ]
    )
    | hostile_text
)


@make_target(texts=st.fixed_dictionaries(dict.fromkeys(SOURCES, _PYTHON)))
def test_any_sources_are_constants_or_refused(texts: dict[str, str]) -> None:
    read_or_refuse(lambda: read_constants(texts), PackError)


# What entries and docs are made from


@make_target(
    text=mutate_texts(
        ["What will it be?\nweather.forecast(city='Bergen')\n\nAnd?\nweather.forecast(city='a', days=2)\n"]
    )
    | hostile_text
)
def test_any_examples_are_drafted_or_refused(text: str) -> None:
    read_or_refuse(
        lambda: list(draft_entries(find_examples(text, "x.txt"), [make_doc()], "mine")), UsageError
    )


_OPENAPI = {
    "openapi": "3.1.0",
    "components": {
        "schemas": {
            "A": {
                "type": "object",
                "properties": {
                    "a": {"$ref": "#/components/schemas/A"},
                    "b": {"type": ["string", "null"], "enum": ["x"]},
                },
            }
        }
    },
    "paths": {
        "/a/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "post": {
                "operationId": "make",
                "summary": "Make it.",
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {"allOf": [{"$ref": "#/components/schemas/A"}, {"required": ["b"]}]}
                        }
                    }
                },
            },
        }
    },
}
_TOOLS = {
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "f",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "x": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"type": "number"}}]}
                    },
                    "required": ["x"],
                },
            },
        }
    ]
}


@make_target(value=change_values([_OPENAPI, _TOOLS]))
def test_any_document_is_described_or_refused(value: object) -> None:
    docs = read_or_refuse(lambda: list(openapi.read_functions(value, "a.json")), UsageError)
    if isinstance(docs, list):
        json.dumps([doc.parameters for doc in docs])


@make_target(
    told=mutate_texts(
        [
            "Do it.\n\nArgs:\n    a: The a.\n    b (int): The b.\n",
            "Do it.\n\n:param a: x\n:returns: y",
            "Do\n--\n\nParameters\n----------\na : int\n    x\n",
        ]
    )
    | hostile_text
)
def test_any_docstring_is_described_or_refused(told: str) -> None:
    def function(a: int, b: list[str] | None = None) -> None:
        """Take a docstring from the test."""

    function.__doc__ = told
    doc = read_or_refuse(lambda: document_function(function), UsageError)
    assert doc is None or isinstance(doc, FunctionDoc)


# Secrets


@make_target(
    before=hostile_text,
    secret=st.text(st.sampled_from("abcXYZ019-_.~+/="), min_size=6, max_size=30),
    after=hostile_text,
)
def test_no_secret_is_left(before: str, secret: str, after: str) -> None:
    for text in (f"{before}{secret}{after}", f"{before}{secret}{secret}{after}", f"Bearer {secret}"):
        assert secret not in redact_secrets(text, secret) or secret in "***"
