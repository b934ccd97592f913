"""Golden paths: steps of calls with their recorded replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fcbench.domain.entry import Entry, Expectation
from pytest_fcbench.domain.transcript import RecordedCall


@dataclass(frozen=True, slots=True)
class Lookup:
    """Calls that look up an identifier (official: *free functions*).

    They may be made at any time, also ahead of their step, and may be left out.
    """

    name: str
    where: Mapping[str, object] = field(default_factory=dict)
    """Arguments that such a call must have; with any, it may not come ahead of its step."""
    forgiven: bool = True
    """True where the official code forgives that it was left out."""

    def fits(self, call: RecordedCall) -> bool:
        """Tell whether a call of the path is one of these."""
        return call.name == self.name and self.where.items() <= call.arguments.items()


@dataclass(frozen=True, slots=True)
class GoldenPath(Expectation):
    """The shortest way to serve a request: steps of calls, those of a step in any order."""

    steps: tuple[tuple[RecordedCall, ...], ...]
    lookups: tuple[Lookup, ...] = ()
    judged: frozenset[str] = frozenset()
    """Parameters whose values can be right in several forms (free text, counts, prices). A value of any other
    parameter is right only if it is equal."""
    overlooked: frozenset[str] = frozenset()
    """Parameters whose values must be equal too, which the official code overlooks."""
    recorded: tuple[RecordedCall, ...] = ()
    """Replies to calls that are not on the path."""
    by_runner: bool = False
    """True where the official code has a runner for each family of models."""
    wording: PathWording | None = None
    """The texts of the official code; None where nobody has read them from it."""

    @property
    def calls(self) -> tuple[RecordedCall, ...]:
        """The calls of all steps in order."""
        return tuple(call for step in self.steps for call in step)

    def is_lookup(self, call: RecordedCall) -> bool:
        """Tell whether a call of the path may be left out."""
        return any(lookup.fits(call) for lookup in self.lookups)

    def is_plain_lookup(self, call: RecordedCall) -> bool:
        """Tell whether a call is a lookup whatever its arguments are."""
        return any(lookup.fits(call) for lookup in self.lookups if not lookup.where)

    def is_special_lookup(self, call: RecordedCall) -> bool:
        """Tell whether a call is a lookup only with its arguments (official: the hotel rule)."""
        return any(lookup.fits(call) for lookup in self.lookups if lookup.where)


def list_steps(entry: Entry) -> Sequence[Sequence[RecordedCall]]:
    """List the steps of the golden path of an entry; none where it has no such path."""
    return entry.expectation.steps if isinstance(entry.expectation, GoldenPath) else ()


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """A prompt for a judge: a system message, and a user message with numbered places for values."""

    system: str
    user: str
    """``[args1]`` stands for the first value, ``[args2]`` for the second."""
    arguments: tuple[str, ...]
    """The names of the values in the order of their places."""

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the user message with these values in it."""
        text = self.user
        # One after the other: a place that a value brings in is filled by a later value (official).
        for number, name in enumerate(self.arguments, 1):
            text = text.replace(f"[args{number}]", values[name])
        return text


@dataclass(frozen=True, slots=True)
class PathWording:
    """The texts of one version of the official code."""

    version: str
    """The commit whose texts these are, or the beginning of their hash where they are of no known one."""
    wrong_call: str
    """The reply to a call that is not right, as JSON."""
    refusals: Mapping[str, str]
    """The sentences about calls of a wrong form, by what is wrong; ``{function}`` and the like stand for
    values."""
    equivalence: JudgePrompt
    completeness: JudgePrompt
    correctness: JudgePrompt
