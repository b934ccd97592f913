"""Conversations begin with the memory that earlier ones left."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Entry
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    Conversation,
    Fault,
    Party,
    PathSettings,
    Transcript,
)
from pytest_fcbench.domain.verdict import NotScored, Passed, Profile
from pytest_fcbench.kinds.answers import verdict as answer
from pytest_fcbench.kinds.answers.conversations import open_environments
from pytest_fcbench.kinds.answers.verdict import Answers
from pytest_fcbench.kinds.kind import ConversationContext, Memories
from pytest_fcbench.kinds.table import converse
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session
from pytest_fcbench.suites import core
from pytest_fcbench.web import searcher
from pytest_fcbench.web.searcher import Hit
from tests.factories import tool_calls
from tests.kinds.asked import collect_requests
from tests.kinds.golden_path.talking import FC

CORE = core.open_suite(Path())


def _collect_requests(entry: Entry, memories: Memories) -> list[AskModel]:
    model = OracleModel(FC.prompting)
    talk = converse(entry, ConversationContext(FC, CORE, PathSettings(Profile.OFFICIAL), memories))
    return collect_requests(talk, lambda request: run_through(model.complete(entry, request)))


@pytest.mark.parametrize("category", SELECTIONS["memory"])
def test_a_conversation_goes_on_from_what_the_one_before_left(category: str) -> None:
    entry = CORE.load(CATEGORIES[category])[0]
    memories: Memories = {}
    left = []
    for before in entry.earlier:
        first = _collect_requests(before, memories)[0].messages[0]
        assert first["role"] == "system"
        assert entry.scene is not None
        assert str(first["content"]).startswith(entry.scene.persona)
        left.append(copy.deepcopy(memories[before.key]))
    assert list(memories) == [before.key for before in entry.earlier]
    assert left[0] != left[1] != left[2], "each adds something"
    kept = copy.deepcopy(memories)
    *_, last = _collect_requests(entry, memories)
    assert isinstance(entry.expectation, Answers)
    assert any(entry.expectation.texts[0] in str(message) for message in last.messages[2:])
    assert memories == kept, "a question leaves nothing"


def test_what_a_memory_holds_is_shown_ahead() -> None:
    entry = CORE.load(CATEGORIES["memory_rec_sum"])[0]
    assert entry.after is not None
    told = _collect_requests(entry, {entry.after.key: {"memory_rec_sum": {"memory": "Some {persona}."}}})[
        0
    ].messages[0]
    assert str(told["content"]).endswith(f"Some {{persona}}.\n\n{CORE.wording.answer_format}")
    empty = _collect_requests(entry.earlier[0], {})[0].messages[0]
    assert str(empty["content"]).endswith(CORE.wording.empty_memory["memory_rec_sum"])


def test_without_the_conversation_before_results_are_not_known() -> None:
    entry = CORE.load(CATEGORIES["memory_rec_sum"])[0]
    *_, last = _collect_requests(entry, {})
    assert last.messages[-1]["content"] == "(not known: it depends on an earlier conversation)"
    assert open_environments(entry, CORE, {}).copy_state() == {"memory_rec_sum": {"memory": ""}}


CORE_SUITE = core.open_suite(Path())
ENTRY = replace(CORE_SUITE.load(CATEGORIES["web_search_base"])[0], expectation=Answers(("blue",)))
SEARCH = tool_calls(("search_engine_query", {"keywords": "sky"}))
READ = tool_calls(("fetch_url_content", {"url": "http://a.example/", "mode": "truncate"}))
SAID = Completion(text="{'answer': 'blue', 'context': 'x'}")
FOUND = Completion(text=json.dumps({"results": [{"title": "T", "href": "http://a.example/", "body": "B"}]}))
PAGE = Completion(text=json.dumps({"content": "The sky is blue."}))
LOST = Completion(text="no_search: nobody searches", fault=Fault.INFERENCE_ERROR)


def start_conversation(entry: Entry = ENTRY, *, own: bool = True) -> Conversation:
    suite = CORE_SUITE if own else replace(CORE_SUITE, web=None)
    return converse(entry, ConversationContext(FC, suite, PathSettings(Profile.OFFICIAL)))


def send_answers(asking: Conversation, answers: Sequence[Completion]) -> tuple[list[AskModel], Transcript]:
    """Return the requests of a conversation that is sent these answers, and its transcript."""
    requests = [next(asking)]
    try:
        for completion in answers:
            requests.append(asking.send(completion))
    except StopIteration as done:
        return requests, done.value
    raise AssertionError("the conversation goes on")


def list_parties(requests: Sequence[AskModel]) -> list[Party]:
    return [request.party for request in requests]


def test_the_form_of_the_answer_is_told_first() -> None:
    first = next(start_conversation())
    assert str(first.messages[0]["content"]).startswith(CORE_SUITE.wording.answer_format)
    assert CORE_SUITE.wording.answer_format


def test_what_a_call_asks_of_the_web_is_asked_of_a_party() -> None:
    requests, transcript = send_answers(start_conversation(), [SEARCH, FOUND, READ, PAGE, SAID])
    assert list_parties(requests) == [Party.MODEL, Party.OWN_WEB, Party.MODEL, Party.OWN_WEB, Party.MODEL]
    question = json.loads(str(requests[1].messages[0]["content"]))
    arguments = {"keywords": "sky", "max_results": 10, "region": "wt-wt"}
    assert question == {"name": "search_engine_query", "arguments": arguments}
    steps = transcript.turns[0]
    assert steps[0].results == ("[{'title': 'T', 'href': 'http://a.example/', 'body': 'B'}]",)
    assert steps[1].results == ('{"content": "The sky is blue."}',)
    assert [aside.completion for aside in transcript.asides] == [FOUND, PAGE]
    assert answer.judge(ENTRY, transcript).official == Passed()


def test_without_a_web_of_its_own_a_suite_asks_the_web() -> None:
    requests, _ = send_answers(start_conversation(own=False), [SEARCH, FOUND, SAID])
    assert list_parties(requests) == [Party.MODEL, Party.WEB, Party.MODEL]


def test_without_snippets_results_have_title_and_address_only() -> None:
    entry = CORE_SUITE.load(CATEGORIES["web_search_no_snippet"])[0]
    _, transcript = send_answers(start_conversation(entry), [SEARCH, FOUND, SAID])
    assert transcript.turns[0][0].results == ("[{'title': 'T', 'href': 'http://a.example/'}]",)


def test_the_same_is_asked_once() -> None:
    twice = tool_calls(*(("search_engine_query", {"keywords": "sky"}),) * 2)
    requests, transcript = send_answers(start_conversation(), [twice, FOUND, SEARCH, SAID])
    assert list_parties(requests).count(Party.OWN_WEB) == 1
    assert len(transcript.asides) == 1
    assert len(transcript.turns[0][0].results) == 2


def test_several_calls_of_a_message_each_get_their_result() -> None:
    both = tool_calls(
        ("search_engine_query", {"keywords": "sky"}),
        ("search_engine_query", {"keywords": ""}),
        ("fetch_url_content", {"url": "http://a.example/"}),
    )
    _, transcript = send_answers(start_conversation(), [both, FOUND, PAGE, SAID])
    results = transcript.turns[0][0].results
    assert ["title" in results[0], "keywords must" in results[1], "blue" in results[2]] == [True] * 3


def test_a_call_within_a_call() -> None:
    manner = replace(FC, prompting=replace(FC.prompting, mode=Mode.PROMPT, syntax="python"))
    asks = converse(ENTRY, ConversationContext(manner, CORE_SUITE, PathSettings(Profile.OFFICIAL)))
    nested = Completion(text="[fetch_url_content(url=search_engine_query(keywords='sky'))]")
    requests, transcript = send_answers(asks, [nested, FOUND, SAID])
    assert list_parties(requests) == [Party.MODEL, Party.OWN_WEB, Party.MODEL]
    assert "no address that begins with" in transcript.turns[0][0].results[0]


def test_what_is_no_call_of_the_web_asks_nobody() -> None:
    requests, _ = send_answers(start_conversation(), [tool_calls(("rm", {})), SAID])
    assert list_parties(requests) == [Party.MODEL] * 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"error": "closed"}', "closed"),
        ("null", "there is no answer"),
        ('{"content": ""}', '{"content": ""}'),
    ],
)
def test_an_error_is_shown_to_the_model(text: str, told: str) -> None:
    _, transcript = send_answers(start_conversation(), [READ, Completion(text=text), SAID])
    assert told in transcript.turns[0][0].results[0]
    assert answer.judge(ENTRY, transcript).official == Passed()


def test_where_the_web_fails_the_model_is_told_and_nothing_is_scored() -> None:
    _, transcript = send_answers(start_conversation(), [SEARCH, LOST, SAID])
    assert "The search failed: no_search: nobody searches" in transcript.turns[0][0].results[0]
    judgement = answer.judge(ENTRY, transcript)
    assert judgement.official == judgement.corrected == NotScored("no_search", "nobody searches")


# In a run, where the web is asked by a search engine that counts


class Engine:
    """Finds one page for everything, until it is closed."""

    def __init__(self) -> None:
        self.asked = 0
        self.open = True

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Hit]:
        self.asked += 1
        if not self.open:
            raise CallError("quota", "no searches are left")
        return [{"title": "T", "href": "http://127.0.0.1/", "body": "B"}]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Replace the search engine that ``serpapi`` opens."""
    engine = Engine()
    monkeypatch.setattr(searcher, "open_serpapi", lambda: engine)
    return engine


def open_session(tmp_path: Path, **options: object) -> Session:
    """Open a run in which the entries of ``core`` ask the open web."""
    given = {"model": "oracle", "category": ["web_search"], "store": str(tmp_path / "a.sqlite"), **options}
    made = Session(RunContext(build_settings(given, None, tmp_path)))
    made.context.__dict__["suites"] = {"core": replace(CORE_SUITE, web=None)}
    return made


def collect_results(made: Session, number: int = 0) -> tuple[list[str], Transcript]:
    """Return what the calls of an entry returned, and its transcript."""
    entry = made.context.selection.entries("web_search_base")[number]
    transcript = made.transcript(entry)
    return [text for step in transcript.turns[0] for text in step.results], transcript


def test_what_was_answered_is_stored_and_asked_for_no_more(tmp_path: Path, engine: Engine) -> None:
    first = open_session(tmp_path, search="serpapi")
    texts, transcript = collect_results(first)
    asked = engine.asked
    assert asked == 2
    assert "'body': 'B'" in texts[0]
    assert "127" not in texts[1]  # the pages of the trail are nowhere on the web
    first.close()
    for options in ({}, {"offline": True}):
        again = open_session(tmp_path, search="serpapi", **options)
        assert collect_results(again)[1].asides == transcript.asides
        again.close()
    assert engine.asked == asked


def test_a_search_that_failed_is_asked_again_in_the_next_run(tmp_path: Path, engine: Engine) -> None:
    engine.open = False
    first = open_session(tmp_path, search="serpapi")
    texts, transcript = collect_results(first)
    assert "quota: no searches are left" in texts[0]
    verdict = answer.judge(first.context.selection.entries("web_search_base")[0], transcript).official
    assert verdict == NotScored("quota", "no searches are left")
    first.close()
    engine.open = True
    again = open_session(tmp_path, search="serpapi")
    assert "'body': 'B'" in collect_results(again)[0][0]
    again.close()


def test_what_comes_from_the_store_is_recorded_too(tmp_path: Path, engine: Engine) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        recorded = open_session(tmp_path, search="serpapi", search_record=str(tmp_path / name))
        texts, _ = collect_results(recorded)
        recorded.close()
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes() != b""
    replayed = open_session(tmp_path, search=f"recorded:{tmp_path / 'two.jsonl'}", store="none")
    assert collect_results(replayed)[0] == texts
    _, other = collect_results(replayed, 1)
    verdict = answer.judge(replayed.context.selection.entries("web_search_base")[1], other).corrected
    assert isinstance(verdict, NotScored)
    assert verdict.cause == "not_recorded"
    assert "two.jsonl has no answer to search_engine_query" in verdict.reason
    replayed.close()
    assert engine.asked == 2


def test_who_searched_is_told(tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "web.jsonl").write_text("")
    for options, told in (
        ({}, "nobody"),
        ({"search": "serpapi"}, "serpapi"),
        ({"search": f"recorded:{tmp_path / 'web.jsonl'}"}, "recorded:web.jsonl"),
    ):
        made = open_session(tmp_path, **options)
        entry = made.context.selection.entries("web_search_base")[0]
        before = made.facts.search
        made.records.add_record(made.not_scored(entry, NotScored("x", "y")))
        assert (before, made.facts.search) == (None, told)
        made.context.__dict__["suites"] = {"core": CORE_SUITE}
        assert made.facts.search == ("core" if not told.startswith("recorded") else told)
        made.close()


def test_a_model_is_not_asked_where_nobody_searches(tmp_path: Path) -> None:
    """It would be paid for, and not scored."""
    made = open_session(tmp_path, model="openai/some", plan=True)
    entry = made.context.selection.entries("web_search_base")[0]
    with pytest.raises(CallError, match="--fcbench-search"):
        made.context.converse(entry, {})
    lines = list(made.plan([entry]))
    assert [line.split()[:4] for line in lines[1:2]] == [["web_search_base", "1", "0", "0"]]
    assert lines[-2].startswith("not counted: results of web searches and pages")
    assert lines[-1].startswith("note: 1 core entry will not be scored (no_search)")
    made.close()


def test_answers_of_official_files_need_no_web(tmp_path: Path) -> None:
    """What was searched is not in them; what was said is."""
    steps = [[[{"search_engine_query": '{"keywords": "sky"}'}], "{'answer': '1838', 'context': ''}"]]
    row = {"id": "web_search_base_0", "result": steps}
    (tmp_path / "BFCL_v4_web_search_base_result.json").write_text(json.dumps(row))
    made = open_session(tmp_path, model=f"replay:{tmp_path}")
    bfcl = replace(CORE_SUITE, name="bfcl", web=None)
    made.context.__dict__["suites"] = {"core": bfcl, "bfcl": bfcl}
    entry = replace(CORE_SUITE.load(CATEGORIES["web_search_base"])[0], suite="bfcl")
    transcript = made.transcript(entry)
    assert "the answer was not kept" in transcript.turns[0][0].results[0]
    assert answer.judge(entry, transcript).official == Passed()
    made.close()
