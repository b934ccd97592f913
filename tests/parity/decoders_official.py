"""Reads answers with the official handlers of model families, in a process of its own.

    python decoders_official.py < answers.jsonl > readings.jsonl

Runs in a Python that has bfcl-eval and nothing of ours; the SDKs of vendors, which the handlers import, are
replaced by empty modules. An answer is the class of a handler, whether it asks by function calling,
a language and a text. A reading is what ``decode_ast`` and ``decode_execute`` make of it.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import json
import pkgutil
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

SDKS = (
    *("anthropic", "boto3", "botocore", "cohere", "datamodel_code_generator", "google", "httpx", "mistralai"),
    *(
        "openai",
        "qwen_agent",
        "torch",
        "transformers",
        "writerai",
        "typer",
        "huggingface_hub",
        "sentence_transformers",
    ),
)


class Empty(type):
    """The class of a class in which every name is such a class again."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Empty(name, (Exception,), {})


class EmptyModule(ModuleType):
    """A module in which every name is a class that nothing is an instance of."""

    def __getattr__(self, name: str) -> Any:
        return getattr(Empty("empty", (Exception,), {}), name)


class EmptyFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what no other finder has found."""

    def find_spec(
        self, name: str, path: object, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        # The standard library asks for some that are not there, and takes that for an answer.
        if name.partition(".")[0] not in SDKS:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return EmptyModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def find_handlers() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for place in ("api_inference", "local_inference"):
        package = importlib.import_module(f"bfcl_eval.model_handler.{place}")
        for module in pkgutil.iter_modules(package.__path__):
            content = importlib.import_module(f"{package.__name__}.{module.name}")
            for name, value in vars(content).items():
                if isinstance(value, type) and value.__module__ == content.__name__:
                    found[name] = value
    return found


def read_answer(handler: Any, text: str, language: Any) -> dict[str, object]:
    utils = importlib.import_module("bfcl_eval.utils")
    checker = importlib.import_module("bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils")
    message = SimpleNamespace(content=text)
    usage = SimpleNamespace(prompt_tokens=1, completion_tokens=1)
    response = SimpleNamespace(choices=[SimpleNamespace(text=text, message=message)], usage=usage)
    try:
        result: Any = text
        if {"OSSHandler", "MiningHandler"} & {each.__name__ for each in type(handler).__mro__}:
            result = handler._parse_query_response_prompting(response)["model_responses"]
        decoded = handler.decode_ast(result, language, False)
        right = utils.is_function_calling_format_output(decoded)
        read: object = (
            [[name, repr(value)] for call in decoded for name, value in call.items()] if right else "wrong"
        )
    except Exception:  # noqa: BLE001 - as the official runner does
        read = "failed"
    try:
        texts = handler.decode_execute(result, False)
        texts = [] if checker.is_empty_execute_response(texts) else list(texts)
    except Exception:  # noqa: BLE001 - as the official checker does
        texts = []
    return {"read": read, "texts": texts}


def main() -> None:
    sys.meta_path.append(EmptyFinder())
    languages = importlib.import_module("bfcl_eval.constants.enums").ReturnFormat
    handlers = find_handlers()
    for line in sys.stdin:
        name, by_tools, language, text = json.loads(line)
        handler = object.__new__(handlers[name])
        handler.is_fc_model, handler.model_name = by_tools, name
        print(json.dumps(read_answer(handler, text, languages(language))))


if __name__ == "__main__":
    main()
