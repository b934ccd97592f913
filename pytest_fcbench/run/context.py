"""The fixed parts of a run: model and manner, suites and entries, other parties, prices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.entry import SELECTIONS, Entry, Group
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import Mode, ModelPresentation
from pytest_fcbench.domain.redaction import list_request_secrets
from pytest_fcbench.domain.stream_comparison import ask_streamed_too
from pytest_fcbench.domain.transcript import (
    BUILTIN,
    AuxiliaryCall,
    Completion,
    Conversation,
    Party,
    PathSettings,
)
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path.assignment import MEASURES
from pytest_fcbench.kinds.golden_path.script import name_runner
from pytest_fcbench.kinds.kind import ConversationContext, Memories
from pytest_fcbench.kinds.table import converse, takes_shots
from pytest_fcbench.models import registry, sentence_vectors
from pytest_fcbench.models.price_table import known_price
from pytest_fcbench.models.protocol import Model
from pytest_fcbench.models.provider import Chosen
from pytest_fcbench.models.providers.openai_compatible import find_endpoint
from pytest_fcbench.models.sentence_vectors import AUTO, INSTALL, SentenceModel
from pytest_fcbench.run import few_shot
from pytest_fcbench.run.few_shot import Shots
from pytest_fcbench.run.selection import Selection, read_trained_entries
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.suites import bfcl, complexfuncbench
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.web.searcher import ENGINES, refuse_search


@dataclass(frozen=True)
class RunContext:
    """The fixed parts of a run. Nothing here is opened, so nothing has to be closed.

    Each part is made when it is first read: a wrong model is found before a missing pack, and a command that
    reads a suite loads no model.
    """

    settings: Settings

    @cached_property
    def chosen(self) -> Chosen:
        """The model under test and its manner. Raises ``UsageError``."""
        return registry.choose_model(self.settings)

    @property
    def model(self) -> Model:
        """The model under test, without limits. Raises ``UsageError``."""
        return self.chosen.model

    @cached_property
    def secrets(self) -> Sequence[str]:
        """The secrets of the run, longest first, which no report may contain. Raises ``UsageError``."""
        settings = self.settings
        endpoint = find_endpoint(settings)
        key = endpoint.api_key if endpoint else settings.api_key
        of_similarity = list_request_secrets(settings.similarity_api_key, settings.similarity_api_base, {})
        return list_request_secrets(key, settings.api_base, settings.parameters, also=of_similarity)

    @property
    def manner(self) -> ModelPresentation:
        """The manner in which the model is asked. Raises ``UsageError``."""
        return self.chosen.manner

    @cached_property
    def suites(self) -> Mapping[str, Suite]:
        """The selected suites. Raises ``PackMissing`` and ``UsageError``."""
        settings = self.settings
        suites = {name: open_suite(name, settings.cache, settings.own) for name in settings.suites}
        for name, suite in suites.items():
            if model := self._find_sentence_model(suite):
                suites[name] = replace(suite, world=replace(suite.world, embed=model.embed))
        return suites

    @cached_property
    def _family_texts(self) -> Mapping[str, tuple[str, ...]]:
        """The sentences of official families, which only a pack brings. Raises ``PackMissing``."""
        if (member := self.manner.member) is None:
            return {}
        return bfcl.read_family_sentences(self.settings.cache, member.handler)

    def _find_sentence_model(self, suite: Suite) -> SentenceModel | None:
        """Return the model by which ``memory_vector`` of a suite finds texts, if any."""
        is_wanted = suite.world.sentences or self.settings.embedding != AUTO
        return self.sentence_model if is_wanted else None

    def describe_vectors(self, suite: Suite) -> str:
        """Describe by what ``memory_vector`` of a suite finds texts."""
        if model := self._find_sentence_model(suite):
            return str(model)
        officially = f"; officially by all-MiniLM-L6-v2: {INSTALL}" if suite.world.sentences else ""
        return f"shared words and parts of words, without a model{officially}"

    @property
    def suite_versions(self) -> Mapping[str, Mapping[str, str | None]]:
        """Version and content hash of each suite, as scorecards state them."""
        return {
            name: {"version": suite.version, "pack_hash": suite.pack_sha256}
            for name, suite in self.suites.items()
        }

    @cached_property
    def selection(self) -> Selection:
        """The entries that are asked. Raises ``PackMissing`` and ``UsageError``."""
        return Selection(self.settings, self.suites)

    @cached_property
    def shots(self) -> Shots | None:
        """The answered examples of a run in completion mode, else None. Raises ``UsageError``."""
        prompting, recorded = self.manner.prompting, self.chosen.recorded
        if prompting.mode is not Mode.COMPLETION:
            return None
        most = self.settings.shots or (recorded and recorded.shots) or few_shot.USUAL
        return Shots(self.suites, most, prompting)

    @cached_property
    def sentence_model(self) -> SentenceModel | None:
        """The model that makes vectors for ``memory_vector``, if one is selected. Raises ``UsageError``."""
        searches = any(category.name == "memory_vector" for category in self.settings.categories)
        return sentence_vectors.load_model(self.settings.embedding) if searches else None

    @cached_property
    def driven(self) -> PathSettings:
        """The settings of golden paths and the judge of replies; a replayed scorecard brings its own."""
        # A replay keeps the rules of the run that it replays, not those of today's settings.
        recorded_settings, settings = self.chosen.recorded, self.settings
        judge = settings.judge.label if settings.judge else BUILTIN
        if recorded_settings:
            if recorded_settings.driven:
                return recorded_settings.driven
            judge = recorded_settings.rated_by or BUILTIN
        path_settings = PathSettings(settings.profile, judge, settings.similarity, settings.live)
        if settings.profile is not Profile.OFFICIAL or complexfuncbench.NAME not in settings.suites:
            return path_settings
        runner = settings.runner or name_runner(settings.model)
        wording = complexfuncbench.read_wording(settings.cache)
        return replace(path_settings, runner=runner, wording=wording.version if wording else None)

    @cached_property
    def baseline(self) -> Scorecard | None:
        """The scorecard that the gate compares with. Raises ``UsageError``."""
        return scorecard_files.load_outlines(self.settings.baseline) if self.settings.baseline else None

    @cached_property
    def trained(self) -> frozenset[str]:
        """The keys of entries that are in the training data of the model. Raises ``UsageError``."""
        path = self.settings.trained
        return read_trained_entries(path, self.suite_versions) if path else frozenset()

    @cached_property
    def rivals(self) -> Sequence[Scorecard]:
        """The scorecards among which the run is ranked. Raises ``UsageError``."""
        files: list[Path] = []
        for path in self.settings.rank_with:
            files += sorted(path.glob("*.json")) if path.is_dir() else [path]
        return [scorecard_files.load_outlines(file) for file in files]

    @cached_property
    def price(self) -> Price | None:
        """The price of a call, from fcbench.yaml or from litellm's table; None if neither has the model."""
        return self.settings.price or (None if self.model.immediate else known_price(self.settings.model))

    @cached_property
    def prices(self) -> Mapping[Party, Price]:
        """The prices of the parties that are paid by tokens or time, as far as they are known."""
        of_model = (Party.MODEL, Party.STREAM, Party.ENDPOINT)
        price_by_party: dict[Party, Price | None] = dict.fromkeys(of_model, self.price)
        if judge := self.settings.judge:
            price_by_party[Party.JUDGE] = judge.price or known_price(judge.model)
        if self.settings.similarity not in MEASURES:
            similarity = self.settings.similarity
            price_by_party[Party.SIMILARITY] = self.settings.similarity_price or known_price(similarity)
        return {party: price for party, price in price_by_party.items() if price}

    def usd(self, completion: Completion, party: Party = Party.MODEL) -> float | None:
        """Return what a completion of that party cost in dollars, or None if that is unknown."""
        if party not in self.prices:
            return None
        settings = self.settings.judge if party is Party.JUDGE and self.settings.judge else self.settings
        return self.prices[party].compute_cost(completion, settings.concurrency)

    @cached_property
    def parties(self) -> frozenset[Party]:
        """The other parties that are asked, except the web.

        Golden paths ask all parties that the settings name, rated replies and free texts only the judge.
        """
        if self.chosen.recorded:
            return frozenset()
        named_parties = registry.find_named_parties(self.settings)
        if any(category.group is Group.COMPLEX for category in self.settings.categories):
            return named_parties
        judges = named_parties & {Party.JUDGE}
        rates_words = any(category.name == "chatable" for category in self.settings.categories)
        return judges if judges and (rates_words or any(self.list_free_texts())) else frozenset()

    def list_free_texts(self) -> Iterator[Entry]:
        """Yield the selected entries with free text among the right arguments."""
        # A process that controls workers has loaded none, and most suites have no such entry.
        is_possible = any(suite.may_have_free_text for suite in self.suites.values())
        for category in self.settings.categories if is_possible else ():
            for entry in self.selection.entries(category.name):
                if entry.expectation.has_free_text:
                    yield entry

    @property
    def asks_web(self) -> bool:
        """True where calls of selected entries search the web."""
        return any(category.name in SELECTIONS["web_search"] for category in self.settings.categories)

    @property
    def checks_endpoint(self) -> bool:
        """True where selected entries check the server behind the model."""
        return any(category.group is Group.SERVER for category in self.settings.categories)

    @property
    def web_recording(self) -> Path | None:
        """The recording that answers all web requests, if one was named."""
        kind, _, path = self.settings.search.partition(":")
        return Path(path) if kind == "recorded" else None

    @cached_property
    def waits(self) -> bool:
        """True where answers take time: the model, another party or the open web needs the network."""
        open_web = self.asks_web and self.settings.search in ENGINES
        return not self.model.immediate or bool(self.parties) or (open_web and not self.chosen.recorded)

    @cached_property
    def _shared_answers(self) -> dict[str, AuxiliaryCall]:
        """The answers of the endpoint that hold for all entries."""
        return {}

    def converse(
        self, entry: Entry, memories: Memories, manner: ModelPresentation | None = None
    ) -> Conversation:
        """Return the conversation about an entry, in environments of its own."""
        if self.lacks_search(entry):
            # Refused here, before the model is paid for an answer that cannot be scored.
            raise refuse_search()
        suite, manner = self.suites[entry.suite], manner or self.manner
        if self.shots and takes_shots(entry):
            manner = replace(manner, shots=self.shots.write_texts(entry))
        if self._family_texts and not suite.wording.family_texts:
            wording = replace(suite.wording, family_texts=self._family_texts)
            suite = replace(suite, wording=wording)
        context = ConversationContext(manner, suite, self.driven, memories, self._shared_answers)
        conversation = converse(entry, context)
        return ask_streamed_too(conversation) if self.settings.compares_streams else conversation

    def lacks_search(self, entry: Entry) -> bool:
        """Tell whether an entry is about the open web, and nobody was named who searches it for the model."""
        about_web = entry.category.name in SELECTIONS["web_search"] and self.suites[entry.suite].web is None
        return about_web and self.settings.search == "core" and not self.model.immediate

    def check(self) -> None:
        """Raise ``UsageError`` or ``PackMissing`` if the model, a suite or an entry is wrong."""
        # Read first, so that a wrong model is reported before a missing pack.
        manner, _ = self.manner, self._family_texts
        if self.settings.blame and self.model.immediate:
            fault = f"--fcbench-blame: {self.settings.label} answers without a server that could lose points"
            raise UsageError(f"{fault}; leave the option out")
        if self.settings.blame and manner.prompting.mode is Mode.COMPLETION:
            fault = "--fcbench-blame asks in chats, which a base model does not know"
            raise UsageError(f"{fault}; leave it or --fcbench-mode=completion out")
        if self.settings.shots and manner.prompting.mode is not Mode.COMPLETION:
            shots, mode = self.settings.shots, manner.prompting.mode
            fault = f"--fcbench-shots={shots}: {mode} mode shows no answered entries"
            raise UsageError(f"{fault}; leave the option out or add --fcbench-mode=completion")
        if self.settings.forced and not (self.chosen.recorded or find_endpoint(self.settings)):
            fault = f"{self.settings.label} has no endpoint of a known address"
            way = self.settings.forced
            raise UsageError(f"--fcbench-forced={way}: {fault}; name one with --fcbench-api-base")
        if self.settings.forced and (syntax := self.settings.syntax):
            # Imported late, because most runs write no native syntax.
            from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES
            from pytest_fcbench.codecs.decoders.registry import find_writer

            if find_writer(syntax) is None:
                rule = describe_unknown_name("native syntax", syntax, NATIVE_SYNTAXES)
                raise UsageError(f"--fcbench-syntax={syntax} with --fcbench-forced: {rule}")
        for category in self.settings.categories:
            if category.varies_others and manner.prompting.mode is not Mode.PROMPT:
                raise UsageError(
                    f"{category.name} varies the system prompt, which only prompt mode uses: add "
                    f"--fcbench-mode=prompt, and run categories for function calling separately"
                )
            self.selection.entries(category.name)
        self.selection.check_ids()
