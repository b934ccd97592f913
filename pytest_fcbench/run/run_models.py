"""The models and tools of a run, each at the end of the steps that it needs; hints on failed calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cached_property

from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES
from pytest_fcbench.codecs.decoders.registry import find_native_syntax
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.config.options import BY_KEY
from pytest_fcbench.dispatch.answer_store import AnswerStore, OldReads
from pytest_fcbench.dispatch.limits import Budget, Ledger
from pytest_fcbench.dispatch.pipeline import Limits, Pipeline, build_pipeline
from pytest_fcbench.dispatch.stored_answers import StoredAnswers
from pytest_fcbench.domain.entry import Entry, Group
from pytest_fcbench.domain.errors import CallError, NotScoredError, UsageError
from pytest_fcbench.domain.registry import require_extra
from pytest_fcbench.domain.transcript import PAID, AskModel, Completion, Party
from pytest_fcbench.kinds.answers import web_pages
from pytest_fcbench.mcp_servers.server_pool import ServerPool
from pytest_fcbench.models import registry
from pytest_fcbench.models.native_calls import NativeCallsModel
from pytest_fcbench.models.protocol import NeedsKey, Responder, RoutedModel
from pytest_fcbench.models.providers.endpoint_probe import open_probe
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.scorecard.aggregate.answer_statistics import TOOL_SWITCHES
from pytest_fcbench.web.searcher import OwnWeb, Recording, WebSearcher, open_web_searcher

_LONGEST_STORED = 2_000_000
"""Characters of an answer that are stored, also where fewer are read."""


class RunModels:
    """The models and tools of a run, opened together and closed together.

    ``share`` is this process's part of the rates, the budget and the concurrency; 1 where it runs all
    conversations. Those ``beside`` others spend of their budget and use their store, and are closed before
    them. Raises ``UsageError``.
    """

    def __init__(self, context: RunContext, share: float = 1.0, beside: RunModels | None = None) -> None:
        self._context = context
        self._beside = beside
        self._share = share
        settings = context.settings
        self.concurrency = self._compute_concurrency(settings)
        """The number of conversations that this process runs at once."""
        # Processes that share a budget know nothing of what the others spend, so each has its part.
        budget = beside and beside._budget
        self._budget: Budget = budget or Budget(settings.max_usd and settings.max_usd * share)
        self._companions: list[RunModels] = []
        """The models beside these."""
        self.pipelines: dict[Party, Pipeline] = {}
        """The way to each party that is asked in steps."""
        with ExitStack() as self._opened:
            model: Responder = context.model
            if not model.immediate:
                identity = registry.describe_identity(settings)
                model = self._open_pipeline(Party.MODEL, model, settings, identity)
            # Forced calls are read by the server.
            if not settings.forced and (syntax := find_native_syntax(settings.syntax)):
                model = NativeCallsModel(model, syntax)
            if settings.prompt_syntax:
                model = NativeCallsModel(model, NATIVE_SYNTAXES[settings.prompt_syntax], prompts=True)
            others = self._open_other_parties()
            if settings.compares_streams and not context.chosen.recorded:
                others[Party.STREAM] = model
            needs_route = others or context.checks_endpoint
            self.routed_model: Responder = RoutedModel(model, others) if needs_route else model
            """The model that passes each request to the party that it is for."""
            # An error above closes what was opened until then.
            self._opened = self._opened.pop_all()
        if beside:
            beside._companions.append(self)

    def close(self) -> None:
        """Close the store and everything else that was opened."""
        self._opened.close()

    # What answers for each party

    def _open_other_parties(self) -> dict[Party, Responder]:
        """Open what answers for each party that the run asks beside the model under test."""
        context, settings = self._context, self._context.settings
        if context.chosen.recorded:
            # A replayed scorecard answers for all of them.
            return dict.fromkeys((party for party in Party if party is not Party.MODEL), context.model)
        parties: dict[Party, Responder] = {}
        auxiliary_models = registry.open_auxiliary_models(settings, context.parties)
        for party, (model, identity) in auxiliary_models.items():
            own = settings.judge if party is Party.JUDGE else None
            parties[party] = self._open_pipeline(party, model, own or self._settings_of_others, identity)
        if context.checks_endpoint and (probe := open_probe(settings)):
            identity = {"endpoint": probe.model.name, "api_base": probe.model.api_base}
            parties[Party.ENDPOINT] = self._open_pipeline(Party.ENDPOINT, probe, settings, identity)
        if any(each.group is Group.MCP for each in (*settings.categories, *settings.forced_categories)):
            parties[Party.SERVER] = self._open_servers()
        if context.asks_web:
            parties |= self._open_webs()
        return parties

    @property
    def _settings_of_others(self) -> Settings:
        """The settings without --fcbench-rpm and --fcbench-tpm, which limit the tested model's account."""
        return replace(self._context.settings, rpm=None, tpm=None)

    def _open_webs(self) -> Mapping[Party, Responder]:
        """Open the search of the web, and the pages that suites bring along."""
        context, settings = self._context, self._context.settings
        web: Responder = open_web_searcher(settings.search)
        # A recording answers requests to the suites' webs, too.
        own_web = web if context.web_recording else self._opened.enter_context(open_own_web(context))
        if not web.immediate:
            identity = {"model": f"web: {settings.search}"}
            web = self._open_pipeline(Party.WEB, web, self._settings_of_others, identity)
        webs: dict[Party, Responder] = {Party.WEB: web, Party.OWN_WEB: own_web}
        if settings.search_record is None:
            return webs
        recorder = self._opened.enter_context(closing(Recording(settings.search_record)))
        return {party: Pipeline(each, [recorder], each.immediate) for party, each in webs.items()}

    def _open_servers(self) -> Responder:
        """Open what carries calls out on MCP servers, with its answers stored where others are."""
        context, settings, waits = self._context, self._context.settings, self._context.waits
        if settings.mcp:
            require_extra("mcp", "--fcbench-mcp")
        pool = ServerPool(
            settings.mcp, lambda entry: context.suites[entry.suite].find_folder(entry), immediate=not waits
        )
        servers = self._opened.enter_context(closing(pool))
        if not waits or (stored_answers := self._store_answers({"model": "mcp"})) is None:
            return servers
        return self.pipelines.setdefault(Party.SERVER, Pipeline(servers, [stored_answers]))

    def _open_pipeline(
        self, party: Party, model: Responder, settings: Settings, identity: registry.Identity
    ) -> Pipeline:
        """Put a party that is asked under these settings behind its steps. Raises ``UsageError``."""
        share, is_tested = self._share, party in (Party.MODEL, Party.ENDPOINT)
        limits = Limits(
            rpm=settings.rpm and settings.rpm * share,
            tpm=settings.tpm and settings.tpm * share,
            retries=settings.retries,
            max_pause_s=settings.max_pause_s,
            timeout_s=settings.timeout_s,
            wait_s=(is_tested and settings.wait_s) or 0.0,
            concurrency=self._compute_concurrency(settings),
        )
        # Only some are paid by tokens or time, and a judge may be a file.
        is_paid = party in PAID and not model.immediate
        ledger = self._open_ledger(party, settings) if is_paid else Ledger()
        stored_answers = self._store_answers(identity)
        longest = self._context.settings.max_answer
        self.pipelines[party] = build_pipeline(
            model,
            limits,
            ledger,
            stored_answers,
            preflight=is_tested and settings.preflight and not settings.offline,
            longest_read=longest if is_tested else None,
            longest_stored=max(longest, _LONGEST_STORED) if stored_answers else None,
        )
        return self.pipelines[party]

    def _open_ledger(self, party: Party, settings: Settings) -> Ledger:
        """Return the ledger of a party that is asked under these settings. Raises ``UsageError``."""
        price, max_usd = self._context.prices.get(party), self._budget.max_usd
        if max_usd is not None and price is None:
            label = settings.similarity if party is Party.SIMILARITY else settings.label
            fault = f"the price of {label} is not known; give it under 'prices' in fcbench.yaml"
            raise UsageError(f"--fcbench-max-usd={self._context.settings.max_usd:g}: {fault}")
        # Endpoints take the limit of output tokens under either of two names.
        token_limits = (settings.parameters.get(name) for name in ("max_tokens", "max_completion_tokens"))
        most_output = next((value for value in token_limits if isinstance(value, int)), None)
        return Ledger(price, settings.concurrency, self._budget, most_output)

    def _store_answers(self, identity: registry.Identity) -> StoredAnswers | None:
        """Return the step that stores answers, unless the run stores none."""
        if self._store is None:
            return None
        settings = self._context.settings
        return StoredAnswers(self._store, identity, offline=settings.offline, refresh=settings.refresh)

    @cached_property
    def _store(self) -> AnswerStore | None:
        """The answer store, opened for the first model that is asked."""
        if self._beside:
            return self._beside._store
        path = self._context.settings.store
        return self._opened.enter_context(closing(AnswerStore(path))) if path else None

    def _compute_concurrency(self, settings: Settings) -> int:
        return max(1, int(settings.concurrency * self._share))

    # What a run asks about its models

    @property
    def pipeline(self) -> Pipeline | None:
        """The way to the model under test; None for one that needs no network."""
        return self.pipelines.get(Party.MODEL)

    def find_stored(self, entry: Entry, request: AskModel) -> Completion | None:
        """Return the stored answer to a request of any party, None where there is none."""
        step = (pipeline := self.pipelines.get(request.party)) and pipeline.stored_answers
        return step.find_stored(entry, request) if step else None

    def require_key(self) -> None:
        """Raise ``UsageError`` where the model has no key and nothing that it answered is stored."""
        settings, model = self._context.settings, self._context.model
        first_call = self.pipeline and self.pipeline.first_call
        if not first_call or first_call.decided.is_set() or not isinstance(model, NeedsKey):
            return
        if self._store is not None and not settings.refresh and self._store.count() > 0:
            return
        try:
            model.require_key()
        except CallError as error:
            fault = f"no call was made: {error.cause}: {error.reason}\n{find_hint(error, settings)}"
            raise UsageError(f"{fault}; use --fcbench-no-preflight {WITHOUT_PREFLIGHT}") from None

    def require_endpoint(self, checks: int) -> None:
        """Raise ``UsageError`` where selected entries, so many, check an endpoint that the model lacks."""
        routed_model = self.routed_model
        if isinstance(routed_model, RoutedModel) and Party.ENDPOINT not in routed_model.others:
            raise UsageError(
                f"{checks:,} selected tests check a server, and the model {self._context.settings.label} "
                "has no endpoint of a known address; name one with --fcbench-model=hosted_vllm/NAME "
                "and --fcbench-api-base=URL"
            )

    @property
    def reuses(self) -> int:
        """The number of answers of the model under test that came from the store."""
        step = self.pipeline and self.pipeline.stored_answers
        return step.reuses if step else 0

    @property
    def old_reads(self) -> OldReads:
        """The stored answers of all parties that are older than the run."""
        return self._store.old_reads if self._store else OldReads()

    @property
    def kept(self) -> int | None:
        """The number of answers of this run that are in the store; None where nothing is stored."""
        if self._store is None:
            return None
        every = (self, *self._companions)
        steps = [pipeline.stored_answers for models in every for pipeline in models.pipelines.values()]
        return self._store.count_written() + sum(step.reuses for step in steps if step)

    @property
    def spent_usd(self) -> float | None:
        """The dollars that all models have cost so far; None if no price is known."""
        return self._budget.spent if self._context.prices else None

    @property
    def calls_of_others(self) -> Mapping[str, int]:
        """The number of calls that each other party was asked, as far as it was asked at all."""
        calls = {party: pipeline.calls for party, pipeline in self.pipelines.items()}
        others = {party: number for party, number in calls.items() if number and party is not Party.MODEL}
        beside = [(each._context.settings.label, each.pipeline) for each in self._companions]
        return others | {label: pipeline.calls for label, pipeline in beside if pipeline and pipeline.calls}

    @property
    def trouble(self) -> str | None:
        """The reason why calls of any party are not answered, in words; None where all are."""
        for party, pipeline in self.pipelines.items():
            if trouble := pipeline.trouble:
                return trouble if party is Party.MODEL else f"{party}: {trouble}"
        troubles = ((each._context.settings.label, each.trouble) for each in self._companions)
        return next((f"{label}: {trouble}" for label, trouble in troubles if trouble), None)


@contextmanager
def open_own_web(context: RunContext) -> Iterator[WebSearcher]:
    """Open the web pages that suites bring along; their server starts with the first request."""
    with closing(
        OwnWeb(lambda: web_pages.read_pages([suite.web for suite in context.suites.values()]))
    ) as web:
        yield WebSearcher(web.open_sources, immediate=not context.waits)


WITHOUT_PREFLIGHT = "to continue anyway; those that fail will not be scored"

_ABOUT_TOOL_CALLS = re.compile(r"tool[ _-](choice|call)", re.IGNORECASE)


def find_hint(error: NotScoredError, settings: Settings) -> str:
    """Return what to do about a failed call under these settings."""
    flags, is_judge = settings.flags, settings.flags.model == BY_KEY["judge"].flag
    # A judge is always asked in words.
    tools = "" if is_judge else ", and whether it accepts tools (--fcbench-mode=prompt sends none)"
    # vLLM without a tool parser refuses the tools instead of leaving them out.
    if error.cause == "bad_request" and not is_judge and _ABOUT_TOOL_CALLS.search(error.reason):
        return f"let the server read tool calls ({TOOL_SWITCHES}), or use --fcbench-mode=prompt"
    if error.cause == "authentication" and (key_source := registry.describe_key_source(settings)):
        source = "" if key_source in error.reason else f"{key_source}; "
        return f"{source}put a valid key there, or name the variable that holds one with {flags.api_key_env}"
    hints = {
        "authentication": f"name the variable that holds a valid API key with {flags.api_key_env}",
        "bad_request": f"check the model's name{tools}",
        "connection": f"check {flags.api_base}, and whether the server is running",
        "function_error": "fix the function",
        "function_result": "let the function return text, a message or a list of tool calls",
        "not_found": f"check the model's name and {flags.api_base}",
        "redirect": f"use the address that the endpoint names with {flags.api_base}, if it is yours",
        "quota": "add credit to the account, or use another API key",
        "rate_limit": "ask for less at once (--fcbench-concurrency, --fcbench-tpm), or try again later",
        "request_too_large": "raise the limit of the proxy before the server",
        "web_page": f"check {flags.api_base}; most such addresses end in /v1",
        "max_tokens": "give such a value with max_tokens in the judge's profile"
        if is_judge
        else "give such a value with --fcbench-max-tokens",
        "budget": "raise --fcbench-max-usd",
    }
    return hints.get(error.cause, "try again later")
