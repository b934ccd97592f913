"""Reader of the sentences in BFCL's handlers, whose sources are neither imported nor run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

_FOLDER = "bfcl_eval/model_handler"

_FILES: Mapping[str, str] = {
    "ArchHandler": "local_inference/arch",
    "BitAgentHandler": "local_inference/bitagent",
    "DMCitoHandler": "api_inference/mining",
    "FunctionGemmaHandler": "local_inference/functiongemma",
    "GLMHandler": "local_inference/glm",
    "GeminiHandler": "api_inference/gemini",
    "Granite3FCHandler": "local_inference/granite_3",
    "Granite4FCHandler": "local_inference/granite_4",
    "GraniteFunctionCallingHandler": "local_inference/granite",
    "HammerHandler": "local_inference/hammer",
    "LlamaHandler_3_1": "local_inference/llama_3_1",
    "MiniCPMFCHandler": "local_inference/minicpm_fc",
    "NanbeigeFCHandler": "local_inference/nanbeige_fc",
    "NemotronHandler": "api_inference/nemotron",
    "PelicanVLFCHandler": "local_inference/pelican_vl_fc",
    "PhiFCHandler": "local_inference/phi_fc",
    "QwenFCHandler": "local_inference/qwen_fc",
    "SalesforceLlamaHandler": "local_inference/salesforce_llama",
    "SalesforceQwenHandler": "local_inference/salesforce_qwen",
    "ThinkAgentHandler": "local_inference/think_agent",
    "convert_to_tool": "utils",
}
"""The source of each class with sentences of its own, and of the converter of function docs."""

CONVERTER = "convert_to_tool"
"""The converter's key among the classes."""

SPEAKING = frozenset(_FILES) - {CONVERTER}
"""The classes that put sentences of their own into requests."""

SOURCES = tuple(f"{_FOLDER}/{file}.py" for file in _FILES.values())


def read_family_texts(modules: Mapping[str, ast.Module]) -> Mapping[str, list[str]]:
    """Return the sentences of each class in the order of its source, docstrings left out.

    A text inside an f-string is a sentence of its own, without the values around it.
    """
    return {
        handler: list(_read_sentences(modules[f"{_FOLDER}/{file}.py"])) for handler, file in _FILES.items()
    }


def _read_sentences(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            # A docstring; some quote the public template of a model.
            continue
        if isinstance(child, ast.Constant):
            text = child.value
            # A text of one word is a mark or a name, unless it has signs that only prose has.
            if isinstance(text, str) and (len(text.split()) > 1 or not text.isascii()):
                yield text
        else:
            yield from _read_sentences(child)
