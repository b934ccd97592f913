"""Reading the tables that BFCL's API classes hold in Python sources, without importing or running them."""

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
"""Our name of a domain by the official class."""

_WITH_STATE = {
    "messages": f"{_FOLDER}/message_api.py",
    "posting": f"{_FOLDER}/posting_api.py",
    "tickets": f"{_FOLDER}/ticket_api.py",
    "trading": f"{_FOLDER}/trading_bot.py",
    "travel": f"{_FOLDER}/travel_booking.py",
    "vehicle": f"{_FOLDER}/vehicle_control.py",
}

_SEEDS = {"messages": {"random_seed": 200191}}
"""What stands in the code of a class instead of its default state."""

SOURCES = (*_WITH_STATE.values(), _FILLER)


def read_world(modules: Mapping[str, ast.Module]) -> Mapping[str, object]:
    """A world as ``environments.world.world_from_json`` takes it. Raises ``PackError``."""
    travel, trading, vehicle = (modules[_WITH_STATE[name]] for name in ("travel", "trading", "vehicle"))
    return {
        "defaults": {name: _default_state(name, modules[path]) for name, path in _WITH_STATE.items()},
        "fares": _assigned(_function(travel, "get_flight_cost"), "base_costs"),
        "airports": _returned(_function(travel, "list_all_airports")),
        "nearest_airports": _assigned(_function(travel, "get_nearest_airport_by_city"), "airport_map"),
        "exchange_rates": _assigned(_function(travel, "compute_exchange_rate"), "exchange_rates"),
        "symbols": _assigned(_function(trading, "get_symbol_by_name"), "symbol_map"),
        "sectors": _assigned(_function(trading, "get_available_stocks"), "sector_map"),
        "distances": [
            [*ends, km] for ends, km in _branches(_function(vehicle, "estimate_distance"), compared=2)
        ],
        "zip_codes": {
            str(city): code
            for (city,), code in _branches(_function(vehicle, "get_zipcode_based_on_city"), compared=1)
        },
        "tire_shop": _member(_function(vehicle, "find_nearest_tire_shop"), "shopLocation"),
        "support_reply": _member(_function(travel, "contact_customer_support"), "customer_support_message"),
        "foreign_passport": _member(_function(travel, "verify_traveler_information"), "verification_failure"),
        "filler": _filler(modules[_FILLER]),
    }


def _default_state(name: str, module: ast.Module) -> dict[str, object]:
    state = _assigned(module, "DEFAULT_STATE")
    if not isinstance(state, dict):
        raise _changed("DEFAULT_STATE")
    return {**_SEEDS.get(name, {}), **state}


def _filler(module: ast.Module) -> Mapping[str, object]:
    names = {
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
    sectors = {"Technology": "TECHNOLOGY_EXTENSION", "Automobile": "AUTOMOBILE_EXTENSION"}
    return {
        **{ours: _assigned(module, theirs) for ours, theirs in names.items()},
        "sectors": {ours: _assigned(module, theirs) for ours, theirs in sectors.items()},
    }


def _function(module: ast.Module, name: str) -> ast.FunctionDef:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise _changed(f"the function {name}")


def _assigned(inside: ast.AST, name: str) -> object:
    """The literal that is assigned to a name."""
    for node in ast.walk(inside):
        match node:
            case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                return _json(value)
            case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value) if found == name:
                return _json(value)
    raise _changed(name)


def _member(function: ast.FunctionDef, key: str) -> object:
    """The last text that a function returns under a key."""
    found = [
        (value.lineno, value.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Dict)
        for name, value in zip(node.keys, node.values, strict=True)
        if isinstance(name, ast.Constant) and name.value == key and isinstance(value, ast.Constant)
    ]
    if not found:
        raise _changed(f"{key} in {function.name}")
    return max(found)[1]


def _returned(function: ast.FunctionDef) -> object:
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            return _json(node.value)
    raise _changed(f"what {function.name} returns")


def _branches(function: ast.FunctionDef, compared: int) -> list[tuple[list[object], object]]:
    """Of each ``if x == a …: {key: value}``, the texts that are compared, so many, and the value."""
    found: list[tuple[list[object], object]] = []
    for node in ast.walk(function):
        if not isinstance(node, ast.If):
            continue
        with_ = [part.comparators[0] for part in ast.walk(node.test) if isinstance(part, ast.Compare)]
        texts: list[object] = sorted(
            {part.value for part in with_ if isinstance(part, ast.Constant)}, key=str
        )
        match node.body:
            case _ if not with_:
                continue
            case [
                ast.Return(value=ast.Dict(values=[value])) | ast.Assign(value=ast.Dict(values=[value]))
            ] if len(texts) == compared and all(isinstance(part, ast.Constant) for part in with_):
                found.append((texts, _json(value)))
            case _:
                raise _changed(f"a branch of {function.name}")
    if not found:
        raise _changed(f"the branches of {function.name}")
    return found


def _json(node: ast.expr) -> object:
    """A literal as ``world_from_json`` takes it: a key of several parts is joined with ``|``."""
    try:
        return _plain(ast.literal_eval(node))
    except (ValueError, TypeError) as error:
        raise _changed(f"a literal ({error})") from None


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {"|".join(k) if isinstance(k, tuple) else str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(member) for member in value]
    return {"__ellipsis__": True} if value is ... else value


def _changed(what: str) -> PackError:
    return PackError(f"{what} is not where it was; the package has changed")
