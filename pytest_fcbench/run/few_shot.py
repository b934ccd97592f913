"""The answered examples that a base model is shown, and the entries that are not scored because of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from pytest_fcbench.codecs.dialogues.dialogue import write_shot
from pytest_fcbench.domain.entry import CATEGORIES, Entry, name_cluster
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.pressure import split_level
from pytest_fcbench.domain.prompting import Prompting
from pytest_fcbench.domain.transcript import AskModel
from pytest_fcbench.domain.verdict import SET_ASIDE
from pytest_fcbench.kinds.table import takes_shots
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.suites.suite import Suite

USUAL = 3
"""The number of examples where nobody gives another."""


def _name_cluster(entry: Entry) -> str:
    return name_cluster(entry.suite, entry.id, entry.cluster)


@dataclass(frozen=True, slots=True)
class Shots:
    """The examples of a run: in each category of a suite the same for all of its entries."""

    suites: Mapping[str, Suite]
    most: int
    """The number of examples where a category has enough entries."""
    prompting: Prompting
    _entries: dict[tuple[str, str], tuple[Entry, ...]] = field(default_factory=dict)
    _texts: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    def choose_entries(self, suite: str, category: str) -> tuple[Entry, ...]:
        """Choose entries of different clusters, the smallest clusters first, and at most half of them.

        No shard, limit or trial changes the choice.
        """
        if (suite, category) not in self._entries:
            entries = [each for each in self.suites[suite].load(CATEGORIES[category]) if takes_shots(each)]
            sizes = Counter(map(_name_cluster, entries))
            entries.sort(key=lambda each: (sizes[_name_cluster(each)], sha256(each.key.encode()).digest()))
            by_cluster: dict[str, Entry] = {}
            for entry in entries:
                by_cluster.setdefault(_name_cluster(entry), entry)
            chosen = list(by_cluster.values())[: min(self.most, len(by_cluster) // 2)]
            self._entries[suite, category] = tuple(chosen)
        return self._entries[suite, category]

    def write_texts(self, entry: Entry) -> tuple[str, ...]:
        """Write the examples for an entry.

        Raises ``NotScoredError`` for an entry that is an example, or of the cluster of one.
        """
        place = entry.suite, entry.category.name
        examples = self.choose_entries(*place)
        for example in examples:
            if _name_cluster(example) == _name_cluster(entry):
                is_same = split_level(entry.key)[0] == example.key
                kinship = "" if is_same else f" like {example.key}, which is"
                raise NotScoredError(SET_ASIDE, f"it is{kinship} an example in the prompts of {place[1]}")
        if place not in self._texts:
            oracle, wording = OracleModel(self.prompting), self.suites[entry.suite].wording
            texts = [run_through(oracle.complete(each, AskModel(()))).text or "" for each in examples]
            pairs = zip(examples, texts, strict=True)
            self._texts[place] = tuple(write_shot(*pair, wording, self.prompting) for pair in pairs)
        return self._texts[place]

    def list_keys(self, records: Iterable[Record]) -> Mapping[str, tuple[str, ...]]:
        """List the keys of the examples by suite and category, for those that were run."""
        places = sorted({(record.suite, record.category) for record in records})
        examples = {f"{suite}:{name}": self.choose_entries(suite, name) for suite, name in places}
        return {place: tuple(each.key for each in entries) for place, entries in examples.items() if entries}
