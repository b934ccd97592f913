"""What a run is told, as one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_fcbench.domain.entry import Category
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import Mode, Names
from pytest_fcbench.domain.shard import Shard
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.gate.gate import Rule


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a run. ``mode``, ``names`` and ``syntax`` are None where the model decides."""

    model: str
    label: str
    """The name of the model in reports: the profile's, or the id."""
    suites: tuple[str, ...]
    own: Mapping[str, Path]
    """Suites of a team's own, by name, where each is."""
    categories: tuple[Category, ...]
    mode: Mode | None
    names: Names | None
    syntax: str | None
    profile: Profile
    gate: tuple[Rule, ...]
    baseline: Path | None
    """What rules compare with: a scorecard or a baseline made of one."""
    judge: Settings | None
    """Those of who judges along golden paths what rules cannot; None for rules of ours."""
    similarity: str
    """What pairs calls with those of a golden path: a name of ours or an embedding model."""
    similarity_api_base: str | None
    similarity_api_key: str | None = field(repr=False)
    live: bool
    """Whether web APIs are asked: for replies to calls off a golden path, and for executable entries."""
    embedding: str
    """What makes vectors of texts in a memory that finds them by what they mean."""
    search: str
    """Who searches the web: ``core`` (nobody), ``duckduckgo``, ``serpapi``, or ``recorded:FILE``."""
    search_record: Path | None
    """Where what the web answers is recorded."""
    smoke: bool
    """Whether only every tenth entry of a category is run."""
    shard: Shard | None
    """The part of the entries that is run here; None for all."""
    api_base: str | None
    api_key_env: str | None
    api_key: str | None = field(repr=False)
    parameters: Mapping[str, object]
    """What goes into every request beside messages and tools."""
    price: Price | None
    """The one of fcbench.yaml, or None."""
    trials: int
    concurrency: int
    """How many conversations may run at once, in all processes together."""
    rpm: float | None
    tpm: float | None
    retries: int
    timeout_s: float
    """The longest wait for one answer."""
    entry_timeout_s: float
    max_usd: float | None
    plan: bool
    """Print what the run would ask, and ask nothing."""
    preflight: bool
    tag: bool
    store: Path | None
    offline: bool
    refresh: bool
    annotate: bool
    """Whether the run is a step of GitHub Actions, which shows annotations."""
    step_summary: Path | None
    """The file whose end GitHub shows as the summary of the step."""
    scorecard: str | None
    failures: int
    cache: Path
