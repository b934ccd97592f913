"""Sources of the shape in which the official package holds its tables, in our own words."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.suites.bfcl.official_sources import TABLE_SOURCES

_BY_NAME = {
    "message_api": 'DEFAULT_STATE = {"generated_ids": set(), "user_map": {"Ada": "U1"}}',
    "posting_api": 'DEFAULT_STATE = {"username": "ada", "tweets": {}}',
    "ticket_api": 'DEFAULT_STATE = {"ticket_queue": [], "ticket_counter": 3}',
    "trading_bot": """
DEFAULT_STATE = {"orders": {7: {"id": 7, "status": "Open"}}, "random_seed": 5}
class TradingBot:
    def get_symbol_by_name(self, name):
        symbol_map = {"Acorn": "ACN"}
        return {"symbol": symbol_map.get(name)}
    def get_available_stocks(self, sector):
        sector_map = {"Technology": ["ACN"], "Automobile": []}
        return {"stock_list": sector_map.get(sector)}
""",
    "travel_booking": """
DEFAULT_STATE = {"access_token": None, "random_seed": 6}
class TravelAPI:
    def list_all_airports(self):
        return ["AAA", "BBB"]
    def get_flight_cost(self, travel_from, travel_to):
        base_costs: Dict[Tuple[str, str], int] = {("AAA", "BBB"): 90}
        return {"travel_cost": base_costs[(travel_from, travel_to)]}
    def get_nearest_airport_by_city(self, location):
        airport_map = {"Aton": "AAA"}
        return {"nearest_airport": airport_map.get(location)}
    def compute_exchange_rate(self, base_currency, target_currency, value):
        exchange_rates = {("USD", "EUR"): 0.5}
        return {"exchanged_value": value}
    def contact_customer_support(self, booking_id, message):
        return {"customer_support_message": "We heard you."}
    def verify_traveler_information(self, passport_number):
        if not passport_number:
            return {"verification_status": False, "verification_failure": "No passport."}
        return {"verification_status": False, "verification_failure": "Not from here."}
""",
    "vehicle_control": """
DEFAULT_STATE = {"fuelLevel": 0.0, "random_seed": 7}
class VehicleControlAPI:
    def estimate_distance(self, cityA, cityB):
        if cityA == "00002" and cityB == "00001" or (cityA == "00001" and cityB == "00002"):
            distance = {"distance": 12.5}
        elif cityA == "00002" and cityB == "00003" or (cityA == "00003" and cityB == "00002"):
            distance = {"distance": 8.0}
        else:
            distance = {"error": "unknown"}
        return distance
    def get_zipcode_based_on_city(self, city):
        if city == "Aton":
            return {"zipcode": "00001"}
        elif city == "Beton":
            return {"zipcode": "00002"}
        else:
            return {"zipcode": "00000"}
    def find_nearest_tire_shop(self):
        return {"shopLocation": "1 Wheel Lane"}
""",
    "long_context": """
FILE_CONTENT_EXTENSION = "More."
FILES_TAIL_USED = ["a.txt"]
POPULATE_FILE_EXTENSION = ["x.jpg"]
WATCH_LIST_EXTENSION = ["ABCD", ...]
TRANSACTION_HISTORY_EXTENSION = [{"type": "deposit", "amount": 1.5, "timestamp": "2024-01-01 00:00:00"}]
MA_5_EXTENSION = [1.0]
MA_20_EXTENSION = [2.0]
TECHNOLOGY_EXTENSION = ["ZZZ"]
AUTOMOBILE_EXTENSION = ["YYY"]
ORDER_DETAIL_EXTENSION = {"risks": "{symbol} may fall."}
CAR_STATUS_METADATA_EXTENSION = "Four wheels."
LONG_WEATHER_EXTENSION = {"-1_day": {"humidity": 80}}
PARKING_BRAKE_INSTRUCTION = "Pull."
INTERMEDIARY_CITIES = ["Ceton"]
CREDIT_CARD_EXTENSION = {"1": {"balance": 5.0}}
BOOKING_RECORD_EXTENSION = {"booking_1": {"travel_cost": 10.0}}
""",
}

WORLD_TEXTS: Mapping[str, str] = {
    path: _BY_NAME[path.rsplit("/", 1)[1].removesuffix(".py")] + "\n" for path in TABLE_SOURCES
}
