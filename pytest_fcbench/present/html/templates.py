"""Pages from templates: one file each, which loads nothing and runs nothing but the scripts of this package.

The Content-Security-Policy of a page allows its one style sheet and its one script, by their hashes, and
nothing else. Whatever comes from a file is escaped by Jinja, or stands in an island as JSON.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from pytest_fcbench.domain.text import make_printable, put_on_one_line
from pytest_fcbench.present.charts import marks
from pytest_fcbench.present.charts.drawing import read_colours
from pytest_fcbench.present.wording import format_limits
from pytest_fcbench.scorecard.aggregate.intervals import Interval

_FOLDER = Path(__file__).parent
TABLES = "tables.js"
"""The script of pages whose tables are sorted and whose lists are filtered."""


def generate_page(
    template: Path | str,
    values: Mapping[str, object],
    scripts: Sequence[str] = (),
    *,
    sources: Sequence[str] = (),
    form: str = "'none'",
) -> Iterator[str]:
    """Render a template in pieces, so that a large page is not in memory as a whole.

    ``template`` is one of this folder or a path. ``sources`` and ``form`` widen the policy.
    """
    path = _FOLDER / template
    # The policy allows both blocks by their hashes, so they are text before the template sees them.
    style = f"{read_colours()}{read_package_file('page.css')}"
    script = "".join(map(read_package_file, scripts))
    script_policy = [f"script-src {hash_block(script)}"] if script else []
    return (
        make_environment(path.parent)
        .get_template(path.name)
        .generate(
            **values,
            style=Markup(style),  # noqa: S704 - a file of this package
            script=Markup(script),  # noqa: S704 - a file of this package
            policy=write_policy(style, *script_policy, *sources, "img-src data:", form=form),
        )
    )


def write_policy(style: str, *also: str, form: str = "'none'") -> str:
    """Write a Content-Security-Policy: this style sheet by its hash, what else is named, nothing more.

    ``form`` is where forms may lead.
    """
    # base-uri and form-action do not fall back to default-src, so they are named.
    only = ("default-src 'none'", f"style-src {hash_block(style)}", *also)
    return "; ".join((*only, "base-uri 'none'", f"form-action {form}"))


def hash_block(block: str) -> str:
    """Hash a block of a page as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()}'"


def read_package_file(name: str) -> str:
    """Read a template, style sheet or script of this folder."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def _format_range(interval: Interval | None) -> str:
    return format_limits(interval).replace("-", "–")


@cache  # it keeps compiled templates, and compiling one takes longer than rendering a small page
def make_environment(folder: Path) -> Environment:
    """Make the environment of the templates of a folder, which escapes all that is put into them."""
    environment = Environment(
        loader=FileSystemLoader((folder, _FOLDER)),
        autoescape=True,
        # A misspelled name in the template is an error, not an empty cell.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": lambda share: "–" if share is None else f"{share:.2%}",
        "whole": lambda share: f"{share:.1%}",
        "limits": lambda score: _format_range(score.interval),
        "range": _format_range,
        "number": lambda value, digits=0: "–" if value is None else f"{value:,.{digits}f}",
        "plain": make_printable,
        "line": put_on_one_line,
        # Ids come from files and can hold lone surrogates, which UTF-8 does not have.
        "quoted": partial(quote, safe="", errors="replace"),
        # Lets a narrow column break a name behind its signs. Escaped first: the marks added here must
        # stay the only markup.
        "breakable": lambda name: Markup(  # noqa: S704 - escaped just now
            re.sub("[_:/]", r"\g<0><wbr>", str(escape(make_printable(name))))
        ),
        "points": lambda change: f"{round(100 * change, 1) + 0.0:+.1f}".replace("-", "−"),
        # Names as words, for readers who know none of them.
        "spaced": lambda name: make_printable(name).replace("_", " "),
        "drawn": Markup,
    }
    environment.globals |= {"ranges": marks.draw_ranges, "scale": marks.draw_scale, "bar": marks.draw_bar}
    return environment
