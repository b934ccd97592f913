"""A travel agency: flights, bookings, credit cards, insurance."""

from __future__ import annotations

from copy import deepcopy
from datetime import date, datetime
from functools import partial
from random import Random
from typing import Any, Literal

from pytest_fcbench.environments.environment import Environment

Result = dict[str, object]
TravelClass = Literal["economy", "business", "first"]

_CLASS_FACTORS = {"economy": 1, "business": 2, "first": 5}
_ADULT = 18


class Travel(Environment):
    """A travel agency: book flights, register credit cards, buy insurance, keep a budget."""

    _domain = "travel"

    def _set_up_domain(self, state: dict[str, Any], *, long_context: bool) -> None:
        self.long_context = long_context
        self.credit_card_list: dict[str, dict[str, Any]] = state["credit_card_list"]
        self.booking_record: dict[str, dict[str, Any]] = state["booking_record"]
        self.access_token: str | None = state["access_token"]
        self.token_type: str | None = state["token_type"]
        self.token_expires_in: int | None = state["token_expires_in"]
        self.token_scope: str | None = state["token_scope"]
        self.user_first_name: str | None = state["user_first_name"]
        self.user_last_name: str | None = state["user_last_name"]
        self.budget_limit: float | None = state["budget_limit"]
        self._random = Random(state["random_seed"])  # noqa: S311 - to be repeated, not to be secret
        # The cards and bookings of strangers, except where the configuration has its own.
        if long_context:
            for card_id, card in self._world.filler.credit_cards.items():
                self.credit_card_list.setdefault(card_id, deepcopy(dict(card)))
            for booking_id, booking in self._world.filler.bookings.items():
                self.booking_record.setdefault(booking_id, deepcopy(dict(booking)))

    def authenticate_travel(
        self,
        client_id: str,
        client_secret: str,
        refresh_token: str,
        grant_type: Literal["read_write", "read", "write"],
        user_first_name: str,
        user_last_name: str,
    ) -> Result:
        """Log the user in and get the access token that other functions ask for.

        Args:
            client_id: Id of the client application.
            client_secret: Secret of the client application.
            refresh_token: Refresh token from the first login.
            grant_type: What the token allows.
            user_first_name: First name of the user.
            user_last_name: Last name of the user.

        Returns:
            ``access_token``, with ``expires_in``, ``token_type`` and ``scope``.
        """
        self.access_token = self._draw_number(6)
        self.token_type = "Bearer"  # noqa: S105 - a kind of token
        self.token_expires_in = 2
        self.token_scope = grant_type
        self.user_first_name = user_first_name
        self.user_last_name = user_last_name
        return {
            "expires_in": self.token_expires_in,
            "access_token": self.access_token,
            "token_type": self.token_type,
            "scope": self.token_scope,
        }

    def travel_get_login_status(self) -> Result:
        """Tell whether the user is logged in.

        Returns:
            ``status``: true or false.
        """
        # Official behaviour: the lifetime of the token decides, not the token.
        return {"status": self.token_expires_in is not None and self.token_expires_in != 0}

    def verify_traveler_information(
        self, first_name: str, last_name: str, date_of_birth: str, passport_number: str
    ) -> Result:
        """Check a traveler: the user who is logged in, at least 18 years old, with a passport of the US.

        Args:
            first_name: First name of the traveler.
            last_name: Last name of the traveler.
            date_of_birth: Birthday, as YYYY-MM-DD.
            passport_number: Number of the passport, which starts with "US".

        Returns:
            ``verification_status``, and ``verification_failure`` with the reason if it is false.
        """
        if first_name != self.user_first_name or last_name != self.user_last_name:
            another = self._write_text("", "verify_traveler_information", 0)
            names = self._write_text(
                "The user is {user_first_name} {user_last_name}, not {first_name} {last_name}.",
                "verify_traveler_information",
                1,
                user_first_name=self.user_first_name,
                user_last_name=self.user_last_name,
                first_name=first_name,
                last_name=last_name,
            )
            return _refuse_traveler(another + names)
        try:
            born = _parse_day(date_of_birth)
        except ValueError:
            ours = "A birthday is a day of the form YYYY-MM-DD."
            return _refuse_traveler(self._write_text(ours, "verify_traveler_information", 2))
        today = _parse_day(self._world.today)
        age = today.year - born.year - ((today.month, today.day) < (born.month, born.day))
        if age < _ADULT:
            ours = f"Who is below the age of {_ADULT} is not verified."
            return _refuse_traveler(self._write_text(ours, "verify_traveler_information", 3))
        if not passport_number.startswith("US"):
            # The only one of these texts that recorded official results contain.
            return _refuse_traveler(self._world.foreign_passport)
        return {"verification_status": True}

    def register_credit_card(
        self,
        access_token: str,
        card_number: str,
        expiration_date: str,
        cardholder_name: str,
        card_verification_number: int,
    ) -> Result:
        """Register a credit card for payments.

        Args:
            access_token: Access token of the user.
            card_number: Number on the card.
            expiration_date: End of the card's life, as MM/YYYY.
            cardholder_name: Name on the card.
            card_verification_number: Verification number of the card.

        Returns:
            ``card_id``, by which other functions know the card.
        """
        # Official behaviour: only here, a token without a lifetime is no token.
        if self.token_expires_in is None:
            ours = "Authenticate first: there is no access token yet."
            return self._make_error(ours, "register_credit_card", 0)
        if refusal := self._check_token(access_token):
            return {"error": refusal}
        # Official behaviour: the number is looked for among the ids, not the numbers of the cards.
        if card_number in self.credit_card_list:
            return self._make_error("The card is registered already.", "register_credit_card", 3)
        card_id = self._draw_number(12)
        self.credit_card_list[card_id] = {
            "card_number": card_number,
            "expiration_date": expiration_date,
            "cardholder_name": cardholder_name,
            "card_verification_number": card_verification_number,
            "balance": int(self._draw_number(5)),
        }
        return {"card_id": card_id}

    def get_credit_card_balance(self, access_token: str, card_id: str) -> Result:
        """Show the balance of a registered credit card.

        Args:
            access_token: Access token of the user.
            card_id: Id of the card.

        Returns:
            ``card_balance``.
        """
        if refusal := self._check_token(access_token):
            return {"error": refusal}
        if card_id not in self.credit_card_list:
            ours = "Only these cards are registered: "
            sentence = self._write_text(ours, "get_credit_card_balance", 2)
            return {"error": f"{sentence}{list(self.credit_card_list)}"}
        return {"card_balance": self.credit_card_list[card_id]["balance"]}

    def get_all_credit_cards(self) -> Result:
        """List the registered credit cards.

        Returns:
            ``credit_card_list``: the cards by their ids.
        """
        return {"credit_card_list": deepcopy(self.credit_card_list)}

    def set_budget_limit(self, access_token: str, budget_limit: float) -> Result:
        """Set the budget of the user.

        Args:
            access_token: Access token of the user.
            budget_limit: The budget in USD.

        Returns:
            ``budget_limit``: the budget that holds now.
        """
        if refusal := self._check_token(access_token):
            return {"error": refusal}
        self.budget_limit = float(budget_limit)
        return {"budget_limit": self.budget_limit}

    def get_budget_fiscal_year(
        self,
        lastModifiedAfter: str | None = None,  # noqa: N803 - the official name
        includeRemoved: str | None = None,  # noqa: N803 - the official name
    ) -> Result:
        """Tell the fiscal year of the budget.

        Args:
            lastModifiedAfter: Only fiscal years changed after this moment, as YYYY-MM-DDTHH:MM:SS.
            includeRemoved: "true" for removed fiscal years too.

        Returns:
            ``budget_fiscal_year``.
        """
        # Official: 2018, whatever is asked.
        return {"budget_fiscal_year": "2018"}

    def compute_exchange_rate(self, base_currency: str, target_currency: str, value: float) -> Result:
        """Convert an amount of money to another currency.

        Args:
            base_currency: Currency to convert from, a code such as USD, EUR or RMB.
            target_currency: Currency to convert to.
            value: Amount in the base currency.

        Returns:
            ``exchanged_value``: the amount in the target currency.
        """
        rates = self._world.exchange_rates
        if rate := rates.get(f"{base_currency}|{target_currency}"):
            return {"exchanged_value": float(value * rate)}
        if rate := rates.get(f"{target_currency}|{base_currency}"):
            return {"exchanged_value": round(value / rate, 2)}
        ours = "there is no rate between these currencies"
        raise ValueError(self._write_text(ours, "compute_exchange_rate", 0))

    def list_all_airports(self) -> list[str]:
        """List all airports.

        Returns:
            The codes of the airports.
        """
        return list(self._world.airports)

    def get_nearest_airport_by_city(self, location: str) -> Result:
        """Find the airport of a city.

        Args:
            location: Name of the city, such as "San Francisco".

        Returns:
            ``nearest_airport``: its code, or "Unknown".
        """
        return {"nearest_airport": self._world.nearest_airports.get(location, "Unknown")}

    def get_flight_cost(
        self, travel_from: str, travel_to: str, travel_date: str, travel_class: TravelClass
    ) -> Result:
        """Show what a flight costs in USD.

        Args:
            travel_from: Code of the airport of departure.
            travel_to: Code of the airport of arrival.
            travel_date: Day of the flight, as YYYY-MM-DD.
            travel_class: Class of the seat.

        Returns:
            ``travel_cost_list``: a list with the cost.
        """
        fare = self._find_fare(travel_from, travel_to)
        # In a list, because a model may give what cannot be hashed.
        if travel_class not in list(_CLASS_FACTORS):
            ours = f"the classes are {', '.join(_CLASS_FACTORS)}"
            raise ValueError(self._write_text(ours, "get_flight_cost", 1))
        factor = _compute_factor(travel_date, travel_class)
        # Official behaviour: in a long context, the costs of all flights and no word which is which.
        fares = self._world.fares.values() if self.long_context else (fare,)
        return {"travel_cost_list": [float(fare * factor) for fare in fares]}

    def book_flight(
        self,
        access_token: str,
        card_id: str,
        travel_date: str,
        travel_from: str,
        travel_to: str,
        travel_class: TravelClass,
    ) -> Result:
        """Book a flight and pay it by credit card.

        Args:
            access_token: Access token of the user.
            card_id: Id of the credit card that pays.
            travel_date: Day of the flight, as YYYY-MM-DD.
            travel_from: Code of the airport of departure.
            travel_to: Code of the airport of arrival.
            travel_class: Class of the seat.

        Returns:
            ``booking_id``, ``transaction_id``, ``booking_status`` and ``booking_history``.
        """
        refuse = partial(self._write_refusal, "booking_status", "book_flight")
        if refusal := self._check_token(access_token):
            return _refuse("booking_status", refusal)
        if card_id not in self.credit_card_list:
            return refuse("The card for the flight is not registered.", 2)
        card = self.credit_card_list[card_id]
        if "balance" not in card:
            return refuse("The balance of the card is not known.", 3)
        if travel_from not in self._world.airports:
            return refuse("There is no airport {travel_from} to depart from.", 4, travel_from=travel_from)
        if travel_to not in self._world.airports:
            return refuse("There is no airport {travel_to} to arrive at.", 5, travel_to=travel_to)
        try:
            _parse_day(travel_date)
        except ValueError:
            return refuse("A flight goes on a day of the form YYYY-MM-DD.", 6)
        if travel_class not in _CLASS_FACTORS:
            # Officially a set, in the order that the hash seed of the process decides.
            return refuse("A flight has the classes {valid_classes}.", 7, valid_classes=set(_CLASS_FACTORS))
        try:
            cost = float(_compute_factor(travel_date, travel_class) * self._find_fare(travel_from, travel_to))
        except ValueError as error:
            return _refuse("booking_status", str(error))
        if card["balance"] < cost:
            return refuse("The flight costs more than the balance of the card.", 9)
        # Official behaviour: the balance is measured by the budget, not the cost.
        if self.budget_limit is not None and card["balance"] < self.budget_limit:
            return refuse("The balance of the card is below the budget limit.", 10)
        card["balance"] -= cost
        booking_id, transaction_id = self._draw_number(7), self._draw_number(8)
        self.booking_record[booking_id] = {
            "card_id": card_id,
            "travel_date": travel_date,
            "travel_from": travel_from,
            "travel_to": travel_to,
            "travel_class": travel_class,
            "travel_cost": cost,
            "transaction_id": transaction_id,
        }
        return {
            "booking_id": booking_id,
            "transaction_id": transaction_id,
            "booking_status": True,
            # Official behaviour: only a long context shows it.
            "booking_history": deepcopy(self.booking_record) if self.long_context else {},
        }

    def get_booking_history(self, access_token: str) -> Result:
        """List all bookings of the user.

        Args:
            access_token: Access token of the user.

        Returns:
            ``booking_history``: the bookings by their ids.
        """
        if refusal := self._check_token(access_token):
            return {"error": refusal}
        return {"booking_history": deepcopy(self.booking_record)}

    def retrieve_invoice(
        self, access_token: str, booking_id: str | None = None, insurance_id: str | None = None
    ) -> Result:
        """Show the invoice of a booking.

        Args:
            access_token: Access token of the user.
            booking_id: Id of the booking.
            insurance_id: Id of an insurance of the booking.

        Returns:
            ``invoice``: flight, cost and transaction of the booking.
        """
        # Official behaviour: the insurance makes no difference.
        if refusal := self._check_token(access_token):
            return {"error": refusal}
        if booking_id is None or booking_id not in self.booking_record:
            return {"error": self._describe_missing_booking()}
        booking = self.booking_record[booking_id]
        fields = ("travel_date", "travel_from", "travel_to", "travel_class", "travel_cost", "transaction_id")
        return {"invoice": {"booking_id": booking_id, **{name: booking[name] for name in fields}}}

    def cancel_booking(self, access_token: str, booking_id: str) -> Result:
        """Cancel a booking; its cost goes back to the card.

        Args:
            access_token: Access token of the user.
            booking_id: Id of the booking.

        Returns:
            ``cancel_status``: whether it worked.
        """
        if refusal := self._check_token(access_token):
            return _refuse("cancel_status", refusal)
        if booking_id not in self.booking_record:
            return _refuse("cancel_status", self._describe_missing_booking())
        booking = self.booking_record[booking_id]
        self.credit_card_list[booking["card_id"]]["balance"] += booking["travel_cost"]
        del self.booking_record[booking_id]
        return {"cancel_status": True}

    def purchase_insurance(
        self, access_token: str, insurance_type: str, booking_id: str, insurance_cost: float, card_id: str
    ) -> Result:
        """Buy an insurance for a booking and pay it by credit card.

        Args:
            access_token: Access token of the user.
            insurance_type: Kind of insurance.
            booking_id: Id of the booking.
            insurance_cost: What the insurance costs, within the budget.
            card_id: Id of the credit card that pays.

        Returns:
            ``insurance_id`` and ``insurance_status``.
        """
        # Official behaviour: the card may go below 0, and the booking never hears of the insurance.
        refuse = partial(self._write_refusal, "insurance_status", "purchase_insurance")
        if refusal := self._check_token(access_token):
            return _refuse("insurance_status", refusal)
        if self.budget_limit is not None and self.budget_limit < insurance_cost:
            return refuse("The insurance costs more than the budget limit.", 2)
        if booking_id not in self.booking_record:
            return _refuse("insurance_status", self._describe_missing_booking())
        if card_id not in self.credit_card_list:
            return refuse("The card for the insurance is not registered.", 4)
        self.credit_card_list[card_id]["balance"] -= insurance_cost
        return {"insurance_id": self._draw_number(9), "insurance_status": True}

    def contact_customer_support(self, booking_id: str, message: str) -> Result:
        """Send a message about a booking to customer support.

        Args:
            booking_id: Id of the booking.
            message: What to tell them.

        Returns:
            ``customer_support_message``: their answer.
        """
        if booking_id not in self.booking_record:
            return {"error": self._describe_missing_booking()}
        return {"customer_support_message": self._world.support_reply}

    def _write_refusal(self, status: str, function: str, ours: str, number: int, **values: object) -> Result:
        return _refuse(status, self._write_text(ours, function, number, **values))

    def _check_token(self, access_token: str) -> str | None:
        """Return why the token is refused, or None."""
        if self.token_expires_in == 0:
            ours = "The access token has expired; authenticate again."
            return self._write_text(ours, "book_flight", 0)
        if access_token != self.access_token:
            return self._write_text("This is not the access token.", "book_flight", 1)
        return None

    # Official: the same sentences in every function that checks a token or a booking.
    def _describe_missing_booking(self) -> str:
        return self._write_text("There is no such booking.", "cancel_booking", 2)

    def _find_fare(self, travel_from: str, travel_to: str) -> float:
        # Official: looked up as a pair, which raises for what cannot be hashed.
        hash((travel_from, travel_to))
        fare = self._world.fares.get(f"{travel_from}|{travel_to}")
        if fare is None:
            ours = "no flight goes between these airports"
            raise ValueError(self._write_text(ours, "get_flight_cost", 0))
        return fare

    def _draw_number(self, digits: int) -> str:
        return str(self._random.randint(10 ** (digits - 1), 10**digits - 1))


def _compute_factor(travel_date: str, travel_class: str) -> int:
    """Return the factor of a flight's price: its class, and a date whose digits have an even sum."""
    digits = sum(int(character) for character in travel_date if character.isdigit())
    return _CLASS_FACTORS[travel_class] * (2 if digits % 2 == 0 else 1)


def _parse_day(text: str) -> date:
    """Parse a day. Raises ValueError for a text that is no day, TypeError for other values."""
    return datetime.strptime(text, "%Y-%m-%d").date()


def _refuse(status: str, why: str) -> Result:
    return {status: False, "error": why}


def _refuse_traveler(why: str) -> Result:
    return {"verification_status": False, "verification_failure": why}
