"""What the docs take from the program itself: options, commands, the schema of a scorecard."""

from __future__ import annotations

import argparse
import inspect
import json
import os
from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import groupby
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

from pytest_fcbench.cli.main import declare_commands
from pytest_fcbench.cli.tree import read_tree
from pytest_fcbench.codecs.dialogues.families import FAULTS, UNASKED, find_api, read_api_families
from pytest_fcbench.codecs.dialogues.written_prompt import WRITTEN_FAMILIES
from pytest_fcbench.config.options import GROUPS, Option
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.explanation import AnswerClass, FailureClass
from pytest_fcbench.domain.prompting import FamilyMember, Mode
from pytest_fcbench.domain.protocol_notes import ProtocolNote
from pytest_fcbench.models import official_models
from pytest_fcbench.present.document import json_schema
from pytest_fcbench.present.failure_codes import read_failure_code_groups
from pytest_fcbench.server.conforming import WireFault
from pytest_fcbench.server.faults import FaultKind, ModelFault
from pytest_fcbench.server.parsing import ParserFault

EXAMPLES: Mapping[str, str] = {
    "model under test": "pytest --fcbench-model=my-ft --fcbench-api-base=http://localhost:8000/v1",
    "how the model is asked": "pytest --fcbench-model=oracle --fcbench-mode=prompt --fcbench-syntax=python",
    "which entries are asked": "pytest --fcbench-category=live --fcbench-sample=50 --fcbench-trials=3",
    "which answers pass": "pytest --fcbench-profile=corrected --fcbench-similarity=structured",
    "gates and comparisons": "pytest --fcbench-gate='overall>=0.05' --fcbench-gate='not_scored<=1%'",
    "web APIs, search, MCP and memory": "pytest -m agentic --fcbench-search=core --fcbench-embedding=auto",
    "speed, limits and cost": "pytest --fcbench-concurrency=32 --fcbench-rpm=600 --fcbench-max-usd=2.50",
    "files and output": "pytest --fcbench-scorecard=nightly.json --fcbench-label=step=400",
}
"""A command for each group of options; ``tests/docs`` runs them."""


def options() -> Iterator[str]:
    """Write the options of a run in Markdown: for each group a heading, an example and a table."""
    for group in GROUPS:
        yield from (f"### Options: {group.title}", "", f"    {EXAMPLES[group.title]}", "")
        yield from ("| option | in fcbench.yaml | what it does |", "|---|---|---|")
        for option in group.options:
            takes = "" if option.switch else f"={option.metavar}"
            where = f"`{option.key}`" if option.in_file else "-"
            profile = ", also in a model profile" if option.of_model and option.key != "model" else ""
            yield f"| `{option.flag}{takes}` | {where}{profile} | {_describe_option(option)} |"
        yield ""


def configuration() -> Iterator[str]:
    """Write the keys of fcbench.yaml as a Markdown table for each group of options."""
    for group in GROUPS:
        yield from (
            f"### Keys: {group.title}",
            "",
            "| key | value | default | meaning |",
            "|---|---|---|---|",
        )
        for option in (each for each in group.options if each.in_file):
            value = "`true`, `false`" if option.switch else ", ".join(f"`{word}`" for word in option.choices)
            kind = value or f"{'list of ' * option.repeatable}{option.metavar}"
            default = f"`{option.default}`" if option.default else "-"
            yield f"| `{option.key}` | {kind} | {default} | {_describe_option(option)} |"
        yield ""


def _describe_option(option: Option) -> str:
    return option.help.replace("%%", "%").replace("|", r"\|")


def commands() -> Iterator[str]:
    """Write the help of every command in Markdown, under a heading for each."""
    os.environ["COLUMNS"] = "90"
    parsers = declare_commands(argparse.ArgumentParser(prog="fcbench").add_subparsers())
    for title, names in groupby(parsers, lambda name: read_tree()[name].title):
        yield from (f"### Commands: {title}", "")
        for name in names:
            page = read_tree()[name].page
            shown, _, _ = parsers[name].format_help().rstrip().partition("\nmore: ")
            yield from (f"#### fcbench {name}", "", "```text", shown.rstrip(), "```", "")
            yield from ([] if page == "options" else [f"More: [](project:{page}.md).", ""])


def schema() -> Iterator[str]:
    """The fields of a scorecard as Markdown tables, one for each kind of object."""
    top: Mapping[str, Any] = json_schema()
    yield from _fields("the document", top)
    for name, definition in top.get("$defs", {}).items():
        yield from _fields(name, definition)


def _fields(name: str, definition: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"### {name}", "", _line(definition.get("description", "")), "")
    if "properties" not in definition:
        yield from (f"{_kind(definition)}", "")
        return
    yield from ("| field | type | what it is |", "|---|---|---|")
    for key, field in definition["properties"].items():
        told = _line(field.get("description", "") if isinstance(field, Mapping) else "")
        yield f"| `{key}` | {_kind(field)} | {told} |"
    yield ""


def _line(text: object) -> str:
    """Put a description into one line of a table."""
    return " ".join(str(text).split()).replace("|", r"\|")


def _kind(field: Any) -> str:
    if not isinstance(field, Mapping):
        return "anything"
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if choices := field.get("anyOf") or field.get("oneOf"):
        return " or ".join(map(_kind, choices))
    if "const" in field or "enum" in field:
        return ", ".join(f"`{json.dumps(value)}`" for value in field.get("enum", [field.get("const")]))
    kinds = field.get("type", "any")
    kind = " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
    inner = field.get("items") or field.get("additionalProperties")
    return f"{kind} of {_kind(inner)}" if isinstance(inner, Mapping) and inner else kind


def failure_codes() -> Iterator[str]:
    """Write the codes of failures as a Markdown table under a heading for each kind."""
    for title, listed in read_failure_code_groups().items():
        yield from (f"## {title}", "", "| code | meaning | what to look at |", "|---|---|---|")
        for code, (meaning, advice) in listed.items():
            yield f"| `{code}` | {meaning} | {advice} |"
        yield ""


def failure_classes() -> Iterator[str]:
    """Write the classes of failed conversations and of failed single-turn answers as Markdown tables."""
    yield from _list_members("class of a conversation | when", FailureClass)
    yield from _list_members("class of a single-turn answer | when", AnswerClass)


def faults() -> Iterator[str]:
    """Write the faults of ``fcbench serve`` as Markdown tables."""
    yield from _list_members("fault of any request | what the server does", FaultKind)
    yield from _list_members("fault of a model that knows entries | what it does", ModelFault)
    for kind in (WireFault, ParserFault):
        yield from _list_members("fault of `conforming` and `oracle:SYNTAX` | what it does", kind)


def _list_members(head: str, members: type[StrEnum]) -> Iterator[str]:
    """Write the members of an enumeration with their docstrings as a Markdown table."""
    docs = ModuleAnalyzer.for_module(members.__module__).find_attr_docs()
    yield from (f"| {head} |", "|:--|:--|")
    for each in members:
        yield f"| `{each}` | {_line(' '.join(docs.get((members.__name__, each.name), ())).strip())} |"
    yield ""


def categories() -> Iterator[str]:
    """Write the categories as a Markdown table: the group, the kind that judges, and whether it counts."""
    yield from ("| category | group | judged by | counts |", "|---|---|---|---|")
    for each in CATEGORIES.values():
        counts = "yes" if each.scored else "if selected"
        yield f"| `{each.name}` | `{each.group}` | {each.kind} | {counts} |"
    yield ""


def protocol_notes() -> Iterator[str]:
    """Write the codes of protocol notes as a Markdown table."""
    yield from ("| code | meaning |", "|---|---|")
    yield from (f"| `{note}` | {_line(note.meaning)} |" for note in ProtocolNote)
    yield ""


def families() -> Iterator[str]:
    """How the models of each official class are asked, as Markdown tables."""
    known: dict[str, list[str]] = {}
    for family in official_models.list_official_families():
        known.setdefault(family.handler, []).extend(family.models)
    yield from (
        "| official class | models | API | tools, docs or template | beside them | what goes back |",
        "|---|---|---|---|---|---|",
    )
    for handler in sorted(known):
        api = find_api(handler)
        count = f"{len(known[handler])}: `{known[handler][0]}`" + (" …" if known[handler][1:] else "")
        if api is None or handler in UNASKED:
            yield f"| {handler} | {count} | - | {UNASKED[handler]} | - | - |"
            continue
        shown, beside, back = (_line(text) for text in _describe_family(handler, known[handler][0]))
        yield f"| {handler} | {count} | `{api}` | {shown} | {beside} | {back} |"
    yield ""
    yield from ("**Known faults**", "", "| official class | what happens |", "|---|---|")
    yield from (f"| {handler} | {fault} |" for handler, fault in FAULTS.items())
    yield ""


def _describe_family(handler: str, model: str) -> tuple[str, str, str]:
    """Describe what a family is shown, the parameters beside it, and what goes back of an answer."""
    if written := WRITTEN_FAMILIES.get(handler):
        template = f"`{written.template}.jinja`" if written.template else "the model's own template"
        prompted = ", with BFCL's system text" if written.is_prompted else ""
        parameters = {"temperature": 0.001, **written.parameters}
        return f"{template}{prompted}", f"`{json.dumps(parameters)}`", _first_line(written.read_answer)
    family = read_api_families()[handler]
    member = FamilyMember(model, handler, official_models.name_at_server(model))
    told = {mode: json.dumps(family.parameters(member, mode)) for mode in Mode}
    apart = told[Mode.FC] != told[Mode.PROMPT]
    beside = f"`{told[Mode.FC]}`" + (f", in prompting `{told[Mode.PROMPT]}`" if apart else "")
    if family.joins_users_in:
        beside += ", messages of the user joined"
    repeated = getattr(family.form, "repeated", None)
    back = str(repeated).replace("_", " ") if repeated else _first_line(family.form.write_answer)
    return _first_line(family.write_tool), beside, back


def _first_line(described: object) -> str:
    inner = getattr(described, "func", described)
    return (inspect.getdoc(inner) or "").partition("\n")[0]


_MAKERS = {
    "fcbench-categories": categories,
    "fcbench-failure-classes": failure_classes,
    "fcbench-families": families,
    "fcbench-faults": faults,
    "fcbench-failure-codes": failure_codes,
    "fcbench-protocol-notes": protocol_notes,
    "fcbench-options": options,
    "fcbench-commands": commands,
    "fcbench-configuration": configuration,
    "fcbench-schema": schema,
}


class _Generated(SphinxDirective):
    """Markdown made by a function, in the place of the directive."""

    def run(self) -> list[nodes.Node]:
        """Its parsed text."""
        return self.parse_text_to_nodes("\n".join(_MAKERS[self.name]()), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Declare the directives."""
    for name in _MAKERS:
        app.add_directive(name, _Generated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
