"""Render the written prompts of models that are asked without a chat interface.

A template is the frame of a prompt: role marks and order. The sentences in it are official texts, which a
pack brings; a template names them by their place in the official source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

OURS = "pytest_fcbench.codecs.dialogues"


def render_prompt(template: str, values: Mapping[str, object], package: str = OURS) -> str:
    """Render a template of the folder ``templates`` of a package by its name, without the ending.

    Beside Jinja's own filters there are ``json`` (``json.dumps`` with its options) and ``repr``, which write
    as Python does.
    """
    return _make_environment(package).get_template(f"{template}.jinja").render(values)


@cache
def _make_environment(package: str) -> Environment:
    # Most models are asked through a chat interface and need none.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(package),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        # The text goes to a model, where an escaped sign would be another one.
        autoescape=False,  # noqa: S701
    )
    environment.filters["json"] = json.dumps
    environment.filters["repr"] = repr
    return environment
