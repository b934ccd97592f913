"""How each family with an API is asked: a row for each official class.

Source: the classes of ``bfcl_eval.model_handler.api_inference`` (2026.3.23), driven and recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcbench.codecs.dialogues.api_dialogue import ApiFamily, Parameters
from pytest_fcbench.codecs.dialogues.dialogue import TEMPERATURE, Opening
from pytest_fcbench.codecs.dialogues.forms.chat import ChatForm, Repeated, ResultIds
from pytest_fcbench.codecs.dialogues.forms.cohere import CohereForm
from pytest_fcbench.codecs.dialogues.forms.converse import ConverseForm
from pytest_fcbench.codecs.dialogues.forms.form import Item
from pytest_fcbench.codecs.dialogues.forms.generate_content import GenerateContentForm
from pytest_fcbench.codecs.dialogues.forms.messages import MessagesForm
from pytest_fcbench.codecs.dialogues.forms.responses import ResponsesForm
from pytest_fcbench.codecs.dialogues.tools import (
    write_bare_tool,
    write_declaration,
    write_described_tool,
    write_firefunction_tool,
    write_flat_tool,
    write_palmyra_tool,
    write_schema_tool,
    write_spec_tool,
    write_unconverted_doc,
)
from pytest_fcbench.codecs.presenting import WireDoc
from pytest_fcbench.domain.prompting import FamilyMember, Mode

_BOTH, _FC, _PROMPT = frozenset(Mode), frozenset({Mode.FC}), frozenset({Mode.PROMPT})

_STORED = {"store": False}

_NOVA_REASONING = {
    "additionalModelRequestFields": {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}}
}


def send_nothing(member: FamilyMember, mode: Mode) -> Parameters:
    """Return no parameter at all."""
    return {}


def send_stored_temperature(member: FamilyMember, mode: Mode) -> Parameters:
    """Return the temperature, and that nothing is to be stored."""
    return {"temperature": TEMPERATURE, **_STORED}


def _choose_qwen_agent_parameters(member: FamilyMember, mode: Mode) -> Parameters:
    thinks = "nothink" not in member.model
    temperature, top_p, presence = (0.6, 0.95, 0.0) if thinks else (0.7, 0.8, 1.5)
    sampling = {"temperature": temperature, "top_p": top_p, "top_k": 20, "repetition_penalty": 1.0}
    template = {"chat_template_kwargs": {"enable_thinking": thinks}}
    return {**sampling, "presence_penalty": presence, "max_tokens": 16384, **template}


_NEMOTRON_TEXT = 0


def begin_for_nemotron(opening: Opening, docs: Sequence[WireDoc], messages: Sequence[Item]) -> Sequence[Item]:
    """Put the docs and the first message of the user into one system text (official, a fault)."""
    first = next((place for place, each in enumerate(messages) if each["role"] == "user"), None)
    user_text = "" if first is None else str(messages[first]["content"])
    text = opening.texts[_NEMOTRON_TEXT].replace("{functions}", repr(list(docs)))
    others = [each for place, each in enumerate(messages) if place != first or opening.member.repaired]
    user_prompt = "" if opening.member.repaired else user_text
    return [{"role": "system", "content": text.replace("{user_prompt}", user_prompt)}, *others]


def begin_for_dm_cito(opening: Opening, docs: Sequence[WireDoc], messages: Sequence[Item]) -> Sequence[Item]:
    """Put the docs between two texts ahead of everything else."""
    before, after = opening.texts
    system = f"{before.replace('{}', repr(list(docs)), 1)}{after}"
    if messages and messages[0]["role"] == "system":
        return [{"role": "system", "content": f"{system}\n\n{messages[0]['content']}"}, *messages[1:]]
    return [{"role": "system", "content": system}, *messages]


_OPENAI = ApiFamily(ChatForm(), send_stored_temperature)

_QWEN_AGENT = ApiFamily(ChatForm(result_ids=ResultIds.NAME_AS_ID), _choose_qwen_agent_parameters)

API_FAMILIES: Mapping[str, ApiFamily] = {
    "OpenAIResponsesHandler": ApiFamily(
        ResponsesForm(),
        # Official: by parts of the name; models that reason take no temperature.
        lambda member, mode: (
            {**_STORED, "reasoning": {"summary": "auto"}, "include": ["reasoning.encrypted_content"]}
            if any(part in member.model for part in ("o3", "o4-mini", "gpt-5"))
            else send_stored_temperature(member, mode)
        ),
        write_flat_tool,
    ),
    "ClaudeHandler": ApiFamily(
        MessagesForm(),
        lambda member, mode: {"temperature": TEMPERATURE, "max_tokens": 64000},
        write_schema_tool,
        joins_users_in=_BOTH,
        sends_no_tools_as_list=True,
    ),
    "GeminiHandler": ApiFamily(
        GenerateContentForm(),
        lambda member, mode: {
            "generationConfig": {
                "temperature": TEMPERATURE,
                "thinkingConfig": {"include_thoughts": True},
            }
        },
        write_declaration,
    ),
    "MistralHandler": ApiFamily(
        ChatForm(Repeated.MISTRAL, ResultIds.NAME_AND_ID),
        lambda member, mode: {"temperature": TEMPERATURE, "stream": False},
        write_bare_tool,
        sends_no_tools_as_list=True,
    ),
    "CohereHandler": ApiFamily(
        CohereForm(),
        lambda member, mode: {
            # Official: of two names in the registry the ending is cut only here.
            "model": member.name.replace("-FC", ""),
            "stream": False,
            "temperature": TEMPERATURE,
            "citation_options": {"mode": "OFF"},
        },
        write_bare_tool,
        sends_no_tools_as_list=True,
    ),
    "NovaHandler": ApiFamily(
        ConverseForm(),
        lambda member, mode: {
            "inferenceConfig": {"temperature": TEMPERATURE},
            **(_NOVA_REASONING if "nova-2-lite" in member.name else {}),
        },
        write_spec_tool,
        joins_users_in=_BOTH,
    ),
    "DeepSeekAPIHandler": ApiFamily(
        ChatForm(Repeated.WITHOUT_REASONING),
        lambda member, mode: {"temperature": TEMPERATURE} if mode is Mode.FC else {},
        joins_users_in=_PROMPT,
    ),
    "GrokHandler": ApiFamily(ChatForm(Repeated.WITHOUT_REASONING), send_stored_temperature),
    "OpenAICompletionsHandler": _OPENAI,
    "FunctionaryHandler": _OPENAI,
    "KimiHandler": _OPENAI,
    "GoGoAgentHandler": _OPENAI,
    "MiningHandler": _OPENAI,
    "GLMAPIHandler": ApiFamily(
        ChatForm(),
        lambda member, mode: (
            {**_STORED, "thinking": {"type": "enabled"}}
            if member.name == "glm-4.6"
            else send_stored_temperature(member, mode)
        ),
    ),
    "QwenAPIHandler": ApiFamily(
        ChatForm(Repeated.WITH_REASONING),
        lambda member, mode: {
            "stream": True,
            "stream_options": {"include_usage": True},
            "enable_thinking": True,
            **({"parallel_tool_calls": True} if mode is Mode.FC else {}),
        },
        sends_no_tools_as_list=True,
    ),
    "NanbeigeAPIHandler": ApiFamily(ChatForm(Repeated.WITH_REASONING), send_nothing),
    "NovitaHandler": ApiFamily(ChatForm(), write_tool=write_described_tool),
    "NvidiaHandler": ApiFamily(ChatForm(), send_stored_temperature, joins_users_in=_BOTH),
    "LingAPIHandler": ApiFamily(
        ChatForm(Repeated.WITHOUT_REASONING),
        # Official: the handler knows the server's name of the one model that it takes.
        lambda member, mode: {"model": "Ling-lite-1.5-250604"},
        joins_users_in=_BOTH,
    ),
    "NemotronHandler": ApiFamily(
        ChatForm(),
        send_stored_temperature,
        joins_users_in=_BOTH,
        sends_tools=False,
        begin=begin_for_nemotron,
        prompts=False,
        makes_system_user=True,
        is_silent_on_results=True,
        mode=Mode.FC,
    ),
    "FireworksHandler": ApiFamily(
        ChatForm(Repeated.CALLS_ALONE, ResultIds.NONE), write_tool=write_firefunction_tool
    ),
    "WriterHandler": ApiFamily(
        ChatForm(),
        lambda member, mode: {"temperature": TEMPERATURE, "tool_choice": "auto"},
        write_palmyra_tool,
    ),
    "DMCitoHandler": ApiFamily(
        ChatForm(), send_stored_temperature, begin=begin_for_dm_cito, prompts=False, mode=Mode.PROMPT
    ),
    "GorillaHandler": ApiFamily(
        ChatForm(result_ids=ResultIds.NONE, tools_member="functions"), write_tool=write_unconverted_doc
    ),
    "QwenAgentThinkHandler": _QWEN_AGENT,
}
"""Families by the official class."""

REPAIRED_FAMILIES: Mapping[str, ApiFamily] = {"QwenAgentNoThinkHandler": _QWEN_AGENT}
"""Families by official classes that cannot be built, as they were meant."""
