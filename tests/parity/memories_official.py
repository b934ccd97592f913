"""Carries calls out in the official memories, in a process of its own.

    python memories_official.py < sequences.jsonl > outcomes.jsonl

Runs in a Python that has bfcl-eval and nothing of ours. A sequence is the name of a memory and calls as text,
an outcome what each call returned, as the official executor writes it, and what the memory then holds.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

FOLDER = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
CLASSES = {"memory_kv": "MemoryAPI_kv", "memory_rec_sum": "MemoryAPI_rec_sum"}
HELD = ("core_memory", "archival_memory", "memory")


def carry_out_call(call: str, functions: dict[str, Any]) -> str:
    try:
        result = eval(call, dict(functions))
    except Exception as error:  # noqa: BLE001 - as the official executor does
        return f"Error during execution: {error}"
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        try:
            return json.dumps(result)
        except (TypeError, ValueError):
            pass
    return str(result)


def main() -> None:
    for line in sys.stdin:
        sequence = json.loads(line)
        module = importlib.import_module(f"{FOLDER}.{sequence['memory']}")
        memory = getattr(module, CLASSES[sequence["memory"]])()
        functions = {name: getattr(memory, name) for name in dir(memory) if "memory_" in name}
        results = [carry_out_call(call, functions) for call in sequence["calls"]]
        held = {name: getattr(memory, name) for name in HELD if hasattr(memory, name)}
        shown = memory._dump_core_memory_to_context()
        print(json.dumps({"results": results, "held": held, "shown": shown}))


if __name__ == "__main__":
    main()
