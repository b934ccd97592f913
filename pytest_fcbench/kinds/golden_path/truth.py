"""Golden paths: steps of calls with their recorded replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fcbench.domain.entry import Entry, Expectation
from pytest_fcbench.domain.recorded_call import RecordedCall
from pytest_fcbench.kinds.golden_path.wording import PathWording


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


def list_steps(entry: Entry) -> Sequence[Sequence[RecordedCall]]:
    """List the steps of the golden path of an entry; none where it has no such path."""
    return entry.expectation.steps if isinstance(entry.expectation, GoldenPath) else ()
