"""The trading account."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings

from pytest_fcbench.environments.api.trading import Trading
from pytest_fcbench.environments.world import Filler, World
from tests.cases import each_case
from tests.environments.wild import Call, check_isolation, draw_wild_calls

ACRN = {"price": 40.0, "percent_change": -1.5, "volume": 2.0, "MA(5)": 41.0, "MA(20)": 42.0}
BRCH = {"price": 90.5, "percent_change": 0.2, "volume": 1.0, "MA(5)": 90.0, "MA(20)": 88.0}
BOUGHT = {"id": 7, "order_type": "Buy", "symbol": "ACRN", "price": 39.0, "amount": 2, "status": "Completed"}
OFFERED = {"id": 8, "order_type": "Sell", "symbol": "BRCH", "price": 95.0, "amount": 1, "status": "Pending"}
JANUARY = {"type": "deposit", "amount": 5, "timestamp": "2031-01-10 00:00:00"}
FEBRUARY = {"type": "withdrawal", "amount": 2, "timestamp": "2031-02-10 12:00:00"}
LONG_AGO = {"type": "deposit", "amount": 1.0, "timestamp": "1999-01-01 00:00:00"}

WORLD = World(
    defaults={
        "trading": {
            "orders": {"7": BOUGHT, "8": OFFERED},
            "account_info": {"account_id": 3, "balance": 100.0, "binding_card": 4000},
            "authenticated": False,
            "market_status": "Closed",
            "order_counter": 8,
            "stocks": {"ACRN": ACRN, "BRCH": BRCH},
            "watch_list": ["BRCH"],
            "transaction_history": [JANUARY, FEBRUARY],
            "random_seed": 11,
        }
    },
    symbols={"Acorn Mills": "ACRN"},
    sectors={"Food": ["ACRN"]},
    today="2031-03-05",
    filler=Filler(
        watch_list=["ZZA", ...],
        transactions=[LONG_AGO],
        ma_5=[1.0, 2.0],
        ma_20=[3.0],
        sectors={"Food": ["CRMB"]},
        order_details={"risks": "{symbol} may fall. {symbol}!"},
    ),
)


def make_account(*, long_context: bool = False, **config: object) -> Trading:
    """Make an account whose user is logged in, at an open market."""
    open_account = {"authenticated": True, "market_status": "Open"}
    return Trading(open_account | config, WORLD, long_context=long_context)


def is_error(result: object) -> bool:
    return isinstance(result, Mapping) and list(result) == ["error"]


def test_the_state_is_the_default_overlaid_by_the_configuration() -> None:
    assert Trading({"watch_list": ["ACRN"], "unknown": 1}, WORLD).state() == {
        "orders": {7: BOUGHT, 8: OFFERED},
        "account_info": {"account_id": 3, "balance": 100.0, "binding_card": 4000},
        "authenticated": False,
        "market_status": "Closed",
        "order_counter": 8,
        "stocks": {"ACRN": ACRN, "BRCH": BRCH},
        "watch_list": ["ACRN"],
        "transaction_history": [JANUARY, FEBRUARY],
        "long_context": False,
    }


def test_order_numbers_become_numbers_again_and_words_stay() -> None:
    orders = make_account(orders={"12": BOUGHT, "order_type": "Buy"}).orders
    assert orders == {12: BOUGHT, "order_type": "Buy"}


def test_the_clock_stands_still() -> None:
    assert make_account().get_current_time() == {"current_time": "10:30 AM"}


@pytest.mark.parametrize(("name", "symbol"), [("Acorn Mills", "ACRN"), ("acorn mills", "Stock not found")])
def test_a_symbol_is_found_by_the_name_of_its_company(name: str, symbol: str) -> None:
    assert make_account().get_symbol_by_name(name) == {"symbol": symbol}


def test_the_info_of_a_stock_needs_its_exact_symbol() -> None:
    account = make_account()
    assert account.get_stock_info("ACRN") == ACRN
    assert is_error(account.get_stock_info("acrn"))


def test_a_long_context_lists_the_averages_but_does_not_keep_them() -> None:
    account = make_account(long_context=True)
    assert account.get_stock_info("ACRN") == {**ACRN, "MA(5)": [1.0, 2.0], "MA(20)": [3.0]}
    assert account.stocks["ACRN"] == ACRN


@pytest.mark.parametrize(
    ("sector", "short", "long"), [("Food", ["ACRN"], ["ACRN", "CRMB"]), ("Steel", [], [])]
)
def test_stocks_of_a_sector(sector: str, short: list[str], long: list[str]) -> None:
    assert make_account().get_available_stocks(sector) == {"stock_list": short}
    assert make_account(long_context=True).get_available_stocks(sector) == {"stock_list": long}


@pytest.mark.parametrize(
    ("lowest", "highest", "left"),
    [
        (40, 90.5, ["BRCH", "ACRN"]),
        (41, 90, []),
        (0, 50, ["ACRN", "NONE"]),  # who is unknown costs 0
    ],
)
def test_stocks_are_filtered_by_price(lowest: float, highest: float, left: list[str]) -> None:
    result = make_account().filter_stocks_by_price(["BRCH", "ACRN", "NONE"], lowest, highest)
    assert result == {"filtered_stocks": left}


@pytest.mark.parametrize(
    ("threshold", "notification"),
    [
        (0.2, "Stocks ACRN, BRCH have significant price changes."),
        (1.5, "Stocks ACRN have significant price changes."),
        (1.6, "No significant price changes in the selected stocks."),
    ],
)
def test_price_changes_count_in_both_directions(threshold: float, notification: str) -> None:
    result = make_account().notify_price_change(["ACRN", "NONE", "BRCH"], threshold)
    assert result == {"notification": notification}


def test_login_and_logout_change_the_status() -> None:
    account = Trading({}, WORLD)
    said = [
        account.trading_get_login_status(),
        account.trading_logout(),
        account.trading_login("anyone", ""),
        account.trading_login("someone else", "secret"),
        account.trading_get_login_status(),
        account.trading_logout(),
    ]
    assert [result["status"] for result in said] == [
        False,
        "No user is currently logged in",
        "Logged in successfully",
        "Already logged in",
        True,
        "Logged out successfully",
    ]
    assert not account.authenticated


@each_case(
    ("function", "arguments"),
    [
        ("get_account_info", ()),
        ("fund_account", (1,)),
        ("withdraw_funds", (1,)),
        ("place_order", ("Buy", "ACRN", 1.0, 1)),
        ("remove_stock_from_watchlist", ("BRCH",)),
    ],
)
def test_a_login_is_needed(function: str, arguments: tuple[object, ...]) -> None:
    account = make_account(authenticated=False)
    before = deepcopy(account.state())
    assert is_error(getattr(account, function)(*arguments))
    assert account.state() == before


def test_lists_refuse_in_a_list() -> None:
    account = make_account(authenticated=False)
    for result in (account.get_order_history(), account.get_transaction_history("no day")):
        assert isinstance(result, list)
        assert [is_error(item) for item in result] == [True]
    assert account.get_watchlist() == ["Error: log in to see the watch list."]


def test_the_account_is_shown() -> None:
    assert make_account().get_account_info() == {"account_id": 3, "balance": 100.0, "binding_card": 4000}


def test_money_in_and_out() -> None:
    account = make_account(transaction_history=[])
    assert account.fund_account(50) == {"status": "Account funded successfully", "new_balance": 150.0}
    assert account.withdraw_funds(150) == {"status": "Withdrawal successful", "new_balance": 0.0}
    kinds = [(entry["type"], entry["amount"]) for entry in account.transaction_history]
    assert kinds == [("deposit", 50), ("withdrawal", 150)]
    now = datetime(2031, 3, 5, 10, 30)
    for entry in account.transaction_history:
        assert now <= datetime.fromisoformat(entry["timestamp"]) <= now + timedelta(days=1)


def test_moments_of_transactions_follow_from_the_seed() -> None:
    def get_moment(seed: int) -> str:
        account = make_account(random_seed=seed)
        account.fund_account(1)
        return str(account.transaction_history[-1]["timestamp"])

    assert get_moment(1) == get_moment(1) != get_moment(2)


@each_case(
    ("function", "amount", "market"),
    [
        ("fund_account", 0, "Open"),
        ("fund_account", -1, "Open"),
        ("withdraw_funds", 0, "Open"),
        ("withdraw_funds", 100.5, "Open"),
        ("withdraw_funds", 1, "Closed"),
    ],
)
def test_a_refused_transfer_moves_no_money(function: str, amount: float, market: str) -> None:
    account = make_account(market_status=market)
    assert is_error(getattr(account, function)(amount))
    assert account.account_info["balance"] == 100.0
    assert account.transaction_history == [JANUARY, FEBRUARY]


@each_case(
    ("start", "end", "found"),
    [
        (None, None, [JANUARY, FEBRUARY]),
        ("", "", [JANUARY, FEBRUARY]),
        ("2031-01-10", None, [JANUARY, FEBRUARY]),
        ("2031-01-11", None, [FEBRUARY]),
        (None, "2031-02-10", [JANUARY]),  # the last day does not count
        ("2031-03-01", "2031-01-01", []),
    ],
)
def test_transactions_of_a_period(start: str | None, end: str | None, found: list[object]) -> None:
    assert make_account().get_transaction_history(start, end) == {"transaction_history": found}
    assert make_account(long_context=True).get_transaction_history(start, end) == {
        "transaction_history": [*found, LONG_AGO]
    }


def test_a_day_that_is_none_raises() -> None:
    with pytest.raises(ValueError, match="10 January"):
        make_account().get_transaction_history("10 January")


def test_an_order_is_told_pending_kept_open_and_not_paid() -> None:
    account = make_account(order_counter=20)
    assert account.place_order("Buy", "ACRN", 50, 2) == {
        "order_id": 20,
        "order_type": "Buy",
        "status": "Pending",
        "price": 50.0,
        "amount": 2,
    }
    kept = {"id": 20, "order_type": "Buy", "symbol": "ACRN", "price": 50.0, "amount": 2, "status": "Open"}
    assert account.orders == {7: BOUGHT, 8: OFFERED, 20: kept}
    assert (account.order_counter, account.account_info["balance"]) == (21, 100.0)


@pytest.mark.parametrize(
    ("kind", "price", "amount"),
    [
        ("Sell", 1e6, 5),  # no stock is needed
        ("Hold", 1e6, 5),
        ("buy", 100, 1.9),  # only the whole share must be covered
    ],
)
def test_orders_that_are_taken_all_the_same(kind: str, price: float, amount: float) -> None:
    account: Any = make_account()
    assert account.place_order(kind, "ACRN", price, amount)["order_id"] == 8
    assert account.orders[8] != OFFERED  # its number was still the counter's


@each_case(
    ("symbol", "price", "amount"),
    [("NONE", 1, 1), ("ACRN", 0, 1), ("ACRN", 1, 0), ("ACRN", -1, 1), ("ACRN", 50.01, 2)],
)
def test_an_order_is_refused(symbol: str, price: float, amount: int) -> None:
    account = make_account()
    assert is_error(account.place_order("Buy", symbol, price, amount))
    assert (account.order_counter, list(account.orders)) == (8, [7, 8])


def test_an_order_can_be_cancelled() -> None:
    account = make_account(authenticated=False)
    assert account.cancel_order(8) == {"order_id": 8, "status": "Cancelled"}
    assert account.orders[8]["status"] == "Cancelled"
    assert is_error(account.cancel_order(7)), "completed"
    assert is_error(account.cancel_order(9)), "unknown"


def test_the_details_of_an_order_are_shown() -> None:
    account = make_account(authenticated=False)
    assert account.get_order_details(7) == BOUGHT
    assert account.get_order_details(9) == {"error": "There is no order 9, only these: [7, 8]"}


def test_a_long_context_tells_more_about_an_order() -> None:
    account = make_account(long_context=True)
    metadata = {"risks": "ACRN may fall. ACRN!"}
    assert account.get_order_details(7) == {**BOUGHT, "metadata": metadata}
    assert account.orders[7] == BOUGHT


def test_the_history_lists_all_orders() -> None:
    assert make_account().get_order_history() == {"history": [7, 8]}


def test_stocks_can_be_watched_and_unwatched() -> None:
    account = make_account()
    for stock, watched in [
        ("ACRN", ["BRCH", "ACRN"]),
        ("ACRN", ["BRCH", "ACRN"]),
        ("NONE", ["BRCH", "ACRN"]),
    ]:
        assert account.add_to_watchlist(stock) == {"watchlist": watched}
    removed = account.remove_stock_from_watchlist("BRCH")
    assert removed == {"status": "Stock BRCH removed from watchlist successfully."}
    assert is_error(account.remove_stock_from_watchlist("BRCH"))
    assert account.get_watchlist() == {"watchlist": ["ACRN"]}


def test_a_long_context_makes_the_watch_list_bare_and_long() -> None:
    account = make_account(long_context=True)
    assert account.get_watchlist() == ["BRCH", "ZZA", ...]
    assert account.watch_list == ["BRCH"]


Failing = tuple[str, list[object], dict[str, Any]]
OUT: dict[str, Any] = {"authenticated": False}
ALIKE: list[list[Failing]] = [
    [("get_account_info", [], OUT)],
    [("fund_account", [1], OUT), ("fund_account", [-1], OUT)],
    [("withdraw_funds", [1], OUT), ("withdraw_funds", [1], OUT | {"market_status": "Closed"})],
    [("place_order", ["Buy", "ACRN", 1, 1], OUT), ("place_order", ["Sell", "NONE", 0, 0], OUT)],
    [("get_transaction_history", [], OUT), ("get_transaction_history", ["no day"], OUT)],
    [("get_order_history", [], OUT)],
    [("remove_stock_from_watchlist", [stock], OUT) for stock in ("ACRN", "BRCH")],
    [("get_watchlist", [], OUT)],
    [("get_stock_info", ["5"], {}), ("get_stock_info", [5], OUT)],
    [("get_stock_info", ["6"], {})],
    [("place_order", ["Buy", "5", 1, 1], {}), ("place_order", ["Sell", 5, 0, 0], {})],
    [("place_order", ["Buy", "6", 1, 1], {})],
    [("place_order", ["Buy", "ACRN", 0, 1], {}), ("place_order", ["Sell", "BRCH", 5, -1], {})],
    [("place_order", ["Buy", *order], {}) for order in (("ACRN", 70.0001, 10), ("BRCH", 350, 2.5))],
    [("place_order", ["Buy", "ACRN", 70.01, 10], {})],
    [("place_order", ["Buy", "ACRN", 70, 10], {"account_info": {"balance": 5}})],
    [("fund_account", [0], {}), ("fund_account", [-1], {})],
    [("withdraw_funds", [0], {}), ("withdraw_funds", [-1], {})],
    [("withdraw_funds", [101], {}), ("withdraw_funds", [500], {})],
    [("withdraw_funds", [amount], {"market_status": "Closed"}) for amount in (0, 500)],
    [("get_order_details", [9], {}), ("get_order_details", ["9"], {})],
    [("get_order_details", [9], {"orders": {}})],
    [("get_order_details", [6], {})],
    [("cancel_order", [9], {}), ("cancel_order", ["9"], {"orders": {}})],
    [("cancel_order", [6], {})],
    [("cancel_order", [7], {}), ("cancel_order", [7], OUT)],
    [("cancel_order", [7.0], {})],
    [("remove_stock_from_watchlist", ["5"], {}), ("remove_stock_from_watchlist", [5], {})],
    [("remove_stock_from_watchlist", ["6"], {})],
]
"""Functions, their arguments and the configuration of the account: one list for each text."""


def error_of(function: str, arguments: list[object], config: dict[str, Any]) -> str:
    answer = getattr(make_account(**config), function)(*arguments)
    [error] = answer if isinstance(answer, list) else [answer]
    return str(error["error"] if isinstance(error, dict) else error)


@each_case("calls", ALIKE, ids=str)
def test_errors_read_alike_exactly_where_they_officially_do(calls: list[Failing]) -> None:
    """Verdicts compare texts: what an error names, and which functions share it, is part of them."""
    [text] = {error_of(*call) for call in calls}
    assert text not in {error_of(*call) for others in ALIKE if others is not calls for call in others}


def test_results_are_not_the_state() -> None:
    account: Any = make_account()
    before = deepcopy(account.state())
    for result in (account.get_account_info(), account.get_order_details(7), account.get_stock_info("ACRN")):
        result.clear()
    account.get_watchlist()["watchlist"].clear()
    assert account.state() == before


KNOWN = ["ACRN", "BRCH", ["ACRN"], "Buy", 7, 8, 1.5, "2031-01-10", "Food"]
CONFIG = {"authenticated": True, "market_status": "Open", "orders": {"7": BOUGHT}, "watch_list": ["ACRN"]}


@settings(deadline=None)
@given(draw_wild_calls(Trading, KNOWN))
def test_no_call_reaches_beyond_its_account(calls: list[Call]) -> None:
    check_isolation(lambda: Trading(CONFIG, WORLD, long_context=True), (CONFIG, WORLD), calls)
