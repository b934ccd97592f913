"""Every prompt of format sensitivity is what bfcl-eval makes, every reading of an answer what it reads."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from inspect import getsource
from pathlib import Path

from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.decoders.registry import read_official
from pytest_fcbench.codecs.decoders.syntax import WRONG_FORMAT, Calls
from pytest_fcbench.codecs.rendering import render_in_format
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import FORMATS, AnswerNotation, Mode, PromptFormat, Prompting
from pytest_fcbench.domain.transcript import Call, Completion
from pytest_fcbench.suites.bfcl import official_rows
from pytest_fcbench.suites.suite import Suite
from tests.parity.official_package import NEEDS_OFFICIAL, run_official

CATEGORY = CATEGORIES["format_sensitivity"]

PROMPTS = """
import json
from bfcl_eval.model_handler.utils import system_prompt_pre_processing_chat_model
from bfcl_eval.utils import load_dataset_entry, load_ground_truth_entry

judged = load_dataset_entry("format_sensitivity", include_language_specific_hint=False)
truths = load_ground_truth_entry("format_sensitivity")
for entry, row, truth in zip(load_dataset_entry("format_sensitivity"), judged, truths):
    messages = system_prompt_pre_processing_chat_model(entry["question"][0], entry["function"], entry["id"])
    print(json.dumps([entry["id"], messages, row, truth["ground_truth"]]))
"""


def make_canonical(value: object) -> object:
    """Return a value as JSON, with its types and its order; the text of this runs officially, too."""
    if isinstance(value, dict):
        return [
            "dict",
            *[[make_canonical("**" if key is None else key), make_canonical(value[key])] for key in value],
        ]
    if isinstance(value, set):
        return ["set", *sorted(map(repr, value))]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(make_canonical, value)]
    return repr(value)


DECODED = """
import json, sys, warnings
from bfcl_eval.constants.enums import ReturnFormat
from bfcl_eval.model_handler.utils import default_decode_ast_prompting
from bfcl_eval.utils import is_function_calling_format_output

warnings.simplefilter("ignore")
for line in sys.stdin:
    text, returned, tagged = json.loads(line)
    try:
        calls = default_decode_ast_prompting(text, ReturnFormat(returned), tagged)
    except Exception:
        found = "failed"
    else:
        if is_function_calling_format_output(calls):
            named = [(*call.items(),)[0] for call in calls]
            named = [(name if isinstance(name, str) else json.dumps(name), told) for name, told in named]
            found = [[name, make_canonical(told)] for name, told in named]
        else:
            found = "wrong format"
    print(json.dumps(found))
"""


@NEEDS_OFFICIAL
def test_prompts_rows_and_truths_are_the_official_ones(bfcl: Suite, pack_cache: Path, tmp_path: Path) -> None:
    made = zip(bfcl.load(CATEGORY), official_rows(pack_cache, CATEGORY), strict=True)
    found = 0
    for (entry, row), right in zip(made, run_official(PROMPTS, tmp_path), strict=True):
        assert entry.variation
        prompting = Prompting.make_default(Mode.PROMPT).use_format(entry.variation.format)
        asked = presenting.build_first_request(entry, bfcl.wording, prompting)
        assert [entry.id, list(asked.messages), *row[1:]] == right
        assert list(row[1]) == list(right[2])  # written in the same order
        found += 1
    assert found == 5_200


# Readings

_VALUES: tuple[object, ...] = (
    *(
        1,
        -2,
        2.5,
        True,
        False,
        None,
        "",
        "Bergen",
        "a, b",
        "it's",
        'say "x"',
        "a\\n\n\tb",
        "<b> & c",
        "]",
        "}]",
    ),
    *(
        [],
        {},
        [1, 2],
        [[1.5], [2]],
        ["x", "y"],
        {"a": 1},
        {"a": [{"b": 2}]},
        [{"a": 1}],
        (1, 2),
        "</TOOLCALL>",
    ),
)
_NAMES = ("f", "g.h", "math.factorial", "a_b")
_PIECES = (
    *(
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
        ",",
        ", {",
        "}, {",
        "=",
        ":",
        "'",
        '"',
        "`",
        "```",
        "\n",
        " ",
        "\t",
        "\\",
    ),
    *("```json\n", "```xml\n", "```python\n", "Here you are: ", "<TOOLCALL>", "</TOOLCALL>", "<functions>"),
    *("</functions>", "<params>", "</params>", "<function>", '<function name="k">', "</function>", "<param>"),
    *(
        '<param name="x">',
        "</param>",
        '<param name="n" value="1"/>',
        "&",
        "&amp;",
        "<",
        ">",
        "/>",
        "<!-- c -->",
    ),
    *(' type="integer"', ' type="boolean"', ' type="array"', ' type="list"', ' type="null"', ' type="float"'),
    *(
        "integer",
        "dict",
        "True",
        "true",
        "null",
        "None",
        "NaN",
        "1",
        "-",
        "1e5",
        '"function"',
        '"parameters"',
    ),
    *('{"function": "f"}', '{"function": "f", "parameters": []}', '{"function": null, "parameters": {}}'),
    *('"x": ', "f(x=1)", "f(1)", "f(**d)", "lambda: 0", "{1, 2}", "b'x'", "1+2j", "é", "\ud800", "\0", "\r"),
)


def draw_calls(chance: random.Random) -> list[Call]:
    return [
        Call(
            chance.choice(_NAMES),
            {name: chance.choice(_VALUES) for name in chance.sample("xyz", chance.randint(0, 3))},
        )
        for _ in range(chance.choice((0, 1, 1, 1, 2, 3)))
    ]


def mutate_text(text: str, chance: random.Random) -> str:
    """Return a text with some of it cut, doubled, moved or replaced."""
    for _ in range(chance.choice((0, 1, 1, 1, 2, 2, 3, 6))):
        a, b = sorted(chance.randint(0, len(text)) for _ in range(2))
        b = min(b, a + chance.choice((0, 1, 5, 40)))
        inserted = chance.choice((chance.choice(_PIECES), chance.choice(_PIECES), text[a:b] * 2, ""))
        at = chance.choice((a, a, a, 0, len(text)))
        text = text[:at] + inserted + text[max(at, b) if at == a else at :]
    return text[:600]


def draw_texts(count: int) -> Iterator[tuple[str, PromptFormat]]:
    """Yield answers in each of the eight forms in turn, some put in another form than is asked for."""
    chance = random.Random(8)
    for number in range(count):
        asked = PromptFormat(list(AnswerNotation)[number % 4], tagged=number % 8 > 3)
        given = chance.choice(FORMATS) if chance.random() < 0.05 else asked
        text = render_in_format(draw_calls(chance), given)
        if chance.random() < 0.05:
            text = json.dumps([{"function": "f", "parameters": chance.choice(_VALUES)}])
        yield mutate_text(text, chance), asked


@NEEDS_OFFICIAL
def test_readings_are_the_official_ones(tmp_path: Path) -> None:
    asked = list(draw_texts(40_000))
    rows = ([text, form.returned, form.tagged] for text, form in asked)
    kinds = {"failed": 0, "wrong format": 0, "calls": 0}
    readings = run_official(getsource(make_canonical) + DECODED, tmp_path, rows)
    for (text, form), right in zip(asked, readings, strict=True):
        reading = read_official(Completion(text=text), form.syntax, Language.PYTHON)
        found: object = "failed"
        if isinstance(reading, Calls):
            found = [[call.name, make_canonical(dict(call.arguments))] for call in reading.calls]
        elif reading.code == WRONG_FORMAT:
            found = "wrong format"
        assert found == right, (form.syntax, text)
        kinds[found if isinstance(found, str) else "calls"] += 1
    assert min(kinds.values()) > 50, kinds
