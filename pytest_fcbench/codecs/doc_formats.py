"""Function docs as text of a system prompt: JSON, XML, or Python comments.

Texts are byte for byte those of ``format_function_doc``, with its oddities: in XML nothing is escaped, and
commas in a tag are dropped, also those of a default value; of nested parameters only those of objects are
shown; a list of accepted words is written as Python writes lists.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.domain.prompting import Docs


def format_docs(docs: Sequence[Mapping[str, object]], form: Docs) -> str:
    """Write docs (``name``, ``description``, ``parameters``, ...) in one form."""
    match form:
        case Docs.JSON:
            return json.dumps(docs, indent=4)
        case Docs.XML:
            return "\n".join(
                f'<function name="{doc["name"]}">\n  <desc>{doc.get("description", "")}</desc>\n  <params>\n'
                f"{''.join(_write_xml_parameters(as_mapping(doc.get('parameters')), ' ' * 4))}"
                "  </params>\n</function>\n"
                for doc in docs
            )
        case Docs.PYTHON:
            texts = []
            for doc in docs:
                properties = as_mapping(as_mapping(doc.get("parameters")).get("properties"))
                parameter_text = "".join(_write_python_parameters(properties, " " * 8))
                text = f'# Function: {doc["name"]}\n    """\n    {doc.get("description", "")}\n\n'
                text += f"    Args:\n{parameter_text}" if properties else ""
                # Official: line breaks are elements of the list that is joined.
                texts += [f'{text}    """\n', "\n"]
            return "\n\n".join(texts)


def _describe(schema: Mapping[str, object]) -> str:
    # Official: in every form the words are written as a Python list.
    words = f" Enum values: {schema['enum']}." if "enum" in schema else ""
    return f"{schema.get('description', '')}{words}"


def _write_xml_parameters(owner: Mapping[str, object], indent: str) -> Iterator[str]:
    required_names = owner.get("required")
    for name, parameter in as_mapping(owner.get("properties")).items():
        schema = as_mapping(parameter)
        # Where nothing says which are required, all are.
        is_required = required_names is None or (
            isinstance(required_names, Container) and name in required_names
        )
        items, others = as_mapping(schema.get("items")), schema.get("additionalProperties")
        kind = str(schema.get("type", "string"))
        if "type" in items:
            kind = f"{kind}[{items['type']}]"
        elif others is not None:
            kind = f"{kind}[{as_mapping(others).get('type', 'string')}]"
        tag = f'name="{name}" type="{kind}" required="{str(is_required).lower()}"'
        if "default" in schema:
            tag += f' default="{schema["default"]!r}"'
        # Official: commas are dropped from the whole tag, also those of a default.
        yield f"{indent}<param {tag.replace(',', '')}>\n{indent}  <desc>{_describe(schema)}</desc>\n"
        if "properties" in schema:
            yield f"{indent}  <params>\n"
            yield from _write_xml_parameters(schema, indent + " " * 4)
            yield f"{indent}  </params>\n"
        yield f"{indent}</param>\n"


def _write_python_parameters(properties: Mapping[str, object], indent: str) -> Iterator[str]:
    for name, parameter in properties.items():
        schema = as_mapping(parameter)
        default = f", default={schema['default']!r}" if "default" in schema else ""
        yield f"{indent}{name} ({_name_python_type(schema)}{default}): {_describe(schema)}\n"
        # Official: members of objects are shown, those of the elements of a list are not.
        yield from _write_python_parameters(as_mapping(schema.get("properties")), indent + " " * 4)


_PYTHON_TYPES = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}


def _name_python_type(schema: Mapping[str, object]) -> str:
    kind = str(schema.get("type", "string"))
    if kind in ("array", "list", "tuple") and "items" in schema:
        return f"list[{_name_python_type(as_mapping(schema['items']))}]"
    if kind in ("object", "dict"):
        others = schema.get("additionalProperties")
        return "dict" if others is None else f"dict[str, {_name_python_type(as_mapping(others))}]"
    return _PYTHON_TYPES.get(kind, kind)
