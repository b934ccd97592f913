"""A model's name decides who answers, and with the options how it is talked to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from pytest_fcbench.config import loading
from pytest_fcbench.config.options import BY_KEY, Settings
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.transcript import Party, Step, Transcript
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.kinds.calls import verdict as ast
from pytest_fcbench.models import registry
from pytest_fcbench.models.baselines.lexical import LexicalModel
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.baselines.replay import ReplayModel
from pytest_fcbench.models.baselines.scripted import ScriptedModel
from pytest_fcbench.models.provider import Chosen, Provider, choose_manner
from pytest_fcbench.models.providers.endpoint_model import EndpointModel
from pytest_fcbench.models.providers.litellm import LitellmModel
from pytest_fcbench.models.providers.openai_compatible import OpenAICompatibleModel
from pytest_fcbench.scorecard.record import build_record
from pytest_fcbench.web.searcher import ENGINES
from tests.cases import each_case
from tests.conftest import ROOT
from tests.factories import ask_model, make_entry, make_transcript, tool_calls, write_scorecard

HERMES = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'


def _choose_model(**options: object) -> Chosen:
    return registry.choose_model(loading.build_settings(options, None))


def _write_results(folder: Path, *results: object) -> Path:
    path = folder / "BFCL_v4_simple_python_result.json"
    rows = [{"id": f"simple_python_{number}", "result": result} for number, result in enumerate(results)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


# Who answers


def test_without_a_name_the_baseline_answers() -> None:
    assert _choose_model() == Chosen(
        LexicalModel(Prompting.make_default(Mode.FC)),
        ModelPresentation("lexical", Prompting.make_default(Mode.FC)),
    )


def test_the_oracle_by_name() -> None:
    assert _choose_model(model="oracle", mode="prompt").model == OracleModel(
        Prompting.make_default(Mode.PROMPT)
    )


def test_a_script_by_path(tmp_path: Path) -> None:
    path = tmp_path / "answers.yaml"
    path.write_text("answers: {}\n", encoding="utf-8")
    assert _choose_model(model=f"scripted:{path}").model == ScriptedModel(
        path, Field({}, path, ("answers",)), None, Prompting.make_default(Mode.FC)
    )


def test_a_replay_by_path(tmp_path: Path) -> None:
    model = _choose_model(model=f"replay:{_write_results(tmp_path, '[f()]')}").model
    assert isinstance(model, ReplayModel)
    assert model.answers.keys() == {"bfcl:simple_python_0"}


@each_case("name", ["gpt-4o", "hosted_vllm/my-ft", "ollama/replay", "oracle/large", "bedrock/x:0"])
def test_any_other_name_is_an_id_of_litellm(name: str) -> None:
    model = _choose_model(model=name).model
    assert isinstance(model, LitellmModel)
    assert model.id == name


def test_what_describes_the_endpoint_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_ENDPOINT", "a key")
    kinds: dict[str, type[object]] = {"gpt-4o": OpenAICompatibleModel, "azure/gpt-4o": LitellmModel}
    for name, kind in kinds.items():
        model = _choose_model(
            model=name,
            api_base="http://localhost:1",
            api_key_env="MY_ENDPOINT",
            timeout="9",
            max_tokens="50",
            param=["top_p=0.5"],
        ).model
        assert isinstance(model, EndpointModel)
        assert isinstance(model, kind)
        assert model.parameters == {"temperature": 0.001, "max_tokens": 50, "top_p": 0.5}
        assert (model.api_base, model.api_key, model.timeout_s) == ("http://localhost:1", "a key", 9.0)
        assert "a key" not in repr(model)


@each_case(
    ("name", "guess"),
    [
        ("orcale", " Did you mean 'oracle'?"),
        ("lexcial", " Did you mean 'lexical'?"),
        ("replay", " Did you mean 'replay:PATH'?"),
        ("oracle:hermes", " Did you mean 'oracle'?"),
        ("script:answers.yaml", None),
        ("Replay:results", None),
        ("scriptd:answers.yaml", None),
    ],
)
def test_a_name_that_nearly_is_ours_is_refused(name: str, guess: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        _choose_model(model=name)
    says = str(caught.value)
    assert says.startswith(f"--fcbench-model={name}: unknown model {name!r}.{guess or ''}")
    assert says.endswith(
        "Valid: oracle, careless[:PERCENT], lexical, scripted:FILE, python:MODULE:FUNCTION, replay:PATH, "
        "litellm:ID. Any litellm id is valid too, e.g. gpt-4o or hosted_vllm/NAME."
    )


@pytest.mark.parametrize("name", ["oracle-x", "lexcial", "replay"])
def test_at_an_address_any_name_is_one_of_that_server(name: str) -> None:
    chosen = _choose_model(model=name, api_base="http://127.0.0.1:1/v1")
    assert isinstance(chosen.model, OpenAICompatibleModel)
    assert chosen.model.name == name


@pytest.mark.parametrize("kind", ["replay", "scripted"])
def test_a_path_must_be_given_and_be_there(kind: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        _choose_model(model=f"{kind}:")
    assert str(caught.value) == f"--fcbench-model={kind}:: a path is missing; use {kind}:PATH"
    with pytest.raises(UsageError) as caught:
        _choose_model(model=f"{kind}:{tmp_path / 'none'}")
    path = tmp_path / "none"
    assert str(caught.value) == f"--fcbench-model={kind}:{path}: {path} does not exist; give an existing path"


# How it is talked to


@each_case(
    ("options", "mode", "names", "syntax"),
    [
        pytest.param({}, Mode.FC, Names.UNDERSCORED, "tool_calls", id="default"),
        pytest.param({"mode": "fc"}, Mode.FC, Names.UNDERSCORED, "tool_calls", id="fc"),
        pytest.param({"mode": "prompt"}, Mode.PROMPT, Names.DOTTED, "python", id="prompt"),
        pytest.param({"syntax": "python"}, Mode.PROMPT, Names.DOTTED, "python", id="mode by syntax"),
        pytest.param({"syntax": "hermes"}, Mode.FC, Names.UNDERSCORED, "hermes", id="fc by syntax"),
        pytest.param({"syntax": "tool_calls"}, Mode.FC, Names.UNDERSCORED, "tool_calls", id="tool calls"),
        pytest.param({"as": "MadeAgents/Hammer2.1-7b"}, Mode.FC, Names.DOTTED, "hammer", id="official"),
        pytest.param(
            {"as": "MadeAgents/Hammer2.1-7b", "names": "underscored"},
            Mode.FC,
            Names.UNDERSCORED,
            "hammer",
            id="official, other names",
        ),
        pytest.param(
            {"as": "MadeAgents/Hammer2.1-7b", "syntax": "qwen"},
            Mode.FC,
            Names.UNDERSCORED,
            "qwen",
            id="official, other syntax",
        ),
        pytest.param(
            {"as": "MadeAgents/Hammer2.1-7b", "mode": "prompt"},
            Mode.PROMPT,
            Names.DOTTED,
            "python",
            id="official, other mode",
        ),
        pytest.param({"names": "dotted"}, Mode.FC, Names.DOTTED, "tool_calls", id="names"),
        pytest.param(
            {"mode": "prompt", "names": "underscored"}, Mode.PROMPT, Names.UNDERSCORED, "python", id="both"
        ),
    ],
)
def test_mode_names_and_syntax_follow_from_each_other(
    options: dict[str, object], mode: Mode, names: Names, syntax: str
) -> None:
    settings = loading.build_settings({"model": "openai/x", **options}, None)
    assert choose_manner(settings) == ModelPresentation("openai/x", Prompting(mode, names, syntax))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": "openai/x", "as": "gpt-5"}, "unknown official model 'gpt-5'"),
        ({"model": "oracle", "syntax": "hermes"}, "oracle writes tool_calls or python, not 'hermes'"),
        (
            {"model": "openai/x", "mode": "fc", "syntax": "python"},
            "'python' belongs to mode 'prompt', not to 'fc'; leave one of them out",
        ),
    ],
)
def test_a_manner_that_cannot_be_is_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        _choose_model(**options)


@pytest.mark.parametrize(
    ("result", "mode", "syntax"),
    [
        pytest.param("[f()]", Mode.PROMPT, "python", id="python"),
        pytest.param(HERMES, Mode.FC, "qwen", id="qwen"),
        pytest.param([{"f": "{}"}], Mode.FC, "tool_calls", id="tool calls"),
    ],
)
def test_a_replay_decides_its_own_mode(tmp_path: Path, result: object, mode: Mode, syntax: str) -> None:
    manner = _choose_model(model=f"replay:{_write_results(tmp_path, result)}").manner
    assert (manner.prompting.mode, manner.prompting.syntax) == (mode, syntax)


def test_options_win_over_what_a_replay_looks_like(tmp_path: Path) -> None:
    manner = _choose_model(model=f"replay:{_write_results(tmp_path, HERMES)}", mode="prompt").manner
    assert (manner.prompting.mode, manner.prompting.syntax) == (Mode.PROMPT, "python")
    manner = _choose_model(model=f"replay:{_write_results(tmp_path, '[f()]')}", syntax="glm").manner
    assert (manner.prompting.mode, manner.prompting.syntax) == (Mode.FC, "glm")


def test_a_replayed_scorecard_has_the_verdicts_of_its_run(tmp_path: Path) -> None:
    """Run in function-calling mode with dotted names, where the default would be underscored ones."""
    entry = make_entry()
    first = make_transcript(tool_calls(("weather.forecast", '{"city": "Bergen"}')), names=Names.DOTTED)
    judgement = ast.judge(entry, first)
    manner = ModelPresentation("gpt", first.prompting)
    path = write_scorecard(tmp_path / "scorecard.json", [build_record(entry, manner, judgement, first)])

    again = _choose_model(model=f"replay:{path}")
    turns = ((Step(ask_model(again.model, entry)),),)
    manner = again.manner
    second = Transcript(entry.key, manner.model, manner.prompting, turns)
    assert ast.judge(entry, second) == judgement


# Who is asked beside the model


@pytest.mark.parametrize("judge", ["oracle", "lexical", "replay:scorecard.json"])
def test_who_looks_at_entries_cannot_judge(judge: str) -> None:
    with pytest.raises(
        UsageError, match=f"--fcbench-judge={judge}: cannot judge, because it answers only entries"
    ):
        registry.open_auxiliary_models(loading.build_settings({"judge": judge, "store": "none"}, None))


@pytest.mark.parametrize("slip", ["structred", "Rapidfuzz", "rapid-fuzz"])
def test_a_slip_is_no_embedding_model(slip: str) -> None:
    with pytest.raises(UsageError, match="similarity") as error:
        registry.open_auxiliary_models(loading.build_settings({"similarity": slip}, None))
    assert slip in str(error.value)


def test_an_embedding_model_and_a_judge_are_parties_of_their_own() -> None:
    given = {
        "judge": "openai/wise",
        "similarity": "text-embedding-3-small",
        "similarity_api_base": "http://x",
    }
    others = registry.open_auxiliary_models(loading.build_settings(given, None))
    assert {party: identity["model"] for party, (_, identity) in others.items()} == {
        Party.JUDGE: "openai/wise",
        Party.SIMILARITY: "text-embedding-3-small",
    }
    assert others[Party.SIMILARITY][1]["api_base"] == "http://x"


def test_by_default_there_are_none() -> None:
    assert registry.open_auxiliary_models(loading.build_settings({}, None)) == {}


def test_live_replies_need_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAPID_API_KEY", raising=False)
    with pytest.raises(UsageError, match="RAPID_API_KEY"):
        registry.open_auxiliary_models(loading.build_settings({"responses": "live"}, None))
    monkeypatch.setenv("RAPID_API_KEY", "a-key")
    assert list(registry.open_auxiliary_models(loading.build_settings({"responses": "live"}, None))) == [
        Party.PROVIDER
    ]


def test_only_those_who_are_needed_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAPID_API_KEY", raising=False)
    settings = loading.build_settings(
        {"judge": "openai/wise", "responses": "live", "similarity": "openai/bge"}, None
    )
    assert registry.find_named_parties(settings) == {Party.JUDGE, Party.SIMILARITY, Party.PROVIDER}
    assert list(registry.open_auxiliary_models(settings, [Party.JUDGE])) == [Party.JUDGE]
    assert registry.open_auxiliary_models(loading.build_settings({}, None), [Party.JUDGE]) == {}


def test_errors_about_a_judge_name_its_option(tmp_path: Path) -> None:
    for name, says in (
        ("scripted:", "a path is missing; use scripted:PATH"),
        (f"scripted:{tmp_path}/none", f"{tmp_path}/none does not exist; give an existing path"),
        ("python:nowhere", "a function is missing; use python:MODULE:FUNCTION"),
        ("pyton:m:f", "unknown model 'pyton:m:f'. Valid: oracle, "),
    ):
        with pytest.raises(UsageError) as caught:
            registry.open_auxiliary_models(loading.build_settings({"judge": name, "store": "none"}, None))
        assert str(caught.value).startswith(f"--fcbench-judge={name}: {says}")


# Who makes models


@pytest.fixture
def install_echo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install another distribution with a provider of the name ``echo``."""
    point = EntryPoint("echo", "tests.models.test_registry:ECHO", "fcbench.models")
    monkeypatch.setattr("pytest_fcbench.domain.registry.find_entry_points", lambda group: [point])
    monkeypatch.setattr(registry.PROVIDERS, "_loaded", {})


def _open_echo(argument: str, settings: Settings) -> Chosen:
    return Chosen(
        ScriptedModel(
            Path(argument), Field({}, Path(argument)), None, Prompting.make_default(Mode.FC, Names.DOTTED)
        ),
        choose_manner(settings),
    )


ECHO = Provider(_open_echo, "WORD", "says a word", identify=lambda word, settings: {"word": word})


@pytest.mark.usefixtures("install_echo")
def test_another_distribution_adds_a_provider() -> None:
    chosen = _choose_model(model="echo:hello", mode="prompt")
    assert isinstance(chosen.model, ScriptedModel)
    assert chosen.model.path == Path("hello")
    assert chosen.manner == ModelPresentation("echo:hello", Prompting.make_default(Mode.PROMPT))
    assert (
        registry.describe_identity(loading.build_settings({"model": "echo:hello"}, None))["word"] == "hello"
    )
    with pytest.raises(UsageError, match=r"unknown model 'ecco:hello'\..* Valid: oracle, .*, echo:WORD\."):
        _choose_model(model="ecco:hello")


@pytest.mark.parametrize("name", ["echo:hello", "shop:large"])
def test_names_of_nobody_are_litellms(name: str) -> None:
    assert isinstance(_choose_model(model=name).model, LitellmModel)


def test_help_names_every_provider() -> None:
    assert [name for name in registry.PROVIDERS if name not in BY_KEY["model"].text] == []


def test_every_search_that_may_be_named_can_be_made() -> None:
    option = BY_KEY["search"]
    assert (*(name for name in option.choices if name != option.default),) == tuple(ENGINES)
    assert [name for name in option.choices if name not in option.text] == []


PROVIDER_OF_OTHERS = """
from dataclasses import dataclass
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.models.provider import Chosen, Provider, choose_manner

@dataclass
class EchoModel:
    word: str
    immediate: bool = True
    notes: tuple[str, ...] = ()

    async def complete(self, entry, request):
        return Completion(text=self.word)

def open_model(argument, settings):
    return Chosen(EchoModel(argument), choose_manner(settings))

PROVIDER = Provider(open_model, "WORD", "always says one word")
"""


@pytest.mark.nightly
def test_a_provider_of_an_installed_distribution_answers_a_run(tmp_path: Path) -> None:
    (tmp_path / "fcbench_echo.py").write_text(PROVIDER_OF_OTHERS, encoding="utf-8")
    metadata = tmp_path / "fcbench_echo-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: fcbench-echo\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[fcbench.models]\necho = fcbench_echo:PROVIDER\n")
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])

    def run_module(*command: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    assert "  echo:WORD              always says one word\n" in run_module("pytest_fcbench", "models")
    bodies = str(ROOT / "benchmarks" / "test_relevance.py")
    options = ("--fcbench-model=echo:sorry", "--fcbench-category=irrelevance", "--fcbench-smoke")
    run_module("pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", bodies, *options)
    card = json.loads((tmp_path / "scorecard.json").read_text(encoding="utf-8"))
    assert card["fcbench"]["model"] == "echo:sorry"
    records = [test["metadata"]["fcbench"] for test in card["tests"]]
    assert records
    assert {record["verdicts"]["official"]["status"] for record in records} == {"passed"}
