"""Runs the official evaluator over scripted answers, in a process of its own.

    python complexeval_official.py FOLDER < cases.jsonl > outcomes.jsonl

FOLDER is a clone of github.com/zai-org/ComplexFuncBench. What would need the network or a GPU (the model, the
judge, the embedding, the API) is replaced by functions that ``test_complexeval.py`` has too; everything else
is the evaluator's own code.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from tests.kinds.golden_path.stand_ins import embed_text, is_equal_but_for_case, reply_as_api


def stub_module(name: str, **members: object) -> None:
    module = ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


class Embedding:
    def __init__(self, *args: object, **kwargs: object) -> None:
        pass

    def encode(self, texts: list[str]) -> Any:
        import numpy

        return numpy.array([embed_text(text) for text in texts])


class Judge:
    def __init__(self, name: str) -> None:
        self.model_name = name

    def __call__(self, prefix: str, prompt: object, **given: Any) -> str:
        equal = is_equal_but_for_case(
            json.loads(given["function_call_1"]), json.loads(given["function_call_2"])
        )
        return json.dumps({"is_equal": equal, "reason": ""})


class Answers:
    """The model under test: its answers in order, then text."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers = list(answers)
        self.messages: list[Any] = []

    def __call__(self, messages: object, tools: object = None) -> Any:
        answer = self.answers.pop(0) if self.answers else "Done."
        if answer is None:
            return None
        if isinstance(answer, str):
            return SimpleNamespace(tool_calls=None, content=answer)
        calls = [
            SimpleNamespace(id=str(place), function=SimpleNamespace(name=name, arguments=arguments))
            for place, (name, arguments) in enumerate(answer)
        ]
        return SimpleNamespace(tool_calls=calls, content=None)


def main(folder: str) -> None:
    os.chdir(folder)
    sys.path.insert(0, folder)
    stub_module("torch", cuda=SimpleNamespace(empty_cache=lambda: None))
    stub_module("FlagEmbedding", FlagModel=Embedding)
    stub_module("models.gpt", GPTModel=Judge, FunctionCallGPT=lambda name: Answers([]))
    stub_module("utils.rapidapi", RapidAPICall=Api)
    gpt_runner = importlib.import_module("runner.gpt_runner")
    logger = logging.getLogger("official")
    logger.setLevel(logging.CRITICAL)
    for line in sys.stdin:
        print(json.dumps(run_case(gpt_runner, logger, json.loads(line))))


class Api:
    live = False

    def __init__(self, tool: str, tool_info: object) -> None:
        pass

    def _call(self, call: Any) -> Any:
        return reply_as_api(call) if self.live else None


def run_case(gpt_runner: Any, logger: object, case: Any) -> dict[str, Any]:
    runner = gpt_runner.GPTRunner(SimpleNamespace(model_name="x"), logger)
    runner.model = Answers(case["answers"])
    Api.live = case["live"]
    try:
        conversation, message, right_steps, right = runner.run(case["record"])
    except Exception as error:  # noqa: BLE001 - its worker would die of it
        return {"crash": f"{type(error).__name__}: {error}"}
    replies = [turn["content"] for turn in conversation if turn["role"] == "observation"]
    taken = sum("function_call" in turn for turn in conversation)
    return {
        "message": message,
        "right_steps": right_steps,
        "right": right,
        "taken": taken,
        "replies": replies,
    }


if __name__ == "__main__":
    main(sys.argv[1])
