"""Test whether a model saw one set of entries in training rather than another."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext

from pytest_fcbench.cli.options import build_project_settings, collect_run_options, open_suite_at
from pytest_fcbench.cli.output import find_width, print_lines, require_known_endings, write_and_report
from pytest_fcbench.cli.sessions import draw_sample, load_entries
from pytest_fcbench.config.loading import Settings, add_environment
from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.dispatch.pipeline import Limits, build_pipeline
from pytest_fcbench.dispatch.progress import Progress, show_progress
from pytest_fcbench.dispatch.stored_answers import StoredAnswers
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Entry
from pytest_fcbench.domain.errors import FcbenchError, NotScoredError, UsageError, describe_unknown_name
from pytest_fcbench.present import tables
from pytest_fcbench.tools import contamination_study
from pytest_fcbench.tools.contamination_study import Study, TextMeasure, compare_sets, describe_unmeasured
from pytest_fcbench.tools.prompt_probabilities import LogprobInterface, PromptModel, ask_for_logprobs


def run_contamination(arguments: argparse.Namespace) -> int:
    require_known_endings("--output", arguments.to, contamination_study.FORMATS)
    if arguments.a == arguments.b:
        raise UsageError(f"--a and --b are both {arguments.a}: name two different sets")
    options = {**add_environment(collect_run_options(arguments)), "gate": []}
    study = _make_study(arguments, build_project_settings(options, arguments.config))
    lines = tables.render_text(contamination_study.tabulate_study(study), find_width())
    print_lines((*lines, *describe_unmeasured(study.unmeasured)))
    for path in arguments.to:
        write_and_report(path, contamination_study.render_study(study, path))
    return 0


def _make_study(arguments: argparse.Namespace, settings: Settings) -> Study:
    """Measure the texts of both sets and compare them. Raises ``UsageError`` if a set is wrong or empty."""
    if settings.api_base is None:
        raise UsageError("the endpoint is missing; give it with --api-base, e.g. http://localhost:8000/v1")
    model = PromptModel(
        settings.model, LogprobInterface(arguments.endpoint), settings.api_base, settings.api_key
    )
    texts_by_set: dict[str, Mapping[str, Entry]] = {}
    for option, name in (("--a", arguments.a), ("--b", arguments.b)):
        entries = _load_set(arguments, option, name)
        distinct = contamination_study.collect_distinct_texts(entries, functions=arguments.functions)
        if not distinct:
            raise UsageError(
                f"{option}={name}: no entry of this set has a message of the user; name another set"
            )
        # Always the same seed, so that a second run asks about the same texts.
        texts_by_set[name] = dict(draw_sample(list(distinct.items()), arguments.limit))
    # By text, because both sets can share some, and each needs one request.
    everything = {text: entry for texts in texts_by_set.values() for text, entry in texts.items()}
    answers = _ask_about(model, settings, list(everything.items()))
    sets: dict[str, list[TextMeasure]] = {name: [] for name in texts_by_set}
    errors: dict[str, NotScoredError] = {}
    for name, texts in texts_by_set.items():
        for text, entry in texts.items():
            answer = answers[text]
            try:
                if isinstance(answer, NotScoredError):
                    raise answer
                sets[name].append(contamination_study.measure_text(entry, text, answer))
            except NotScoredError as error:
                errors[entry.key] = error
        if not sets[name]:
            reasons = "".join(f"\n{line}" for line in describe_unmeasured(errors))
            raise FcbenchError(f"no text of {name} could be measured{reasons}")
    what = "function docs and the user's words" if arguments.functions else "the user's words"
    return Study(settings.label, model.endpoint, what, sets, errors, compare_sets(*sets.values()))


def _load_set(arguments: argparse.Namespace, option: str, name: str) -> list[Entry]:
    """Load the entries of a set, named ``SUITE:NAME``. Raises ``UsageError``."""
    suite_name, _, selection = name.partition(":")
    suite = open_suite_at(arguments, suite_name)
    if selection not in (known_names := (*CATEGORIES, *SELECTIONS)):
        rule = f"{option}={name}: name a set as SUITE:NAME, e.g. bfcl:non_live"
        raise UsageError(f"{rule}; {describe_unknown_name('category', selection, known_names)}")
    names = SELECTIONS.get(selection, (selection,))
    return list(load_entries([suite], lambda category: category.name in names).values())


def _ask_about(
    model: PromptModel, settings: Settings, texts: Sequence[tuple[str, Entry]]
) -> Mapping[str, tuple[float | None, ...] | NotScoredError]:
    """Return the log-probabilities of each text from the endpoint or the store, or why there are none."""
    limits = Limits(
        rpm=settings.rpm,
        retries=settings.retries,
        timeout_s=settings.timeout_s,
        concurrency=settings.concurrency,
    )
    # These answers are numbers, not completions; the name keeps them apart from answers of runs in the store.
    identity = {
        "model": f"{settings.model} (prompt log-probabilities)",
        "api_base": settings.api_base,
        "parameters": {"endpoint": model.endpoint},
    }
    store = AnswerStore(settings.store) if settings.store else None
    stored_answers = StoredAnswers(store, identity) if store else None
    # An endpoint without log-probabilities fails for every text, so the first call goes alone.
    pipeline = build_pipeline(model, limits, stored_answers=stored_answers, preflight=True)
    outcomes: list[bool] = []
    start_time = time.monotonic()

    def progress() -> Progress:
        return Progress(
            total=len(texts),
            answered=sum(outcomes),
            not_scored=len(outcomes) - sum(outcomes),
            in_flight=min(settings.concurrency, len(texts) - len(outcomes)),
            reused=stored_answers.reuses if stored_answers else 0,
            calls=pipeline.calls,
            elapsed_s=time.monotonic() - start_time,
        )

    try:
        with show_progress(progress) if sys.stdout.isatty() else nullcontext():
            answers = asyncio.run(ask_for_logprobs(pipeline, texts, settings.concurrency, outcomes))
    except KeyboardInterrupt:
        raise FcbenchError(
            f"stopped; {'the answers so far are stored' if store else 'no answers are stored'}"
        ) from None
    finally:
        if store:
            store.close()
    if pipeline.first_call and (refusal := pipeline.first_call.refusal):
        raise FcbenchError(
            f"the first call failed, so no other call was made: {refusal.cause}: {refusal.reason}"
        )
    return answers
