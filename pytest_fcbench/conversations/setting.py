"""What the conversations of a run have in common."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from pytest_fcbench.domain.prompt_format import PromptFormat
from pytest_fcbench.domain.prompting import Manner
from pytest_fcbench.domain.transcript import PathSettings
from pytest_fcbench.suites.suite import Suite

Memories: TypeAlias = MutableMapping[str, Mapping[str, Mapping[str, object]]]
"""The state that finished conversations left in their memories, by entry key and domain."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How the entries of one suite are put to one model."""

    manner: Manner
    suite: Suite
    driven: PathSettings
    """How golden paths are walked, and who rates replies in words."""
    memories: Memories = field(default_factory=dict)
    """Earlier conversations, which later ones continue."""

    def use_format(self, chosen: PromptFormat) -> Setting:
        """Return the setting of an entry that brings a prompt format of its own."""
        return replace(self, manner=replace(self.manner, prompting=self.manner.prompting.use_format(chosen)))
