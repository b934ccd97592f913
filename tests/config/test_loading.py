"""Options and fcbench.yaml become one Settings; a wrong value is told with its place and what is right."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Protocol

import pytest

from pytest_fcbench.config import loading
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.config.options import OPTIONS, ModelFlags
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Shard
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.pressure import parse_levels
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import Mode, Names, Reasoning
from pytest_fcbench.domain.verdict import Profile


class Load(Protocol):
    def __call__(self, text: str | None = None, **options: object) -> Settings: ...


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "fcbench.yaml"


@pytest.fixture
def load(path: Path) -> Load:
    """Return a function that builds settings from the text of a file (None for no file) and options."""

    def build_settings(text: str | None = None, **options: object) -> Settings:
        if text is None:
            return loading.build_settings(options, None)
        path.write_text(text, encoding="utf-8")
        return loading.build_settings(options, path)

    return build_settings


# Values


@pytest.mark.parametrize(
    ("text", "options", "sent"),
    [
        ("", {"stream": "on"}, {"stream": True}),
        ("stream: on", {}, {"stream": True}),
        ("stream: 'on'", {}, {"stream": True}),
        ("stream: true", {}, {"stream": True}),
        ("stream: on", {"stream": "off"}, {"stream": False}),
        ("param: {stream: true}", {"stream": "off"}, {"stream": False}),
        ("model: m\nmodels: {m: {model: x, stream: on}}", {}, {"stream": True}),
        ("", {}, {}),
    ],
)
def test_streams_are_on_or_off(
    load: Load, text: str, options: Mapping[str, object], sent: Mapping[str, object]
) -> None:
    """To YAML both words are truth values where they stand without quotes."""
    settings = load(text, **options)
    assert settings.parameters == {"temperature": 0.001, **sent}
    assert settings.chosen_parameters == frozenset(sent)


@pytest.mark.parametrize(("text", "options"), [("stream: 3", {}), ("", {"stream": "yes"})])
def test_another_word_for_streams_is_refused(load: Load, text: str, options: Mapping[str, object]) -> None:
    with pytest.raises(UsageError, match=r"unknown stream .* Valid: off, on, both\."):
        load(text, **options)


@pytest.mark.parametrize(
    "text", [None, "", "# nothing\n", "{}"], ids=["no file", "empty", "comment", "no keys"]
)
def test_without_options_and_file_the_defaults_hold(
    load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(tmp_path / "packs"))
    settings = load(text)
    assert settings.parameters == {"temperature": 0.001}
    assert (settings.live, settings.preflight) == (False, True)
    assert settings == Settings(
        model="lexical",
        label="lexical",
        flags=ModelFlags("--fcbench-model", "--fcbench-api-base", "--fcbench-api-key-env"),
        suites=("core",),
        compares_streams=False,
        chosen_parameters=frozenset(),
        own={},
        project=Path(),
        categories=tuple(category for category in CATEGORIES.values() if category.scored),
        mode=None,
        names=None,
        syntax=None,
        read_as=None,
        repair=False,
        shots=None,
        context_length=None,
        reasoning=None,
        stream=None,
        profile=Profile.OFFICIAL,
        gate=(),
        baseline=None,
        trained=None,
        against=None,
        against_whole=False,
        noise=None,
        rank_with=(),
        judge=None,
        similarity="structured",
        similarity_api_base=None,
        similarity_api_key=None,
        judge_api_base=None,
        judge_api_key_env=None,
        similarity_api_key_env=None,
        responses="recorded",
        mcp=False,
        unconfined=False,
        embedding="auto",
        search="core",
        search_record=None,
        smoke=False,
        limit=None,
        sample=None,
        shard=None,
        api_base=None,
        api_key_env=None,
        api_key=None,
        temperature=0.001,
        max_tokens=None,
        seed=None,
        runner=None,
        param={},
        price=None,
        similarity_price=None,
        trials=1,
        concurrency=8,
        rpm=None,
        tpm=None,
        retries=8,
        max_body=8,
        max_answer=1_000_000,
        max_pause_s=60.0,
        timeout_s=600.0,
        entry_timeout_s=3600.0,
        max_usd=None,
        plan=False,
        no_preflight=False,
        wait_s=None,
        tag=False,
        store=Path(".fcbench/answers.sqlite"),
        offline=False,
        refresh=False,
        annotate=False,
        step_summary=None,
        scorecard="scorecard.json",
        failures=20,
        runs=Path(".fcbench/runs"),
        labels={},
        entries=(),
        config=None,
        pressure=(),
        forced=None,
        blame=False,
        cache=tmp_path / "packs",
    )


FILE = """\
model: oracle
suite: [core, bfcl]
category: [multiple, live]
mode: prompt
names: underscored
syntax: python
as: Qwen/Qwen3-8B-FC
repair: true
shots: 2
context_length: 32768
reasoning: strip
stream: on
profile: corrected
gate: ["overall>=0.1", "parallel > 20%"]
baseline: kept.json
trained: trained.json
noise: 9
rank_with: [one.json, runs]
api_base: http://localhost:8000/v1
api_key_env: A_VARIABLE
temperature: 0.7
max_tokens: 256
seed: 7
runner: qwen
param: {top_p: 0.9, stop: [END]}
judge: openai/judge
judge_api_base: http://localhost:9000/v1
judge_api_key_env: ANOTHER_VARIABLE
similarity: openai/bge
similarity_api_base: http://localhost:9001/v1
similarity_api_key_env: A_THIRD_VARIABLE
responses: live
embedding: minilm
mcp: true
unconfined: true
search: serpapi
search_record: web.jsonl
smoke: true
pressure: errors:2,0
sample: 9
shard: 3/10
trials: 3
timeout: 30
entry_timeout: 300
retries: 2
max_body: 32
max_answer: 5000
max_pause: 90
rpm: 60
tpm: 9000.5
max_usd: 1.5
no_preflight: true
tag: true
concurrency: 4
prices: {oracle: {input: 2.5, output: 10}}
store: kept.sqlite
offline: true
refresh: false
scorecard: out.json
failures: 5
runs: kept
label: [branch=main, try=2]
"""


def test_every_option_can_stand_in_the_file(load: Load, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_VARIABLE", "the key")
    monkeypatch.setenv("ANOTHER_VARIABLE", "the judge's key")
    monkeypatch.setenv("A_THIRD_VARIABLE", "the third key")
    settings = load(FILE)
    judge = settings.judge
    assert judge is not None
    assert (judge.model, judge.api_base, judge.api_key) == (
        "openai/judge",
        "http://localhost:9000/v1",
        "the judge's key",
    )
    assert dataclasses.replace(settings, categories=(), gate=(), judge=None) == Settings(
        model="oracle",
        label="oracle",
        flags=ModelFlags("--fcbench-model", "--fcbench-api-base", "--fcbench-api-key-env"),
        suites=("core", "bfcl"),
        compares_streams=False,
        chosen_parameters=frozenset(("temperature", "max_tokens", "seed", "top_p", "stop", "stream")),
        own={},
        project=Path(),
        categories=(),
        mode=Mode.PROMPT,
        names=Names.UNDERSCORED,
        syntax="python",
        read_as="Qwen/Qwen3-8B-FC",
        repair=True,
        shots=2,
        context_length=32_768,
        reasoning=Reasoning.STRIP,
        stream=True,
        profile=Profile.CORRECTED,
        gate=(),
        baseline=path.parent / "kept.json",
        trained=path.parent / "trained.json",
        against=None,
        against_whole=False,
        noise=9,
        rank_with=(path.parent / "one.json", path.parent / "runs"),
        judge=None,
        similarity="openai/bge",
        similarity_api_base="http://localhost:9001/v1",
        similarity_api_key="the third key",
        judge_api_base="http://localhost:9000/v1",
        judge_api_key_env="ANOTHER_VARIABLE",
        similarity_api_key_env="A_THIRD_VARIABLE",
        responses="live",
        mcp=True,
        unconfined=True,
        embedding="minilm",
        search="serpapi",
        search_record=path.parent / "web.jsonl",
        smoke=True,
        limit=None,
        sample=9,
        shard=Shard(3, 10),
        api_base="http://localhost:8000/v1",
        api_key_env="A_VARIABLE",
        api_key="the key",
        temperature=0.7,
        max_tokens=256,
        seed=7,
        runner="qwen",
        param={"top_p": 0.9, "stop": ["END"]},
        price=Price(input=2.5, output=10.0),
        similarity_price=None,
        trials=3,
        concurrency=4,
        rpm=60.0,
        tpm=9000.5,
        retries=2,
        max_body=32,
        max_answer=5_000,
        max_pause_s=90.0,
        timeout_s=30.0,
        entry_timeout_s=300.0,
        max_usd=1.5,
        plan=False,
        no_preflight=True,
        wait_s=None,
        tag=True,
        store=path.parent / "kept.sqlite",
        offline=True,
        refresh=False,
        annotate=False,
        step_summary=None,
        scorecard="out.json",
        failures=5,
        runs=path.parent / "kept",
        labels={"branch": "main", "try": "2"},
        pressure=parse_levels("errors:0,2"),
        forced=None,
        blame=False,
        entries=(),
        config=None,
        cache=settings.cache,
    )
    assert settings.parameters == {
        "temperature": 0.7,
        "max_tokens": 256,
        "seed": 7,
        "stream": True,
        "top_p": 0.9,
        "stop": ["END"],
    }
    assert (settings.live, settings.preflight) == (True, False)
    assert {c.name for c in settings.categories} == {"multiple", *SELECTIONS["live"]}
    assert [rule.text for rule in settings.gate] == ["overall>=0.1", "parallel > 20%"]


def test_the_file_of_this_test_names_every_option() -> None:
    # ``wait`` does not go with ``no_preflight``, nor ``limit`` with ``sample``.
    assert {line.partition(":")[0] for line in FILE.splitlines()} == {o.key for o in OPTIONS} - {
        "against",
        "against_whole",
        "config",
        "entry",
        "forced",
        "blame",
        "limit",
        "plan",
        "wait",
    } | {"prices"}


def test_the_id_of_an_entry_under_pressure_says_under_which(load: Load) -> None:
    ids = ["core:parallel_3+distractors=8", "core:parallel_4+errors=1"]
    assert load(entry=ids).pressure == (*parse_levels("distractors:8"), *parse_levels("errors:1"))
    assert load(entry=ids, pressure=["errors:0,2"]).pressure == parse_levels("errors:0,2")
    assert load(entry=[*ids, "core:parallel_5"]).pressure == (), "that would be under pressure, too"
    with pytest.raises(
        UsageError, match=r"--fcbench-entry=core:a\+errors=99: has the level 99; errors can be"
    ):
        load(entry=["core:a+errors=99"])


def test_a_wait_needs_the_first_call(load: Load) -> None:
    assert load("wait: 2.5\n").wait_s == 2.5
    with pytest.raises(UsageError) as caught:
        load("wait: 2.5\nno_preflight: true\n")
    assert str(caught.value) == (
        "--fcbench-wait=2.5: the first call finds out whether the server runs; leave "
        "--fcbench-no-preflight out"
    )


@pytest.mark.parametrize(
    ("prices", "model", "price"),
    [
        ("{my-ft: {hour: 2}}", "my-ft", Price(hour=2.0)),
        ("{hosted_vllm/x: {hour: 2}}", "my-ft", Price(hour=2.0)),
        ("{hosted_vllm/x: {hour: 2}, my-ft: {input: 0, output: 0.5}}", "my-ft", Price(0.0, 0.5)),
        ("{my-ft: {input: 1, output: 2, cached: 0}}", "my-ft", Price(1.0, 2.0, cached=0.0)),
        (
            "{my-ft: {input: 1, output: 2, cached: 0.1, cache_write: 1.25, reasoning: 4}}",
            "my-ft",
            Price(1.0, 2.0, None, 0.1, 1.25, 4.0),
        ),
        ("{my-ft: {hour: 2}}", "hosted_vllm/x", None),
    ],
    ids=["profile", "id", "profile first", "cached tokens", "all tokens", "another"],
)
def test_a_price_goes_by_profile_or_id(load: Load, prices: str, model: str, price: Price | None) -> None:
    file = f"prices: {prices}\nmodels:\n  my-ft: {{model: hosted_vllm/x}}\n"
    assert load(file, model=model).price == price


def test_judge_and_embedding_model_have_prices_of_their_own(load: Load) -> None:
    file = "prices: {j: {input: 1, output: 2}, e: {input: 3, output: 0}}\n"
    settings = load(file, model="m", judge="j", similarity="e")
    assert settings.judge is not None
    assert (settings.price, settings.judge.price, settings.similarity_price) == (
        None,
        Price(1.0, 2.0),
        Price(3.0, 0.0),
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{input: 1}", "fcbench.yaml:1: prices.m: must have either 'input' and 'output'"),
        ("{hour: 1, cached: 1}", "fcbench.yaml:1: prices.m: must have either 'input' and 'output'"),
        ("{input: 1, output: 2, hour: 3}", "must have either 'input' and 'output'"),
        ("{hour: cheap}", "prices.m.hour: must be a number of dollars, 0 or more"),
        ("{hour: -1}", "must be a number of dollars, 0 or more"),
        ("{hour: true}", "must be a number of dollars, 0 or more"),
        ("{minute: 1}", "minute"),
        ("3", "prices.m"),
    ],
)
def test_a_wrong_price_is_told_with_its_line(load: Load, row: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(f"prices: {{m: {row}}}\n")
    assert message in str(caught.value)


@pytest.mark.parametrize("key", ["trials", "concurrency"])
@pytest.mark.parametrize("value", ["0", "1.5", "-2", "many"])
def test_counts_start_at_one(load: Load, key: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"--fcbench-{key}={value}: must be"):
        load(**{key: value})


def test_a_single_value_needs_no_list(load: Load) -> None:
    settings = load("suite: bfcl\ncategory: parallel\ngate: overall>=0.1\n")
    assert settings.suites == ("bfcl",)
    assert settings.categories == (CATEGORIES["parallel"],)
    assert len(settings.gate) == 1


@pytest.mark.parametrize("name", SELECTIONS)
def test_a_group_stands_for_its_categories(load: Load, name: str) -> None:
    assert tuple(c.name for c in load(category=[name]).categories) == SELECTIONS[name]


def test_categories_are_in_the_order_of_the_tables_whatever_was_asked(load: Load) -> None:
    names = ["live_simple", "parallel", "simple_java", "parallel"]
    assert [c.name for c in load(category=names).categories] == ["simple_java", "parallel", "live_simple"]


def test_a_category_that_is_not_scored_runs_where_it_is_named(load: Load) -> None:
    unscored = "multi_turn_composite"
    for names in (None, ["multi_turn"], list(SELECTIONS)):
        assert unscored not in [c.name for c in load(category=names).categories]
    assert [c.name for c in load(category=[unscored]).categories] == [unscored]
    both = [c.name for c in load(category=[unscored, "multi_turn"]).categories]
    assert both == [*SELECTIONS["multi_turn"], unscored]


@pytest.mark.parametrize("word", ["none", "None", "NONE"])
def test_the_scorecard_can_be_switched_off(load: Load, word: str) -> None:
    assert load(scorecard=word).scorecard is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("top_p=0.5", 0.5),
        ('top_p=["a", 1]', ["a", 1]),
        ("top_p=true", True),
        ("top_p=plain words", "plain words"),
        ("top_p=a=b", "a=b"),
        ("top_p=", ""),
    ],
)
def test_a_free_parameter_is_json_or_else_text(load: Load, text: str, value: object) -> None:
    assert load(param=[text]).parameters["top_p"] == value


@pytest.mark.parametrize("temperature", ["0", "1.5", "2e-1"])
def test_temperature_is_any_number_from_0(load: Load, temperature: str) -> None:
    assert load(temperature=temperature).parameters["temperature"] == float(temperature)


def test_the_cache_folder_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(tmp_path))
    assert loading.find_cache_folder() == tmp_path


def test_without_it_the_cache_folder_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FCBENCH_CACHE", raising=False)
    assert loading.find_cache_folder().name == "fcbench"
    assert loading.find_cache_folder().is_absolute()


# Which value wins

LAYERED = """\
model: mine
temperature: 0.3
max_tokens: 30
seed: 3
timeout: 33
param: {top_p: 0.3, top_k: 3}
models:
  mine:
    model: hosted_vllm/mine
    temperature: 0.2
    max_tokens: 20
    param: {top_p: 0.2}
  other:
    model: hosted_vllm/other
    seed: 9
"""


def test_command_line_wins_over_profile_over_top_level_over_default(load: Load) -> None:
    settings = load(LAYERED, temperature="0.1", failures="1")
    assert settings.parameters["temperature"] == 0.1
    assert settings.parameters["max_tokens"] == 20
    assert settings.parameters["seed"] == 3
    assert settings.timeout_s == 33.0
    assert settings.failures == 1
    assert settings.scorecard == "scorecard.json"


def test_a_profile_of_the_file_gives_the_model_its_name(load: Load) -> None:
    settings = load(LAYERED)
    assert (settings.model, settings.label) == ("hosted_vllm/mine", "mine")


def test_a_profile_can_be_chosen_on_the_command_line(load: Load) -> None:
    settings = load(LAYERED, model="other")
    assert settings.label == "other"
    assert settings.parameters["seed"] == 9
    assert settings.parameters["temperature"] == 0.3


def test_a_profile_chosen_on_the_command_line_stands_for_its_model(load: Load) -> None:
    assert load(LAYERED, model="other").model == "hosted_vllm/other"


def test_another_model_on_the_command_line_takes_no_profile(load: Load) -> None:
    settings = load(LAYERED, model="oracle")
    assert (settings.model, settings.label) == ("oracle", "oracle")
    assert settings.parameters["temperature"] == 0.3


def test_a_repeated_option_replaces_the_files(load: Load) -> None:
    settings = load("suite: [core]\ngate: [overall>=0.9]\n", suite=["bfcl"], gate=["parallel>=0.1"])
    assert settings.suites == ("bfcl",)
    assert [rule.text for rule in settings.gate] == ["parallel>=0.1"]


@pytest.mark.parametrize("rule", ["parallel>=baseline-2%", "not-worse(95%)"])
def test_a_rule_that_compares_needs_a_baseline(load: Load, path: Path, rule: str) -> None:
    with pytest.raises(UsageError, match="compares with a baseline; give one with --fcbench-baseline=FILE"):
        load(None, gate=[rule])
    assert load(None, gate=[rule], baseline="b.json").baseline == Path("b.json")
    assert load(f"gate: ['{rule}']\nbaseline: kept.json\n").baseline == path.parent / "kept.json"


def test_a_rule_may_be_about_a_suite(load: Load) -> None:
    assert [rule.text for rule in load(None, gate=["bfcl>=0.2"]).gate] == ["bfcl>=0.2"]


def test_free_parameters_of_a_profile_are_laid_over_those_of_the_top_level(load: Load) -> None:
    parameters = load(LAYERED).parameters
    assert parameters["top_p"] == 0.2
    assert "top_k" in parameters


def test_free_parameters_of_the_command_line_are_added_to_the_files(load: Load) -> None:
    parameters = load(LAYERED, param=["min_p=0.1", "top_p=0.4"]).parameters
    assert (parameters["min_p"], parameters["top_p"]) == (0.1, 0.4)


def test_a_free_parameter_of_the_file_does_not_win_over_the_command_line(load: Load) -> None:
    assert load("param: {temperature: 0.9}\n", temperature="0.1").parameters["temperature"] == 0.1


def test_a_timeout_of_zero_is_refused(load: Load) -> None:
    with pytest.raises(UsageError, match="--fcbench-timeout=0: must be more than 0"):
        load(timeout="0")


# Keys of endpoints


def test_the_key_is_read_from_the_named_variable(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_ENDPOINT", "s3cret-value\n")
    settings = load(
        "models: {mine: {model: x/y, api_key_env: MY_ENDPOINT}}\nmodel: mine\n",
        similarity_api_key_env="MY_ENDPOINT",
    )
    assert settings.api_key == settings.similarity_api_key == "s3cret-value"


def test_a_path_may_begin_with_the_users_home(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    settings = load("store: ~/answers\nsuites: {mine: ~/entries.yaml}\n", baseline="~/b.json")
    assert settings.store == Path("/home/somebody/answers")
    assert settings.baseline == Path("/home/somebody/b.json")
    assert settings.own["mine"] == Path("/home/somebody/entries.yaml")


def test_the_key_is_not_shown(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_ENDPOINT", "s3cret-value")
    settings = load(
        api_key_env="MY_ENDPOINT", param='extra_headers={"X": "s3cret-2"}', api_base="http://a/?s=s3cret-3"
    )
    assert "s3cret" not in repr(settings)
    assert "s3cret" not in str(settings)
    assert "lexical" in repr(settings)


@pytest.mark.parametrize("text", [None, "api_key_env: NOT_SET_ANYWHERE\n"], ids=["command line", "file"])
def test_a_variable_that_is_not_set_is_told(
    load: Load, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    monkeypatch.delenv("NOT_SET_ANYWHERE", raising=False)
    with pytest.raises(UsageError) as caught:
        load(text, **({} if text else {"api_key_env": "NOT_SET_ANYWHERE"}))
    assert (
        str(caught.value)
        == "api_key_env: the environment variable 'NOT_SET_ANYWHERE' is not set; set it to the API key"
    )


@pytest.mark.parametrize(("name", "value"), [("offline", True), ("forced", "auto")])
def test_who_lost_the_points_is_not_asked_where_nothing_is(load: Load, name: str, value: object) -> None:
    assert load(blame=True).blame
    with pytest.raises(UsageError, match="--fcbench-blame asks the model again, which --fcbench-"):
        load(None, blame=True, **{name: value})


def test_forced_truth_takes_the_place_of_the_categories(load: Load) -> None:
    settings = load(forced="auto", category=["parallel", "server_forced", "format_sensitivity"])
    assert [each.name for each in settings.categories] == ["server_forced"]
    assert [each.name for each in settings.forced_categories] == ["parallel"]
    # As a mark of pytest, the category of the run selects nothing of the entries.
    settings = load(forced="auto", category=["server_forced"])
    assert "parallel" in {each.name for each in settings.forced_categories}
    assert load().forced_categories == ()


def test_an_unknown_way_is_answered_with_the_nearest(load: Load) -> None:
    with pytest.raises(UsageError) as caught:
        load(forced="roundtrip")
    assert str(caught.value) == (
        "--fcbench-forced=roundtrip: unknown forced 'roundtrip'. Did you mean 'round-trip'? Valid: auto, "
        "round-trip, derender, parse, choice, grammar."
    )


# Wrong values, on the command line and in the file

WRONG = [
    (
        "suite",
        "bfc",
        "unknown suite 'bfc'. Did you mean 'bfcl'? Valid: core, bfcl, complexfuncbench, wire, frontier.",
    ),
    (
        "category",
        "paralel",
        "unknown category 'paralel'. Did you mean 'parallel' or 'live_parallel' or 'exec_parallel'?",
    ),
    ("category", "non-live", "unknown category 'non-live'. Did you mean 'non_live'"),
    ("mode", "promt", "unknown mode 'promt'. Did you mean 'prompt'? Valid: fc, prompt, completion."),
    ("mode", "function calling", "unknown mode 'function calling'. Valid: fc, prompt, completion."),
    ("names", "doted", "unknown names 'doted'. Did you mean 'dotted'? Valid: dotted, underscored."),
    ("profile", "oficial", "unknown profile 'oficial'. Did you mean 'official'? Valid: official, corrected."),
    (
        "syntax",
        "hermis",
        "unknown syntax 'hermis'. Did you mean 'hermes'? There are ",
    ),
    ("temperature", "warm", "must be a number"),
    ("temperature", "nan", "must be a number, 0 or more"),
    ("temperature", "inf", "must be a number, 0 or more"),
    ("temperature", "-1", "must be a number, 0 or more"),
    ("max_tokens", "many", "must be a number"),
    ("seed", "-3", "must be a number, 0 or more"),
    ("timeout", "10s", "must be a number"),
    ("failures", "all", "must be a number"),
]
IDS = [f"{key}={value}" for key, value, _ in WRONG]


@pytest.mark.parametrize(("key", "value", "says"), WRONG, ids=IDS)
def test_a_wrong_value_on_the_command_line(load: Load, key: str, value: str, says: str) -> None:
    option = next(option for option in OPTIONS if option.key == key)
    with pytest.raises(UsageError) as caught:
        load(None, **{key: [value] if option.repeatable else value})
    assert str(caught.value).startswith(f"{option.flag}={value}: {says}")


@pytest.mark.parametrize(("key", "value", "says"), WRONG, ids=IDS)
def test_a_wrong_value_in_the_file(load: Load, path: Path, key: str, value: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(f"# settings\n\n{key}: {value!r}\n")
    assert str(caught.value).startswith(f"{path}:3: {key}: {says}")


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [row for row in WRONG if next(o for o in OPTIONS if o.key == row[0]).of_model],
    ids=lambda value: value if isinstance(value, str) and len(value) < 12 else "",
)
def test_a_wrong_value_in_a_profile(load: Load, path: Path, key: str, value: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(f"model: mine\nmodels:\n  mine:\n    model: x/y\n    {key}: {value!r}\n")
    assert str(caught.value).startswith(f"{path}:5: models.mine.{key}: {says}")


@pytest.mark.parametrize("key", ["failures", "max_tokens", "seed"])
def test_a_count_must_be_whole(load: Load, key: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(**{key: "2.5"})
    assert str(caught.value).endswith("=2.5: must be a whole number")


@pytest.mark.parametrize("key", ["failures", "max_tokens", "seed"])
def test_a_count_that_is_not_whole_is_told_with_its_place(load: Load, path: Path, key: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(f"{key}: 2.5\n")
    assert str(caught.value).startswith(f"{path}:1: {key}: ")


def test_the_wrong_one_of_several_is_told(load: Load, path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load("suite:\n  - core\n  - cor\n")
    assert str(caught.value).startswith(f"{path}:3: suite.1: unknown suite 'cor'. Did you mean 'core'?")


@pytest.mark.parametrize("text", ["=1", "top_p", ""])
def test_a_free_parameter_without_name_or_value(load: Load, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(param=[text])
    assert str(caught.value) == f"--fcbench-param={text}: must be NAME=JSON, for example top_p=0.9"


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (
            "overal>=0.2",
            "invalid gate rule 'overal>=0.2': unknown metric 'overal'. Did you mean 'overall'? There are ",
        ),
        ("overall=0.2", "invalid gate rule 'overall=0.2': expected METRIC OPERATOR VALUE"),
        (
            "overall>=20",
            "invalid gate rule 'overall>=20': 20 is more than 1; use a fraction or a percentage, "
            "e.g. 0.8 or 80%",
        ),
    ],
)
def test_a_wrong_gate_rule(load: Load, path: Path, rule: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(gate=["parallel>0.1", rule])
    assert str(caught.value).startswith(says)
    with pytest.raises(UsageError) as caught:
        load(f"gate:\n  - parallel>0.1\n  - {rule}\n")
    assert str(caught.value).startswith(f"{path}:3: gate.1: {says}")


# Wrong shapes in the file


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("[core]", "1: file: must be a mapping, not list ['core']", id="a list"),
        pytest.param(
            "model: oracle\nsuit: core\n",
            "2: suit: unknown key 'suit'. Did you mean 'suite' or 'suites'? There are ",
            id="unknown key",
        ),
        pytest.param("config: x.yaml\n", "1: config: unknown key 'config'.", id="a key of the command line"),
        pytest.param("mode: [fc]\n", "1: mode: must be text or a number", id="list for text"),
        pytest.param(
            "model: x\nmodels: {x: {model: }}\n",
            "2: models.x.model: must be text, not empty",
            id="a profile of nothing",
        ),
        pytest.param("model: [a, b]\n", "1: model: must be text, not list ['a', 'b']", id="list for a model"),
        pytest.param(
            "temperature: [1]\n", "1: temperature: must be text or a number", id="list for a number"
        ),
        pytest.param("profile: {a: b}\n", "1: profile: must be text or a number", id="mapping for text"),
        pytest.param("suite: {core: 1}\n", "1: suite: must be text or a number", id="mapping for a list"),
        pytest.param("suite: [[core]]\n", "1: suite.0: must be text or a number", id="list in a list"),
        pytest.param("mode: off\n", "1: mode: must be text or a number", id="boolean"),
        pytest.param("timeout:\n", "1: timeout: must be text or a number", id="nothing"),
        pytest.param(
            "param: [top_p]\n", "1: param: must be a mapping, not list ['top_p']", id="list of parameters"
        ),
        pytest.param("models: [x]\n", "1: models: must be a mapping, not list ['x']", id="list of profiles"),
        pytest.param(
            "models: {a: x/y}\n", "1: models.a: must be a mapping, not str 'x/y'", id="profile that is text"
        ),
        pytest.param(
            "models:\n  a:\n    seed: 1\n", "2: models.a: has no 'model'", id="profile without model"
        ),
        pytest.param(
            "model: oracle\nmodels:\n  a:\n    model: x/y\n    temprature: 1\n",
            "5: models.a.temprature: unknown key 'temprature'. Did you mean 'temperature'? Valid: model, ",
            id="unknown key of a profile that is not used",
        ),
        *(
            pytest.param(
                f"models:\n  a:\n    model: x/y\n    released: {day}\n",
                "4: models.a.released: must be a date such as 2024-07-18",
                id=f"released {day}",
            )
            for day in (
                "2024-7-18",
                "2024-07",
                "18.07.2024",
                "2024-07-18T12:00:00",
                "20240718",
                "'2024-02-30'",
            )
        ),
        pytest.param(
            "models:\n  a:\n    model: x/y\n    suite: core\n",
            "4: models.a.suite: unknown key 'suite'.",
            id="a key that describes no model",
        ),
    ],
)
def test_a_wrong_shape_is_told_with_file_and_line(load: Load, path: Path, text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(text)
    assert str(caught.value).startswith(f"{path}:{says}")


def test_release_dates_go_by_profile(path: Path) -> None:
    path.write_text(
        "models:\n"
        "  a: {model: x/a, released: 2024-07-18}\n"
        "  b: {model: x/b, released: '2025-02-01'}\n"
        "  c: {model: x/c}\n",
        encoding="utf-8",
    )
    assert loading.read_release_dates(path) == {"a": date(2024, 7, 18), "b": date(2025, 2, 1)}
    assert loading.read_release_dates(None) == {}


def test_valid_keys_are_named_once(load: Load) -> None:
    with pytest.raises(UsageError) as caught:
        load("models: {a: {model: x/y, temprature: 1}}\n")
    assert str(caught.value).count(" model,") == 1


@pytest.mark.parametrize("text", ["suite: [core\n", "a: b: c\n", "model: !!int x\n"])
def test_a_file_that_is_not_yaml_is_told(load: Load, path: Path, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(text)
    assert re.match(rf"{re.escape(str(path))}(:1)?: not valid YAML: ", str(caught.value))


# The file


def test_the_file_of_the_root_is_used_if_there(path: Path, tmp_path: Path) -> None:
    assert loading.find_config_file(tmp_path, None) is None
    path.write_text("model: oracle\n", encoding="utf-8")
    assert loading.find_config_file(tmp_path, None) == path


def test_a_named_file_is_used_instead(path: Path, tmp_path: Path) -> None:
    path.write_text("model: oracle\n", encoding="utf-8")
    other = tmp_path / "other.yaml"
    other.write_text("model: lexical\n", encoding="utf-8")
    assert loading.find_config_file(tmp_path, str(other)) == other


@pytest.mark.parametrize("name", ["none.yaml", "."], ids=["missing", "a folder"])
def test_a_named_file_must_be_there(tmp_path: Path, name: str) -> None:
    given = str(tmp_path / name)
    with pytest.raises(UsageError) as caught:
        loading.find_config_file(tmp_path, given)
    assert (
        str(caught.value)
        == f"--fcbench-config={given}: no such file; name a configuration file, or leave the "
        f"option out"
    )


# The judge


class LoadJudge(Protocol):
    def __call__(self, text: str | None = None, **options: object) -> Settings | None: ...


@pytest.fixture
def load_judge(path: Path) -> LoadJudge:
    """As ``load``, the settings of the judge."""

    def build_settings(text: str | None = None, **options: object) -> Settings | None:
        if text is None:
            return loading.build_judge_settings(options, None)
        path.write_text(text, encoding="utf-8")
        return loading.build_judge_settings(options, path)

    return build_settings


def test_a_judge_needs_no_baseline(load_judge: LoadJudge) -> None:
    """That of a run may come from the command line, of which a judge sees little."""
    judge = load_judge("judge: openai/x\ngate: ['not-worse(95%)']\n")
    assert judge
    assert judge.gate == ()


@pytest.mark.parametrize("text", [None, "", "model: openai/x\n", "judge: none\n"])
def test_nobody_judges_unless_named(load_judge: LoadJudge, text: str | None) -> None:
    assert load_judge(text) is None
    assert load_judge("judge: openai/x\n", judge="none") is None


def test_the_judge_stands_where_the_model_stood(
    load_judge: LoadJudge, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything that the file says of the model is left out; what it says of runs holds."""
    monkeypatch.setenv("ANOTHER_VARIABLE", "the judge's key")
    monkeypatch.setenv("A_THIRD_VARIABLE", "the third key")
    judge = load_judge(FILE.replace("A_VARIABLE", "NOT_SET_ANYWHERE"))
    assert judge is not None
    assert (judge.model, judge.label) == ("openai/judge", "openai/judge")
    assert judge.flags == ModelFlags(
        "--fcbench-judge", "--fcbench-judge-api-base", "--fcbench-judge-api-key-env"
    )
    assert (judge.api_base, judge.api_key) == ("http://localhost:9000/v1", "the judge's key")
    assert judge.parameters == {"temperature": 0.001}
    assert (judge.mode, judge.concurrency, judge.rpm, judge.retries) == (None, 8, None, 8)
    assert (judge.max_usd, judge.store, judge.offline) == (1.5, path.parent / "kept.sqlite", True)


def test_a_profile_describes_the_judge_and_the_command_line_wins(load_judge: LoadJudge) -> None:
    text = (
        "judge: wise\njudge_api_base: http://top\nmodel: other\napi_base: http://model\n"
        "models:\n"
        "  wise: {model: openai/x, api_base: http://wise, concurrency: 3, temperature: 0}\n"
        "  other: {model: openai/y, api_base: http://other, max_tokens: 5}\n"
        "prices: {wise: {hour: 2}}\n"
    )
    judge = load_judge(text)
    assert judge is not None
    assert (judge.model, judge.label, judge.api_base) == ("openai/x", "wise", "http://wise")
    assert (judge.concurrency, judge.parameters, judge.price) == (3, {"temperature": 0.0}, Price(hour=2.0))
    judge = load_judge(text, judge="openai/z", judge_api_base="http://line", concurrency="5", model="other")
    assert judge is not None
    assert (judge.model, judge.label, judge.api_base) == ("openai/z", "openai/z", "http://line")
    assert (judge.concurrency, judge.parameters) == (5, {"temperature": 0.001})


def test_a_variable_of_the_judge_that_is_not_set_is_told(
    load_judge: LoadJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOT_SET_ANYWHERE", raising=False)
    with pytest.raises(UsageError, match="judge_api_key_env: the environment variable 'NOT_SET"):
        load_judge(judge="openai/x", judge_api_key_env="NOT_SET_ANYWHERE")


@pytest.mark.parametrize("name", ["judge: [a]\n", "judge: 3.5\njudge_api_base: {}\n"])
def test_a_judge_is_a_name(load_judge: LoadJudge, path: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_judge(name)
    assert str(caught.value).startswith(f"{path}:")


def test_suites_of_a_team_lie_beside_the_file(load: Load, tmp_path: Path) -> None:
    settings = load("suites: {mine: entries/mine, other: /somewhere}\nsuite: [mine]\n")

    assert settings.own == {"mine": tmp_path / "entries/mine", "other": Path("/somewhere")}
    assert settings.suites == ("mine",)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("suites: {core: x}\n", "fcbench.yaml:1: suites.core: 'core' cannot name a suite"),
        ("suites:\n  parallel: x\n", "fcbench.yaml:2: suites.parallel: 'parallel' cannot name a suite"),
        ("suites: {overall: x}\n", "fcbench.yaml:1: suites.overall: 'overall' cannot name a suite"),
        (
            "suites: {a b: x}\n",
            "'a b' cannot name a suite; use one word that names no category, mark, score or other suite",
        ),
        ("suites: {mine: 3}\n", "suites.mine: must be text"),
        (
            "suites: [mine]\n",
            "suites: must map names to paths; list the names of suites to run under 'suite'",
        ),
        ("suites: {mine: x}\nsuite: [min]\n", "Did you mean 'mine'?"),
    ],
)
def test_a_suite_of_a_team_needs_a_name_of_its_own(load: Load, text: str, rule: str) -> None:
    with pytest.raises(UsageError, match=re.escape(rule)):
        load(text)


# The environment


def test_a_variable_gives_what_the_command_line_does_not(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setenv("FCBENCH_CONCURRENCY", "3")
    monkeypatch.setenv("FCBENCH_SUITE", "core,bfcl")
    monkeypatch.setenv("FCBENCH_SMOKE", "yes")
    monkeypatch.setenv("FCBENCH_REFRESH", "0")
    monkeypatch.setenv("FCBENCH_MODEL", "my-ft")
    monkeypatch.setenv("FCBENCH_PARAM", "top_p=0.9")
    path.write_text("concurrency: 5\nrefresh: true\nmodels: {my-ft: {model: oracle, max_tokens: 9}}\n")

    settings = loading.build_settings(loading.add_environment({"model": None}), path)
    assert (settings.label, settings.model, settings.max_tokens) == ("my-ft", "oracle", 9)
    assert (settings.concurrency, settings.suites) == (3, ("core", "bfcl"))
    assert (settings.smoke, settings.refresh, settings.param) == (True, False, {"top_p": 0.9})
    chosen = loading.build_settings(loading.add_environment({"model": "lexical", "concurrency": 7}), path)
    assert (chosen.label, chosen.concurrency) == ("lexical", 7)


@pytest.mark.parametrize(
    ("variable", "text", "rule"),
    [
        ("FCBENCH_CONCURRENCY", "x", "FCBENCH_CONCURRENCY=x: must be a number"),
        ("FCBENCH_OFFLINE", "maybe", "FCBENCH_OFFLINE=maybe: must be true or false"),
        ("FCBENCH_PARAM", "0.9", "FCBENCH_PARAM=0.9: must be NAME=JSON, for example top_p=0.9"),
        ("FCBENCH_CATEGORY", "rest,paralel", "FCBENCH_CATEGORY=paralel: unknown category 'paralel'"),
    ],
)
def test_an_error_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, text: str, rule: str
) -> None:
    monkeypatch.setenv(variable, text)
    with pytest.raises(UsageError, match=rule):
        loading.build_settings(loading.add_environment({}), None)


def test_an_empty_variable_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FCBENCH_MODEL", "")
    assert loading.add_environment({"model": None}) == {"model": None}


def test_what_describes_the_model_does_not_reach_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FCBENCH_TEMPERATURE", "0.5")
    monkeypatch.setenv("FCBENCH_JUDGE_API_BASE", "http://127.0.0.1:1/v1")
    assert loading.add_environment({}, of_judge=True) == {"judge_api_base": "http://127.0.0.1:1/v1"}


def test_a_configuration_file_is_named_by_a_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: Path
) -> None:
    path.write_text("{}")
    monkeypatch.setenv("FCBENCH_CONFIG", str(path))
    assert loading.find_config_file(tmp_path / "elsewhere", None) == path
    monkeypatch.setenv("FCBENCH_CONFIG", "none.yaml")
    with pytest.raises(UsageError, match=r"FCBENCH_CONFIG=none\.yaml: no such file"):
        loading.find_config_file(tmp_path, None)


def test_a_path_in_the_file_of_the_working_directory_stays_as_it_is_written(
    load: Load, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    assert load("baseline: kept.json\n").baseline == Path("kept.json")
    monkeypatch.chdir("/")
    assert load("baseline: /other/kept.json\n").baseline == Path("/other/kept.json")


def test_an_error_shows_no_control_character_and_no_credentials(load: Load) -> None:
    with pytest.raises(UsageError) as caught:
        load(timeout="\x1b[31m\x07\u202e http://reader:pw@127.0.0.1/?key=ab")
    shown = r"--fcbench-timeout=\x1b[31m\x07\u202e http://***@127.0.0.1/?key=***: must be"
    assert str(caught.value).startswith(shown)
