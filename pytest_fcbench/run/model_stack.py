"""The models of a run: the model under test and the auxiliary models, within limits, with stored answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cached_property

from pytest_fcbench.config.layers import BY_KEY
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.dispatch.budget import Budget, Ledger
from pytest_fcbench.dispatch.limits import LimitedModel, Limits
from pytest_fcbench.dispatch.stored_model import StoredModel
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError, NotScoredError, UsageError
from pytest_fcbench.domain.extras import require_extra
from pytest_fcbench.domain.transcript import PAID, AskModel, Completion, Party
from pytest_fcbench.kinds.answers import web_pages
from pytest_fcbench.models import registry
from pytest_fcbench.models.answer_limit import BoundedModel
from pytest_fcbench.models.mcp import ServerModel
from pytest_fcbench.models.protocol import Model, NeedsKey
from pytest_fcbench.models.routing import RoutedModel
from pytest_fcbench.models.web import OwnWeb, RecordingModel, WebModel
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.scorecard.aggregate.unusable_answers import TOOL_SWITCHES
from pytest_fcbench.web.recording import Recording

WITHOUT_PREFLIGHT = "to continue anyway; those that fail will not be scored"

_LONGEST_STORED = 2_000_000
"""Characters of an answer that are stored, also where fewer are read."""

_ABOUT_TOOL_CALLS = re.compile(r"tool[ _-](choice|call)", re.IGNORECASE)


def find_hint(error: NotScoredError, settings: Settings) -> str:
    """Return what to do about a failed call under these settings."""
    flags, is_judge = settings.flags, settings.flags.model == BY_KEY["judge"].flag
    # A judge is always asked in words.
    tools = "" if is_judge else ", and whether it accepts tools (--fcbench-mode=prompt sends none)"
    # vLLM without a tool parser refuses the tools instead of leaving them out.
    if error.cause == "bad_request" and not is_judge and _ABOUT_TOOL_CALLS.search(error.reason):
        return f"let the server read tool calls ({TOOL_SWITCHES}), or use --fcbench-mode=prompt"
    if error.cause == "authentication" and (told := registry.describe_key_source(settings)):
        source = "" if told in error.reason else f"{told}; "
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


class ModelStack:
    """The models of a run, opened together and closed together.

    ``share`` is this process's part of the rates, the budget and the concurrency; 1 where it runs all
    conversations. Raises ``UsageError``.
    """

    def __init__(self, context: RunContext, share: float = 1.0) -> None:
        self._context = context
        self._share = share
        settings = context.settings
        # Processes that share a budget know nothing of what the others spend, so each has its part.
        self._budget = Budget(settings.max_usd and settings.max_usd * share)
        self._others: dict[Party, LimitedModel] = {}
        self._stored: dict[Party, LimitedModel | StoredModel] = {}
        with ExitStack() as opened:
            self._opened = opened
            self.limited: LimitedModel | None = None
            """The model under test within its limits; None for one that needs no network."""
            self.stored: LimitedModel | StoredModel | None = None
            """The limited model with its answers stored; without a store the same as ``limited``."""
            if not context.model.immediate:
                limits = replace(self._limits_of(settings), wait_s=settings.wait_s or 0.0)
                ledger = self._open_ledger(Party.MODEL, settings, settings.label)
                preflight = settings.preflight and not settings.offline
                self.limited = LimitedModel(context.model, limits, ledger, preflight=preflight)
                self.stored = self._store_answers(
                    self.limited,
                    registry.describe_identity(settings),
                    registry.describe_former_identity(settings),
                )
                self._stored[Party.MODEL] = self.stored
            model, others = self.stored or context.model, self._open_auxiliary_models()
            if self.stored:
                # In front of the store: what is in there can be judged with another limit later.
                model = BoundedModel(self.stored, settings.max_answer)
            self.everyone: Model = RoutedModel(model, others) if others else model
            """The model that passes each request to the party that it is for."""
            # An error above closes what was opened until then.
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Close the store and everything else that was opened."""
        self._opened.close()

    def find_stored(self, entry: Entry, request: AskModel) -> Completion | None:
        """Return the stored answer to a request of any party, None where there is none."""
        return self._stored[request.party].kept(entry, request) if request.party in self._stored else None

    def require_key(self) -> None:
        """Raise ``UsageError`` where the model has no key and nothing that it answered is stored."""
        settings, model = self._context.settings, self._context.model
        asks = self.limited is not None and not self.limited.decided.is_set()
        if not asks or not isinstance(model, NeedsKey) or self._holds_answers():
            return
        try:
            model.require_key()
        except CallError as error:
            raise UsageError(
                f"no call was made: {error.cause}: {error.reason}\n"
                f"{find_hint(error, settings)}; use --fcbench-no-preflight {WITHOUT_PREFLIGHT}"
            ) from None

    def _holds_answers(self) -> bool:
        return self._store is not None and not self._context.settings.refresh and self._store.count() > 0

    @property
    def concurrency(self) -> int:
        """The number of conversations that this process runs at once."""
        return self._concurrency_of(self._context.settings)

    @property
    def reused(self) -> int:
        """The number of answers of the model under test that came from the store."""
        return self.stored.reused if self.stored else 0

    @property
    def kept(self) -> int | None:
        """The number of answers of this run that are in the store; None where nothing is stored."""
        if self._store is None:
            return None
        return self._store.count_written() + sum(model.reused for model in self._stored.values())

    @property
    def spent_usd(self) -> float | None:
        """The dollars that all models have cost so far; None if no price is known."""
        return self._budget.spent if self._context.prices else None

    @property
    def calls_of_others(self) -> Mapping[str, int]:
        """The number of calls that each auxiliary model was asked, as far as it was asked at all."""
        return {party: model.calls for party, model in self._others.items() if model.calls}

    @property
    def trouble(self) -> str | None:
        """The reason why calls of any model are not answered, in words; None where all are."""
        if self.limited and (trouble := self.limited.trouble):
            return trouble
        troubles = ((party, model.trouble) for party, model in self._others.items())
        return next((f"{party}: {trouble}" for party, trouble in troubles if trouble), None)

    def _concurrency_of(self, settings: Settings) -> int:
        return max(1, int(settings.concurrency * self._share))

    def _limits_of(self, settings: Settings) -> Limits:
        return Limits(
            rpm=settings.rpm and settings.rpm * self._share,
            tpm=settings.tpm and settings.tpm * self._share,
            retries=settings.retries,
            max_pause_s=settings.max_pause_s,
            timeout_s=settings.timeout_s,
            concurrency=self._concurrency_of(settings),
        )

    def _open_ledger(self, party: Party, settings: Settings, label: str) -> Ledger:
        """Return the ledger of a model that is asked under these settings. Raises ``UsageError``."""
        price, max_usd = self._context.prices.get(party), self._budget.max_usd
        if max_usd is not None and price is None:
            raise UsageError(
                f"--fcbench-max-usd={self._context.settings.max_usd:g}: the price of {label} is not known; "
                f"give it under 'prices' in fcbench.yaml"
            )
        # Endpoints take the limit of output tokens under either of two names.
        given = (settings.parameters.get(name) for name in ("max_tokens", "max_completion_tokens"))
        most_output = next((value for value in given if isinstance(value, int)), None)
        return Ledger(price, settings.concurrency, self._budget, most_output)

    def _store_answers(
        self, model: LimitedModel, identity: registry.Identity, former: registry.Identity | None = None
    ) -> LimitedModel | StoredModel:
        """Return the model with its answers stored, unless the run stores none."""
        settings = self._context.settings
        if self._store is None:
            return model
        # What is longer is not kept: many such answers at once would take gigabytes.
        longest = max(settings.max_answer, _LONGEST_STORED)
        return StoredModel(
            BoundedModel(model, longest),
            self._store,
            identity,
            offline=settings.offline,
            refresh=settings.refresh,
            former=former,
        )

    @cached_property
    def _store(self) -> AnswerStore | None:
        """The answer store, opened for the first model that is asked."""
        path = self._context.settings.store
        return self._opened.enter_context(closing(AnswerStore(path))) if path else None

    def _open_auxiliary_models(self) -> Mapping[Party, Model]:
        """Return the model of each other party; a replayed scorecard answers for all of them."""
        context, settings = self._context, self._context.settings
        if context.chosen.recorded:
            return dict.fromkeys((party for party in Party if party is not Party.MODEL), context.model)
        models: dict[Party, Model] = {
            party: self._limit_and_store(party, model, identity)
            for party, (model, identity) in registry.open_auxiliary_models(settings, context.parties).items()
        }
        if context.starts_servers:
            models[Party.SERVER] = self._open_servers()
        if not context.asks_web:
            return models
        web = registry.open_web_model(settings)
        identity = {"model": f"web: {settings.search}"}
        webs: dict[Party, Model] = {
            Party.WEB: web if web.immediate else self._limit_and_store(Party.WEB, web, identity),
            # A recording answers requests to the suites' webs, too.
            Party.OWN_WEB: web
            if context.web_recording
            else self._opened.enter_context(open_own_web(context)),
        }
        if settings.search_record is not None:
            recording = self._opened.enter_context(closing(Recording(settings.search_record)))
            webs = {party: RecordingModel(model, recording) for party, model in webs.items()}
        return {**models, **webs}

    def _open_servers(self) -> Model:
        """Return what carries calls out on MCP servers, with its answers stored where others are."""
        context, settings, waits = self._context, self._context.settings, self._context.waits
        if settings.mcp:
            require_extra("mcp", "--fcbench-mcp")
        model = ServerModel(
            settings.mcp, lambda entry: context.suites[entry.suite].find_folder(entry), immediate=not waits
        )
        servers = self._opened.enter_context(closing(model))
        if self._store is None or not waits:
            return servers
        stored = StoredModel(
            servers, self._store, {"model": "mcp"}, offline=settings.offline, refresh=settings.refresh
        )
        self._stored[Party.SERVER] = stored
        return stored

    def _limit_and_store(self, party: Party, model: Model, identity: registry.Identity) -> Model:
        """Return an auxiliary model within its limits, with its answers stored."""
        settings = self._context.settings
        if party is Party.JUDGE and settings.judge:
            own, label = settings.judge, settings.judge.label
            former = registry.describe_former_identity(own)
        else:
            former = None
            # --fcbench-rpm and --fcbench-tpm limit the account of the model under test, not this one.
            own, label = replace(settings, rpm=None, tpm=None), settings.similarity
        # Only these two are paid by tokens or time, and a judge may be a file.
        is_paid = party in PAID and not model.immediate
        ledger = self._open_ledger(party, own, label) if is_paid else Ledger()
        self._others[party] = LimitedModel(model, self._limits_of(own), ledger)
        self._stored[party] = self._store_answers(self._others[party], identity, former)
        return self._stored[party]


@contextmanager
def open_own_web(context: RunContext) -> Iterator[WebModel]:
    """Open the web pages that suites bring along; their server starts with the first request."""
    with closing(
        OwnWeb(lambda: web_pages.read_pages([suite.web for suite in context.suites.values()]))
    ) as web:
        yield WebModel(web.open_sources, immediate=not context.waits)
