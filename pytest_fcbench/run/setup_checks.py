"""What would stop a run here: this Python, the disk, the endpoints of models; each with the way out."""

from __future__ import annotations

import asyncio
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.errors import FcbenchError, NotScoredError
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.protocol_notes import describe_note
from pytest_fcbench.domain.redaction import redact_address
from pytest_fcbench.domain.registry import EXTRAS, list_missing_packages
from pytest_fcbench.domain.transcript import Completion, drive_conversation_async
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Verdict
from pytest_fcbench.kinds.server_check.kind import exchange_requests, get_check, judge_rounds
from pytest_fcbench.kinds.server_check.properties import MARKUP
from pytest_fcbench.models import registry
from pytest_fcbench.models.providers import litellm, openai_compatible
from pytest_fcbench.models.providers.endpoint_probe import EndpointProbe, open_probe
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.run_models import find_hint
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard.aggregate.answer_statistics import TOOL_SWITCHES
from pytest_fcbench.suites import core, embedded

PROJECT = "pytest-fcbench"

_NEEDED_BYTES = 500_000_000
"""Room for packs and stored answers of some runs."""


_CATEGORY = "simple_python"
"""The category whose first entry is put to the model."""
_BROKEN_MUST = "server:must"
"""The code of a broken property without which clients break or right answers are lost."""


EXPLAINING = (
    *("prompt_tools", "prompt_result", "history_result", "choice_required", "choice_named", "choice_none"),
    *("calls_text_free", "endings_calls_auto", "strict_enum", "same_call_auto"),
)
"""The checks that explain most bad scores, the most common causes first."""
_AT_ONCE = 4
"""Requests that are sent at once."""


class FindingState(StrEnum):
    """The severity of a finding."""

    GOOD = "ok"
    DOUBTFUL = "look"
    BAD = "wrong"


GOOD, DOUBTFUL, BAD = FindingState


@dataclass(frozen=True, slots=True)
class SetupFinding:
    """A finding about one thing, with the way out if it is not good."""

    what: str
    state: FindingState
    text: str
    way_out: str = ""


def check_installation() -> Iterator[SetupFinding]:
    """Check this Python, the required packages, the extras and the registration of the plugin."""
    # A build between two releases has a plus sign at its end.
    here, project = platform.python_version().rstrip("+"), metadata.distribution(PROJECT)
    python_specifier = project.metadata["Requires-Python"] or ""
    text = f"{here} in {sys.prefix}"
    # Without ``prereleases`` a specifier leaves out release candidates such as 3.14.0rc1.
    if here in SpecifierSet(python_specifier, prereleases=True):
        yield SetupFinding("python", GOOD, text)
    else:
        yield SetupFinding("python", BAD, text, f"{PROJECT} needs Python {python_specifier}")
    requirements = [Requirement(each) for each in project.requires or ()]
    # A requirement of an extra has a marker that holds only with the name of the extra.
    base = [each for each in requirements if each.marker is None or each.marker.evaluate({"extra": ""})]
    wrong = []
    for each in base:
        try:
            installed_version = metadata.version(each.name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{each.name} is not installed")
            continue
        if not each.specifier.contains(installed_version, prereleases=True):
            wrong.append(f"{each.name} {installed_version} is installed, but {each.specifier} is required")
    if wrong:
        yield SetupFinding("packages", BAD, "; ".join(wrong), f"pip install --upgrade {PROJECT}")
    else:
        text = f"{PROJECT} {project.version} and all {len(base)} required packages"
        yield SetupFinding("packages", GOOD, text)
    lacking = [name for name in EXTRAS if list_missing_packages(name)]
    whole = [name for name in EXTRAS if name not in lacking]
    text = f"installed: {', '.join(whole) or 'none'}; not installed: {', '.join(lacking) or 'none'}"
    yield SetupFinding("extras", GOOD, text)
    # pytest finds plugins by entry points, so it would find an old copy beside a new one too.
    plugin_modules = [point.value for point in metadata.entry_points(group="pytest11", name="fcbench")]
    if plugin_modules == ["pytest_fcbench.plugin"]:
        yield SetupFinding("plugin", GOOD, f"registered with pytest {metadata.version('pytest')}")
    else:
        text = f"the pytest plugin 'fcbench' is registered as {', '.join(plugin_modules) or 'nothing'}"
        yield SetupFinding("plugin", BAD, text, f"pip install --force-reinstall --no-deps {PROJECT}")


def check_disk(what: str, folder: Path, way_out: str) -> SetupFinding:
    """Check that files can be made in a folder, or in its nearest existing parent."""
    # Tried, because permission bits show neither quotas nor access control lists.
    try:
        there = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
        with tempfile.TemporaryFile(dir=there):
            free = shutil.disk_usage(there).free
    except OSError as error:
        return SetupFinding(what, BAD, f"{folder}: cannot be written: {error.strerror}", way_out)
    text = f"{folder}, {free / 1e9:,.1f} GB free"
    if free < _NEEDED_BYTES:
        return SetupFinding(what, DOUBTFUL, text, f"less than 0.5 GB is free; {way_out}")
    return SetupFinding(what, GOOD, text)


def check_endpoint(what: str, settings: Settings, *, sends_requests: bool) -> Iterator[SetupFinding]:
    """Say where a model is asked; with ``sends_requests`` also look for its name there and ask it once."""
    provider, argument = registry.find_provider(settings)
    endpoint = openai_compatible.find_endpoint(settings) if provider is openai_compatible.PROVIDER else None
    if endpoint:
        absence = "" if endpoint.api_key else "no "
        place = f" at {redact_address(endpoint.api_base)}, {absence}key in {endpoint.key_variable}"
    elif provider is litellm.PROVIDER:
        own = "the provider's own endpoint"
        at = redact_address(settings.api_base) if settings.api_base else own
        place = f" at {at}, {registry.describe_key_source(settings) or 'with the key that litellm finds'}"
    else:
        place = f", {provider.about}"
    if provider is litellm.PROVIDER and not litellm.has_provider(argument):
        way_out = f"name a model of litellm with {settings.flags.model}, such as openai/gpt-4o"
        way_out += f"; for a server of your own add {settings.flags.api_base}=URL"
        yield SetupFinding(what, BAD, f"litellm knows no model {argument!r}", way_out)
        return
    yield SetupFinding(what, GOOD, f"{settings.label}{place}")
    if not sends_requests:
        return
    owner = ""
    if endpoint:
        try:
            rows = asyncio.run(openai_compatible.make_model(settings, endpoint).list_model_rows())
        except FcbenchError as error:
            yield SetupFinding(what, BAD, str(error))
            return
        model_names = tuple(str(row["id"]) for row in rows if "id" in row)
        owner = next((str(row["owned_by"]) for row in rows if row.get("owned_by")), "")
        offer = f"the server offers {openai_compatible.list_names(model_names)}"
        if endpoint.model in model_names:
            yield SetupFinding("offer", GOOD, offer)
        elif model_names:
            # Some servers have one model and answer for it under any name.
            way_out = f"name one of them with {settings.flags.model}"
            yield SetupFinding("offer", DOUBTFUL, f"{offer}, but not {endpoint.model}", way_out)
    yield from _ask_once(what, settings, owner)
    if endpoint and what == "model":
        yield from check_server(settings)


def check_server(settings: Settings) -> Iterator[SetupFinding]:
    """Say what the server does that would explain a bad score; nothing where it has no known address."""
    if (probe := open_probe(settings)) is None or settings.mode not in (None, Mode.FC):
        return
    verdicts = asyncio.run(_run_explaining_checks(settings, probe))
    broken = [(sentence, verdict) for sentence, verdict in verdicts if isinstance(verdict, Failed)]
    for sentence, verdict in broken:
        state = BAD if verdict.code == _BROKEN_MUST else DOUBTFUL
        way_out = "'fcbench help server-checks' describes the checks" if verdict is broken[-1][1] else ""
        yield SetupFinding("server", state, f"broken: {sentence} {verdict.reason}", way_out)
    if not broken:
        kept_count = sum(isinstance(verdict, Passed) for _, verdict in verdicts)
        reasons = [verdict.reason for _, verdict in verdicts if isinstance(verdict, NotScored)]
        more = f", {len(reasons)} undecided: {reasons[0]}" if reasons else ""
        state = GOOD if kept_count else DOUBTFUL
        text = f"{kept_count} of {len(verdicts)} checks of the server kept{more}"
        yield SetupFinding("server", state, text)


async def _run_explaining_checks(settings: Settings, probe: EndpointProbe) -> list[tuple[str, Verdict]]:
    """Send the checks of ``EXPLAINING`` to an endpoint; return the sentence and the verdict of each."""
    suite, room = embedded.open_wire(settings.cache), asyncio.Semaphore(_AT_ONCE)
    by_id = {entry.id: entry for category in suite.categories for entry in suite.load(category)}

    async def judge_check(entry: Entry) -> tuple[str, Verdict]:
        check, ask = get_check(entry), partial(probe.complete, entry)
        try:
            async with room:
                rounds = await drive_conversation_async(exchange_requests(check), ask)
        except NotScoredError as error:
            return check.sentence, NotScored(error.cause, error.reason)
        return check.sentence, judge_rounds(check, rounds)

    return list(await asyncio.gather(*(judge_check(by_id[name]) for name in EXPLAINING)))


def _ask_once(what: str, settings: Settings, owner: str) -> Iterator[SetupFinding]:
    """Put one entry to a model as a run would; describe the answer by its time, cost and tool call.

    ``owner`` is the word for who owns the model in the server's list, where it has one.
    """
    once = replace(
        settings,
        suites=(core.NAME,),
        categories=(CATEGORIES[_CATEGORY],),
        smoke=False,
        shard=None,
        pressure=(),
        judge=None,
        # A stored answer would say nothing of the endpoint, and a retry would hide a failure.
        store=None,
        offline=False,
        retries=0,
    )
    with closing(Session(RunContext(once))) as session:
        context = session.context
        try:
            entry = context.selection.entries(_CATEGORY)[0]
            transcript = session.transcript(entry)
        except NotScoredError as error:
            way_out = find_hint(error, once)
            yield SetupFinding("call", BAD, f"{error.cause}: {error.reason}", way_out)
            return
        except FcbenchError as error:
            yield SetupFinding(what, BAD, str(error))
            return
    answer, cost = transcript.completions[0], ""
    if context.price:
        usd = context.price.compute_cost(answer, 1)
        cost = "" if usd is None else f" for ${usd:.5f}"
    for code in answer.protocol:
        way_out = "tell who runs the server; no verdict depends on it"
        yield SetupFinding("protocol", DOUBTFUL, f"{code}: {describe_note(code)}", way_out)
    text = f"answered in {answer.latency_s or 0:.1f} s{cost}"
    if context.manner.prompting.mode is not Mode.FC:
        yield SetupFinding("call", GOOD, text)
    elif answer.tool_calls:
        yield SetupFinding("tools", GOOD, f"{text}, with a tool call")
    else:
        explanation, way_out = explain_missing_call(answer, entry, owner)
        yield SetupFinding("tools", DOUBTFUL, f"{text}, without a tool call: {explanation}", way_out)


def explain_missing_call(answer: Completion, entry: Entry, owner: str) -> tuple[str, str]:
    """Explain an answer without a tool call: the server's parser is off or wrong, or the model did not call.

    ``owner`` is the word for who owns the model in the server's list. Returns the explanation and what to do.
    """
    text = answer.text or ""
    names = "|".join(re.escape(function.name).replace(r"\.", "[._]") for function in entry.functions)
    mark = MARKUP.search(text)
    has_call = mark or re.search(rf'"name"\s*:\s*"(?:{names})"|\b(?:{names})\s*\(', text)
    if not has_call:
        return (
            "its text holds no call, so the model called nothing",
            "if no broken check of the server follows, try another question or model",
        )
    form = f"begins with {mark[0]!r}" if mark else "is JSON or Python"
    # vLLM refuses tool_choice auto with 400 where no parser is on.
    if owner == "vllm":
        return (
            "the text holds a call that the server did not read: its tool parser is on, but not for a model "
            f"whose call {form}",
            "name the parser of this model with --tool-call-parser",
        )
    return (
        f"the text holds a call that the server did not read (it {form}): its tool parser is off, or for "
        "another model",
        f"let the server read tool calls ({TOOL_SWITCHES}), or use --mode=prompt",
    )
