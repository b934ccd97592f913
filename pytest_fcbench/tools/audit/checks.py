"""The checks by name, and the function that runs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcbench.tools.audit import (
    duplicates,
    fitting_functions,
    function_docs,
    texts,
    training_data,
    trajectories,
    truths,
    whole_suite,
)
from pytest_fcbench.tools.audit.findings import Check, Finding, SuiteFacts

_MODULES = (
    whole_suite,
    truths,
    trajectories,
    function_docs,
    duplicates,
    training_data,
    fitting_functions,
    texts,
)
DECLARED = [value for module in _MODULES for value in vars(module).values() if isinstance(value, Check)]

CHECKS: Mapping[str, Check] = {check.name: check for check in sorted(DECLARED, key=lambda check: check.weak)}
"""Checks in the order of an audit's report: by module and place in it, weak ones last."""


def run_checks(facts: SuiteFacts, names: Sequence[str] = ()) -> Sequence[Finding]:
    """Return the findings of the named checks, or of all that are not weak, by check and entry."""
    checks = [c for c in CHECKS.values() if (c.name in names if names else not c.weak)]
    return [finding for check in checks for finding in check(facts)]
