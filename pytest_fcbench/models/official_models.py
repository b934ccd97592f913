"""The models of the official registry, and how the official handler of each shows names and reads answers.

Source: ``constants/model_config.py`` of bfcl-eval 2026.3.23, whose ids are those of result folders and of the
leaderboard's tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fcbench.codecs.decoders.registry import SYNTAXES
from pytest_fcbench.codecs.dialogues.families import OWN_FAMILIES
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.prompting import Mode, Names


@dataclass(frozen=True, slots=True)
class OfficialFamily:
    """Models that one official handler reads in the same way, or a family of another distribution."""

    handler: str
    """The class in ``bfcl_eval.model_handler``, or the name of the distribution's family."""
    syntax: str
    """A name of ``codecs.decoders.registry.SYNTAXES``, which also decides the mode."""
    names: Names
    models: tuple[str, ...]

    @property
    def mode(self) -> Mode:
        """The mode to which its syntax belongs."""
        reader = SYNTAXES[self.syntax]
        return reader.mode if reader else Mode.FC


_DOTTED, _UNDERSCORED = Names

FAMILIES = (
    OfficialFamily(
        "ArchHandler",
        "arch",
        _DOTTED,
        (
            "katanemo/Arch-Agent-1.5B",
            "katanemo/Arch-Agent-3B",
            "katanemo/Arch-Agent-7B",
            "katanemo/Arch-Agent-32B",
        ),
    ),
    OfficialFamily("BielikHandler", "python", _DOTTED, ("speakleash/Bielik-11B-v2.3-Instruct",)),
    OfficialFamily("BitAgentHandler", "bitagent", _DOTTED, ("BitAgent/BitAgent-Bounty-8B",)),
    OfficialFamily(
        "ClaudeHandler",
        "tool_calls",
        _UNDERSCORED,
        ("claude-opus-4-5-20251101-FC", "claude-sonnet-4-5-20250929-FC", "claude-haiku-4-5-20251001-FC"),
    ),
    OfficialFamily(
        "ClaudeHandler",
        "python",
        _DOTTED,
        ("claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"),
    ),
    OfficialFamily(
        "CohereHandler",
        "cohere",
        _UNDERSCORED,
        ("command-r7b-12-2024-FC", "command-a-03-2025-FC", "command-a-reasoning-08-2025-FC"),
    ),
    OfficialFamily("DeepSeekAPIHandler", "tool_calls", _UNDERSCORED, ("DeepSeek-V3.2-Exp-FC",)),
    OfficialFamily(
        "DeepSeekAPIHandler", "python", _DOTTED, ("DeepSeek-V3.2-Exp", "DeepSeek-V3.2-Exp-thinking")
    ),
    OfficialFamily(
        "DeepseekReasoningHandler", "python_behind_reasoning", _DOTTED, ("deepseek-ai/DeepSeek-R1",)
    ),
    OfficialFamily("DMCitoHandler", "mining", _DOTTED, ("DM-Cito-8B-v3", "DM-Cito-32B-v1")),
    OfficialFamily(
        "Falcon3FCHandler",
        "falcon",
        _DOTTED,
        (
            "tiiuae/Falcon3-10B-Instruct-FC",
            "tiiuae/Falcon3-7B-Instruct-FC",
            "tiiuae/Falcon3-3B-Instruct-FC",
            "tiiuae/Falcon3-1B-Instruct-FC",
        ),
    ),
    OfficialFamily("FireworksHandler", "tool_calls", _DOTTED, ("firefunction-v2-FC",)),
    OfficialFamily(
        "FunctionaryHandler",
        "tool_calls",
        _UNDERSCORED,
        ("meetkai/functionary-small-v3.1-FC", "meetkai/functionary-medium-v3.1-FC"),
    ),
    OfficialFamily("FunctionGemmaHandler", "functiongemma", _DOTTED, ("google/functiongemma-270m-it-FC",)),
    OfficialFamily(
        "GeminiHandler",
        "gemini",
        _UNDERSCORED,
        (
            "gemini-2.5-flash-lite-FC",
            "gemini-2.5-flash-FC",
            "gemini-3-pro-preview-FC",
            "gemini-3.1-flash-lite-preview-FC",
        ),
    ),
    OfficialFamily(
        "GeminiHandler",
        "gemini_python",
        _DOTTED,
        (
            "gemini-2.5-flash-lite",
            "gemini-2.5-flash",
            "gemini-3-pro-preview",
            "gemini-3.1-flash-lite-preview",
        ),
    ),
    OfficialFamily(
        "GemmaHandler",
        "python",
        _DOTTED,
        ("google/gemma-3-1b-it", "google/gemma-3-4b-it", "google/gemma-3-12b-it", "google/gemma-3-27b-it"),
    ),
    OfficialFamily(
        "GLMAPIHandler", "tool_calls", _UNDERSCORED, ("glm-4.6-FC", "glm-4.5-FC", "glm-4.5-air-FC")
    ),
    OfficialFamily("GLMHandler", "glm", _UNDERSCORED, ("THUDM/glm-4-9b-chat",)),
    OfficialFamily("GoGoAgentHandler", "python", _DOTTED, ("BitAgent/GoGoAgent",)),
    OfficialFamily("GorillaHandler", "gorilla", _DOTTED, ("gorilla-openfunctions-v2",)),
    OfficialFamily(
        "Granite3FCHandler",
        "granite_3",
        _DOTTED,
        ("ibm-granite/granite-3.2-8b-instruct", "ibm-granite/granite-3.1-8b-instruct"),
    ),
    OfficialFamily("Granite4FCHandler", "granite_4", _DOTTED, ("ibm-granite/granite-4.0-350m",)),
    OfficialFamily(
        "GraniteFunctionCallingHandler",
        "granite_20b",
        _UNDERSCORED,
        ("ibm-granite/granite-20b-functioncalling",),
    ),
    OfficialFamily(
        "GrokHandler",
        "tool_calls",
        _UNDERSCORED,
        ("grok-4-0709-FC", "grok-4-1-fast-reasoning-FC", "grok-4-1-fast-non-reasoning-FC"),
    ),
    OfficialFamily("GrokHandler", "python", _DOTTED, ("grok-4-0709",)),
    OfficialFamily(
        "HammerHandler",
        "hammer",
        _DOTTED,
        (
            "MadeAgents/Hammer2.1-7b",
            "MadeAgents/Hammer2.1-3b",
            "MadeAgents/Hammer2.1-1.5b",
            "MadeAgents/Hammer2.1-0.5b",
        ),
    ),
    OfficialFamily("KimiHandler", "tool_calls", _UNDERSCORED, ("kimi-k2-0905-preview-FC",)),
    OfficialFamily("KimiHandler", "python", _DOTTED, ("kimi-k2-0905-preview",)),
    OfficialFamily("LingAPIHandler", "python", _DOTTED, ("Ling/ling-lite-v1.5",)),
    OfficialFamily(
        "LlamaHandler",
        "python",
        _DOTTED,
        (
            "meta-llama/Llama-3.1-8B-Instruct",
            "meta-llama/Llama-3.1-70B-Instruct",
            "meta-llama/Llama-3.2-1B-Instruct-FC",
            "meta-llama/Llama-3.2-3B-Instruct-FC",
            "meta-llama/Llama-3.3-70B-Instruct-FC",
            "meta-llama/Llama-4-Scout-17B-16E-Instruct-FC",
            "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8-FC",
            "Team-ACE/ToolACE-2-8B",
            "watt-ai/watt-tool-8B",
            "watt-ai/watt-tool-70B",
            "uiuc-convai/CoALM-8B",
            "uiuc-convai/CoALM-70B",
            "uiuc-convai/CoALM-405B",
            "BitAgent/BitAgent-8B",
        ),
    ),
    OfficialFamily(
        "LlamaHandler_3_1",
        "llama_3_1",
        _DOTTED,
        ("meta-llama/Llama-3.1-8B-Instruct-FC", "meta-llama/Llama-3.1-70B-Instruct-FC"),
    ),
    OfficialFamily("MiniCPMFCHandler", "minicpm", _UNDERSCORED, ("openbmb/MiniCPM3-4B-FC",)),
    OfficialFamily("MiniCPMHandler", "python", _DOTTED, ("openbmb/MiniCPM3-4B",)),
    OfficialFamily("MiningHandler", "mining", _DOTTED, ("xiaoming-14B",)),
    OfficialFamily("MistralFCHandler", "mistral", _DOTTED, ("mistralai/Ministral-8B-Instruct-2410",)),
    OfficialFamily(
        "MistralHandler",
        "tool_calls",
        _UNDERSCORED,
        (
            "open-mistral-nemo-2407-FC",
            "mistral-large-2411-FC",
            "mistral-small-2506-FC",
            "mistral-medium-2505-FC",
        ),
    ),
    OfficialFamily(
        "MistralHandler",
        "python",
        _DOTTED,
        ("open-mistral-nemo-2407", "mistral-large-2411", "mistral-small-2506", "mistral-medium-2505"),
    ),
    OfficialFamily("NanbeigeAPIHandler", "tool_calls", _UNDERSCORED, ("Nanbeige3.5-Pro-Thinking-FC",)),
    OfficialFamily("NanbeigeFCHandler", "qwen", _DOTTED, ("Nanbeige/Nanbeige4-3B-Thinking-2511",)),
    OfficialFamily("NemotronHandler", "nemotron", _DOTTED, ("nvidia/llama-3.1-nemotron-ultra-253b-v1",)),
    OfficialFamily(
        "NovaHandler", "nova", _UNDERSCORED, ("nova-pro-v1.0", "nova-2-lite-v1.0", "nova-micro-v1.0")
    ),
    OfficialFamily(
        "NovitaHandler",
        "tool_calls",
        _UNDERSCORED,
        (
            "meta-llama/llama-4-maverick-17b-128e-instruct-fp8-FC-novita",
            "meta-llama/llama-4-scout-17b-16e-instruct-FC-novita",
            "qwen/qwq-32b-FC-novita",
        ),
    ),
    OfficialFamily(
        "NovitaHandler",
        "python",
        _DOTTED,
        (
            "meta-llama/llama-4-maverick-17b-128e-instruct-fp8-novita",
            "meta-llama/llama-4-scout-17b-16e-instruct-novita",
            "qwen/qwq-32b-novita",
        ),
    ),
    OfficialFamily("NvidiaHandler", "python", _DOTTED, ("nvidia/nemotron-4-340b-instruct",)),
    OfficialFamily("OpenAICompletionsHandler", "tool_calls", _UNDERSCORED, ("openbmb/MiniCPM-SALA-FC",)),
    OfficialFamily(
        "OpenAIResponsesHandler",
        "tool_calls",
        _UNDERSCORED,
        (
            "gpt-5.2-2025-12-11-FC",
            "gpt-5-mini-2025-08-07-FC",
            "gpt-5-nano-2025-08-07-FC",
            "gpt-4.1-2025-04-14-FC",
            "gpt-4.1-mini-2025-04-14-FC",
            "gpt-4.1-nano-2025-04-14-FC",
            "gpt-4o-2024-11-20-FC",
            "gpt-4o-mini-2024-07-18-FC",
            "o3-2025-04-16-FC",
            "o4-mini-2025-04-16-FC",
        ),
    ),
    OfficialFamily(
        "OpenAIResponsesHandler",
        "python",
        _DOTTED,
        (
            "gpt-5.2-2025-12-11",
            "gpt-5-mini-2025-08-07",
            "gpt-5-nano-2025-08-07",
            "gpt-4.1-2025-04-14",
            "gpt-4.1-mini-2025-04-14",
            "gpt-4.1-nano-2025-04-14",
            "gpt-4o-2024-11-20",
            "gpt-4o-mini-2024-07-18",
            "o3-2025-04-16",
            "o4-mini-2025-04-16",
        ),
    ),
    OfficialFamily(
        "PelicanVLFCHandler",
        "qwen",
        _DOTTED,
        ("X-Humanoid/Pelican1.0-VL-235B-A22B-FC", "X-Humanoid/Pelican1.0-VL-30B-A3B-FC"),
    ),
    OfficialFamily("PhiFCHandler", "phi", _DOTTED, ("microsoft/Phi-4-mini-instruct-FC",)),
    OfficialFamily("PhiHandler", "phi_python", _DOTTED, ("microsoft/phi-4", "microsoft/Phi-4-mini-instruct")),
    OfficialFamily("QwenAgentNoThinkHandler", "tool_calls", _UNDERSCORED, ("qwen3-4b-nothink-FC",)),
    OfficialFamily("QwenAgentThinkHandler", "tool_calls", _UNDERSCORED, ("qwen3-4b-think-FC",)),
    OfficialFamily(
        "QwenAPIHandler",
        "tool_calls",
        _UNDERSCORED,
        (
            "qwen3-0.6b-FC",
            "qwen3-1.7b-FC",
            "qwen3-4b-FC",
            "qwen3-8b-FC",
            "qwen3-14b-FC",
            "qwen3-32b-FC",
            "qwen3-30b-a3b-instruct-2507-FC",
            "qwq-32b-FC",
        ),
    ),
    OfficialFamily("QwenAPIHandler", "tool_calls", _DOTTED, ("qwen3-235b-a22b-instruct-2507-FC",)),
    OfficialFamily(
        "QwenAPIHandler",
        "python",
        _DOTTED,
        (
            "qwen3-0.6b",
            "qwen3-1.7b",
            "qwen3-4b",
            "qwen3-8b",
            "qwen3-14b",
            "qwen3-32b",
            "qwen3-30b-a3b-instruct-2507",
            "qwen3-235b-a22b-instruct-2507",
            "qwq-32b",
        ),
    ),
    OfficialFamily(
        "QwenFCHandler",
        "qwen",
        _DOTTED,
        (
            "Qwen/Qwen3-0.6B-FC",
            "Qwen/Qwen3-1.7B-FC",
            "Qwen/Qwen3-4B-Instruct-2507-FC",
            "Qwen/Qwen3-8B-FC",
            "Qwen/Qwen3-14B-FC",
            "Qwen/Qwen3-32B-FC",
            "Qwen/Qwen3-30B-A3B-Instruct-2507-FC",
            "Qwen/Qwen3-235B-A22B-Instruct-2507-FC",
        ),
    ),
    OfficialFamily(
        "QwenHandler",
        "python_behind_reasoning",
        _DOTTED,
        (
            "Qwen/Qwen3-0.6B",
            "Qwen/Qwen3-1.7B",
            "Qwen/Qwen3-4B-Instruct-2507",
            "Qwen/Qwen3-8B",
            "Qwen/Qwen3-14B",
            "Qwen/Qwen3-32B",
            "Qwen/Qwen3-30B-A3B-Instruct-2507",
            "Qwen/Qwen3-235B-A22B-Instruct-2507",
            "ZJared/Haha-7B",
            "NovaSky-AI/Sky-T1-32B-Preview",
            "phronetic-ai/RZN-T",
        ),
    ),
    OfficialFamily(
        "SalesforceLlamaHandler",
        "xlam_2",
        _DOTTED,
        ("Salesforce/Llama-xLAM-2-70b-fc-r", "Salesforce/Llama-xLAM-2-8b-fc-r"),
    ),
    OfficialFamily(
        "SalesforceQwenHandler",
        "xlam_2",
        _DOTTED,
        ("Salesforce/xLAM-2-32b-fc-r", "Salesforce/xLAM-2-3b-fc-r", "Salesforce/xLAM-2-1b-fc-r"),
    ),
    OfficialFamily("ThinkAgentHandler", "think_agent", _DOTTED, ("ThinkAgents/ThinkAgent-1B",)),
    OfficialFamily("WriterHandler", "tool_calls", _DOTTED, ("palmyra-x-004",)),
)

_NAMES_AT_SERVER: Mapping[str, str] = {
    "DeepSeek-V3.2-Exp": "deepseek-chat",
    "DeepSeek-V3.2-Exp-FC": "deepseek-chat",
    "DeepSeek-V3.2-Exp-thinking": "deepseek-reasoner",
    "command-a-reasoning-08-2025-FC": "command-a-reasoning-08-2025-FC",
    "firefunction-v2-FC": "accounts/fireworks/models/firefunction-v2",
    "nova-2-lite-v1.0": "us.amazon.nova-2-lite-v1:0",
    "nova-micro-v1.0": "us.amazon.nova-micro-v1:0",
    "nova-pro-v1.0": "us.amazon.nova-pro-v1:0",
    "openbmb/MiniCPM-SALA-FC": "openbmb/MiniCPM-SALA-FC",
    "qwen3-4b-nothink-FC": "qwen3-4b-nothink-FC",
    "qwen3-4b-think-FC": "qwen3-4b-think-FC",
}
"""The names that servers know, where they are not the id without its ending."""

_BY_MODEL: Mapping[str, OfficialFamily] = {model: family for family in FAMILIES for model in family.models}


_MISREAD = frozenset({"xiaoming-14B", "qwen3-235b-a22b-instruct-2507-FC"})
"""Official models whose tool calls are not read as they are asked for (faults of the registry)."""


def find_family(model: str, *, repaired: bool = False) -> OfficialFamily:
    """Return the family of an official model id, or one that another distribution adds under this name.

    Where it is to be ``repaired``, without known faults of reading. Raises ``UsageError`` with similar names.
    """
    if repaired and model in _MISREAD:
        return OfficialFamily(_BY_MODEL[model].handler, "tool_calls", Names.UNDERSCORED, (model,))
    if model in _BY_MODEL:
        return _BY_MODEL[model]
    if model in OWN_FAMILIES:
        own = OWN_FAMILIES.find(model)
        return OfficialFamily(model, own.syntax, own.names, (model,))
    raise UsageError(describe_unknown_name("official model", model, [*_BY_MODEL, *OWN_FAMILIES]))


def name_at_server(model: str) -> str:
    """Return the name by which its server knows an official model."""
    return _NAMES_AT_SERVER.get(model) or model.removesuffix("-novita").removesuffix("-FC")


def find_official_id(model: str, mode: Mode | None) -> str | None:
    """Return the official id that a model's id is in a mode, without its provider; None where it is none."""
    _, _, behind_prefix = model.partition("/")
    for name in (model, behind_prefix):
        for official in (name, f"{name}-FC", name.removesuffix("-FC")):
            # Without a mode the id itself counts, as it stands on the leaderboard.
            if official in _BY_MODEL and (official == name if mode is None else is_asked_in(official, mode)):
                return official
    return None


def list_dated_ids(model: str, mode: Mode) -> list[str]:
    """List the official ids of a mode that are this one with a date, newest last."""
    pattern = re.compile(rf"{re.escape(model.rpartition('/')[2])}-[\d-]+(-FC)?")
    return sorted(each for each in _BY_MODEL if pattern.fullmatch(each) and is_asked_in(each, mode))


def is_asked_in(model: str, mode: Mode) -> bool:
    """Tell whether an official model is asked in a mode, by its notation of calls."""
    return _BY_MODEL[model].mode is mode


def find_folder_family(folder: str) -> tuple[str, OfficialFamily] | None:
    """Find the model whose results a folder holds by its official name, in which slashes are underscores."""
    for model, family in _BY_MODEL.items():
        if model.replace("/", "_") == folder:
            return model, family
    return None
