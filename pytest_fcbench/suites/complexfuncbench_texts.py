"""The texts of ComplexFuncBench's official code, from a user's clone of its repository.

The repository has no licence file, so nothing of it is in this project. ``fcbench pull complexfuncbench
--code PATH`` parses three source files of a clone, which are neither imported nor run, and keeps their texts
in the cache beside the data. The hashes here only tell whether texts are those of the version that this
project was held against.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import pydantic

from pytest_fcbench.codecs.python_syntax import parse_module, write_expression
from pytest_fcbench.domain.errors import PackError, PackMissing
from pytest_fcbench.domain.recorded_call import write_reply
from pytest_fcbench.kinds.golden_path.wording import JudgePrompt, PathWording
from pytest_fcbench.suites.packs import Manifest, open_pack, write_pack_file

NAME = "complexfuncbench"
COMMIT = "c37b284"
"""The commit whose texts and habits this project was held against."""

FILE = "texts.json"

_RUNNER, _COMPARISON = "runner/base_runner.py", "utils/compare_method.py"
_PROMPTS: Mapping[str, tuple[str, str, str]] = {
    "equivalence": ("prompts/compare.py", "system_prompt", "user_prompt"),
    "completeness": ("prompts/response.py", "complete_system_prompt", "complete_user_prompt"),
    "correctness": ("prompts/response.py", "correct_system_prompt", "correct_user_prompt"),
}
"""The file of each prompt, and the names of its messages there."""

_LARGEST = 2**20
"""The limit of a source file's size in bytes."""

_REFUSALS = ("unknown_function", "missing", "surplus", "string", "number", "boolean", "array")
"""What is wrong with the form of a call, in the order of the sentences in the source."""

_VALUES: Mapping[str, str] = {
    "func_call['name']": "function",
    "used_func['name']": "function",
    "required_params": "required",
    "list(func_call['arguments'].keys())": "given",
    "missing_param": "names",
    "param_name": "parameter",
    "type(param_value)": "type",
}
"""Names of the values in sentences by the expressions that stand for them in the source."""

_HASHES: Mapping[str, str] = {
    "wrong_call": "e8003a3098ea",
    "refusals.unknown_function": "fb9fb2093b95",
    "refusals.missing": "9f58a4474b65",
    "refusals.surplus": "d2f3fe5e7cab",
    "refusals.string": "b661b4b01693",
    "refusals.number": "8876a6430435",
    "refusals.boolean": "0601e0fd2cbc",
    "refusals.array": "4ccf000efc7d",
    "equivalence": "a69887e0b502",
    "completeness": "49b0fa9bdfba",
    "correctness": "87eb72e66c0f",
}
"""The first digits of the sha256 of each text at ``COMMIT``."""

_ARGUMENTS: Mapping[str, frozenset[str]] = {
    "equivalence": frozenset(("functions", "history", "function_call_1", "function_call_2")),
    "completeness": frozenset(("query", "gen_response")),
    "correctness": frozenset(("history", "gen_response")),
}
"""The values that each prompt can ask for."""


@cache  # made when it is first needed, because it takes long
def _wording_adapter() -> pydantic.TypeAdapter[PathWording]:
    return pydantic.TypeAdapter(PathWording)


class CodeSource:
    """A maker of packs from a clone of the official repository."""

    name = NAME
    title = "THUDM/ComplexFuncBench"
    folder = "code"

    def accepts(self, manifest: Manifest) -> bool:
        """Tell whether a manifest is about texts in this form."""
        return manifest.get("files") == {FILE: manifest.get("content_sha256")}

    def make(self, new: Path, home: Path, origin: Path | None, revision: str | None) -> Manifest:
        """Read the texts from the clone at ``origin``; there is no other place to get them from."""
        if origin is None:
            raise PackError(f"the texts of {self.title} are read from a clone only; name it with --code=PATH")
        wording = read_code(origin)
        sha256 = write_pack_file(new, FILE, _wording_adapter().dump_json(wording, indent=1))
        return {
            "version": wording.version,
            "content_sha256": sha256,
            "files": {FILE: sha256},
            "provenance": f"a clone of {self.title}",
        }


CODE = CodeSource()
"""The pack of the official texts."""


def read_wording(cache: Path) -> PathWording | None:
    """Return the official texts from the cache, or None where none were read. Raises ``PackError``."""
    try:
        content = open_pack(CODE, cache).read(FILE)
        return _wording_adapter().validate_json(content)
    except PackMissing:
        return None
    except (PackError, pydantic.ValidationError):
        raise PackError(
            f"{cache / 'packs' / NAME / CODE.folder}: the texts of the official code are damaged; run "
            f"'fcbench pull {NAME} --code PATH' with a clone of {CODE.title}, or delete the folder to run "
            f"without them"
        ) from None


def list_changed_texts(wording: PathWording) -> list[str]:
    """Name the texts that are not those at ``COMMIT``."""
    return [name for name, digest in _hash_texts(wording).items() if _HASHES.get(name) != digest]


def read_code(clone: Path) -> PathWording:
    """Read the texts from a clone. Raises ``PackError`` where a file is not of the known shape."""
    wrong_call = None
    for node in ast.walk(_parse(clone, _RUNNER)):
        match node:
            case ast.Assign(targets=[ast.Attribute(attr="unexpect_call_resp")], value=value):
                wrong_call = write_reply(_evaluate_literal(clone, _RUNNER, value))
    if wrong_call is None:
        raise _refuse(clone, _RUNNER, "it assigns no unexpect_call_resp")
    wording = PathWording(
        version="",
        wrong_call=wrong_call,
        refusals=_read_refusals(clone),
        **{name: _read_prompt(clone, name) for name in _PROMPTS},
    )
    if not list_changed_texts(wording):
        return replace(wording, version=COMMIT)
    return replace(wording, version=_hash(_hash_texts(wording)))


def _hash_texts(wording: PathWording) -> dict[str, str]:
    texts = {
        "wrong_call": wording.wrong_call,
        **{f"refusals.{name}": text for name, text in wording.refusals.items()},
        **{name: asdict(getattr(wording, name)) for name in _PROMPTS},
    }
    return {name: _hash(text) for name, text in texts.items()}


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:12]


def _parse(clone: Path, name: str) -> ast.Module:
    path = clone / name
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise _refuse(clone, name, f"it has more than {_LARGEST} bytes")
        return parse_module(content.decode())
    except OSError as error:
        raise PackError(
            f"{path}: {error.strerror}; give the folder of a clone of {CODE.title} with --code"
        ) from None
    # Each is raised for some text that is no program.
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _refuse(clone, name, f"it cannot be parsed ({error})") from None


def _refuse(clone: Path, name: str, reason: str) -> PackError:
    return PackError(f"{clone / name}: {reason}; use a clone of {CODE.title} at commit {COMMIT}")


def _read_refusals(clone: Path) -> Mapping[str, str]:
    """Return the sentences about calls of a wrong form, as templates of ``str.format``."""
    sentences = []
    for function in ast.walk(_parse(clone, _COMPARISON)):
        if not isinstance(function, ast.FunctionDef) or function.name != "format_check":
            continue
        for node in ast.walk(function):
            match node:
                case ast.Return(
                    value=ast.Dict(keys=[ast.Constant(value="error")], values=[ast.JoinedStr() as sentence])
                ):
                    sentences.append(sentence)
    # ``ast.walk`` goes level by level, not from top to bottom.
    sentences.sort(key=lambda sentence: sentence.lineno)
    if len(sentences) != len(_REFUSALS):
        reason = f"its format_check has {len(sentences)} sentences, not {len(_REFUSALS)}"
        raise _refuse(clone, _COMPARISON, reason)
    return {
        name: "".join(_write_parts(clone, sentence))
        for name, sentence in zip(_REFUSALS, sentences, strict=True)
    }


def _write_parts(clone: Path, sentence: ast.JoinedStr) -> Iterator[str]:
    for part in sentence.values:
        name = None
        if isinstance(part, ast.FormattedValue):
            with suppress(RecursionError):
                name = _VALUES.get(write_expression(part.value))
        match part:
            case ast.Constant(value=str(text)):
                yield text.replace("{", "{{").replace("}", "}}")
            case ast.FormattedValue(conversion=-1, format_spec=None) if name:
                yield f"{{{name}}}"
            case _:
                reason = f"line {sentence.lineno}: a sentence contains an unknown value"
                raise _refuse(clone, _COMPARISON, reason)


def _read_prompt(clone: Path, name: str) -> JudgePrompt:
    """Return the prompt for a judge: a text, and a call that has a template and the names of its values."""
    file, system_name, user_name = _PROMPTS[name]
    assignments = {
        node.targets[0].id: node.value
        for node in _parse(clone, file).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    system, user = assignments.get(system_name), assignments.get(user_name)
    if system is None or not isinstance(user, ast.Call):
        raise _refuse(clone, file, f"it has no {system_name if system is None else user_name}")
    keywords = {str(keyword.arg): _evaluate_literal(clone, file, keyword.value) for keyword in user.keywords}
    match (_evaluate_literal(clone, file, system), keywords.get("template"), keywords.get("args_order")):
        case str(text), str(template), list(names) if set(names) <= _ARGUMENTS[name]:
            return JudgePrompt(text, template, tuple(names))
    raise _refuse(clone, file, f"its {user_name} has an unexpected form")


def _evaluate_literal(clone: Path, name: str, node: ast.expr) -> object:
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError):
        raise _refuse(clone, name, f"line {node.lineno}: the value is not a literal") from None
    return value
