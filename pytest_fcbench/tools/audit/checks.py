"""The checks by name, and an audit: all that they find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.tools.audit import (
    duplicates,
    function_docs,
    golden_paths,
    irrelevance,
    shapes,
    texts,
    trajectories,
    truths,
)
from pytest_fcbench.tools.audit.facts import Facts
from pytest_fcbench.tools.audit.findings import Finding


@dataclass(frozen=True, slots=True)
class Check:
    """One check."""

    find: Callable[[Facts], Iterable[Finding]]
    says: str
    """What its findings have in common."""
    weak: bool = False
    """Whether most of what it finds is fine, so that it runs only when it is asked for."""


CHECKS: Mapping[str, Check] = {
    "unreadable": Check(shapes.unreadable, "a file cannot be read"),
    "shape": Check(shapes.shapes, "the entry has not the form of its category"),
    "uncallable": Check(truths.uncallable, "the function doc forbids the expected call"),
    "malformed": Check(truths.malformed, "accepted values are not written as alternatives"),
    "mistyped": Check(truths.mistyped, "accepted values are not what the doc declares"),
    "refused": Check(truths.refused, "the matcher refuses the truth itself"),
    "uncarried": Check(truths.uncarried, "the SQL of the truth cannot be carried out"),
    "greedy_trap": Check(truths.greedy_traps, "greedy matching fails a right answer"),
    "implied_default": Check(truths.implied_default, "what leaving out means is not accepted"),
    "unmakeable": Check(trajectories.unmakeable, "a call of a trajectory cannot be made"),
    "erring": Check(trajectories.erring, "a call of a trajectory returns an error"),
    "callable_turn": Check(trajectories.callable_turns, "a turn without calls could be served"),
    "off_schema": Check(golden_paths.off_schema, "a golden call violates its schema"),
    "bad_doc": Check(function_docs.bad_docs, "a function doc is no sound schema"),
    "same_name": Check(function_docs.same_names, "functions of an entry cannot be told apart"),
    "default": Check(function_docs.defaults, "a default contradicts its doc"),
    "duplicate": Check(duplicates.duplicates, "two entries ask the same"),
    "paraphrase": Check(duplicates.paraphrases, "two entries ask the same in other words"),
    "overlap": Check(duplicates.overlaps, "another suite asks the same"),
    "idle": Check(irrelevance.idle, "no call is expected, but one looks right"),
    "empty_text": Check(texts.empty, "a text is empty"),
    "damaged_text": Check(texts.damaged, "a text is damaged"),
    "leak": Check(function_docs.leaks, "the doc gives the answer away", weak=True),
    "unnamed_value": Check(texts.unnamed_values, "the question does not name a value", weak=True),
}


def audit(facts: Facts, names: Sequence[str] = ()) -> Sequence[Finding]:
    """What the named checks find, else all that are not weak; by check and entry."""
    chosen = [name for name, check in CHECKS.items() if (name in names if names else not check.weak)]
    return [finding for name in chosen for finding in CHECKS[name].find(facts)]
