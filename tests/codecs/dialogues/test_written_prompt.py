"""Written prompts: what is read of an answer, what goes back, and the frame around sentences of our own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_fcbench.codecs.dialogues.tools import (
    write_declaration_text,
    write_result_text,
    write_value,
)
from pytest_fcbench.codecs.dialogues.written_prompt import (
    WRITTEN_FAMILIES,
    DocNotation,
    ReadAnswer,
    join_all_as_user,
    name_model_turns,
    read_behind_reasoning,
    read_numbered_calls,
    read_reasoned_calls,
    read_reasoned_text,
    read_tagged_calls,
    show_hammer_docs,
    show_properties,
    split_reasoning,
)
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.models.official_models import list_official_families
from tests.cases import each_case
from tests.codecs.dialogues.holding import BELL, LAMP_CALL, SHORT, open_family, say_more, show_body

MODELS = [
    model
    for family in list_official_families()
    if family.handler in WRITTEN_FAMILIES
    for model in family.models[:1]
]
TAGGED = '<tool_call>\n{"name": "f", "arguments": {"a": "\N{SNOWMAN}"}}\n</tool_call>'


def show_prompt(model: str, *, repaired: bool = False, preamble: str = "") -> str:
    """Return the prompt behind an answer, its result and a second turn."""
    dialogue = open_family(
        model, preamble=preamble, repaired=repaired, texts=None if "Llama-3.1" not in model else 7
    )
    dialogue.build_request(0, 0)
    dialogue.add_answer(Completion(text="Well."))
    dialogue.add_results([LAMP_CALL], ["lit"])
    say_more(dialogue, "Ring!")
    return str(show_body(dialogue)["prompt"])


# Frames


TEXT_COUNTS = {
    "BitAgent/BitAgent-Bounty-8B": 6,
    "Salesforce/Llama-xLAM-2-70b-fc-r": 6,
    "Salesforce/xLAM-2-32b-fc-r": 6,
    "ThinkAgents/ThinkAgent-1B": 6,
    "meta-llama/Llama-3.1-8B-Instruct-FC": 7,
}
"""The numbers of sentences of families whose frame names each of them."""

QWEN_HEAD = '<|im_start|>system\n<text 2>\n{"name": "home.lamp"'
QWEN_TAIL = (
    "<text 3><|im_start|>user\nLight!<|im_end|>\n<|im_start|>assistant\nWell.<|im_end|>\n"
    "<|im_start|>user\n<tool_response>\nlit\n</tool_response><|im_end|>\n"
    "<|im_start|>user\nRing!<|im_end|>\n<|im_start|>assistant\n"
)


def test_the_frame_of_qwen() -> None:
    prompt = show_prompt("Qwen/Qwen3-8B-FC")
    assert prompt.startswith(QWEN_HEAD)
    assert prompt.endswith(QWEN_TAIL)
    with_system = show_prompt("Qwen/Qwen3-8B-FC", preamble="Be kind.")
    assert with_system.startswith("<|im_start|>system\nBe kind.\n\n<text 2>")


@each_case(
    ("model", "tail"),
    [
        (
            "meta-llama/Llama-3.3-70B-Instruct-FC",
            "<|start_header_id|>ipython<|end_header_id|>\n\nlit<|eot_id|><|start_header_id|>user"
            "<|end_header_id|>\n\nRing!<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
        ),
        (
            "meta-llama/Llama-4-Scout-17B-16E-Instruct-FC",
            "<|header_start|>user<|header_end|>\n\nRing!<|eot|><|header_start|>assistant<|header_end|>\n\n",
        ),
        ("microsoft/phi-4", "<|im_start|>user<|im_sep|>Ring!<|im_end|>\n<|im_start|>assistant<|im_sep|>"),
        ("microsoft/Phi-4-mini-instruct", "<|tool|>lit<|end|><|user|>Ring!<|end|><|assistant|>"),
        (
            "google/gemma-3-27b-it",
            "<start_of_turn>assistant\nWell.<end_of_turn>\n<start_of_turn>tool\nlit<end_of_turn>\n"
            "<start_of_turn>user\nRing!<end_of_turn>\n<start_of_turn>model\n",
        ),
        (
            "deepseek-ai/DeepSeek-R1",
            "<｜Assistant｜>Well.<｜end▁of▁sentence｜><｜User｜>[{'role': 'tool', "
            "'name': 'home.lamp(on=True)', 'content': 'lit'}]<｜User｜>Ring!<｜Assistant｜><think>\n",
        ),
        ("THUDM/glm-4-9b-chat", "<|assistant|>\nWell.<|tool|>\nlit<|user|>\nRing!<|assistant|>"),
        (
            "ibm-granite/granite-20b-functioncalling",
            "ASSISTANT:\nWell.\n\nTOOL:\nlit\n\nUSER:\nRing!\n\nASSISTANT: ",
        ),
        (
            "google/functiongemma-270m-it-FC",
            "<start_of_turn>model\nWell.<end_of_turn>\n<start_function_response>response:home.lamp(on=True)"
            "{value:<escape>lit<escape>}<end_function_response><start_of_turn>user\nRing!<end_of_turn>\n"
            "<start_of_turn>model\n",
        ),
    ],
)
def test_the_last_turns_of_a_frame(model: str, tail: str) -> None:
    assert show_prompt(model).endswith(tail)


@each_case("model", MODELS)
def test_every_frame_holds_the_question_and_goes_on(model: str) -> None:
    dialogue = open_family(model, SHORT, texts=TEXT_COUNTS.get(model))
    first = show_body(dialogue)
    assert "Light!" in str(first)
    assert first["temperature"] == 0.001
    say_more(dialogue, "Ring!")
    second = show_body(dialogue)
    assert ("Ring!" in str(second)) == (not model.startswith("ThinkAgents"))


# Faults and what is left out of them


def test_granite_3_ends_without_the_mark_of_an_answer() -> None:
    mark = "<|start_of_role|>assistant<|end_of_role|>"
    assert not show_prompt("ibm-granite/granite-3.2-8b-instruct").endswith(mark)
    assert show_prompt("ibm-granite/granite-3.2-8b-instruct", repaired=True).endswith(mark)


def test_gemma_gets_roles_that_its_template_knows() -> None:
    told, repaired = (show_prompt("google/gemma-3-27b-it", repaired=each) for each in (False, True))
    assert "<start_of_turn>assistant\nWell.<end_of_turn>\n<start_of_turn>tool\nlit" in told
    assert "<start_of_turn>model\nWell.<end_of_turn>\n<start_of_turn>user\nlit" in repaired


@each_case(
    ("text", "kept"),
    [
        ('<function_call> {"name": "no_function", "arguments": {}}', ""),
        (
            '<function_call> {"name": "ring", "arguments": {}} <function_call> { "name" : "no_function" }',
            '<function_call> {"name": "ring", "arguments": {}} ',
        ),
        ('<function_call> {"name": "no_functions"}', '<function_call> {"name": "no_functions"}'),
        ("There is no_function.", "There is no_function."),
    ],
)
def test_granite_20b_ends_a_turn_with_no_function(text: str, kept: str) -> None:
    for repaired, judged in ((False, text), (True, kept)):
        dialogue = open_family("ibm-granite/granite-20b-functioncalling", repaired=repaired)
        dialogue.build_request(0, 0)
        completion = dialogue.add_answer(Completion(text=text))
        assert completion.text == judged
    assert text.strip() in show_body(dialogue)["prompt"]


def test_hammer_tells_defaults_once_more_at_each_request() -> None:
    doc = {
        "name": "f",
        "description": "Do.",
        "parameters": {
            "properties": {
                "a": {"type": "string", "description": "A.", "default": "x"},
                "b": {"type": "dict", "properties": {"c": {"type": "string"}}, "required": ["c"]},
            },
            "required": ["a"],
        },
    }
    texts = ("", "", "usually '")
    assert show_hammer_docs([doc], DocNotation(texts, 2)) == [
        {
            "name": "f",
            "description": "Do.",
            "parameters": {
                "a": {
                    "type": "string",
                    "description": "A.usually 'x'usually 'x'",
                    "default": "x",
                    "required": True,
                },
                "b": {"c": {"type": "string", "required": True}},
            },
        }
    ]
    (once,) = (show_hammer_docs([doc], DocNotation(texts, 1)),)
    assert "usually 'x'usually" not in str(once)


def test_think_agent_forgets_all_but_the_first_message() -> None:
    model = "ThinkAgents/ThinkAgent-1B"
    dialogue, repaired = (open_family(model, texts=6, repaired=each) for each in (False, True))
    for each in (dialogue, repaired):
        say_more(each, "Ring!")
    assert "Ring!" not in show_body(dialogue)["prompt"]
    assert "Ring!" in show_body(repaired)["prompt"]


# Answers


@each_case(
    ("text", "parts"),
    [
        ("a()", ("", "a()")),
        ("<think>\nHm.\n</think>\n\na()", ("Hm.", "a()")),
        ("Hm.</think>a()", ("Hm.", "a()")),
        ("<think>one</think>two</think>\nthree", ("one", "three")),
    ],
)
def test_reasoning_ends_at_the_last_mark(text: str, parts: tuple[str, str]) -> None:
    assert split_reasoning(text) == parts
    read = read_reasoned_text(text)
    assert (read.text, read.message["content"], read.reasoning) == (parts[1], parts[1], parts[0] or None)


def test_calls_go_back_without_the_text_beside_them() -> None:
    read = read_reasoned_calls(f"<think>Hm.</think>Well. {TAGGED}")
    assert read.text == f"Well. {TAGGED}"
    assert read.message["content"] == ""
    assert read.message["calls"] == [{"name": "f", "arguments": '{"a": "\\u2603"}'}]
    unescaped = read_reasoned_calls(TAGGED, writes_ascii=False).message["calls"]
    assert unescaped == [{"name": "f", "arguments": '{"a": "\N{SNOWMAN}"}'}]


@each_case(
    "text",
    [
        "f(a=1)",
        '<tool_call>{"name": "f", "arguments": {}}</tool_call>',
        "<tool_call>\nno JSON\n</tool_call>",
        '<tool_call>\n{"name": "f"}\n</tool_call>',
    ],
)
def test_what_is_no_call_goes_back_as_text(text: str) -> None:
    assert read_tagged_calls(text).message["calls"] == []
    assert read_tagged_calls(text).message["content"] == text


def test_arguments_that_are_a_text_stay_or_are_quoted() -> None:
    text = '<tool_call>\n{"name": "f", "arguments": "x"}\n</tool_call>'
    assert read_tagged_calls(text).message["calls"] == [{"name": "f", "arguments": "x"}]
    quoted = read_tagged_calls(text, quotes_texts=True).message["calls"]
    assert quoted == [{"name": "f", "arguments": '"x"'}]


def test_deepseek_goes_back_whole() -> None:
    read = read_behind_reasoning("Hm.</think>\na()")
    assert read == ReadAnswer("\na()", {"role": "assistant", "content": "Hm.</think>\na()"}, "Hm.")
    assert read_behind_reasoning("a()") == ReadAnswer("a()", {"role": "assistant", "content": "a()"})


def test_numbered_calls_have_ids_of_nine_signs() -> None:
    text = '[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]'
    read = read_numbered_calls(text)
    ids = read.message["ids"]
    assert isinstance(ids, list)
    assert len(set(ids)) == 2
    assert all(len(each) == 9 and each.isalnum() for each in ids)
    assert str(read.message["content"]).startswith('[TOOL_CALLS][{"name": "f", "arguments": {}, "id": "')
    assert read_numbered_calls(text) == read


@each_case("text", ["Well.", "3", "[1]", '{"name": "f"}', "[" * 5000])
def test_other_answers_have_no_ids(text: str) -> None:
    assert read_numbered_calls(text).message == {"role": "assistant", "content": text}


# Messages and docs


def test_turns_are_joined_and_renamed() -> None:
    said = [{"role": role, "content": role} for role in ("system", "user", "user", "assistant")]
    assert join_all_as_user(said) == [
        {"role": "user", "content": "system\n\nuser\n\nuser"},
        {"role": "assistant", "content": "assistant"},
    ]
    assert [each["role"] for each in name_model_turns(said)] == ["system", "user", "model"]


def test_properties_stand_alone() -> None:
    doc = {"name": "f", "description": "Do.", "parameters": {"properties": {"a": {}}, "required": ["a"]}}
    assert show_properties([doc], DocNotation((), 1)) == [
        {"name": "f", "description": "Do.", "parameters": {"a": {}}}
    ]


def test_late_functions_are_text_of_the_user() -> None:
    dialogue = open_family("Qwen/Qwen3-8B-FC")
    dialogue.add_functions([BELL])
    prompt = str(show_body(dialogue)["prompt"])
    assert "<|im_start|>user\n[{'name': 'bell'" in prompt
    assert "There is more now.<|im_end|>" in prompt


def test_the_models_own_template_gets_docs_and_messages() -> None:
    dialogue = open_family("tiiuae/Falcon3-10B-Instruct-FC")
    asked = dialogue.build_request(0, 0)
    assert asked.wire
    assert asked.wire.api is Api.CHAT
    assert asked.wire.body["messages"] == [{"role": "user", "content": "Light!"}]
    (shown,) = asked.wire.body["chat_template_kwargs"]["tools"]  # type: ignore[index]
    assert shown["name"] == "home.lamp"
    assert "tools" not in asked.wire.body


# FunctionGemma's notation


@each_case(
    ("value", "written"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ("a", "<escape>a<escape>"),
        ([1, "a"], "[1,<escape>a<escape>]"),
        ({"b": 1, "a": False}, "{<escape>a<escape>:false,<escape>b<escape>:1}"),
    ],
)
def test_values_of_functiongemma(value: object, written: str) -> None:
    assert write_value(value) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('{"b": 1, "a": "x"}', "{a:<escape>x<escape>,b:1}"),
        ("[1]", "{value:<escape>[1]<escape>}"),
        ("no JSON", "{value:<escape>no JSON<escape>}"),
    ],
)
def test_results_of_functiongemma(text: str, written: str) -> None:
    assert write_result_text(text) == written


def test_a_declaration_of_functiongemma() -> None:
    properties = {
        "o": {"type": "dict", "properties": {"i": {"type": "string"}}, "required": ["i"]},
        "p": {"type": "object", "properties": {"i": {"type": "string"}}, "required": ["i"]},
        "s": {"type": "string", "description": "S.", "enum": ["x"]},
        "l": {"type": "array", "items": {"type": "string", "enum": None, "x": 1}},
        "m": {
            "type": "array",
            "items": {"type": ["string"], "properties": {"i": {}}, "required": ["i"]},
        },
        "n": {"type": "array"},
        "type": {"type": "string"},
    }
    doc = {
        "name": "f",
        "description": "Do.",
        "parameters": {"type": "dict", "properties": properties, "required": ["s"]},
    }
    e = "<escape>{}<escape>".format
    inner = f"i:{{description:{e('')},type:{e('STRING')}}}"
    assert write_declaration_text(doc) == (
        f"declaration:f{{description:{e('Do.')},properties:{{"
        f"l:{{description:{e('')},items:{{type:{e('STRING')},x:1}},type:{e('ARRAY')}}},"
        f"m:{{description:{e('')},items:{{properties:{{i:{{description:{e('')},type:{e('')}}}}},"
        f"required:[{e('i')}],type:[{e('STRING')}]}},type:{e('ARRAY')}}},"
        f"n:{{description:{e('')},type:{e('ARRAY')}}},"
        f"o:{{description:{e('')},type:{e('DICT')}}},"
        f"p:{{description:{e('')},properties:{{{inner}}},required:[{e('i')}],type:{e('OBJECT')}}},"
        f"s:{{description:{e('S.')},enum:[{e('x')}],type:{e('STRING')}}}"
        f"}},required:[{e('s')}],type:{e('DICT')}}}"
    )
    assert write_declaration_text({"name": "g"}) == "declaration:g{description:<escape><escape>}"


READERS: list[Callable[[str], ReadAnswer]] = [
    *(read_reasoned_text, read_reasoned_calls, read_tagged_calls, read_behind_reasoning, read_numbered_calls)
]


@each_case("read", READERS)
@each_case("text", ["", "</think>", "<tool_call>\n[[[\n</tool_call>", "[null]", "\ud83c</think>"])
def test_no_answer_breaks_a_reader(read: Callable[[str], ReadAnswer], text: str) -> None:
    assert read(text).message["role"] == "assistant"


def nest_lists(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(("depth", "is_read"), [(190, True), (201, False)])
def test_values_are_read_to_the_same_depth_on_every_version_of_python(depth: int, is_read: bool) -> None:
    """A depth that ``json`` reads on some of them."""
    deep = f'{{"name": "f", "arguments": {{"x": {nest_lists(depth)}}}}}'
    assert bool(read_tagged_calls(f"<tool_call>\n{deep}\n</tool_call>").message["calls"]) is is_read
    assert ("ids" in read_numbered_calls(f"[{deep}]").message) is is_read
    assert write_result_text(deep).startswith("{value:") is not is_read
