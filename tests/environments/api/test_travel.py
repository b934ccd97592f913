"""The travel agency."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings

from pytest_fcbench.environments.api.travel import Travel
from pytest_fcbench.environments.world import Filler, World
from tests.cases import each_case
from tests.environments.wild import Call, check_isolation, draw_wild_calls

TOKEN = "tok"
EVEN, ODD = "2030-01-02", "2030-01-03"  # sums of digits: 8 and 9
TRIP = {
    "card_id": "blue",
    "travel_date": ODD,
    "travel_from": "AAA",
    "travel_to": "BBB",
    "travel_class": "economy",
    "travel_cost": 60.0,
    "transaction_id": "77",
}
STRANGER = {"card_number": "5", "balance": 10.0}

WORLD = World(
    foreign_passport="A passport from elsewhere.",
    defaults={
        "travel": {
            "random_seed": 4,
            "credit_card_list": {},
            "booking_record": {},
            "access_token": None,
            "token_type": None,
            "token_expires_in": None,
            "token_scope": None,
            "user_first_name": None,
            "user_last_name": None,
            "budget_limit": None,
        }
    },
    fares={"AAA|BBB": 60, "BBB|AAA": 80.5},
    airports=("AAA", "BBB", "CCC"),
    nearest_airports={"Abbey": "AAA"},
    exchange_rates={"USD|EUR": 0.8, "USD|RMB": 7},
    today="2031-03-01",
    filler=Filler(
        credit_cards={"blue": STRANGER, "grey": STRANGER},
        bookings={"trip": {**TRIP, "card_id": "grey"}, "far": {**TRIP, "card_id": "grey"}},
    ),
)
CONFIG = {
    "access_token": TOKEN,
    "token_expires_in": 60,
    "credit_card_list": {"blue": {"card_number": "1", "balance": 500.0}, "bare": {"card_number": "2"}},
    "booking_record": {"trip": TRIP},
    "user_first_name": "Ada",
    "user_last_name": "Lund",
}


def make_agency(*, long_context: bool = False, **config: object) -> Travel:
    """Make an agency where Ada Lund is logged in, with a card and a booked trip."""
    return Travel(CONFIG | config, WORLD, long_context=long_context)


def book_trip(agency: Travel, **changes: object) -> dict[str, Any]:
    arguments: dict[str, object] = {
        "access_token": TOKEN,
        "card_id": "blue",
        "travel_date": ODD,
        "travel_from": "AAA",
        "travel_to": "BBB",
        "travel_class": "economy",
    }
    book_flight: Callable[..., dict[str, Any]] = agency.book_flight
    return book_flight(**{**arguments, **changes})


def test_the_state_is_the_default_overlaid_by_the_configuration() -> None:
    assert Travel({"budget_limit": 5.0, "unknown": 1}, WORLD).state() == {
        "credit_card_list": {},
        "booking_record": {},
        "access_token": None,
        "token_type": None,
        "token_expires_in": None,
        "token_scope": None,
        "user_first_name": None,
        "user_last_name": None,
        "budget_limit": 5.0,
        "long_context": False,
    }


def test_authentication_gives_a_token_and_the_status() -> None:
    agency = Travel({}, WORLD)
    assert agency.travel_get_login_status() == {"status": False}
    result = agency.authenticate_travel("", "", "", "read", "Ada", "Lund")
    token = result["access_token"]
    assert result == {"expires_in": 2, "access_token": token, "token_type": "Bearer", "scope": "read"}
    assert isinstance(token, str)
    assert len(token) == 6
    assert agency.get_booking_history(token) == {"booking_history": {}}
    assert (agency.user_first_name, agency.user_last_name, agency.token_scope) == ("Ada", "Lund", "read")
    assert agency.travel_get_login_status() == {"status": True}


def test_ids_follow_from_the_seed() -> None:
    def draw_ids(seed: int) -> list[object]:
        agency = make_agency(random_seed=seed)
        booked = book_trip(agency)
        insured = agency.purchase_insurance(TOKEN, "all", "trip", 1.0, "blue")
        card = agency.register_credit_card(TOKEN, "3", "01/2040", "Ada Lund", 123)
        return [booked["booking_id"], booked["transaction_id"], insured["insurance_id"], card["card_id"]]

    assert draw_ids(1) == draw_ids(1) != draw_ids(2)
    assert [len(str(number)) for number in draw_ids(1)] == [7, 8, 9, 12]


NEED_A_TOKEN: dict[str, tuple[object, ...]] = {
    "register_credit_card": ("3", "01/2040", "Ada Lund", 123),
    "get_credit_card_balance": ("blue",),
    "set_budget_limit": (5,),
    "book_flight": ("blue", ODD, "AAA", "BBB", "economy"),
    "get_booking_history": (),
    "retrieve_invoice": ("trip",),
    "cancel_booking": ("trip",),
    "purchase_insurance": ("all", "trip", 1.0, "blue"),
}


@each_case("function", NEED_A_TOKEN)
@each_case(("token", "lifetime"), [("other", 60), (TOKEN, 0)], ids=["wrong", "expired"])
def test_a_token_is_needed(function: str, token: str, lifetime: int) -> None:
    agency = make_agency(token_expires_in=lifetime)
    before = deepcopy(agency.state())
    result = getattr(agency, function)(token, *NEED_A_TOKEN[function])
    assert "token" in result.pop("error")
    assert list(result.values()) in ([], [False])  # some add a status
    assert agency.state() == before


def test_only_cards_ask_for_a_lifetime_of_the_token() -> None:
    agency = make_agency(token_expires_in=None)
    assert "error" in agency.register_credit_card(TOKEN, "3", "01/2040", "Ada Lund", 123)
    assert agency.get_credit_card_balance(TOKEN, "blue") == {"card_balance": 500.0}
    assert agency.travel_get_login_status() == {"status": False}


@each_case(
    ("last_name", "born", "passport", "failure"),
    [
        ("Lund", "2013-03-01", "US1", None),
        ("Lund", "2013-03-02", "US1", "Who is below the age of 18 is not verified."),
        ("Lund", "1 May", "US1", "A birthday is a day of the form YYYY-MM-DD."),
        ("Lund", "1990-01-01", "us1", "A passport from elsewhere."),
        ("Lunt", "", "", "The user is Ada Lund, not Ada Lunt."),
    ],
)
def test_a_traveler_is_verified_or_told_why_not(
    last_name: str, born: str, passport: str, failure: str | None
) -> None:
    result = make_agency().verify_traveler_information("Ada", last_name, born, passport)
    if failure is None:
        assert result == {"verification_status": True}
    else:
        assert result == {"verification_status": False, "verification_failure": failure}


def test_a_registered_card_is_kept_with_its_balance() -> None:
    agency = make_agency()
    card_id = agency.register_credit_card(TOKEN, "3", "01/2040", "Ada Lund", 123)["card_id"]
    card = agency.credit_card_list[str(card_id)]
    assert 10_000 <= card.pop("balance") <= 99_999
    assert card == {
        "card_number": "3",
        "expiration_date": "01/2040",
        "cardholder_name": "Ada Lund",
        "card_verification_number": 123,
    }


def test_a_card_is_known_by_its_id_not_its_number() -> None:
    agency = make_agency()
    assert "error" in agency.register_credit_card(TOKEN, "blue", "01/2040", "Ada Lund", 123)
    assert "card_id" in agency.register_credit_card(TOKEN, "1", "01/2040", "Ada Lund", 123)


def test_balance_of_a_card() -> None:
    agency = make_agency()
    assert agency.get_credit_card_balance(TOKEN, "blue") == {"card_balance": 500.0}
    assert agency.get_credit_card_balance(TOKEN, "red") == {
        "error": "Only these cards are registered: ['blue', 'bare']"
    }
    with pytest.raises(KeyError, match=r"^'balance'$"):
        agency.get_credit_card_balance(TOKEN, "bare")


def test_all_cards_are_shown() -> None:
    assert make_agency().get_all_credit_cards() == {"credit_card_list": CONFIG["credit_card_list"]}


def test_the_budget_limit_is_kept_as_a_float() -> None:
    agency = make_agency()
    assert agency.set_budget_limit(TOKEN, 300) == {"budget_limit": 300.0}
    assert isinstance(agency.budget_limit, float)
    assert agency.get_budget_fiscal_year("2020-01-01T00:00:00", "true") == {"budget_fiscal_year": "2018"}


@each_case(
    ("base", "target", "value", "exchanged"),
    [("USD", "EUR", 10, 8.0), ("EUR", "USD", 10, 12.5), ("USD", "RMB", 2, 14.0), ("RMB", "USD", 5, 0.71)],
)
def test_a_value_is_exchanged(base: str, target: str, value: float, exchanged: float) -> None:
    result = make_agency().compute_exchange_rate(base, target, value)["exchanged_value"]
    assert (type(result), result) == (float, exchanged)


@pytest.mark.parametrize(("base", "target"), [("EUR", "RMB"), ("USD", "USD")])
def test_no_rate_raises(base: str, target: str) -> None:
    with pytest.raises(ValueError, match="no rate"):
        make_agency().compute_exchange_rate(base, target, 1)


def test_airports_are_listed_and_found_by_city() -> None:
    agency = make_agency()
    assert agency.list_all_airports() == ["AAA", "BBB", "CCC"]
    assert agency.get_nearest_airport_by_city("Abbey") == {"nearest_airport": "AAA"}
    assert agency.get_nearest_airport_by_city("abbey") == {"nearest_airport": "Unknown"}


@each_case(
    ("route", "day", "seat", "cost"),
    [
        (("AAA", "BBB"), ODD, "economy", 60.0),
        (("AAA", "BBB"), EVEN, "economy", 120.0),  # digits with an even sum double it
        (("BBB", "AAA"), ODD, "business", 161.0),
        (("AAA", "BBB"), ODD, "first", 300.0),
        (("AAA", "BBB"), "any day", "economy", 120.0),  # not looked at otherwise
    ],
)
def test_the_cost_of_a_flight_depends_on_route_day_and_seat(
    route: tuple[str, str], day: str, seat: Any, cost: float
) -> None:
    result = make_agency().get_flight_cost(*route, day, seat)
    assert result == {"travel_cost_list": [cost]}


def test_a_long_context_lists_the_costs_of_all_flights() -> None:
    agency = make_agency(long_context=True)
    assert agency.get_flight_cost("BBB", "AAA", EVEN, "economy") == {"travel_cost_list": [120.0, 161.0]}


@pytest.mark.parametrize(
    ("target", "seat", "named"), [("CCC", "economy", "no flight"), ("BBB", "sofa", "classes")]
)
def test_a_flight_that_is_none_raises(target: str, seat: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        make_agency().get_flight_cost("AAA", target, ODD, seat)


def test_a_booked_flight_is_recorded_and_paid() -> None:
    agency = make_agency()
    result = book_trip(agency)
    booking_id, transaction_id = result["booking_id"], result["transaction_id"]
    assert result == {
        "booking_id": booking_id,
        "transaction_id": transaction_id,
        "booking_status": True,
        "booking_history": {},
    }
    assert agency.booking_record[booking_id] == {**TRIP, "transaction_id": transaction_id}
    assert agency.credit_card_list["blue"]["balance"] == 440.0


def test_a_long_context_shows_the_history_of_bookings() -> None:
    agency = make_agency(long_context=True)
    result = book_trip(agency)
    assert list(result["booking_history"]) == ["trip", "far", result["booking_id"]]


@each_case(
    "wrong",
    [
        {"card_id": "red"},
        {"card_id": "bare"},
        {"travel_from": "ZZZ"},
        {"travel_to": "ZZZ"},
        {"travel_to": "CCC"},
        {"travel_date": "tomorrow"},
        {"travel_class": "sofa"},
        {"travel_class": "first", "travel_date": EVEN},  # 600 of 500
    ],
    ids=str,
)
def test_a_booking_is_refused(wrong: dict[str, object]) -> None:
    agency = make_agency()
    before = deepcopy(agency.state())
    result = book_trip(agency, **wrong)
    assert list(result) == ["booking_status", "error"]
    assert result["booking_status"] is False
    assert agency.state() == before


def test_a_booking_may_take_the_whole_balance() -> None:
    agency = make_agency(credit_card_list={"blue": {"balance": 60.0}})
    assert book_trip(agency)["booking_status"] is True
    assert agency.credit_card_list["blue"]["balance"] == 0.0


def test_a_booking_measures_the_balance_by_the_budget() -> None:
    assert book_trip(make_agency(budget_limit=501.0))["booking_status"] is False
    assert book_trip(make_agency(budget_limit=1.0))["booking_status"] is True


def test_the_history_lists_all_bookings() -> None:
    assert make_agency().get_booking_history(TOKEN) == {"booking_history": {"trip": TRIP}}


def test_an_invoice_shows_the_booking_without_the_card() -> None:
    agency = make_agency()
    invoice = {"booking_id": "trip", **{name: TRIP[name] for name in TRIP if name != "card_id"}}
    assert agency.retrieve_invoice(TOKEN, "trip", "an insurance") == {"invoice": invoice}
    for unknown in ("trap", None):
        assert "error" in agency.retrieve_invoice(TOKEN, unknown)


def test_a_cancelled_booking_is_paid_back() -> None:
    agency = make_agency()
    assert agency.cancel_booking(TOKEN, "trip") == {"cancel_status": True}
    assert (agency.booking_record, agency.credit_card_list["blue"]["balance"]) == ({}, 560.0)
    assert agency.cancel_booking(TOKEN, "trip")["cancel_status"] is False


def test_a_booking_whose_card_is_gone_stays() -> None:
    agency = make_agency(credit_card_list={})
    with pytest.raises(KeyError, match=r"^'blue'$"):
        agency.cancel_booking(TOKEN, "trip")
    assert agency.booking_record == {"trip": TRIP}


def test_an_insurance_is_sold_within_the_budget() -> None:
    agency = make_agency(budget_limit=800.0)
    result = agency.purchase_insurance(TOKEN, "all", "trip", 800.0, "blue")
    assert result == {"insurance_id": result["insurance_id"], "insurance_status": True}
    assert agency.credit_card_list["blue"]["balance"] == -300.0  # no funds are asked for
    assert agency.booking_record == {"trip": TRIP}


@pytest.mark.parametrize(
    ("booking_id", "cost", "card_id"), [("trap", 1.0, "blue"), ("trip", 901.0, "blue"), ("trip", 1.0, "red")]
)
def test_an_insurance_is_refused(booking_id: str, cost: float, card_id: str) -> None:
    agency = make_agency(budget_limit=900.0)
    result = agency.purchase_insurance(TOKEN, "all", booking_id, cost, card_id)
    assert list(result) == ["insurance_status", "error"]
    assert agency.credit_card_list == CONFIG["credit_card_list"]


def test_customer_support_answers_about_known_bookings() -> None:
    agency = make_agency()
    assert list(agency.contact_customer_support("trip", "Help!")) == ["customer_support_message"]
    assert list(agency.contact_customer_support("trap", "Help!")) == ["error"]


Failing = tuple[str, list[object], dict[str, Any]]
ALIKE: list[list[Failing]] = [
    [(name, ["x", *NEED_A_TOKEN[name]], {"access_token": "y"}) for name in NEED_A_TOKEN]
    + [("retrieve_invoice", ["z", None], {}), ("book_flight", ["z", "", "", "", "", ""], {})],
    [(name, ["x", *NEED_A_TOKEN[name]], {"token_expires_in": 0}) for name in NEED_A_TOKEN],
    [("register_credit_card", [token, "3", "", "", 1], {"token_expires_in": None}) for token in ("x", TOKEN)],
    [("register_credit_card", [TOKEN, card, "", "", 1], {}) for card in ("blue", "bare")],
    [("get_credit_card_balance", [TOKEN, card], {}) for card in ("red", "pink")],
    [("get_credit_card_balance", [TOKEN, "red"], {"credit_card_list": {}})],
    [("compute_exchange_rate", [base, "USD", 1], {}) for base in ("USD", "XXX")],
    [
        ("get_flight_cost", ["AAA", "CCC", ODD, "economy"], {}),
        ("get_flight_cost", ["XXX", "YYY", ODD, "sofa"], {}),
        ("book_flight", [TOKEN, "blue", ODD, "AAA", "CCC", "economy"], {}),
    ],
    [("get_flight_cost", ["AAA", "BBB", ODD, seat], {}) for seat in ("sofa", ["first"])],
    [("book_flight", [TOKEN, card, ODD, "AAA", "BBB", "economy"], {}) for card in ("red", "pink")],
    [("book_flight", [TOKEN, "bare", ODD, *route, "economy"], {}) for route in (("AAA", "BBB"), ("X", "Y"))],
    [("book_flight", [TOKEN, "blue", ODD, "XXX", arrival, "sofa"], {}) for arrival in ("AAA", "XXX")],
    [("book_flight", [TOKEN, "blue", ODD, "YYY", "AAA", "economy"], {})],
    [("book_flight", [TOKEN, "blue", ODD, start, "XXX", "economy"], {}) for start in ("AAA", "BBB")],
    [("book_flight", [TOKEN, "blue", day, "AAA", "BBB", "sofa"], {}) for day in ("", "May")],
    [("book_flight", [TOKEN, "blue", ODD, "AAA", end, "sofa"], {}) for end in ("BBB", "CCC")],
    [("book_flight", [TOKEN, "blue", day, "BBB", "AAA", "first"], {}) for day in (EVEN, "2030-01-04")],
    [("book_flight", [TOKEN, "blue", ODD, "AAA", "BBB", "economy"], {"budget_limit": b}) for b in (501, 900)],
    [
        ("retrieve_invoice", [TOKEN, None], {}),
        ("retrieve_invoice", [TOKEN, "trap"], {}),
        ("cancel_booking", [TOKEN, "trap"], {}),
        ("purchase_insurance", [TOKEN, "all", "trap", 1.0, "red"], {}),
        ("contact_customer_support", ["tram", "Help!"], {}),
    ],
    [("purchase_insurance", [TOKEN, "all", "x", cost, "x"], {"budget_limit": 5.0}) for cost in (6, 7.5)],
    [("purchase_insurance", [TOKEN, "all", "trip", 1, card], {}) for card in ("red", "pink")],
    [("verify_traveler_information", ["Ada", "Berg", born, "US1"], {}) for born in ("", ODD)],
    [("verify_traveler_information", ["Ada", "Lund", born, "UK1"], {}) for born in ("", "May")],
    [("verify_traveler_information", ["Ada", "Lund", born, "UK1"], {}) for born in (ODD, EVEN)],
    [("verify_traveler_information", ["Ada", "Lund", "1990-01-01", number], {}) for number in ("", "UK1")],
]
"""Functions, their arguments and the configuration of the agency: one list for each text."""


def error_of(function: str, arguments: list[object], config: dict[str, Any]) -> str:
    try:
        answer = getattr(make_agency(**config), function)(*arguments)
    except ValueError as error:
        return str(error)
    return str(answer.get("error") or answer["verification_failure"])


@each_case("calls", ALIKE, ids=str)
def test_errors_read_alike_exactly_where_they_officially_do(calls: list[Failing]) -> None:
    """Verdicts compare texts: what an error names, and which functions share it, is part of them."""
    [text] = {error_of(*call) for call in calls}
    assert text not in {error_of(*call) for others in ALIKE if others is not calls for call in others}


def test_a_long_context_adds_cards_and_bookings_of_others() -> None:
    agency = make_agency(long_context=True)
    assert list(agency.credit_card_list) == ["blue", "bare", "grey"]
    assert agency.credit_card_list["blue"]["balance"] == 500.0, "the own card stays"
    assert agency.booking_record == {"trip": TRIP, "far": {**TRIP, "card_id": "grey"}}


def test_cards_of_others_are_no_one_elses() -> None:
    first, second = make_agency(long_context=True), make_agency(long_context=True)
    first.cancel_booking(TOKEN, "far")
    cards = (first.credit_card_list, second.credit_card_list, WORLD.filler.credit_cards)
    assert [card["grey"]["balance"] for card in cards] == [70.0, 10.0, 10.0]


def test_results_are_not_the_state() -> None:
    agency = make_agency()
    before = deepcopy(agency.state())
    for result in (agency.get_all_credit_cards(), agency.get_booking_history(TOKEN)):
        for shown in result.values():
            assert isinstance(shown, dict)
            shown.clear()
    assert agency.state() == before


KNOWN = [TOKEN, "blue", "grey", "trip", "far", "AAA", "BBB", ODD, "economy", "USD", "EUR", 5.0]


@settings(deadline=None)
@given(draw_wild_calls(Travel, KNOWN))
def test_no_call_reaches_beyond_its_agency(calls: list[Call]) -> None:
    check_isolation(lambda: make_agency(long_context=True), (CONFIG, WORLD), calls)
