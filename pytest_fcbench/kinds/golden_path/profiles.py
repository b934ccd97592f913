"""The walk along a golden path by the rules of each profile."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path import corrected, official
from pytest_fcbench.kinds.golden_path.walk import Walk


def walk_path(entry: Entry, syntax: str, path_settings: PathSettings, profile: Profile) -> Walk:
    """Return the walk along a golden path by the rules of a profile."""
    walks = {Profile.OFFICIAL: official.walk_path, Profile.CORRECTED: corrected.walk_path}
    return walks[profile](entry, syntax, path_settings)
