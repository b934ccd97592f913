"""``fcbench doctor``: what would stop a run here, each with the way out, and the command that comes next.

The exit code is 1 where something would stop a run, else 0. The model is put one entry of the suite core,
and the judge the same: two short calls, which ``--no-calls`` leaves out.
"""

from __future__ import annotations

import argparse
import platform
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from pytest_fcbench.cli.command import without_prefix
from pytest_fcbench.cli.run_options import declare, given
from pytest_fcbench.config.loading import Settings, config_file, load
from pytest_fcbench.config.options import OPTIONS
from pytest_fcbench.domain import extras
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.errors import FcbenchError, NotScoredError
from pytest_fcbench.domain.extras import EXTRAS
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.text import printable
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.models import registry
from pytest_fcbench.models.providers import litellm
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.model_stack import find_hint
from pytest_fcbench.run.session import Session
from pytest_fcbench.suites import core

PROJECT = "pytest-fcbench"
_NEEDED_BYTES = 500_000_000
"""Room for packs and stored answers of some runs."""
_QUESTION = "simple_python"
"""The category whose first entry is asked."""


class State(StrEnum):
    """How bad a finding is."""

    GOOD = "ok"
    DOUBTFUL = "look"
    BAD = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one thing, and the way out where it is not good."""

    what: str
    state: State
    told: str
    way_out: str = ""


HELP = "what would stop a run here, and the command that comes next"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--no-calls", action="store_true", help="ask neither the model nor the judge")
    kept = ("suite", "judge", "judge_api_base", "judge_api_key_env", "store", "embedding", "search", "config")
    declare(parser, [option.key for option in OPTIONS if option.of_model or option.key in kept])


def run_command(chosen: argparse.Namespace) -> int:
    bad = False
    for finding in _findings(chosen):
        print(printable(f"{finding.state:<6} {finding.what:<11} {finding.told}"))
        if finding.way_out:
            print(printable(f"{'':18} {finding.way_out}"))
        bad = bad or finding.state is State.BAD
    print(f"next: {'put right what is wrong, then: fcbench doctor' if bad else _next(chosen)}")
    return int(bad)


def _next(chosen: argparse.Namespace) -> str:
    """The run that was asked about, or what it lacks."""
    if not Path("benchmarks").is_dir():
        return "fcbench init"
    words = ["pytest", "benchmarks"]
    for option in OPTIONS:
        value = getattr(chosen, option.key, None)
        values = value if isinstance(value, list) else [] if value is None else [value]
        words += [f"{option.flag}={each}" for each in values]
    return shlex.join(words)


def _findings(chosen: argparse.Namespace) -> Iterator[Finding]:
    yield _python()
    yield from _packages()
    yield _plugin()
    yield _benchmarks()
    try:
        file = config_file(Path(), chosen.config)
        settings = load(given(chosen), file)
    except FcbenchError as error:
        yield Finding("options", State.BAD, str(without_prefix(error)))
        return
    yield Finding("options", State.GOOD, f"{file or 'no fcbench.yaml, so the defaults'}")
    yield from _suites(settings)
    for what, folder in (("packs", settings.cache), ("answers", settings.store and settings.store.parent)):
        if folder is not None:
            yield _disk(what, folder)
    yield from _model(settings, calls=not chosen.no_calls)
    if settings.judge:
        yield from _asked("judge", replace(settings.judge, mode=Mode.PROMPT), calls=not chosen.no_calls)


# This Python


def _python() -> Finding:
    here = platform.python_version()
    supported = metadata.distribution(PROJECT).metadata["Requires-Python"] or ""
    told = f"{here} in {sys.prefix}"
    if here not in SpecifierSet(supported, prereleases=True):
        return Finding("python", State.BAD, told, f"{PROJECT} needs {supported}")
    return Finding("python", State.GOOD, told)


def _packages() -> Iterator[Finding]:
    """Whether what is installed is what this version asks for, and which extras are whole."""
    wanted = [Requirement(text) for text in metadata.distribution(PROJECT).requires or ()]
    needed = [each for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})]
    wrong = [trouble for each in needed if (trouble := _trouble(each))]
    if wrong:
        yield Finding("packages", State.BAD, "; ".join(wrong), f"pip install --upgrade {PROJECT}")
    else:
        yield Finding(
            "packages", State.GOOD, f"{PROJECT} {metadata.version(PROJECT)}, all {len(needed)} it needs"
        )
    lacking = [name for name in EXTRAS if extras.missing(name)]
    whole = [name for name in EXTRAS if name not in lacking]
    told = f"installed: {', '.join(whole) or 'none'}; not installed: {', '.join(lacking) or 'none'}"
    yield Finding("extras", State.GOOD, told)


def _trouble(wanted: Requirement) -> str | None:
    """What is wrong with an installed package."""
    try:
        found = metadata.version(wanted.name)
    except metadata.PackageNotFoundError:
        return f"{wanted.name} is not installed"
    if not wanted.specifier.contains(found, prereleases=True):
        return f"{wanted.name} {found} is installed, {wanted.specifier} is needed"
    return None


def _plugin() -> Finding:
    """pytest finds plugins by entry points; an old copy beside a new one would be found too."""
    found = [point.value for point in metadata.entry_points(group="pytest11", name="fcbench")]
    if found == ["pytest_fcbench.plugin"]:
        return Finding("plugin", State.GOOD, f"known to pytest {metadata.version('pytest')}")
    told = f"pytest knows {', '.join(found) or 'nothing'} as the plugin fcbench"
    return Finding("plugin", State.BAD, told, f"pip install --force-reinstall --no-deps {PROJECT}")


def _benchmarks() -> Finding:
    if Path("benchmarks").is_dir():
        return Finding("benchmarks", State.GOOD, f"{Path('benchmarks').absolute()}")
    told = f"no folder benchmarks in {Path().absolute()}"
    return Finding("benchmarks", State.DOUBTFUL, told, "fcbench init writes it")


# This project


def _suites(settings: Settings) -> Iterator[Finding]:
    try:
        for name, suite in RunContext(settings).suites.items():
            sizes = [len(suite.load(category)) for category in suite.categories]
            yield Finding("suite", State.GOOD, f"{name} {suite.version}, {sum(sizes):,} entries")
    except FcbenchError as error:
        yield Finding("suite", State.BAD, str(error))


def _disk(what: str, folder: Path) -> Finding:
    """Whether files can be made there; a folder that is not there yet is tried by its parent."""
    there = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            free = shutil.disk_usage(there).free
    except OSError as error:
        return Finding(what, State.BAD, f"{folder}: cannot be written: {error.strerror}", _WAYS[what])
    told = f"{folder}, {free / 1e9:,.1f} GB free"
    if free < _NEEDED_BYTES:
        return Finding(what, State.DOUBTFUL, told, f"less than 0.5 GB is left; {_WAYS[what]}")
    return Finding(what, State.GOOD, told)


_WAYS: Mapping[str, str] = {
    "packs": "name another folder with the variable FCBENCH_CACHE",
    "answers": "name another file with --store, or none",
}


# Who answers


def _model(settings: Settings, *, calls: bool) -> Iterator[Finding]:
    context = RunContext(settings)
    try:
        immediate, price = context.model.immediate, context.price
    except FcbenchError as error:
        yield Finding("model", State.BAD, str(without_prefix(error)))
        return
    if immediate:
        yield Finding("model", State.GOOD, f"{settings.label} needs no network, no key and costs nothing")
        return
    yield from _asked("model", settings, calls=calls)
    if price is None:
        way_out = "give it one under prices in fcbench.yaml"
        yield Finding("price", State.DOUBTFUL, f"none is known of {settings.label}", way_out)


def _asked(what: str, settings: Settings, *, calls: bool) -> Iterator[Finding]:
    """Put one entry to who answers, the way a run would."""
    yield Finding(what, State.GOOD, f"{settings.label}{_place(settings)}")
    if not calls:
        return
    once = replace(
        settings,
        suites=(core.NAME,),
        categories=(CATEGORIES[_QUESTION],),
        store=None,
        offline=False,
        retries=0,
        smoke=False,
        shard=None,
        judge=None,
    )
    with closing(Session(RunContext(once))) as session:
        try:
            context = session.context
            transcript = session.transcript(context.selection.entries(_QUESTION)[0])
            yield _call(context, transcript, tools=context.manner.prompting.mode is Mode.FC)
        except NotScoredError as error:
            way_out = find_hint(error).replace("--fcbench-", "--")
            yield Finding("call", State.BAD, f"{error.cause}: {error.reason}", way_out)
        except FcbenchError as error:
            yield Finding(what, State.BAD, str(without_prefix(error)))


def _place(settings: Settings) -> str:
    """Where it is asked, and by which key."""
    provider, _ = registry.find_provider(settings)
    if provider is not litellm.PROVIDER:
        return f", {provider.about}"
    at = settings.api_base or "the provider's own endpoint"
    key = settings.api_key_env or "the variable that litellm knows for it, if any"
    return f" at {at}, key in {key}"


def _call(context: RunContext, transcript: Transcript, *, tools: bool) -> Finding:
    """What came of the call."""
    said = transcript.completions[0]
    cost = (
        context.price.of(said.input_tokens, said.output_tokens, said.latency_s, 1) if context.price else None
    )
    told = f"answered in {said.latency_s or 0:.1f} s" + (f" for ${cost:.5f}" if cost is not None else "")
    if not tools:
        return Finding("call", State.GOOD, told)
    if not said.tool_calls:
        way_out = (
            "it has tools only if its server passes them on (vLLM: --enable-auto-tool-choice and "
            "--tool-call-parser); --mode=prompt needs none"
        )
        return Finding("tools", State.DOUBTFUL, f"{told}, in words and without a tool call", way_out)
    return Finding("tools", State.GOOD, f"{told}, with a tool call")
