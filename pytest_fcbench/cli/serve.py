"""``fcbench serve``: serve a model on loopback, to try clients and runs without a network."""

from __future__ import annotations

import argparse
import math
import socket
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from pytest_fcbench.cli.options import find_project_suites
from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES
from pytest_fcbench.codecs.dialogues.families import UNASKED
from pytest_fcbench.config.loading import find_cache_folder
from pytest_fcbench.domain.errors import FcbenchError, UsageError, describe_unknown_name
from pytest_fcbench.domain.pressure import PressureKind, PressureLevel, parse_levels
from pytest_fcbench.domain.prompting import FamilyMember, ModelPresentation, Prompting
from pytest_fcbench.models.baselines import scripted
from pytest_fcbench.models.baselines.lexical import LexicalModel
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.official_models import find_family, name_at_server
from pytest_fcbench.server import conforming, faults, parsing
from pytest_fcbench.server.faults import Mistakes, ModelFault
from pytest_fcbench.server.lookup import MANNERS, EntryIndex, FamilyLookup, Models, add_texts
from pytest_fcbench.server.replies import Judge
from pytest_fcbench.suites import bfcl, complexfuncbench, core, embedded
from pytest_fcbench.suites.pressure import PressureMaterial, press_suite
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.suites.suite import Suite

# Loopback only, because the server asks for no key.
_HOST = "127.0.0.1"


def run_serve(arguments: argparse.Namespace) -> int:
    kind, _, syntax = arguments.model.partition(":")
    is_conforming = kind == conforming.NAME
    # A server with a template and a parser of its own, which answers any request.
    has_parser = is_conforming or (kind == "oracle" and bool(syntax))
    models = OracleModel if has_parser else _find_models(arguments.model)
    own_faults = (*conforming.WireFault, *parsing.ParserFault)
    wire_faults = {text for text in arguments.fault if text.partition(":")[0] in own_faults}
    if wire_faults and not has_parser:
        raise UsageError(
            f"--fault={min(wire_faults)}: only --model={conforming.NAME} and --model=oracle:SYNTAX have this "
            "fault; serve one of them"
        )
    of_model = () if is_conforming else tuple(ModelFault)
    kinds: Sequence[faults.Fault] = (*faults.FaultKind, *of_model, *(own_faults if has_parser else ()))
    shares = dict(faults.read_shares(arguments.fault, kinds))
    # A share of entries, not of requests.
    mistakes = Mistakes(
        shares.pop(ModelFault.WRONG, 0.0), arguments.seed, shares.pop(ModelFault.CROWDED, math.inf)
    )
    draws = faults.draw_faults(shares, faults.read_latency(arguments.latency), arguments.seed)
    if not 0 <= arguments.retry_after < math.inf:
        raise UsageError(f"--retry-after={arguments.retry_after}: must be a number of seconds, 0 or more")
    judge_reply = arguments.judge_reply
    if judge_reply is not None and judge_reply.startswith("@"):
        try:
            judge_reply = Path(judge_reply[1:]).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
            raise UsageError(f"--judge-reply={judge_reply}: the file cannot be read: {reason}") from None
    judge = Judge(complexfuncbench.read_wording(find_cache_folder()), judge_reply)
    names = list(dict.fromkeys(arguments.suite or [embedded.WIRE if is_conforming else core.NAME]))
    named_suites, nearby = find_project_suites()
    suites = [open_suite(name, find_cache_folder(), {**nearby, **named_suites}) for name in names]
    if levels := _read_levels(arguments.pressure):
        material = PressureMaterial(tuple(suites))
        suites = [press_suite(suite, levels, material) for suite in suites]
    families = None if arguments.official is None else _open_families(arguments.official, suites, models)
    lookup = EntryIndex([] if is_conforming else suites, models)

    # Imported late because it brings aiohttp, which reading the options does not need.
    from pytest_fcbench.server.app import ChatServer

    # socket.create_server() leaves its socket open where binding raises OverflowError.
    if not 0 <= arguments.port <= 65535:
        raise FcbenchError(
            f"--port={arguments.port}: ports are 0 to 65535; give another one, or 0 for any free one"
        )
    try:
        listening = socket.create_server((_HOST, arguments.port))
    except OSError as error:
        raise FcbenchError(
            f"--port={arguments.port}: {error}; give another port, or 0 for any free one"
        ) from None
    with listening:
        model = arguments.name or kind
        api_base = f"http://{_HOST}:{listening.getsockname()[1]}/v1"
        ready = (
            f"serving {model} ({', '.join(names)}) on {api_base}\n"
            f"try it with: OPENAI_API_KEY=unused pytest benchmarks "
            f"--fcbench-model=openai/{model} --fcbench-api-base={api_base} --fcbench-store=none "
            f"{f'--fcbench-as={arguments.official} ' if families else ''}"
            f"{' '.join(f'--fcbench-suite={name}' for name in names)}"
        )
        syntax = syntax or "hermes"
        if has_parser and syntax not in NATIVE_SYNTAXES:
            rule = describe_unknown_name("syntax", syntax, NATIVE_SYNTAXES)
            raise UsageError(f"--model={arguments.model}: {rule}")
        any_answer = conforming.ConformingModel(model, syntax) if has_parser else None
        server = ChatServer(
            model, lookup, draws, arguments.retry_after, judge, families, any_answer, mistakes
        )
        server.run(listening, lambda _: print(ready, flush=True))
    return 0


def _read_levels(texts: Sequence[str]) -> Sequence[PressureLevel]:
    """Read the levels at which entries are asked. Raises ``UsageError``."""
    levels: list[PressureLevel] = []
    for text in texts:
        try:
            levels += parse_levels(text)
        except ValueError as error:
            raise UsageError(f"--pressure={text}: {error}") from None
        if levels[-1].kind is PressureKind.CONTEXT:
            raise UsageError(
                f"--pressure={text}: entries in a filled context are not served; give another kind"
            )
    return levels


_WRITTEN = (
    *("tool_calls", "cohere", "gemini", "nova"),
    *("python", "gemini_python", "phi_python", "python_behind_reasoning"),
)
"""The notations in which served models can write calls."""


def _open_families(official: str, suites: Sequence[Suite], models: Models) -> FamilyLookup:
    """Return the requests of an official model's family. Raises ``UsageError`` and ``PackMissing``."""
    family = find_family(official)
    if family.handler in UNASKED:
        raise UsageError(f"--as={official}: {UNASKED[family.handler]}; give another model")
    if family.syntax not in _WRITTEN:
        raise UsageError(
            f"--as={official}: served models write calls for an interface or as Python, not as "
            f"{family.syntax!r}; give a model of another family ('fcbench models --official' lists them)"
        )
    texts = bfcl.read_family_sentences(find_cache_folder(), family.handler)
    member = FamilyMember(official, family.handler, name_at_server(official))
    prompting = Prompting(family.mode, family.names, family.syntax)
    return FamilyLookup(
        add_texts(suites, texts), models, ModelPresentation(official, prompting, member=member)
    )


_MODELS: Mapping[str, Models] = {"oracle": OracleModel, "lexical": LexicalModel}


def _find_models(name: str) -> Models:
    """Return the constructor of the model of that name for each manner. Raises ``UsageError``."""
    kind, _, path = name.partition(":")
    if name in _MODELS:
        return _MODELS[name]
    if kind == "scripted" and path:
        load = cache(partial(scripted.load, Path(path)))
        # A wrong file is refused before the server starts.
        load(MANNERS[0])
        return load
    known_names = (*_MODELS, "scripted:FILE", conforming.NAME)
    raise UsageError(f"--model={name}: {describe_unknown_name('model', name, known_names)}")
