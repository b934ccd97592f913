"""Reader of the constants, tables and sentences in BFCL's sources, which are neither imported nor run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from pytest_fcbench.codecs.python_syntax import parse_module
from pytest_fcbench.domain.errors import PackError

_MULTI_TURN = "bfcl_eval/eval_checker/multi_turn_eval"
_FILLER = f"{_MULTI_TURN}/func_source_code/long_context.py"

DOMAIN_FILES: Mapping[str, str] = {
    "file_system": "gorilla_file_system",
    "math": "math_api",
    "memory_kv": "memory_kv",
    "memory_rec_sum": "memory_rec_sum",
    "memory_vector": "memory_vector",
    "messages": "message_api",
    "posting": "posting_api",
    "tickets": "ticket_api",
    "trading": "trading_bot",
    "travel": "travel_booking",
    "vehicle": "vehicle_control",
    "web_search": "web_search",
}
"""The name of the files about each domain: its source, and its function docs."""

_DOMAIN_SOURCES = {
    domain: f"{_MULTI_TURN}/func_source_code/{file}.py" for domain, file in DOMAIN_FILES.items()
}

CLASSES: Mapping[str, str] = {
    "GorillaFileSystem": "file_system",
    "MathAPI": "math",
    "MessageAPI": "messages",
    "TwitterAPI": "posting",
    "TicketAPI": "tickets",
    "TradingBot": "trading",
    "TravelAPI": "travel",
    "VehicleControlAPI": "vehicle",
}
"""Our name of each domain by its official class."""

_WITH_STATE = ("messages", "posting", "tickets", "trading", "travel", "vehicle")

_NO_PASSPORT = "verification_failure"
# Values that the official classes have in their code and not in their default state.
_SEEDS = {"messages": {"random_seed": 200191}}

_FILLER_NAMES = {
    "file_text": "FILE_CONTENT_EXTENSION",
    "spared_files": "FILES_TAIL_USED",
    "file_names": "POPULATE_FILE_EXTENSION",
    "watch_list": "WATCH_LIST_EXTENSION",
    "transactions": "TRANSACTION_HISTORY_EXTENSION",
    "ma_5": "MA_5_EXTENSION",
    "ma_20": "MA_20_EXTENSION",
    "order_details": "ORDER_DETAIL_EXTENSION",
    "car_status": "CAR_STATUS_METADATA_EXTENSION",
    "weather": "LONG_WEATHER_EXTENSION",
    "parking_brake": "PARKING_BRAKE_INSTRUCTION",
    "cities": "INTERMEDIARY_CITIES",
    "credit_cards": "CREDIT_CARD_EXTENSION",
    "bookings": "BOOKING_RECORD_EXTENSION",
}
"""The official constant of each filler; fillers of sectors have a constant each."""

TABLE_SOURCES = (*(_DOMAIN_SOURCES[domain] for domain in _WITH_STATE), _FILLER)


def read_world(modules: Mapping[str, ast.Module]) -> Mapping[str, object]:
    """Return a world in the form of ``environments.world.world_from_json``. Raises ``PackError``."""

    def find(domain: str, name: str) -> ast.FunctionDef:
        return find_function(modules[_DOMAIN_SOURCES[domain]], name)

    filler = modules[_FILLER]
    distances = _read_branches(find("vehicle", "estimate_distance"), compared=2)
    zip_codes = _read_branches(find("vehicle", "get_zipcode_based_on_city"), compared=1)
    defaults = {}
    for name in _WITH_STATE:
        state = _read_assigned(modules[_DOMAIN_SOURCES[name]], "DEFAULT_STATE")
        if not isinstance(state, dict):
            raise _missing("DEFAULT_STATE")
        defaults[name] = {**_SEEDS.get(name, {}), **state}
    return {
        "defaults": defaults,
        "fares": _read_assigned(find("travel", "get_flight_cost"), "base_costs"),
        "airports": _read_returned(find("travel", "list_all_airports")),
        "nearest_airports": _read_assigned(find("travel", "get_nearest_airport_by_city"), "airport_map"),
        "exchange_rates": _read_assigned(find("travel", "compute_exchange_rate"), "exchange_rates"),
        "symbols": _read_assigned(find("trading", "get_symbol_by_name"), "symbol_map"),
        "sectors": _read_assigned(find("trading", "get_available_stocks"), "sector_map"),
        "distances": [[*ends, km] for ends, km in distances],
        "zip_codes": {str(city): code for (city,), code in zip_codes},
        "tire_shop": _read_member(find("vehicle", "find_nearest_tire_shop"), "shopLocation"),
        "support_reply": _read_member(find("travel", "contact_customer_support"), "customer_support_message"),
        "foreign_passport": _read_member(find("travel", "verify_traveler_information"), _NO_PASSPORT),
        "filler": {
            **{ours: _read_assigned(filler, theirs) for ours, theirs in _FILLER_NAMES.items()},
            "sectors": {
                name: _read_assigned(filler, f"{name.upper()}_EXTENSION")
                for name in ("Technology", "Automobile")
            },
        },
    }


def find_function(module: ast.Module, name: str) -> ast.FunctionDef:
    """Return the definition of a function or method. Raises ``PackError``."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise _missing(f"the function {name}")


def _read_assigned(inside: ast.AST, name: str) -> object:
    """Return the literal that is assigned to a name."""
    for node in ast.walk(inside):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=found)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value)
            ) if found == name:
                return _evaluate_literal(value)
    raise _missing(name)


def _read_member(function: ast.FunctionDef, key: str) -> object:
    """Return the last text that a function returns under a key."""
    texts = [
        (value.lineno, value.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Dict)
        for name, value in zip(node.keys, node.values, strict=True)
        if isinstance(name, ast.Constant) and name.value == key and isinstance(value, ast.Constant)
    ]
    if not texts:
        raise _missing(f"{key} in {function.name}")
    return max(texts)[1]


def _read_returned(function: ast.FunctionDef) -> object:
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            return _evaluate_literal(node.value)
    raise _missing(f"what {function.name} returns")


def _read_branches(function: ast.FunctionDef, compared: int) -> list[tuple[list[object], object]]:
    """Return the compared texts and the value of each ``if x == a …: {key: value}``."""
    branches: list[tuple[list[object], object]] = []
    for node in ast.walk(function):
        if not isinstance(node, ast.If):
            continue
        sides = [part.comparators[0] for part in ast.walk(node.test) if isinstance(part, ast.Compare)]
        texts: list[object] = sorted(
            {part.value for part in sides if isinstance(part, ast.Constant)}, key=str
        )
        match node.body:
            case _ if not sides:
                continue
            case [
                ast.Return(value=ast.Dict(values=[value])) | ast.Assign(value=ast.Dict(values=[value]))
            ] if len(texts) == compared and all(isinstance(part, ast.Constant) for part in sides):
                branches.append((texts, _evaluate_literal(value)))
            case _:
                raise _missing(f"a branch of {function.name}")
    if not branches:
        raise _missing(f"the branches of {function.name}")
    return branches


def _evaluate_literal(node: ast.expr) -> object:
    """Return a literal in the form of ``world_from_json``."""
    try:
        return _to_json(ast.literal_eval(node))
    except (ValueError, TypeError) as error:
        raise _missing(f"a literal ({error})") from None


def _to_json(value: object) -> object:
    """Convert a literal: parts of a key are joined with ``|``, and ``...`` becomes a marked object."""
    if isinstance(value, dict):
        return {"|".join(k) if isinstance(k, tuple) else str(k): _to_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_to_json(member) for member in value]
    return {"__ellipsis__": True} if value is ... else value


def _missing(what: str) -> PackError:
    return _refuse(f"{what} is not where it was")


def _refuse(flaw: str) -> PackError:
    return PackError(f"{flaw}; the package has changed, so pull the pinned version")


_SENTENCE_FILES = {"executor": f"{_MULTI_TURN}/multi_turn_utils.py", **_DOMAIN_SOURCES}
"""The source of each domain, and of what carries calls out."""

CLASS_NAMES: Mapping[str, str] = {
    **{domain: name for name, domain in CLASSES.items()},
    "memory_kv": "MemoryAPI_kv",
    "memory_rec_sum": "MemoryAPI_rec_sum",
    "memory_vector": "MemoryAPI_vector",
    "web_search": "WebSearchAPI",
}
"""The official class of each domain, which Python names in errors."""


def read_sentences(modules: Mapping[str, ast.Module]) -> Mapping[str, Mapping[str, list[str]]]:
    """Return the sentences of each function of each domain, as templates of ``str.format``."""
    sentences: dict[str, dict[str, list[str]]] = {domain: {} for domain in _SENTENCE_FILES}
    for domain, path in _SENTENCE_FILES.items():
        for node in ast.walk(modules[path]):
            if isinstance(node, ast.FunctionDef) and (texts := list(_read_function(node))):
                sentences[domain].setdefault(node.name, []).extend(texts)
    return sentences


def _read_function(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the texts with a space of a function in source order, without its docstring.

    A text without one is a name, a key or a date format.
    """
    first = function.body[0]
    docstring = first.value if isinstance(first, ast.Expr) else None
    texts = [each for each in _list_texts(function) if each is not docstring]
    for node in sorted(texts, key=lambda text: (text.lineno, text.col_offset)):
        parts: list[ast.expr] = node.values if isinstance(node, ast.JoinedStr) else [node]
        if any(isinstance(part, ast.Constant) and " " in str(part.value) for part in parts):
            yield "".join(_write_parts(parts))


def _list_texts(node: ast.AST) -> Iterator[ast.JoinedStr | ast.Constant]:
    """Yield the texts below a node, without those that are parts of other texts."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.JoinedStr) or (
            isinstance(child, ast.Constant) and isinstance(child.value, str)
        ):
            yield child
        else:
            yield from _list_texts(child)


def _write_parts(parts: list[ast.expr]) -> Iterator[str]:
    """Yield the parts of a template; a value is called by its name, or ``value`` where it has none."""
    for part in parts:
        match part:
            case ast.Constant(value=text):
                yield str(text).replace("{", "{{").replace("}", "}}")
            case ast.FormattedValue(value=ast.Name(id=name) | ast.Attribute(attr=name)):
                yield f"{{{name}}}"
            case _:
                yield "{value}"


_HANDLER_FOLDER = "bfcl_eval/model_handler"

_HANDLER_FILES: Mapping[str, str] = {
    "ArchHandler": "local_inference/arch",
    "BitAgentHandler": "local_inference/bitagent",
    "DMCitoHandler": "api_inference/mining",
    "FunctionGemmaHandler": "local_inference/functiongemma",
    "GLMHandler": "local_inference/glm",
    "GeminiHandler": "api_inference/gemini",
    "Granite3FCHandler": "local_inference/granite_3",
    "Granite4FCHandler": "local_inference/granite_4",
    "GraniteFunctionCallingHandler": "local_inference/granite",
    "HammerHandler": "local_inference/hammer",
    "LlamaHandler_3_1": "local_inference/llama_3_1",
    "MiniCPMFCHandler": "local_inference/minicpm_fc",
    "NanbeigeFCHandler": "local_inference/nanbeige_fc",
    "NemotronHandler": "api_inference/nemotron",
    "PelicanVLFCHandler": "local_inference/pelican_vl_fc",
    "PhiFCHandler": "local_inference/phi_fc",
    "QwenFCHandler": "local_inference/qwen_fc",
    "SalesforceLlamaHandler": "local_inference/salesforce_llama",
    "SalesforceQwenHandler": "local_inference/salesforce_qwen",
    "ThinkAgentHandler": "local_inference/think_agent",
    "convert_to_tool": "utils",
}
"""The source of each class with sentences of its own, and of the converter of function docs."""

CONVERTER = "convert_to_tool"
"""The converter's key among the classes."""

SPEAKING = frozenset(_HANDLER_FILES) - {CONVERTER}
"""The classes that put sentences of their own into requests."""

_HANDLER_SOURCES = tuple(f"{_HANDLER_FOLDER}/{file}.py" for file in _HANDLER_FILES.values())


def read_family_texts(modules: Mapping[str, ast.Module]) -> Mapping[str, list[str]]:
    """Return the sentences of each class in the order of its source, docstrings left out.

    A text inside an f-string is a sentence of its own, without the values around it.
    """
    return {
        handler: list(_read_sentences(modules[f"{_HANDLER_FOLDER}/{file}.py"]))
        for handler, file in _HANDLER_FILES.items()
    }


def _read_sentences(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            # A docstring; some quote the public template of a model.
            continue
        if isinstance(child, ast.Constant):
            text = child.value
            # A text of one word is a mark or a name, unless it has signs that only prose has.
            if isinstance(text, str) and (len(text.split()) > 1 or not text.isascii()):
                yield text
        else:
            yield from _read_sentences(child)


_PROMPTS = "bfcl_eval/constants/default_prompts.py"
_DOCS = "bfcl_eval/utils.py"
_TOOLS = "bfcl_eval/model_handler/utils.py"

_DUMP = "_dump_core_memory_to_context"

# Each once: the sources of some classes have tables and sentences.
SOURCES = tuple(
    dict.fromkeys((_PROMPTS, _DOCS, _TOOLS, *TABLE_SOURCES, *_SENTENCE_FILES.values(), *_HANDLER_SOURCES))
)


def read_constants(texts: Mapping[str, str]) -> Mapping[str, object]:
    """Return prompt texts, language hints and the tables of the API classes. Raises ``PackError``."""
    for path in SOURCES:
        if path not in texts:
            raise _refuse(f"{path} is missing")
    try:
        modules = {path: parse_module(texts[path]) for path in SOURCES}
    except (SyntaxError, ValueError) as error:
        raise _refuse(f"not Python sources: {error}") from None
    docs, tools, prompts = (modules[path] for path in (_DOCS, _TOOLS, _PROMPTS))
    (float_note,) = _expect(_read_added_texts(find_function(tools, "_cast_to_openai_type")), 1, _TOOLS)
    language_hints = _read_returned_texts(find_function(docs, "_get_language_specific_hint"))
    # ast.walk goes level by level: the else branch of "if java / elif javascript / else" is the deepest.
    java, javascript, python = _expect(language_hints, 3, _DOCS)
    doc_notes = _read_added_texts(find_function(docs, "_func_doc_language_specific_pre_processing"))
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
        "world": {**read_world(modules), "sentences": read_sentences(modules), "class_names": CLASS_NAMES},
        "families": read_family_texts(modules),
        # The sentence that a model is shown for the content of an empty memory.
        "empty_memory": {
            name: _expect(_read_returned_texts(find_function(modules[path], _DUMP)), 1, _DUMP)[0]
            for name, path in _DOMAIN_SOURCES.items()
            if name in ("memory_kv", "memory_rec_sum")
        },
    }


def _expect(text_iterator: Iterator[str], count: int, path: str) -> list[str]:
    texts = list(text_iterator)
    if len(texts) != count:
        raise _refuse(f"{path}: expected {count} texts, found {len(texts)}")
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
