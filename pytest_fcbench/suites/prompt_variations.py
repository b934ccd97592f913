"""Entries of other categories, each in every prompt format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pytest_fcbench.domain.entry import Category, Entry, Variation
from pytest_fcbench.domain.prompt_format import FORMATS, PromptFormat


def in_every_format(entries: Iterable[Entry], category: Category) -> Iterator[Entry]:
    """All formats of an entry, a cluster, then those of the next; ids count them all."""
    for number, entry in enumerate(entries):
        for index, chosen in enumerate(FORMATS, number * len(FORMATS)):
            yield replace(
                entry,
                id=variation_id(category, index, chosen, entry.id),
                category=category,
                cluster=entry.id,
                variation=Variation(entry.category, chosen),
            )


def variation_id(category: Category, index: int, chosen: PromptFormat, entry_id: str) -> str:
    """``format_sensitivity_0:ret_fmt=...:simple_python_58``, as officially."""
    return f"{category.name}_{index}:{chosen.name}:{entry_id}"
