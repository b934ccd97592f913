"""Find parameters whose values are free text: what was logged is one right value of very many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.tools.importing.next_steps import NextStep
from pytest_fcbench.tools.importing.offered_tools import find_parameters, name_tool

Parameter: TypeAlias = tuple[str, str]
"""A function and the name of its parameter."""

_MOST_DISTINCT = 1000
_LONG_WORDS = 5


@dataclass(slots=True)
class _Values:
    times: int = 0
    long: int = 0
    said: int = 0
    distinct: set[int] = field(default_factory=set)


class ValueStatistics:
    """How long and how various the texts are that a log gives to each parameter."""

    def __init__(self) -> None:
        self._by_parameter: dict[Parameter, _Values] = {}

    def add_step(self, step: NextStep) -> tuple[Parameter, ...]:
        """Add the texts in the calls of a step, and return their parameters."""
        conversation_text = " ".join(message.content for message in step.said)
        schemas = {name_tool(tool): find_parameters(tool) for tool in step.tools}
        parameters = []
        for call in step.calls:
            for name, text in call.arguments.items():
                schema = as_mapping(schemas[call.name].get(name))
                # A text that the schema limits is none that can be put in many ways.
                if not isinstance(text, str) or schema.keys() & {"enum", "const", "format", "pattern"}:
                    continue
                parameters.append((call.name, name))
                values = self._by_parameter.setdefault(parameters[-1], _Values())
                values.times += 1
                values.long += len(text.split()) >= _LONG_WORDS
                values.said += text in conversation_text
                if len(values.distinct) < _MOST_DISTINCT:
                    values.distinct.add(hash(text))
        return tuple(parameters)

    def find_free_texts(self) -> Mapping[Parameter, int]:
        """Return the parameters with free text, each with the number of its values.

        Most of their values have five words or more, most differ from each other, and most do not occur word
        for word in what was said before.
        """
        return {
            parameter: values.times
            for parameter, values in sorted(self._by_parameter.items())
            if 2 * values.long > values.times
            and 2 * len(values.distinct) > min(values.times, _MOST_DISTINCT)
            and 2 * values.said < values.times
        }
