"""ComplexFuncBench (Zhong et al. 2025, arXiv:2501.10132), from its pack: one file of JSON lines.

    {"id": "Car-Rental-9",                       # domain and number; ten numbers share a template
     "conversations": [
       {"role": "user", "content": "..."},       # once
       {"role": "assistant", "function_call": [{"name": "...", "arguments": {...}}, ...]},
       {"role": "observation", "content": [reply, ...]},      # one for each call; such pairs are the steps
       {"role": "assistant", "content": ""}],    # last; nobody wrote reference answers, so it is not read
     "functions": [{"name": "...", "description": "...", "parameters": {JSON schema of an object}}, ...]}

All keys above must be of this form; others are ignored. In some official records a golden call violates the
schema of its function: such an entry is set aside.

The texts of its official code come from a user's clone of its repository, which has no licence file, so
nothing of it is in this project. ``fcbench pull complexfuncbench --code PATH`` parses three source files of a
clone, which are neither imported nor run, and keeps their texts in the cache beside the data. The hashes here
only tell whether texts are those of the version that this project was held against.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import pydantic

from pytest_fcbench.codecs.python_syntax import parse_module, write_expression
from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry, Message
from pytest_fcbench.domain.errors import PackError, PackMissing, SuiteError, describe_unknown_name
from pytest_fcbench.domain.function_doc import FunctionDoc, describe_misfit
from pytest_fcbench.domain.garbage_collection import pause_collector
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import RecordedCall, write_reply
from pytest_fcbench.environments.world import World
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.kinds.golden_path.truth import GoldenPath, JudgePrompt, Lookup, PathWording
from pytest_fcbench.suites import core
from pytest_fcbench.suites.packs import Manifest, open_pack, write_pack_file
from pytest_fcbench.suites.packs.hub import HubSource
from pytest_fcbench.suites.suite import Suite

NAME = "complexfuncbench"
FILE = "ComplexFuncBench.jsonl"

DOMAINS: Mapping[str, Category] = {
    domain: CATEGORIES[domain.lower().replace("-", "_")]
    for domain in ("Hotels", "Flights", "Car-Rental", "Attraction", "Cross")
}
"""The category of each domain; an id begins with its domain."""

# Officially a call equal to one of their golden calls is accepted at any time, even ahead of its step.
LOOKUPS = (
    Lookup("Location_to_Lat_Long", forgiven=False),
    Lookup("Search_Hotel_Destination"),
    Lookup("Search_Attraction_Location"),
    Lookup("Search_Car_Location"),
    Lookup("Search_Flight_Location"),
    Lookup("Taxi_Search_Location"),
    Lookup("Search_Hotels", {"search_type": "hotel"}),
)
"""The official *free functions*."""

JUDGED = frozenset(
    {
        *("query", "radius", "room_qty", "adults", "children", "children_age", "price_min", "price_max"),
        *("legs", "cabinClass", "sortBy", "min_date", "max_date"),
    }
)
"""Parameters missing from the official list of exact matches (``exact_match_values.json``), in which the 40
functions that occur in entries agree about each of them."""

OVERLOOKED = frozenset(("pick_up_latitude",))
"""Missing from that list too, unlike the other coordinates: a slip, kept in the official profile only."""


def open_suite(cache: Path) -> Suite:
    """Open the suite. Raises ``PackMissing`` where its pack is not in the cache."""
    pack = open_pack(SOURCE, cache)

    def load(category: Category) -> tuple[Entry, ...]:
        # The collector would take half the time to find nothing in a million values.
        with pause_collector():
            wording = read_wording(cache)
            return tuple(read_golden_paths(pack.read(FILE), pack.folder / FILE, category, wording))

    return Suite(
        name=NAME,
        version=pack.version,
        pack_sha256=pack.content_sha256,
        categories=tuple(DOMAINS.values()),
        wording=core.read_wording(),
        world=World(),
        load=load,
    )


_ID = re.compile(r"(?P<domain>.{1,40})-(?P<number>0|[1-9][0-9]{0,5})")
_BEGINNING = re.compile(rb'\s*\{\s*"id"\s*:\s*"(?P<id>(?P<domain>[A-Za-z-]+)-[0-9]+)"')
# Entries that are paraphrases of each other.
_TEMPLATE = 10


def read_golden_paths(
    content: bytes, path: Path, category: Category | None = None, wording: PathWording | None = None
) -> Iterator[Entry]:
    """Yield the entries of a file, or those of a category, in its order. Raises ``SuiteError``.

    ``path`` is the file's name in errors; ``wording`` has the texts of the official code. A line that
    begins with the id of another category is not parsed.
    """
    known_docs: list[tuple[object, FunctionDoc]] = []
    entry_ids: set[str] = set()
    for number, line in enumerate(io.BytesIO(content), 1):
        begins = _BEGINNING.match(line)
        if begins and category not in (None, DOMAINS.get(begins["domain"].decode(), category)):
            continue
        if not line.strip():
            continue
        try:
            value: object = read_json_text(line)
        except (ValueError, RecursionError) as error:
            raise SuiteError(f"{path}:{number}: not JSON: {error}") from None
        # The beginning of the line only saves parsing entries of other categories.
        entry = _make_entry(Field(value, path, line=number), known_docs, wording)
        if entry.id in entry_ids or (begins and begins["id"].decode() != entry.id):
            raise SuiteError(f"{path}:{number}: {entry.id}: the id is used twice; remove one of them")
        entry_ids.add(entry.id)
        if category in (None, entry.category):
            yield entry
    if not entry_ids and category is None:
        raise SuiteError(f"{path}: contains no entries; give the file of the dataset")


def _make_entry(
    record: Field, known_docs: list[tuple[object, FunctionDoc]], wording: PathWording | None
) -> Entry:
    entry_id = record.member("id").text()
    match = _ID.fullmatch(entry_id)
    if not match:
        raise record.member("id").error(
            f"must be a domain and a number, e.g. Hotels-12, not {entry_id!r:.40}"
        )
    if match["domain"] not in DOMAINS:
        raise record.member("id").error(describe_unknown_name("domain", match["domain"], DOMAINS))
    record = replace(record, keys=(entry_id,))
    docs = tuple(_read_doc(field, known_docs) for field in record.member("functions").elements())
    # Calls name their function, so two of one name could not be told apart.
    if len({doc.name for doc in docs}) < len(docs):
        raise record.member("functions").error("a function is listed twice")
    conversation = record.member("conversations")
    turns = list(conversation.elements())
    if len(turns) < 4 or len(turns) % 2:
        raise conversation.error("must have a question, pairs of calls and observations, and a final message")
    question = _read_turn(turns[0], "user", "content").text()
    # Read for its errors only: the last message is empty.
    _read_turn(turns[-1], "assistant", "content")
    steps = tuple(map(_read_step, turns[1:-1:2], turns[2:-1:2]))
    by_name = {doc.name: doc for doc in docs}
    flaws = (describe_misfit(call.name, call.arguments, by_name) for step in steps for call in step)
    return Entry(
        suite=NAME,
        id=entry_id,
        category=DOMAINS[match["domain"]],
        turns=((Message("user", question),),),
        functions=docs,
        expectation=GoldenPath(steps, LOOKUPS, JUDGED, OVERLOOKED, by_runner=True, wording=wording),
        set_aside=next((f"a golden call has a wrong form: {flaw}" for flaw in flaws if flaw), None),
        # All blocks of ten ids begin with calls of the same functions: they paraphrase one template.
        cluster=f"{match['domain']}-{int(match['number']) // _TEMPLATE}",
    )


def _read_doc(field: Field, known_docs: list[tuple[object, FunctionDoc]]) -> FunctionDoc:
    # Entries repeat the docs of few functions; each is read once.
    if earlier_doc := next((doc for value, doc in known_docs if value == field.value), None):
        return earlier_doc
    name, description = (field.member(key).text() for key in ("name", "description"))
    parameters = field.member("parameters")
    kind = parameters.member("type")
    if kind.text() != "object":
        raise kind.error(f"must be 'object', is {kind.value!r}")
    for parameter in parameters.member("properties").members().values():
        parameter.members()
    for required_name in parameters.member("required").elements():
        required_name.text()
    schema = {key: member.value for key, member in parameters.members().items()}
    own = ("name", "description", "parameters")
    extra = {key: member.value for key, member in field.members().items() if key not in own}
    doc = FunctionDoc(name, description, schema, extra)
    known_docs.append((field.value, doc))
    return doc


def _read_turn(field: Field, role: str, key: str) -> Field:
    """Return the member of a turn that belongs to its role."""
    role_field = field.member("role")
    if role_field.value != role:
        raise role_field.error(f"must be {role!r}, is {role_field.value!r:.40}")
    return field.member(key)


def _read_step(calling: Field, observing: Field) -> tuple[RecordedCall, ...]:
    calls_field = _read_turn(calling, "assistant", "function_call")
    replies_field = _read_turn(observing, "observation", "content")
    calls, replies = list(calls_field.elements()), list(replies_field.elements())
    if not calls:
        raise calls_field.error("needs a call")
    if len(calls) != len(replies):
        raise replies_field.error(f"must have a reply to each of {len(calls)} calls, has {len(replies)}")
    recorded_calls = []
    for call, reply in zip(calls, replies, strict=True):
        arguments = {key: value.value for key, value in call.member("arguments").members().items()}
        try:
            recorded_calls.append(RecordedCall.with_reply(call.member("name").text(), arguments, reply.value))
        except RecursionError:
            raise reply.error("is nested too deep") from None
    return tuple(recorded_calls)


SOURCE = HubSource(
    name=NAME,
    repo="zai-org/ComplexFuncBench",
    file=FILE,
    check=lambda content: deque(read_golden_paths(content, Path(FILE)), maxlen=0),
)


# The official texts

COMMIT = "c37b284"
"""The commit whose texts and habits this project was held against."""

_TEXTS = "texts.json"

_RUNNER, _COMPARISON = "runner/base_runner.py", "utils/compare_method.py"
_PROMPTS: Mapping[str, tuple[str, str, str]] = {
    "equivalence": ("prompts/compare.py", "system_prompt", "user_prompt"),
    "completeness": ("prompts/response.py", "complete_system_prompt", "complete_user_prompt"),
    "correctness": ("prompts/response.py", "correct_system_prompt", "correct_user_prompt"),
}
"""The file of each prompt, and the names of its messages there."""

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
        return manifest.get("files") == {_TEXTS: manifest.get("content_sha256")}

    def make(self, new: Path, home: Path, origin: Path | None, revision: str | None) -> Manifest:
        """Read the texts from the clone at ``origin``; there is no other place to get them from."""
        if origin is None:
            raise PackError(f"the texts of {self.title} are read from a clone only; name it with --code=PATH")
        wording = read_code(origin)
        sha256 = write_pack_file(new, _TEXTS, _wording_adapter().dump_json(wording, indent=1))
        return {
            "version": wording.version,
            "content_sha256": sha256,
            "files": {_TEXTS: sha256},
            "provenance": f"a clone of {self.title}",
        }


CODE = CodeSource()
"""The pack of the official texts."""


def read_wording(cache: Path) -> PathWording | None:
    """Return the official texts from the cache, or None where none were read. Raises ``PackError``."""
    try:
        content = open_pack(CODE, cache).read(_TEXTS)
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
        return parse_module(path.read_text(encoding="utf-8"))
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
