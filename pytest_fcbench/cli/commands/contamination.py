"""``fcbench contamination``: did a model see one set of entries in training rather than another?"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from random import Random

from pytest_fcbench.cli.run_options import declare, given, require_at_least
from pytest_fcbench.config.loading import Settings, config_file, load
from pytest_fcbench.dispatch.answer_store import AnswerStore, StoredModel
from pytest_fcbench.dispatch.limits import LimitedModel, Limits
from pytest_fcbench.dispatch.progress import Progress, show_progress
from pytest_fcbench.domain import extras
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Entry
from pytest_fcbench.domain.errors import FcbenchError, NotScoredError, UsageError, unknown
from pytest_fcbench.domain.text import printable
from pytest_fcbench.run.output_files import write
from pytest_fcbench.scorecard.render import tables
from pytest_fcbench.suites.registry import SUITES, open_suite
from pytest_fcbench.tools.contamination import measures, report
from pytest_fcbench.tools.contamination.comparison import compare
from pytest_fcbench.tools.contamination.endpoint import Endpoint
from pytest_fcbench.tools.contamination.measures import Measure
from pytest_fcbench.tools.contamination.probabilities import PromptModel, ask
from pytest_fcbench.tools.contamination.report import Study

_SHOWN = 3
"""How many entries that could not be measured are named for each cause."""


HELP = "whether a model has seen one set of entries in training rather than another"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    for name in ("--a", "--b"):
        add(name, required=True, metavar="SUITE:NAME", help="a set: a suite, and a category or group of it")
    add("--endpoint", default="completions", help=f"how it is asked: {', '.join(Endpoint)}")
    add("--functions", action="store_true", help="measure the function docs too, not only the user's words")
    add("--limit", type=int, metavar="N", help="so many texts of each set, drawn from a fixed seed")
    add(
        "--to",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="write a page with a chart (.html), a row for each text (.csv) or all of it (.json); repeatable",
    )
    declare(parser, ("model",), required=True)
    declare(
        parser, ("api_base", "api_key_env", "concurrency", "rpm", "retries", "timeout", "store", "config")
    )


def run_command(chosen: argparse.Namespace) -> int:
    _refuse(chosen)
    study = _study(chosen, load(given(chosen), config_file(Path(), chosen.config)))
    for line in (*tables.text(report.table(study)), *_unmeasured(study.unmeasured)):
        print(printable(line))
    for path in chosen.to:
        write(path, report.written(study, path))
        print(f"written to {path}")
    return 0


def _refuse(chosen: argparse.Namespace) -> None:
    """Find wrong words before anything is asked. Raises ``UsageError``."""
    if chosen.endpoint not in tuple(Endpoint):
        raise UsageError(f"--endpoint: {unknown('endpoint', chosen.endpoint, Endpoint)}")
    require_at_least(1, chosen, "limit")
    for path in chosen.to:
        if path.suffix not in report.FORMATS:
            raise UsageError(f"--to={path}: {unknown('ending', path.suffix, report.FORMATS)}")
        if path.suffix == ".html":
            extras.need("report", f"--to={path}")
    if chosen.a == chosen.b:
        raise UsageError(f"--a and --b are both {chosen.a}: give two sets")


def _study(chosen: argparse.Namespace, settings: Settings) -> Study:
    if settings.api_base is None:
        raise UsageError("give the endpoint with --api-base, for example http://localhost:8000/v1")
    model = PromptModel(settings.model, Endpoint(chosen.endpoint), settings.api_base, settings.api_key)
    asked = {}
    for option, name in (("--a", chosen.a), ("--b", chosen.b)):
        texts = measures.distinct(_entries(option, name, settings.cache), functions=chosen.functions)
        if not texts:
            raise UsageError(f"{option}={name}: there are no such entries in which the user says something")
        asked[name] = _drawn(texts, chosen.limit)
    what = "function docs and the user's words" if chosen.functions else "the user's words"
    return _measured(model, settings, asked, what)


def _entries(option: str, name: str, cache: Path) -> list[Entry]:
    """The entries of a set."""
    suite_name, _, selection = name.partition(":")
    rule = f"{option}={name}: a set is SUITE:NAME, for example bfcl:non_live"
    if suite_name not in SUITES:
        raise UsageError(f"{rule}; {unknown('suite', suite_name, SUITES)}")
    if selection not in (*CATEGORIES, *SELECTIONS):
        raise UsageError(f"{rule}; {unknown('category', selection, (*CATEGORIES, *SELECTIONS))}")
    suite = open_suite(suite_name, cache)
    names = SELECTIONS.get(selection, (selection,))
    return [e for category in suite.categories if category.name in names for e in suite.load(category)]


def _drawn(texts: Mapping[str, Entry], limit: int | None) -> list[tuple[str, Entry]]:
    """All texts of a set, or some of them, in its order."""
    found = list(texts.items())
    if limit is None or limit >= len(found):
        return found
    places = sorted(Random(0).sample(range(len(found)), limit))  # noqa: S311 - protects nothing
    return [found[place] for place in places]


def _measured(
    model: PromptModel, settings: Settings, asked: Mapping[str, Sequence[tuple[str, Entry]]], what: str
) -> Study:
    texts = dict(pair for pairs in asked.values() for pair in pairs)
    answers = _answers(model, settings, list(texts.items()))
    sets: dict[str, list[Measure]] = {name: [] for name in asked}
    unmeasured: dict[str, NotScoredError] = {}
    for name, pairs in asked.items():
        for text, entry in pairs:
            answer = answers[text]
            try:
                if isinstance(answer, NotScoredError):
                    raise answer
                sets[name].append(measures.measure(entry, text, answer))
            except NotScoredError as error:
                unmeasured[entry.key] = error
        if not sets[name]:
            told = "".join(f"\n{line}" for line in _unmeasured(unmeasured))
            raise FcbenchError(f"nothing of {name} could be measured{told}")
    return Study(settings.label, model.endpoint, what, sets, unmeasured, compare(*sets.values()))


def _answers(
    model: PromptModel, settings: Settings, asked: Sequence[tuple[str, Entry]]
) -> Mapping[str, tuple[float | None, ...] | NotScoredError]:
    """What the endpoint says of each text, from the store where it has been asked before."""
    limits = Limits(
        rpm=settings.rpm,
        retries=settings.retries,
        timeout_s=settings.timeout_s,
        concurrency=settings.concurrency,
    )
    limited = LimitedModel(model, limits, preflight=True)
    identity = {
        "model": f"{settings.model} (prompt log-probabilities)",
        "api_base": settings.api_base,
        "parameters": {"endpoint": model.endpoint},
    }
    store = AnswerStore(settings.store) if settings.store else None
    asking = StoredModel(limited, store, identity) if store else limited
    done: list[bool] = []
    started = time.monotonic()

    def progress() -> Progress:
        return Progress(
            total=len(asked),
            answered=sum(done),
            not_scored=len(done) - sum(done),
            in_flight=min(settings.concurrency, len(asked) - len(done)),
            reused=asking.reused,
            calls=limited.calls,
            elapsed_s=time.monotonic() - started,
        )

    try:
        with show_progress(progress) if sys.stdout.isatty() else nullcontext():
            answers = asyncio.run(ask(asking, asked, settings.concurrency, done))
    except KeyboardInterrupt:
        raise FcbenchError(
            f"stopped; {'what was answered is kept' if store else 'nothing is kept'}"
        ) from None
    finally:
        if store:
            store.close()
    if refusal := limited.refusal:
        raise FcbenchError(f"the first call failed, so no other was made: {refusal.cause}: {refusal.reason}")
    return answers


def _unmeasured(found: Mapping[str, NotScoredError]) -> Iterator[str]:
    """What could not be measured, by cause."""
    for cause, number in Counter(error.cause for error in found.values()).items():
        yield f"not measured ({cause}): {number}"
        named = [(entry, error) for entry, error in found.items() if error.cause == cause][:_SHOWN]
        yield from (f"  {entry}: {error.reason}" for entry, error in named)
