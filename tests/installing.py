"""Distributions that are installed by writing their metadata, so that no network is needed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def install_distribution(folder: Path, distribution: str, groups: Mapping[str, Mapping[str, str]]) -> None:
    """Write the metadata of a distribution with these entry points, each value by group and name."""
    info = folder / f"{distribution}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    lines = [
        line
        for group, points in groups.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
