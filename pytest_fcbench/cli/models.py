"""``fcbench models`` and ``pull``: the models that can be asked, and the official data of suites."""

from __future__ import annotations

import argparse
import os
from contextlib import suppress

from pytest_fcbench.cli.options import WITHOUT_RUN, build_project_settings, find_config
from pytest_fcbench.cli.output import print_lines
from pytest_fcbench.config.loading import add_environment, find_cache_folder
from pytest_fcbench.config.values import read_file_layers
from pytest_fcbench.domain.errors import PackError, UsageError, describe_unknown_name
from pytest_fcbench.domain.redaction import redact_address
from pytest_fcbench.models.listing import describe_price, list_families, list_syntaxes
from pytest_fcbench.models.price_table import known_price, litellm_models
from pytest_fcbench.models.registry import PROVIDERS
from pytest_fcbench.suites import complexfuncbench, packs
from pytest_fcbench.suites.registry import PACKS

_MOST = 40
"""The most ids that are listed without --all."""


def run_models(arguments: argparse.Namespace) -> int:
    if arguments.families:
        print_lines(list_families(arguments.word))
        return 0
    if arguments.syntaxes:
        print_lines(list_syntaxes(arguments.word or ""))
        return 0
    # litellm's table also has models for embeddings, images and audio.
    chat_models = {name: row for name, row in litellm_models().items() if row.get("mode") == "chat"}
    if arguments.word is None:
        overview = ["Built in"]
        overview += [
            f"  {provider.format_name(name):<22} {provider.about}"
            + ("" if provider.needs_network else "; no network")
            for name, provider in PROVIDERS.items()
        ]
        file = find_config(arguments.config)
        _, profiles = read_file_layers(file)
        overview += ["", f"Profiles of {file or 'fcbench.yaml'}" + ("" if profiles else ": none")]
        for name, profile in profiles.items():
            # Without keys, because a missing one must not keep a profile from the list.
            options = add_environment({"model": name, **WITHOUT_RUN})
            settings = build_project_settings(options, arguments.config)
            parts = [settings.model]
            if settings.api_base:
                parts.append(f"at {redact_address(settings.api_base)}")
            if key := profile.get("api_key_env"):
                parts.append(f"key in {key.value}" + ("" if key.value in os.environ else " (not set)"))
            parts.append(describe_price(settings.price or known_price(settings.model)))
            overview.append(f"  {name:<16} {', '.join(parts)}")
        print_lines(overview)
        chat = f"{len(chat_models):,} of them known as chat models"
        print(f"\nAny id of litellm, {chat}: 'fcbench models WORD' lists them")
        return 0
    lines = []
    for name, row in sorted(chat_models.items()):
        if arguments.word.lower() in name.lower():
            tools = "tools" if row.get("supports_function_calling") else "no tools known"
            room = row.get("max_input_tokens")
            tokens = f"{room:,} tokens" if isinstance(room, int) else "room not known"
            lines.append(f"{name:<48} {tools:<14}  {tokens:<18}  {describe_price(known_price(name))}")
    if not lines:
        raise UsageError(
            f"litellm knows no id that contains {arguments.word!r}; for a server of your own use a "
            f"prefix, e.g. hosted_vllm/NAME with an api_base"
        )
    visible_lines = lines if arguments.all else lines[:_MOST]
    print_lines(visible_lines)
    if len(visible_lines) < len(lines):
        print(f"and {len(lines) - len(visible_lines)} more; --all shows them")
    return 0


def run_pull(arguments: argparse.Namespace) -> int:
    if arguments.list:
        width = max(map(len, PACKS))
        for source in PACKS.values():
            version = ""
            try:
                pack = packs.open_pack(source, find_cache_folder())
                state, version = f"in {pack.folder}", f" {pack.version}" if pack.provenance else ""
            except PackError as error:
                state = str(error)
            print(f"{source.name:<{width}} {source.title}{version}  {state}")
        return 0
    if arguments.pack is None:
        raise UsageError(f"no pack is named; name one ({', '.join(PACKS)}), or use --list")
    if arguments.pack not in PACKS:
        raise UsageError(describe_unknown_name("pack", arguments.pack, PACKS))
    if arguments.code is not None:
        return _read_texts(arguments)
    source, cache = PACKS[arguments.pack], find_cache_folder()
    # Pulling replaces the pack, so its former content is noted first.
    before = None
    with suppress(PackError):
        before = packs.open_pack(source, cache)
    pack = packs.pull(source, cache, arguments.origin, arguments.revision)
    count = "1 file" if len(pack.files) == 1 else f"{len(pack.files)} files"
    print(f"{pack.name} {pack.version}: {count}, content sha256 {pack.content_sha256}")
    if pack.provenance:
        print(f"from {pack.provenance}")
    # Scores on different content must not be compared without notice.
    if before and before.content_sha256 != pack.content_sha256:
        print(f"CHANGED: it was {before.version}, content sha256 {before.content_sha256}")
    elif before and before.version != pack.version:
        print(f"changed in name only: it was {before.version}, the content is the same")
    print(f"in {pack.folder}")
    print(f"run it with: pytest benchmarks --fcbench-suite={pack.name}")
    return 0


def _read_texts(arguments: argparse.Namespace) -> int:
    """Read the texts of the official code of complexfuncbench from a clone, and keep them in the cache."""
    if arguments.pack != complexfuncbench.NAME:
        raise UsageError(
            f"--code={arguments.code} applies only to {complexfuncbench.NAME}; leave it out "
            f"with {arguments.pack}"
        )
    if arguments.origin is not None or arguments.revision is not None:
        raise UsageError(
            f"--code={arguments.code} reads texts and no data; run 'fcbench pull {arguments.pack}' for the "
            f"data before or after it"
        )
    source, cache = complexfuncbench.CODE, find_cache_folder()
    pack = packs.pull(source, cache, arguments.code)
    print(f"texts of {source.title} {pack.version}: content sha256 {pack.content_sha256}")
    wording = complexfuncbench.read_wording(cache)
    if wording and (changed_texts := complexfuncbench.list_changed_texts(wording)):
        print(f"CHANGED since commit {complexfuncbench.COMMIT}: {', '.join(changed_texts)}")
    print(f"in {pack.folder}")
    return 0
