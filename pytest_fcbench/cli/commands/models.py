"""``fcbench models``: who can be asked, and what is known of them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from pytest_fcbench.cli.run_options import ASKING_NOBODY, declare
from pytest_fcbench.config.loading import Settings, config_file, load, profiles
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.text import printable
from pytest_fcbench.models.price_table import known_price, litellm_models
from pytest_fcbench.models.registry import PROVIDERS

_MOST = 40
"""How many ids are told without --all."""


HELP = "who can be asked: ours, your profiles, ids of litellm"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("word", nargs="?", metavar="WORD", help="ids of litellm that have it in their name")
    parser.add_argument("--all", action="store_true", help=f"more than {_MOST} of them")
    declare(parser, ("config",))


def run_command(chosen: argparse.Namespace) -> int:
    if chosen.word is not None:
        lines = list(_of_litellm(chosen.word))
        if not lines:
            raise UsageError(
                f"litellm knows no id with {chosen.word!r} in it; a server of your own is reached by a "
                "prefix, such as hosted_vllm/NAME with an api_base"
            )
    else:
        lines = [*_built_in(), *_profiles(chosen), *_hint()]
    shown = lines if chosen.all or chosen.word is None else lines[:_MOST]
    for line in shown:
        print(printable(line))
    if len(shown) < len(lines):
        print(f"and {len(lines) - len(shown)} more; --all shows them")
    return 0


def _built_in() -> Iterator[str]:
    yield "Built in"
    for name, provider in PROVIDERS.items():
        network = "" if provider.needs_network else "; no network"
        yield f"  {provider.word(name):<22} {provider.about}{network}"


def _profiles(chosen: argparse.Namespace) -> Iterator[str]:
    file = config_file(Path(), chosen.config)
    described = profiles(file)
    known = {name: load({"model": name, **ASKING_NOBODY}, file) for name in described}
    yield ""
    yield f"Profiles of {file or 'fcbench.yaml'}" + ("" if known else ": none")
    for name, settings in known.items():
        yield f"  {name:<16} {', '.join(_described(settings, described[name].get('api_key_env')))}"


def _described(settings: Settings, key: str | None) -> Iterator[str]:
    yield settings.model
    if settings.api_base:
        yield f"at {settings.api_base}"
    if key:
        yield f"key in {key}" + ("" if key in os.environ else " (not set)")
    yield _price(settings.price or known_price(settings.model))


def _price(price: Price | None) -> str:
    if price is None:
        return "price not known"
    if price.hour is not None:
        return f"${price.hour:g} an hour"
    return f"${price.input:g} in, ${price.output:g} out per million tokens"


def _hint() -> Iterator[str]:
    chat = sum(found.get("mode") == "chat" for found in litellm_models().values())
    yield ""
    yield f"Any id of litellm, of which {chat:,} are known to chat: fcbench models WORD lists them"


def _of_litellm(word: str) -> Iterator[str]:
    """Ids whose name holds the word, with tools, room and price where that is known."""
    for name, found in sorted(litellm_models().items()):
        if word.lower() in name.lower() and found.get("mode") == "chat":
            tools = "tools" if found.get("supports_function_calling") else "no tools known"
            room = found.get("max_input_tokens")
            tokens = f"{room:,} tokens" if isinstance(room, int) else "room not known"
            yield f"{name:<48} {tools:<14}  {tokens:<18}  {_price(known_price(name))}"
