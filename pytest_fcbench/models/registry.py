"""From a model's name to the model, and to the manner it is talked to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.registry import DEFAULT_SYNTAX, SYNTAXES
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.errors import UsageError, unknown
from pytest_fcbench.domain.prompting import Manner, Mode, Names
from pytest_fcbench.domain.transcript import Party
from pytest_fcbench.matchers.golden_path.assignment import MEASURES
from pytest_fcbench.models.baselines import lexical, oracle, replay, scripted
from pytest_fcbench.models.embeddings import EmbeddingModel
from pytest_fcbench.models.protocol import Model
from pytest_fcbench.models.providers import booking, python_function
from pytest_fcbench.models.providers.litellm import LitellmModel
from pytest_fcbench.models.web import NoWebModel, RecordedWeb, Sources, WebModel, open_web
from pytest_fcbench.web import recording, search

BUILT_IN = ("oracle", "lexical")
WITH_PATH = ("replay", "scripted")
FUNCTION = "python"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A model and the manner of its run."""

    model: Model
    manner: Manner


def choose(settings: Settings) -> Chosen:
    """The model of a run. Raises ``UsageError`` for a name or a path that cannot be."""
    if settings.model.startswith("replay:"):
        replayed = replay.load(_path(settings.model))
        mode, syntax, names = settings.mode, settings.syntax, settings.names
        if mode is None and syntax is None:
            mode, syntax = replayed.mode, replayed.syntax
        return Chosen(replayed, _manner(settings.label, mode, syntax, names or replayed.names))
    manner = _manner(settings.label, settings.mode, settings.syntax, settings.names)
    return Chosen(_made(settings, manner), manner)


Identity: TypeAlias = Mapping[str, object]
"""What can change an answer beside the request."""


def identity(settings: Settings) -> Identity:
    """That of the model of a run. Raises ``UsageError``."""
    code = {}
    if settings.model.startswith(f"{FUNCTION}:"):
        code = {"code": python_function.code_digest(settings.model)}
    return {
        "model": settings.model,
        "api_base": settings.api_base,
        "parameters": settings.parameters,
        **code,
    }


def named(settings: Settings) -> frozenset[Party]:
    """Who else than the model is named."""
    found = {
        Party.JUDGE: settings.judge,
        Party.SIMILARITY: settings.similarity not in MEASURES,
        Party.PROVIDER: settings.live,
    }
    return frozenset(party for party, is_named in found.items() if is_named)


def others(
    settings: Settings, among: Collection[Party] = tuple(Party)
) -> Mapping[Party, tuple[Model, Identity]]:
    """Who else is asked, and under which identity their answers are kept: who is named among these.

    Raises ``UsageError``.
    """
    found: dict[Party, tuple[Model, Identity]] = {}
    parties = named(settings).intersection(among)
    if Party.JUDGE in parties and (judge := settings.judge):
        found[Party.JUDGE] = _judge(judge), identity(judge)
    if Party.SIMILARITY in parties:
        _refuse_measure(settings.similarity)
        base = settings.similarity_api_base
        embedding = EmbeddingModel(
            settings.similarity, base, settings.similarity_api_key, settings.timeout_s, {}
        )
        found[Party.SIMILARITY] = embedding, {"model": settings.similarity, "api_base": base}
    if Party.PROVIDER in parties:
        found[Party.PROVIDER] = booking.from_environment(), {"model": "booking"}
    return found


def web(settings: Settings) -> Model:
    """Who searches the web and fetches its pages. Raises ``UsageError``."""
    kind, _, path = settings.search.partition(":")
    match kind:
        case "recorded":
            return RecordedWeb(Path(path), recording.read(Path(path)))
        case "duckduckgo" | "serpapi":
            engine: search.Search = search.DuckDuckGo() if kind == "duckduckgo" else search.serpapi()
            return WebModel(lambda: Sources(engine, open_web()))
    return NoWebModel()


def check_judge(settings: Settings) -> None:
    """Raises ``UsageError`` for a model that can judge nothing."""
    if settings.model in BUILT_IN or settings.model.startswith("replay:"):
        raise UsageError(
            f"--fcbench-judge={settings.model}: answers entries, not questions about them; "
            "give a litellm id, a model profile or scripted:FILE"
        )


def _judge(settings: Settings) -> Model:
    check_judge(settings)
    try:
        return choose(settings).model
    except UsageError as error:
        raise UsageError(str(error).replace("--fcbench-model", "--fcbench-judge")) from None


def _refuse_measure(name: str) -> None:
    if "/" not in name and get_close_matches(name, MEASURES, cutoff=0.75):
        raise UsageError(
            f"--fcbench-similarity={name}: {unknown('similarity', name, MEASURES)} "
            "Any embedding model of litellm works too."
        )


def _manner(label: str, mode: Mode | None, syntax: str | None, names: Names | None) -> Manner:
    """What was asked for, filled up: mode by the syntax, else function calling; the rest by the mode."""
    own = _mode_of(syntax) if syntax else None
    if mode and own and mode is not own:
        raise UsageError(f"the syntax {syntax!r} belongs to mode {own.value!r}, not to {mode.value!r}")
    mode = mode or own or Mode.FC
    names = names or (Names.UNDERSCORED if mode is Mode.FC else Names.DOTTED)
    return Manner(label, mode, names, syntax or DEFAULT_SYNTAX[mode])


def _mode_of(syntax: str) -> Mode:
    reader = SYNTAXES[syntax]
    return reader.mode if reader else Mode.FC


def _made(settings: Settings, manner: Manner) -> Model:
    name = settings.model
    computed = name in BUILT_IN or name.startswith("scripted:")
    if computed and manner.syntax not in DEFAULT_SYNTAX.values():
        raise UsageError(f"{name} writes tool_calls or python, not {manner.syntax!r}; leave the syntax out")
    if name == "oracle":
        return oracle.OracleModel(manner.mode, manner.names)
    if name == "lexical":
        return lexical.LexicalModel(manner.mode, manner.names)
    if name.startswith("scripted:"):
        return scripted.load(_path(name), manner.mode, manner.names)
    if name.startswith(f"{FUNCTION}:"):
        return python_function.load(name)
    _refuse_typos(name)
    return LitellmModel(
        id=name,
        parameters=dict(settings.parameters),
        api_base=settings.api_base,
        api_key=settings.api_key,
        timeout_s=settings.timeout_s,
        tag=settings.tag,
    )


def _path(name: str) -> Path:
    prefix, _, path = name.partition(":")
    if not path:
        raise UsageError(f"--fcbench-model={name}: needs a path, as in {prefix}:PATH")
    if not Path(path).exists():
        raise UsageError(f"--fcbench-model={name}: {path} does not exist")
    return Path(path)


def _refuse_typos(name: str) -> None:
    """litellm takes any name; one that nearly is ours is more likely a slip."""
    prefix, colon, _ = name.partition(":")
    behind = {**dict.fromkeys(WITH_PATH, "PATH"), FUNCTION: "MODULE:FUNCTION"}
    ours = behind if colon else (*BUILT_IN, *behind)
    if "/" not in prefix and get_close_matches(prefix, ours, cutoff=0.75):
        valid = [*BUILT_IN, *(f"{word}:{what}" for word, what in behind.items())]
        raise UsageError(
            f"--fcbench-model={name}: {unknown('model', name, valid)} "
            "Any litellm id works too (gpt-4o, hosted_vllm/x)."
        )
