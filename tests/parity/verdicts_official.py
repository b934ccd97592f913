"""Judges texts and trajectories with the official checkers, in a process of its own.

    python verdicts_official.py < drawn.jsonl > verdicts.jsonl

Runs in a Python that has bfcl-eval and nothing of ours. A line is the category and the id of an entry, its
language, whether names are underscored, and a text or the calls of each step of each turn. A verdict is
whether the answer is right and the error type, or null where the checker crashes or does not end.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import warnings
from functools import cache
from typing import Any

PACKAGE = "bfcl_eval"
LONGEST_S = 15
MOST_BYTES = 4 * 2**30


@cache
def load_rows(category: str) -> dict[str, tuple[Any, Any]]:
    """Return each entry of a category with its ground truth, by id."""
    utils = importlib.import_module(f"{PACKAGE}.utils")
    truths = {row["id"]: row["ground_truth"] for row in utils.load_ground_truth_entry(category)}
    entries = utils.load_dataset_entry(category, include_language_specific_hint=False)
    return {row["id"]: (row, truths[row["id"]]) for row in entries}


def judge_text(category: str, name: str, language: str, underscored: bool, text: str) -> Any:
    enums = importlib.import_module(f"{PACKAGE}.constants.enums")
    decoding = importlib.import_module(f"{PACKAGE}.model_handler.utils")
    checker = importlib.import_module(f"{PACKAGE}.eval_checker.ast_eval.ast_checker")
    entry, truth = load_rows(category)[name]
    try:
        decoded = decoding.default_decode_ast_prompting(text, enums.ReturnFormat(language), False)
    except Exception:  # noqa: BLE001 - as the official runner does
        return [False, "ast_decoder:decoder_failed"]
    if not decoding.is_function_calling_format_output(decoded):
        return [False, "ast_decoder:decoder_wrong_output_format"]
    model = "gpt-4o-2024-11-20-FC" if underscored else "gpt-4o-2024-11-20"
    try:
        found = checker.ast_checker(
            entry["function"], decoded, truth, enums.Language(language), category, model
        )
    except Exception:  # noqa: BLE001 - there is no verdict
        return None
    return [found["valid"], None if found["valid"] else found["error_type"]]


def judge_trajectory(category: str, name: str, turns: list[list[list[str]]]) -> Any:
    checker = importlib.import_module(f"{PACKAGE}.eval_checker.multi_turn_eval.multi_turn_checker")
    entry, truth = load_rows(category)[name]
    found = checker.multi_turn_checker(turns, truth, entry, category, "m")
    return [found["valid"], None if found["valid"] else found["error_type"]]


def judge_alone(category: str, name: str, turns: list[list[list[str]]]) -> Any:
    """Judge a trajectory in a process that ends with it: instances and default lists stay in a process."""
    modules = importlib.import_module(
        f"{PACKAGE}.constants.executable_backend_config"
    ).CLASS_FILE_PATH_MAPPING
    for each in load_rows(category)[name][0]["involved_classes"]:
        importlib.import_module(modules[each])
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        # What the functions print is no verdict.
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        signal.alarm(LONGEST_S)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        try:
            os.write(writer, json.dumps(judge_trajectory(category, name, turns)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        verdict = file.read()
    os.waitpid(child, 0)
    return json.loads(verdict or "null")


def main() -> None:
    warnings.simplefilter("ignore")
    sys.meta_path.append(importlib.import_module("decoders_official").EmptyFinder())
    for line in sys.stdin:
        category, name, language, underscored, answer = json.loads(line)
        if isinstance(answer, str):
            verdict = judge_text(category, name, language, underscored, answer)
        else:
            verdict = judge_alone(category, name, answer)
        print(json.dumps(verdict), flush=True)


if __name__ == "__main__":
    main()
