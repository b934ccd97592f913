"""Where official families are asked: the address of each and the environment variables of its key.

The first variables are those that litellm and the vendor's own client know; the official harness's follows
where it has another name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.domain.family import Api
from pytest_fcbench.models.providers.aws_signature import REGION
from pytest_fcbench.models.providers.key_variables import KEY_VARIABLES, find_variable


@dataclass(frozen=True, slots=True)
class Vendor:
    """An endpoint that official families are asked at."""

    keys: Sequence[str]
    """Environment variables of the key; the first that is set counts."""
    base: str | None = None
    """The address where no option and no variable names one; None where there is no public one."""
    bases: Sequence[str] = ()
    """Environment variables of the address."""

    def find_key(self) -> str | None:
        """Return the key that the environment holds."""
        variable = find_variable(self.keys)
        return os.environ[variable].strip() if variable else None

    def find_base(self) -> str | None:
        """Return the address that the environment names, or else the usual one."""
        return next((value for name in self.bases if (value := os.environ.get(name))), self.base)


_OPENAI_BASES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
_NVIDIA = Vendor((*KEY_VARIABLES["nvidia_nim"], "NVIDIA_API_KEY"), "https://integrate.api.nvidia.com/v1")
_LOCAL = Vendor(
    ("HOSTED_VLLM_API_KEY", "REMOTE_OPENAI_API_KEY"), bases=("HOSTED_VLLM_API_BASE", "REMOTE_OPENAI_BASE_URL")
)
"""A server of one's own, such as vLLM."""

VENDORS: Mapping[str, Vendor] = {
    "ClaudeHandler": Vendor(KEY_VARIABLES["anthropic"], "https://api.anthropic.com", ("ANTHROPIC_BASE_URL",)),
    "CohereHandler": Vendor(KEY_VARIABLES["cohere"], "https://api.cohere.com"),
    "DMCitoHandler": Vendor(("DMCITO_API_KEY",), bases=("DMCITO_BASE_URL",)),
    "DeepSeekAPIHandler": Vendor(
        KEY_VARIABLES["deepseek"], "https://api.deepseek.com", ("DEEPSEEK_API_BASE",)
    ),
    "FireworksHandler": Vendor(KEY_VARIABLES["fireworks_ai"], "https://api.fireworks.ai/inference/v1"),
    "GLMAPIHandler": Vendor((*KEY_VARIABLES["zai"], "GLM_API_KEY"), "https://open.bigmodel.cn/api/paas/v4"),
    "GeminiHandler": Vendor(
        KEY_VARIABLES["gemini"],
        "https://generativelanguage.googleapis.com",
        ("GEMINI_API_BASE",),
    ),
    "GoGoAgentHandler": Vendor(("GOGOAGENT_API_KEY",), "https://api.gogoagent.ai"),
    "GorillaHandler": Vendor((), "https://luigi.millennium.berkeley.edu:443/v1"),
    "GrokHandler": Vendor((*KEY_VARIABLES["xai"], "GROK_API_KEY"), "https://api.x.ai/v1", ("XAI_API_BASE",)),
    "KimiHandler": Vendor(
        (*KEY_VARIABLES["moonshot"], "KIMI_API_KEY"), "https://api.moonshot.ai/v1", ("MOONSHOT_API_BASE",)
    ),
    "LingAPIHandler": Vendor(("LING_API_KEY",), "https://bailingchat.alipay.com"),
    "MiningHandler": Vendor(("MINING_API_KEY",), bases=("MINING_BASE_URL",)),
    "MistralHandler": Vendor(KEY_VARIABLES["mistral"], "https://api.mistral.ai/v1", ("MISTRAL_API_BASE",)),
    "NanbeigeAPIHandler": Vendor(("NBG_API_KEY",), "https://nanbeige.zhipin.com/api/gpt/open/chat/openai/v1"),
    "NemotronHandler": _NVIDIA,
    "NovaHandler": Vendor(
        ("AWS_BEARER_TOKEN_BEDROCK",),
        f"https://bedrock-runtime.{REGION}.amazonaws.com",
        ("AWS_BEDROCK_RUNTIME_ENDPOINT",),
    ),
    "NovitaHandler": Vendor(KEY_VARIABLES["novita"], "https://api.novita.ai/v3/openai"),
    "NvidiaHandler": _NVIDIA,
    "OpenAICompletionsHandler": Vendor(KEY_VARIABLES["openai"], bases=_OPENAI_BASES),
    "OpenAIResponsesHandler": Vendor(KEY_VARIABLES["openai"], "https://api.openai.com/v1", _OPENAI_BASES),
    "QwenAPIHandler": Vendor(
        (*KEY_VARIABLES["dashscope"], "QWEN_API_KEY"),
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        ("DASHSCOPE_API_BASE",),
    ),
    "WriterHandler": Vendor(("WRITER_API_KEY",), "https://api.writer.com/v1"),
}
"""Vendors by official class; every other class asks a server of one's own."""


def find_vendor(handler: str) -> Vendor:
    """Return where the models of an official class are asked."""
    return VENDORS.get(handler, _LOCAL)


_VERSIONS: Mapping[Api, str] = {Api.MESSAGES: "v1", Api.GENERATE_CONTENT: "v1beta", Api.COHERE: "v2"}
"""The first part of a path that the usual address of an API does not hold."""

_PATHS: Mapping[Api, str] = {
    Api.CHAT: "chat/completions",
    Api.COMPLETIONS: "completions",
    Api.RESPONSES: "responses",
    Api.MESSAGES: "messages",
    Api.GENERATE_CONTENT: "models/{name}:generateContent",
    Api.COHERE: "chat",
    Api.CONVERSE: "model/{name}/converse",
}


def build_url(base: str, api: Api, name: str) -> str:
    """Build the address of a request; ``name`` is the model's, encoded for an address."""
    last = base.partition("?")[0].rstrip("/").rpartition("/")[2]
    version = _VERSIONS.get(api)
    if version and not last.startswith("v"):
        base = add_to_path(base, version)
    return add_to_path(base, _PATHS[api].format(name=name))


def add_to_path(address: str, path: str) -> str:
    """Add the end of a path to an address, whose query stays behind it."""
    base, mark, query = address.partition("?")
    return f"{base.rstrip('/')}/{path}{mark}{query}"


def build_key_header(api: Api, key: str | None) -> Mapping[str, str]:
    """Build the headers by which an API knows who asks, and which version of it is meant."""
    if api is Api.MESSAGES:
        return {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}
    if api is Api.GENERATE_CONTENT:
        return {"x-goog-api-key": key} if key else {}
    return {"Authorization": f"Bearer {key}"} if key else {}
