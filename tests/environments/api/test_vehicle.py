"""The car: what its controls do, and what it takes to start it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.environments.api.vehicle import Vehicle
from pytest_fcbench.environments.environment import list_functions
from pytest_fcbench.environments.world import Filler, World
from tests.cases import each_case

DOORS = ["driver", "passenger", "rear_left", "rear_right"]
WORLD = World(
    defaults={
        "vehicle": {
            "random_seed": 3,
            "fuelLevel": 4.0,
            "batteryVoltage": 12.0,
            "engine_state": "stopped",
            "remainingUnlockedDoors": 4,
            "doorStatus": dict.fromkeys(DOORS, "unlocked"),
            "acTemperature": 21.0,
            "fanSpeed": 10,
            "acMode": "auto",
            "humidityLevel": 40.0,
            "headLightStatus": "off",
            "parkingBrakeStatus": "released",
            "_parkingBrakeForce": 0.0,
            "_slopeAngle": 0.0,
            "brakePedalStatus": "released",
            "brakePedalForce": 0.0,
            "distanceToNextVehicle": 50.0,
            "cruiseStatus": "inactive",
            "destination": "None",
            "frontLeftTirePressure": 32.0,
            "frontRightTirePressure": 32.0,
            "rearLeftTirePressure": 32.0,
            "rearRightTirePressure": 32.0,
        }
    },
    zip_codes={"Uptown": "11111", "Downtown": "22222"},
    distances=[["11111", "22222", 12.5]],
    filler=Filler(
        car_status="Color: red",
        weather={"yesterday": {"rain": 3}},
        parking_brake="Pull it.",
        cities=("Midtown",),
    ),
)
CONFIG: dict[str, Any] = {"doorStatus": dict.fromkeys(DOORS, "locked")}
READY = {"brakePedalStatus": "pressed", "brakePedalForce": 1000.0}
"""What a car with locked doors needs to be started."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)
ARGUMENTS = JSON | st.sampled_from(["engage", "STOP", "doors", "11111"]) | st.just(DOORS)
CALLS = st.lists(
    st.tuples(st.sampled_from(list_functions(Vehicle)), st.lists(ARGUMENTS, max_size=4)), max_size=12
)


def make_car(
    config: Mapping[str, object] = MappingProxyType({}), *, long_context: bool = False, **more: object
) -> Vehicle:
    return Vehicle({**CONFIG, **config, **more}, WORLD, long_context=long_context)


def test_the_state_is_the_default_state_with_the_configuration_over_it() -> None:
    public = {name: value for name, value in WORLD.defaults["vehicle"].items() if not name.startswith("_")}
    del public["random_seed"], public["brakePedalForce"]
    assert Vehicle({}, WORLD).state() == public | {"long_context": False}
    assert make_car(engineState="running", nonsense=1).engine_state == "running"


def test_the_unlocked_doors_are_counted_and_not_read() -> None:
    assert make_car(remainingUnlockedDoors=9).remainingUnlockedDoors == 0
    assert make_car(doorStatus={"driver": "locked"}).remainingUnlockedDoors == 3


def test_forces_and_slope_are_hidden() -> None:
    config = {"parkingBrakeForce": 5.0, "slopeAngle": 6.0, "brakePedalForce": 7.0}
    assert make_car(config).get_hidden_state() == config
    assert not {name for name in make_car().state() if "Force" in name or "slope" in name}


def test_an_engine_starts_with_locked_doors_and_the_brake_fully_pressed() -> None:
    vehicle = Vehicle({}, WORLD)
    vehicle.lockDoors(unlock=False, door=DOORS)
    vehicle.pressBrakePedal(1)
    assert vehicle.startEngine("START") == {
        "engineState": "running",
        "fuelLevel": 4.0,
        "batteryVoltage": 12.0,
    }
    assert vehicle.engine_state == "running"


@each_case(
    ("config", "mode", "problem"),
    [
        (READY | {"doorStatus": {"driver": "unlocked", "boot": "locked"}}, "START", "driver"),
        ({}, "START", "Press the brake pedal"),
        (READY | {"brakePedalForce": 999.0}, "START", "fully"),
        (READY | {"fuelLevel": -1.0}, "START", "no fuel"),
        (READY, "start", "Only START"),
    ],
)
def test_an_engine_that_does_not_start_says_why(config: dict[str, object], mode: Any, problem: str) -> None:
    vehicle = make_car(config)
    assert problem in str(vehicle.startEngine(mode)["error"])
    assert vehicle.engine_state == "stopped"


@pytest.mark.parametrize("config", [READY, {}])
def test_stopping_the_engine_works_and_still_answers_with_an_error(config: dict[str, object]) -> None:
    vehicle = make_car(config, engineState="running")
    assert "error" in vehicle.startEngine("STOP")
    assert vehicle.engine_state == "stopped"


@each_case(("amount", "level"), [(6, 10.0), (46, 50.0), (46.5, None), (-1, None)])
def test_the_tank_holds_50_gallons(amount: float, level: float | None) -> None:
    vehicle = make_car()
    answer = vehicle.fillFuelTank(amount)
    assert ("error" in answer) if level is None else answer == {"fuelLevel": level}
    assert vehicle.fuelLevel == (4.0 if level is None else level)


def test_a_tank_below_zero_must_be_filled_to_zero_at_least() -> None:
    vehicle = make_car(fuelLevel=-2.0)
    assert "error" in vehicle.fillFuelTank(1)
    assert vehicle.fillFuelTank(2) == {"fuelLevel": 0.0}


def test_doors_are_locked_one_by_one_up_to_the_unknown_one() -> None:
    vehicle = Vehicle({}, WORLD)
    assert vehicle.lockDoors(False, ["driver", "driver"]) == {
        "lockStatus": "locked",
        "remainingUnlockedDoors": 3,
    }
    assert vehicle.lockDoors(True, ["driver"]) == {"lockStatus": "unlocked", "remainingUnlockedDoors": 4}
    with pytest.raises(KeyError, match="boot"):
        vehicle.lockDoors(False, ["passenger", "boot", "driver"])
    assert vehicle.remainingUnlockedDoors == 3


def test_a_temperature_is_kept_in_celsius_and_answered_as_it_came() -> None:
    vehicle = make_car()
    assert vehicle.adjustClimateControl(212, "fahrenheit", fanSpeed=100, mode="heat") == {
        "currentACTemperature": 212,
        "climateMode": "heat",
        "humidityLevel": 40.0,
    }
    assert (vehicle.acTemperature, vehicle.fanSpeed, vehicle.acMode) == (100.0, 100, "heat")
    assert "error" in vehicle.adjustClimateControl(20, fanSpeed=101)
    assert vehicle.acTemperature == 100.0


@pytest.mark.parametrize(("mode", "status"), [("on", "on"), ("off", "off"), ("auto", "off")])
def test_headlights_on_auto_are_off(mode: Any, status: str) -> None:
    vehicle = make_car(headLightStatus="on")
    assert vehicle.setHeadlights(mode) == {"headlightStatus": status}
    assert vehicle.headLightStatus == status
    assert "error" in vehicle.setHeadlights("dim")  # type: ignore[arg-type]


@each_case(
    ("option", "shown"),
    [
        ("fuel", {"fuelLevel": 4.0}),
        ("battery", {"batteryVoltage": 12.0}),
        ("doors", {"doorStatus": CONFIG["doorStatus"]}),
        (
            "climate",
            {"currentACTemperature": 21.0, "fanSpeed": 10, "climateMode": "auto", "humidityLevel": 40.0},
        ),
        ("headlights", {"headlightStatus": "off"}),
        ("parkingBrake", {"parkingBrakeStatus": "released", "parkingBrakeForce": 0.0, "slopeAngle": 0.0}),
        ("brakePedal", {"brakePedalStatus": "released", "brakePedalForce": 0.0}),
        ("engine", {"engineState": "stopped"}),
        ("roof", {"error": "The car has no display for that."}),
    ],
)
def test_each_part_has_its_display(option: Any, shown: dict[str, object]) -> None:
    assert make_car().displayCarStatus(option) == shown
    long = make_car(long_context=True).displayCarStatus(option)
    assert list(long.items()) == [("metadata", "Color: red"), *shown.items()]


@pytest.mark.parametrize(
    ("mode", "status", "force"), [("engage", "engaged", 500.0), ("release", "released", 0.0)]
)
def test_the_parking_brake_reports_a_slope_of_10_degrees(mode: Any, status: str, force: float) -> None:
    answer = {"parkingBrakeStatus": status, "_parkingBrakeForce": force, "_slopeAngle": 10.0}
    vehicle = make_car(parkingBrakeStatus="?", parkingBrakeForce=1.0)
    assert vehicle.activateParkingBrake(mode) == answer
    assert vehicle.parkingBrakeStatus == status
    assert vehicle.get_hidden_state()["parkingBrakeForce"] == force
    long = make_car(long_context=True).activateParkingBrake(mode)
    assert list(long.items()) == [("parkingBrakeInstruction", "Pull it."), *answer.items()]


def test_the_parking_brake_knows_two_modes() -> None:
    vehicle = make_car(long_context=True)
    assert list(vehicle.activateParkingBrake("pull")) == ["error"]  # type: ignore[arg-type]
    assert vehicle.get_hidden_state()["slopeAngle"] == 0.0


@pytest.mark.parametrize(
    ("position", "status", "force"), [(1, "pressed", 1000.0), (0.5, "pressed", 500.0), (0, "released", 0.0)]
)
def test_the_brake_pedal_has_a_force(position: float, status: str, force: float) -> None:
    vehicle = make_car()
    assert vehicle.pressBrakePedal(position) == {"brakePedalStatus": status, "brakePedalForce": force}
    assert vehicle.get_hidden_state()["brakePedalForce"] == force
    assert vehicle.releaseBrakePedal() == {"brakePedalStatus": "released", "brakePedalForce": 0.0}
    assert vehicle.get_hidden_state()["brakePedalForce"] == 0.0


@pytest.mark.parametrize("position", [-0.1, 1.1])
def test_the_brake_pedal_goes_from_0_to_1(position: float) -> None:
    vehicle = make_car(brakePedalStatus="pressed")
    assert "error" in vehicle.pressBrakePedal(position)
    assert vehicle.brakePedalStatus == "pressed"


def test_a_whole_force_is_displayed_as_a_whole_number() -> None:
    """Official: it is text that is compared, and there 1000 is not 1000.0."""
    vehicle = make_car()
    assert str(vehicle.pressBrakePedal(1)["brakePedalForce"]) == "1000.0"
    assert str(vehicle.displayCarStatus("brakePedal")["brakePedalForce"]) == "1000"


def test_cruise_control_is_switched_on_and_off() -> None:
    vehicle = make_car(engineState="running")
    on = {"cruiseStatus": "active", "currentSpeed": 65.0, "distanceToNextVehicle": 30.0}
    assert vehicle.setCruiseControl(65, True, 30) == on
    assert vehicle.setCruiseControl(-1, False, 30) == on | {"cruiseStatus": "inactive", "currentSpeed": -1.0}
    assert vehicle.cruiseStatus == "inactive"


@pytest.mark.parametrize("speed", [-5, 125, 62])
def test_cruise_control_refuses_a_speed_and_keeps_the_distance(speed: float) -> None:
    vehicle = make_car(engineState="running")
    assert "speed" in str(vehicle.setCruiseControl(speed, True, 30)["error"])
    assert (vehicle.cruiseStatus, vehicle.distanceToNextVehicle) == ("inactive", 30.0)


def test_cruise_control_needs_the_engine_and_numbers() -> None:
    vehicle = make_car()
    assert "engine" in str(vehicle.setCruiseControl(60, True, 30)["error"])
    with pytest.raises(ValueError, match="near"):
        vehicle.setCruiseControl(60, True, "near")  # type: ignore[arg-type]
    assert vehicle.distanceToNextVehicle == 50.0


def test_chance_comes_from_the_seed_alone() -> None:
    def draw_values(**config: object) -> list[object]:
        vehicle = make_car(config)
        functions = [vehicle.get_current_speed, vehicle.get_outside_temperature_from_google] * 2
        return [function() for function in functions]

    assert draw_values() == draw_values(random_seed=3)
    assert draw_values() != draw_values(random_seed=4)
    assert draw_values(random_seed=None) == draw_values(random_seed=None)


def test_a_speed_and_a_temperature_are_in_their_range() -> None:
    vehicle = make_car()
    for _ in range(50):
        assert 0 <= vehicle.get_current_speed()["currentSpeed"] <= 120
        [(name, temperature)] = vehicle.get_outside_temperature_from_google().items()
        assert name == "outsideTemperature"
        assert isinstance(temperature, float)
        assert -10 <= temperature <= 40


def test_a_long_answer_tells_of_past_weather_first() -> None:
    answer = make_car(long_context=True).get_outside_temperature_from_google()
    assert list(answer) == ["yesterday", "outsideTemperature"]
    assert answer["yesterday"] == {"rain": 3}
    assert answer["yesterday"] is not WORLD.filler.weather["yesterday"]


def test_the_other_weather_site_is_never_there() -> None:
    assert make_car().get_outside_temperature_from_weather_com() == {"error": 404}


def test_the_log_is_an_echo() -> None:
    assert make_car().display_log(["a", "b"]) == {"log": ["a", "b"]}


@pytest.mark.parametrize(("distance", "feasible"), [(80, True), (80.1, False), (-1, True)])
def test_a_gallon_is_good_for_20_miles(distance: float, feasible: bool) -> None:
    assert make_car().estimate_drive_feasibility_by_mileage(distance) == {"canDrive": feasible}


def test_liters_and_gallons_are_converted() -> None:
    assert make_car().liter_to_gallon(10) == {"gallon": pytest.approx(2.64172)}
    assert make_car().gallon_to_liter(10) == {"liter": pytest.approx(37.8541)}


@each_case(
    ("a", "b", "distance"),
    [("11111", "22222", 12.5), ("22222", "11111", 12.5), ("11111", "11111", None), ("1", "2", None)],
)
def test_distances_are_known_in_both_directions(a: str, b: str, distance: float | None) -> None:
    answer = make_car().estimate_distance(a, b)
    assert list(answer) == ["error"] if distance is None else answer == {"distance": distance}
    assert make_car(long_context=True).estimate_distance(a, b) == answer | {"intermediaryCities": ["Midtown"]}


@pytest.mark.parametrize(("city", "code"), [("Uptown", "11111"), ("uptown", "00000"), ([], "00000")])
def test_a_city_has_a_zip_code(city: Any, code: str) -> None:
    assert make_car().get_zipcode_based_on_city(city) == {"zipcode": code}


def test_navigation_keeps_the_destination() -> None:
    vehicle = make_car()
    assert vehicle.set_navigation("1 High St") == {"status": "Navigating to 1 High St"}
    assert vehicle.destination == "1 High St"
    with pytest.raises(TypeError, match="can only concatenate str"):
        vehicle.set_navigation(5)  # type: ignore[arg-type]


@each_case(("first", "healthy"), [(32.0, True), (24.0, True), (23.9, False), (44.1, False)])
def test_tires_are_healthy_by_their_mean(first: float, healthy: bool) -> None:
    answer = {
        "frontLeftTirePressure": first,
        "frontRightTirePressure": 32.0,
        "rearLeftTirePressure": 32.0,
        "rearRightTirePressure": 32.0,
        "healthy_tire_pressure": healthy,
    }
    assert make_car(frontLeftTirePressure=first).check_tire_pressure() == answer | {"car_info": {}}
    long = make_car(frontLeftTirePressure=first, long_context=True)
    assert long.check_tire_pressure() == answer | {"car_info": "Color: red"}


def test_there_is_a_tire_shop() -> None:
    assert list(make_car().find_nearest_tire_shop()) == ["shopLocation"]


Failing = tuple[str, list[object], dict[str, Any]]
RUNNING: dict[str, Any] = {"engineState": "running"}
OPEN: dict[str, Any] = {
    "doorStatus": {"driver": "locked", "boot": "unlocked", "hatch": "locked", "roof": "unlocked"}
}
ALIKE: list[list[Failing]] = [
    [("startEngine", ["START"], OPEN), ("startEngine", ["STOP"], OPEN | READY)],
    [("startEngine", ["START"], {"doorStatus": {"boot": "unlocked"}})],
    [("startEngine", ["START"], {}), ("startEngine", ["STOP"], {})],
    [("startEngine", ["START"], READY | {"brakePedalForce": force}) for force in (1.0, 999.0)],
    [("startEngine", ["START"], READY | {"fuelLevel": level}) for level in (-1.0, -2.0)],
    [("startEngine", [mode], READY) for mode in ("STOP", "start")],
    [("fillFuelTank", [-1], {}), ("fillFuelTank", [-2.5], {})],
    [("fillFuelTank", [47], {}), ("fillFuelTank", [99.5], {})],
    [("fillFuelTank", [1], {"fuelLevel": -2.0}), ("fillFuelTank", [2], {"fuelLevel": -3.0})],
    [("adjustClimateControl", [20, "celsius", speed], {}) for speed in (-1, 101)],
    [("setHeadlights", [mode], {}) for mode in ("dim", 1)],
    [("displayCarStatus", [option], {}) for option in ("roof", 1)],
    [("activateParkingBrake", [mode], {}) for mode in ("pull", 1)],
    [("pressBrakePedal", [position], {}) for position in (-0.1, 1.1)],
    [("setCruiseControl", [speed, True, 30], {}) for speed in (60, 62)],
    [("setCruiseControl", [speed, True, 30], RUNNING) for speed in (62, 125)],
    [("setCruiseControl", ["fast", True, "near"], {}), ("setCruiseControl", [5, True, "near"], {})],
    [("estimate_distance", [city, "11111"], {}) for city in ("1", "2")],
]
"""Functions, their arguments and the configuration of the car: one list for each text."""


def error_of(function: str, arguments: list[object], config: dict[str, Any]) -> str:
    try:
        return str(getattr(make_car(config), function)(*arguments)["error"])
    except ValueError as error:
        return str(error)


@each_case("calls", ALIKE, ids=str)
def test_errors_read_alike_exactly_where_they_officially_do(calls: list[Failing]) -> None:
    """Verdicts compare texts: what an error names, and which functions share it, is part of them."""
    [text] = {error_of(*call) for call in calls}
    assert text not in {error_of(*call) for others in ALIKE if others is not calls for call in others}


@given(CALLS, st.booleans())
def test_no_call_reaches_beyond_its_car(calls: list[tuple[str, list[object]]], long: bool) -> None:
    vehicle, other = make_car(long_context=long), make_car()
    config, world = deepcopy(CONFIG), deepcopy(WORLD)
    state, hidden = deepcopy(other.state()), deepcopy(other.get_hidden_state())
    vehicle.lockDoors(True, DOORS)
    for function, arguments in calls:
        with suppress(Exception):
            getattr(vehicle, function)(*arguments)
    assert (CONFIG, WORLD, other.state(), other.get_hidden_state()) == (config, world, state, hidden)
