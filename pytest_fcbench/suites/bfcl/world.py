"""Reader of the tables in the sources of BFCL's API classes, which are neither imported nor run."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from pytest_fcbench.domain.errors import PackError

_FOLDER = "bfcl_eval/eval_checker/multi_turn_eval/func_source_code"
_FILLER = f"{_FOLDER}/long_context.py"

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

_WITH_STATE = {
    "messages": f"{_FOLDER}/message_api.py",
    "posting": f"{_FOLDER}/posting_api.py",
    "tickets": f"{_FOLDER}/ticket_api.py",
    "trading": f"{_FOLDER}/trading_bot.py",
    "travel": f"{_FOLDER}/travel_booking.py",
    "vehicle": f"{_FOLDER}/vehicle_control.py",
}

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

SOURCES = (*_WITH_STATE.values(), _FILLER)


def read_world(modules: Mapping[str, ast.Module]) -> Mapping[str, object]:
    """Return a world in the form of ``environments.world.world_from_json``. Raises ``PackError``."""

    def find(domain: str, name: str) -> ast.FunctionDef:
        return find_function(modules[_WITH_STATE[domain]], name)

    filler = modules[_FILLER]
    distances = _read_branches(find("vehicle", "estimate_distance"), compared=2)
    zip_codes = _read_branches(find("vehicle", "get_zipcode_based_on_city"), compared=1)
    defaults = {}
    for name, path in _WITH_STATE.items():
        state = _read_assigned(modules[path], "DEFAULT_STATE")
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
        "foreign_passport": _read_member(
            find("travel", "verify_traveler_information"), "verification_failure"
        ),
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
    return PackError(f"{what} is not where it was; the package has changed, so pull the pinned version")
