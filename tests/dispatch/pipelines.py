"""Models behind the steps of a run, with what tests look at."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from typing import TypeVar

from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.dispatch.limits import Ledger
from pytest_fcbench.dispatch.pipeline import (
    Limits,
    Payment,
    Pipeline,
    PipelineStep,
    RateLimit,
    TimedCalls,
    build_pipeline,
)
from pytest_fcbench.dispatch.stored_answers import StoredAnswers
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.models.protocol import Responder

_Step = TypeVar("_Step", bound=PipelineStep)


class LimitedModel(Pipeline):
    """A model within limits, without a store."""

    def __init__(
        self,
        model: Responder,
        limits: Limits | None = None,
        ledger: Ledger | None = None,
        *,
        preflight: bool = False,
    ) -> None:
        super().__init__(
            model, build_pipeline(model, limits or Limits(), ledger, preflight=preflight).steps, False
        )

    def get_step(self, kind: type[_Step]) -> _Step:
        (step,) = (each for each in self.steps if isinstance(each, kind))
        return step

    @property
    def retried(self) -> int:
        return self.get_step(TimedCalls).retries

    @property
    def given_up(self) -> int:
        return self.get_step(TimedCalls).given_up

    @property
    def decided(self) -> Event:
        assert self.first_call
        return self.first_call.decided

    @property
    def refusal(self) -> NotScoredError | None:
        assert self.first_call
        return self.first_call.refusal

    @property
    def ledger(self) -> Ledger:
        return self.get_step(Payment).ledger

    @property
    def mean_s(self) -> float | None:
        return self.get_step(RateLimit)._mean_s


class StoredModel(Pipeline):
    """A model whose answers are stored, without limits."""

    def __init__(
        self,
        model: Responder,
        store: AnswerStore,
        identity: Mapping[str, object],
        *,
        offline: bool = False,
        refresh: bool = False,
        immediate: bool = False,
    ) -> None:
        self.step: StoredAnswers
        step = StoredAnswers(store, identity, offline, refresh, immediate)
        super().__init__(model, [step], immediate)
        object.__setattr__(self, "step", step)

    @property
    def reused(self) -> int:
        return self.step.reuses

    def kept(self, entry: Entry, request: AskModel) -> Completion | None:
        return self.step.find_stored(entry, request)
