"""Reading the constants that BFCL keeps in Python sources, without importing or running them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from pytest_fcbench.codecs.python_syntax import parse_module
from pytest_fcbench.domain.errors import PackError
from pytest_fcbench.suites.bfcl import world

_PROMPTS = "bfcl_eval/constants/default_prompts.py"
_DOCS = "bfcl_eval/utils.py"
_TOOLS = "bfcl_eval/model_handler/utils.py"

_MEMORIES = {
    name: f"bfcl_eval/eval_checker/multi_turn_eval/func_source_code/{name}.py"
    for name in ("memory_kv", "memory_rec_sum")
}

SOURCES = (_PROMPTS, _DOCS, _TOOLS, *world.SOURCES, *_MEMORIES.values())


def read_constants(texts: Mapping[str, str]) -> Mapping[str, object]:
    """Prompt texts, language hints and the tables of the API classes. Raises ``PackError``."""
    for path in SOURCES:
        if path not in texts:
            raise PackError(f"{path} is missing")
    try:
        modules = {path: parse_module(texts[path]) for path in SOURCES}
    except (SyntaxError, ValueError) as error:
        raise PackError(f"not Python sources: {error}; the package has changed") from None
    docs, tools, prompts = (modules[path] for path in (_DOCS, _TOOLS, _PROMPTS))
    (float_note,) = _expect(_added_texts(_function(tools, "_cast_to_openai_type")), 1, _TOOLS)
    return {
        "default_prompts": _assigned(prompts),
        "hints": {"languages": _hints(docs), "float": float_note},
        "world": world.read_world(modules),
        "empty_memory": {name: _shown_of_nothing(modules[path]) for name, path in _MEMORIES.items()},
    }


def _shown_of_nothing(module: ast.Module) -> str:
    """The sentence that a model is shown for the content of an empty memory."""
    texts = [
        str(node.value.value)
        for function in ast.walk(module)
        if isinstance(function, ast.FunctionDef) and function.name == "_dump_core_memory_to_context"
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant)
    ]
    return _expect(texts, 1, "_dump_core_memory_to_context")[0]


def _hints(module: ast.Module) -> Mapping[str, Mapping[str, object]]:
    returned = [
        node.value.value
        for node in ast.walk(_function(module, "_get_language_specific_hint"))
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant)
    ]
    # ast.walk goes level by level: the else branch of "if java / elif javascript / else" is the deepest.
    java, javascript, python = _expect([str(text) for text in returned], 3, _DOCS)
    texts = list(_added_texts(_function(module, "_func_doc_language_specific_pre_processing")))
    notes = _expect(texts, 7, _DOCS)
    names = ("any_type", "typed", "elements", "members")
    return {
        "python": {"hint": python},
        "java": {"hint": java, **dict(zip(names, notes[:3], strict=False))},
        "javascript": {"hint": javascript, **dict(zip(names, notes[3:], strict=True))},
    }


def _expect(found: Iterator[str] | list[str], count: int, path: str) -> list[str]:
    texts = list(found)
    if len(texts) != count:
        raise PackError(f"{path}: expected {count} texts, found {len(texts)}; the package has changed")
    return texts


def _function(module: ast.Module, name: str) -> ast.FunctionDef:
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise PackError(f"the function {name} is missing; the package has changed")


def _added_texts(function: ast.FunctionDef) -> Iterator[str]:
    """Texts of ``x += "..."`` in source order; each ``{...}`` of an f-string becomes ``{}``."""
    added = [node for node in ast.walk(function) if isinstance(node, ast.AugAssign)]
    for node in sorted(added, key=lambda node: node.lineno):
        match node.value:
            case ast.Constant(value=str(text)):
                yield text.replace("{", "{{").replace("}", "}}")
            case ast.JoinedStr(values=parts):
                yield "".join(
                    str(part.value).replace("{", "{{").replace("}", "}}")
                    if isinstance(part, ast.Constant)
                    else "{}"
                    for part in parts
                )


def _assigned(module: ast.Module) -> Mapping[str, object]:
    """Module-level names that are assigned literals, or names and joins of such."""
    found: dict[str, object] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = _literal(node.value, found)
            except (ValueError, TypeError):
                continue
    return found


def _literal(node: ast.expr, known: Mapping[str, object]) -> object:
    match node:
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.Dict(keys=keys, values=values):
            return {
                _literal(key, known): _literal(value, known)
                for key, value in zip(keys, values, strict=True)
                if key is not None
            }
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return str(_literal(left, known)) + str(_literal(right, known))
    return ast.literal_eval(node)
