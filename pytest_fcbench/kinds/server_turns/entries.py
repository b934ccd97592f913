"""Entries whose calls act on an MCP server, written by hand in YAML.

category: mcp
environment:                   # of all entries; an entry may have its own
  mcp: uvx mcp-server-git --repository .      # or a mapping:
    # command: uvx mcp-server-git --repository .     # {suite} in it is the folder of this file
    # variables: [GITHUB_TOKEN]          # names of environment variables that it is given
    # files: {notes.txt: "..."}          # written into its folder before it starts
    # setup: [git init -q .]             # run in its folder before it starts
    # timeout: 60                        # seconds, of the start and of each call
functions: [...]               # docs of the tools, as ``fcbench suite functions mcp:...`` writes them
entries:
  - id: mcp_0
    functions: [git_add, git_commit]     # optional: the tools that are offered, of those above
    turns:
      - user: Commit notes.txt with the message "Add notes".
        calls:
          - git_add(repo_path=".", files=["notes.txt"])
          - git_commit(repo_path=".", message="Add notes")
    probes: ["git_status(repo_path='.')"]       # calls whose results show the state
    volatile: [datetime]                 # members of JSON results that differ between equal states
    masks: ["[0-9a-f]{40}"]              # what differs in other results, as regular expressions
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath
from typing import Annotated

import pydantic

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.domain.entry import Category, Entry, Message, Scene, ServerProgram, ServerState
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import TYPES, FunctionDoc
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.function_docs import AnyFunctionRow, OfferedByRow, choose_docs, read_function_docs
from pytest_fcbench.formats.rows import EntryRow, ErrorSentence, Given, PlacedEntries, Row, Some, TextOr
from pytest_fcbench.kinds.state.entries import TurnRow, check_known_call
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.mcp_servers.open_server import split_command


class ProgramRow(Row):
    """The program of an MCP server."""

    command: str
    """The program and its arguments, split as a shell splits them; no shell runs them."""
    variables: Given[list[str]] = None
    """Names of environment variables that it is given."""
    files: Given[dict[str, str]] = None
    """Texts by path in its folder, written before it starts."""
    setup: Given[list[str]] = None
    """Commands that run in its folder before it starts."""
    timeout: Given[Annotated[float, pydantic.Field(gt=0), ErrorSentence("must be above 0")]] = None
    """The longest that its start and each call may take, in seconds."""


class EnvironmentRow(Row):
    """The environment that calls act on."""

    mcp: TextOr[ProgramRow]
    """The command of an MCP server, or what is to be known about it."""


class ServerEntryRow(EntryRow):
    """Turns, the calls that serve them, and the calls that show their effect."""

    turns: Some[TurnRow]
    """Requests, and the calls that serve them."""
    environment: Given[EnvironmentRow] = None
    """The server of this entry, where it is not that of the file."""
    functions: Given[list[str]] = None
    """The tools that are offered; all of the file where they are left out."""
    probes: Given[list[str]] = None
    """Calls whose results show the state, and that change none."""
    volatile: Given[list[str]] = None
    """Members of JSON results that differ between equal states."""
    masks: Given[list[str]] = None
    """Regular expressions of what differs in other results."""
    cluster: Given[str] = None
    """A name that related entries share; they count as dependent."""


class ServerFile(Row):
    """Entries whose calls act on an MCP server."""

    category: str
    entries: list[ServerEntryRow]
    functions: Given[list[AnyFunctionRow]] = None
    """Docs of the tools."""
    environment: Given[EnvironmentRow] = None
    """The server of all entries that name none."""
    server: Given[OfferedByRow] = None
    """The server that the docs were read from."""
    probes: Given[list[str]] = None
    """Calls that show the state of every entry, beside its own."""
    volatile: Given[list[str]] = None
    """Members of JSON results that differ between equal states, in every entry."""
    masks: Given[list[str]] = None
    """Regular expressions of what differs in other results of every entry."""


def read_entries(row: ServerFile, file: Field, suite: str, category: Category) -> PlacedEntries:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""
    docs = read_function_docs(row.functions, file.at("functions"), TYPES[category.language])
    _check_observation(row, file, docs)
    for each, place in zip(row.entries, file.at("entries").elements(), strict=True):
        names, names_field = each.functions, place.at("functions")
        offered_docs = docs if names is None else choose_docs(names, names_field, docs)
        if not offered_docs:
            raise place.error("offers no tool; write the docs of the server's tools under 'functions'")
        for turn in place.at("turns").elements():
            _check_calls(turn.at("calls"), offered_docs)
        _check_observation(each, place, docs)
        environment_row = each.environment or row.environment
        if environment_row is None:
            raise place.error("has no 'environment', which names the MCP server that calls act on")
        owner = place if each.environment else file
        program = _make_program(environment_row, owner.at("environment", "mcp"))
        probes, volatile, masks = (
            tuple(chain.from_iterable(texts or () for texts in lists))
            for lists in ((row.probes, each.probes), (row.volatile, each.volatile), (row.masks, each.masks))
        )
        state = ServerState(program, probes, frozenset(volatile), masks)
        turns = tuple((Message("user", turn.user),) for turn in each.turns)
        functions, truth = tuple(offered_docs.values()), Trajectory(tuple(tuple(t.calls) for t in each.turns))
        scene = Scene((), {}, server=state)
        entry = Entry(suite, each.id, category, turns, functions, truth, scene, cluster=each.cluster)
        yield place, entry


def _check_observation(row: ServerFile | ServerEntryRow, at: Field, docs: Mapping[str, FunctionDoc]) -> None:
    """Check how a file or an entry observes the state; a probe may use a tool that no model is offered."""
    if row.probes:
        _check_calls(at.at("probes"), docs)
    for number, mask in enumerate(row.masks or ()):
        try:
            re.compile(mask)
        except re.error as error:
            rule = f"{mask!r} is not a regular expression: {error}; correct it"
            raise at.at("masks", number).error(rule) from None


def _make_program(row: EnvironmentRow, at: Field) -> ServerProgram:
    program_row = ProgramRow(command=row.mcp) if isinstance(row.mcp, str) else row.mcp
    for name in program_row.files or ():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.name:
            raise at.at("files").error(f"{name!r} must be a path within the folder of the server")
    try:
        program = ServerProgram(
            split_command(program_row.command),
            tuple(program_row.variables or ()),
            program_row.files or {},
            tuple(map(split_command, program_row.setup or ())),
        )
    except UsageError as error:
        raise at.error(str(error)) from None
    return program if program_row.timeout is None else replace(program, timeout_s=program_row.timeout)


def _check_calls(calls: Field, docs: Mapping[str, FunctionDoc]) -> None:
    """Check that texts are calls of known tools with their parameters. Raises ``SuiteError``."""
    for place in calls.elements():
        try:
            call = python.parse_tool_call(place.call())
        except Undecodable as error:
            raise place.error(str(error)) from None
        check_known_call(place, call, docs)
