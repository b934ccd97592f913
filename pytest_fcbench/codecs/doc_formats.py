"""Function docs as the text of a system prompt: JSON, XML, or comments of Python.

Texts are byte for byte those of ``format_function_doc``, with its oddities: in XML nothing is escaped, and
commas in a tag are dropped, also those of a default value; of nested parameters only those of objects are
shown; a list of accepted words is shown as Python writes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence

from pytest_fcbench.domain.prompt_format import Docs


def written(docs: Sequence[Mapping[str, object]], form: Docs) -> str:
    """Docs (``name``, ``description``, ``parameters``, ...) in one form."""
    return _FORMS[form](docs)


def _json(docs: Sequence[Mapping[str, object]]) -> str:
    return json.dumps(docs, indent=4)


def _described(schema: Mapping[str, object]) -> str:
    words = f" Enum values: {schema['enum']}." if "enum" in schema else ""
    return f"{schema.get('description', '')}{words}"


def _xml(docs: Sequence[Mapping[str, object]]) -> str:
    return "\n".join("".join(_xml_function(doc)) for doc in docs)


def _xml_function(doc: Mapping[str, object]) -> Iterator[str]:
    yield f'<function name="{doc["name"]}">\n  <desc>{doc.get("description", "")}</desc>\n  <params>\n'
    yield from _xml_parameters(_mapping(doc.get("parameters")), " " * 4)
    yield "  </params>\n</function>\n"


def _xml_parameters(schema: Mapping[str, object], indent: str) -> Iterator[str]:
    required = schema.get("required")
    for name, parameter in _mapping(schema.get("properties")).items():
        yield from _xml_parameter(name, _mapping(parameter), required, indent)


def _xml_parameter(name: str, schema: Mapping[str, object], required: object, indent: str) -> Iterator[str]:
    # Where nothing says which are required, all are.
    needed = required is None or (isinstance(required, Container) and name in required)
    tag = f'name="{name}" type="{_xml_type(schema)}" required="{str(needed).lower()}"'
    if "default" in schema:
        tag += f' default="{schema["default"]!r}"'
    yield f"{indent}<param {tag.replace(',', '')}>\n{indent}  <desc>{_described(schema)}</desc>\n"
    if "properties" in schema:
        yield f"{indent}  <params>\n"
        yield from _xml_parameters(schema, indent + " " * 4)
        yield f"{indent}  </params>\n"
    yield f"{indent}</param>\n"


def _xml_type(schema: Mapping[str, object]) -> str:
    items, others = _mapping(schema.get("items")), schema.get("additionalProperties")
    kind = str(schema.get("type", "string"))
    if "type" in items:
        return f"{kind}[{items['type']}]"
    return kind if others is None else f"{kind}[{_mapping(others).get('type', 'string')}]"


def _python(docs: Sequence[Mapping[str, object]]) -> str:
    return "\n\n".join(part for doc in docs for part in ("".join(_python_function(doc)), "\n"))


def _python_function(doc: Mapping[str, object]) -> Iterator[str]:
    yield f'# Function: {doc["name"]}\n    """\n    {doc.get("description", "")}\n\n'
    if properties := _mapping(_mapping(doc.get("parameters")).get("properties")):
        yield "    Args:\n"
        yield from _python_parameters(properties, " " * 8)
    yield '    """\n'


def _python_parameters(properties: Mapping[str, object], indent: str) -> Iterator[str]:
    for name, parameter in properties.items():
        schema = _mapping(parameter)
        default = f", default={schema['default']!r}" if "default" in schema else ""
        yield f"{indent}{name} ({_python_type(schema)}{default}): {_described(schema)}\n"
        yield from _python_parameters(_mapping(schema.get("properties")), indent + " " * 4)


_PYTHON_TYPES = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}


def _python_type(schema: Mapping[str, object]) -> str:
    kind = str(schema.get("type", "string"))
    if kind in ("array", "list", "tuple") and "items" in schema:
        return f"list[{_python_type(_mapping(schema['items']))}]"
    if kind in ("object", "dict"):
        others = schema.get("additionalProperties")
        return "dict" if others is None else f"dict[str, {_python_type(_mapping(others))}]"
    return _PYTHON_TYPES.get(kind, kind)


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


_FORMS: Mapping[Docs, Callable[[Sequence[Mapping[str, object]]], str]] = {
    Docs.PYTHON: _python,
    Docs.XML: _xml,
    Docs.JSON: _json,
}
