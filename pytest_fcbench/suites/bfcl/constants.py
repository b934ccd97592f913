"""Reader of the constants in BFCL's Python sources, which are neither imported nor run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from pytest_fcbench.codecs.python_syntax import parse_module
from pytest_fcbench.domain.errors import PackError
from pytest_fcbench.suites.bfcl import family_texts, sentences, world

_PROMPTS = "bfcl_eval/constants/default_prompts.py"
_DOCS = "bfcl_eval/utils.py"
_TOOLS = "bfcl_eval/model_handler/utils.py"

_MEMORIES = {
    name: f"bfcl_eval/eval_checker/multi_turn_eval/func_source_code/{name}.py"
    for name in ("memory_kv", "memory_rec_sum")
}
_DUMP = "_dump_core_memory_to_context"

# Each once: the sources of some classes have tables and sentences.
SOURCES = tuple(
    dict.fromkeys((_PROMPTS, _DOCS, _TOOLS, *world.SOURCES, *sentences.SOURCES, *family_texts.SOURCES))
)


def read_constants(texts: Mapping[str, str]) -> Mapping[str, object]:
    """Return prompt texts, language hints and the tables of the API classes. Raises ``PackError``."""
    for path in SOURCES:
        if path not in texts:
            raise PackError(f"{path} is missing; the package has changed, so pull the pinned version")
    try:
        modules = {path: parse_module(texts[path]) for path in SOURCES}
    except (SyntaxError, ValueError) as error:
        raise PackError(
            f"not Python sources: {error}; the package has changed, so pull the pinned version"
        ) from None
    docs, tools, prompts = (modules[path] for path in (_DOCS, _TOOLS, _PROMPTS))
    (float_note,) = _expect(_read_added_texts(world.find_function(tools, "_cast_to_openai_type")), 1, _TOOLS)
    language_hints = _read_returned_texts(world.find_function(docs, "_get_language_specific_hint"))
    # ast.walk goes level by level: the else branch of "if java / elif javascript / else" is the deepest.
    java, javascript, python = _expect(language_hints, 3, _DOCS)
    doc_notes = _read_added_texts(world.find_function(docs, "_func_doc_language_specific_pre_processing"))
    # Java has a note fewer than JavaScript: the names of its notes are the first three.
    names, notes = ("any_type", "typed", "elements", "members"), _expect(doc_notes, 7, _DOCS)
    return {
        "default_prompts": _read_assignments(prompts),
        "hints": {
            "languages": {
                "python": {"hint": python},
                "java": {"hint": java, **dict(zip(names, notes[:3], strict=False))},
                "javascript": {"hint": javascript, **dict(zip(names, notes[3:], strict=True))},
            },
            "float": float_note,
        },
        "world": {
            **world.read_world(modules),
            "sentences": sentences.read_sentences(modules),
            "class_names": sentences.CLASS_NAMES,
        },
        "families": family_texts.read_family_texts(modules),
        # The sentence that a model is shown for the content of an empty memory.
        "empty_memory": {
            name: _expect(_read_returned_texts(world.find_function(modules[path], _DUMP)), 1, _DUMP)[0]
            for name, path in _MEMORIES.items()
        },
    }


def _expect(text_iterator: Iterator[str], count: int, path: str) -> list[str]:
    texts = list(text_iterator)
    if len(texts) != count:
        raise PackError(
            f"{path}: expected {count} texts, found {len(texts)}; the package has changed, "
            "so pull the pinned version"
        )
    return texts


def _read_returned_texts(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)


def _read_added_texts(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the texts of ``x += "..."`` in source order; each ``{...}`` of an f-string becomes ``{}``."""
    additions = [node for node in ast.walk(function) if isinstance(node, ast.AugAssign)]
    # ``ast.walk`` goes level by level, not from top to bottom.
    for node in sorted(additions, key=lambda node: node.lineno):
        match node.value:
            case ast.Constant(value=str(text)):
                yield _escape_braces(text)
            case ast.JoinedStr(values=parts):
                texts = (str(part.value) if isinstance(part, ast.Constant) else None for part in parts)
                yield "".join("{}" if text is None else _escape_braces(text) for text in texts)


def _escape_braces(text: str) -> str:
    # The texts become templates of ``str.format``.
    return text.replace("{", "{{").replace("}", "}}")


def _read_assignments(module: ast.Module) -> Mapping[str, object]:
    """Return the module-level names that are assigned literals, or names and joins of such."""
    constants: dict[str, object] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                constants[node.targets[0].id] = _evaluate_constant(node.value, constants)
            # An assignment of something else, such as a call, is not a prompt.
            except (ValueError, TypeError):
                continue
    return constants


def _evaluate_constant(node: ast.expr, constants: Mapping[str, object]) -> object:
    match node:
        case ast.Name(id=name) if name in constants:
            return constants[name]
        case ast.Dict(keys=keys, values=values):
            return {
                _evaluate_constant(key, constants): _evaluate_constant(value, constants)
                for key, value in zip(keys, values, strict=True)
                if key is not None
            }
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return str(_evaluate_constant(left, constants)) + str(_evaluate_constant(right, constants))
    return ast.literal_eval(node)
