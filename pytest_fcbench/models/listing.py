"""Lists of the official models and of the ways to write calls."""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.registry import SYNTAXES, find_native_syntax, list_run_syntaxes
from pytest_fcbench.codecs.dialogues.families import OWN_FAMILIES, UNASKED, find_api
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.models.official_models import find_family, list_official_families, name_at_server
from pytest_fcbench.models.price_table import known_price
from pytest_fcbench.models.providers.vendors import find_vendor


def list_families(word: str | None) -> list[str]:
    """List the official models whose id contains a word. Raises ``UsageError`` where there is none."""
    lines = []
    for family in (*list_official_families(), *map(find_family, OWN_FAMILIES)):
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
            lines.append(f"  {name:<48} {describe_price(price)}")
    if not lines:
        raise UsageError(
            f"the official registry has no model whose id contains {word!r}; leave the word out for all"
        )
    return lines


def list_syntaxes(word: str) -> list[str]:
    """List the syntaxes whose name contains a word, with the official handlers that read them."""
    readers: dict[str, list[str]] = {}
    for family in list_official_families():
        readers.setdefault(family.syntax, []).append(family.handler)
    lines = []
    for name in list_run_syntaxes():
        if word.lower() in name:
            native, syntax = find_native_syntax(name), SYNTAXES.get(name)
            mode = syntax.mode if syntax else Mode.FC
            handlers = ["no official handler of today"] if native is None else [f"models: {native.models}"]
            by = ", ".join(dict.fromkeys(readers.get(name, handlers)))
            lines.append(f"{name:<24} {mode:<7} {by}")
    if not lines:
        raise UsageError(f"there is no syntax whose name contains {word!r}; leave the word out for all")
    return lines


def describe_price(price: Price | None) -> str:
    if price is None:
        return "price not known"
    if price.hour is not None:
        return f"${price.hour:g} an hour"
    return f"${price.input:g} in, ${price.output:g} out per million tokens"
