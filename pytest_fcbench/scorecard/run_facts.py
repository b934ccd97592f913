"""The facts of a run beside its scores; each class is an object of the scorecard's JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field, Strict, TypeAdapter, WithJsonSchema

from pytest_fcbench.domain.json_values import one_of
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import Mode, Names
from pytest_fcbench.domain.transcript import PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.record import EarlierConversation, describe_object
from pytest_fcbench.scorecard.two_models import NoiseFloor, SideBySide

SCHEMA = "fcbench-scorecard/1"
"""The name of the section's format in a scorecard's file."""

_PACK_HASH = {"type": ["string", "null"], "description": "sha256 of the suite's content"}
SuiteFacts: TypeAlias = Annotated[
    Mapping[str, str | None],
    WithJsonSchema(describe_object({"version": {"type": "string"}, "pack_hash": _PACK_HASH})),
]


_LATER = ("runner", "wording")
"""Settings that older files lack, and whose defaults say how their conversations were held."""


def _require_all_keys(settings: object) -> object:
    """Raise KeyError where a key is missing, which the defaults of ``PathSettings`` would hide."""
    # A default read back from a file would state a setting that the run may not have had.
    if isinstance(settings, Mapping) and (
        missing := [f.name for f in fields(PathSettings) if f.name not in settings and f.name not in _LATER]
    ):
        raise KeyError(missing[0])
    return settings


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """Model, manner and suites, without which a score says nothing. Older files lack what has a default."""

    fcbench: str
    """Version of pytest-fcbench."""
    model: str
    """Name of the model profile, or the model id."""
    mode: Annotated[str, one_of(*Mode)]
    names: Annotated[str, one_of(*Names)]
    syntax: str
    """The syntax of calls in the answers."""
    profile: Profile
    """The profile that decided pass or fail."""
    suites: Mapping[str, SuiteFacts]
    """Version and content hash of each suite."""
    notes: tuple[str, ...]
    """Notes for readers of the scores, for example on parameters that were dropped."""
    price: Price | None
    """The price that dollars are computed from; null where no price is known."""
    concurrency: Annotated[int, Strict(), Field(ge=1)] | None
    """Calls at once, among which a server's price by the hour is divided."""
    driven: Annotated[PathSettings | None, BeforeValidator(_require_all_keys)] = None
    """The settings of conversations along golden paths; null in a run without any."""
    rated_by: str | None = None
    """The judge that rated replies or compared free texts, by its label; null where none was asked."""
    search: str | None = None
    """The source that answered web searches; null in a run without any."""
    shard: Annotated[str | None, Field(json_schema_extra={"pattern": "^[0-9]+/[0-9]+$"})] = None
    """The part of the entries that was run, such as ``3/10``; null for all."""
    earlier: tuple[EarlierConversation, ...] = ()
    """Conversations that fill the memories which entries ask about; each was held once for all of them."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels that the user gave the run."""
    commit: str | None = None
    """The git commit of the project; null outside of a repository."""
    narrowed_by: str | None = None
    """The option that selected a part of the entries, as ``-k``, or ``an early end``; null for whole runs."""
    ungated: str | None = None
    """The reason why the rules of the project were not applied; null where they were or it has none."""
    asked_as: str | None = None
    """The official model as which the model was asked, and whether known faults were left out; null where it
    was asked in the form that every server takes."""
    against: SideBySide | None = None
    """The comparison with a second model that was asked at the same time; null in a run of one model."""
    noise: NoiseFloor | None = None
    """What chance changed where the same was asked twice; null where nothing was."""

    shots: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """In completion mode, the entries whose right answers every prompt shows, by suite and category such as
    ``core:parallel``. They and those of their clusters are not scored."""

    @property
    def most_shots(self) -> int:
        """The number of right answers that a prompt shows; in a category with few entries it is less."""
        return max(map(len, self.shots.values()), default=0)

    @property
    def manner(self) -> str:
        """How the model was asked, in words."""
        form_text = f", asked as {self.asked_as}" if self.asked_as else ""
        return f"{self.mode}, {self.names} names{form_text}"


@cache
def make_facts_adapter() -> TypeAdapter[RunFacts]:
    """Return pydantic's adapter that reads, writes and describes facts as JSON."""
    return TypeAdapter(RunFacts)


EARLY_END = "an early end"
"""What narrowed a run that ended before its last test, or lacks parts."""
HELD, BROKEN, UNDECIDED = 0, 1, 2
"""Exit codes of a gated run."""
WORDS = {HELD: "held", BROKEN: "broken", UNDECIDED: "cannot tell"}
"""The outcome of a rule by the exit code that it asks for."""


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """The outcome of a rule of the gate."""

    rule: str
    """The rule as it was written."""
    outcome: Annotated[str, one_of(*WORDS.values())]
    sentence: str

    @property
    def code(self) -> int:
        """The exit code that the rule asks for."""
        # A newer version may know other outcomes.
        return next((code for code, word in WORDS.items() if word == self.outcome), UNDECIDED)
