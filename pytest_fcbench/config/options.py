"""The settings of a run. Each option is declared in one line of ``Settings``, and nowhere else.

From that line follow its flag on the command line, its key in fcbench.yaml, how its value is read and checked
(by the type of its field: see ``config/values.py``), its help text and its row in docs/options.md::

    concurrency: int = model_option("N", "conversations at once", default="8", positive=True)

pytest loads this module in every run of whoever has the plugin installed, so it imports nothing.
"""

# ruff: noqa: RUF009 - a call of ``option`` is a declaration, as one of ``dataclasses.field`` is
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from pytest_fcbench.domain.entry import Category, Shard
    from pytest_fcbench.domain.pressure import PressureLevel
    from pytest_fcbench.domain.price import Price
    from pytest_fcbench.domain.prompting import Mode, Names, Reasoning
    from pytest_fcbench.domain.verdict import Profile
    from pytest_fcbench.scorecard.gate.gate import GateRule

P = ParamSpec("P")

FILE = "fcbench.yaml"
"""The configuration file that is looked for in the root directory."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a run, as its line in ``Settings`` declares it."""

    metavar: str
    text: str
    key: str = ""
    """Its name on the command line and in the file; the name of its field unless another is given."""
    default: str | None = None
    """The default as a user would write it."""
    otherwise: str = ""
    """The effect of giving no value where there is no default, for the help text."""
    note: str = ""
    """Text that the help adds after the default."""
    choices: tuple[str, ...] = ()
    """The words that are allowed; any text where there are none."""
    positive: bool = False
    """True where a number must be more than 0."""
    of_names: bool = False
    """True where a value may be several names with commas between them."""
    of_model: bool = False
    """True where a model profile may give it."""
    of_judge: bool = False
    """True where it applies to the judge of a run too when it is given on the command line."""
    in_request: bool = False
    """True where it goes into every request under its key."""
    in_file: bool = True
    """True where fcbench.yaml may give it."""
    group: str = ""
    """The title of the group of options in --help that begins with it."""
    name: str = ""
    """The field of ``Settings`` that holds its value; this and the next two are read from the class."""
    type: str = ""
    """The type of its value as the declaration writes it, without ``| None``."""
    optional: bool = False
    """True where its value may be None."""

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return f"--fcbench-{self.key.replace('_', '-')}"

    @property
    def variable(self) -> str:
        """The environment variable that may give it."""
        return f"FCBENCH_{self.key.upper()}"

    @property
    def dest(self) -> str:
        """Its attribute in pytest's option namespace."""
        return f"fcbench_{self.key}"

    @property
    def switch(self) -> bool:
        """True where giving it switches it on, instead of taking a value."""
        return self.type == "bool" and not self.choices

    @property
    def repeatable(self) -> bool:
        """True where it may be given several times."""
        return self.type.startswith(("tuple", "Mapping"))

    @property
    def help(self) -> str:
        """Its help text, which ends with the default."""
        default = self.default or self.otherwise
        notes = ["repeatable"] * self.repeatable + [f"default: {default}{self.note}"] * bool(default)
        return f"{self.text} ({'; '.join(notes)})" if notes else self.text


def _declare_with(make: Callable[P, Option]) -> Callable[P, Any]:
    # Like dataclasses.field without a default the result is Any: only the annotation says the type.
    return lambda *values, **more: field(metadata={"option": make(*values, **more)})


option = _declare_with(Option)
"""Declares a field of ``Settings`` as an option; takes what ``Option`` takes."""
model_option = _declare_with(partial(Option, of_model=True))
"""Declares an option that a model profile may give."""


@dataclass(frozen=True, slots=True)
class ModelFlags:
    """The options of the command line that name a model, its address, and the variable of its key."""

    model: str
    api_base: str
    api_key_env: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Settings:
    """The settings of a run: options by group, then values derived from them and from the environment.

    ``mode``, ``names`` and ``syntax`` are None where the model decides.
    """

    model: str = model_option(
        "MODEL",
        "oracle, careless, lexical, scripted:FILE, replay:PATH, python:MOD:NAME, profile, litellm:ID",
        default="lexical",
        group="model under test",
    )
    api_base: str | None = model_option("URL", "base URL of the model's endpoint")
    api_key_env: str | None = model_option("NAME", "environment variable that holds the API key of the model")
    temperature: float = model_option(
        "T", "sampling temperature", default="0.001", note=", the official value", in_request=True
    )
    max_tokens: int | None = model_option(
        "N", "maximum number of tokens in an answer", otherwise="none", in_request=True
    )
    seed: int | None = model_option("N", "seed sent to the model", otherwise="none", in_request=True)
    stream: bool | None = model_option(
        "HOW",
        "how answers come: on as streams, off whole, both compares the two",
        otherwise="off, or as the official family",
        choices=("off", "on", "both"),
        in_request=True,
    )
    param: Mapping[str, object] = model_option("NAME=JSON", "further parameter of each request")
    tag: bool = option("", "send the entry's id in a header of each request, for logs")

    mode: Mode | None = model_option(
        "MODE",
        "how functions are offered: fc, prompt, or completion for base models",
        otherwise="chosen to fit the model",
        group="how the model is asked",
    )
    names: Names | None = model_option(
        "STYLE", "how dotted function names are shown: dotted or underscored", otherwise="depends on the mode"
    )
    syntax: str | None = model_option(
        "SYNTAX",
        "how calls are written; 'fcbench models --syntaxes' lists the names",
        otherwise="by mode or replayed answers",
    )
    read_as: str | None = model_option(
        "ID",
        "ask in the format of this official model id, or in plain chat format (chat)",
        key="as",
        otherwise="its own id, if official",
    )
    repair: bool = option("", "ask an official family without the known faults of its handler")
    shots: int | None = model_option(
        "N",
        "in completion mode, how many answered entries of its category each prompt shows",
        otherwise="3, or as replayed",
        positive=True,
    )
    context_length: int | None = model_option(
        "N",
        "tokens of a prompt and its answer together, where the prompt is written",
        otherwise="as the server says",
        positive=True,
    )
    reasoning: Reasoning | None = model_option(
        "WHAT",
        "what later requests repeat of an answer's reasoning: keep or strip",
        otherwise="keep, as officially",
    )
    runner: str | None = model_option(
        "NAME",
        "official runner of complexfuncbench that is followed",
        otherwise="by the model's name",
        choices=("gpt", "claude", "mistral", "qwen", "glm", "llama"),
    )

    suites: tuple[str, ...] = option(
        "NAME",
        "suite: core, frontier, bfcl, complexfuncbench, wire (of servers) or one of yours",
        key="suite",
        default="core",
        of_names=True,
        group="which entries are asked",
    )
    categories: tuple[Category, ...] = option(
        "NAME",
        "run only this category or group of categories",
        key="category",
        otherwise="all",
        of_names=True,
    )
    entries: tuple[str, ...] = option(
        "SUITE:ID",
        "run only this entry; also without the option: pytest core:parallel_3",
        key="entry",
        otherwise="all",
        of_names=True,
        in_file=False,
    )
    smoke: bool = option("", "run only every tenth entry of each category")
    limit: int | None = option("N", "run only the first N entries that are selected", positive=True)
    sample: int | None = option(
        "N", "run only N of the selected entries, drawn at random, always the same", positive=True
    )
    shard: Shard | None = option(
        "K/N", "run part K of N of the entries; 'fcbench run merge' joins the scorecards"
    )
    trials: int = option("N", "how many times to send each entry to the model", default="1", positive=True)
    pressure: tuple[PressureLevel, ...] = option(
        "KIND:LEVELS",
        "add distractors, context, results or errors to entries: distractors:0,8,32,128",
        otherwise="none",
    )
    forced: str | None = option(
        "WAY",
        "put right calls through the server: auto, round-trip, derender, parse, choice or grammar",
        otherwise="none",
        choices=("auto", "round-trip", "derender", "parse", "choice", "grammar"),
        in_file=False,
    )
    blame: bool = option(
        "",
        "after the run, ask the entries that failed again in other ways and say who lost each point",
        in_file=False,
    )
    plan: bool = option(
        "", "send no requests; print the entries, calls, tokens and cost of the run", in_file=False
    )

    profile: Profile = option(
        "PROFILE",
        "rules that decide what passes: official or corrected",
        default="official",
        note=", corrected for own suites",
        group="which answers pass",
    )
    judge: Settings | None = option(
        "MODEL",
        "model that judges what rules cannot: a model profile or any litellm id",
        otherwise="none",
        of_judge=True,
    )
    judge_api_base: str | None = option("URL", "base URL of the judge's endpoint", of_judge=True)
    judge_api_key_env: str | None = option(
        "NAME", "environment variable that holds the API key of the judge", of_judge=True
    )
    similarity: str = option(
        "NAME",
        "how calls are paired with golden paths: structured, rapidfuzz or an embedding model",
        default="structured",
    )
    similarity_api_base: str | None = option("URL", "base URL of the embedding model's endpoint")
    similarity_api_key_env: str | None = option(
        "NAME", "environment variable that holds the API key of the embedding model"
    )

    gate: tuple[GateRule, ...] = option(
        "RULE",
        "rule that decides the exit code, such as 'overall>=0.2', 'not-worse(95%%)', 'latency.p95<=3s'",
        group="gates and comparisons",
    )
    baseline: Path | None = option("FILE", "scorecard or saved baseline that gate rules compare with")
    against: Settings | None = option(
        "MODEL",
        "second model, asked at the same time: a profile, an id or same, and settings: b,stream=on",
        otherwise="none",
        in_file=False,
    )
    against_whole: bool = option(
        "", "ask all entries, also where fewer show which of the two models is better", in_file=False
    )
    noise: int | None = option(
        "N",
        "how many entries to ask a second time, to tell what chance alone changes",
        otherwise="none",
        positive=True,
    )
    trained: Path | None = option(
        "FILE", "audit (--against=train.jsonl -o FILE.json) whose trained entries a second score leaves out"
    )
    rank_with: tuple[Path, ...] = option(
        "FILE", "scorecard or saved baseline, or folder of them, among which the summary ranks the run"
    )

    responses: str = option(
        "WHERE",
        "where replies of web APIs come from: recorded or live",
        default="recorded",
        choices=("recorded", "live"),
        group="web APIs, search, MCP and memory",
    )
    search: str = option(
        "WHO",
        "search engine for web searches: duckduckgo, serpapi, recorded:FILE or core",
        default="core",
        choices=("core", "duckduckgo", "serpapi"),
    )
    search_record: Path | None = option(
        "FILE", "append searches, pages and their replies to this file, to replay with recorded:FILE"
    )
    mcp: bool = option("", "let entries start the MCP servers that their suites name")
    unconfined: bool = option(
        "", "run own functions even where this system cannot keep them from files, network and processes"
    )
    embedding: str = option(
        "NAME",
        "embedding for memory_vector: lexical, minilm, the folder of such a model, or auto",
        default="auto",
    )

    concurrency: int = model_option(
        "N",
        "maximum number of conversations at once, over all processes",
        default="8",
        positive=True,
        group="speed, limits and cost",
    )
    rpm: float | None = model_option(
        "N", "maximum number of calls per minute", otherwise="no limit", positive=True
    )
    tpm: float | None = model_option(
        "N", "maximum number of tokens per minute", otherwise="no limit", positive=True
    )
    retries: int = model_option(
        "N", "how many times to retry a call after a transient failure", default="8", of_judge=True
    )
    max_body: int = model_option(
        "N",
        "longest reply of an endpoint that is read, in MiB, after decompression",
        default="8",
        positive=True,
        of_judge=True,
    )
    max_answer: int = model_option(
        "N", "longest answer that is read, in characters", default="1000000", positive=True
    )
    max_pause_s: float = model_option(
        "SECONDS",
        "longest pause that an endpoint may ask for (Retry-After)",
        key="max_pause",
        default="60",
        positive=True,
        of_judge=True,
    )
    timeout_s: float = model_option(
        "SECONDS", "time limit for one answer", key="timeout", default="600", positive=True, of_judge=True
    )
    entry_timeout_s: float = model_option(
        "SECONDS", "time limit for one entry", key="entry_timeout", default="3600", positive=True
    )
    max_usd: float | None = option(
        "DOLLARS",
        "stop sending requests before the run costs more than this",
        otherwise="no limit",
        positive=True,
    )
    no_preflight: bool = option("", "do not wait for the first call to succeed before making others")
    wait_s: float | None = option(
        "SECONDS",
        "how long to wait for a server that is still starting",
        key="wait",
        otherwise="no time",
        positive=True,
        of_judge=True,
    )

    store: Path | None = option(
        "FILE",
        "file that stores answers, or none",
        default=".fcbench/answers.sqlite",
        of_judge=True,
        group="files and output",
    )
    offline: bool = option(
        "", "send no requests; judge stored answers, and score nothing else", of_judge=True
    )
    refresh: bool = option("", "send every request again, even if its answer is stored", of_judge=True)
    scorecard: str | None = option("FILE", "file for the JSON report, or none", default="scorecard.json")
    runs: Path | None = option(
        "FOLDER", "folder that keeps the scorecard of every run, or none", default=".fcbench/runs"
    )
    labels: Mapping[str, str] = option("KEY=VALUE", "label that marks the run", key="label")
    failures: int = option("N", "maximum number of failed entries that the terminal lists", default="20")
    config: Path | None = option(
        "FILE", "configuration file", otherwise=f"{FILE} in the root directory", in_file=False
    )

    # What follows from the options, the rest of the file and the environment.
    label: str
    """The name of the model in reports: the profile's, or the id."""
    flags: ModelFlags
    """The options that named the model, for errors about it: the judge of a run is named by others."""
    chosen_parameters: frozenset[str]
    """The names of ``parameters`` that the user chose; the others have their defaults."""
    compares_streams: bool
    """True where each reply is asked for whole and as a stream."""
    own: Mapping[str, Path]
    """The paths of a team's own suites by name."""
    project: Path
    """The folder of the project."""
    api_key: str | None
    similarity_api_key: str | None
    price: Price | None
    """The price of the model in fcbench.yaml, or None."""
    similarity_price: Price | None
    """The price of the embedding model in fcbench.yaml, or None."""
    annotate: bool
    """True where the run is a step of GitHub Actions, which shows annotations."""
    step_summary: Path | None
    """The file to which a step of GitHub Actions appends its summary."""
    cache: Path
    forced_categories: tuple[Category, ...] = ()
    """The categories whose right calls are put through the server, where a run does that."""
    prompt_syntax: str = ""
    """The native syntax of calls where the functions stand in the prompt; usually empty."""

    @property
    def parameters(self) -> Mapping[str, object]:
        """The parameters that go into every request beside messages and tools."""
        values_by_key = {each.key: getattr(self, each.name) for each in OPTIONS if each.in_request}
        return {key: value for key, value in values_by_key.items() if value is not None} | dict(self.param)

    def __repr__(self) -> str:
        # pytest shows the values of variables with ``--showlocals``; parameters can hold keys.
        return f"<Settings of {self.model}>"

    @property
    def live(self) -> bool:
        """True where web APIs are asked: for replies off a golden path, and for executable entries."""
        return self.responses == "live"

    @property
    def preflight(self) -> bool:
        """True where the first call must come back before others are made."""
        return not self.no_preflight


def read_declarations(settings: type[Settings]) -> Iterator[Option]:
    """Yield the options that the fields of a class declare."""
    for each in fields(settings):
        if declaration := each.metadata.get("option"):
            # Annotations are texts here (``from __future__ import annotations``): no type is imported.
            yield replace(
                declaration,
                name=each.name,
                key=declaration.key or each.name,
                type=str(each.type).removesuffix(" | None"),
                optional=str(each.type).endswith(" | None"),
            )


OPTIONS = tuple(read_declarations(Settings))
BY_KEY = {each.key: each for each in OPTIONS}


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """Options about one thing, as --help shows them."""

    title: str
    options: tuple[Option, ...]


# Only the first option of a group carries the title.
_STARTS = [place for place, each in enumerate(OPTIONS) if each.group]
GROUPS = tuple(
    OptionGroup(OPTIONS[start].group, OPTIONS[start:end])
    for start, end in zip(_STARTS, [*_STARTS[1:], len(OPTIONS)], strict=True)
)
"""All options by group; each is also a key of fcbench.yaml unless it says otherwise."""


def find_project(places: Iterable[Path], top: Path) -> Path | None:
    """Return the nearest folder with an fcbench.yaml, from each place upwards to the top; None without one.

    What lies higher may be of another user, and the file says where keys are sent.
    """
    around = (folder for place in places for folder in (place, *place.parents))
    return next((each for each in around if each.is_relative_to(top) and (each / FILE).is_file()), None)


def find_top(start: Path) -> Path:
    """Return the top of the repository around a folder, or the folder above where there is none.

    The search ends there where no file makes a folder the root directory of pytest.
    """
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start.parent)
