"""A stock trading account: orders, a watch list, deposits and withdrawals."""

from __future__ import annotations

from copy import deepcopy
from datetime import datetime, timedelta
from random import Random
from typing import Any, Literal

from pytest_fcbench.environments.environment import Environment

Result = dict[str, object]

_DAY = "%Y-%m-%d"
_MOMENT = "%Y-%m-%d %H:%M:%S"
_TIME = "10:30"


class Trading(Environment):
    """A trading system: look up stocks, place and cancel orders, move money, keep a watch list."""

    _domain = "trading"

    def _set_up_domain(self, state: dict[str, Any], *, long_context: bool) -> None:
        self.long_context = long_context
        # Keys were numbers before they went through JSON. Some configurations have a word among them.
        self.orders: dict[int | str, Any] = {
            int(key) if key.isdigit() else key: order for key, order in state["orders"].items()
        }
        self.account_info: dict[str, Any] = state["account_info"]
        self.authenticated: bool = state["authenticated"]
        self.market_status: str = state["market_status"]
        self.order_counter: int = state["order_counter"]
        self.stocks: dict[str, dict[str, Any]] = state["stocks"]
        self.watch_list: list[str] = state["watch_list"]
        self.transaction_history: list[dict[str, Any]] = state["transaction_history"]
        self._random = Random(state["random_seed"])  # noqa: S311 - to be repeated, not to be secret
        self._now = datetime.fromisoformat(f"{self._world.today} {_TIME}")

    def get_current_time(self) -> Result:
        """Tell the time of day.

        Returns:
            ``current_time``, as in "09:05 AM".
        """
        return {"current_time": f"{_TIME} AM"}

    def get_symbol_by_name(self, name: str) -> Result:
        """Find the stock symbol of a company.

        Args:
            name: Name of the company, written exactly.

        Returns:
            ``symbol``, or "Stock not found" in its place.
        """
        return {"symbol": self._world.symbols.get(name, "Stock not found")}

    def get_stock_info(self, symbol: str) -> Result:
        """Show price, change, volume and moving averages of a stock.

        Args:
            symbol: Symbol of the stock.

        Returns:
            ``price``, ``percent_change``, ``volume``, ``MA(5)`` and ``MA(20)``.
        """
        if symbol not in self.stocks:
            ours = "There is no stock with the symbol {symbol}."
            return self._make_error(ours, "get_stock_info", 0, symbol=symbol)
        info = deepcopy(self.stocks[symbol])
        if self.long_context:
            filler = self._world.filler
            info |= {"MA(5)": list(filler.ma_5), "MA(20)": list(filler.ma_20)}
        return info

    def get_available_stocks(self, sector: str) -> Result:
        """List the stocks of a sector.

        Args:
            sector: Name of the sector, such as "Technology".

        Returns:
            ``stock_list``: the symbols; empty for an unknown sector.
        """
        more = self._world.filler.sectors.get(sector, ()) if self.long_context else ()
        return {"stock_list": [*self._world.sectors.get(sector, ()), *more]}

    def filter_stocks_by_price(self, stocks: list[str], min_price: float, max_price: float) -> Result:
        """Keep the stocks whose price lies in a range, both ends included.

        Args:
            stocks: Symbols to choose from.
            min_price: Lowest price.
            max_price: Highest price.

        Returns:
            ``filtered_stocks``: the symbols that fit, in the given order.
        """

        # Official behaviour: an unknown stock, or one without a price, costs 0.
        def price(symbol: str) -> Any:
            return self.stocks.get(symbol, {}).get("price", 0)

        return {"filtered_stocks": [symbol for symbol in stocks if min_price <= price(symbol) <= max_price]}

    def notify_price_change(self, stocks: list[str], threshold: float) -> Result:
        """Report which stocks moved at least by a threshold, up or down.

        Args:
            stocks: Symbols to check.
            threshold: Smallest change that counts, in percent.

        Returns:
            ``notification``: a sentence that names the stocks.
        """
        symbols = [
            symbol
            for symbol in stocks
            if symbol in self.stocks and abs(self.stocks[symbol]["percent_change"]) >= threshold
        ]
        if not symbols:
            return {"notification": "No significant price changes in the selected stocks."}
        return {"notification": f"Stocks {', '.join(symbols)} have significant price changes."}

    def trading_login(self, username: str, password: str) -> Result:
        """Log in to the trading system.

        Args:
            username: Name of the user.
            password: Password of the user.

        Returns:
            ``status``: whether the login worked or was not needed.
        """
        if self.authenticated:
            return {"status": "Already logged in"}
        # Official: any name and password will do.
        self.authenticated = True
        return {"status": "Logged in successfully"}

    def trading_logout(self) -> Result:
        """Log out of the trading system.

        Returns:
            ``status``: whether someone was logged in.
        """
        if not self.authenticated:
            return {"status": "No user is currently logged in"}
        self.authenticated = False
        return {"status": "Logged out successfully"}

    def trading_get_login_status(self) -> Result:
        """Tell whether a user is logged in to the trading system.

        Returns:
            ``status``: true or false.
        """
        return {"status": bool(self.authenticated)}

    def get_account_info(self) -> Result:
        """Show the account of the user who is logged in.

        Returns:
            ``account_id``, ``balance`` and ``binding_card``.
        """
        if not self.authenticated:
            return self._make_login_error("get_account_info", "see the account")
        return deepcopy(self.account_info)

    def fund_account(self, amount: float) -> Result:
        """Pay money into the account. Needs a login.

        Args:
            amount: Money to pay in, more than 0.

        Returns:
            ``status`` and ``new_balance``.
        """
        if not self.authenticated:
            return self._make_login_error("fund_account", "fund the account")
        if amount <= 0:
            return self._make_error("An account is funded with more than 0.", "fund_account", 1)
        self.account_info["balance"] += amount
        self._record_transaction("deposit", amount)
        return {"status": "Account funded successfully", "new_balance": self.account_info["balance"]}

    def withdraw_funds(self, amount: float) -> Result:
        """Take money out of the account. Needs a login and an open market.

        Args:
            amount: Money to take out, more than 0 and not more than the balance.

        Returns:
            ``status`` and ``new_balance``.
        """
        if not self.authenticated:
            return self._make_login_error("withdraw_funds", "withdraw money")
        if self.market_status != "Open":
            ours = "Money can be withdrawn only while the market is open."
            return self._make_error(ours, "withdraw_funds", 1)
        if amount <= 0:
            return self._make_error("A withdrawal takes more than 0.", "withdraw_funds", 2)
        if amount > self.account_info["balance"]:
            return self._make_error("A withdrawal takes no more than the balance.", "withdraw_funds", 3)
        self.account_info["balance"] -= amount
        self._record_transaction("withdrawal", amount)
        return {"status": "Withdrawal successful", "new_balance": self.account_info["balance"]}

    def get_transaction_history(
        self, start_date: str | None = None, end_date: str | None = None
    ) -> Result | list[Result]:
        """List deposits and withdrawals, all or those of a period. Needs a login.

        Args:
            start_date: First day, as YYYY-MM-DD.
            end_date: Day until whose beginning transactions count, as YYYY-MM-DD.

        Returns:
            ``transaction_history``: ``type``, ``amount`` and ``timestamp`` of each.
        """
        if not self.authenticated:
            return [self._make_login_error("get_transaction_history", "see the transactions")]
        start = datetime.strptime(start_date, _DAY) if start_date else datetime.min
        end = datetime.strptime(end_date, _DAY) if end_date else datetime.max
        period_transactions = [
            transaction
            for transaction in self.transaction_history
            if start <= datetime.strptime(transaction["timestamp"], _MOMENT) <= end
        ]
        more = self._world.filler.transactions if self.long_context else ()
        return {"transaction_history": deepcopy([*period_transactions, *more])}

    def place_order(
        self, order_type: Literal["Buy", "Sell"], symbol: str, price: float, amount: int
    ) -> Result:
        """Order the purchase or sale of a stock. Needs a login, and for a purchase enough money.

        Args:
            order_type: Whether to buy or to sell.
            symbol: Symbol of the stock.
            price: Price of one share.
            amount: Number of shares.

        Returns:
            ``order_id``, ``order_type``, ``status``, ``price`` and ``amount`` of the new order.
        """
        if not self.authenticated:
            return self._make_login_error("place_order", "place an order")
        if symbol not in self.stocks:
            ours = "Nothing to order: {symbol} is no stock."
            return self._make_error(ours, "place_order", 1, symbol=symbol)
        if price <= 0 or amount <= 0:
            return self._make_error("Price and amount of an order are more than 0.", "place_order", 2)
        price = float(price)
        # Official behaviour: any text but "buy" is an order too, only whole shares must be covered, nothing
        # is paid yet, the order is told to be pending though kept as open, and takes over an id in use.
        if order_type.lower() == "buy":
            cost, balance = price * int(amount), self.account_info.get("balance", 0)
            if cost > balance:
                ours = "The order costs ${total_cost}, the balance is ${value}."
                placeholders = {"total_cost": f"{cost:.2f}", "value": f"{balance:.2f}"}
                return self._make_error(ours, "place_order", 3, **placeholders)
        order_id = self.order_counter
        self.orders[order_id] = {
            "id": order_id,
            "order_type": order_type,
            "symbol": symbol,
            "price": price,
            "amount": amount,
            "status": "Open",
        }
        self.order_counter += 1
        return {
            "order_id": order_id,
            "order_type": order_type,
            "status": "Pending",
            "price": price,
            "amount": amount,
        }

    def cancel_order(self, order_id: int) -> Result:
        """Cancel an order that is not completed.

        Args:
            order_id: Number of the order.

        Returns:
            ``order_id`` and the new ``status``.
        """
        if order_id not in self.orders:
            ours = "There is no order {order_id} to cancel."
            return self._make_error(ours, "cancel_order", 0, order_id=order_id)
        order = self.orders[order_id]
        if order["status"] == "Completed":
            ours = "Order {order_id} is completed and stays so."
            return self._make_error(ours, "cancel_order", 1, order_id=order_id)
        order["status"] = "Cancelled"
        return {"order_id": order_id, "status": "Cancelled"}

    def get_order_details(self, order_id: int) -> Result:
        """Show an order.

        Args:
            order_id: Number of the order.

        Returns:
            ``id``, ``order_type``, ``symbol``, ``price``, ``amount`` and ``status``.
        """
        if order_id not in self.orders:
            ours = "There is no order {order_id}, only these: "
            unknown = self._write_text(ours, "get_order_details", 0, order_id=order_id)
            list_label = self._write_text("", "get_order_details", 1)
            return {"error": f"{unknown}{list_label}{list(self.orders)}"}
        order: dict[str, Any] = deepcopy(self.orders[order_id])
        if self.long_context:
            texts = self._world.filler.order_details
            symbol = str(order["symbol"])
            order["metadata"] = {topic: text.replace("{symbol}", symbol) for topic, text in texts.items()}
        return order

    def get_order_history(self) -> Result | list[Result]:
        """List the numbers of all orders. Needs a login.

        Returns:
            ``history``: the numbers.
        """
        if not self.authenticated:
            return [self._make_login_error("get_order_history", "see the orders")]
        return {"history": list(self.orders)}

    def add_to_watchlist(self, stock: str) -> Result:
        """Put a stock on the watch list, if it exists and is not on it.

        Args:
            stock: Symbol of the stock.

        Returns:
            ``watchlist``: the symbols on it now.
        """
        # Official behaviour: no login is needed, and an unknown stock is passed over in silence.
        if stock in self.stocks and stock not in self.watch_list:
            self.watch_list.append(stock)
        return {"watchlist": deepcopy(self.watch_list)}

    def remove_stock_from_watchlist(self, symbol: str) -> Result:
        """Take a stock off the watch list. Needs a login.

        Args:
            symbol: Symbol of the stock.

        Returns:
            ``status``: that the stock is off the list.
        """
        if not self.authenticated:
            return self._make_login_error("remove_stock_from_watchlist", "change the watch list")
        if symbol not in self.watch_list:
            ours = "{symbol} is not on the watch list."
            return self._make_error(ours, "remove_stock_from_watchlist", 1, symbol=symbol)
        self.watch_list.remove(symbol)
        return {"status": f"Stock {symbol} removed from watchlist successfully."}

    def get_watchlist(self) -> Result | list[object]:
        """List the stocks on the watch list. Needs a login.

        Returns:
            ``watchlist``: the symbols.
        """
        # Official behaviour: without a login, and with a long context, it is a bare list.
        if not self.authenticated:
            return [self._write_text("Error: log in to see the watch list.", "get_watchlist", 0)]
        symbols = deepcopy(self.watch_list)
        return [*symbols, *self._world.filler.watch_list] if self.long_context else {"watchlist": symbols}

    def _record_transaction(self, kind: Literal["deposit", "withdrawal"], amount: float) -> None:
        # Official behaviour: some time within a day from now, in no order.
        moment = self._now + timedelta(seconds=self._random.randint(0, 24 * 60 * 60))
        self.transaction_history.append(
            {"type": kind, "amount": amount, "timestamp": moment.strftime(_MOMENT)}
        )

    def _make_login_error(self, function: str, purpose: str) -> Result:
        return self._make_error(f"Log in to {purpose}.", function, 0)
