"""Whole runs along golden paths: the model, a judge and an embedding model, each over real HTTP."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, ToolCall
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.suites import core
from tests.kinds.golden_path.stand_ins import embed_text
from tests.loopback import Answer, Body, Endpoint, Reply, make_error_reply, make_message_reply, serve_answers
from tests.plugin.conftest import Project
from tests.served import served, stats

HOTELS = core.open_suite(Path()).load(CATEGORIES["hotels"])
BY_QUERY = {entry.turns[0][0].content: entry for entry in HOTELS}

OTHERWISE = {f"hotels_{number}" for number in range(5)}
"""Entries of which the model writes the first call otherwise; of the others it calls what is expected."""
SAME, DIFFERENT, NO_WORD, MENDED, LIMITED, *GOLDEN = (entry.id for entry in HOTELS)
"""What the judge does with each entry."""
UNRATED = GOLDEN[0]
"""Of whose final answer the judge has no word."""


def make_model_answer(mode: Mode = Mode.FC) -> Answer:
    """Make a model that goes along the golden path, but for the first call of some entries."""

    def answer(asked: Body) -> Reply:
        messages = asked["messages"]
        assert isinstance(messages, list)
        entry = next(BY_QUERY[said["content"]] for said in messages if said["content"] in BY_QUERY)
        step = sum(said["role"] == "assistant" for said in messages)
        oracle = OracleModel(Prompting.make_default(mode, Names.UNDERSCORED))
        made = run_through(oracle.complete(entry, AskModel((), step=step)))
        if not made.tool_calls and not str(made.text).startswith("["):
            return make_message_reply(f"Booked: {entry.id}.")
        otherwise = entry.id in OTHERWISE and not step
        if mode is Mode.PROMPT:
            return make_message_reply(_rename_place(str(made.text)) if otherwise else made.text)
        calls = [(c.name, str(c.arguments)) for c in made.tool_calls or () if isinstance(c, ToolCall)]
        return make_message_reply(
            calls=[(name, _rename_place(text) if otherwise else text) for name, text in calls]
        )

    return answer


def _rename_place(text: str) -> str:
    """Return arguments with another name of the place."""
    return re.sub(r"""(query\W+?(["'])[^"']*)""", r"\1 town", text)


def identify_question(asked: Body) -> tuple[Entry, str, int]:
    """Return the entry and the question that the judge is asked, and how often it replied before."""
    messages = asked["messages"]
    assert isinstance(messages, list)
    material = json.loads(messages[1]["content"].split("\n", 1)[1].rsplit("\n", 1)[0])
    if "call that was made" in material:
        question = "equivalence"
    else:
        question = "correctness" if "calls and replies" in material else "completeness"
    return BY_QUERY[material["request"]], question, (len(messages) - 2) // 2


def make_judge_answer() -> Answer:
    """Make a judge who is not always of use."""
    refused = Counter[str]()

    def answer(asked: Body) -> Reply:
        entry, question, before = identify_question(asked)
        if question == "equivalence":
            if entry.id == LIMITED and not refused[LIMITED]:
                refused[LIMITED] += 1
                return Reply(make_error_reply(429, "slow down").body, 429, {"Retry-After": "0.05"})
            if entry.id == NO_WORD or (entry.id == MENDED and not before):
                return make_message_reply("They look alike to me.")
            return make_message_reply(json.dumps({"same": entry.id != DIFFERENT, "reason": "So it seems."}))
        if entry.id == UNRATED:
            return make_message_reply("[2]")
        return make_message_reply(
            json.dumps({"score": 2 if question == "completeness" else 1, "reason": "Read it."})
        )

    return answer


@dataclass(frozen=True)
class Parties:
    """Who is asked in a run."""

    model: Endpoint
    judge: Endpoint

    def list_options(self, *more: str) -> tuple[str, ...]:
        return (
            "--fcbench-model=openai/model",
            f"--fcbench-api-base={self.model.api_base}",
            "--fcbench-param=api_key=unused",
            "--fcbench-judge=openai/judge",
            f"--fcbench-judge-api-base={self.judge.api_base}",
            "--fcbench-judge-api-key-env=JUDGE_KEY",
            "--fcbench-category=hotels",
            *more,
        )

    @property
    def request_counts(self) -> tuple[int, int]:
        return len(self.model.requests), len(self.judge.requests)


@pytest.fixture(autouse=True)
def _set_judge_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", "sk-judge-0123456789")


@contextmanager
def serve_parties(mode: Mode = Mode.FC, judge: Answer | None = None) -> Iterator[Parties]:
    with serve_answers(make_model_answer(mode)) as one, serve_answers(judge or make_judge_answer()) as other:
        yield Parties(one, other)


def read_comparable_records(
    project: Project, scorecard: str = "scorecard.json"
) -> dict[str, dict[str, object]]:
    """Return the Records without the model's name and times."""
    comparable = {}
    for entry, record in project.records(scorecard).items():
        assert isinstance(record["asides"], list)
        asides = [{key: aside[key] for key in aside if key != "usage"} for aside in record["asides"]]
        rest = {key: value for key, value in record.items() if key not in ("model", "latency_s", "steps")}
        comparable[entry] = rest | {"asides": asides}
    return comparable


def read_outcomes(project: Project, profile: str = "official") -> dict[str, tuple[object, ...]]:
    """Return by id of the entry: status or code; right calls, completeness and correctness."""
    found = {}
    for entry, record in project.records().items():
        assert isinstance(record["verdicts"], dict)
        assert isinstance(record["paths"], dict)
        verdict, path = record["verdicts"][profile], record["paths"].get(profile)
        counts = (path["right"], path["completeness"], path["correctness"]) if path else ()
        found[entry.removeprefix("core:")] = (verdict["code"] or verdict["status"], *counts)
    return found


def count_golden_calls(entry_id: str) -> int:
    path = next(entry for entry in HOTELS if entry.id == entry_id).expectation
    assert isinstance(path, GoldenPath)
    return len(path.calls)


JUDGED: dict[str, tuple[object, ...]] = {
    **{entry.id: ("passed", count_golden_calls(entry.id), 2, 1) for entry in HOTELS},
    DIFFERENT: ("value_error", 0, None, None),
    NO_WORD: ("judge",),
    UNRATED: ("passed", count_golden_calls(UNRATED), None, None),
}
"""What the judge and the model above come to."""


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_a_judge_who_is_not_always_of_use(project: Project, mode: Mode) -> None:
    """The same however the run is divided."""
    found = []
    with serve_parties(mode) as asked:
        for workers in (("-p", "no:xdist"), ("-n", "0"), ("-n", "2")):
            options = asked.list_options("--fcbench-store=none", f"--fcbench-mode={mode}", *workers)
            result = project.run(*options)
            result.assert_outcomes(passed=6, failed=1, errors=1)
            means = "by the official rules, judge openai/judge, similarity*"
            result.stdout.fnmatch_lines(
                [
                    f"complex conversations: {means}",
                    "      core:hotels_1  step 1: query has another value; the judge: So it seems.",
                    "  judge: 1",
                    "    core:hotels_2: openai/judge did not judge: after 3 tries the reply is not o*",
                ]
            )
            found.append(read_comparable_records(project))
    assert read_outcomes(project) == JUDGED
    assert found[0] == found[1] == found[2]
    section = project.scorecard()["fcbench"]
    assert isinstance(section, dict)
    assert section["driven"] == {
        "profile": "official",
        "judge": "openai/judge",
        "similarity": "structured",
        "live": False,
        "runner": None,
        "wording": None,
    }
    tries = Counter(
        (entry.id, question) for entry, question, _ in map(identify_question, asked.judge.requests)
    )
    for rating in ("completeness", "correctness"):
        assert {i: n // 3 for (i, question), n in tries.items() if question == rating} == {
            entry.id: 3 if entry.id == UNRATED else 1
            for entry in HOTELS
            if entry.id not in (DIFFERENT, NO_WORD)
        }


def test_nobody_is_asked_twice(project: Project) -> None:
    with serve_parties() as asked:
        options = asked.list_options()
        project.run(*options)
        first, before = read_comparable_records(project), asked.request_counts
        (project.path / "scorecard.json").rename(project.path / "first.json")
        again = project.run(*options, "-n", "2")
        again.stdout.fnmatch_lines(["note: judge: 28 answers were reused from answers.sqlite"])
        assert asked.request_counts == before
        assert read_comparable_records(project) == first
    # From here on nobody is there.
    project.run(*options, "--fcbench-offline").assert_outcomes(passed=6, failed=1, errors=1)
    assert read_comparable_records(project) == first
    rejudged = project.fcbench("run", "rejudge", "first.json", "--to=again.json")
    assert (rejudged.returncode, rejudged.stderr) == (0, "")
    assert "no verdict changed" in rejudged.stdout
    assert read_comparable_records(project, "again.json") == first
    for more in ((), ("--fcbench-profile=corrected",), ("-n", "2")):
        replayed = ("--fcbench-model=replay:first.json", "--fcbench-category=hotels", *more)
        result = project.run(*replayed)
        result.stdout.fnmatch_lines(["complex conversations: by the official rules, judge openai/judge,*"])
        assert read_comparable_records(project) == first


@pytest.mark.nightly
def test_offline_needs_an_answer_of_everybody(project: Project) -> None:
    with serve_parties() as asked:
        project.run(*asked.list_options("--fcbench-judge=none"))
        model, judge = asked.request_counts
        assert not judge
        result = project.run(*asked.list_options("--fcbench-offline", "-n", "2"))
        assert asked.request_counts == (model, 0)
    result.assert_outcomes(passed=3, errors=5)
    result.stdout.fnmatch_lines(
        ["  judge: 5", "    core:hotels_0: openai/judge did not judge: offline: answers.sqlit*"]
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_a_judge_who_is_not_there(project: Project, workers: tuple[str, ...]) -> None:
    """What needs it is not scored; what does not is, but for the final answer."""
    with serve_parties() as gone:
        down = gone.judge.api_base
    with serve_parties() as asked:
        options = (f"--fcbench-judge-api-base={down}", "--fcbench-retries=0")
        result = project.run(*asked.list_options(*options), *workers)
    result.assert_outcomes(passed=3, errors=5)
    result.stdout.fnmatch_lines(
        ["  judge: 5", "    core:hotels_0: openai/judge did not judge: connection: openai/judge*"]
    )
    golden = {entry_id: ("passed", count_golden_calls(entry_id), None, None) for entry_id in GOLDEN}
    assert read_outcomes(project) == {**dict.fromkeys(OTHERWISE, ("judge",)), **golden}


def test_a_judge_who_fails_at_final_answers_leaves_these_unjudged(project: Project) -> None:
    def judge(asked: Body) -> Reply:
        if identify_question(asked)[1] != "equivalence":
            return make_error_reply(500, "no")
        return make_message_reply('{"same": true, "reason": "So it seems."}')

    with serve_parties(judge=judge) as asked:
        project.run(*asked.list_options("--fcbench-retries=0")).assert_outcomes(passed=8)
    assert read_outcomes(project) == {
        entry.id: ("passed", count_golden_calls(entry.id), None, None) for entry in HOTELS
    }


def test_a_profile_of_the_judge_has_limits_of_its_own(project: Project) -> None:
    def judge(asked: Body) -> Reply:
        return make_error_reply(503, "busy")

    profile = "model: oracle\nmodels:\n  wise: {{model: openai/wise, api_base: {}, retries: 0}}\n"
    with serve_parties(judge=judge) as asked:
        project.write("fcbench.yaml", profile.format(asked.judge.api_base))
        result = project.run(
            *asked.list_options()[:3],
            "--fcbench-judge=wise",
            "--fcbench-category=hotels",
            "--fcbench-judge-api-key-env=JUDGE_KEY",
        )
    result.stdout.fnmatch_lines(["complex conversations: *, judge wise, *", "  judge: 5"])
    asked_of = Counter(entry.id for entry, _, _ in map(identify_question, asked.judge.requests))
    assert asked_of == {**dict.fromkeys(OTHERWISE, 1), **dict.fromkeys(GOLDEN, 2)}


def test_the_corrected_profile_goes_on(project: Project) -> None:
    with serve_parties() as asked:
        result = project.run(*asked.list_options("--fcbench-profile=corrected", "-n", "2"))
    result.assert_outcomes(passed=7, errors=1)
    result.stdout.fnmatch_lines(["complex conversations: by the corrected rules, judge openai/judge,*"])
    different = ("passed", count_golden_calls(DIFFERENT) - 1, 2, 1)
    assert read_outcomes(project, "corrected") == {**JUDGED, DIFFERENT: different}


@pytest.mark.nightly
def test_each_trial_is_judged(project: Project) -> None:
    with serve_parties() as asked:
        project.run(*asked.list_options("--fcbench-trials=2")).assert_outcomes(passed=12, failed=2, errors=2)
        once = project.run(*asked.list_options("--fcbench-offline"))
    once.assert_outcomes(passed=6, failed=1, errors=1)
    assert read_outcomes(project) == JUDGED


def test_a_plan_asks_nobody(project: Project) -> None:
    with serve_parties() as asked:
        result = project.run(*asked.list_options("--fcbench-plan"))
        assert asked.request_counts == (0, 0)
    # Of right conversations a judge is asked for two ratings each, and for no comparison.
    result.stdout.fnmatch_lines(
        [
            "hotels *8       0      35*",
            "all *8       0      35*",
            "judge *8       0      16*-",
            "bill *-",
            "tokens are estimated: *",
            "dollars of the model: no price is known; give it under 'prices' in fcbench.yaml",
            "dollars of the judge: no price is known; give it under 'prices' in fcbench.yaml",
            "judge: as for right answers; wrong ones are asked about more often",
        ]
    )


def test_the_plan_of_a_model_without_calls_counts_those_of_the_judge(project: Project) -> None:
    project.write("fcbench.yaml", "prices: {openai/judge: {input: 0, output: 1000000}}\n")
    with serve_parties() as asked:
        options = asked.list_options("--fcbench-plan", "--fcbench-model=oracle")
        result = project.run(*options)
        assert asked.request_counts == (0, 0)
    result.stdout.fnmatch_lines(
        ["all *8       8       0 *0.0000", "judge *8       0      16 *1200 1200.0000", "bill * 1200.0000"]
    )


PRICED = "prices: {openai/model: {input: 0, output: 0}, openai/judge: {input: 0, output: 1}}\n"
"""A judge whose token costs a millionth of a dollar, and a model that costs nothing."""


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_what_a_judge_cost_stands_in_the_scorecard(project: Project, workers: tuple[str, ...]) -> None:
    project.write("fcbench.yaml", PRICED)
    with serve_parties() as asked:
        result = project.run(*asked.list_options(*workers), "-v")
        # One of its requests was refused with 429.
        answered = len(asked.judge.requests) - 1
    section = project.scorecard()["fcbench"]
    assert isinstance(section, dict)
    judge = section["usage"]["others"]["judge"]
    tokens = (answered, 11 * answered, 7 * answered)
    assert (judge["steps"], judge["input_tokens"], judge["output_tokens"]) == tokens
    assert judge["usd"] == pytest.approx(7 * answered / 1e6)
    assert section["usage"]["run"]["usd"] == 0
    result.stdout.fnmatch_lines(["run *0.0000 *", f"judge *{answered} *"])


def test_the_gate_counts_the_judge(project: Project) -> None:
    """The model costs nothing here, so all of the bill is the judge's."""
    project.write("fcbench.yaml", PRICED.replace("output: 1}", "output: 1000}"))
    with serve_parties() as asked:
        project.run(*asked.list_options())
        section = project.scorecard()["fcbench"]
        assert isinstance(section, dict)
        usage = section["usage"]
        bill = usage["bill"]["usd"]
        assert (usage["run"]["usd"], usage["others"]["judge"]["usd"]) == (0, bill)
        assert bill > 0
        broken = project.run(*asked.list_options(f"--fcbench-gate=cost<={bill / 2:.6f}usd"))
        held = project.run(*asked.list_options(f"--fcbench-gate=cost<={bill * 2:.6f}usd"))
        per_1000 = 1000 * bill / usage["run"]["steps"]
        dear = project.run(*asked.list_options(f"--fcbench-gate=cost.per_1000<={per_1000 / 2:.6f}usd"))
    assert (broken.ret, held.ret) == (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.OK)
    broken.stdout.fnmatch_lines(
        [
            f"bill with judge: ${bill:.4f}, ${per_1000:.2f} per 1,000 calls of the model",
            f"gate cost<=*: broken: cost is ${bill:.4f} with judge",
        ]
    )
    dear.stdout.fnmatch_lines([f"gate cost.per_1000<=*: broken: cost.per_1000 is ${per_1000:.4f} with judge"])


def test_the_gate_cannot_tell_the_cost_of_a_judge_without_a_price(project: Project) -> None:
    project.write("fcbench.yaml", "prices: {openai/model: {input: 0, output: 0}}\n")
    with serve_parties() as asked:
        result = project.run(*asked.list_options("--fcbench-gate=cost<=1usd"))
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["gate cost<=1usd: cannot tell: cost is $0.0000 with judge for the * calls*"])


def test_the_budget_holds_for_the_judge(project: Project) -> None:
    project.write("fcbench.yaml", PRICED)
    with serve_parties() as asked:
        # A call of the judge is promised 1,024 output tokens, so one fits and a second one does not.
        result = project.run(*asked.list_options("--fcbench-max-usd=0.0011", "--fcbench-concurrency=1"))
        assert 0 < len(asked.judge.requests) < 16
    result.stdout.fnmatch_lines(["*judge: stopped sending requests at $0.*"])
    assert "budget" in str(read_outcomes(project))


def test_a_budget_needs_the_price_of_the_judge(project: Project) -> None:
    project.write("fcbench.yaml", "prices: {openai/model: {input: 0, output: 0}}\n")
    with serve_parties() as asked:
        result = project.run(*asked.list_options("--fcbench-max-usd=1"))
        assert asked.request_counts == (0, 0)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --fcbench-max-usd=1: the price of openai/judge is not known; give it under 'prices'*"]
    )


@pytest.mark.nightly
def test_a_smoke_run_takes_every_tenth_entry(project: Project) -> None:
    """It is a part of a run, so the gate of the file does not hold."""
    project.write("fcbench.yaml", "gate: [complex>0.9]\n")
    result = project.run("--fcbench-model=lexical", "--fcbench-smoke")
    result.stdout.fnmatch_lines(["*gate of fcbench.yaml was not applied: --fcbench-smoke selects a part*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    complex_ones = {entry for entry, record in project.records().items() if record["group"] == "complex"}
    assert complex_ones == {
        f"core:{name}_0" for name in ("hotels", "flights", "car_rental", "attraction", "cross")
    }


# Similarity


def test_an_embedding_model_pairs_calls(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a call is not equal to an expected one and there are several; its answers are kept too."""
    monkeypatch.setenv("EMBEDDING_KEY", "sk-embedding-0123456789")

    def embed_texts(asked: Body) -> Reply:
        texts = asked["input"]
        assert isinstance(texts, list)
        data = [
            {"object": "embedding", "index": index, "embedding": embed_text(text)}
            for index, text in enumerate(texts)
        ]
        return Reply(
            {"object": "list", "model": "bge", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        )

    with serve_parties() as asked, serve_answers(embed_texts) as embeddings:
        options = asked.list_options(
            "--fcbench-similarity=openai/bge",
            f"--fcbench-similarity-api-base={embeddings.api_base}",
            "--fcbench-similarity-api-key-env=EMBEDDING_KEY",
        )
        result = project.run(*options)
        assert read_outcomes(project) == JUDGED
        first, before = read_comparable_records(project), len(embeddings.requests)
        assert embeddings.keys == ["Bearer sk-embedding-0123456789"] * before
        project.run(*options, "-n", "2")
        assert len(embeddings.requests) == before == len(OTHERWISE)
        assert read_comparable_records(project) == first
    result.stdout.fnmatch_lines(["complex conversations: *", "*openai/bge*"])


def test_the_vectors_of_fcbench_serve_pair_calls(project: Project) -> None:
    with serve_parties() as asked, served("--model", "oracle") as api_base:
        options = asked.list_options(
            "--fcbench-similarity=openai/any",
            f"--fcbench-similarity-api-base={api_base}",
            "--fcbench-similarity-api-key-env=JUDGE_KEY",
        )
        result = project.run(*options)
        assert stats(api_base)["answered"] == {"embeddings": len(OTHERWISE)}
    assert read_outcomes(project) == JUDGED
    result.stdout.fnmatch_lines(["complex conversations: *", "*openai/any*"])


@pytest.mark.nightly
@pytest.mark.parametrize(
    "faults", [(), ("--fault", "429:0.2", "500:0.1", "json:0.1", "--retry-after", "0.05")]
)
def test_the_judge_of_fcbench_serve_agrees_with_everything(project: Project, faults: tuple[str, ...]) -> None:
    with serve_answers(make_model_answer()) as model, served("--model", "oracle", *faults) as api_base:
        parties = Parties(model, Endpoint(api_base, [], []))
        result = project.run(*parties.list_options("--fcbench-retries=9"))
        found = stats(api_base)
    result.assert_outcomes(passed=len(HOTELS))
    assert {outcome[2:] for outcome in read_outcomes(project).values()} == {(2, 2)}
    assert found["answered"].keys() == {"judge"}
    assert bool(found["faults"]) is bool(faults)


def test_calls_that_cannot_be_paired_are_not_scored(project: Project) -> None:
    with serve_parties() as asked:
        options = asked.list_options("--fcbench-similarity=openai/bge", "--fcbench-retries=0")
        result = project.run(*options, f"--fcbench-similarity-api-base={asked.judge.api_base[:-3]}/none")
    result.assert_outcomes(passed=3, errors=5)
    result.stdout.fnmatch_lines(["  similarity: 5", "    core:hotels_0: calls could not be paired: *"])


# Options that cannot be


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--fcbench-responses=live",), "*set the environment variable RAPID_API_KEY to your API key"),
        (("--fcbench-responses=life",), "*unknown responses 'life'. Did you mean 'live'?*"),
        (
            ("--fcbench-judge=lexical",),
            "ERROR: --fcbench-judge=lexical: cannot judge, because it answers only entries*",
        ),
        (("--fcbench-judge=replay:x.json",), "ERROR: --fcbench-judge=replay:x.json: cannot judge*"),
        (("--fcbench-judge=scripted:no.yaml",), "ERROR: --fcbench-judge=scripted:no.yaml: no.yaml does not*"),
        (("--fcbench-judge-api-key-env=NOT_THERE",), "ERROR: judge_api_key_env: the environment variable*"),
        (("--fcbench-similarity=structurd",), "*unknown similarity 'structurd'. Did you mean 'structured'?*"),
        (("--fcbench-similarity-api-key-env=NOT_THERE",), "ERROR: similarity_api_key_env: the environment*"),
    ],
    ids=lambda value: value[0].removeprefix("--fcbench-") if isinstance(value, tuple) else "",
)
def test_nobody_is_asked_where_an_option_cannot_be(
    project: Project, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], error: str
) -> None:
    monkeypatch.delenv("RAPID_API_KEY", raising=False)
    with serve_parties() as asked:
        result = project.run(*asked.list_options(*options))
        assert asked.request_counts == (0, 0)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([error])
    assert "Traceback" not in result.stderr.str() + result.stdout.str()
