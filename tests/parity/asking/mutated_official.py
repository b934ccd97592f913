"""Carries calls out in the official environments, in a process of its own.

    python mutated_official.py < conversations.jsonl > results.jsonl

Runs in a Python that has bfcl-eval and nothing of ours. A conversation is classes by name, their
configuration, and calls as text; results are what the official executor makes of them.
"""

from __future__ import annotations

import importlib
import json
import sys
from contextlib import redirect_stdout

MODULE = "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils"


def main() -> None:
    executor = importlib.import_module(MODULE)
    known = set(vars(executor))
    for line in sys.stdin:
        talk = json.loads(line)
        # The executor keeps instances among its globals, under the name of model and entry.
        for name in set(vars(executor)) - known:
            delattr(executor, name)
        # What the functions print is no result.
        with redirect_stdout(sys.stderr):
            results, _ = executor.execute_multi_turn_func_call(
                talk["calls"], talk["config"], talk["classes"], "m", talk["entry"], talk["long_context"]
            )
        print(json.dumps(results))


if __name__ == "__main__":
    main()
