"""Settings that the conversations of a run share."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeAlias

from pytest_fcbench.codecs.wording import Wording
from pytest_fcbench.domain.prompt_format import PromptFormat
from pytest_fcbench.domain.prompting import ModelPresentation
from pytest_fcbench.domain.transcript import PathSettings
from pytest_fcbench.environments.world import World

Memories: TypeAlias = MutableMapping[str, Mapping[str, Mapping[str, object]]]
"""The state that finished conversations left in their memories, by entry key and domain."""


class EntrySource(Protocol):
    """A suite, as far as conversations need to know it."""

    @property
    def wording(self) -> Wording:
        """The texts that a model is shown."""

    @property
    def world(self) -> World:
        """The tables that the environments of its entries share."""

    @property
    def web(self) -> Path | None:
        """The folder with the pages of its own small web, if it has one."""


@dataclass(frozen=True, slots=True)
class ConversationContext:
    """The settings under which the entries of one suite are put to one model."""

    manner: ModelPresentation
    suite: EntrySource
    driven: PathSettings
    """The settings of golden paths, and the judge that rates replies in words."""
    # Not stored on disk: it follows from the stored answers, which are replayed.
    memories: Memories = field(default_factory=dict)
    """The memories that later conversations continue."""

    def use_format(self, prompt_format: PromptFormat) -> ConversationContext:
        """Return the context of an entry that brings a prompt format of its own."""
        return replace(
            self, manner=replace(self.manner, prompting=self.manner.prompting.use_format(prompt_format))
        )
