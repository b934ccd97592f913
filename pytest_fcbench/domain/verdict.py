"""Verdicts of matchers on transcripts: passed, failed, or not scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Discriminator, Field, Strict

from pytest_fcbench.domain.json_values import DESCRIBED, Count, Flag, JsonObject, JsonValue, Unwalked, one_of
from pytest_fcbench.domain.text import make_printable


class Profile(StrEnum):
    """The rules that a verdict follows; the verdicts of both profiles are computed for every entry."""

    OFFICIAL = "official"
    """The verdict that the benchmark's own code gives, quirks included."""
    CORRECTED = "corrected"
    """The same rules with the known quirks repaired (each named where it is)."""


@dataclass(frozen=True, slots=True)
class Passed:
    """The answer is right."""

    __pydantic_config__ = DESCRIBED

    status: Literal["passed"] = field(default="passed", init=False, repr=False)
    code: None = field(default=None, init=False, repr=False)
    reason: None = field(default=None, init=False, repr=False)

    # Without an annotation it is no field and is not written to JSON, where ``status`` says the same.
    passed = True


@dataclass(frozen=True, slots=True)
class Failed:
    """The answer is wrong.

    ``code`` is the official ``error_type`` in the official profile; ``reason`` is a sentence a person
    can act on; ``details`` holds its parts as JSON values (function, parameter, found, accepted).
    """

    __pydantic_config__ = DESCRIBED

    status: Literal["failed"] = field(default="failed", init=False, repr=False)
    code: str
    reason: str
    details: JsonObject = field(default_factory=dict)

    passed = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", make_printable(self.reason))

    def __str__(self) -> str:
        return f"{self.code}: {self.reason}"


@dataclass(frozen=True, slots=True)
class NotScored:
    """The answer could not be judged, which says nothing about the model.

    ``cause`` is a short code (``timeout``, ``no_result``, ``set_aside`` ...), ``reason`` a sentence.
    """

    __pydantic_config__ = DESCRIBED

    status: Literal["not_scored"] = field(default="not_scored", init=False, repr=False)
    # In JSON all verdicts have the same keys: what ``Failed`` calls its code is here the cause.
    cause: Annotated[str, Field(alias="code")]
    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", make_printable(self.reason))

    def __str__(self) -> str:
        return f"{self.cause}: {self.reason}"


Verdict: TypeAlias = Annotated[Passed | Failed | NotScored, Discriminator("status")]

OWN_ASSERTION = "own_assertion"
"""The code of a failure that an assertion in the body of a test found, and no matcher."""
SET_ASIDE = "set_aside"
"""Cause of entries that the corrected profile leaves out because their data are known to be bad."""

UNDECIDED = "undecided"
"""Cause of checks of a server whose replies do not show what the server does."""
NOTED = "noted"
"""Cause of checks of a server that find what is only good to know."""
SKIPPED = frozenset({SET_ASIDE, UNDECIDED, NOTED})
"""Causes that are no failure of the run: such an entry is skipped."""

OTHER_RULES = "other_rules"
"""Cause where a profile would have shown the model something else than was shown: no failure of the run."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An argument of a call that is not as expected; ``expected`` and ``found`` are JSON values.

    ``kind`` is ``value_error``, ``param_missing`` or ``param_hallucination``, ``type`` the declared type.
    """

    __pydantic_config__ = DESCRIBED

    parameter: str
    kind: Annotated[str, one_of("value_error", "param_missing", "param_hallucination")]
    type: str | None
    expected: JsonValue = None
    found: JsonValue = None


_CALL_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "arguments"],
    "properties": {"name": {"type": "string"}, "arguments": True},
}
CallJson: TypeAlias = Annotated[Mapping[str, object], Unwalked(Mapping, _CALL_SCHEMA)]
"""A call along a golden path."""
# For the JSON Schema only: a reader takes others, which newer versions may write.
_STAGES = ["format", "exact", "lookup", "repeat", "rule", "value", "response", "builtin", "judge", "unpaired"]
_ERRORS = ["func_error", "param_missing", "value_error", "param_hallucination", "format_error", "unpaired"]


@dataclass(frozen=True, slots=True)
class CallVerdict:
    """The verdict on one call that a model made along a golden path.

    Calls are ``{"name": ..., "arguments": {...}}``.
    """

    __pydantic_config__ = DESCRIBED

    step: Annotated[int, Strict(), Field(ge=1)]
    """The number of the model's step, from 1 on."""
    made: CallJson
    expected: CallJson | None
    """The golden call that it was paired with, or None."""
    stage: Annotated[str, one_of(*_STAGES)]
    """The stage of the comparison that decided."""
    right: Flag
    code: Annotated[str, one_of(*_ERRORS)] | None = None
    """The error of a wrong call."""
    reason: str = ""
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class PathScore:
    """The progress of a model along a golden path, beside whether it reached the end."""

    __pydantic_config__ = DESCRIBED

    calls: Count
    """Calls of the golden path."""
    right: Count
    """Calls that were right. Officially a lookup counts each time that it is made."""
    steps: Count
    """Steps of the golden path."""
    right_steps: Count
    """Steps of the golden path before the first that was not finished."""
    taken: Count
    """Steps of the model that made calls."""
    verdicts: tuple[CallVerdict, ...] = ()
    completeness: Annotated[Count, Field(le=2)] | None = None
    """A judge's score from 0 to 2: does the final answer cover the request?"""
    correctness: Annotated[Count, Field(le=2)] | None = None
    """A judge's score from 0 to 2: does the final answer agree with the replies?"""


@dataclass(frozen=True, slots=True)
class JudgeRating:
    """A judge's rating of an answer in words."""

    score: int
    """From 0 to 2."""
    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", make_printable(self.reason))


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts of both profiles on one transcript."""

    __pydantic_config__ = DESCRIBED

    official: Verdict
    corrected: Verdict

    def select_profile(self, profile: Profile) -> Verdict:
        """Return the verdict of one profile."""
        return self.official if profile is Profile.OFFICIAL else self.corrected

    @classmethod
    def same_in_both(cls, verdict: Verdict) -> Self:
        """Give the same verdict in both profiles."""
        return cls(verdict, verdict)


@dataclass(frozen=True, slots=True)
class Judgement(Verdicts):
    """The verdicts of both profiles on one transcript, with path scores and ratings."""

    official_path: PathScore | None = None
    corrected_path: PathScore | None = None
    as_written: Verdicts | None = None
    """The verdicts on the same calls as written, where calls are judged by what they return."""
    rating: JudgeRating | NotScored | None = None
    """The rating of a reply in words, or why there is none; None where no judge was asked."""

    def select_path_score(self, profile: Profile) -> PathScore | None:
        """Return the path score of one profile, or None without a golden path."""
        return self.official_path if profile is Profile.OFFICIAL else self.corrected_path
