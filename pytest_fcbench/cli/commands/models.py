"""``fcbench models``: list the models that can be asked, with what is known of them."""

from __future__ import annotations

import argparse
import os

from pytest_fcbench.cli.output import print_lines
from pytest_fcbench.cli.run_options import (
    WITHOUT_KEYS,
    build_project_settings,
    declare_run_options,
    find_config,
)
from pytest_fcbench.codecs.decoders.registry import SYNTAXES, list_run_syntaxes
from pytest_fcbench.codecs.dialogues.families import OWN_FAMILIES, UNASKED, find_api
from pytest_fcbench.config.loading import add_environment, read_profiles
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.redaction import redact_address
from pytest_fcbench.models import official_models
from pytest_fcbench.models.official_models import name_at_server
from pytest_fcbench.models.price_table import known_price, litellm_models
from pytest_fcbench.models.providers.vendors import find_vendor
from pytest_fcbench.models.registry import PROVIDERS

HELP = "list models: built-in ones, your model profiles and ids of litellm"
PAGE = "own-models"
EXAMPLES = (
    "fcbench models",
    "fcbench models gpt-4o",
    "fcbench models --official qwen3-8b",
    "fcbench models --syntaxes",
)
_MOST = 40
"""The most ids that are listed without --all."""


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "word", nargs="?", metavar="WORD", help="list the ids of litellm that contain this word"
    )
    parser.add_argument("--all", action="store_true", help=f"list more than {_MOST} ids")
    official = parser.add_mutually_exclusive_group()
    official.add_argument(
        "--official",
        "--families",
        dest="families",
        action="store_true",
        help="list the models of the official registry for --fcbench-as: how each is asked and read",
    )
    official.add_argument(
        "--syntaxes", action="store_true", help="list the ways to write calls, for --fcbench-syntax"
    )
    declare_run_options(parser, ("config",))


def run_command(arguments: argparse.Namespace) -> int:
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
        profiles = read_profiles(file)
        # Without keys, because a missing one must not keep a profile from the list.
        profile_settings = {
            name: build_project_settings(add_environment({"model": name, **WITHOUT_KEYS}), arguments.config)
            for name in profiles
        }
        overview += ["", f"Profiles of {file or 'fcbench.yaml'}" + ("" if profile_settings else ": none")]
        for name, settings in profile_settings.items():
            parts = [settings.model]
            if settings.api_base:
                parts.append(f"at {redact_address(settings.api_base)}")
            if key := profiles[name].get("api_key_env"):
                parts.append(f"key in {key}" + ("" if key in os.environ else " (not set)"))
            parts.append(_describe_price(settings.price or known_price(settings.model)))
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
            lines.append(f"{name:<48} {tools:<14}  {tokens:<18}  {_describe_price(known_price(name))}")
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


def list_families(word: str | None) -> list[str]:
    """List the official models whose id contains a word. Raises ``UsageError`` where there is none."""
    lines = []
    for family in (*official_models.FAMILIES, *map(official_models.find_family, OWN_FAMILIES)):
        model_names = [name for name in family.models if (word or "").lower() in name.lower()]
        if not model_names:
            continue
        if family.handler in UNASKED:
            asking = f"not asked: {UNASKED[family.handler]}"
        else:
            vendor = find_vendor(family.handler)
            at, keys = vendor.base or "a server of your own", " or ".join(vendor.keys) or "no variable"
            asking = f"asked by {find_api(family.handler)} at {at}, key in {keys}"
        lines.append(f"{family.handler}: {family.mode}, {family.names} names, {family.syntax}; {asking}")
        for name in model_names:
            # Prices stand under the name that the server knows.
            server_name = name_at_server(name)
            price = known_price(server_name) or known_price(server_name.removeprefix("us."))
            lines.append(f"  {name:<48} {_describe_price(price)}")
    if not lines:
        raise UsageError(
            f"the official registry has no model whose id contains {word!r}; leave the word out for all"
        )
    return lines


def list_syntaxes(word: str) -> list[str]:
    """List the syntaxes whose name contains a word, with the official handlers that read them."""
    readers: dict[str, list[str]] = {}
    for family in official_models.FAMILIES:
        readers.setdefault(family.syntax, []).append(family.handler)
    lines = []
    for name in list_run_syntaxes():
        if word.lower() in name:
            syntax = SYNTAXES[name]
            mode = syntax.mode if syntax else Mode.FC
            by = ", ".join(dict.fromkeys(readers.get(name, ["no official handler of today"])))
            lines.append(f"{name:<24} {mode:<7} {by}")
    if not lines:
        raise UsageError(f"there is no syntax whose name contains {word!r}; leave the word out for all")
    return lines


def _describe_price(price: Price | None) -> str:
    if price is None:
        return "price not known"
    if price.hour is not None:
        return f"${price.hour:g} an hour"
    return f"${price.input:g} in, ${price.output:g} out per million tokens"
