"""Read which entries of a suite are in training data, from an audit that ``fcbench audit -o`` has written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.json_text import read_json_text


def read_trained_entries(path: Path, suites: Mapping[str, Mapping[str, str | None]]) -> frozenset[str]:
    """Return the keys of the entries that the audit found in training data.

    ``suites`` has the version of each suite of the run. Raises ``UsageError`` for another file, and where the
    audited suite is not that of the run.
    """
    command = "fcbench audit SUITE --against=train.jsonl -o FILE.json"
    try:
        audit = read_json_text(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; make it with {command}") from None
    except ValueError:
        audit = None
    match audit:
        case {"suite": str(suite), "version": str(version), "trained": [*trained]}:
            pass
        case _:
            raise UsageError(f"{path}: is not an audit against training data; make it with {command}")
    if suite not in suites:
        raise UsageError(
            f"{path}: is an audit of {suite}, but the run has {', '.join(suites)}; name the audit of one of "
            "its suites"
        )
    if version != (own := suites[suite]["version"]):
        raise UsageError(
            f"{path}: is an audit of {suite} {version}, but the run has {suite} {own}; make it again with "
            f"{command}"
        )
    return frozenset(f"{suite}:{entry}" for entry in trained)
