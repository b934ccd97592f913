"""A small MCP server, started as a program: a shelf that counts goods.

It speaks the protocol line by line without the SDK, so that it starts in a moment, and can misbehave:
``python shelf.py [hang|die|long|flood|secretive|empty|structured|refuse]``. Without one its list of tools has
two pages.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

NAME = {"type": "string", "description": "Name of the good."}
TOOLS = [
    {
        "name": "put-goods",
        "description": "Put goods on the shelf.",
        "inputSchema": {
            "type": "object",
            "properties": {"name": NAME, "count": {"type": "integer", "minimum": 1}},
            "required": ["name", "count"],
        },
    },
    {
        "name": "count_goods",
        "description": "Count the goods of a name.",
        "inputSchema": {"type": "object", "properties": {"name": NAME}, "required": ["name"]},
    },
    {
        "name": "describe_shelf",
        "description": "Describe the whole shelf.",
        "inputSchema": {"type": "object", "properties": {}},
    },
]


def answer_call(name: str, arguments: Mapping[str, object], goods: dict[str, int], habit: str) -> str:
    """Carry a call out and return its result as text."""
    if habit == "hang":
        time.sleep(600)
    if habit == "die":
        print("the shelf fell down", file=sys.stderr, flush=True)
        os._exit(3)
    if habit == "long":
        return "x" * 250_000
    good = str(arguments.get("name"))
    if name == "put-goods":
        goods[good] = goods.get(good, 0) + int(str(arguments["count"]))
        return f"{good} put on the shelf in {Path.cwd()}"
    if name == "count_goods":
        return json.dumps({"name": good, "count": goods.get(good, 0), "asked_at": time.time_ns()})
    if habit == "empty":
        return ""
    return json.dumps({"goods": goods, "process": os.getpid(), "token": os.environ.get("SHELF_TOKEN")})


def main() -> None:
    """Answer requests until the input ends."""
    habit = sys.argv[1] if len(sys.argv) > 1 else ""
    goods: dict[str, int] = {}
    for line in sys.stdin:
        request = json.loads(line)
        parameters = request.get("params") or {}
        result: dict[str, object] | None = None
        refused = "there is no such method"
        match request.get("method"):
            case "initialize" if habit == "refuse":
                refused = f"the login {os.environ['SHELF_LOGIN']} is not known"
            case "initialize":
                result = {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "shelf", "version": "1.2"},
                }
            case "tools/list" if habit == "secretive":
                print("the list is lost", file=sys.stderr, flush=True)
                continue
            case "tools/list" if habit == "flood":
                result = {"tools": [], "nextCursor": "again"}
            case "tools/list" if parameters.get("cursor"):
                result = {"tools": TOOLS[2:]}
            case "tools/list":
                result = {"tools": TOOLS[:2], "nextCursor": "2"}
            case "tools/call" if habit == "structured":
                result = {"content": [], "structuredContent": {"goods": goods}}
            case "tools/call":
                text = answer_call(parameters["name"], parameters.get("arguments") or {}, goods, habit)
                result = {"content": [{"type": "text", "text": text}]}
        if "id" in request:
            reply = {"error": {"code": -32601, "message": refused}} if result is None else {"result": result}
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)


if __name__ == "__main__":
    main()
