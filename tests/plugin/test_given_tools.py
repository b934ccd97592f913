"""Tools of real servers and of an OpenAPI file: sent as they came, and judged."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from pytest_fcbench.codecs.function_docs.json_schema import resolve_schema
from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.mcp_servers.open_server import list_tools, read_source
from tests import codecs
from tests.loopback import Body, Reply, make_message_reply, serve_answers
from tests.mcp_servers.made import find_commands
from tests.plugin.conftest import Project

OPENAPI = Path(codecs.__file__).parent / "function_docs" / "repositories.yaml"
ANSWERS = ("right", "no call", "another value", "an unknown parameter")
_TEXTS = {
    "date": "2026-03-14",
    "date-time": "2026-03-14T09:30:00Z",
    "uri": "https://shop.example/hook",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "ada@mail.example",
}


def make_value(schema: object, root: Mapping[str, object]) -> object:
    """Make a value that a schema allows."""
    given, _ = resolve_schema(schema, root)
    options = given.get("enum")
    if "const" in given or isinstance(options, list):
        return given["const"] if "const" in given else options[0]  # type: ignore[index]
    kind = given.get("type")
    match kind[0] if isinstance(kind, list) else kind:
        case "integer" | "number":
            return int(str(given.get("minimum", 3)))
        case "boolean":
            return True
        case "array":
            return [make_value(given.get("items", {}), root)]
        case "object":
            members = as_mapping(given.get("properties"))
            required = given.get("required", list(members))
            assert isinstance(required, list)
            if not members and isinstance(given.get("additionalProperties"), Mapping):
                return {"a": make_value(given["additionalProperties"], root)}
            return {name: make_value(members[name], root) for name in required}
    if "pattern" in given:
        return "a1b2c3"
    return _TEXTS.get(str(given.get("format")), "some words")


def make_arguments(schema: Mapping[str, object]) -> dict[str, object]:
    """Make arguments that a schema allows: the required ones, and one more."""
    whole, _ = resolve_schema(schema, schema)
    properties = as_mapping(whole.get("properties"))
    required = whole.get("required", [])
    assert isinstance(required, list)
    others = [name for name in properties if name not in required][:1]
    return {name: make_value(properties[name], schema) for name in (*required, *others)}


def change_value(value: object) -> object:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value} more"
        case list():
            return [*value, *value]
    return {}


def make_answer(said: str, name: str, arguments: Mapping[str, object]) -> Reply:
    """Answer as the question names it."""
    if said == "no call":
        return make_message_reply("There is nothing to do.")
    made = dict(arguments)
    if said == "another value" and made:
        first = next(iter(made))
        made[first] = change_value(made[first])
    elif said != "right":
        made["unheard_of"] = 1
    return make_message_reply(calls=[(name, json.dumps(made))])


def check_tools(project: Project, source: str, schemas: Mapping[str, object] | None = None) -> None:
    """Read a source, write entries of each function, and let a model answer them rightly and wrongly."""
    listed = project.fcbench("suite", "functions", source, "--timeout=300")
    assert listed.returncode == 0, listed.stderr
    docs = {doc["name"]: doc for doc in yaml.safe_load(listed.stdout)["functions"]}
    assert schemas is None or schemas == {name: doc["parameters"] for name, doc in docs.items()}
    calls = {name: make_arguments(doc["parameters"]) for name, doc in docs.items()}
    entries: Sequence[object] = [
        {
            "id": f"{name}-{number}",
            "query": f"{name}: {said}",
            "functions": [name],
            "expect": [{name: {key: [value] for key, value in arguments.items()}}],
        }
        for name, arguments in calls.items()
        for number, said in enumerate(ANSWERS)
    ]
    file = {"category": "simple_python", "functions": list(docs.values()), "entries": entries}
    project.write("given/tools.yaml", yaml.safe_dump(file, sort_keys=False))
    project.run("given", "--fcbench-model=oracle").assert_outcomes(passed=len(entries))
    sent: dict[str, object] = {}

    def answer(asked: Body) -> Reply:
        messages, tools = asked["messages"], asked["tools"]
        assert isinstance(messages, list)
        assert isinstance(tools, list)
        name, _, said = messages[-1]["content"].partition(": ")
        sent[name] = tools[0]["function"]["parameters"]
        return make_answer(said, name, calls[name])

    with serve_answers(answer) as endpoint:
        model = ("--fcbench-model=openai/loopback", "--fcbench-param=api_key=unused")
        result = project.run("given", *model, f"--fcbench-api-base={endpoint.api_base}")
    result.assert_outcomes(passed=len(docs), failed=3 * len(docs))
    passed = {
        entry
        for entry, record in project.records().items()
        if {as_mapping(each)["status"] for each in as_mapping(record["verdicts"]).values()} == {"passed"}
    }
    assert passed == {f"given:{name}-0" for name in docs}
    assert json.dumps([sent[name] for name in docs]) == json.dumps(
        [doc["parameters"] for doc in docs.values()]
    )


@pytest.mark.nightly
def test_an_openapi_file_of_42_operations(project: Project) -> None:
    check_tools(project, str(OPENAPI))


@pytest.mark.few(1)
@pytest.mark.nightly
@pytest.mark.parametrize("name", ["time", "git", "fetch", "sqlite", "arxiv"])
def test_tools_of_servers_of_the_package_index(project: Project, name: str) -> None:
    pytest.importorskip("mcp")
    if not (command := find_commands().get(name)):
        pytest.skip(f"set FCBENCH_MCP_{name.upper()} to the command of this server")
    command += " --db-path shop.db" * (name == "sqlite")
    listing = list_tools(read_source(f"mcp:{command}", timeout_s=300), project.path)
    schemas = {str(tool["name"]): tool["inputSchema"] for tool in listing.tools}
    check_tools(project, f"mcp:{command}", schemas)
